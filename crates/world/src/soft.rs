//! Soft handoffs, put into the bench: the router R and the mobile's device become the two ends of both links
//! ([`crate::two_ways`]).

use crate::bench::traffic::physical;
use crate::bench::{Experiment, LinkIds, NEW, OLD, R, WIR};
use crate::nodes::{BenchNode, BenchSim, HostObserver, Router};
use crate::two_ways::{TwoWays, Ways};
use crate::words::Overlap;

/// Both links carry from now on; routes lead over the new one.
pub(crate) fn open<W: HostObserver>(
    sim: &mut BenchSim<W>,
    link_ids: &LinkIds,
    experiment: &Experiment,
    overlap: Overlap,
) {
    let (until, way) = (sim.net.now() + overlap.length, overlap.way);
    let turned = |duplex| physical(duplex, link_ids.is_upward);
    let (edge, air) = (link_ids.edge.map(turned), link_ids.access.map(turned));
    let links = [&experiment.old, &experiment.new];
    let end = |router, ways| BenchNode::TwoWays(Box::new(TwoWays::new(router, ways)));
    let router_of = |node: &BenchNode| match node {
        BenchNode::Router(router) => router.clone(),
        _ => Router::default(),
    };

    let network = router_of(&sim.nodes[usize::from(R.0)]);
    let (leaving, coming) = (edge.map(|duplex| duplex.down), edge.map(|duplex| duplex.up));
    let rates = links.map(|link| link.down.mean_rate());
    sim.nodes[usize::from(R.0)] = end(network, Ways { leaving, coming, rates, until, way });

    // The mobile has one device for both links.
    let [old, mut device] = WIR.map(|id| router_of(&sim.nodes[usize::from(id.0)]));
    device.adopt(&old);
    sim.net.lead(air[OLD].down, WIR[NEW]);
    let (leaving, coming) = (air.map(|duplex| duplex.up), air.map(|duplex| duplex.down));
    let rates = links.map(|link| link.up.mean_rate());
    sim.nodes[usize::from(WIR[NEW].0)] = end(device, Ways { leaving, coming, rates, until, way });
}
