//! Independent losses: each packet is lost with the same probability (netem's `loss random`, Bernoulli trials).

use super::LossModel;
use crate::Nanos;
use crate::random;
use rand_pcg::Pcg64Mcg;

/// Loses each packet with the same probability.
#[derive(Clone, Debug)]
pub struct RandomLoss {
    per_million: u32,
    random: Pcg64Mcg,
}

impl RandomLoss {
    /// Loses so many packets of a million. `stream` is the link's own: links with one seed draw from different streams.
    pub fn new(per_million: u32, seed: u64, stream: u64) -> Self {
        Self { per_million, random: random::stream(seed, stream) }
    }
}

impl LossModel for RandomLoss {
    fn loses(&mut self, _departure: Nanos) -> bool {
        random::happens(&mut self.random, self.per_million)
    }

    fn fork(&self) -> Box<dyn LossModel> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 100_000;

    fn drawn(per_million: u32, seed: u64, stream: u64) -> Vec<bool> {
        let mut model = RandomLoss::new(per_million, seed, stream);
        (0..COUNT).map(|_| model.loses(0)).collect()
    }

    /// Within four standard deviations of a binomial variable of `trials`.
    fn assert_share(hits: usize, trials: usize, p: f64) {
        let (mean, deviation) = (trials as f64 * p, (trials as f64 * p * (1.0 - p)).sqrt());
        assert!((hits as f64 - mean).abs() <= 4.0 * deviation, "{hits} of {trials}, expected {mean}");
    }

    #[test]
    fn losses_have_the_probability_and_no_memory() {
        for (per_million, p) in [(10_000, 0.01), (100_000, 0.1), (500_000, 0.5)] {
            let lost = drawn(per_million, 1, 0);
            assert_share(lost.iter().filter(|&&lost| lost).count(), COUNT, p);
            let after_loss: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
            assert_share(after_loss.iter().filter(|&&lost| lost).count(), after_loss.len(), p);
        }
        assert!(drawn(0, 1, 0).iter().all(|lost| !lost));
        assert!(drawn(1_000_000, 1, 0).iter().all(|lost| *lost));
    }

    /// Two directions lose the same packet as often as two coins fall alike: p squared.
    #[test]
    fn streams_of_one_seed_are_independent() {
        assert_eq!(drawn(100_000, 7, 1), drawn(100_000, 7, 1));
        for (seed, stream) in [(7, 2), (8, 1)] {
            let pairs = drawn(100_000, 7, 1).into_iter().zip(drawn(100_000, seed, stream));
            assert_share(pairs.filter(|&(one, other)| one && other).count(), COUNT, 0.01);
        }
    }

    #[test]
    fn a_fork_goes_on_as_the_original() {
        let mut model = RandomLoss::new(300_000, 3, 0);
        (0..10).for_each(|_| _ = model.loses(0));
        let mut fork = model.fork();
        assert!((0..100).all(|_| model.loses(0) == fork.loses(0)));
    }
}
