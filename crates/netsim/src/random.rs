//! Random numbers of links: a stream for each seed and purpose, and weather, which is a function of time.

use crate::Nanos;
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// 2^64 over the golden ratio, odd: no two streams of a seed are the same.
const STREAM_STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// One, in parts per million.
pub const MILLION: u32 = 1_000_000;

/// The stream of this number.
pub(crate) fn stream(seed: u64, stream: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ stream.wrapping_mul(STREAM_STEP))
}

/// Uniform in (0, 1].
pub(crate) fn uniform(random: &mut impl RngCore) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Whether what happens so many times in a million happens now.
pub(crate) fn happens(random: &mut impl RngCore, per_million: u32) -> bool {
    (u128::from(random.next_u64()) * u128::from(MILLION)) >> 64 < u128::from(per_million)
}

/// A normal variable of mean 0 and variance 1 (Box and Muller, the cosine alone).
pub(crate) fn normal(random: &mut impl RngCore) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(uniform(random)));
    radius * libm::cos(std::f64::consts::TAU * uniform(random))
}

/// Weather: one draw for each slot of time, whoever asks, as often as they ask, in any order.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    seed: u64,
    slot: Nanos,
}

impl Weather {
    /// Slots of so many ns, one at least. `number` is the link's own: two of one seed have different weather.
    pub fn new(slot: Nanos, seed: u64, number: u64) -> Self {
        Self { seed: stream(seed, number).next_u64(), slot: slot.max(1) }
    }

    /// The numbers of the slot that `time` lies in.
    pub(crate) fn at(&self, time: Nanos) -> Pcg64Mcg {
        stream(self.seed, time / self.slot)
    }
}

/// A draw for each slot of the weather. That of the latest slot is kept: packets that follow each other mostly ask for
/// the same.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    weather: Weather,
    /// When the slot began, and what was drawn.
    latest: Option<(Nanos, Nanos)>,
}

impl Drawn {
    pub(crate) fn new(weather: Weather) -> Self {
        Self { weather, latest: None }
    }

    /// The outcome of `draw` with the numbers of the slot that `time` lies in. It has the same each time.
    #[inline]
    pub(crate) fn at(&mut self, time: Nanos, draw: impl FnOnce(&mut Pcg64Mcg) -> Nanos) -> Nanos {
        match self.latest {
            Some((begin, drawn)) if begin <= time && time - begin < self.weather.slot => drawn,
            _ => {
                let drawn = draw(&mut self.weather.at(time));
                self.latest = Some((time / self.weather.slot * self.weather.slot, drawn));
                drawn
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    #[test]
    fn a_normal_variable_is_normal() {
        let mut random = stream(3, 1);
        let mut drawn: Vec<f64> = (0..20_000).map(|_| normal(&mut random)).collect();
        drawn.sort_by(f64::total_cmp);
        let expected = Normal::new(0.0, 1.0).unwrap();
        let count = drawn.len() as f64;
        let distance = |(index, value): (usize, &f64)| {
            let cdf = expected.cdf(*value);
            (cdf - index as f64 / count).abs().max((cdf - (index + 1) as f64 / count).abs())
        };
        let distance = drawn.iter().enumerate().map(distance).fold(0.0, f64::max);
        assert!(distance < 1.95 / count.sqrt(), "{distance}"); // Kolmogorov and Smirnov, one of a thousand
    }

    #[test]
    fn weather_is_a_function_of_time() {
        let weather = Weather::new(1000, 7, 1);
        let drawn = |weather: Weather, time| weather.at(time).next_u64();
        assert_eq!(drawn(weather, 5_999), drawn(weather, 5_000));
        assert_ne!(drawn(weather, 5_999), drawn(weather, 6_000));
        for other in [Weather::new(1000, 7, 2), Weather::new(1000, 8, 1)] {
            assert_ne!(drawn(weather, 5_000), drawn(other, 5_000));
        }
    }

    /// Later questions, also for times before, get what the weather has. A slot is drawn once while it is asked for.
    #[test]
    fn what_is_kept_is_what_would_be_drawn() {
        let weather = Weather::new(1000, 7, 1);
        let (mut drawn, mut draws) = (Drawn::new(weather), 0);
        for time in [5_000, 5_999, 5_001, 6_000, 5_999, 0, 999, 1_000, u64::MAX, u64::MAX - 1] {
            let kept = drawn.at(time, |random| {
                draws += 1;
                random.next_u64()
            });
            assert_eq!(kept, weather.at(time).next_u64(), "{time}");
        }
        assert_eq!(draws, 6);
    }
}
