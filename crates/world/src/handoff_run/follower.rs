//! Networks that are kept behind the warm one, for schemes that act before T.

use crate::bench::Experiment;
use crate::bench::traffic::senders_of;
use crate::lead;
use crate::nodes::BenchSim;
use segue_handoff::{Lead, Scheme};

/// A network that is kept behind.
#[derive(Clone)]
pub(super) struct Follower<W> {
    /// So long.
    pub lead: Lead,
    /// At its senders from the start, if it [remembers](Scheme::remembers).
    pub scheme: Option<Scheme>,
    pub sim: BenchSim<W>,
}

impl<W: Clone> Follower<W> {
    pub fn new(origin: &BenchSim<W>, experiment: &Experiment, lead: Lead, scheme: &Scheme) -> Self {
        let scheme = scheme.remembers().then(|| scheme.clone());
        Self { lead, sim: from_start(origin, experiment, scheme.as_ref()), scheme }
    }

    /// Whether it is what `scheme` needs.
    pub fn serves(&self, lead: Lead, scheme: &Scheme) -> bool {
        let remembers = match &self.scheme {
            Some(own) => scheme.remembers() && own.remembers_as(scheme),
            None => !scheme.remembers(),
        };
        self.lead == lead && remembers
    }
}

/// The bench at time zero, with `scheme` at the senders.
pub(super) fn from_start<W: Clone>(
    origin: &BenchSim<W>,
    experiment: &Experiment,
    scheme: Option<&Scheme>,
) -> BenchSim<W> {
    let mut sim = origin.clone();
    if let Some(scheme) = scheme {
        let mut scheme = scheme.clone();
        if lead::schedule(experiment.notice, &scheme).is_some() {
            scheme.on_link(0, experiment.old.clock());
        }
        replace_schemes(&mut sim, &scheme);
    }
    sim
}

/// Puts `scheme` at all senders.
pub(super) fn replace_schemes<W>(sim: &mut BenchSim<W>, scheme: &Scheme) {
    let mine = sim.net.observer.mine;
    let hosts = sim.nodes.iter_mut().filter_map(senders_of).filter(|host| host.first.0 < mine);
    for flow in hosts.flat_map(|host| &mut host.flows) {
        flow.sender.advisor().replace(scheme.clone());
    }
}
