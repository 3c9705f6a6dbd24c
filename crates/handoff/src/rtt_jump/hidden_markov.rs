//! The second detector of `rtt-jump`: a hidden Markov model whose states are normal, transient and persistent. A sample
//! is judged by how far it is beyond what the connection is used to, in multiples of that.
//!
//! Source: quiche, `bbr2/rtt_jump_detector/hmm.rs`, with its matrices.

use super::Sample;
use segue_tcp::Nanos;

/// From state to state.
const MOVES: [[f64; 3]; 3] = [[0.9939, 0.0055, 0.0006], [0.45, 0.35, 0.20], [0.0243, 0.1603, 0.8154]];
/// A sample's bin in each state.
const BINS: [[f64; 5]; 3] = [
    [0.9996, 0.0001, 0.0001, 0.0001, 0.0001],
    [0.10, 0.35, 0.30, 0.15, 0.10],
    [0.0001, 0.50, 0.22, 0.16, 0.1199],
];
/// Where bins end.
const EDGES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// Least elevation that the connection is taken to be used to, as a share of the smallest round trip.
const LEAST_USUAL: f64 = 0.20;
/// Samples before the model is asked.
const WARM_UP: u32 = 8;
/// A state must have been the likeliest for so long, and for so many round trips: by state, and on the way down.
const LEAST_DWELL: Nanos = 80_000_000;
const RISE_ROUNDS: [u64; 3] = [1, 1, 5];
const FALL_ROUNDS: u64 = 1;
/// Samples in which persistent must have been it.
const PERSISTENT_SAMPLES: u32 = 3;

const NORMAL: usize = 0;
const PERSISTENT: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct HiddenMarkov {
    chances: [f64; 3],
    /// Elevation that the connection is used to.
    usual: f64,
    base: Option<Nanos>,
    samples: u32,
    /// Samples of the warm-up that were elevated at all.
    elevated: u32,
    state: usize,
    /// A state that has been likelier since, in so many samples.
    pending: Option<(usize, Nanos, u32)>,
}

impl Default for HiddenMarkov {
    fn default() -> Self {
        Self {
            chances: [1.0, 0.0, 0.0],
            usual: 0.0,
            base: None,
            samples: 0,
            elevated: 0,
            state: NORMAL,
            pending: None,
        }
    }
}

impl HiddenMarkov {
    /// How far a round trip is beyond the smallest, as a share of it.
    fn relative(&self, rtt: Nanos) -> f64 {
        self.base.map_or(0.0, |base| (rtt as f64 / base.max(1) as f64 - 1.0).max(0.0))
    }

    /// The forward filter: a step of the chain, weighed by the sample's bin.
    fn weigh(&mut self, relative: f64) {
        let elevation = (relative - self.usual).max(0.0) / self.usual.max(LEAST_USUAL);
        let bin = EDGES.iter().filter(|&&edge| elevation >= edge).count();
        let mut next = [0.0; 3];
        for (to, chance) in next.iter_mut().enumerate() {
            let moved: f64 = self.chances.iter().zip(&MOVES).map(|(chance, from)| chance * from[to]).sum();
            *chance = moved * BINS[to][bin];
        }
        let all: f64 = next.iter().sum();
        self.chances = if all > 0.0 { next.map(|chance| chance / all) } else { [1.0, 0.0, 0.0] };
    }

    fn likeliest(&self) -> usize {
        (NORMAL..=PERSISTENT)
            .fold(NORMAL, |best, state| if self.chances[state] > self.chances[best] { state } else { best })
    }

    /// Whether the path has become longer, and whether the sample may be of such a path.
    pub fn hears(&mut self, sample: Sample) -> (bool, bool) {
        let relative = self.relative(sample.rtt);
        self.samples = self.samples.saturating_add(1);
        if self.samples <= WARM_UP {
            if relative > 0.0 {
                self.elevated += 1;
                self.usual += (relative - self.usual) / f64::from(self.elevated);
            }
            self.see(sample.rtt);
            return (false, false);
        }
        self.weigh(relative);
        let entered = if sample.is_full { self.judge(sample) } else { None };
        if !sample.is_full {
            self.pending = None;
        }
        if entered == Some(NORMAL) {
            self.base = Some(sample.rtt);
        } else {
            self.see(sample.rtt);
        }
        let is_normal = self.state == NORMAL && self.pending.is_none();
        if is_normal {
            self.usual += (self.relative(sample.rtt) - self.usual) / 16.0;
        }
        (entered == Some(PERSISTENT), !is_normal)
    }

    fn see(&mut self, rtt: Nanos) {
        self.base = Some(self.base.map_or(rtt, |least| least.min(rtt)));
    }

    /// The state that has been the likeliest for long enough to be entered.
    fn judge(&mut self, sample: Sample) -> Option<usize> {
        let likeliest = self.likeliest();
        if likeliest == self.state {
            self.pending = None;
            return None;
        }
        let (since, count) = match self.pending {
            Some((state, since, count)) if state == likeliest => (since, count.saturating_add(1)),
            _ => (sample.now, 1),
        };
        self.pending = Some((likeliest, since, count));
        let rounds = if likeliest > self.state { RISE_ROUNDS[likeliest] } else { FALL_ROUNDS };
        let lasts = sample.now - since >= LEAST_DWELL.max(rounds * sample.rtt);
        if !lasts || (likeliest == PERSISTENT && count < PERSISTENT_SAMPLES) {
            return None;
        }
        (self.state, self.pending) = (likeliest, None);
        Some(likeliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Vector 55: chances of persistent after each sample, ms, on a path of 50 ms that was never longer.
    #[test]
    fn the_filter_is_the_sources() {
        let follow = |samples: &[(u64, f64)]| {
            let mut hidden = HiddenMarkov { base: Some(50), ..HiddenMarkov::default() };
            for &(ms, chance) in samples {
                let relative = hidden.relative(ms);
                hidden.weigh(relative);
                let got = hidden.chances[PERSISTENT];
                assert!((got - chance).abs() < 0.0006, "{ms} ms: {got}, not {chance}");
            }
        };
        let long = [0.113, 0.507, 0.708, 0.779].map(|chance| (200, chance));
        let back = [0.0005, 0.0, 0.0].map(|chance| (50, chance));
        follow(&[&[(50, 0.0)][..], &long, &back].concat());
        let longer = [0.145, 0.566, 0.763, 0.823].map(|chance| (65, chance));
        follow(&[&[(50, 0.0)][..], &longer].concat());
    }

    /// The second of the elevated samples makes persistent the likeliest. Five round trips of 200 ms later it is so.
    /// Then 80 ms of samples near the old ones make the path normal, and its round trip is the last.
    #[test]
    fn the_model_waits_before_it_changes_its_mind() {
        let mut hidden = HiddenMarkov::default();
        let mut hear = |ms: u64, rtt: u64| {
            let heard = hidden.hears(Sample { now: ms * MS, rtt: rtt * MS, is_full: true });
            (heard.0, heard.1, hidden.base)
        };
        for n in 0..10 {
            assert_eq!(hear(10 * n, 50), (false, false, Some(50 * MS)));
        }
        let times: Vec<u64> = (0..200).map(|n| 100 + 10 * n).filter(|&at| hear(at, 200).0).collect();
        assert_eq!(times, [1_110]);
        let normal =
            (0..200).map(|n| 3_000 + 10 * n).find(|&at| hear(at, 55) == (false, false, Some(55 * MS)));
        assert_eq!(normal, Some(3_080));
    }

    /// Usual variation does not count: a path whose round trips vary by half hears no jump in them.
    #[test]
    fn jitter_is_not_a_jump() {
        let mut hidden = HiddenMarkov::default();
        for n in 0..1_000_u64 {
            let rtt = 50 + [0, 25, 10, 20][(n % 4) as usize];
            let sample = Sample { now: 20 * n * MS, rtt: rtt * MS, is_full: true };
            assert!(!hidden.hears(sample).0, "sample {n}");
        }
    }
}
