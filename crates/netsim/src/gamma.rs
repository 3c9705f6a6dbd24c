//! Delays that follow a Gamma distribution, as measured Internet paths do, the same bits on every machine.
//!
//! A Gamma variable whose shape is a whole number is a sum of as many exponential ones (an Erlang variable). Those are
//! drawn by inversion with `libm`. General samplers compute with the platform's logarithms and powers, which differ in
//! the last bit.

use crate::Nanos;
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Largest shape: the product of so many uniform numbers is still far from zero.
pub const LARGEST_SHAPE: u32 = 300;

/// One link's delays.
#[derive(Clone, Debug)]
pub struct GammaDelay {
    mean: Nanos,
    shape: u32,
    random: Pcg64Mcg,
}

impl GammaDelay {
    /// Delays of this mean (ns) and shape, which is the mean over the standard deviation, squared; 1 to
    /// [`LARGEST_SHAPE`], what lies beyond counts as that. `seed` is the link's own.
    pub fn new(mean: Nanos, shape: u32, seed: u64) -> Self {
        Self { mean, shape: shape.clamp(1, LARGEST_SHAPE), random: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// The mean, ns.
    pub fn mean(&self) -> Nanos {
        self.mean
    }

    /// The next delay, ns.
    pub fn draw(&mut self) -> Nanos {
        let mut product = 1.0;
        for _ in 0..self.shape {
            // Uniform in (0, 1].
            product *= ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        }
        (-libm::log(product) * self.mean as f64 / f64::from(self.shape)).round() as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Gamma};

    const MEAN: Nanos = 5_000_000;

    fn drawn(shape: u32, seed: u64, count: usize) -> Vec<Nanos> {
        let mut delay = GammaDelay::new(MEAN, shape, seed);
        (0..count).map(|_| delay.draw()).collect()
    }

    /// Kolmogorov and Smirnov's distance to the distribution function that another author wrote. It is below 1.95 /
    /// sqrt(n), which a right sampler exceeds in one of a thousand tries.
    #[test]
    fn it_is_that_distribution() {
        for shape in [1, 4, 25, 100, LARGEST_SHAPE] {
            let count = 20_000;
            let mut values = drawn(shape, 7, count);
            values.sort_unstable();
            let gamma = Gamma::new(f64::from(shape), f64::from(shape)).unwrap();
            let distance = values.iter().enumerate().map(|(index, &value)| {
                let expected = gamma.cdf(value as f64 / MEAN as f64);
                (expected - index as f64 / count as f64)
                    .abs()
                    .max((expected - (index + 1) as f64 / count as f64).abs())
            });
            let distance = distance.fold(0.0, f64::max);
            assert!(distance < 1.95 / (count as f64).sqrt(), "shape {shape}: {distance}");
        }
    }

    #[test]
    fn one_seed_one_sequence() {
        assert_eq!(drawn(16, 1, 100), drawn(16, 1, 100));
        assert_ne!(drawn(16, 1, 100), drawn(16, 2, 100));
        assert_eq!(GammaDelay::new(MEAN, 0, 1).shape, 1);
    }
}
