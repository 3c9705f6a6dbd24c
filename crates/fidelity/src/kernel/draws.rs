//! The spread of a median by chance alone: bbr draws by lot, in the kernel anew in every run.

use super::outcome;
use super::scenario::Scenario;
use super::verdict::Comparison;
use crate::measure::quartiles;
use rayon::prelude::*;

/// Medians of A over the handoffs of a scenario, each of lots of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// In ascending order.
    pub medians: Vec<f64>,
}

impl Draws {
    /// `count` times all handoffs of `comparison` on the reference's bench, each handoff with a seed of its own.
    pub fn of(comparison: &Comparison, count: u32) -> Self {
        let median = |draw: u32| {
            let seeds = (u64::from(draw) * 1_000 + 1)..;
            let handoffs = comparison.times.iter().zip(seeds);
            let a = handoffs
                .map(|(&at, seed)| outcome::on_its_bench(Scenario { at, ..comparison.scenario }, seed).a);
            quartiles(a.collect()).median
        };
        let mut medians: Vec<f64> = (0..count).into_par_iter().map(median).collect();
        medians.sort_by(f64::total_cmp);
        Self { medians }
    }

    /// The share of the medians that are no greater.
    pub fn rank(&self, median: f64) -> f64 {
        self.medians.partition_point(|&own| own <= median) as f64 / self.medians.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks() {
        let draws = Draws { medians: vec![1.0, 2.0, 3.0, 4.0] };
        assert_eq!([0.5, 1.0, 2.5, 9.0].map(|median| draws.rank(median)), [0.0, 0.25, 0.5, 1.0]);
    }
}
