//! The parameters of a handoff that may vary over a comparison: what an axis can carry and a legend can name.

use segue_world::access::{AccessLink, Capacity, LinkDelay};
use segue_world::{Experiment, SECOND};

/// A number that describes a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Rate of the link before, kbit/s.
    OldRate,
    /// One-way delay of the link before, ms.
    OldDelay,
    /// Rate of the link after, kbit/s.
    NewRate,
    /// One-way delay of the link after, ms.
    NewDelay,
    /// Length of the disconnection, s; 0 for make-before-break.
    Disconnect,
    /// Number of flows.
    Flows,
}

/// All of them.
const ALL: [Parameter; 6] = [
    Parameter::OldRate,
    Parameter::OldDelay,
    Parameter::NewRate,
    Parameter::NewDelay,
    Parameter::Disconnect,
    Parameter::Flows,
];

impl Parameter {
    /// The one parameter that varies, if it is one and tells all these handoffs apart.
    pub fn only_varying(experiments: &[&Experiment]) -> Option<Self> {
        let mut varying = ALL.into_iter().filter(|parameter| parameter.varies(experiments.iter().copied()));
        let only = varying.next().filter(|_| varying.next().is_none())?;
        let mut positions: Vec<f64> =
            experiments.iter().map(|experiment| only.of(experiment)).collect::<Option<_>>()?;
        positions.sort_by(f64::total_cmp);
        positions.windows(2).all(|pair| pair[0] < pair[1]).then_some(only)
    }

    /// Whether it is not the same in all these handoffs.
    pub fn varies<'e>(self, experiments: impl IntoIterator<Item = &'e Experiment>) -> bool {
        let mut values = experiments.into_iter().map(|experiment| self.of(experiment));
        let first = values.next();
        values.any(|value| Some(value) != first)
    }

    /// The number, in the unit of [`Parameter::label`]; measured links have no one rate and delay.
    pub fn of(self, experiment: &Experiment) -> Option<f64> {
        match self {
            Self::OldRate => rate(&experiment.old),
            Self::OldDelay => delay(&experiment.old),
            Self::NewRate => rate(&experiment.new),
            Self::NewDelay => delay(&experiment.new),
            Self::Disconnect => Some(experiment.kind.disconnection() as f64 / SECOND as f64),
            Self::Flows => Some(experiment.flows as f64),
        }
    }

    /// Its label at an axis.
    pub fn label(self) -> &'static str {
        match self {
            Self::OldRate => "rate of the old link, kbit/s",
            Self::OldDelay => "one-way delay of the old link, ms",
            Self::NewRate => "rate of the new link, kbit/s",
            Self::NewDelay => "one-way delay of the new link, ms",
            Self::Disconnect => "disconnection, s",
            Self::Flows => "flows",
        }
    }
}

fn rate(link: &AccessLink) -> Option<f64> {
    match link.down {
        Capacity::Fixed(rate) => Some(rate as f64 / 1e3),
        Capacity::Trace(_) => None,
    }
}

fn delay(link: &AccessLink) -> Option<f64> {
    match link.delay {
        LinkDelay::Fixed(delay) => Some(delay as f64 / 1e6),
        LinkDelay::Trace(_) => None,
    }
}
