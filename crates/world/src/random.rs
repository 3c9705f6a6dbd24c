//! Random draws of drives, web users and notices, the same bits on every machine.
//!
//! Distributions are drawn by inversion with `libm`. `rand_distr` computes with the logarithms and powers of the
//! platform's C library, which differ between platforms in the last bit.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use segue_netsim::{Nanos, SECOND};

/// Purposes of random numbers: one seed serves all, and none of them sees the draws of another.
pub(crate) enum Stream {
    /// Cells, attached times, next networks.
    Mobility,
    /// Errors of the bandwidth that the mobile reports, by stay.
    Bandwidth(u32),
    /// Objects and pauses of one web user.
    WebUser(u32),
    /// Sojourns in cells, and how long it takes to come to the next.
    Cells,
    /// Errors of the notice of the handoff that begins then.
    Notice(Nanos),
    /// Starts of users who share the access links.
    Neighbours,
    /// Starts of the mobile's applications and uploads.
    Traffic,
}

/// A generator.
#[derive(Clone, Debug)]
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub(crate) fn new(seed: u64, stream: Stream) -> Self {
        let stream = match stream {
            Stream::Mobility => 0,
            Stream::WebUser(user) => 1 + u64::from(user),
            Stream::Cells => 2 << 32,
            Stream::Bandwidth(stay) => (1 << 32) + u64::from(stay),
            Stream::Neighbours => 3 << 32,
            Stream::Traffic => 4 << 32,
            Stream::Notice(at) => (1 << 63) + at,
        };
        // The first outputs of neighbouring states are alike, hence the mixing.
        let high = mixed(seed.wrapping_add(mixed(stream)));
        Self(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(mixed(high))))
    }

    /// Uniform in (0, 1].
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0..n.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        ((u64::from(n) * (self.0.next_u64() >> 32)) >> 32) as u32
    }

    /// An index, drawn with these probabilities, which sum to one.
    pub(crate) fn choice(&mut self, probabilities: impl Iterator<Item = f64>) -> usize {
        let mut rest = self.unit();
        let mut chosen = 0;
        for (index, probability) in probabilities.enumerate().filter(|(_, probability)| *probability > 0.0) {
            chosen = index;
            rest -= probability;
            if rest <= 0.0 {
                break;
            }
        }
        chosen
    }

    /// Density exp(-x/mean)/mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.unit())
    }

    /// P(X > x) = (least/x)^alpha.
    pub(crate) fn pareto(&mut self, least: f64, alpha: f64) -> f64 {
        least * libm::pow(self.unit(), -1.0 / alpha)
    }

    /// P(X > x) = exp(-(x/scale)^shape).
    pub(crate) fn weibull(&mut self, scale: f64, shape: f64) -> f64 {
        scale * libm::pow(-libm::log(self.unit()), 1.0 / shape)
    }

    /// exp of a normal number of this mean and standard deviation (Box and Muller).
    pub(crate) fn lognormal(&mut self, mu: f64, sigma: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * self.unit());
        libm::exp(mu + sigma * normal)
    }
}

/// The output function of splitmix64 (Steele, Lea, Flood 2014).
fn mixed(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Seconds as ns.
pub(crate) fn nanos(seconds: f64) -> Nanos {
    libm::round(seconds * SECOND as f64) as Nanos
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Kolmogorov and Smirnov: no more than one sample in a thousand is farther from its distribution.
    pub(crate) fn assert_distributed(mut draws: Vec<f64>, below: impl Fn(f64) -> f64) {
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let distance = draws.iter().enumerate().fold(0.0_f64, |distance, (i, &x)| {
            let expected = below(x);
            distance.max((i as f64 + 1.0) / n - expected).max(expected - i as f64 / n)
        });
        assert!(distance < 1.95 / n.sqrt(), "distance {distance} with {n} draws");
    }

    #[test]
    fn distributions_are_what_they_are_called() {
        const DRAWS: usize = 50_000;
        let mut random = Random::new(1, Stream::Mobility);
        let mut drawn = |draw: &dyn Fn(&mut Random) -> f64| (0..DRAWS).map(|_| draw(&mut random)).collect();
        assert_distributed(drawn(&|r| r.unit()), |x| x);
        assert_distributed(drawn(&|r| r.exponential(50.0)), |x| 1.0 - (-x / 50.0).exp());
        assert_distributed(drawn(&|r| r.pareto(3.0, 1.1)), |x| 1.0 - (3.0 / x).powf(1.1));
        assert_distributed(drawn(&|r| r.weibull(1.46, 0.382)), |x| 1.0 - (-(x / 1.46).powf(0.382)).exp());
        assert_distributed(drawn(&|r| r.lognormal(9.4, 1.3)), |x| {
            0.5 * libm::erfc(-(x.ln() - 9.4) / 1.3 / std::f64::consts::SQRT_2)
        });
    }

    #[test]
    fn whole_numbers_and_choices_are_fair() {
        let mut random = Random::new(2, Stream::WebUser(7));
        let mut counts = [0_i32; 3];
        for _ in 0..30_000 {
            counts[random.below(3) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (count - 10_000).abs() < 400), "{counts:?}");
        let mut counts = [0_i32; 4];
        for _ in 0..30_000 {
            counts[random.choice([0.0, 0.2, 0.8, 0.0].into_iter())] += 1;
        }
        assert!((counts[1] - 6_000).abs() < 300 && counts[0] + counts[3] == 0, "{counts:?}");
    }

    /// The numbers of a seed never change: recorded results depend on them.
    #[test]
    fn numbers_are_fixed_for_ever() {
        let mut random = Random::new(1, Stream::Mobility);
        let drawn = [random.exponential(50.0), random.pareto(1.0, 1.5), random.lognormal(9.357, 1.318)];
        let bits = [4_629_029_737_745_340_962, 4_608_293_135_604_874_767, 4_662_678_425_412_935_286];
        assert_eq!(drawn.map(f64::to_bits), bits, "{drawn:?}");
    }
}
