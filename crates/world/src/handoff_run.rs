//! One handoff: a warm network forked at T, taken to completion, then run with one scheme.

mod shared;

use crate::access::AccessLink;
use crate::bench::{
    self, CN, Definition, Experiment, Kind, MN, NEW, NoticeMode, OLD, Places, R, WIRED_DELAY, correspondent,
    mobile,
};
use crate::bound::bound;
use crate::lead::{self, Early};
use crate::link_time;
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route};
use crate::packet::Packet;
use crate::record::{RecordedLinks, Recorder, RunRecord, SenderAt};
use crate::routers;
use segue_handoff::{Announcement, Lead, Link, Notice, RouterRule, Scheme, SchemeError};
use segue_netsim::{Nanos, Rate, SECOND};
use segue_tcp::StackProfile;
use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;

/// A run is incomplete this long after completion.
const GIVE_UP: Nanos = 400 * SECOND;
/// Bytes of an ACK without options.
const ACK_BYTES: u32 = 40;
/// Bytes of a data packet as the bound counts them.
const DATA_BYTES: u32 = 1500;

/// Plain TCP on the old link, advanced from one T to the next and forked at each.
///
/// A scheme with a lead, which acts before T, needs a fork from before it does. [`WarmRun::follow`] keeps one more
/// run that far behind; without it such a scheme's runs begin at time zero, with the same result.
#[derive(Clone)]
pub struct WarmRun<W = ()> {
    experiment: Arc<Experiment>,
    /// The bench at time zero.
    origin: Arc<BenchSim<W>>,
    sim: BenchSim<W>,
    /// The same network, so long behind.
    followers: Vec<Follower<W>>,
    places: Places,
}

/// A network that is kept behind.
#[derive(Clone)]
struct Follower<W> {
    /// So long.
    lead: Lead,
    /// At its senders from the start, if it [remembers](Scheme::remembers).
    scheme: Option<Scheme>,
    sim: BenchSim<W>,
}

impl<W: Clone> Follower<W> {
    fn new(origin: &BenchSim<W>, lead: Lead, scheme: &Scheme) -> Self {
        let scheme = scheme.remembers().then(|| scheme.clone());
        Self { lead, sim: from_start(origin, scheme.as_ref()), scheme }
    }

    /// Whether it is what `scheme` needs; what a scheme remembers does not depend on its settings.
    fn serves(&self, lead: Lead, scheme: &Scheme) -> bool {
        let own = self.scheme.as_ref().map(discriminant);
        self.lead == lead && own == scheme.remembers().then(|| discriminant(scheme))
    }
}

/// The bench at time zero, with `scheme` at the senders.
fn from_start<W: Clone>(origin: &BenchSim<W>, scheme: Option<&Scheme>) -> BenchSim<W> {
    let mut sim = origin.clone();
    if let Some(scheme) = scheme {
        replace_schemes(&mut sim, scheme);
    }
    sim
}

/// Puts `scheme` at all senders.
fn replace_schemes<W>(sim: &mut BenchSim<W>, scheme: &Scheme) {
    if let BenchNode::Correspondent(cn) = &mut sim.nodes[usize::from(CN.0)] {
        cn.flows.iter_mut().for_each(|flow| flow.sender.advisor().replace(scheme.clone()));
    }
}

/// A network at T, before the handoff begins.
#[derive(Clone)]
pub struct Fork<W = ()> {
    experiment: Arc<Experiment>,
    origin: Arc<BenchSim<W>>,
    sim: BenchSim<W>,
    /// The network when a scheme of that lead first acts.
    early: Arc<Vec<Follower<W>>>,
    /// The new link is not the one that origin and followers have.
    elsewhere: bool,
    places: Places,
    at: Nanos,
}

/// A network at completion, before any sender knows, with the marks that all schemes share.
#[derive(Clone)]
pub struct Handoff<W = ()> {
    fork: Fork<W>,
    completion: Nanos,
    /// Targets after-highest and after-ack: regular TCP's, whatever a scheme has done before completion.
    targets: [Vec<u32>; 2],
    bound: Nanos,
    notice: Notice,
}

/// A run that has come to its end.
pub(crate) struct Ended<W> {
    pub record: RunRecord,
    /// When.
    pub at: Nanos,
    /// Data packets on links and in buffers then: flow and number of the transmission, ascending.
    pub under_way: Vec<(u16, u32)>,
    /// What the watcher has heard.
    pub watch: W,
}

/// Says whether there is a scheme of that name that takes these settings.
pub fn check_scheme(name: &str, settings: &[(String, String)]) -> Result<Scheme, SchemeError> {
    Scheme::build(name, settings)
}

/// Plain TCP.
fn plain() -> Scheme {
    Scheme::Regular(segue_handoff::regular::Regular)
}

/// Takes a network from T to completion, its routers as they are for `rule`; the record begins.
fn pass<W: HostObserver>(
    experiment: &Experiment,
    places: &Places,
    at: Nanos,
    sim: &mut BenchSim<W>,
    rule: Option<RouterRule>,
) {
    let links = RecordedLinks { new_access: places.access[NEW].down, new_last_hop: places.last[NEW].down };
    let senders = correspondent(sim).flows.iter().map(|flow| SenderAt {
        flight: flow.sender.snd_max() - flow.sender.snd_una(),
        rto: flow.sender.timing().1,
    });
    let recorder = Recorder::new(links, senders.collect());
    sim.net.observer.recorder = Some(Box::new(recorder));
    if let Kind::Bbm(_) = experiment.kind {
        for link in [places.access[OLD].down, places.access[OLD].up] {
            sim.net.cut(link, at);
        }
    }
    if let Some(rule) = rule {
        routers::link_down(sim, rule);
    }
    sim.run_until(at + experiment.kind.disconnection());
}

impl WarmRun {
    /// The bench at time zero.
    pub fn new(experiment: Experiment) -> Self {
        Self::watched(experiment, (), |_, _| {})
    }
}

impl<W: HostObserver> WarmRun<W> {
    /// The bench at time zero, as `prepare` leaves it; `watch` hears everything from then on, in every fork.
    pub(crate) fn watched(
        experiment: Experiment,
        watch: W,
        prepare: impl FnOnce(&mut BenchSim<W>, Places),
    ) -> Self {
        let (mut sim, places) = bench::build(&experiment, &plain(), watch);
        prepare(&mut sim, places);
        let origin = Arc::new(sim.clone());
        Self { experiment: Arc::new(experiment), origin, sim, followers: Vec::new(), places }
    }

    /// Has a fork ready for each of `schemes` that acts before completion.
    pub fn follow<'a>(&mut self, schemes: impl IntoIterator<Item = &'a Scheme>) {
        self.follow_towards(&self.experiment.clone(), schemes);
    }

    /// The network at `at`, which must not lie before an earlier fork.
    pub fn fork(&mut self, at: Nanos) -> Fork<W> {
        self.sim.run_until(at);
        for Follower { lead, scheme, sim } in &mut self.followers {
            let acts_at = lead::acts_at(&self.experiment, *lead, at);
            // A measured delay may grow faster than T.
            if sim.net.now() > acts_at {
                *sim = from_start(&self.origin, scheme.as_ref());
            }
            sim.run_until(acts_at);
        }
        Fork {
            experiment: self.experiment.clone(),
            origin: self.origin.clone(),
            sim: self.sim.clone(),
            early: Arc::new(self.followers.clone()),
            elsewhere: false,
            places: self.places,
            at,
        }
    }
}

impl<W: HostObserver> Fork<W> {
    /// Begins the handoff and runs plain TCP to its completion.
    pub fn complete(mut self) -> Handoff<W> {
        let completion = self.at + self.experiment.kind.disconnection();
        pass(&self.experiment, &self.places, self.at, &mut self.sim, None);

        let packets = self.experiment.packets;
        let flows = &correspondent(&self.sim).flows;
        let targets = [
            flows.iter().map(|flow| flow.sender.snd_max() + packets).collect(),
            flows.iter().map(|flow| flow.sender.snd_una() + packets).collect(),
        ];
        let notice = self.notice(completion);
        let mut handoff = Handoff { fork: self, completion, targets, bound: 0, notice };
        handoff.bound = handoff.bound(None);
        handoff
    }

    /// The network at completion if `early` has been done, which is not empty, and its places.
    fn pass_with(&self, scheme: &Scheme, early: &[(Early, Lead)]) -> (BenchSim<W>, Places) {
        let experiment = &*self.experiment;
        let mut places = self.places;
        let mut steps: Vec<_> = early
            .iter()
            .map(|&(what, lead)| (lead::acts_at(experiment, lead, self.at), what, lead))
            .collect();
        steps.sort_by_key(|&(at, ..)| at);
        let ready = self.early.iter().find(|follower| follower.serves(steps[0].2, scheme));
        let remembered = scheme.remembers().then_some(scheme);
        let ready = ready.map(|follower| follower.sim.clone());
        let mut sim = ready.unwrap_or_else(|| from_start(&self.origin, remembered));
        if self.elsewhere {
            shared::lay_new_link(&mut sim, &places, experiment);
        }
        let rule = routers::rule(experiment, scheme);
        for (at, what, _) in steps {
            sim.run_until(at);
            match (what, rule) {
                (Early::RoutersPrepare, Some(rule)) => {
                    routers::equip(&mut sim, &mut places, &experiment.routers, rule);
                }
                (Early::HandoffStarts, _) => self.announce_start(&mut sim, scheme),
                _ => sim.with_node(MN, |node, net| {
                    let BenchNode::Mobile(mn) = node else { return };
                    mn.advertise(net, 0, 1);
                }),
            }
        }
        sim.run_until(self.at);
        pass(experiment, &places, self.at, &mut sim, rule);
        (sim, places)
    }

    /// The mobile tells the senders of the handoff to come (algorithms.md, 5.2, step 2).
    fn announce_start(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        let experiment = &*self.experiment;
        let Some(rule) = lead::start_rule(experiment, scheme) else { return };
        let buffer = experiment.routers.capacity_bytes(&experiment.stack);
        let start = rule.start(experiment.kind.disconnection(), buffer);
        match experiment.notice {
            NoticeMode::Withheld => {}
            NoticeMode::Instant => {
                if let Some(told) = start.as_told(rule.encoding) {
                    announce_all(sim, Announcement::Start(told));
                }
            }
            mode @ NoticeMode::InBand { .. } => sim.with_node(MN, |node, net| {
                let BenchNode::Mobile(mn) = node else { return };
                mn.foretell(net, Announcement::Start(start), rule.encoding, mode.copies());
            }),
        }
    }

    /// What a notice says at completion.
    fn notice(&self, completion: Nanos) -> Notice {
        let experiment = &self.experiment;
        Notice {
            old_link: experiment.old.reported(completion.saturating_sub(SECOND), completion, completion),
            new_link: reported_new(&experiment.new, completion),
            flows: experiment.flows as u32,
            disconnected: u32::from(experiment.kind != Kind::Mbb),
        }
    }
}

/// All senders are told at once.
fn announce_all<W: HostObserver>(sim: &mut BenchSim<W>, what: Announcement) {
    sim.with_node(CN, |node, net| {
        let BenchNode::Correspondent(cn) = node else { return };
        (0..cn.flows.len()).for_each(|index| cn.announce(net, index, what));
    });
}

fn reported_new(link: &AccessLink, completion: Nanos) -> Link {
    link.reported(completion, completion + SECOND, completion)
}

impl<W: HostObserver> Handoff<W> {
    /// When the handoff completes.
    pub fn completion(&self) -> Nanos {
        self.completion
    }

    /// TCP of both ends.
    pub(crate) fn stack(&self) -> &StackProfile {
        &self.fork.experiment.stack
    }

    /// The packet that each flow's cumulative ACK has to reach.
    pub(crate) fn targets(&self) -> &[u32] {
        &self.targets[self.ends_by()]
    }

    /// Which targets end the run.
    fn ends_by(&self) -> usize {
        match self.fork.experiment.definition {
            Definition::AfterHighest => 0,
            Definition::AfterAck => 1,
        }
    }

    /// Runs the rest with `scheme` at every sender.
    pub fn run(&self, scheme: &Scheme) -> RunRecord {
        self.run_watched(scheme).record
    }

    /// The same; also what the watcher has heard.
    pub(crate) fn run_watched(&self, scheme: &Scheme) -> Ended<W> {
        let (mut sim, places) = self.start(scheme);
        let places = &places;
        let limit = self.completion + GIVE_UP;
        let mut notice_at = self.instant_notice_at(scheme);
        let mut from = self.completion;
        let done = |sim: &BenchSim<W>| sim.net.observer.recorder.as_ref().is_some_and(|r| r.is_done());
        while !done(&sim) {
            if notice_at.is_some_and(|at| sim.net.next_event().is_none_or(|next| at <= next)) {
                let at = notice_at.take().unwrap_or(from);
                link_time::account(&mut sim, places, from, at);
                from = at;
                sim.run_until(at);
                self.notify_all(&mut sim, scheme);
                continue;
            }
            let next = sim.net.next_event().unwrap_or(limit).min(limit);
            link_time::account(&mut sim, places, from, next);
            from = next;
            if next == limit {
                break;
            }
            sim.step(limit);
        }
        let rule = routers::rule(&self.fork.experiment, scheme);
        let bound = rule.map_or(self.bound, |rule| self.bound(Some(rule)));
        let under_way = sim.net.on_links().chain(routers::held(&sim)).filter_map(|id| {
            let Packet { data, flow, copy, .. } = sim.net.packets[id];
            data.then_some((flow, copy))
        });
        let mut under_way: Vec<_> = under_way.collect();
        under_way.sort_unstable();
        let (record, watch) = self.finish(sim, from, bound);
        Ended { record, at: from, under_way, watch }
    }

    /// The network just after completion, and its places: routes moved, notices on their way.
    pub(crate) fn start(&self, scheme: &Scheme) -> (BenchSim<W>, Places) {
        let experiment = &self.fork.experiment;
        let early = lead::early(experiment, scheme);
        let (mut sim, places) = if early.is_empty() {
            (self.fork.sim.clone(), self.fork.places)
        } else {
            self.fork.pass_with(scheme, &early)
        };
        if let BenchNode::Router(r) = &mut sim.nodes[usize::from(R.0)] {
            r.route(places.core.down, Route::To(places.edge[NEW].down));
        }
        let senders = || correspondent(&sim).flows.iter().map(|flow| &flow.sender);
        let una = senders().map(|sender| sender.snd_una()).collect();
        let sent_before = senders().map(|sender| sender.snd_max()).collect();
        let first_copies = senders().map(|sender| sender.counters().transmissions).collect();
        if let Some(recorder) = &mut sim.net.observer.recorder {
            recorder.complete(
                self.completion,
                una,
                sent_before,
                first_copies,
                self.targets.clone(),
                self.ends_by(),
            );
        }
        let disconnected = self.notice.disconnected != 0;
        if let BenchNode::Correspondent(cn) = &mut sim.nodes[usize::from(CN.0)] {
            cn.sharing = (self.notice.flows, disconnected);
        }
        // What remembers has been there from the start, unless nothing happens early.
        if early.is_empty() || !scheme.remembers() {
            replace_schemes(&mut sim, scheme);
        }
        let heard = self.copies_heard(scheme);
        let window_rule = lead::window_rule(experiment, scheme);
        let in_band = matches!(experiment.notice, NoticeMode::InBand { .. });
        sim.with_node(MN, |node, net| {
            let BenchNode::Mobile(mn) = node else { return };
            mn.out = places.last[NEW].up;
            if let Some(extra_dup) = scheme.mobile().phas {
                mn.filter_acks(extra_dup);
            }
            if places.tunnel.is_some() {
                mn.request_forwarding(net);
            }
            if let Some(rule) = window_rule {
                mn.advertise(net, experiment.stack.receive_window, rule.reopen_acks);
            }
            if heard == 0 {
                return;
            }
            if scheme.needs_dsack() {
                mn.flows.iter_mut().for_each(|flow| flow.receiver.set_dsack(true));
            }
            if in_band {
                match lead::start_rule(experiment, scheme) {
                    Some(rule) => mn.foretell(net, Announcement::Finish, rule.encoding, heard),
                    None => mn.announce(net, self.notice.new_link, heard),
                }
            }
        });
        (sim, places)
    }

    /// How many copies of the notice leave the mobile, or reach the senders at once.
    fn copies_heard(&self, scheme: &Scheme) -> u32 {
        let experiment = &self.fork.experiment;
        match scheme.mobile().announces || lead::start_rule(experiment, scheme).is_some() {
            true => experiment.notice.copies(),
            false => 0,
        }
    }

    /// When the senders learn of the handoff without a packet.
    pub(crate) fn instant_notice_at(&self, scheme: &Scheme) -> Option<Nanos> {
        let experiment = &self.fork.experiment;
        let instant = experiment.notice == NoticeMode::Instant && self.copies_heard(scheme) > 0;
        instant.then_some(self.completion + experiment.notice_delay)
    }

    /// The instant notice, to all senders in turn.
    pub(crate) fn notify_all(&self, sim: &mut BenchSim<W>, scheme: &Scheme) {
        if lead::start_rule(&self.fork.experiment, scheme).is_some() {
            return announce_all(sim, Announcement::Finish);
        }
        sim.with_node(CN, |node, net| {
            let BenchNode::Correspondent(cn) = node else { return };
            for index in 0..cn.flows.len() {
                cn.notify(net, index, &self.notice);
            }
        });
    }

    /// Closes the record at `end`.
    fn finish(&self, mut sim: BenchSim<W>, end: Nanos, bound: Nanos) -> (RunRecord, W) {
        let places = &self.fork.places;
        // What is still under way on the new link: will it be the first with its bytes?
        let mut under_way = Vec::new();
        for link in [places.last[NEW].down, places.access[NEW].down] {
            under_way.extend(sim.net.link(link).fates());
        }
        let mut coming = BTreeSet::new();
        let useful: Vec<bool> = under_way
            .into_iter()
            .filter(|&(id, _)| sim.net.packets[id].data)
            .map(|(id, arrives)| {
                let packet = &sim.net.packets[id];
                let key = (packet.flow, packet.segment.seq);
                let has = mobile(&sim).flows[usize::from(key.0)].receiver.has(key.1);
                arrives && !has && coming.insert(key)
            })
            .collect();
        let doomed = sim.net.doomed().map(|id| &sim.net.packets[id]).filter(|packet| packet.data);
        let doomed: BTreeSet<_> = doomed.map(|packet| (packet.flow, packet.copy)).collect();
        let Some(mut recorder) = sim.net.observer.recorder.take() else {
            unreachable!("a handoff is always recorded");
        };
        recorder.charge_rest(end, useful.into_iter());
        let observer = &sim.net.observer;
        let record = recorder.finish(self.fork.at, bound, |flow, copy| {
            !observer.is_lost(flow, copy) && !doomed.contains(&(flow, copy))
        });
        (record, sim.net.observer.watch)
    }

    /// What no scheme can beat, from completion, where the routers do as `rule` says.
    fn bound(&self, rule: Option<RouterRule>) -> Nanos {
        let experiment = &self.fork.experiment;
        let targets = self.targets();
        let receivers = &mobile(&self.fork.sim).flows;

        // Needed packets that are still on the old path, and when they arrive.
        let mut on_old = BTreeSet::new();
        let mut old = Vec::new();
        for (at, flow, seq) in self.old_deliveries() {
            let needed = seq < targets[usize::from(flow)] && !receivers[usize::from(flow)].receiver.has(seq);
            if needed && on_old.insert((flow, seq)) {
                old.push(at);
            }
        }
        let senders = correspondent(&self.fork.sim).flows.iter().map(|flow| &flow.sender);
        let must_carry: u64 = receivers
            .iter()
            .zip(targets)
            .zip(senders)
            .enumerate()
            .map(|(flow, ((state, &target), sender))| {
                // The SYN is no packet of data: the bound carries it for nothing.
                let first = state.receiver.rcv_nxt().max(1);
                // Nothing of what has never been sent can be there or on its way.
                let never_sent = sender.snd_max().clamp(first, target.max(first));
                let missing = (first..never_sent)
                    .filter(|&seq| !state.receiver.has(seq) && !on_old.contains(&(flow as u16, seq)));
                missing.count() as u64 + u64::from(target.saturating_sub(never_sent))
            })
            .sum();

        let (sim, places) = (&self.fork.sim, &self.fork.places);
        let waiting =
            [places.core.down, places.edge[NEW].down].into_iter().any(|link| !sim.net.link(link).is_empty());
        let first_sent = if waiting { 0 } else { 2 * WIRED_DELAY };
        let first_held = rule.map(|rule| routers::first_held(experiment, rule));
        let reachable = self.completion + first_held.map_or(first_sent, |held| held.min(first_sent));
        let hops = experiment.fixed_hops();
        let delay = experiment.new.delay.min();
        let data_bytes = experiment.stack.data_bytes().min(DATA_BYTES);
        let last_hop = Rate::new(hops.last).time(data_bytes);
        let ack_hops = Rate::new(hops.last).time(ACK_BYTES);
        let ack_wired = 2 * (Rate::new(hops.wired).time(ACK_BYTES) + WIRED_DELAY);

        let mut service = experiment.new.down.service();
        // `bound` asks for ever more packets, so the last departure is enough.
        let (mut carried, mut departure) = (0, reachable);
        let brought = |packets: u64| {
            while carried < packets {
                departure = service.departure(departure, data_bytes);
                carried += 1;
            }
            departure + delay + last_hop
        };
        let acknowledged = |at: Nanos| {
            let mut up = experiment.new.up.service();
            up.departure(at + ack_hops, ACK_BYTES) + delay + ack_wired
        };
        bound(self.completion, &old, must_carry, brought, acknowledged)
    }

    /// What the old link still delivers after completion: it carries on without new traffic.
    fn old_deliveries(&self) -> Vec<(Nanos, u16, u32)> {
        if self.fork.experiment.kind != Kind::Mbb {
            return Vec::new();
        }
        let (mut sim, places) = self.start(&plain());
        let path = [places.edge[OLD].down, places.access[OLD].down, places.last[OLD].down];
        while path.iter().any(|&link| !sim.net.link(link).is_empty()) {
            if !sim.step(self.completion + GIVE_UP) {
                break;
            }
        }
        let recorder = sim.net.observer.recorder.take();
        recorder.map(|r| r.old_deliveries.iter().map(|d| (d.at, d.flow, d.seq)).collect()).unwrap_or_default()
    }
}
