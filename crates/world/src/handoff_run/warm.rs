//! The time before T, simulated once for all handoffs.

use super::follower::{Follower, from_start};
use super::fork::{Fork, plain};
use super::run::BETWEEN_LOOKS;
use crate::bench::{self, Experiment, LinkIds};
use crate::lead;
use crate::nodes::{BenchSim, HostObserver};
use segue_handoff::Scheme;
use segue_netsim::Nanos;
use std::sync::Arc;

/// Plain TCP on the old link, advanced from one T to the next and forked at each.
///
/// A scheme with a lead, which acts before T, needs a fork from before it does. [`WarmRun::follow`] keeps one more
/// run that far behind; without it such a scheme's runs begin at time zero, with the same result.
#[derive(Clone)]
pub struct WarmRun<W = ()> {
    pub(super) experiment: Arc<Experiment>,
    /// The bench at time zero.
    pub(super) origin: Arc<BenchSim<W>>,
    sim: BenchSim<W>,
    /// The same network, so long behind.
    pub(super) followers: Vec<Follower<W>>,
    link_ids: LinkIds,
}

// Functions that other crates call have no type parameters, so that the engine is compiled here, where all is
// optimised, and once.
impl WarmRun {
    /// The bench at time zero.
    pub fn new(experiment: Experiment) -> Self {
        Self::watched(experiment, (), |_, _| {})
    }

    /// Has a fork ready for each of `schemes` that acts before completion.
    pub fn follow<'a>(&mut self, schemes: impl IntoIterator<Item = &'a Scheme>) {
        self.follow_towards(&self.experiment.clone(), schemes);
    }

    /// Runs until the first packet with data has left a sender, and says when that was. There is one: senders open
    /// their connections, and do so again where the first packets are lost.
    pub fn run_to_data(&mut self) -> Nanos {
        let sent = |sim: &BenchSim<()>| {
            let flows = &bench::correspondent(sim).flows;
            flows.iter().any(|flow| flow.sender.is_established() && flow.sender.snd_max() > 1)
        };
        while !sent(&self.sim) && self.sim.step(Nanos::MAX) {}
        self.sim.net.now()
    }

    /// The network at `at`, which must not lie before an earlier fork.
    pub fn fork(&mut self, at: Nanos) -> Fork {
        self.fork_watched(at, &|| {})
    }

    /// The same; `looks` is called now and then: it may unwind, for a run that nobody wants any more.
    pub fn fork_unless(&mut self, at: Nanos, looks: &dyn Fn()) -> Fork {
        self.fork_watched(at, looks)
    }
}

impl<W: HostObserver> WarmRun<W> {
    /// The bench at time zero, as `prepare` leaves it; `watch` hears everything from then on, in every fork.
    pub(crate) fn watched(
        experiment: Experiment,
        watch: W,
        prepare: impl FnOnce(&mut BenchSim<W>, LinkIds),
    ) -> Self {
        let (mut sim, link_ids) = bench::build(&experiment, &plain(), watch);
        prepare(&mut sim, link_ids);
        let origin = Arc::new(sim.clone());
        Self { experiment: Arc::new(experiment), origin, sim, followers: Vec::new(), link_ids }
    }

    /// As [`Self::fork_unless`].
    pub(crate) fn fork_watched(&mut self, at: Nanos, looks: &dyn Fn()) -> Fork<W> {
        while self.sim.net.now() + BETWEEN_LOOKS < at {
            looks();
            self.sim.run_until(self.sim.net.now() + BETWEEN_LOOKS);
        }
        self.sim.run_until(at);
        for Follower { lead, scheme, sim } in &mut self.followers {
            let acts_at = lead::acts_at(&self.experiment, *lead, at);
            // A measured delay may grow faster than T.
            if sim.net.now() > acts_at {
                *sim = from_start(&self.origin, &self.experiment, scheme.as_ref());
            }
            sim.run_until(acts_at);
        }
        Fork {
            experiment: self.experiment.clone(),
            origin: self.origin.clone(),
            sim: self.sim.clone(),
            early: Arc::new(self.followers.clone()),
            elsewhere: false,
            continued: false,
            rule: None,
            link_ids: self.link_ids,
            at,
        }
    }
}
