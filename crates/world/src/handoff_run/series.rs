//! Several handoffs in a row: from the old link to the new one, back, and so on, or one ping-pong after the other
//! (docs/reference/bench.md).
//!
//! Schemes and TCP keep their state. The record of a handoff ends with its transfer, or when something is done for the
//! next handoff.

use super::fork::{Fork, act_early, lay_new_link};
use super::run::{Handoff, Run};
use crate::lead::{self, Early};
use crate::record::RunRecord;
use crate::routers;
use crate::words::Kind;
use segue_handoff::Scheme;
use segue_netsim::Nanos;
use std::sync::Arc;

/// Handoffs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// How many.
    pub handoffs: u32,
    /// From the beginning of one to the beginning of the next.
    pub every: Nanos,
}

/// A run has one.
impl Default for Series {
    fn default() -> Self {
        Self { handoffs: 1, every: 0 }
    }
}

impl Handoff {
    /// Runs this handoff and those that follow it with `scheme` at every sender: a record for each. `looks` is called
    /// before each of those that follow, and now and then: it may unwind, for a run that nobody wants any more.
    ///
    /// Neighbours are not for a second handoff.
    pub fn run_series(&self, scheme: &Scheme, series: Series, looks: &dyn Fn()) -> Vec<RunRecord> {
        if series.handoffs <= 1 {
            return vec![self.run_watched(scheme, looks).record];
        }
        let (record, mut next) = self.run_to_next(scheme, series.every, looks);
        let mut records = vec![record];
        for _ in 2..series.handoffs {
            looks();
            let (record, following) = next.run_to_next(scheme, series.every, looks);
            records.push(record);
            next = following;
        }
        looks();
        let last = next.run_last(scheme, looks);
        records.push(last.record);
        next.add_traffic(&mut records, last.traffic);
        records
    }

    /// The record, and the handoff that begins so much later.
    fn run_to_next(&self, scheme: &Scheme, every: Nanos, looks: &dyn Fn()) -> (RunRecord, Self) {
        let fork = &self.at.fork;
        let experiment = Arc::new(fork.experiment.following());
        let at = fork.at + every;
        let early = lead::early(&experiment, scheme).into_iter();
        let settled = self.at.completion + experiment.kind.returns_after().unwrap_or(0);
        let steps = early.map(|(what, lead)| (lead::acts_at(&experiment, lead, at).max(settled), what));
        let mut steps: Vec<(Nanos, Early)> = steps.collect();
        steps.sort_by_key(|&(at, _)| at);
        let latest = steps.first().map_or(at, |&(first, _)| first);
        let run = self.run_until(scheme, latest, looks);
        let record = self.end(scheme, run.clone()).record;

        let Run { mut sim, link_ids, steps: mut rest, .. } = run;
        let mut link_ids = match experiment.kind.returns_after() {
            Some(_) => link_ids,
            None => link_ids.back(),
        };
        (sim.net.observer.recorder, sim.net.observer.idle) = (None, None);
        let end = std::iter::once((at, None));
        for (due, what) in steps.into_iter().map(|(due, what)| (due, Some(what))).chain(end) {
            self.at.run_steps(&mut sim, scheme, &mut rest, due);
            if let Some(what) = what {
                act_early(&mut sim, &mut link_ids, &experiment, scheme, (what, at));
            }
        }
        if let Kind::Bbm(_) = experiment.kind {
            // It has been cut.
            lay_new_link(&mut sim, &link_ids, &experiment);
        }
        let (origin, early) = (fork.origin.clone(), fork.early.clone());
        let rule = routers::rule(&experiment, scheme);
        let continued = true;
        let next = Fork { experiment, origin, sim, early, elsewhere: false, continued, rule, link_ids, at };
        (record, next.complete())
    }
}
