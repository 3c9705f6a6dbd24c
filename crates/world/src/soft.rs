//! Soft handoffs, put into the bench: the router R and the mobile's device become the two ends of both links
//! ([`crate::two_ways`]).

use crate::bench::traffic::{self, physical};
use crate::bench::{Experiment, LinkIds, NEW, OLD, R, WIR};
use crate::nodes::{BenchNode, BenchSim, HostObserver, Router};
use crate::two_ways::{TwoWays, Ways};
use crate::words::Overlap;
use segue_netsim::NodeId;

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
    let network = &mut sim.nodes[usize::from(R.0)];
    let (leaving, coming) = (edge.map(|duplex| duplex.down), edge.map(|duplex| duplex.up));
    let rates = links.map(|link| link.down.mean_rate());
    *network = end(network, Ways { leaving, coming, rates, until, way });

    // The mobile has one device for both links: that of the first new one.
    let has_both = |id: &NodeId| matches!(sim.nodes[usize::from(id.0)], BenchNode::TwoWays(_));
    let device = match WIR.into_iter().find(has_both) {
        Some(device) => device,
        None => {
            let old = router_of(&sim.nodes[usize::from(WIR[OLD].0)]);
            if let Some(router) = sim.nodes[usize::from(WIR[NEW].0)].routes() {
                router.adopt(&old);
            }
            sim.net.lead(air[OLD].down, WIR[NEW]);
            WIR[NEW]
        }
    };
    traffic::outs(link_ids).for_each(|out| sim.net.lead(out, device));
    let (leaving, coming) = (air.map(|duplex| duplex.up), air.map(|duplex| duplex.down));
    let rates = links.map(|link| link.up.mean_rate());
    let device = &mut sim.nodes[usize::from(device.0)];
    *device = end(device, Ways { leaving, coming, rates, until, way });
}

fn router_of(node: &BenchNode) -> Router {
    match node {
        BenchNode::Router(router) => router.clone(),
        _ => Router::default(),
    }
}

/// One end of both links; one that has been there before knows what has come and gone.
fn end(node: &BenchNode, ways: Ways) -> BenchNode {
    let end = match node {
        BenchNode::TwoWays(end) => end.again(ways),
        router => TwoWays::new(router_of(router), ways),
    };
    BenchNode::TwoWays(Box::new(end))
}
