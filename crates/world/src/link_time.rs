//! Why the new link is idle: the classes of docs/reference/bench.md, "Where the time went".

use crate::bench::neighbours;
use crate::bench::{LinkIds, NEW, OLD, correspondent, mobile};
use crate::nodes::{BenchSim, HostObserver};
use crate::record::{LinkTime, Missed};
use crate::routers;
use segue_netsim::{LinkId, Nanos, PacketId};

/// Why an idle link is idle.
enum Idle {
    Path,
    Window,
    Timer,
    Other,
}

/// Counts `[from, to)`, during which nothing changes, as far as the new link is idle then.
pub(crate) fn account<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds, from: Nanos, to: Nanos) {
    let busy_until = sim.net.link(link_ids.access[NEW].down).busy_until();
    let idle_from = from.max(busy_until);
    if idle_from >= to {
        return;
    }
    let class = classify(sim, link_ids);
    let Some(recorder) = &mut sim.net.observer.recorder else { return };
    let time: &mut LinkTime = &mut recorder.link_time;
    let booked = match class {
        Idle::Path => &mut time.idle_path,
        Idle::Window => &mut time.idle_window,
        Idle::Timer => &mut time.idle_timer,
        Idle::Other => &mut time.idle_other,
    };
    *booked += to - idle_from;
}

fn carries<W: HostObserver>(sim: &BenchSim<W>, link: LinkId) -> bool {
    !sim.net.link(link).is_empty()
}

fn classify<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds) -> Idle {
    let tunnelled = link_ids.tunnel.is_some_and(|tunnel| carries(sim, tunnel.down))
        || routers::held(sim).next().is_some();
    if carries(sim, link_ids.core.down)
        || carries(sim, link_ids.edge[NEW].down)
        || tunnelled
        || only_acks_awaited(sim, link_ids)
    {
        return Idle::Path;
    }
    let window_limited = correspondent(sim).flows.iter().any(|flow| {
        flow.sender.is_established() && flow.sender.has_unsent_data() && !flow.sender.in_rto_recovery()
    });
    if window_limited {
        return Idle::Window;
    }
    // Nobody waits for what will not come out of its link.
    let alive = if neighbours::any(sim) {
        let own = |id: &PacketId| sim.net.observer.is_own(sim.net.packets[*id].flow);
        sim.net.on_links().filter(own).count() - sim.net.doomed().filter(own).count()
    } else {
        sim.net.packets.len() - sim.net.doomed().count()
    };
    if alive == 0 { Idle::Timer } else { Idle::Other }
}

/// Whether every target packet is with the mobile or beyond the queues on its way to it.
fn only_acks_awaited<W: HostObserver>(sim: &mut BenchSim<W>, link_ids: &LinkIds) -> bool {
    let (cn, mn) = (correspondent(sim), mobile(sim));
    let Some(recorder) = &sim.net.observer.recorder else { return false };
    // Not even sent.
    if cn.flows.iter().enumerate().any(|(id, flow)| flow.sender.snd_max() < recorder.target(id)) {
        return false;
    }
    let ways = [
        link_ids.edge[OLD].down,
        link_ids.access[OLD].down,
        link_ids.last[OLD].down,
        link_ids.access[NEW].down,
        link_ids.last[NEW].down,
    ]
    .map(|link| sim.net.link(link));
    let under_way = || {
        let coming = ways.iter().flat_map(|link| link.fates()).filter(|(_, arrives)| *arrives);
        coming.map(|(id, _)| (sim.net.packets[id].flow, sim.net.packets[id].segment.seq))
    };
    let is_missing = |flow: u16, seq: u32| !mn.flows[usize::from(flow)].receiver.has(seq);
    let transmissions = |flow: u16| cn.flows[usize::from(flow)].sender.counters().transmissions;
    // Thousands may be missing, and thousands under way: what was missed last time mostly still is, and for
    // certain while its flow sends nothing.
    let last = recorder.missed.filter(|last| {
        is_missing(last.flow, last.seq)
            && (last.transmissions == transmissions(last.flow)
                || !under_way().any(|packet| packet == (last.flow, last.seq)))
    });
    let first = || {
        let mut under_way: Vec<_> = under_way().collect();
        under_way.sort_unstable();
        let missing = cn.flows.iter().enumerate().rev().flat_map(|(id, flow)| {
            let seqs = (flow.sender.snd_una()..recorder.target(id)).rev();
            seqs.map(move |seq| (id as u16, seq)).filter(|&(flow, seq)| is_missing(flow, seq))
        });
        let mut missed = missing.filter(|packet| under_way.binary_search(packet).is_err());
        missed.next()
    };
    let missed = last.map(|last| (last.flow, last.seq)).or_else(first);
    let missed = missed.map(|(flow, seq)| Missed { flow, seq, transmissions: transmissions(flow) });
    if let Some(recorder) = &mut sim.net.observer.recorder {
        recorder.missed = missed;
    }
    missed.is_none()
}
