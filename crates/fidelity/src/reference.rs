//! The results of ns-2.

use crate::Error;
use crate::measure::{Quartiles, Summary};
use crate::scenario::Scenario;
use crate::table::Table;
use std::collections::HashMap;
use std::path::Path;

/// The two tables about one set of scenarios.
pub struct Reference {
    /// Every scenario and its outcome, in the order of the file.
    pub summaries: Vec<(Scenario, Summary)>,
    /// Smallest and largest median of A that ns-2 gives a scenario over flow offsets and MN hops.
    pub ranges: HashMap<Scenario, (f64, f64)>,
}

/// ns-2's outcome of one handoff.
#[derive(Clone, Copy, Debug)]
pub struct Handoff {
    /// Transfer time, s, by definition A.
    pub a: f64,
    /// Timeouts from completion to its end.
    pub timeouts: u32,
    /// Drops in queues.
    pub drops: u32,
    /// Packets sent again.
    pub retransmissions: u32,
}

/// ns-2's outcome of each handoff, by scenario and by T in tenths of a second.
pub type Handoffs = HashMap<(Scenario, u32), Handoff>;

/// Reads a summary and, where there is one, its spread.
pub fn read(folder: &Path, summary: &str, spread: Option<&str>) -> Result<Reference, Error> {
    let mut summaries = Vec::new();
    for row in Table::read(&folder.join(summary))?.rows() {
        let quartiles = |definition: &str| {
            let value = |name: &str| row.value::<f64>(&format!("{definition}_{name}"));
            Ok::<_, Error>(Quartiles { q1: value("q1")?, median: value("med")?, q3: value("q3")? })
        };
        let summary = Summary {
            a: quartiles("A")?,
            b: quartiles("B")?,
            timeouts: row.value("mean_rto_after")?,
            drops: row.value("mean_drops_after")?,
            retransmissions: row.value("mean_rexmit_after")?,
        };
        summaries.push((Scenario::of(&row)?, summary));
    }
    let mut ranges = HashMap::new();
    if let Some(spread) = spread {
        for row in Table::read(&folder.join(spread))?.rows() {
            let median: f64 = row.value("A_med")?;
            let range = ranges.entry(Scenario::of(&row)?).or_insert((median, median));
            *range = (range.0.min(median), range.1.max(median));
        }
    }
    Ok(Reference { summaries, ranges })
}

/// Reads `results.csv.gz`.
pub fn handoffs(folder: &Path) -> Result<Handoffs, Error> {
    let mut handoffs = HashMap::new();
    for row in Table::read(&folder.join("results.csv.gz"))?.rows() {
        let tenths = (row.value::<f64>("T")? * 10.0).round() as u32;
        let handoff = Handoff {
            a: row.value("defA_s")?,
            timeouts: row.value("rto_after")?,
            drops: row.value("drops_after")?,
            retransmissions: row.value("rexmit_after")?,
        };
        handoffs.insert((Scenario::of(&row)?, tenths), handoff);
    }
    Ok(handoffs)
}

/// The 24 scenarios of continuous integration, by a fixed rule. They are every 13th of the 2008 paper's from the
/// seventh on (one flow, both kinds). Every fifth of the 2009 paper's follows (1, 2 and 4 flows, both
/// kinds).
pub fn subset(all: &[(Scenario, Summary)]) -> Vec<(Scenario, Summary)> {
    let of = |paper: u8| all.iter().filter(move |(scenario, _)| scenario.paper == paper).copied();
    of(1).skip(6).step_by(13).chain(of(2).step_by(5)).collect()
}
