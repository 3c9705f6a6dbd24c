//! Schemes that act before a handoff: what the mobile of the bench does with its window, and how long before the
//! break (algorithms.md, 4.5).

use crate::bench::{Experiment, Kind, WIRED_DELAY};
use segue_handoff::{Lead, Scheme, WindowRule};
use segue_netsim::Nanos;

/// Hops between the correspondent node and the access link.
const WIRED_HOPS: Nanos = 2;

/// What the mobile does with its window; a make-before-break handoff needs nothing.
pub(crate) fn window_rule(experiment: &Experiment, scheme: &Scheme) -> Option<WindowRule> {
    match experiment.kind {
        Kind::Bbm(_) => scheme.mobile().window,
        Kind::Mbb => None,
    }
}

/// How long before T the mobile acts, if it does: the one handoff of a run is the first of its connection.
pub(crate) fn lead(experiment: &Experiment, scheme: &Scheme) -> Option<Lead> {
    window_rule(experiment, scheme).filter(|rule| rule.foresees(1)).map(|rule| rule.closes)
}

/// When it acts before a handoff at `at`.
pub(crate) fn acts_at(experiment: &Experiment, lead: Lead, at: Nanos) -> Nanos {
    let rtt = 2 * (experiment.old.delay.at(at) + WIRED_HOPS * WIRED_DELAY);
    at.saturating_sub(lead.on_path(rtt))
}
