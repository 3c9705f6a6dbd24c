//! Users who share the access links (docs/reference/bench.md): each link has other mobiles, which stay where they are.
//!
//! ```text
//! server_i --wired, 4 ms-- AR_i --access link i-- Wir_i --last hop-- other mobiles      i: old, new
//! ```
//!
//! Their servers have lines of their own, so that nothing but the access link is shared. Hosts are those of the bench.

use super::{AR, Experiment, LinkIds, NEW, OLD, WIR, WIRED_DELAY, line, traffic};
use crate::neighbours::{Neighbours, STARTS};
use crate::nodes::{
    BenchNode, BenchSim, Correspondent, HostObserver, Mobile, Route, Wheel, receiving_flow, sending_flow,
};
use crate::random::{Random, Stream};
use segue_handoff::{Link, Scheme};
use segue_netsim::{LinkId, Nanos, NodeId};

/// Clock phases are within ns-2's tick, as those of the mobile's flows.
const PHASES: u32 = 10_000_000;
/// Nodes of a bench without neighbours.
const PLAIN: usize = 7;

/// The computer that stands for the neighbours of link `link`.
fn receivers(link: usize) -> NodeId {
    NodeId((PLAIN + 2 * link + 1) as u16)
}

/// Whether there are any.
pub(crate) fn any<W>(sim: &BenchSim<W>) -> bool {
    sim.nodes.len() > PLAIN
}

/// Packets that each neighbour on the new link has received so far.
pub(crate) fn received<W>(sim: &BenchSim<W>) -> Vec<u64> {
    let packets = |flow: &crate::nodes::ReceivingFlow| u64::from(flow.receiver.received());
    match sim.nodes.get(usize::from(receivers(NEW).0)) {
        Some(BenchNode::Mobile(host)) => host.flows.iter().map(packets).collect(),
        _ => Vec::new(),
    }
}

/// The same since they had received so many.
pub(crate) fn received_since<W>(sim: &BenchSim<W>, before: &[u64]) -> Vec<u64> {
    received(sim).iter().zip(before).map(|(now, before)| now - before).collect()
}

/// Puts them on both links of a bench at time zero.
pub(crate) fn join<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
    neighbours: &Neighbours,
    plain: &Scheme,
) {
    let mut random = Random::new(experiment.seed, Stream::Neighbours);
    for link in [OLD, NEW] {
        join_link(sim, link_ids, experiment, neighbours, plain, link, &mut random);
    }
}

fn join_link<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
    neighbours: &Neighbours,
    plain: &Scheme,
    link: usize,
    random: &mut Random,
) {
    let (server, phones) = (NodeId((PLAIN + 2 * link) as u16), receivers(link));
    let hops = experiment.fixed_hops();
    let net = &mut sim.net;
    let (wired, last) = (|| line(hops.wired, 2 * WIRED_DELAY), || line(hops.last, 0));
    let (to_router, to_server) = (net.add_link(AR[link], wired()), net.add_link(server, wired()));
    let (to_phones, from_phones) = (net.add_link(phones, last()), net.add_link(WIR[link], last()));

    let stack = neighbours.stack.seeded(experiment.seed);
    let own_flows: usize = traffic::of_mobile(experiment).iter().sum();
    let first = (own_flows + link * usize::from(neighbours.count)) as u16;
    let (mut sending, mut receiving) = (Vec::new(), Vec::new());
    for id in first..first + neighbours.count {
        let opens = Nanos::from(random.below(STARTS as u32));
        let phase = Nanos::from(random.below(PHASES));
        let timer = net.add_timer(server);
        net.arm(timer, opens);
        sending.push(sending_flow(id, &stack, phase, opens, timer, plain.clone()));
    }
    for id in first..first + neighbours.count {
        let timer = net.add_timer(phones);
        let mut flow = receiving_flow(id, &stack, timer, Link::default());
        flow.first_report = None;
        receiving.push(flow);
    }
    sim.nodes.push(BenchNode::Correspondent(Correspondent {
        first: (first, sending[0].timer.0),
        flows: sending,
        out: to_router,
        sharing: (0, false),
        wheel: Wheel::default(),
        group: None,
        claim: None,
    }));
    let first_timer = receiving[0].timer.0;
    sim.nodes.push(BenchNode::Mobile(Mobile::new((first, first_timer), receiving, from_phones)));

    // Packets of the mobile go where they went.
    let by_flow = |own: LinkId, theirs: LinkId| {
        let mut outs = vec![own; own_flows];
        outs.push(theirs);
        Route::ByFlow(outs)
    };
    // Neighbours download, whatever the mobile does.
    let of_mobile = |duplex| traffic::physical(duplex, link_ids.is_upward);
    let access = of_mobile(link_ids.access[link]);
    if let BenchNode::Router(ar) = &mut sim.nodes[usize::from(AR[link].0)] {
        ar.route(access.up, by_flow(of_mobile(link_ids.edge[link]).up, to_server));
        ar.route(to_router, Route::To(access.down));
    }
    if let BenchNode::Router(wir) = &mut sim.nodes[usize::from(WIR[link].0)] {
        wir.route(access.down, by_flow(of_mobile(link_ids.last[link]).down, to_phones));
        wir.route(from_phones, Route::To(access.up));
    }
}
