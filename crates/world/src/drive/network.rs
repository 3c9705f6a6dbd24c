//! The testbed of Wu, Chan and Ananda (algorithms.md 4.8) as a network:
//!
//! ```text
//! server --+                                                     +-- access link -- MN
//! cross  --+-- 100 Mbit/s -- R ==== wide area, queue ==== AR ----+-- 100 Mbit/s -- cross sink
//! web    --+                                                     +-- 100 Mbit/s -- web clients
//! ```

use super::experiment::DriveExperiment;
use super::hosts::{WebClients, WebServer};
pub use super::link_ids::LinkIds;
use super::record::DriveObserver;
use crate::access_router::{AccessRouter, Held};
use crate::bench::line;
use crate::clock_phase;
use crate::nodes::{
    BenchNode, Correspondent, HostObserver, Mobile, Route, Router, Wheel, receiving_flow, sending_flow,
};
use crate::packet::Packet;
use segue_handoff::regular::Regular;
use segue_handoff::{Holder, Link, RouterRule, Scheme};
use segue_netsim::{LinkId, Nanos, Net, Node, NodeId, PacketId, Sim, TimerId};

/// Local hops: the switch that all computers of the testbed are connected to.
const LOCAL_RATE: u64 = 100_000_000;
/// One way.
const LOCAL_DELAY: Nanos = 50_000;

/// Any node of a drive.
#[derive(Clone, Debug)]
pub enum DriveNode {
    /// Bulk senders, a router, or bulk receivers: the mobile node, and the sink of the cross traffic.
    Bench(BenchNode),
    /// The web server.
    WebServer(WebServer),
    /// Its clients.
    WebClients(WebClients),
}

impl<O: HostObserver> Node<Packet, O> for DriveNode {
    #[inline]
    fn on_packet(&mut self, net: &mut Net<Packet, O>, link: LinkId, id: PacketId) {
        match self {
            Self::Bench(node) => node.on_packet(net, link, id),
            Self::WebServer(host) => host.on_ack(net, id),
            Self::WebClients(host) => host.on_data(net, id),
        }
    }

    #[inline]
    fn on_timer(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        match self {
            Self::Bench(node) => node.on_timer(net, timer),
            Self::WebServer(host) => host.on_timer(net, timer),
            Self::WebClients(host) => host.on_timer(net, timer),
        }
    }
}

/// The network of a drive.
pub type DriveSim = Sim<DriveNode, Packet, DriveObserver>;

/// The senders to the mobile.
pub const SERVER: NodeId = NodeId(0);
pub(super) const CROSS: NodeId = NodeId(1);
pub(super) const WEB: NodeId = NodeId(2);
const R: NodeId = NodeId(3);
pub(super) const AR: NodeId = NodeId(4);
/// The mobile node.
pub const MN: NodeId = NodeId(5);
/// The receivers of the cross traffic.
pub const SINK: NodeId = NodeId(6);
const CLIENTS: NodeId = NodeId(7);

/// Bulk flows of one pair of hosts.
struct Bulk<'a> {
    experiment: &'a DriveExperiment,
    /// Number of the first flow, and how many.
    flows: (usize, usize),
    hosts: (NodeId, NodeId),
    scheme: &'a Scheme,
    first_link: Link,
}

impl Bulk<'_> {
    /// The sending and the receiving host.
    fn hosts(
        &self,
        net: &mut Net<Packet, DriveObserver>,
        starts: &[clock_phase::Start],
        out: (LinkId, LinkId),
    ) -> (Correspondent, Mobile) {
        let stack = &self.experiment.stack.seeded(self.experiment.seed);
        let (first, count) = self.flows;
        let mut sending = Vec::new();
        for (id, start) in starts.iter().enumerate().skip(first).take(count) {
            let timer = net.add_timer(self.hosts.0);
            net.arm(timer, start.opens);
            sending.push(sending_flow(
                id as u16,
                stack,
                start.phase,
                start.opens,
                timer,
                self.scheme.clone(),
            ));
        }
        let receiving = (first..first + count)
            .map(|id| receiving_flow(id as u16, stack, net.add_timer(self.hosts.1), self.first_link));
        let receiving: Vec<_> = receiving.collect();
        let timer = |timer: Option<TimerId>| (first as u16, timer.map_or(0, |timer| timer.0));
        let sender = Correspondent {
            first: timer(sending.first().map(|flow| flow.timer)),
            flows: sending,
            out: out.0,
            sharing: (count as u32, true),
            wheel: Wheel::default(),
            group: None,
            claim: None,
        };
        let receiver = Mobile::new(timer(receiving.first().map(|flow| flow.timer)), receiving, out.1);
        (sender, receiver)
    }
}

/// Builds the network at time zero, the mobile in its first cell.
pub(super) fn build(experiment: &DriveExperiment, scheme: &Scheme) -> (DriveSim, LinkIds) {
    let mut net = Net::new(DriveObserver::default());
    let first = &experiment.drive.stays[0];
    let wan = || line(experiment.wan.rate, experiment.wan.delay).drop_tail(experiment.wan.queue);
    let local = || line(LOCAL_RATE, LOCAL_DELAY);
    let hosts = [SERVER, CROSS, WEB];
    let from_host = hosts.map(|_| net.add_link(R, local()));
    let to_host = hosts.map(|host| net.add_link(host, local()));
    let (wan_down, wan_up) = (net.add_link(AR, wan()), net.add_link(R, wan()));
    let access_down = net.add_link(MN, first.link.down_config(experiment.link_seed(0)));
    let access_up = net.add_link(AR, first.link.up_config(experiment.link_seed(0)));
    let to_sink = [SINK, CLIENTS].map(|host| net.add_link(host, local()));
    let from_sink = [SINK, CLIENTS].map(|_| net.add_link(AR, local()));
    let link_ids = LinkIds { access_down, access_up, wan_down };
    net.observer.watch(link_ids);

    // The engine numbers timers; a host's must be in a row, so each pair of hosts is built at once.
    let (flows, cross) = (experiment.flows, experiment.cross);
    let starts = clock_phase::starts(flows + cross, experiment.seed, clock_phase::APART);
    let first_link = experiment.reported_link(0, 0);
    let mine = Bulk { experiment, flows: (0, flows), hosts: (SERVER, MN), scheme, first_link };
    let (server, mobile) = mine.hosts(&mut net, &starts, (from_host[0], access_up));
    let plain = Scheme::Regular(Regular);
    let theirs = Bulk { flows: (flows, cross), hosts: (CROSS, SINK), scheme: &plain, ..mine };
    let (cross_host, sink) = theirs.hosts(&mut net, &starts, (from_host[1], from_sink[0]));

    let mut nodes = vec![
        DriveNode::Bench(BenchNode::Correspondent(server)),
        DriveNode::Bench(BenchNode::Correspondent(cross_host)),
    ];
    let mut web_clients = DriveNode::Bench(BenchNode::Router(Router::default()));
    nodes.push(DriveNode::Bench(BenchNode::Router(Router::default())));
    let users = experiment.web.as_ref().and_then(|surge| surge.users(experiment.seed).ok());
    if let Some(users) = users {
        let timers: Vec<TimerId> = users.iter().map(|_| net.add_timer(WEB)).collect();
        let clients = users.iter().map(|_| net.add_timer(CLIENTS)).collect();
        let first = (flows + cross) as u16;
        let server = WebServer::new(users, &timers, experiment.stack, from_host[2], first);
        let openings: Vec<_> = server.openings().collect();
        openings.into_iter().for_each(|(timer, at)| net.arm(timer, at));
        let (stack, out) = (experiment.stack, from_sink[1]);
        web_clients = DriveNode::WebClients(WebClients::new(stack, out, server.numbers(), clients));
        nodes[usize::from(WEB.0)] = DriveNode::WebServer(server);
    }

    // By flow: the mobile's, the cross traffic's, and beyond the web's.
    let by_flow = |of: [LinkId; 3]| {
        let mut outs = vec![of[0]; flows];
        outs.extend(vec![of[1]; cross]);
        outs.push(of[2]);
        Route::ByFlow(outs)
    };
    let mut r = Router::default();
    from_host.into_iter().for_each(|link| r.route(link, Route::To(wan_down)));
    r.route(wan_up, by_flow(to_host));
    let mut ar = Router::default();
    ar.route(wan_down, by_flow([access_down, to_sink[0], to_sink[1]]));
    [access_up, from_sink[0], from_sink[1]].into_iter().for_each(|link| ar.route(link, Route::To(wan_up)));
    let ar = match experiment.routers.rule_for(scheme, experiment.notice) {
        Some(rule) => BenchNode::AccessRouter(holding(&mut net, experiment, rule, ar, link_ids)),
        None => BenchNode::Router(ar),
    };
    nodes.extend([DriveNode::Bench(BenchNode::Router(r)), DriveNode::Bench(ar)]);
    nodes.extend([
        DriveNode::Bench(BenchNode::Mobile(mobile)),
        DriveNode::Bench(BenchNode::Mobile(sink)),
        web_clients,
    ]);
    (Sim { net, nodes }, link_ids)
}

/// The access router with a buffer for the mobile. It stands for the routers of all cells. Packets that one forwards to
/// the next go through a tunnel that leads back to it, and so do requests.
fn holding(
    net: &mut Net<Packet, DriveObserver>,
    experiment: &DriveExperiment,
    rule: RouterRule,
    mut routes: Router,
    link_ids: LinkIds,
) -> AccessRouter {
    let link = link_ids.access_down;
    let buffer = experiment.routers.buffer(rule);
    match rule.holder {
        Holder::Previous => {
            let tunnel = || line(experiment.routers.tunnel.rate, experiment.routers.tunnel.delay);
            let (to_new, to_previous) = (net.add_link(AR, tunnel()), net.add_link(AR, tunnel()));
            routes.route(to_new, Route::To(link));
            let held = Held::new(link, buffer, to_new, to_previous);
            AccessRouter::holding(AR, routes, held).asking(to_previous)
        }
        Holder::New => {
            let held = Held::until_attached(link, buffer, link_ids.access_up, net.add_timer(AR));
            AccessRouter::holding(AR, routes, held)
        }
    }
}
