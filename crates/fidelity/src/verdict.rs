//! How far we are from ns-2, and whether that is near enough.

use crate::Error;
use crate::measure::{self, Handoff, Summary};
use crate::reference::{self, Handoffs, Reference};
use crate::scenario::Scenario;
use rayon::prelude::*;
use std::collections::HashMap;

/// One scenario in both worlds.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Its scenario.
    pub scenario: Scenario,
    /// Our summary.
    pub ours: Summary,
    /// ns-2's.
    pub ns2: Summary,
    /// Our handoffs.
    pub handoffs: Vec<Handoff>,
}

/// A requirement and what became of it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The requirement.
    pub what: String,
    /// The finding.
    pub found: String,
    /// Whether it is met.
    pub met: bool,
}

/// Median errors that are counted.
pub const STEPS: [f64; 3] = [0.05, 0.10, 0.15];
/// Share of the scenarios whose median of A must lie within the first step, by number of flows.
const SHARES: [(usize, f64); 3] = [(1, 0.97), (2, 0.97), (4, 0.75)];
/// Largest mean absolute error of timeouts per handoff.
const TIMEOUT_ERROR: f64 = 0.05;
/// The tables are rounded to milliseconds.
const ROUNDING: f64 = 0.000_5;
/// Two transfer times agree up to here.
const SAME: f64 = 0.001;

impl Comparison {
    /// Relative error of the median of A.
    pub fn error(&self) -> f64 {
        let difference = self.ours.a.median - self.ns2.a.median;
        if difference == 0.0 { 0.0 } else { difference / self.ns2.a.median }
    }
}

/// Runs scenarios and lays them beside ns-2's.
pub fn compare(scenarios: &[(Scenario, Summary)], packets: u32) -> Result<Vec<Comparison>, Error> {
    scenarios
        .par_iter()
        .map(|&(scenario, ns2)| {
            let handoffs = measure::handoffs(&scenario, packets)?;
            Ok(Comparison { scenario, ours: measure::summarise(&handoffs), ns2, handoffs })
        })
        .collect()
}

/// How many of the scenarios with `flows` flows lie within each of [`STEPS`], and how many there are.
pub fn within(comparisons: &[Comparison], flows: usize) -> ([usize; 3], usize) {
    let errors: Vec<f64> =
        comparisons.iter().filter(|c| c.scenario.flows == flows).map(|c| c.error().abs()).collect();
    (STEPS.map(|step| errors.iter().filter(|e| **e <= step).count()), errors.len())
}

/// Mean over the scenarios of the absolute error of timeouts per handoff.
pub fn timeout_error(comparisons: &[Comparison]) -> f64 {
    let sum: f64 = comparisons.iter().map(|c| (c.ours.timeouts - c.ns2.timeouts).abs()).sum();
    sum / comparisons.len().max(1) as f64
}

/// Scenarios farther off than the last step, with ns-2's own range where it is known.
pub fn outliers<'a>(
    comparisons: &'a [Comparison],
    ranges: &HashMap<Scenario, (f64, f64)>,
) -> Vec<(&'a Comparison, Option<(f64, f64)>)> {
    let far = |c: &&Comparison| c.error().abs() > STEPS[2];
    comparisons.iter().filter(far).map(|c| (c, ranges.get(&c.scenario).copied())).collect()
}

/// Whether our median lies in ns-2's range.
pub fn inside(comparison: &Comparison, range: Option<(f64, f64)>) -> bool {
    let median = comparison.ours.a.median;
    range.is_some_and(|(low, high)| (low - ROUNDING..=high + ROUNDING).contains(&median))
}

/// The targets of the scenarios.
pub fn judge(comparisons: &[Comparison], reference: &Reference) -> Vec<Target> {
    let mut targets = Vec::new();
    for (flows, share) in SHARES {
        let (counts, all) = within(comparisons, flows);
        if all > 0 {
            let found = counts[0] as f64 / all as f64;
            targets.push(Target {
                what: format!("{flows} flow(s): medians of A within 5 %, at least {:.0} %", share * 100.0),
                found: format!("{} of {all} ({:.1} %)", counts[0], found * 100.0),
                met: found >= share,
            });
        }
    }
    let error = timeout_error(comparisons);
    targets.push(Target {
        what: format!("mean absolute error of timeouts per handoff, at most {TIMEOUT_ERROR}"),
        found: format!("{error:.4}"),
        met: error <= TIMEOUT_ERROR,
    });
    let outliers = outliers(comparisons, &reference.ranges);
    let outside = outliers.iter().filter(|(c, range)| !inside(c, *range)).count();
    targets.push(Target {
        what: "scenarios farther off than 15 % lie in the range of ns-2 itself".to_string(),
        found: format!("{} farther off, {outside} of them outside", outliers.len()),
        met: outside == 0,
    });
    targets
}

/// A handoff whose A differs from ns-2's.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Its scenario.
    pub scenario: Scenario,
    /// Ours.
    pub ours: Handoff,
    /// ns-2's.
    pub ns2: reference::Handoff,
}

/// Agreement handoff by handoff.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Handoffs compared.
    pub all: usize,
    /// Those with an equal number of timeouts, drops and retransmissions.
    pub same_counts: usize,
    /// Sum of the absolute errors of timeouts.
    pub timeout_error: u64,
    /// Those whose A is farther off than 1 ms.
    pub differences: Vec<Difference>,
}

/// Compares every handoff that ns-2 has measured.
pub fn agreement(comparisons: &[Comparison], handoffs: &Handoffs) -> Agreement {
    let mut agreement = Agreement::default();
    for comparison in comparisons {
        let scenario = comparison.scenario;
        for &ours in &comparison.handoffs {
            let Some(&ns2) = handoffs.get(&(scenario, ours.tenths)) else { continue };
            agreement.all += 1;
            let counts = (ours.timeouts, ours.drops, ours.retransmissions);
            agreement.same_counts += usize::from(counts == (ns2.timeouts, ns2.drops, ns2.retransmissions));
            agreement.timeout_error += u64::from(ours.timeouts.abs_diff(ns2.timeouts));
            if (ours.a - ns2.a).abs() > SAME {
                agreement.differences.push(Difference { scenario, ours, ns2 });
            }
        }
    }
    agreement
}
