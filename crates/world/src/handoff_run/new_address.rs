//! A handoff to another address: connections end with the old one, and the mobile opens others over the new link
//! (docs/reference/bench.md).
//!
//! Packets of the connections that have ended go the old way, as their address says, and are discarded at its end.

use crate::bench::traffic::{hand_over, own_pair};
use crate::bench::{CN, Experiment, LinkIds, MN, NEW, OLD, R};
use crate::clock_phase;
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route};
use segue_netsim::SECOND;
use std::collections::BTreeSet;

/// The flow of packets whose connection has ended.
const ENDED: u16 = u16::MAX;

/// Renumbers `targets` for connections that bring what the receivers have not got in order. `has`: the packet that each
/// expects. The SYN is packet 0.
pub(super) fn renumber(targets: &mut [u32], has: &[u32]) {
    for (target, &has) in targets.iter_mut().zip(has) {
        *target = target.saturating_sub(has.max(1)) + 1;
    }
}

/// The mobile has its new address.
pub(super) fn take<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, experiment: &Experiment) {
    let doomed = sim.net.doomed().map(|id| &sim.net.packets[id]).filter(|packet| packet.data);
    let doomed: BTreeSet<_> = doomed.map(|packet| (packet.flow, packet.copy)).collect();
    sim.net.observer.begin_anew(&doomed);
    for id in sim.net.on_links().collect::<Vec<_>>() {
        sim.net.packets[id].flow = ENDED;
    }

    hand_over(sim, link_ids, &own_pair(link_ids));
    if let BenchNode::Router(r) = &mut sim.nodes[usize::from(R.0)] {
        let mut outs = vec![link_ids.edge[NEW].down; experiment.flows];
        outs.push(link_ids.edge[OLD].down); // of those that have ended
        r.route(link_ids.core.down, Route::ByFlow(outs));
    }

    let now = sim.net.now();
    let stack = experiment.stack.seeded(experiment.seed);
    let starts = clock_phase::starts(experiment.flows, experiment.seed, experiment.starts);
    if let BenchNode::Correspondent(cn) = &mut sim.nodes[usize::from(CN.0)] {
        cn.begin_anew(&stack, starts.iter().map(|start| start.phase));
    }
    let link = experiment.new.reported(experiment.link_seed(NEW), now, now + SECOND, now);
    sim.with_node(MN, |node, net| {
        if let BenchNode::Mobile(mn) = node {
            mn.begin_anew(net, &stack, link);
        }
    });
}
