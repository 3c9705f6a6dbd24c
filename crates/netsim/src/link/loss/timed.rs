//! Losses in bursts that end with time: Gilbert and Elliott's channel. Its state may change once in each slot of time
//! and not before each packet.
//!
//! Gilbert, Bell System Technical Journal 1960, has one state for each digit of a line that never rests. On a line that
//! does, a chain over packets ([`super::gilbert_elliott`], as netem has it) stands still; this one does not.

use super::LossModel;
use super::gilbert_elliott::GilbertElliottConfig;
use crate::Nanos;
use crate::random::{MILLION, happens, stream, uniform};
use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;

/// A state and how long it lasts.
#[derive(Clone, Debug)]
struct State {
    bad: bool,
    /// ns, exclusive.
    until: Nanos,
    random: Pcg64Mcg,
}

/// The channel. At time zero it is as it is in the long run: bad with probability `p / (p + r)`.
#[derive(Clone, Debug)]
pub struct TimedGilbertElliott {
    config: GilbertElliottConfig,
    slot: Nanos,
    first: State,
    now: State,
    /// When the present state began.
    since: Nanos,
    /// Draws of single packets in one state.
    packets: Pcg64Mcg,
}

impl TimedGilbertElliott {
    /// A channel with slots of so many ns, one at least. `number` is the link's own: links with one seed draw from
    /// different streams.
    pub fn new(config: GilbertElliottConfig, slot: Nanos, seed: u64, number: u64) -> Self {
        let mut random = stream(seed, number);
        let packets = stream(random.next_u64(), number);
        let (worsens, either) =
            (u64::from(config.worsens), u64::from(config.worsens) + u64::from(config.mends));
        let bad = happens(&mut random, (worsens * u64::from(MILLION) / either.max(1)) as u32);
        let mut first = State { bad, until: 0, random };
        first.until = first.lasts(&config, slot.max(1));
        Self { config, slot: slot.max(1), now: first.clone(), first, since: 0, packets }
    }

    /// Whether the channel is bad at `time`.
    fn is_bad_at(&mut self, time: Nanos) -> bool {
        if time < self.since {
            // A packet that was booked for later has been withdrawn.
            (self.now, self.since) = (self.first.clone(), 0);
        }
        while self.now.until <= time {
            self.since = self.now.until;
            self.now.bad = !self.now.bad;
            let lasts = self.now.lasts(&self.config, self.slot);
            self.now.until = self.now.until.saturating_add(lasts);
        }
        self.now.bad
    }
}

impl State {
    /// How long it lasts: a geometric number of slots, one at least, each of them the last with the probability of a
    /// change.
    fn lasts(&mut self, config: &GilbertElliottConfig, slot: Nanos) -> Nanos {
        let change = f64::from(if self.bad { config.mends } else { config.worsens }) / f64::from(MILLION);
        let more = libm::log(uniform(&mut self.random)) / libm::log1p(-change);
        slot.saturating_mul((more as u64).saturating_add(1))
    }
}

impl LossModel for TimedGilbertElliott {
    fn loses(&mut self, departure: Nanos) -> bool {
        let lost = if self.is_bad_at(departure) { self.config.lost_in_bad } else { self.config.lost_in_good };
        happens(&mut self.packets, lost)
    }

    fn goes_by_time(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn LossModel> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn channel(config: GilbertElliottConfig, seed: u64) -> TimedGilbertElliott {
        TimedGilbertElliott::new(config, MS, seed, 3)
    }

    /// p / (p + r) = 0.01 / 0.26 of the time, 1 / 0.25 slots in a row, within 1 % over 10^7 slots.
    #[test]
    fn share_and_bursts_of_time_are_those_of_the_formulas() {
        let mut model = channel(GilbertElliottConfig::gilbert(10_000, 250_000), 1);
        let (mut bad, mut bursts, mut before) = (0_u32, 0_u32, false);
        for slot in 0..10_000_000 {
            let lost = model.loses(slot * MS + MS / 2);
            bad += u32::from(lost);
            bursts += u32::from(lost && !before);
            before = lost;
        }
        let (share, burst) = (f64::from(bad) / 1e7, f64::from(bad) / f64::from(bursts));
        assert!((share / 0.038_461_5 - 1.0).abs() < 0.01, "{share}");
        assert!((burst / 4.0 - 1.0).abs() < 0.01, "{burst}");
    }

    /// At time zero 0.01 / 0.26 of the channels are bad: within four standard deviations of 40,000 trials.
    #[test]
    fn it_begins_as_it_is_in_the_long_run() {
        let (count, share) = (40_000_u64, 0.01 / 0.26);
        let config = GilbertElliottConfig::gilbert(10_000, 250_000);
        let bad = (1..=count).filter(|&seed| channel(config, seed).loses(0)).count() as f64;
        let deviation = (count as f64 * share * (1.0 - share)).sqrt();
        assert!((bad - count as f64 * share).abs() < 4.0 * deviation, "{bad}");
    }

    /// Frequent and rare senders find the channel in one state at one time.
    #[test]
    fn states_do_not_depend_on_the_sender() {
        let config = GilbertElliottConfig::gilbert(20_000, 100_000);
        let (mut often, mut seldom) = (channel(config, 5), channel(config, 5));
        let all: Vec<bool> = (0..200_000).map(|step| often.loses(step * MS / 10)).collect();
        assert!(all.contains(&true) && all.contains(&false));
        for step in (0..200_000).step_by(977) {
            assert_eq!(seldom.loses(step * MS / 10), all[step as usize], "{step}");
        }
        // So does a sender that comes back to an earlier time.
        assert_eq!(seldom.loses(30_000 * MS / 10), all[30_000]);
    }

    /// A channel that is bad now mends while nobody sends: 0.75^100 are still bad 100 slots later.
    #[test]
    fn a_burst_ends_while_nobody_sends() {
        let config = GilbertElliottConfig::gilbert(1, 250_000);
        let lost = (1..=100_000).filter(|&seed| {
            let mut model = channel(config, seed);
            model.first.bad = true;
            model.first.until = model.first.lasts(&config, MS);
            model.now = model.first.clone();
            assert!(model.loses(0));
            model.loses(100 * MS)
        });
        // 100 slots of 1e-6 and less make new bursts: 10 in 100,000 are expected to begin, and fewer to last.
        assert!(lost.count() < 30);
    }

    /// In bad 70 %, in good 10 %: (0.02 * 0.7 + 0.1 * 0.1) / 0.12 = 0.2 of all.
    #[test]
    fn both_states_may_lose() {
        let config = GilbertElliottConfig {
            worsens: 20_000,
            mends: 100_000,
            lost_in_bad: 700_000,
            lost_in_good: 100_000,
        };
        let mut model = channel(config, 2);
        let lost = (0..10_000_000).filter(|slot| model.loses(slot * MS)).count() as f64 / 1e7;
        assert!((lost / 0.2 - 1.0).abs() < 0.01, "{lost}");
    }

    /// A state that cannot last changes with each slot.
    #[test]
    fn a_certain_change_takes_one_slot() {
        let mut model = channel(GilbertElliottConfig::gilbert(1_000_000, 1_000_000), 1);
        let first = model.loses(0);
        assert!((1..1000).all(|slot| model.loses(slot * MS) == (first == (slot % 2 == 0))));
    }
}
