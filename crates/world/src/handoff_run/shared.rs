//! One warm-up for many experiments (docs/guide/sweep.md). Until the handoff begins nothing passes over the new link.
//! So runs towards other links, of other kinds and other schemes can begin with the same network.

use super::follower::Follower;
use super::fork::{Fork, lay_new_link};
use super::warm::WarmRun;
use crate::bench::Experiment;
use crate::lead;
use segue_handoff::Scheme;
use std::sync::Arc;

impl Experiment {
    /// Whether all is alike that a network shows before a handoff begins. That is the old link, the hops that are no
    /// access links, the flows, their stack, and the seed.
    pub fn shares_warm_up(&self, other: &Self) -> bool {
        self.flows == other.flows
            && (self.seed, self.weather) == (other.seed, other.weather)
            && self.starts == other.starts
            && self.stack == other.stack
            && self.old == other.old
            // The neighbours on the new link have used it from the start.
            && self.neighbours == other.neighbours
            && self.traffic == other.traffic
            && (self.neighbours.is_none() || self.new == other.new)
            && self.fixed_hops() == other.fixed_hops()
    }
}

impl WarmRun {
    /// Has a fork ready for each of `schemes` that acts before completion where a fork goes [towards](Fork::towards)
    /// `experiment`.
    pub fn follow_towards<'a>(
        &mut self,
        experiment: &Experiment,
        schemes: impl IntoIterator<Item = &'a Scheme>,
    ) {
        for scheme in schemes {
            for (_, lead) in lead::early(experiment, scheme) {
                if !self.followers.iter().any(|follower| follower.serves(lead, scheme)) {
                    self.followers.push(Follower::new(&self.origin, experiment, lead, scheme));
                }
            }
        }
    }
}

impl Fork {
    /// The same network before another handoff, which must [share](Experiment::shares_warm_up) its warm-up. A scheme
    /// that acts before completion needs [`WarmRun::follow_towards`] to be fast.
    pub fn towards(&self, experiment: &Arc<Experiment>) -> Self {
        debug_assert!(self.experiment.shares_warm_up(experiment), "the warm-up of another experiment");
        let mut sim = self.sim.clone();
        let elsewhere = experiment.neighbours.is_none();
        if elsewhere {
            lay_new_link(&mut sim, &self.link_ids, experiment);
        }
        Self {
            experiment: experiment.clone(),
            origin: self.origin.clone(),
            sim,
            early: self.early.clone(),
            elsewhere,
            continued: false,
            rule: None,
            link_ids: self.link_ids,
            at: self.at,
        }
    }
}
