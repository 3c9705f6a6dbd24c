//! Losses in bursts: the channel of Gilbert and Elliott, as netem has it (`sch_netem.c`, `loss gemodel p r 1-h 1-k`).
//!
//! It is good or bad. Before each packet it may change: from good to bad with probability `p`, back with `r`. Then a
//! good channel loses the packet with probability `1-k`, a bad one with `1-h`.

use super::LossModel;
use crate::Nanos;
use crate::random::{MILLION, happens, stream};
use rand_pcg::Pcg64Mcg;

/// Its four probabilities, in parts per million. Names are those of netem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliottConfig {
    /// `p`: from good to bad.
    pub worsens: u32,
    /// `r`: from bad to good.
    pub mends: u32,
    /// `1-h`: a bad channel loses a packet.
    pub lost_in_bad: u32,
    /// `1-k`: a good channel loses a packet.
    pub lost_in_good: u32,
}

impl GilbertElliottConfig {
    /// Gilbert's: a bad channel loses all, a good one nothing.
    pub fn gilbert(worsens: u32, mends: u32) -> Self {
        Self { worsens, mends, lost_in_bad: MILLION, lost_in_good: 0 }
    }

    /// Share of all packets that is lost in the long run: `(p (1-h) + r (1-k)) / (p + r)`.
    pub fn mean_loss(&self) -> f64 {
        let [p, r, bad, good] = [self.worsens, self.mends, self.lost_in_bad, self.lost_in_good]
            .map(|share| f64::from(share) / 1e6);
        (p * bad + r * good) / (p + r)
    }
}

/// The channel. It begins as it is in the long run: bad with probability `p / (p + r)`.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    config: GilbertElliottConfig,
    bad: bool,
    random: Pcg64Mcg,
}

impl GilbertElliott {
    /// A channel. `stream` is the link's own: links with one seed draw from different streams.
    pub fn new(config: GilbertElliottConfig, seed: u64, number: u64) -> Self {
        let mut random = stream(seed, number);
        let (worsens, either) =
            (u64::from(config.worsens), u64::from(config.worsens) + u64::from(config.mends));
        let bad = happens(&mut random, (worsens * u64::from(MILLION) / either.max(1)) as u32);
        Self { config, bad, random }
    }
}

impl LossModel for GilbertElliott {
    fn loses(&mut self, _departure: Nanos) -> bool {
        let change = if self.bad { self.config.mends } else { self.config.worsens };
        self.bad ^= happens(&mut self.random, change);
        let lost = if self.bad { self.config.lost_in_bad } else { self.config.lost_in_good };
        happens(&mut self.random, lost)
    }

    fn fork(&self) -> Box<dyn LossModel> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 10_000_000;

    /// Share of packets lost, and mean number of losses in a row.
    fn drawn(config: GilbertElliottConfig) -> (f64, f64) {
        let mut model = GilbertElliott::new(config, 1, 0);
        let (mut losses, mut bursts, mut before) = (0_u32, 0_u32, false);
        for _ in 0..COUNT {
            let lost = model.loses(0);
            losses += u32::from(lost);
            bursts += u32::from(lost && !before);
            before = lost;
        }
        (f64::from(losses) / f64::from(COUNT), f64::from(losses) / f64::from(bursts))
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 0.01, "{value}, expected {expected}");
    }

    /// Gilbert's channel stays bad for a number of packets that is geometric with mean 1/r.
    #[test]
    fn share_and_bursts_are_those_of_the_formulas() {
        // p / (p + r) = 0.01 / 0.26, bursts of 1 / 0.25.
        let (loss, burst) = drawn(GilbertElliottConfig::gilbert(10_000, 250_000));
        assert_near(loss, 0.038_461_5);
        assert_near(burst, 4.0);
        // 0.005 / 0.305; bursts of 1 / 0.3.
        let (loss, burst) = drawn(GilbertElliottConfig::gilbert(5_000, 300_000));
        assert_near(loss, 0.016_393_4);
        assert_near(burst, 3.333_33);
    }

    /// (0.02 * 0.7 + 0.1 * 0.03) / 0.12 = 0.141667. A loss is followed by another with a probability that the two states
    /// give by hand. It was lost in bad with weight 0.02 * 0.7 / 0.12 = 0.116667, in good with 0.1 * 0.03 / 0.12 = 0.025.
    /// From bad the next is lost with 0.9 * 0.7 + 0.1 * 0.03 = 0.633, from good with 0.02 * 0.7 + 0.98 * 0.03 = 0.0434.
    /// Together (0.116667 * 0.633 + 0.025 * 0.0434) / 0.141667 = 0.528953; runs of 1 / (1 - 0.528953) = 2.122934.
    #[test]
    fn both_states_may_lose() {
        let config = GilbertElliottConfig {
            worsens: 20_000,
            mends: 100_000,
            lost_in_bad: 700_000,
            lost_in_good: 30_000,
        };
        assert!((config.mean_loss() - 0.141_666_7).abs() < 1e-6);
        let (loss, burst) = drawn(config);
        assert_near(loss, 0.141_666_7);
        assert_near(burst, 2.122_934);
    }

    #[test]
    fn a_fork_goes_on_as_the_original() {
        let mut model = GilbertElliott::new(GilbertElliottConfig::gilbert(100_000, 300_000), 5, 2);
        (0..10).for_each(|_| _ = model.loses(0));
        let mut fork = model.fork();
        assert!((0..1000).all(|_| model.loses(0) == fork.loses(0)));
    }
}
