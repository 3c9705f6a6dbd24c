//! The first detector of `rtt-jump`. It fires when three round trips or more are beyond three times the smallest that
//! the connection has ever had. They must cover three times that smallest one.
//!
//! Source: quiche, `bbr2/rtt_jump_detector/global_min.rs`.

use super::Sample;
use segue_tcp::Nanos;

/// Elevated samples, and multiples of the smallest round trip that they must last.
const SAMPLES: u32 = 3;
const ROUNDS: u64 = 3;

#[derive(Clone, Copy, Debug, Default)]
enum Episode {
    #[default]
    Idle,
    /// So many elevated samples, the first of them then.
    Active(u32, Nanos),
    /// It has been reported.
    Persistent,
}

#[derive(Clone, Debug, Default)]
pub(super) struct GlobalMin {
    base: Option<Nanos>,
    episode: Episode,
}

impl GlobalMin {
    /// Whether the path has become longer, and whether the sample is elevated: beyond `factor` / 256 of the smallest.
    pub fn hears(&mut self, sample: Sample, factor: u64) -> (bool, bool) {
        let Sample { now, rtt, is_full } = sample;
        let base = self.base.filter(|_| is_full);
        self.base = Some(self.base.map_or(rtt, |least| least.min(rtt)));
        let Some(base) = base else { return (false, false) };
        if rtt <= base * factor / 256 {
            self.episode = Episode::Idle;
            return (false, false);
        }
        let (next, jumped) = match self.episode {
            Episode::Idle => (Episode::Active(1, now), false),
            Episode::Active(count, since) if count + 1 < SAMPLES || now - since < ROUNDS * base => {
                (Episode::Active(count + 1, since), false)
            }
            Episode::Active(..) => (Episode::Persistent, true),
            Episode::Persistent => (Episode::Persistent, false),
        };
        self.episode = next;
        (jumped, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Samples at these times, ms, after one of 50 ms; which of them show a jump.
    fn fires(samples: &[(u64, u64)]) -> Vec<u64> {
        let mut global = GlobalMin::default();
        let mut hear = |at: u64, rtt: u64| {
            global.hears(Sample { now: at * MS, rtt: rtt * MS, is_full: true }, 3 * 256).0
        };
        assert!(!hear(0, 50));
        samples.iter().filter(|&&(at, rtt)| hear(at, rtt)).map(|&(at, _)| at).collect()
    }

    /// Vector 55: 200 ms are more than three times 50, 140 are not.
    #[test]
    fn three_times_the_smallest_round_trip_is_another_path() {
        let every = |step: u64, rtt: u64| (1..20).map(|n| (n * step, rtt)).collect::<Vec<_>>();
        assert_eq!(fires(&every(50, 200)), [200], "150 ms after the first");
        assert_eq!(fires(&every(100, 200)), [300], "the third");
        assert_eq!(fires(&every(50, 140)), []);
        assert_eq!(fires(&every(50, 150)), [], "more, not as much");
    }

    /// One that is not elevated ends it, and then it can be reported again.
    #[test]
    fn it_begins_anew() {
        let twice = [(60, 200), (120, 200), (180, 50), (240, 200), (300, 200), (360, 200), (420, 200)];
        assert_eq!(fires(&twice), [420]);
        let again = [(100, 200), (200, 200), (300, 200), (400, 60), (500, 200), (600, 200), (700, 200)];
        assert_eq!(fires(&again), [300, 700]);
    }

    /// While the sender looks for the path's rate, its own queue is no longer path.
    #[test]
    fn startup_does_not_count() {
        let mut global = GlobalMin::default();
        for n in 0..20 {
            let rtt = if n == 0 { 50 } else { 200 };
            let sample = Sample { now: 100 * n * MS, rtt: rtt * MS, is_full: false };
            assert_eq!(global.hears(sample, 3 * 256), (false, false));
        }
    }
}
