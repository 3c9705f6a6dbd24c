//! Runs what claims and figures need, each point once.

use crate::cache::Cache;
use crate::cells::OneCell;
use crate::judge::{Source, schemes};
use crate::ledger::{Check, Claim, ClassWord, Figure, OneHandoff, Panel, Paper};
use crate::point_error::PointError;
use crate::points::{Handoffs, OneDownload, OneDrive, Point, Single, nanos};
use crate::sample::Sample;
use crate::settings::settings;
use rayon::prelude::*;
use segue_study::Plan;
use segue_study::compare::records;
use segue_study::explain::{Moment, SchemeTrace, explain};
use segue_world::KindWord;
use segue_world::{Nanos, RunRecord, SECOND};
use std::collections::{BTreeMap, BTreeSet};

/// Handoff times of a bar that verdicts are meant for.
pub const ALL_POINTS: u8 = 200;

/// Runs that are needed: schemes by Segue's names.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Over all handoff times or seeds; drives with the handoffs of all classes.
    pub points: BTreeMap<Point, BTreeSet<String>>,
    /// One handoff each.
    pub singles: BTreeMap<Single, BTreeSet<String>>,
}

/// Results of the runs.
#[derive(Clone, Debug, Default)]
pub struct Results {
    samples: BTreeMap<(Point, String), Sample>,
    traces: BTreeMap<(Single, String), SchemeTrace>,
}

impl Source for Results {
    fn sample(&self, point: &Point, scheme: &str) -> Option<&Sample> {
        self.samples.get(&(point.clone(), scheme.to_string()))
    }

    fn trace(&self, single: &Single, scheme: &str) -> Option<&SchemeTrace> {
        self.traces.get(&(single.clone(), scheme.to_string()))
    }
}

impl Paper {
    /// Segue's name of a scheme.
    pub fn own(&self, scheme: &str) -> String {
        self.defaults.schemes.get(scheme).cloned().unwrap_or_else(|| scheme.to_string())
    }
}

impl Needs {
    /// Adds what a claim needs.
    pub fn add_claim(&mut self, paper: &Paper, claim: &Claim) {
        if claim.check != Check::Sim || claim.cannot.is_some() {
            return;
        }
        let names: Vec<String> = schemes(claim).into_iter().map(|name| paper.own(name)).collect();
        match claim.points.as_ref().and_then(|points| points.single(&paper.defaults)) {
            Some(single) => self.singles.entry(single).or_default().extend(names),
            None => {
                claim.all_points(&paper.defaults).into_iter().for_each(|point| self.add(point, &names));
            }
        }
    }

    fn add(&mut self, point: Point, names: &[String]) {
        let whole = match point {
            Point::Drive(drive) => Point::Drive(drive.whole()),
            point => point,
        };
        self.points.entry(whole).or_default().extend(names.iter().cloned());
    }

    /// Adds what a figure needs.
    pub fn add_figure(&mut self, paper: &Paper, figure: &Figure) {
        for panel in &figure.panels {
            if let Some(handoff) = &panel.handoff {
                let single = handoff.single(paper);
                self.singles.entry(single).or_default().insert(paper.own(&handoff.scheme));
            }
            for (series, position) in panel.bars() {
                if let Some(point) = panel.point(paper, series, position) {
                    self.add(point, &[paper.own(panel.sender(series))]);
                }
            }
        }
    }

    /// Number of handoffs and drives to simulate, where each bar has at most so many points.
    pub fn runs(&self, paper: &Paper, points: usize) -> u64 {
        let bar = |(point, schemes): (&Point, &BTreeSet<String>)| {
            let each = match point {
                Point::Handoffs(_) => points as u64,
                Point::Drive(_) | Point::Cell(_) | Point::Download(_) => seeds(paper, points),
            };
            schemes.len() as u64 * each
        };
        let single: usize = self.singles.values().map(BTreeSet::len).sum();
        self.points.iter().map(bar).sum::<u64>() + single as u64
    }

    /// Whether this is fewer handoff times or seeds than verdicts are meant for.
    pub fn falls_short(&self, paper: &Paper, points: usize) -> bool {
        self.runs(paper, points) < self.runs(paper, ALL_POINTS.into())
    }

    /// Whether drives are to be simulated.
    pub fn drives(&self) -> bool {
        self.points.keys().any(|point| matches!(point, Point::Drive(_)))
    }

    /// Whether downloads are to be simulated.
    pub fn downloads(&self) -> bool {
        self.points.keys().any(|point| matches!(point, Point::Download(_)))
    }
}

/// Seeds of the traffic of each drive.
fn seeds(paper: &Paper, points: usize) -> u64 {
    paper.defaults.seeds.min(points as u64)
}

impl Panel {
    /// Every bar: index of its series and of its position.
    pub fn bars(&self) -> impl Iterator<Item = (usize, usize)> {
        let positions = self.labels.len();
        (0..self.series_count())
            .flat_map(move |series| (0..positions).map(move |position| (series, position)))
    }

    /// Number of series: senders of drives, or series of handoffs.
    pub fn series_count(&self) -> usize {
        self.series.len() + self.senders.len()
    }

    /// The sender of a series, by the paper's name.
    pub fn sender(&self, series: usize) -> &str {
        self.series.get(series).map_or_else(|| &self.senders[series], |series| &series.scheme)
    }

    /// The name of a series, for the legend.
    pub fn label(&self, series: usize) -> &str {
        self.series.get(series).map_or_else(|| self.sender(series), |series| &series.label)
    }

    /// The point of a bar.
    pub fn point(&self, paper: &Paper, series: usize, position: usize) -> Option<Point> {
        if let Some(downloads) = &self.downloads {
            return downloads.all().get(position).cloned().map(Point::Download);
        }
        match &self.drives {
            Some(drives) => drives.all().get(position).copied().map(Point::Drive),
            None if self.cells.is_some() => {
                let all = self.cells.iter().flat_map(|cells| cells.all());
                all.collect::<Vec<_>>().get(position).copied().map(Point::Cell)
            }
            None => self.handoffs(paper, series, position).map(Point::Handoffs),
        }
    }

    fn handoffs(&self, paper: &Paper, series: usize, position: usize) -> Option<Handoffs> {
        fn of<T: Clone>(all: &[T], position: usize) -> Option<T> {
            if all.len() == 1 { all.first() } else { all.get(position) }.cloned()
        }
        let series = self.series.get(series)?;
        let flows = series.flows.as_ref().map_or(Some(1), |flows| of(flows.all(), position))?;
        let disconnect = match series.kind {
            KindWord::Mbb => 0,
            KindWord::Bbm => nanos(series.disconnect_s.unwrap_or(paper.defaults.disconnect_s)),
        };
        Some(Handoffs {
            kind: series.kind,
            disconnect,
            links: of(series.links.all(), position)?,
            flows,
            packets: self.packets.unwrap_or(paper.defaults.packets),
        })
    }
}

impl OneHandoff {
    /// The handoff.
    pub fn single(&self, paper: &Paper) -> Single {
        let disconnect = match self.kind {
            KindWord::Mbb => 0,
            KindWord::Bbm => nanos(self.disconnect_s.unwrap_or(paper.defaults.disconnect_s)),
        };
        let packets = paper.defaults.packets;
        let point = Handoffs { kind: self.kind, disconnect, links: self.links.clone(), flows: 1, packets };
        Single { point, at: nanos(self.at_s) }
    }
}

/// The bench's handoff times, or every so-many-th of them.
pub fn times(points: usize) -> Vec<Nanos> {
    let all = (1..=200).map(|tenth| tenth * SECOND / 10);
    let points = points.clamp(1, 200);
    all.enumerate()
        .filter(|(index, _)| index * points / 200 != (index + 1) * points / 200)
        .map(|(_, t)| t)
        .collect()
}

/// Runs all that is needed and not in the cache, on all cores; `done` hears how many more handoffs and drives
/// are finished.
pub fn run(
    paper: &Paper,
    needs: &Needs,
    points: usize,
    cache: Option<&Cache>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Results, PointError> {
    let times = times(points);
    let samples: Result<Vec<Vec<_>>, PointError> = needs
        .points
        .par_iter()
        .map(|(point, schemes)| match point {
            Point::Handoffs(handoffs) => samples(paper, handoffs, schemes, &times, cache, done),
            Point::Cell(cell) => {
                let all = schemes.par_iter();
                all.map(|scheme| of_cell(*cell, scheme, seeds(paper, points), cache, done)).collect()
            }
            Point::Drive(drive) => {
                let all = schemes.par_iter();
                let all =
                    all.map(|scheme| of_drive(paper, *drive, scheme, seeds(paper, points), cache, done));
                Ok(all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
            }
            Point::Download(download) => {
                let all = schemes.par_iter();
                let all =
                    all.map(|scheme| of_download(paper, download, scheme, seeds(paper, points), cache, done));
                all.collect()
            }
        })
        .collect();
    let traces: Result<Vec<Vec<_>>, PointError> = needs
        .singles
        .par_iter()
        .map(|(single, schemes)| {
            done(0);
            let plan = plan(paper, &single.point, schemes, vec![single.at])?;
            let traces = explain(&plan, Moment { group: 0, seed: 1, at: single.at });
            done(traces.len() as u64);
            Ok(traces.into_iter().map(|told| ((single.clone(), told.scheme.clone()), told)).collect())
        })
        .collect();
    Ok(Results {
        samples: samples?.into_iter().flatten().collect(),
        traces: traces?.into_iter().flatten().collect(),
    })
}

/// A sample and what it is of.
type Named = ((Point, String), Sample);

/// The samples of one drive with one scheme: of all its handoffs, and of each class that occurs.
fn of_drive(
    paper: &Paper,
    drive: OneDrive,
    scheme: &str,
    seeds: u64,
    cache: Option<&Cache>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Named>, PointError> {
    let settings = settings(paper, &BTreeSet::from([scheme.to_string()]));
    let point = |class| Point::Drive(OneDrive { class, ..drive });
    let samples: Vec<(Option<ClassWord>, Sample)> =
        match cache.and_then(|cache| cache.get(&point(None), scheme, &settings, &seeds)) {
            Some(samples) => {
                done(seeds);
                samples
            }
            None => {
                let plan = drive.plan(&paper.defaults, &[scheme.to_string()], &settings, seeds)?;
                let records = plan.records(&plan.blocks[0], &plan.schemes[0], done);
                let classes = ClassWord::ALL.map(Some).into_iter();
                let each = std::iter::once(None).chain(classes);
                let each = each.filter_map(|class| Some((class, Sample::of_drives(&records, class)?)));
                let samples = each.collect();
                if let Some(cache) = cache {
                    cache.keep(&point(None), scheme, &settings, &seeds, &samples);
                }
                samples
            }
        };
    Ok(samples.into_iter().map(|(class, sample)| ((point(class), scheme.to_string()), sample)).collect())
}

/// The sample of one point of the cells with one scheme.
fn of_cell(
    cell: OneCell,
    scheme: &str,
    seeds: u64,
    cache: Option<&Cache>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Named, PointError> {
    done(0);
    let point = Point::Cell(cell);
    let sample = match cache.and_then(|cache| cache.get(&point, scheme, &[], &seeds)) {
        Some(sample) => sample,
        None => {
            let sample = cell.sample(scheme, seeds)?;
            if let Some(cache) = cache {
                cache.keep(&point, scheme, &[], &seeds, &sample);
            }
            sample
        }
    };
    done(seeds);
    Ok(((point, scheme.to_string()), sample))
}

/// The sample of one download with one sender.
fn of_download(
    paper: &Paper,
    download: &OneDownload,
    scheme: &str,
    seeds: u64,
    cache: Option<&Cache>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Named, PointError> {
    let settings = settings(paper, &BTreeSet::from([scheme.to_string()]));
    let point = Point::Download(download.clone());
    let sample = match cache.and_then(|cache| cache.get(&point, scheme, &settings, &seeds)) {
        Some(sample) => {
            done(seeds);
            sample
        }
        None => {
            let sample = download.sample(paper, scheme, seeds, done)?;
            if let Some(cache) = cache {
                cache.keep(&point, scheme, &settings, &seeds, &sample);
            }
            sample
        }
    };
    Ok(((point, scheme.to_string()), sample))
}

/// The samples of one point, by scheme.
fn samples(
    paper: &Paper,
    handoffs: &Handoffs,
    schemes: &BTreeSet<String>,
    times: &[Nanos],
    cache: Option<&Cache>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Named>, PointError> {
    let point = Point::Handoffs(handoffs.clone());
    let own = |scheme: &String| settings(paper, &BTreeSet::from([scheme.clone()]));
    let mut found = Vec::new();
    let mut missing = BTreeSet::new();
    for scheme in schemes {
        match cache.and_then(|cache| cache.get(&point, scheme, &own(scheme), &times)) {
            Some(sample) => found.push(((point.clone(), scheme.clone()), sample)),
            None => drop(missing.insert(scheme.clone())),
        }
    }
    done((found.len() * times.len()) as u64);
    if missing.is_empty() {
        return Ok(found);
    }
    let plan = plan(paper, handoffs, &missing, times.to_vec())?;
    let groups = plan.groups();
    let all: Vec<Vec<Vec<RunRecord>>> = records(&plan, &groups[0][0], done);
    for (index, planned) in plan.schemes.iter().enumerate() {
        let sample = Sample::of(&all.iter().flat_map(|records| &records[index]).collect::<Vec<_>>());
        if let Some(cache) = cache {
            cache.keep(&point, &planned.name, &own(&planned.name), &times, &sample);
        }
        found.push(((point.clone(), planned.name.clone()), sample));
    }
    Ok(found)
}

fn plan(
    paper: &Paper,
    point: &Handoffs,
    schemes: &BTreeSet<String>,
    at: Vec<Nanos>,
) -> Result<Plan, PointError> {
    let names = schemes.iter().cloned().collect();
    Ok(point.request(names, settings(paper, schemes), at)?.plan()?)
}
