//! Links that lose packets and RED queues beside ns-2's ErrorModel and RED (`reference/ns2/weather.csv`). The values
//! are medians over many seeds, since no draw of one program is one of the other.

use crate::Error;
use crate::measure::{Quartiles, quartiles, record, seconds};
use crate::scenario::Scenario;
use crate::table::{Row, Table};
use rayon::prelude::*;
use segue_world::{AccessLink, Experiment, Nanos, SECOND, WarmRun};
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// First seed of both programs, and handoff times of each run, in tenths of a second.
pub(crate) const FIRST_SEED: u64 = 2;
pub(crate) const TENTHS: [u64; 5] = [82, 86, 90, 94, 98];
/// A median may be so far from ns-2's.
pub const TARGET: f64 = 0.05;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Links, kind and flows.
    pub scenario: Scenario,
    /// Packets that the old and the new link lose, of a million, in each direction.
    pub lost: [u32; 2],
    /// Whether their queues are RED.
    pub red: [bool; 2],
    /// Seeds of each program.
    pub seeds: usize,
    /// Quartiles of A in ns-2, s.
    pub ns2: Quartiles,
    /// The interval of 95 % that ns-2's median has by chance, where it was computed.
    pub interval: Option<(f64, f64)>,
}

impl Weather {
    fn of(row: &Row) -> Result<Option<Self>, Error> {
        // Not yet run.
        if row.text("n")?.is_empty() {
            return Ok(None);
        }
        let seeds: usize = row.value("seeds")?;
        let expected = TENTHS.len() * seeds;
        if row.value::<usize>("n")? != expected {
            return Err(row.wrong(format!("expected {expected} handoffs")));
        }
        let lost = |column| Ok::<_, Error>((row.value::<f64>(column)? * 1e6).round() as u32);
        let red = |column| Ok::<_, Error>(row.value::<u8>(column)? == 1);
        Ok(Some(Self {
            scenario: Scenario::between(row, 0)?,
            lost: [lost("old_loss")?, lost("new_loss")?],
            red: [red("old_red")?, red("new_red")?],
            seeds,
            interval: match row.text("A_med_low")?.is_empty() {
                true => None,
                false => Some((row.value("A_med_low")?, row.value("A_med_high")?)),
            },
            ns2: Quartiles { q1: row.value("A_q1")?, median: row.value("A_med")?, q3: row.value("A_q3")? },
        }))
    }

    /// The links as words.
    fn links(&self) -> [String; 2] {
        let ends = [self.scenario.old, self.scenario.new];
        [0, 1].map(|end| {
            let loss = match self.lost[end] {
                0 => String::new(),
                lost => format!(",loss={}%", f64::from(lost) / 1e4),
            };
            format!("{}{loss}{}", ends[end], if self.red[end] { ",queue=red" } else { "" })
        })
    }

    /// Regular TCP there, with a seed.
    pub(crate) fn experiment(&self, seed: u64) -> Result<Experiment, Error> {
        let [old, new] = self.links();
        let (old, new) = (AccessLink::parse(&old)?, AccessLink::parse(&new)?);
        Ok(Experiment { old, new, seed, ..self.scenario.experiment(100)? })
    }

    /// Quartiles of A in ours, s.
    pub fn ours(&self) -> Result<Quartiles, Error> {
        let seeds = FIRST_SEED..FIRST_SEED + self.seeds as u64;
        Ok(quartiles(times(seeds, |seed| self.experiment(seed))?))
    }

    /// How far a median of ours is from ns-2's.
    pub fn error(&self, ours: &Quartiles) -> f64 {
        ours.median / self.ns2.median - 1.0
    }

    /// Whether the median is near enough. Chance alone may move ns-2's own by more than [`TARGET`] to both sides, as
    /// between two heaps of times. There the other quartiles must be near, and the median in that interval.
    pub fn is_met(&self, ours: &Quartiles) -> bool {
        let near = |ours: f64, ns2: f64| (ours / ns2 - 1.0).abs() <= TARGET;
        let Quartiles { q1, median, q3 } = self.ns2;
        near(ours.median, median)
            || self.interval.is_some_and(|(low, high)| {
                !near(low, median)
                    && !near(high, median)
                    && (low..=high).contains(&ours.median)
                    && near(ours.q1, q1)
                    && near(ours.q3, q3)
            })
    }
}

impl fmt::Display for Weather {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [old, new] = self.links();
        let Scenario { disconnection_ms, flows, .. } = self.scenario;
        let kind =
            disconnection_ms.map_or("mbb".to_string(), |ms| format!("bbm {} s", f64::from(ms) / 1000.0));
        f.pad(&format!("{old} -> {new}, {kind}, {flows}"))
    }
}

/// A of each handoff of these seeds, s, in the order of seeds and times.
pub(crate) fn times(
    seeds: Range<u64>,
    experiment: impl Fn(u64) -> Result<Experiment, Error> + Sync,
) -> Result<Vec<f64>, Error> {
    let of_seed = |seed: u64| -> Result<Vec<f64>, Error> {
        let mut warm = WarmRun::new(experiment(seed)?);
        let at = TENTHS.into_iter().map(|tenths: u64| -> Nanos { tenths * (SECOND / 10) });
        at.map(|at| Ok(seconds(record(&mut warm, at)?.after_highest))).collect()
    };
    let times: Vec<Vec<f64>> = seeds.into_par_iter().map(of_seed).collect::<Result<_, _>>()?;
    Ok(times.concat())
}

/// The lines that ns-2 has run.
pub fn read(folder: &Path) -> Result<Vec<Weather>, Error> {
    let table = Table::read(&folder.join("weather.csv"))?;
    let lines: Result<Vec<Option<Weather>>, Error> = table.rows().map(|row| Weather::of(&row)).collect();
    Ok(lines?.into_iter().flatten().collect())
}
