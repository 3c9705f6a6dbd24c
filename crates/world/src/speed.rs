//! The networks of the speed measurements: ours against ns-2's over the same hops, the bench with Linux's sender, and
//! Chou and Shin's two cells.

use crate::access::AccessLink;
use crate::bench::{self, Experiment, line};
use crate::drive::cells::{Capacity, Cells, CellsError};
use crate::nodes::{
    BenchNode, Correspondent, HostObserver, Mobile, Route, Router, Wheel, receiving_flow, sending_flow,
};
use crate::packet::Packet;
use crate::{LinkError, WarmRun, clock_phase};
use segue_handoff::{Link, Scheme, regular::Regular};
use segue_netsim::{Nanos, Net, Node, NodeId, SECOND, Sim};
use segue_tcp::StackProfile;
use segue_tcp::profile::{LINUX_6_12, LINUX_6_12_BBR, NS2_NEWRENO, NS2_SACK1};

/// One of the measurements in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One flow over one link of 5 Mbit/s, 50 ms, 50-packet queue.
    OneFlow,
    /// Ten flows over one link of 1 Gbit/s, 10 ms, 1667-packet queue.
    TenFlows,
    /// One flow over the bench's four hops with an access link of 80 Mbit/s, 10 ms.
    FourHops,
    /// The same with Linux's sender and receiver, cubic.
    LinuxCubic,
    /// The same with BBR.
    LinuxBbr,
    /// The four hops with a CoDel queue at the access link.
    Codel,
    /// The same with FQ-CoDel.
    FqCodel,
}

/// Simulates `seconds` of a case; returns the delivered packets (the sum of the cumulative ACKs).
pub fn run(case: Case, seconds: u64) -> Result<u64, LinkError> {
    let limit = seconds * SECOND;
    match case {
        Case::OneFlow => Ok(delivered(dumbbell(1, 5_000_000, 50_000_000, 50), limit)),
        Case::TenFlows => Ok(delivered(dumbbell(10, 1_000_000_000, 10_000_000, 1667), limit)),
        Case::FourHops => four_hops("80mbit/10ms", NS2_SACK1, limit),
        Case::LinuxCubic => four_hops("80mbit/10ms", LINUX_6_12, limit),
        Case::LinuxBbr => four_hops("80mbit/10ms", LINUX_6_12_BBR, limit),
        Case::Codel => four_hops("80mbit/10ms,queue=codel", NS2_SACK1, limit),
        Case::FqCodel => four_hops("80mbit/10ms,queue=fq_codel", NS2_SACK1, limit),
    }
}

fn four_hops(link: &str, stack: StackProfile, limit: Nanos) -> Result<u64, LinkError> {
    let link = AccessLink::parse(link)?;
    let (sim, _) = bench::build(&Experiment::usual(link.clone(), link, stack), &Scheme::Regular(Regular), ());
    Ok(delivered(sim, limit))
}

/// Handoffs of a day, 0.1 s to 20 s after its start.
pub const HANDOFFS_A_DAY: u32 = 200;

/// Simulates the handoffs of a day from `leo` to `5g`, both with losses and jitter, of regular TCP; returns the packets
/// of their transfers.
pub fn weather(seed: u64) -> Result<u64, LinkError> {
    let (old, new) = (AccessLink::parse("leo")?, AccessLink::parse("5g,loss=0.1%")?);
    let mut warm = WarmRun::new(Experiment { seed, ..Experiment::usual(old, new, NS2_SACK1) });
    let regular = Scheme::Regular(Regular);
    let times = (1..=HANDOFFS_A_DAY).map(|tenths| Nanos::from(tenths) * (SECOND / 10));
    let done = times.filter(|&at| warm.fork(at).complete().run(&regular).transfer.is_some());
    Ok(100 * done.count() as u64)
}

/// Simulates so many handoffs between the two cells of Chou and Shin, and returns the packets newly acknowledged. The
/// round trip is 0.2 s, sojourns last 27 round trips in the mean, W_max is 40, B 32, p 0.9.
pub fn handoffs(scheme: &Scheme, count: u32) -> Result<u64, CellsError> {
    const RTT: Nanos = SECOND / 5;
    let mut stack = NS2_NEWRENO;
    stack.receive_window = 40;
    stack.rto.min = SECOND;
    let cells = Cells {
        stack,
        capacity: Capacity::Packets(32),
        rtt: RTT,
        sojourn: (20 * RTT, 34 * RTT),
        quick: (SECOND * 3 / 10, SECOND / 2),
        slow: (SECOND * 13 / 10, 2 * SECOND),
        slow_ppm: 900_000,
        first_window: None,
        handoffs: count,
        seed: 1,
    };
    let record = cells.run(scheme, false)?;
    Ok(record.handoffs.iter().map(|handoff| u64::from(handoff.acknowledged)).sum())
}

fn delivered<O: HostObserver>(mut sim: Sim<BenchNode, Packet, O>, limit: Nanos) -> u64
where
    BenchNode: Node<Packet, O>,
{
    sim.run_until(limit);
    sim.nodes
        .iter()
        .filter_map(|node| match node {
            BenchNode::Correspondent(host) => Some(host),
            _ => None,
        })
        .flat_map(|host| &host.flows)
        .map(|flow| u64::from(flow.sender.snd_una()))
        .sum()
}

/// Source hosts --10 Gbit/s, 1 us-- router --bottleneck-- sink host.
fn dumbbell(flows: usize, rate: u64, delay: Nanos, queue: u32) -> Sim<BenchNode, Packet, ()> {
    let mut net = Net::new(());
    let router_id = NodeId(flows as u16);
    let sink_id = NodeId(flows as u16 + 1);
    let access = || line(10_000_000_000, 1_000);
    let down = net.add_link(sink_id, line(rate, delay).drop_tail(queue));
    let up = net.add_link(router_id, line(rate, delay));
    let mut router = Router::default();
    let starts = clock_phase::starts(flows, 1, clock_phase::APART);
    let mut nodes = Vec::new();
    let mut back = Vec::new();
    for (id, start) in starts.iter().enumerate() {
        let node = NodeId(id as u16);
        let out = net.add_link(router_id, access());
        back.push(net.add_link(node, access()));
        router.route(out, Route::To(down));
        let timer = net.add_timer(node);
        net.arm(timer, start.opens);
        let flow =
            sending_flow(id as u16, &NS2_SACK1, start.phase, start.opens, timer, Scheme::Regular(Regular));
        let host = Correspondent {
            first: (id as u16, timer.0),
            flows: vec![flow],
            out,
            sharing: (0, false),
            wheel: Wheel::default(),
            group: None,
            claim: None,
        };
        nodes.push(BenchNode::Correspondent(host));
    }
    router.route(up, Route::ByFlow(back));
    nodes.push(BenchNode::Router(router));
    let link = Link { rate_kbps: (rate / 1000) as u32, delay_us: (delay / 1000) as u32 };
    let mut receiving = Vec::new();
    for id in 0..flows {
        let timer = net.add_timer(sink_id);
        receiving.push(receiving_flow(id as u16, &NS2_SACK1, timer, link));
    }
    nodes.push(BenchNode::Mobile(Mobile::new((0, receiving[0].timer.0), receiving, up)));
    Sim { net, nodes }
}
