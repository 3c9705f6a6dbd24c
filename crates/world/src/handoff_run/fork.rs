//! A network at T, and what happens from then to completion.

use super::follower::{Follower, from_start, replace_schemes};
use crate::access::AccessLink;
use crate::bench::traffic::{self, Pair};
use crate::bench::{Duplex, Experiment, LinkIds, NEW, OLD, access_lines, correspondent};
use crate::lead::{self, Early};
use crate::nodes::{BenchNode, BenchSim, HostObserver};
use crate::notice_error::Told;
use crate::record::{RecordedLinks, Recorder, SenderAt};
use crate::routers;
use crate::words::{Kind, NoticeMode};
use segue_handoff::{Announcement, Clock, Lead, RouterRule, Scheme};
use segue_netsim::{Nanos, NodeId, SECOND};
use std::sync::Arc;

/// A network at T, before the handoff begins.
#[derive(Clone)]
pub struct Fork<W = ()> {
    pub(super) experiment: Arc<Experiment>,
    pub(super) origin: Arc<BenchSim<W>>,
    pub(super) sim: BenchSim<W>,
    /// The network when a scheme of that lead first acts.
    pub(super) early: Arc<Vec<Follower<W>>>,
    /// The new link is not the one that origin and followers have.
    pub(super) elsewhere: bool,
    /// The network has had a handoff, and all has been done that is to be done before T.
    pub(super) continued: bool,
    /// That of its routers then.
    pub(super) rule: Option<RouterRule>,
    pub(super) link_ids: LinkIds,
    pub(super) at: Nanos,
}

/// Plain TCP.
pub(super) fn plain() -> Scheme {
    Scheme::Regular(segue_handoff::regular::Regular)
}

/// Takes a network from T to completion, its routers as they are for `rule`; the record begins.
pub(super) fn pass<W: HostObserver>(
    experiment: &Experiment,
    link_ids: &LinkIds,
    at: Nanos,
    sim: &mut BenchSim<W>,
    rule: Option<RouterRule>,
) {
    let links = RecordedLinks {
        new_access: link_ids.access[NEW].down,
        new_last_hop: link_ids.behind(NEW)[0],
        shared_last_hop: link_ids.is_upward,
        new_end: if link_ids.is_upward { link_ids.edge[NEW].down } else { link_ids.access[NEW].down },
    };
    let senders = correspondent(sim).flows.iter().map(|flow| {
        let view = flow.sender.view();
        let recovers = view.in_fast_recovery || view.in_rto_recovery;
        SenderAt {
            flight: flow.sender.snd_max() - flow.sender.snd_una(),
            rto: flow.sender.timing().1,
            in_first_recovery: recovers && flow.sender.counters().fast_retransmits <= 1,
        }
    });
    let recorder = Recorder::new(links, senders.collect());
    sim.net.observer.record(recorder);
    match &mut sim.net.observer.traffic {
        Some(watch) => watch.begin(at, at + experiment.kind.disconnection()),
        None => sim.net.observer.traffic = traffic::watch(experiment, link_ids, at, sim),
    }
    if let Kind::Bbm(_) = experiment.kind {
        for link in [link_ids.access[OLD].down, link_ids.access[OLD].up] {
            sim.net.cut(link, at);
        }
    }
    if let Some(rule) = rule {
        routers::link_down(sim, link_ids, rule);
    }
    let device = traffic::device(link_ids).map(|device| &mut sim.nodes[usize::from(device.0)]);
    if let (Kind::Bbm(_), Some(BenchNode::Mobile(host))) = (experiment.kind, device) {
        host.link_gone();
    }
    sim.run_until(at + experiment.kind.disconnection());
}

impl<W: HostObserver> Fork<W> {
    /// The network at completion if `early` has been done, which is not empty, and its links.
    pub(super) fn pass_with(&self, scheme: &Scheme, early: &[(Early, Lead)]) -> (BenchSim<W>, LinkIds) {
        let experiment = &*self.experiment;
        let mut link_ids = self.link_ids;
        let mut steps: Vec<_> = early
            .iter()
            .map(|&(what, lead)| (lead::acts_at(experiment, lead, self.at), what, lead))
            .collect();
        steps.sort_by_key(|&(at, ..)| at);
        let ready = self.early.iter().find(|follower| follower.serves(steps[0].2, scheme));
        let remembered = scheme.remembers().then_some(scheme);
        let ready = ready.map(|follower| follower.sim.clone());
        let mut sim = ready.unwrap_or_else(|| from_start(&self.origin, experiment, remembered));
        if self.elsewhere {
            lay_new_link(&mut sim, &link_ids, experiment);
        }
        for (at, what, _) in steps {
            sim.run_until(at);
            // Before the first handoff regular TCP is at the senders, which would not hear of it.
            if what == Early::HandoffExpected {
                replace_schemes(&mut sim, scheme);
            }
            act_early(&mut sim, &mut link_ids, experiment, scheme, (what, self.at));
        }
        sim.run_until(self.at);
        pass(experiment, &link_ids, self.at, &mut sim, routers::rule(experiment, scheme));
        (sim, link_ids)
    }
}

/// Acts of mobile, senders and routers before a handoff at `at`.
pub(super) fn act_early<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &mut LinkIds,
    experiment: &Experiment,
    scheme: &Scheme,
    (what, at): (Early, Nanos),
) {
    match what {
        Early::HandoffStarts => announce_start(sim, link_ids, experiment, scheme),
        Early::HandoffExpected => announce_expected(sim, link_ids, experiment, scheme, at),
        Early::ScheduleRead => read_schedules(sim, at),
        Early::Attended => {}
        Early::RoutersPrepare => {
            if let Some(rule) = routers::rule(experiment, scheme) {
                routers::equip(sim, link_ids, &experiment.routers, rule);
            }
        }
        Early::WindowCloses => {
            let Some(device) = traffic::device(link_ids) else { return };
            sim.with_node(device, |node, net| {
                let BenchNode::Mobile(host) = node else { return };
                host.advertise(net, 0, 1);
            });
        }
    }
}

/// The schedules of all senders that have a scheme have a handoff at `at`.
fn read_schedules<W: HostObserver>(sim: &mut BenchSim<W>, at: Nanos) {
    let mine = sim.net.observer.mine;
    for place in 0..sim.nodes.len() {
        let Ok(place) = u16::try_from(place) else { return };
        sim.with_node(NodeId(place), |node, net| {
            if let Some(host) = traffic::senders_of(node).filter(|host| host.first.0 < mine) {
                (0..host.flows.len()).for_each(|index| host.read_schedule(net, index, at));
            }
        });
    }
}

/// The schedules of all senders that have a scheme go by the clock of the link that the mobile has come to.
pub(super) fn read_clock<W: HostObserver>(sim: &mut BenchSim<W>, clock: Option<Clock>) {
    let mine = sim.net.observer.mine;
    for place in 0..sim.nodes.len() {
        let Ok(place) = u16::try_from(place) else { return };
        sim.with_node(NodeId(place), |node, net| {
            if let Some(host) = traffic::senders_of(node).filter(|host| host.first.0 < mine) {
                (0..host.flows.len()).for_each(|index| host.on_link(net, index, clock));
            }
        });
    }
}

/// The mobile tells the senders of the handoff to come (algorithms.md, 5.2, step 2).
fn announce_start<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
    scheme: &Scheme,
) {
    let Some(rule) = lead::start_rule(experiment, scheme) else { return };
    let buffer = experiment.routers.capacity_bytes(&experiment.stack);
    let start = rule.start(experiment.kind.disconnection(), buffer);
    for pair in traffic::pairs(link_ids) {
        match (experiment.notice, start.as_told(rule.encoding)) {
            (NoticeMode::Withheld, _) => {}
            // The mobile's own senders need no packet to know.
            (NoticeMode::InBand { .. }, _) if !pair.is_upward => {
                sim.with_node(pair.receivers, |node, net| {
                    let Some(host) = traffic::receivers_of(node, &pair) else { return };
                    host.foretell(net, Announcement::Start(start), rule.encoding, experiment.notice.copies());
                })
            }
            (_, Some(told)) => announce(sim, &pair, Announcement::Start(told)),
            (_, None) => {}
        }
    }
}

/// The mobile tells the senders of a handoff to come without an outage, at the pace of notices (near.md, 8.13). Its own
/// senders know of it when it completes.
fn announce_expected<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
    scheme: &Scheme,
    at: Nanos,
) {
    let copies = experiment.notice.copies();
    let link = told(experiment, &experiment.new, NEW, at, at).new_link;
    let up_kbps = u32::try_from(experiment.old.up.mean_rate() / 1000).unwrap_or(u32::MAX);
    let pace = scheme.mobile().pace(link, up_kbps, copies, false);
    for pair in traffic::pairs(link_ids).filter(|pair| !pair.is_upward) {
        if let Some(host) = traffic::senders_of(&mut sim.nodes[usize::from(pair.senders.0)]) {
            // No option tells N, here as at a notice.
            host.sharing = (experiment.flows.max(1) as u32, false);
        }
        sim.with_node(pair.receivers, |node, net| {
            let Some(host) = traffic::receivers_of(node, &pair) else { return };
            host.expect(net, link, copies, pace.clone());
        });
    }
}

/// The content of a notice of a link to which the mobile comes at `completion`, in a handoff that begins at `at`.
pub(super) fn told(
    experiment: &Experiment,
    link: &AccessLink,
    place: usize,
    at: Nanos,
    completion: Nanos,
) -> Told {
    let truth = link.reported(experiment.link_seed(place), completion, completion + SECOND, completion);
    experiment.notice_error.told(experiment.seed, at, truth)
}

/// Puts the experiment's new link in the place of the one that the network was built with, which has carried nothing.
pub(super) fn lay_new_link<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
) {
    let Duplex { down, up } = traffic::physical(link_ids.access[NEW], link_ids.is_upward);
    let [down_line, up_line] = access_lines(experiment, NEW);
    sim.net.replace_link(down, down_line);
    sim.net.replace_link(up, up_line);
}

/// All senders are told at once.
pub(super) fn announce_all<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, what: Announcement) {
    traffic::pairs(link_ids).for_each(|pair| announce(sim, &pair, what));
}

/// Those of a pair.
pub(super) fn announce<W: HostObserver>(sim: &mut BenchSim<W>, pair: &Pair, what: Announcement) {
    sim.with_node(pair.senders, |node, net| {
        let Some(host) = traffic::senders_of(node) else { return };
        (0..host.flows.len()).for_each(|index| host.announce(net, index, what));
    });
}
