//! The settings behind the figures of Chou and Shin that the model draws (docs/reference/algorithms.md 6.4, 9.29 to
//! 9.31). The paper gives neither B nor p nor the width of S for Figures 8 and 11: these are choices.

use super::{BadInput, Chain, Comeback, Equation7, Scheme, Setting};

/// A figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// PHAS over the conventional scheme, by p.
    Five,
    /// LCFD over FCFD, both with PHAS, by p.
    Six,
    /// The same by the mean sojourn.
    Eight,
    /// Throughput by the mean sojourn.
    Eleven,
}

/// Mean round trip, s: turns round trips into seconds.
pub const RTT_S: f64 = 0.2;
/// S lies within so much of its mean in Figures 8 and 11.
const SPREAD: f64 = 0.3;

impl Figure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Five, Self::Six, Self::Eight, Self::Eleven];

    /// Its number in the paper.
    pub fn number(self) -> u8 {
        match self {
            Self::Five => 5,
            Self::Six => 6,
            Self::Eight => 8,
            Self::Eleven => 11,
        }
    }

    /// Whether its horizontal axis is the mean sojourn; else it is p.
    pub fn over_sojourn(self) -> bool {
        matches!(self, Self::Eight | Self::Eleven)
    }

    /// The two schemes that it compares: the better one, and what it is held against.
    pub fn schemes(self) -> (Scheme, Scheme) {
        match self {
            Self::Five => (Scheme::FcfdPhas, Scheme::Conventional),
            Self::Six | Self::Eight => (Scheme::LcfdPhas, Scheme::FcfdPhas),
            Self::Eleven => (Scheme::LcfdPhas, Scheme::Conventional),
        }
    }

    /// Its settings, in order; S of Figures 5 and 6 as it was fitted to their gains (9.29).
    pub fn settings(self, equation: Equation7) -> Result<Vec<Setting>, BadInput> {
        let tenths = (0..=20).map(|step| f64::from(step) / 20.0);
        let fitted = fitted_sojourn(equation);
        let around = |seconds: f64| {
            let mean = seconds / RTT_S;
            (mean * (1.0 - SPREAD), mean * (1.0 + SPREAD))
        };
        let all: Vec<(u32, u32, f64, (f64, f64))> = match self {
            Self::Five => by(&[32, 30, 28], tenths).map(|(buffer, p)| (32, buffer, p, fitted)).collect(),
            Self::Six => by(&[30, 28, 26, 24], tenths).map(|(buffer, p)| (32, buffer, p, fitted)).collect(),
            Self::Eight => {
                let seconds = (3..=20).map(f64::from);
                by(&[9, 5, 1], seconds).map(|(p, s)| (32, 24, f64::from(p) / 10.0, around(s))).collect()
            }
            Self::Eleven => (10..=20).map(|s| (40, 32, 0.9, around(f64::from(s)))).collect(),
        };
        all.into_iter()
            .map(|(largest, buffer, p, sojourn)| Setting::new(largest, buffer, p, sojourn))
            .collect()
    }
}

/// Every number of `outer` with every one of `inner`, which varies fastest.
fn by<I>(outer: &[u32], inner: I) -> impl Iterator<Item = (u32, f64)>
where
    I: Iterator<Item = f64> + Clone,
{
    outer.iter().flat_map(move |&outer| inner.clone().map(move |inner| (outer, inner)))
}

/// The range of S that fits the paper's four gains best, round trips (6.4, calibration).
pub fn fitted_sojourn(equation: Equation7) -> (f64, f64) {
    match equation {
        Equation7::Corrected => (20.0, 35.0),
        Equation7::Printed => (15.0, 45.0),
    }
}

/// Throughputs of two schemes in one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The setting.
    pub setting: Setting,
    /// The scheme, and what it is held against.
    pub schemes: (Scheme, Scheme),
    /// Their throughputs, packets per round trip.
    pub throughputs: (f64, f64),
}

impl Compared {
    /// Runs the two chains.
    pub fn new(setting: Setting, schemes: (Scheme, Scheme), equation: Equation7) -> Result<Self, BadInput> {
        let throughput = |scheme| Ok(Chain::new(setting, scheme)?.throughput(equation));
        Ok(Self { setting, schemes, throughputs: (throughput(schemes.0)?, throughput(schemes.1)?) })
    }

    /// By how many percent the first carries more.
    pub fn gain_percent(&self) -> f64 {
        100.0 * (self.throughputs.0 / self.throughputs.1 - 1.0)
    }

    /// Mean sojourn, s.
    pub fn mean_sojourn_s(&self) -> f64 {
        self.setting.mean_sojourn() * RTT_S
    }
}

/// Figure 3 (6.5): W 24 and B 20 at a handoff from 0 to 3 s with a timeout; the next one is at 10 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure3 {
    /// W_max, packets.
    pub largest: u32,
    /// The conventional scheme's window and the proposed one's.
    pub comebacks: [Comeback; 2],
    /// Data again, s.
    pub resumes_s: f64,
    /// Until the next handoff.
    pub round_trips: usize,
}

/// The figure's numbers.
pub const FIGURE_3: Figure3 = Figure3 {
    largest: 32,
    comebacks: [Comeback::Avoidance { from: 2, silent: 1 }, Comeback::SlowStart(12)],
    resumes_s: 3.0,
    round_trips: 35,
};
