//! Jitter: a delay that changes with the weather, as often as it is long.
//!
//! The addition is never negative, so that a link's delay stays its least. A new value is drawn for each slot of time
//! that is as long as the jitter itself. Packets that follow each other closely meet the same, as on a radio link, and
//! all senders do.

use crate::Nanos;
use crate::random::{Drawn, Weather, normal, uniform};

/// How the values are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterShape {
    /// The size of a normal variable: half of them below 0.67 of the jitter, one in a hundred above 2.6 times.
    Normal,
    /// Pareto's of the second kind (Lomax) with shape 3, as netem's table. Half of them are below 0.26 of the jitter,
    /// one in a hundred above 3.6 times. Cut at a hundred times.
    Pareto,
}

/// Most that Pareto's distribution adds, in jitters: one in a million would be more.
const MOST: f64 = 100.0;

/// The jitter of a link: a random addition to its delay.
#[derive(Clone, Debug)]
pub struct Jitter {
    shape: JitterShape,
    /// Root of the mean square.
    size: Nanos,
    drawn: Drawn,
}

impl Jitter {
    /// Added delays whose root mean square is `size` (ns). `number` is the link's own.
    pub fn new(shape: JitterShape, size: Nanos, seed: u64, number: u64) -> Self {
        Self { shape, size, drawn: Drawn::new(Weather::new(size, seed, number)) }
    }

    /// The delay added at `time`, ns.
    #[inline]
    pub(super) fn at(&mut self, time: Nanos) -> Nanos {
        let Self { shape, size, drawn } = self;
        drawn.at(time, |random| {
            let share = match shape {
                JitterShape::Normal => normal(random).abs(),
                JitterShape::Pareto => (1.0 / libm::cbrt(uniform(random)) - 1.0).min(MOST),
            };
            (share * *size as f64).round() as Nanos
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    const SIZE: Nanos = 5_000_000;
    const COUNT: usize = 20_000;

    fn drawn(shape: JitterShape) -> Vec<f64> {
        let mut jitter = Jitter::new(shape, SIZE, 7, 3);
        let mut values: Vec<f64> =
            (0..COUNT as Nanos).map(|slot| jitter.at(slot * SIZE + 17) as f64 / SIZE as f64).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Kolmogorov and Smirnov's distance: below 1.95 / sqrt(n) for a right sampler, but for one in a thousand.
    fn assert_is(values: &[f64], cdf: impl Fn(f64) -> f64) {
        let count = values.len() as f64;
        let apart = |(index, value): (usize, &f64)| {
            (cdf(*value) - index as f64 / count).abs().max((cdf(*value) - (index + 1) as f64 / count).abs())
        };
        let distance = values.iter().enumerate().map(apart).fold(0.0, f64::max);
        assert!(distance < 1.95 / count.sqrt(), "{distance}");
    }

    #[test]
    fn shapes_are_those_distributions() {
        let standard = Normal::new(0.0, 1.0).unwrap();
        assert_is(&drawn(JitterShape::Normal), |x| 2.0 * standard.cdf(x) - 1.0);
        assert_is(&drawn(JitterShape::Pareto), |x| 1.0 - (1.0 + x).powi(-3));
    }

    /// The root mean square is the size: of half a normal variable by definition; Lomax's mean square is
    /// 2 / ((3 - 1) (3 - 2)) = 1.
    #[test]
    fn the_size_is_the_root_mean_square() {
        let values = drawn(JitterShape::Normal);
        let square = values.iter().map(|x| x * x).sum::<f64>() / COUNT as f64;
        assert!((square - 1.0).abs() < 0.05, "{square}");
    }

    #[test]
    fn it_is_the_same_for_all_who_ask_within_a_slot() {
        let mut jitter = Jitter::new(JitterShape::Normal, SIZE, 1, 1);
        assert_eq!(jitter.at(3 * SIZE), jitter.at(4 * SIZE - 1));
        assert_ne!(jitter.at(3 * SIZE), jitter.at(4 * SIZE));
    }
}
