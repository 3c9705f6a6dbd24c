//! Access routers with buffers and a tunnel between them, put into the bench ([`crate::router_settings`]).

use crate::access_router::{AccessRouter, Held};
use crate::bench::traffic::physical;
use crate::bench::{AR, Duplex, Experiment, LinkIds, NEW, OLD, line};
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route};
use crate::observer::Observer;
use crate::packet::Packet;
use crate::router_settings::Routers;
use crate::words::Kind;
use segue_handoff::{Holder, RouterRule, Scheme};
use segue_netsim::{Nanos, Net, NodeId, PacketId};

/// The rule of the bench's routers for `scheme`: a handoff without a break leaves them nothing to hold.
pub(crate) fn rule(experiment: &Experiment, scheme: &Scheme) -> Option<RouterRule> {
    match experiment.kind {
        Kind::Bbm(_) => experiment.routers.rule_for(scheme, experiment.notice),
        Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => None,
    }
}

/// The router that is to hold packets does so from now on, or at link-down.
///
/// Before the first handoff both routers get a buffer, and a tunnel between them. That is done to a fork, not to every
/// bench: a network without buffers stays what it is. Before later ones the two exchange their parts.
pub(crate) fn equip<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &mut LinkIds,
    routers: &Routers,
    rule: RouterRule,
) {
    let tunnel = link_ids.tunnel.unwrap_or_else(|| lay(sim, link_ids, routers, rule));
    link_ids.tunnel = Some(tunnel);
    let [access, edge] = ways_to_mobile(link_ids);
    with_router(sim, link_ids.routers[NEW], |router, _| {
        router.routes().route(edge[NEW].down, Route::To(access[NEW].down));
        router.hold();
    });
    // The new router knows at once that the mobile is not there yet; the previous one learns it at link-down.
    if rule.holder == Holder::New {
        with_router(sim, link_ids.routers[OLD], |router, net| {
            router.routes().route(edge[OLD].down, Route::To(tunnel.down));
            router.hand_on(net, tunnel.down);
        });
    }
}

/// Access links and those before them, by the way to the mobile: that of data, or of ACKs of what it sends.
fn ways_to_mobile(link_ids: &LinkIds) -> [[Duplex; 2]; 2] {
    [link_ids.access, link_ids.edge].map(|hop| hop.map(|duplex| physical(duplex, link_ids.is_upward)))
}

/// Lays the tunnel, from the old router to the new one and back, and gives both a buffer.
fn lay<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    routers: &Routers,
    rule: RouterRule,
) -> Duplex {
    let tunnel = || line(routers.tunnel.rate, routers.tunnel.delay);
    let down = sim.net.add_link(link_ids.routers[NEW], tunnel());
    let up = sim.net.add_link(link_ids.routers[OLD], tunnel());
    let [access, _] = ways_to_mobile(link_ids);
    for (side, [out, back]) in [(OLD, [down, up]), (NEW, [up, down])] {
        let id = link_ids.routers[side];
        let (link, buffer) = (access[side], routers.buffer(rule));
        let held = match rule.holder {
            Holder::Previous => Held::new(link.down, buffer, out, back),
            Holder::New => Held::until_attached(link.down, buffer, link.up, sim.net.add_timer(id)),
        };
        let BenchNode::Router(router) = &mut sim.nodes[usize::from(id.0)] else { continue };
        let mut router = std::mem::take(router);
        router.route(back, Route::To(link.down));
        sim.nodes[usize::from(id.0)] =
            BenchNode::AccessRouter(AccessRouter::holding(id, router, held).asking(out));
    }
    Duplex { down, up }
}

/// The old link is down.
pub(crate) fn link_down<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, rule: RouterRule) {
    if rule.holder == Holder::Previous {
        with_router(sim, link_ids.routers[OLD], |router, net| router.link_down(net));
    }
}

/// The new link is up. A new router that holds packets waits for the mobile to ask.
pub(crate) fn link_up<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, rule: RouterRule) {
    if rule.holder == Holder::Previous {
        with_router(sim, link_ids.routers[NEW], |router, _| router.link_up());
    }
}

/// Packets that routers hold.
pub(crate) fn held<W>(sim: &BenchSim<W>) -> impl Iterator<Item = PacketId> {
    AR.into_iter()
        .flat_map(|id| match &sim.nodes[usize::from(id.0)] {
            BenchNode::AccessRouter(router) => Some(router.holds()),
            _ => None,
        })
        .flatten()
}

fn with_router<W: HostObserver>(
    sim: &mut BenchSim<W>,
    id: NodeId,
    act: impl FnOnce(&mut AccessRouter, &mut Net<Packet, Observer<W>>),
) {
    sim.with_node(id, |node, net| {
        let BenchNode::AccessRouter(router) = node else { return };
        act(router, net);
    });
}

/// From completion until the first packet that a router held can be at the new link. It is the request's way, and the
/// way over the tunnel, propagation alone. The new router may still have some of an earlier handoff.
pub(crate) fn first_held<W>(
    sim: &BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
    rule: RouterRule,
) -> Nanos {
    let access = experiment.new.up_delay().min();
    let new_holds = match &sim.nodes[usize::from(link_ids.routers[NEW].0)] {
        BenchNode::AccessRouter(router) => router.holds().next().is_some(),
        _ => false,
    };
    match rule.holder {
        Holder::Previous if !new_holds => access + 2 * experiment.routers.tunnel.delay,
        Holder::Previous | Holder::New => access,
    }
}
