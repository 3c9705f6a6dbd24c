//! How far the stack `linux-6.12` is from the kernel over all handoffs of the reference.

use super::outcome::{self, Handoff, Outcome};
use super::scenario::Scenario;
use crate::Error;
use crate::measure::quartiles;
use crate::verdict::Target;
use rayon::prelude::*;
use segue_tcp::Nanos;
use segue_tcp::linux::cc::CcName;

/// Two times are the same up to here, s.
const SAME: f64 = 0.001;
/// Share of an A by which ours may be off.
const NEAR: f64 = 0.05;
/// The same of bbr, whose runs depend on lots.
const NEAR_BBR: f64 = 0.08;

/// Which bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The simulator's, which users have.
    Simulator,
    /// The reference's own.
    Reference,
}

/// A scenario at its handoff times.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// With the first handoff time.
    pub scenario: Scenario,
    /// Handoff times.
    pub times: Vec<Nanos>,
    /// The kernel's handoffs.
    pub kernel: Vec<Outcome>,
    /// Ours, in the same order.
    pub ours: Vec<Outcome>,
}

impl Comparison {
    /// Median of A, ours and the kernel's.
    pub fn medians(&self) -> (f64, f64) {
        let median = |outcomes: &[Outcome]| quartiles(outcomes.iter().map(|o| o.a).collect()).median;
        (median(&self.ours), median(&self.kernel))
    }

    /// Relative error of the median of A.
    pub fn error(&self) -> f64 {
        let (ours, kernel) = self.medians();
        if ours == kernel { 0.0 } else { ours / kernel - 1.0 }
    }

    /// Within what share the median is to be.
    pub fn step(&self) -> f64 {
        if self.scenario.control == CcName::Bbr { NEAR_BBR } else { NEAR }
    }
}

/// Measures every scenario of `handoffs`.
pub fn compare(handoffs: &[Handoff], place: Place) -> Result<Vec<Comparison>, Error> {
    let same = |a: &Handoff, b: &Handoff| Scenario { at: b.scenario.at, ..a.scenario } == b.scenario;
    let scenarios: Vec<&[Handoff]> = handoffs.chunk_by(same).collect();
    let compare = |&handoffs: &&[Handoff]| {
        let times: Vec<_> = handoffs.iter().map(|handoff| handoff.scenario.at).collect();
        let ours = match place {
            Place::Simulator => outcome::on_our_bench(&handoffs[0].scenario, &times)?,
            Place::Reference => {
                handoffs.iter().map(|handoff| outcome::on_its_bench(handoff.scenario, 1)).collect()
            }
        };
        let kernel = handoffs.iter().map(|handoff| handoff.kernel).collect();
        Ok(Comparison { scenario: handoffs[0].scenario, times, kernel, ours })
    };
    scenarios.par_iter().map(compare).collect()
}

/// Handoffs of a congestion control and a number of flows, one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Singles {
    /// Number of handoffs.
    pub all: usize,
    /// A within 5 %.
    pub near: usize,
    /// A within 1 ms.
    pub same: usize,
    /// First data within 1 ms.
    pub first_data: usize,
    /// First retransmission within 1 ms.
    pub first_rtx: usize,
    /// Sum of the absolute errors of expiries.
    pub timeouts: f64,
    /// The same of tail loss probes.
    pub probes: f64,
}

/// Counts handoffs one by one.
pub fn singles<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Singles {
    let mut singles = Singles::default();
    for (ours, kernel) in comparisons.flat_map(|c| c.ours.iter().zip(&c.kernel)) {
        // Infinite is the same as infinite.
        let same = |of: fn(&Outcome) -> f64| {
            usize::from(of(ours) == of(kernel) || (of(ours) - of(kernel)).abs() <= SAME)
        };
        singles.all += 1;
        singles.near += usize::from((ours.a - kernel.a).abs() <= NEAR * kernel.a);
        singles.same += same(|o| o.a);
        singles.first_data += same(|o| o.first_data);
        singles.first_rtx += same(|o| o.first_rtx);
        let error = |of: fn(&Outcome) -> f64| Some((of(ours) - of(kernel)).abs()).filter(|e| !e.is_nan());
        singles.timeouts += error(|o| o.timeouts).unwrap_or(0.0);
        singles.probes += error(|o| o.probes).unwrap_or(0.0);
    }
    singles
}

/// Medians within their step, and all, of scenarios.
pub fn within(comparisons: &[&Comparison]) -> (usize, usize) {
    (comparisons.iter().filter(|c| c.error().abs() <= c.step()).count(), comparisons.len())
}

/// Congestion control, flows, and the share of the medians that must be near.
const SHARES: [(CcName, usize, f64); 4] =
    [(CcName::Cubic, 1, 0.95), (CcName::Reno, 1, 0.95), (CcName::Bbr, 1, 0.90), (CcName::Cubic, 4, 0.80)];

/// The scenarios of a congestion control and a number of flows.
pub fn of(comparisons: &[Comparison], control: CcName, flows: usize) -> Vec<&Comparison> {
    let wanted = |c: &&Comparison| c.scenario.control == control && c.scenario.flows == flows;
    comparisons.iter().filter(wanted).collect()
}

/// The targets.
pub fn judge(comparisons: &[Comparison]) -> Vec<Target> {
    let mut targets = Vec::new();
    for (control, flows, share) in SHARES {
        let of = of(comparisons, control, flows);
        if of.is_empty() {
            continue;
        }
        let (near, all) = within(&of);
        let step = 100.0 * of[0].step();
        targets.push(Target {
            what: format!(
                "{}, {flows} flow(s): medians of A within {step:.0} %, at least {:.0} %",
                control.name(),
                100.0 * share
            ),
            found: format!("{near} of {all} ({:.1} %)", 100.0 * near as f64 / all as f64),
            met: near as f64 >= share * all as f64,
        });
    }
    targets
}
