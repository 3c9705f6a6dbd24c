//! The mobile's further traffic (docs/reference/traffic.md): its uploads beside downloads, and its applications. Each
//! of the two has a server of its own and a device of its own at the mobile, and shares routers and access links.
//!
//! ```text
//! server --wired, 2 ms-- R --wired, 2 ms-- AR_i --access link i-- Wir_i --last hop-- device      i: old, new
//! ```

use super::{CN, Duplex, Experiment, LinkIds, MN, NEW, OLD, R, WIR, WIRED_DELAY, line, reported_at_start};
use crate::access::AccessLink;
use crate::applications::Applications;
use crate::neighbours::STARTS;
use crate::nodes::{
    BenchNode, BenchSim, Correspondent, HostObserver, Mobile, Route, Wheel, receiving_flow, sending_flow,
};
use crate::random::{Random, Stream};
use crate::traffic::source::{Item, Source, frame_bytes};
use crate::traffic::watch::{TrafficWatch, Watched};
use crate::traffic::{Application, Class, pages};
use segue_handoff::{LoggedScheme, Scheme};
use segue_netsim::{LinkId, Nanos, NodeId, Rate};
use segue_tcp::AnySender;
use std::collections::VecDeque;

/// Clock phases are within ns-2's tick, as those of the bench's flows.
const PHASES: u32 = 10_000_000;

/// Hosts of the mobile's traffic: a server and a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The host with the senders.
    pub senders: NodeId,
    /// The host with the receivers.
    pub receivers: NodeId,
    /// From the server to R, and back.
    core: Duplex,
    /// From the wireless device of each link to the mobile, and back.
    last: [Duplex; 2],
    /// The senders are at the mobile.
    pub is_upward: bool,
    /// The receivers are beside those of the host's own flows.
    is_beside: bool,
}

impl Pair {
    /// The new link has become the old one.
    pub(super) fn turn_back(&mut self) {
        self.last.swap(OLD, NEW);
    }
}

/// Pairs of hosts beside those of the bench's own flows.
pub(crate) type Further = [Option<Pair>; 2];

/// A direction of data as one towards the mobile and one from it, or the other way round.
pub(crate) fn physical(duplex: Duplex, is_upward: bool) -> Duplex {
    match is_upward {
        true => Duplex { down: duplex.up, up: duplex.down },
        false => duplex,
    }
}

/// The hosts of the bench's own flows.
pub(crate) fn own_pair(link_ids: &LinkIds) -> Pair {
    let turned = |duplex| physical(duplex, link_ids.is_upward);
    Pair {
        senders: CN,
        receivers: MN,
        core: turned(link_ids.core),
        last: link_ids.last.map(turned),
        is_upward: link_ids.is_upward,
        is_beside: false,
    }
}

/// All hosts of the mobile's traffic.
pub(crate) fn pairs(link_ids: &LinkIds) -> impl Iterator<Item = Pair> + use<> {
    let LinkIds { further, .. } = *link_ids;
    std::iter::once(own_pair(link_ids)).chain(further.into_iter().flatten())
}

/// The senders of a host.
pub(crate) fn senders_of(node: &mut BenchNode) -> Option<&mut Correspondent> {
    match node {
        BenchNode::Correspondent(host) => Some(host),
        BenchNode::Applications(host) => Some(&mut host.senders),
        _ => None,
    }
}

/// By flow of a pair: whether its SYN has left and has no answer.
pub(crate) fn connecting<W: HostObserver>(sim: &mut BenchSim<W>, pair: &Pair) -> Vec<bool> {
    senders_of(&mut sim.nodes[usize::from(pair.senders.0)]).map(|host| host.connecting()).unwrap_or_default()
}

/// The receivers of a pair.
pub(crate) fn receivers_of<'n>(node: &'n mut BenchNode, pair: &Pair) -> Option<&'n mut Mobile> {
    let BenchNode::Mobile(host) = node else { return None };
    if pair.is_beside { host.beside.as_deref_mut() } else { Some(host) }
}

/// The host of all receivers at the mobile, where it receives.
pub(crate) fn device(link_ids: &LinkIds) -> Option<NodeId> {
    pairs(link_ids).find(|pair| !pair.is_upward).map(|pair| pair.receivers)
}

/// Where data come to the receivers at the mobile over the new link.
pub(crate) fn ends_at_device(link_ids: &LinkIds) -> [Option<LinkId>; 2] {
    let mut ends = pairs(link_ids).filter(|pair| !pair.is_upward).map(|pair| pair.last[NEW].down);
    [ends.next(), ends.next()]
}

/// The routes of a pair lead over the new link from now on.
pub(crate) fn hand_over<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, pair: &Pair) {
    let edge = physical(link_ids.edge[NEW], link_ids.is_upward);
    if let Some(r) = sim.nodes[usize::from(R.0)].routes() {
        r.route(pair.core.down, Route::To(edge.down));
    }
    let out = pair.last[NEW].up;
    match pair.is_upward {
        true => {
            if let Some(host) = senders_of(&mut sim.nodes[usize::from(pair.senders.0)]) {
                host.out = out;
            }
        }
        false => {
            if let Some(host) = receivers_of(&mut sim.nodes[usize::from(pair.receivers.0)], pair) {
                host.out = out;
            }
        }
    }
}

/// By which the mobile sends over the new link.
pub(crate) fn outs(link_ids: &LinkIds) -> impl Iterator<Item = LinkId> + use<> {
    pairs(link_ids).map(|pair| pair.last[NEW].up)
}

/// Nothing more of the bench's own comes out of the router R towards the mobile.
pub(crate) fn stop_own<W>(sim: &mut BenchSim<W>, link_ids: &LinkIds) {
    let pair = own_pair(link_ids);
    let routes = sim.nodes[usize::from(R.0)].routes().filter(|_| !pair.is_upward);
    if let Some(r) = routes {
        r.route(pair.core.down, Route::None);
    }
}

/// Flows of the mobile: the bench's own, uploads beside them, and applications.
pub(super) fn of_mobile(experiment: &Experiment) -> [usize; 3] {
    let Some(traffic) = &experiment.traffic else { return [experiment.flows, 0, 0] };
    let uploads = if traffic.upload && traffic.download { experiment.flows } else { 0 };
    [experiment.flows, uploads, traffic.applications.len()]
}

/// Puts uploads and applications beside the flows of a bench at time zero, as far as there are any.
pub(super) fn join<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &mut LinkIds,
    experiment: &Experiment,
    plain: &Scheme,
) {
    if experiment.traffic.is_none() {
        return;
    }
    let mut random = Random::new(experiment.seed, Stream::Traffic);
    let flows = of_mobile(experiment);
    let [_, uploads, applications] = flows;
    let mut joins = Joins { sim, link_ids, experiment, plain, random: &mut random };
    if uploads > 0 {
        let first = experiment.flows as u16;
        let (pair, senders) = joins.pair(first, uploads, true, true);
        joins.sim.nodes[usize::from(pair.senders.0)] = BenchNode::Correspondent(senders);
        joins.link_ids.further[0] = Some(pair);
    }
    if applications > 0 {
        let first = (experiment.flows + uploads) as u16;
        let (pair, senders) = joins.pair(first, applications, false, false);
        let node = joins.applications(pair, senders);
        joins.sim.nodes[usize::from(pair.senders.0)] = BenchNode::Applications(Box::new(node));
        joins.link_ids.further[1] = Some(pair);
    }
    sim.net.observer.mine = flows.iter().sum::<usize>() as u16;
    route(sim, link_ids, flows, experiment.neighbours.is_some());
}

/// Parts that hosts are made of.
struct Joins<'a, W> {
    sim: &'a mut BenchSim<W>,
    link_ids: &'a mut LinkIds,
    experiment: &'a Experiment,
    plain: &'a Scheme,
    random: &'a mut Random,
}

impl<W: HostObserver> Joins<'_, W> {
    /// Two hosts with `count` flows from number `first` on; the senders are to be put in their place. Receivers at the
    /// mobile are one device with those of the bench. `opens`: a timer opens the connections.
    fn pair(&mut self, first: u16, count: usize, is_upward: bool, opens: bool) -> (Pair, Correspondent) {
        let Experiment { seed, stack, .. } = self.experiment;
        let nodes = self.sim.nodes.len() as u16;
        let is_beside = !is_upward && !self.link_ids.is_upward;
        let (senders, receivers) = (NodeId(nodes), if is_beside { MN } else { NodeId(nodes + 1) });
        let (server, device) = if is_upward { (receivers, senders) } else { (senders, receivers) };
        let hops = self.experiment.fixed_hops();
        let (wired, last) = (|| line(hops.wired, WIRED_DELAY), || line(hops.last, 0));
        let net = &mut self.sim.net;
        let core = Duplex { down: net.add_link(R, wired()), up: net.add_link(server, wired()) };
        let last = [OLD, NEW]
            .map(|i| Duplex { down: net.add_link(device, last()), up: net.add_link(WIR[i], last()) });
        let pair = Pair { senders, receivers, core, last, is_upward, is_beside };

        let stack = stack.seeded(*seed);
        let (mut sending, mut receiving) = (Vec::new(), Vec::new());
        for id in first..first + count as u16 {
            let at = Nanos::from(self.random.below(STARTS as u32));
            let phase = Nanos::from(self.random.below(PHASES));
            let timer = net.add_timer(senders);
            let mut flow = sending_flow(id, &stack, phase, at, timer, self.plain.clone());
            match opens {
                true => net.arm(timer, at),
                false => flow.opens = None,
            }
            sending.push(flow);
        }
        let first_link = reported_at_start(self.experiment);
        for id in first..first + count as u16 {
            let timer = net.add_timer(receivers);
            receiving.push(receiving_flow(id, &stack, timer, first_link));
        }
        let (out, back) = if is_upward { (last[OLD].up, core.down) } else { (core.down, last[OLD].up) };
        let host = Correspondent {
            first: (first, sending[0].timer.0),
            flows: sending,
            out,
            sharing: (0, false),
            wheel: Wheel::default(),
            group: None,
            claim: None,
        };
        let receiver = Mobile::new((first, receiving[0].timer.0), receiving, back);
        // The senders take the first place.
        self.sim.nodes.push(BenchNode::Router(Default::default()));
        match &mut self.sim.nodes[usize::from(MN.0)] {
            BenchNode::Mobile(mn) if is_beside => mn.beside = Some(Box::new(receiver)),
            _ => self.sim.nodes.push(BenchNode::Mobile(receiver)),
        }
        (pair, host)
    }

    /// The applications at these senders, each at its start.
    fn applications(&mut self, pair: Pair, senders: Correspondent) -> Applications {
        let Experiment { seed, stack, traffic, .. } = self.experiment;
        let applications = traffic.as_ref().map_or(&[][..], |traffic| &traffic.applications);
        let sources = applications.iter().map(|&application| {
            let at = Nanos::from(self.random.below(STARTS as u32));
            let user = pages().users(*seed).ok().and_then(|mut users| users.pop());
            Source::new(application, stack.mss, at, user)
        });
        let sources: Vec<Source> = sources.collect();
        let timer = self.sim.net.add_timer(pair.senders);
        if let Some(first) = sources.iter().filter_map(Source::due).min() {
            self.sim.net.arm(timer, first);
        }
        Applications::new(senders, sources, timer)
    }
}

/// Routes of all hosts before the handoff. `flows`: the bench's own, uploads beside them, applications.
fn route<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, flows: [usize; 3], neighbours: bool) {
    let [own, uploads, applications] = flows;
    let by_flow = |of: fn(&Pair) -> LinkId, beyond: Option<LinkId>| {
        let mut outs = vec![of(&own_pair(link_ids)); own];
        if let Some(pair) = &link_ids.further[0] {
            outs.extend(vec![of(pair); uploads]);
        }
        if let Some(pair) = &link_ids.further[1] {
            outs.extend(vec![of(pair); applications]);
        }
        outs.extend(beyond);
        Route::ByFlow(outs)
    };
    let turned = |duplex| physical(duplex, link_ids.is_upward);
    let (edge, access) = (link_ids.edge.map(turned), link_ids.access.map(turned));
    if let BenchNode::Router(r) = &mut sim.nodes[usize::from(R.0)] {
        for link in [OLD, NEW] {
            r.route(edge[link].up, by_flow(|pair| pair.core.up, None));
        }
        for pair in pairs(link_ids) {
            r.route(pair.core.down, Route::To(edge[OLD].down));
        }
    }
    let last: [fn(&Pair) -> LinkId; 2] = [|pair| pair.last[OLD].down, |pair| pair.last[NEW].down];
    for (link, last) in [OLD, NEW].into_iter().zip(last) {
        if let BenchNode::Router(wir) = &mut sim.nodes[usize::from(WIR[link].0)] {
            // Neighbours have the numbers behind.
            let theirs = wir.out(access[link].down, u16::MAX).filter(|_| neighbours);
            wir.route(access[link].down, by_flow(last, theirs));
            for pair in pairs(link_ids) {
                wir.route(pair.last[link].up, Route::To(access[link].up));
            }
        }
    }
}

/// The watch of the user's traffic from T on, if it is measured; the network is at T.
pub(crate) fn watch<W: HostObserver>(
    experiment: &Experiment,
    link_ids: &LinkIds,
    at: Nanos,
    sim: &mut BenchSim<W>,
) -> Option<Box<TrafficWatch>> {
    let traffic = experiment.traffic.as_ref()?;
    let mut flows = Vec::new();
    for pair in pairs(link_ids) {
        let items: Vec<_> = match &sim.nodes[usize::from(pair.senders.0)] {
            BenchNode::Applications(host) => host.items().cloned().collect(),
            _ => Vec::new(),
        };
        let application = |index: usize| (!items.is_empty()).then(|| traffic.applications[index]);
        let BenchNode::Mobile(host) = &sim.nodes[usize::from(pair.receivers.0)] else { continue };
        let receivers = if pair.is_beside { host.beside.as_deref() } else { Some(host) };
        let Some(receivers) = receivers else { continue };
        let senders = match &sim.nodes[usize::from(pair.senders.0)] {
            BenchNode::Correspondent(host) => &host.flows,
            BenchNode::Applications(host) => &host.senders.flows,
            _ => continue,
        };
        for (index, (sending, receiving)) in senders.iter().zip(&receivers.flows).enumerate() {
            let next = receiving.receiver.rcv_nxt();
            let beyond = (next..sending.sender.snd_max()).filter(|&seq| receiving.receiver.has(seq));
            let bulk = if pair.is_upward { Class::Upload } else { Class::Download };
            let missing =
                |items: &VecDeque<_>| items.iter().filter(|item: &&Item| item.end > next).copied().collect();
            flows.push(Watched {
                class: application(index).map_or(bulk, Application::class),
                first_copy: sending.sender.counters().transmissions,
                next,
                beyond: beyond.collect(),
                items: items.get(index).map(missing).unwrap_or_default(),
                shown_after: application(index).and_then(|application| shown_after(experiment, application)),
            });
        }
    }
    let completion = at + experiment.kind.disconnection();
    Some(Box::new(TrafficWatch::new(at, completion, flows.into_iter())))
}

/// A frame is shown so long after it was made: as the slower of both links takes to bring it, with nothing else on it.
fn shown_after(experiment: &Experiment, application: Application) -> Option<Nanos> {
    let Application::Video { .. } = application else { return None };
    let mss = u64::from(experiment.stack.mss);
    let packets = frame_bytes(application).div_ceil(mss).max(1);
    let bytes = experiment.stack.data_bytes();
    let wired = 2 * (Rate::new(experiment.fixed_hops().wired).time(bytes) + WIRED_DELAY);
    let over = |link: &AccessLink| packets * Rate::new(link.down.mean_rate()).time(bytes) + link.delay.min();
    Some(wired + over(&experiment.old).max(over(&experiment.new)))
}

/// The uploads beside downloads end at these packets.
pub(crate) fn end_uploads<W>(sim: &mut BenchSim<W>, link_ids: &LinkIds, targets: &[u32]) {
    let Some(pair) = &link_ids.further[0] else { return };
    let BenchNode::Correspondent(host) = &sim.nodes[usize::from(pair.senders.0)] else { return };
    if let Some(traffic) = &mut sim.net.observer.traffic {
        for (flow, &target) in host.flows.iter().zip(targets) {
            traffic.ends_at(flow.id, target);
        }
    }
}

/// Where the uploads beside downloads stand: one beyond the highest packet sent, or the first unacknowledged one.
pub(crate) fn uploads_at<W>(sim: &BenchSim<W>, link_ids: &LinkIds, highest: bool) -> Vec<u32> {
    let host = link_ids.further[0].map(|pair| &sim.nodes[usize::from(pair.senders.0)]);
    let Some(BenchNode::Correspondent(host)) = host else { return Vec::new() };
    let stands = |sender: &AnySender<LoggedScheme>| if highest { sender.snd_max() } else { sender.snd_una() };
    host.flows.iter().map(|flow| stands(&flow.sender)).collect()
}
