//! The classes by looking at the whole network between two events: what [`super::IdleTime`] must arrive at.

use super::Idle;
use crate::bench::neighbours;
use crate::bench::{LinkIds, NEW, correspondent, mobile};
use crate::nodes::{BenchSim, HostObserver};
use crate::record::LinkTime;
use crate::routers;
use segue_netsim::{LinkId, Nanos, PacketId};

/// Counts `[from, to)`, during which nothing changes, as far as the new link is idle then.
pub(super) fn account<W: HostObserver>(
    time: &mut LinkTime,
    sim: &BenchSim<W>,
    link_ids: &LinkIds,
    targets: &[u32],
    [from, to]: [Nanos; 2],
) {
    let busy_until = sim.net.link(link_ids.access[NEW].down).busy_until();
    let idle_from = from.max(busy_until);
    if idle_from < to {
        *match class(sim, link_ids, targets) {
            Idle::Path => &mut time.idle_path,
            Idle::Window => &mut time.idle_window,
            Idle::Timer => &mut time.idle_timer,
            Idle::Other => &mut time.idle_other,
        } += to - idle_from;
    }
}

fn class<W: HostObserver>(sim: &BenchSim<W>, link_ids: &LinkIds, targets: &[u32]) -> Idle {
    let carries = |link: LinkId| !sim.net.link(link).is_empty();
    if link_ids.lead_to().into_iter().any(carries)
        || routers::held(sim).next().is_some()
        || only_acks_awaited(sim, link_ids, targets)
    {
        return Idle::Path;
    }
    let window_limited = correspondent(sim).flows.iter().any(|flow| {
        flow.sender.is_established() && flow.sender.has_unsent_data() && !flow.sender.in_rto_recovery()
    });
    if window_limited {
        return Idle::Window;
    }
    let alive = if neighbours::any(sim) {
        let own = |id: &PacketId| sim.net.observer.is_own(sim.net.packets[*id].flow);
        sim.net.on_links().filter(own).count() - sim.net.doomed().filter(own).count()
    } else {
        sim.net.packets.len() - sim.net.doomed().count()
    };
    if alive == 0 { Idle::Timer } else { Idle::Other }
}

/// Whether every target packet is with the mobile or beyond the queues on its way to it.
fn only_acks_awaited<W: HostObserver>(sim: &BenchSim<W>, link_ids: &LinkIds, targets: &[u32]) -> bool {
    let ways = [link_ids.old_way(), vec![link_ids.access[NEW].down], link_ids.behind(NEW)].concat();
    let fates = ways.iter().flat_map(|&link| sim.net.link(link).fates());
    let coming = fates.filter(|&(id, arrives)| arrives && sim.net.packets[id].data);
    let coming: Vec<_> =
        coming.map(|(id, _)| (sim.net.packets[id].flow, sim.net.packets[id].segment.seq)).collect();
    correspondent(sim).flows.iter().zip(&mobile(sim).flows).zip(targets).all(
        |((sending, receiving), &target)| {
            sending.sender.snd_max() >= target
                && (sending.sender.snd_una()..target)
                    .all(|seq| receiving.receiver.has(seq) || coming.contains(&(sending.id, seq)))
        },
    )
}
