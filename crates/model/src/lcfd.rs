//! TCP throughput over frequent handoffs with buffering at the old router. Source: C.-T. Chou, K. G. Shin, "Smooth
//! handoff with enhanced packet buffering-and-forwarding in wireless/mobile networks" (paper 004).
//!
//! The congestion window just before a handoff is the state of a Markov chain (section III-C;
//! docs/reference/algorithms.md 6.4).
//! A handoff lets the retransmission timer expire with probability p; a window above the buffer B loses what is more.
//! Each case has a dead time and a window. From there congestion avoidance climbs by one packet per round trip up to
//! W_max, until the next handoff. The sojourn S, in round trips, is uniform. Packets of slow start and of recovery are
//! not counted.
//!
//! Equation 7 as printed forgets the area below the climb wherever the window reaches W_max ([`Equation7`]).

pub mod figures;

use crate::stationary::stationary;

/// Settings that the model cannot compute.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BadInput {
    /// The largest window.
    #[error("W_max = {0}: no largest window in packets; expected 2 to {MOST_PACKETS}")]
    LargestWindow(u32),
    /// The buffer.
    #[error("B = {0}: no buffer in packets; expected 1 to {MOST_PACKETS}")]
    Buffer(u32),
    /// The probability.
    #[error("p = {0}: no probability of a timeout; expected a number from 0 to 1")]
    Probability(f64),
    /// The sojourn.
    #[error(
        "a sojourn of {0} to {1} round trips; expected two numbers from 0 to {LONGEST_SOJOURN}, the first below the second"
    )]
    Sojourn(f64, f64),
    /// The latency of a handoff.
    #[error("a latency of {0} to {1} s; expected two numbers from 0 on, the first below the second")]
    Latency(f64, f64),
    /// More than one set of windows is closed, so that the mean depends on where it starts.
    #[error("sojourns of {0} to {1} round trips leave windows where they are; expected longer ones")]
    NotUnique(f64, f64),
}

/// Largest W_max and B, packets: the chain has a state per window.
pub const MOST_PACKETS: u32 = 1000;
/// Longest sojourn, round trips.
pub const LONGEST_SOJOURN: f64 = 1e6;

/// Schemes, by their acts at a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The paper's conventional scheme: FCFD without PHAS.
    Conventional,
    /// FCFD with PHAS.
    FcfdPhas,
    /// The paper's proposal: LCFD with PHAS.
    LcfdPhas,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Conventional, Self::FcfdPhas, Self::LcfdPhas];

    /// As the paper and the command line call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conventional => "conventional",
            Self::FcfdPhas => "fcfd+phas",
            Self::LcfdPhas => "lcfd+phas",
        }
    }
}

/// How Equation 7 is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation7 {
    /// With the area below the climb, (W_max^2 - ws^2)/2, in its second integral (algorithms.md, section 8).
    Corrected,
    /// As it stands in the paper.
    Printed,
}

/// After a handoff: nothing counts for `dead` round trips, then congestion avoidance from `start` packets (6.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// T_d, round trips.
    pub dead: f64,
    /// w_s, packets.
    pub start: f64,
}

/// Fate of a window of `w` packets (the table of 6.4).
pub fn branch(scheme: Scheme, w: u32, buffer: u32, timeout: bool) -> Branch {
    let half = f64::from(w) / 2.0;
    let slow_start = half.log2();
    let overflow = f64::from(w) - f64::from(buffer);
    let (dead, start) = match (scheme, overflow > 0.0, timeout) {
        (Scheme::Conventional, false, true) => (slow_start + 1.0, (half / 2.0).max(2.0)), // (9.30)
        (Scheme::Conventional, false, false) => (0.0, f64::from(w)),
        (_, false, true) | (Scheme::LcfdPhas, true, true) => (slow_start, half),
        (_, false, false) => (1.0, f64::from(w)),
        (Scheme::LcfdPhas, true, false) => (overflow + 1.0, half),
        (_, true, true) => (1.0, 2.0),
        (_, true, false) => (overflow, half),
    };
    Branch { dead, start }
}

/// A cell, a buffer, and how likely timeouts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    largest: u32,
    buffer: u32,
    p: f64,
    shortest: f64,
    longest: f64,
}

impl Setting {
    /// `largest`: W_max, packets; `buffer`: B, packets; `p`: probability of a timeout at a handoff; the sojourn S is
    /// uniform from `sojourn.0` to `sojourn.1` round trips.
    pub fn new(largest: u32, buffer: u32, p: f64, sojourn: (f64, f64)) -> Result<Self, BadInput> {
        if !(2..=MOST_PACKETS).contains(&largest) {
            return Err(BadInput::LargestWindow(largest));
        }
        if !(1..=MOST_PACKETS).contains(&buffer) {
            return Err(BadInput::Buffer(buffer));
        }
        if !(0.0..=1.0).contains(&p) {
            return Err(BadInput::Probability(p));
        }
        let (shortest, longest) = sojourn;
        if !(shortest >= 0.0 && shortest < longest && longest <= LONGEST_SOJOURN) {
            return Err(BadInput::Sojourn(shortest, longest));
        }
        Ok(Self { largest, buffer, p, shortest, longest })
    }

    /// W_max, packets.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// B, packets.
    pub fn buffer(&self) -> u32 {
        self.buffer
    }

    /// The probability of a timeout.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Shortest and longest sojourn, round trips.
    pub fn sojourn(&self) -> (f64, f64) {
        (self.shortest, self.longest)
    }

    /// E[S], round trips.
    pub fn mean_sojourn(&self) -> f64 {
        (self.shortest + self.longest) / 2.0
    }

    /// Pr(S < s).
    fn below(&self, s: f64) -> f64 {
        ((s - self.shortest) / (self.longest - self.shortest)).clamp(0.0, 1.0)
    }

    /// Round trips until the window is W_max (T_th).
    fn full_after(&self, branch: Branch) -> f64 {
        branch.dead + f64::from(self.largest) - branch.start
    }

    /// Packets counted in a sojourn of `s` round trips (Equation 7 before the mean).
    pub fn packets_in(&self, branch: Branch, equation: Equation7, s: f64) -> f64 {
        let (largest, climbing) = (f64::from(self.largest), s - branch.dead);
        let full = self.full_after(branch);
        if climbing < 0.0 {
            0.0
        } else if s < full {
            climbing * (2.0 * branch.start + climbing) / 2.0
        } else {
            self.climb(branch, equation) + (s - full) * largest
        }
    }

    /// The area below the whole climb, where Equation 7 has it.
    fn climb(&self, branch: Branch, equation: Equation7) -> f64 {
        match equation {
            Equation7::Corrected => (f64::from(self.largest).powi(2) - branch.start.powi(2)) / 2.0,
            Equation7::Printed => 0.0,
        }
    }

    /// The mean of [`packets_in`](Self::packets_in) over S, by its antiderivatives.
    fn mean_packets(&self, branch: Branch, equation: Equation7) -> f64 {
        let full = self.full_after(branch);
        let clamp = |s: f64, from: f64, to: f64| s.clamp(from, to.max(from));
        let over = |from: f64, to: f64, area: &dyn Fn(f64) -> f64| {
            area(clamp(self.longest, from, to)) - area(clamp(self.shortest, from, to))
        };
        let climbing = |s: f64| {
            let x = s - branch.dead;
            branch.start * x * x / 2.0 + x.powi(3) / 6.0
        };
        let at_largest = |s: f64| {
            let x = s - full;
            self.climb(branch, equation) * x + f64::from(self.largest) * x * x / 2.0
        };
        let sum = over(branch.dead, full, &climbing) + over(full, f64::INFINITY, &at_largest);
        sum / (self.longest - self.shortest)
    }

    /// Adds the probabilities of the window before the next handoff to `row`, times `weight`. A window between two
    /// integers counts as the lower one; a sojourn that ends in the dead time leaves the lowest (6.4 [C]).
    fn add_transitions(&self, row: &mut [f64], branch: Branch, weight: f64) {
        let lowest = (branch.start.floor() as u32).clamp(2, self.largest);
        let mut reached = 0.0;
        for w in lowest..self.largest {
            let next = self.below(branch.dead + f64::from(w) + 1.0 - branch.start);
            row[w as usize - 2] += weight * (next - reached);
            reached = next;
        }
        row[self.largest as usize - 2] += weight * (1.0 - reached);
    }
}

/// The chain of one scheme.
#[derive(Clone, Debug)]
pub struct Chain {
    setting: Setting,
    scheme: Scheme,
    /// Row w - 2: probabilities of the next window, from window w.
    rows: Vec<Vec<f64>>,
    shares: Vec<f64>,
}

impl Chain {
    /// The chain and its stationary distribution.
    pub fn new(setting: Setting, scheme: Scheme) -> Result<Self, BadInput> {
        let row = |w: u32| {
            let mut row = vec![0.0; setting.largest as usize - 1];
            for (timeout, weight) in [(true, setting.p), (false, 1.0 - setting.p)] {
                setting.add_transitions(&mut row, branch(scheme, w, setting.buffer, timeout), weight);
            }
            row
        };
        let rows: Vec<Vec<f64>> = (2..=setting.largest).map(row).collect();
        let shares =
            stationary(rows.clone()).ok_or(BadInput::NotUnique(setting.shortest, setting.longest))?;
        Ok(Self { setting, scheme, rows, shares })
    }

    /// Probability of window `to` before the next handoff, from `from` before this one; packets, 2 to W_max.
    pub fn transition(&self, from: u32, to: u32) -> f64 {
        self.rows[from as usize - 2][to as usize - 2]
    }

    /// Share of handoffs that begin with window `w`, 2 to W_max.
    pub fn share(&self, w: u32) -> f64 {
        self.shares[w as usize - 2]
    }

    /// N_w: mean packets until the next handoff, from window `w` (Equation 7).
    pub fn packets(&self, w: u32, equation: Equation7) -> f64 {
        let Setting { buffer, p, .. } = self.setting;
        let mean = |timeout| self.setting.mean_packets(branch(self.scheme, w, buffer, timeout), equation);
        p * mean(true) + (1.0 - p) * mean(false)
    }

    /// Mean packets per round trip of the sojourn.
    pub fn throughput(&self, equation: Equation7) -> f64 {
        let windows = 2..=self.setting.largest;
        let sum: f64 = windows.map(|w| self.share(w) * self.packets(w, equation)).sum();
        sum / self.setting.mean_sojourn()
    }
}

/// Equation 1: p of a handoff whose latency is uniform from `latency.0` to `latency.1` seconds. The timer of `rto`
/// seconds expires before the ACK comes that `rtt`, the mean of old and new path, still takes. Section III-D: a fast
/// handoff has a short latency. Multicast to the neighbouring routers makes the same chain of their buffers, with p by
/// its latency, or none.
pub fn timeout_probability(rto: f64, rtt: f64, latency: (f64, f64)) -> Result<f64, BadInput> {
    let (shortest, longest) = latency;
    if !(shortest >= 0.0 && shortest < longest && longest.is_finite()) {
        return Err(BadInput::Latency(shortest, longest));
    }
    Ok(((longest - (rto - rtt)) / (longest - shortest)).clamp(0.0, 1.0))
}

/// How a window comes back, round trip by round trip (Figure 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comeback {
    /// Slow start from 1 to this threshold, then congestion avoidance.
    SlowStart(u32),
    /// Congestion avoidance from here, after so many silent round trips.
    Avoidance {
        /// First window, packets.
        from: u32,
        /// Round trips before it.
        silent: u32,
    },
}

impl Comeback {
    /// Windows of the round trips from the end of the handoff on, packets, up to `largest`.
    pub fn windows(self, largest: u32) -> impl Iterator<Item = u32> {
        let (first, silent, threshold) = match self {
            Self::SlowStart(threshold) => (1, 0, threshold),
            Self::Avoidance { from, silent } => (from, silent, from),
        };
        let grow = move |&w: &u32| {
            let next = if w < threshold { (2 * w).min(threshold) } else { w + 1 };
            Some(next.min(largest))
        };
        std::iter::repeat_n(0, silent as usize).chain(std::iter::successors(Some(first.min(largest)), grow))
    }
}
