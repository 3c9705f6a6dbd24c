//! From a claim's points to what is simulated.

use crate::cells::OneCell;
use crate::ledger::{Claim, ClassWord, Defaults, Downloads, Drives, Part, Points};
use crate::point_error::PointError;
use segue_files::drive::PaperDrive;
use segue_study::Request;
use segue_study::drive::{DriveBlock, DrivePlan};
use segue_study::planned::planned;
use segue_world::KindWord;
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::drive::web::Surge;
use segue_world::{AccessLink, Definition, Kind, Nanos, NoticeMode, Routers, SECOND};
use std::sync::Arc;

/// A point: what is simulated, apart from the scheme.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// Single handoffs at many times.
    Handoffs(Handoffs),
    /// A drive with several seeds of its traffic.
    Drive(OneDrive),
    /// Runs in two cells, or their chain.
    Cell(OneCell),
    /// A download during a fast handover with several seeds of its delays.
    Download(OneDownload),
}

impl Point {
    /// Old and new link of handoffs.
    pub fn links(&self) -> Option<&str> {
        match self {
            Self::Handoffs(handoffs) => Some(&handoffs.links),
            Self::Drive(_) | Self::Cell(_) | Self::Download(_) => None,
        }
    }

    /// P of handoffs.
    pub fn packets(&self) -> Option<u32> {
        match self {
            Self::Handoffs(handoffs) => Some(handoffs.packets),
            Self::Drive(_) | Self::Cell(_) | Self::Download(_) => None,
        }
    }
}

/// Handoffs, apart from their times.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handoffs {
    /// Make-before-break or break-before-make.
    pub kind: KindWord,
    /// Length of the disconnection, ns; 0 for make-before-break.
    pub disconnect: Nanos,
    /// Old and new link as the ledger writes them: `6400/9 200/300`.
    pub links: String,
    /// Number of flows.
    pub flows: usize,
    /// P.
    pub packets: u32,
}

/// A drive of paper 003, apart from the seeds of its traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OneDrive {
    /// The paper's drive.
    pub drive: PaperDrive,
    /// Its seed.
    pub seed: u64,
    /// One-way delay of the wide area, ms.
    pub wan_ms: u32,
    /// Largest error of the reported bandwidth, percent.
    pub error_percent: u32,
    /// Only handoffs of this class; all if there is none.
    pub class: Option<ClassWord>,
}

/// A download of paper 002, apart from the seeds of its delays.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OneDownload {
    /// L2 handoff delay, ns.
    pub disconnect: Nanos,
    /// One-way delays of the links c and d, as the ledger writes them; the scenario's if there are none.
    pub access_ms: Option<String>,
}

/// One handoff of a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Single {
    /// The point.
    pub point: Handoffs,
    /// T, ns.
    pub at: Nanos,
}

/// Seconds in ns.
pub fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND as f64).round() as Nanos
}

impl Points {
    /// All points in order: kinds, then disconnections, links, flows, P.
    pub fn all(&self, defaults: &Defaults) -> Vec<Handoffs> {
        let disconnects = match &self.disconnect_s {
            Some(several) => several.all().to_vec(),
            None => vec![defaults.disconnect_s],
        };
        let flows = self.flows.as_ref().map_or(vec![1], |several| several.all().to_vec());
        let packets = self.packets.as_ref().map_or(vec![defaults.packets], |several| several.all().to_vec());
        let mut all = Vec::new();
        for &kind in self.kind.all() {
            let lengths: Vec<Nanos> = match kind {
                KindWord::Mbb => vec![0],
                KindWord::Bbm => disconnects.iter().map(|&seconds| nanos(seconds)).collect(),
            };
            for disconnect in lengths {
                for links in self.links.all() {
                    for &flows in &flows {
                        for &packets in &packets {
                            all.push(Handoffs { kind, disconnect, links: links.clone(), flows, packets });
                        }
                    }
                }
            }
        }
        all
    }

    /// The one handoff, if it is one.
    pub fn single(&self, defaults: &Defaults) -> Option<Single> {
        let at = nanos(self.at_s?);
        let point = self.all(defaults).into_iter().next()?;
        Some(Single { point, at })
    }
}

impl Drives {
    /// All points in order: drives, WAN delays, classes.
    pub fn all(&self) -> Vec<OneDrive> {
        let classes: Vec<Option<ClassWord>> = match &self.class {
            Some(classes) => classes.all().iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let (seed, error_percent) = (self.seed.unwrap_or(1), self.error_percent.unwrap_or(0));
        let mut all = Vec::new();
        for &drive in self.of.all() {
            for &wan_ms in self.wan_ms.all() {
                let points =
                    classes.iter().map(|&class| OneDrive { drive, seed, wan_ms, error_percent, class });
                all.extend(points);
            }
        }
        all
    }
}

impl Downloads {
    /// All points in order: L2 handoff delays, access delays.
    pub fn all(&self) -> Vec<OneDownload> {
        let access: Vec<Option<String>> = match &self.access_ms {
            Some(several) => several.all().iter().cloned().map(Some).collect(),
            None => vec![None],
        };
        let one = |&seconds: &f64, access_ms: &Option<String>| OneDownload {
            disconnect: nanos(seconds),
            access_ms: access_ms.clone(),
        };
        self.disconnect_s.all().iter().flat_map(|seconds| access.iter().map(|ms| one(seconds, ms))).collect()
    }
}

impl Claim {
    /// All its points, in order.
    pub fn all_points(&self, defaults: &Defaults) -> Vec<Point> {
        let handoffs = self.points.iter().flat_map(|points| points.all(defaults)).map(Point::Handoffs);
        let cells = self.cells.iter().flat_map(|cells| cells.all()).map(Point::Cell);
        let drives = self.drives.iter().flat_map(Drives::all).map(Point::Drive);
        let downloads = self.downloads.iter().flat_map(Downloads::all).map(Point::Download);
        handoffs.chain(drives).chain(cells).chain(downloads).collect()
    }
}

impl Part {
    /// Whether a point belongs to the part.
    pub fn has(&self, point: &Point) -> bool {
        match point {
            Point::Handoffs(point) => {
                self.kind.is_none_or(|kind| kind == point.kind)
                    && self.links.as_ref().is_none_or(|links| links.all().contains(&point.links))
                    && self.flows.as_ref().is_none_or(|flows| flows.all().contains(&point.flows))
            }
            Point::Drive(point) => {
                self.drive.as_ref().is_none_or(|drives| drives.all().contains(&point.drive))
                    && (self.class.as_ref())
                        .is_none_or(|own| point.class.is_some_and(|class| own.all().contains(&class)))
            }
            Point::Cell(point) => {
                self.buffer.as_ref().is_none_or(|own| own.all().contains(&point.buffer))
                    && self.p_percent.as_ref().is_none_or(|own| own.all().contains(&point.p_percent))
            }
            // No contrast names a part of them.
            Point::Download(_) => false,
        }
    }
}

/// `6400/9` as a link.
pub(crate) fn link(text: &str) -> Result<AccessLink, PointError> {
    let (rate, delay) = text.split_once('/').ok_or_else(|| PointError::Links(text.to_string()))?;
    Ok(AccessLink::parse(&format!("{rate}kbit/{delay}ms"))?)
}

impl OneDrive {
    /// The same drive with the handoffs of all classes.
    pub fn whole(self) -> Self {
        Self { class: None, ..self }
    }

    /// The drives to simulate: the paper's testbed with these schemes and settings, and so many seeds of the traffic.
    pub fn plan(
        self,
        defaults: &Defaults,
        schemes: &[String],
        settings: &[(String, String)],
        seeds: u64,
    ) -> Result<DrivePlan, PointError> {
        let (schemes, stacks) = planned(schemes, defaults.stack_words(), settings)?;
        let Some(&stack) = stacks.first() else { return Err(PointError::NoSchemes) };
        let experiment = DriveExperiment {
            drive: Arc::new(self.drive.mobility().drive(self.seed)),
            flows: 1,
            cross: 1,
            web: Some(Surge::default()),
            wan: WideArea { rate: 10_000_000, delay: Nanos::from(self.wan_ms) * (SECOND / 1000), queue: 20 },
            stack,
            notice: NoticeMode::InBand { lost: 0 },
            bandwidth_error: f64::from(self.error_percent) / 100.0,
            routers: Routers::default(),
            seed: 1,
        };
        let blocks = vec![DriveBlock { name: self.drive.name().to_string(), experiment }];
        Ok(DrivePlan { title: None, blocks, schemes, seed: 1, seeds })
    }
}

impl Handoffs {
    /// The bench's request, with these schemes and settings at these handoff times.
    pub fn request(
        &self,
        schemes: Vec<String>,
        settings: Vec<(String, String)>,
        at: Vec<Nanos>,
    ) -> Result<Request, PointError> {
        let mut links = self.links.split_whitespace();
        let (Some(old), Some(new), None) = (links.next(), links.next(), links.next()) else {
            return Err(PointError::Links(self.links.clone()));
        };
        Ok(Request {
            pairs: vec![(link(old)?, link(new)?)],
            kinds: vec![match self.kind {
                KindWord::Mbb => Kind::Mbb,
                KindWord::Bbm => Kind::Bbm(self.disconnect),
            }],
            flows: vec![self.flows],
            schemes,
            at,
            packets: self.packets,
            definition: Definition::AfterHighest,
            notice: NoticeMode::Instant,
            stack: None,
            cc: None,
            settings,
            seed: 1,
            seeds: 1,
        })
    }

    /// In words: `6400/9 to 200/300, mbb, 1 flow`.
    pub fn words(&self) -> String {
        let kind = match self.kind {
            KindWord::Mbb => self.kind.to_string(),
            KindWord::Bbm => format!("{} {} s", self.kind, self.disconnect as f64 / SECOND as f64),
        };
        let flows = if self.flows == 1 { String::new() } else { format!(", {} flows", self.flows) };
        let packets = if self.packets == 100 { String::new() } else { format!(", P {}", self.packets) };
        format!("{}, {kind}{flows}{packets}", self.links.replacen(' ', " to ", 1))
    }
}
