//! Access routers with buffers and a tunnel between them, put into the bench ([`crate::router_settings`]).

use crate::access_router::{AccessRouter, Held};
use crate::bench::traffic::physical;
use crate::bench::{AR, Duplex, Experiment, LinkIds, NEW, OLD, line};
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route, Router};
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

/// Puts a buffer into the router of a bench that holds packets, and a tunnel between the two.
///
/// That is done to a fork, not to every bench: a network without buffers stays what it is.
pub(crate) fn equip<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &mut LinkIds,
    routers: &Routers,
    rule: RouterRule,
) {
    let tunnel = || line(routers.tunnel.rate, routers.tunnel.delay);
    let down = sim.net.add_link(AR[NEW], tunnel());
    let up = sim.net.add_link(AR[OLD], tunnel());
    link_ids.tunnel = Some(Duplex { down, up });
    let take = |sim: &mut BenchSim<W>, id: NodeId| match &mut sim.nodes[usize::from(id.0)] {
        BenchNode::Router(router) => std::mem::take(router),
        _ => Router::default(),
    };
    let [previous, mut new] = AR.map(|id| take(sim, id));
    let holder = match rule.holder {
        Holder::Previous => OLD,
        Holder::New => NEW,
    };
    // Data for the mobile, or ACKs of what it sends.
    let [access, edge] =
        [link_ids.access, link_ids.edge].map(|hop| hop.map(|duplex| physical(duplex, link_ids.is_upward)));
    let link = access[holder].down;
    new.route(down, Route::To(access[NEW].down));
    let nodes = match rule.holder {
        Holder::Previous => {
            let held = Held::new(link, routers.buffer(rule), down, up);
            [AccessRouter::holding(AR[OLD], previous, held), AccessRouter::passing(AR[NEW], new, up)]
        }
        Holder::New => {
            let timer = sim.net.add_timer(AR[NEW]);
            let held = Held::until_attached(link, routers.buffer(rule), access[NEW].up, timer);
            [AccessRouter::passing(AR[OLD], previous, down), AccessRouter::holding(AR[NEW], new, held)]
        }
    };
    for (id, node) in AR.into_iter().zip(nodes) {
        sim.nodes[usize::from(id.0)] = BenchNode::AccessRouter(node);
    }
    // The new router knows at once that the mobile is not there yet; the previous one learns it at link-down.
    if rule.holder == Holder::New {
        with_router(sim, NEW, |router, net| router.link_down(net));
        with_router(sim, OLD, |router, _| {
            router.routes().route(edge[OLD].down, Route::To(down));
        });
    }
}

/// The old link is down.
pub(crate) fn link_down<W: HostObserver>(sim: &mut BenchSim<W>, rule: RouterRule) {
    if rule.holder == Holder::Previous {
        with_router(sim, OLD, |router, net| router.link_down(net));
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
    which: usize,
    act: impl FnOnce(&mut AccessRouter, &mut Net<Packet, Observer<W>>),
) {
    sim.with_node(AR[which], |node, net| {
        let BenchNode::AccessRouter(router) = node else { return };
        act(router, net);
    });
}

/// From completion until the first packet that a router held can be at the new link: the request's way, and the way
/// over the tunnel, propagation alone.
pub(crate) fn first_held(experiment: &Experiment, rule: RouterRule) -> Nanos {
    let access = experiment.new.up_delay().min();
    match rule.holder {
        Holder::Previous => access + 2 * experiment.routers.tunnel.delay,
        Holder::New => access,
    }
}
