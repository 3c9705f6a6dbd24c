//! The two cells of Chou and Shin (2004, section V, Figure 9), between which a mobile goes to and fro:
//!
//! ```text
//!         +-- MA 1 -- link a --+
//! sender -+     | tunnel       +- MN
//!         +-- MA 2 -- link b --+
//! ```
//!
//! Sojourns are uniform; a handoff lets the retransmission timer expire with probability p, because its latency is
//! drawn from one of two ranges. As in the paper's emulation, what is on the air when the link goes down still arrives.
//! There routers stop sending when the cost of a link rises. The round trip is that of the wires, and no link is a
//! bottleneck.

use crate::access_router::{AccessRouter, Held};
use crate::bench::line;
use crate::nodes::{
    BenchNode, Correspondent, HostObserver, Mobile, Route, Router, Wheel, receiving_flow, sending_flow,
};
use crate::packet::Packet;
use crate::random::{Random, Stream};
use crate::{Routers, Tunnel};
use segue_handoff::{Link, LoggedScheme, Scheme};
pub use segue_netsim::Capacity;
use segue_netsim::{Buffer, LinkId, LossCause, Nanos, Net, NodeId, Observer, Overflow, Passage, SECOND, Sim};
use segue_tcp::AnySender;
use segue_tcp::StackProfile;
use segue_tcp::receiver::Arrival;

const MS: Nanos = 1_000_000;
/// Every link: a window of 40 packets takes 5 ms.
const RATE: u64 = 100_000_000;
/// One way between router and mobile.
const ACCESS_DELAY: Nanos = 2 * MS;

const CN: NodeId = NodeId(0);
const MA: [NodeId; 2] = [NodeId(1), NodeId(2)];
const MN: NodeId = NodeId(3);

/// The simulated cells, apart from the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// TCP of both ends; its receive window is W_max.
    pub stack: StackProfile,
    /// Packets that a router holds for the mobile.
    pub capacity: Capacity,
    /// Round trip, without serialisation.
    pub rtt: Nanos,
    /// Shortest and longest time in a cell, from link-up to link-down.
    pub sojourn: (Nanos, Nanos),
    /// Shortest and longest latency of a handoff without a timeout.
    pub quick: (Nanos, Nanos),
    /// Shortest and longest latency of a handoff that a timer does not survive.
    pub slow: (Nanos, Nanos),
    /// p: so many of a million handoffs are slow.
    pub slow_ppm: u32,
    /// Ends the first sojourn when the window is so large, packets; otherwise it is drawn like the others.
    pub first_window: Option<u32>,
    /// Number of handoffs.
    pub handoffs: u32,
    /// Seed of sojourns and latencies.
    pub seed: u64,
}

/// Cells that cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CellsError {
    /// W_max.
    #[error("W_max = {0}: expected 2 packets or more")]
    LargestWindow(u32),
    /// Nothing can be held.
    #[error("a buffer of 0; expected 1 packet or more")]
    Buffer,
    /// A probability.
    #[error("p = {0}: expected a number from 0 to 1")]
    Probability(f64),
    /// The mobile leaves before it has come.
    #[error(
        "a sojourn of {sojourn_ms} ms is shorter than a handoff, which takes up to {latency_ms} ms; expected a longer one"
    )]
    Sojourn {
        /// Shortest sojourn.
        sojourn_ms: u64,
        /// Longest latency.
        latency_ms: u64,
    },
    /// A range upside down.
    #[error("{0}: the shortest is longer than the longest")]
    Range(&'static str),
    /// The wires are shorter than the access links.
    #[error("a round trip of {0} ms; expected more than {least} ms", least = 2 * ACCESS_DELAY / MS)]
    Rtt(u64),
}

/// One handoff and the sojourn after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellHandoff {
    /// Window when the link went down, packets.
    pub window: u32,
    /// The link was down.
    pub down: Nanos,
    /// The next one was up.
    pub up: Nanos,
    /// From then until the next handoff.
    pub sojourn: Nanos,
    /// Expiries of the retransmission timer, from link-down on, as are the following counts.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub fast_retransmits: u32,
    /// From link-up to the first of them.
    pub fast_after: Option<Nanos>,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Packets sent again that the mobile had.
    pub needless: u32,
    /// Duplicate ACKs in the round trip that begins with the first ACK after link-up.
    pub duplicate_burst: u32,
    /// Packets that the router's buffer dropped.
    pub buffer_drops: u32,
    /// Packets newly acknowledged.
    pub acknowledged: u32,
    /// ssthresh when the sojourn ended, packets.
    pub ssthresh: u32,
    /// Window when the sojourn ended, packets.
    pub window_after: u32,
}

/// Steps of one sender, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It sent this packet, for the first time or again.
    Sent(u32, bool),
    /// It heard this cumulative ACK.
    Heard(u32),
    /// Its timer expired.
    Timeout(u32),
    /// It entered fast recovery.
    FastRetransmit(u32),
    /// Its window is now so large, packets.
    Window(u32),
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellsRecord {
    /// The handoffs, in order.
    pub handoffs: Vec<CellHandoff>,
    /// Steps of the sender since the first link-down, if asked for.
    pub steps: Vec<(Nanos, Step)>,
    /// Data packets sent, delivered, dropped by a buffer, and under way at the end.
    pub counts: [u64; 4],
}

/// Keeps the record.
#[derive(Clone, Debug, Default)]
struct Watch {
    /// The handoff that goes on; none before the first.
    handoff: Option<CellHandoff>,
    steps: Option<Vec<(Nanos, Step)>>,
    una: u32,
    window: u32,
    rtt: Nanos,
    /// End of the round trip that begins with the first ACK after link-up.
    burst: Option<Nanos>,
    counts: [u64; 4],
}

impl Watch {
    fn note(&mut self, now: Nanos, step: Step) {
        if let (Some(steps), Some(_)) = (&mut self.steps, &self.handoff) {
            steps.push((now, step));
        }
    }
}

impl Observer<Packet> for Watch {
    fn accepted(&mut self, _: LinkId, _: &Passage, _: &Packet) {}
    fn lost(&mut self, _: Nanos, _: LinkId, _: &Packet, _: LossCause) {}
    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}
    fn overflowed(&mut self, _: Nanos, _: NodeId, _: &Packet) {
        self.counts[2] += 1;
        if let Some(handoff) = &mut self.handoff {
            handoff.buffer_drops += 1;
        }
    }
}

impl HostObserver for Watch {
    fn timeout(&mut self, now: Nanos, _: u16, head: u32, _: u32) {
        self.note(now, Step::Timeout(head));
        if let Some(handoff) = &mut self.handoff {
            handoff.timeouts += 1;
        }
    }

    fn fast_retransmit(&mut self, now: Nanos, _: u16, head: u32, _: u32) {
        self.note(now, Step::FastRetransmit(head));
        if let Some(handoff) = &mut self.handoff {
            handoff.fast_retransmits += 1;
            handoff.fast_after.get_or_insert(now.saturating_sub(handoff.up));
        }
    }

    #[inline]
    fn sent(&mut self, now: Nanos, packet: &Packet) {
        if !packet.data {
            return;
        }
        self.counts[0] += 1;
        self.note(now, Step::Sent(packet.segment.seq, packet.retransmission));
        if let Some(handoff) = &mut self.handoff {
            handoff.retransmissions += u32::from(packet.retransmission);
        }
    }

    #[inline]
    fn heard(&mut self, now: Nanos, packet: &Packet) {
        if packet.data {
            return;
        }
        let ack = packet.segment.ack;
        self.note(now, Step::Heard(ack));
        if let Some(handoff) = self.handoff.as_mut().filter(|handoff| handoff.up > 0) {
            let until = *self.burst.get_or_insert(now + self.rtt);
            handoff.duplicate_burst += u32::from(now < until && ack == self.una);
        }
    }

    #[inline]
    fn changed(&mut self, now: Nanos, _: u16, sender: &mut AnySender<LoggedScheme>) {
        if self.steps.is_some() && sender.window() != self.window {
            self.window = sender.window();
            self.note(now, Step::Window(self.window));
        }
    }

    #[inline]
    fn acknowledged(&mut self, _: Nanos, _: u16, una: u32) {
        if let Some(handoff) = &mut self.handoff {
            handoff.acknowledged += una - self.una;
        }
        self.una = una;
    }

    #[inline]
    fn arrived(&mut self, _: Nanos, _: LinkId, packet: &Packet, arrival: Arrival) {
        self.counts[1] += 1;
        if let Some(handoff) = &mut self.handoff {
            handoff.needless += u32::from(packet.retransmission && arrival == Arrival::Duplicate);
        }
    }
}

type CellsSim = Sim<BenchNode, Packet, Watch>;

/// Handles into the network, by cell.
struct LinkIds {
    wired_down: [LinkId; 2],
    access_up: [LinkId; 2],
}

impl Cells {
    /// Says what cannot be simulated.
    pub fn check(&self) -> Result<(), CellsError> {
        if self.stack.receive_window < 2 {
            return Err(CellsError::LargestWindow(self.stack.receive_window));
        }
        if matches!(self.capacity, Capacity::Packets(0) | Capacity::Bytes(0)) {
            return Err(CellsError::Buffer);
        }
        if self.slow_ppm > 1_000_000 {
            return Err(CellsError::Probability(f64::from(self.slow_ppm) / 1e6));
        }
        for (what, range) in [("sojourn", self.sojourn), ("latency", self.quick), ("latency", self.slow)] {
            if range.0 > range.1 {
                return Err(CellsError::Range(what));
            }
        }
        let latency = self.quick.1.max(self.slow.1);
        if self.sojourn.0 < latency {
            return Err(CellsError::Sojourn { sojourn_ms: self.sojourn.0 / MS, latency_ms: latency / MS });
        }
        if self.rtt <= 2 * ACCESS_DELAY {
            return Err(CellsError::Rtt(self.rtt / MS));
        }
        Ok(())
    }

    fn build(&self, scheme: &Scheme, steps: bool) -> (CellsSim, LinkIds) {
        let mut net = Net::new(Watch { steps: steps.then(Vec::new), rtt: self.rtt, ..Watch::default() });
        let wired = || line(RATE, self.rtt / 2 - ACCESS_DELAY);
        let air = || line(RATE, ACCESS_DELAY);
        let Tunnel { rate, delay } = Routers::default().tunnel;
        let wired_down = MA.map(|ma| net.add_link(ma, wired()));
        let wired_up = MA.map(|_| net.add_link(CN, wired()));
        let access_down = MA.map(|_| net.add_link(MN, air()));
        let access_up = MA.map(|ma| net.add_link(ma, air()));
        // From each to the other.
        let tunnel = [1, 0].map(|other| net.add_link(MA[other], line(rate, delay)));

        let timer = net.add_timer(CN);
        net.arm(timer, 0);
        let flow = sending_flow(0, &self.stack, 0, 0, timer, scheme.clone());
        let cn = Correspondent {
            first: (0, timer.0),
            flows: vec![flow],
            out: wired_down[0],
            sharing: (1, true),
            wheel: Wheel::default(),
            group: None,
            claim: None,
        };
        let timer = net.add_timer(MN);
        let link = Link { rate_kbps: (RATE / 1000) as u32, delay_us: (ACCESS_DELAY / 1000) as u32 };
        let flow = receiving_flow(0, &self.stack, timer, link);
        let mut mn = Mobile::new((0, timer.0), vec![flow], access_up[0]);
        if let Some(extra_dup) = scheme.mobile().phas {
            mn.filter_acks(extra_dup);
        }

        // A scheme without a rule for routers runs on the buffer that Chou and Shin propose.
        let overflow = scheme.router().map_or(Overflow::DropTail, |rule| rule.overflow);
        let mut nodes = vec![BenchNode::Correspondent(cn)];
        for cell in [0, 1] {
            let mut router = Router::default();
            for from in [wired_down[cell], tunnel[1 - cell]] {
                router.route(from, Route::To(access_down[cell]));
            }
            router.route(access_up[cell], Route::To(wired_up[cell]));
            let buffer = Buffer::new(self.capacity, overflow);
            let held = Held::new(access_down[cell], buffer, tunnel[cell], tunnel[1 - cell]);
            let router = AccessRouter::holding(MA[cell], router, held).asking(tunnel[cell]);
            nodes.push(BenchNode::AccessRouter(router));
        }
        nodes.push(BenchNode::Mobile(mn));
        (Sim { net, nodes }, LinkIds { wired_down, access_up })
    }

    /// Runs all handoffs with `scheme`; what the sender did in detail if `steps`.
    pub fn run(&self, scheme: &Scheme, steps: bool) -> Result<CellsRecord, CellsError> {
        self.run_by(scheme, steps, CellsSim::run_until)
    }

    /// The same; `go_on` takes the network to a time.
    fn run_by(
        &self,
        scheme: &Scheme,
        steps: bool,
        mut go_on: impl FnMut(&mut CellsSim, Nanos),
    ) -> Result<CellsRecord, CellsError> {
        self.check()?;
        let (mut sim, link_ids) = self.build(scheme, steps);
        let mut random = Random::new(self.seed, Stream::Cells);
        let mut drawn = |(shortest, longest): (Nanos, Nanos)| {
            shortest + ((longest - shortest) as f64 * random.unit()) as Nanos
        };
        let mut down = match self.first_window {
            Some(packets) => {
                while sender(&sim).window() < packets
                    && sim.net.now() < self.sojourn.1
                    && sim.step(Nanos::MAX)
                {}
                sim.net.now()
            }
            None => drawn(self.sojourn),
        };
        let mut handoffs = Vec::with_capacity(self.handoffs as usize);
        for index in 0..self.handoffs as usize {
            let [old, new] = [index % 2, (index + 1) % 2];
            go_on(&mut sim, down);
            let window = sender(&sim).window();
            sim.net.observer.handoff = Some(CellHandoff { window, down, ..CellHandoff::default() });
            link_down(&mut sim, old);
            let slow = drawn((0, 1_000_000)) <= Nanos::from(self.slow_ppm) && self.slow_ppm > 0;
            let up = down + drawn(if slow { self.slow } else { self.quick });
            go_on(&mut sim, up);
            link_up(&mut sim, &link_ids, new);
            let sojourn = drawn(self.sojourn);
            if let Some(handoff) = &mut sim.net.observer.handoff {
                (handoff.up, handoff.sojourn) = (up, sojourn);
                sim.net.observer.burst = None;
            }
            down = up + sojourn;
            go_on(&mut sim, down);
            let (ssthresh, window_after) = (sender(&sim).view().ssthresh / 256, sender(&sim).window());
            handoffs.extend(sim.net.observer.handoff.take().map(|h| CellHandoff {
                ssthresh,
                window_after,
                ..h
            }));
        }
        let counts = counts(&sim);
        Ok(CellsRecord { handoffs, steps: sim.net.observer.steps.unwrap_or_default(), counts })
    }
}

impl CellsRecord {
    /// Packets newly acknowledged per second of the sojourns: the paper's throughput.
    pub fn throughput(&self) -> f64 {
        let time: Nanos = self.handoffs.iter().map(|handoff| handoff.sojourn).sum();
        let packets: u64 = self.handoffs.iter().map(|handoff| u64::from(handoff.acknowledged)).sum();
        packets as f64 / (time as f64 / SECOND as f64)
    }
}

/// Data packets sent, delivered, dropped by a buffer, and under way now.
fn counts(sim: &CellsSim) -> [u64; 4] {
    let held = sim.nodes.iter().filter_map(|node| match node {
        BenchNode::AccessRouter(router) => Some(router.holds()),
        _ => None,
    });
    let under_way = sim.net.on_links().chain(held.flatten()).filter(|&id| sim.net.packets[id].data).count();
    let [sent, delivered, dropped, _] = sim.net.observer.counts;
    [sent, delivered, dropped, under_way as u64]
}

fn sender(sim: &CellsSim) -> &AnySender<LoggedScheme> {
    match &sim.nodes[usize::from(CN.0)] {
        BenchNode::Correspondent(host) => &host.flows[0].sender,
        _ => unreachable!("node 0 is the sender's host"),
    }
}

/// The router of a cell learns that the mobile is gone.
fn link_down(sim: &mut CellsSim, cell: usize) {
    sim.with_node(MA[cell], |node, net| {
        let BenchNode::AccessRouter(router) = node else { return };
        router.link_down(net);
    });
}

/// The mobile is in another cell: so are the routes, and it asks for what the router before holds.
fn link_up(sim: &mut CellsSim, link_ids: &LinkIds, cell: usize) {
    if let BenchNode::AccessRouter(router) = &mut sim.nodes[usize::from(MA[cell].0)] {
        router.link_up();
    }
    if let BenchNode::Correspondent(cn) = &mut sim.nodes[usize::from(CN.0)] {
        cn.out = link_ids.wired_down[cell];
    }
    sim.with_node(MN, |node, net| {
        let BenchNode::Mobile(mn) = node else { return };
        mn.out = link_ids.access_up[cell];
        mn.request_forwarding(net);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use segue_tcp::profile::NS2_NEWRENO;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: ProptestConfig::default().cases / 6,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// After every event: what was sent is delivered, dropped by a buffer, or under way.
        #[test]
        fn packets_are_conserved_after_every_event(
            buffer in 1u32..60, slow_ppm in 0u32..=1_000_000, receive_window in 2u32..60, seed: u64,
            name in prop::sample::select(vec!["buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd", "buffer-lcfd+phas"]),
        ) {
            let cells = Cells {
                stack: StackProfile { receive_window, ..NS2_NEWRENO },
                capacity: Capacity::Packets(buffer),
                rtt: 200 * MS,
                sojourn: (3 * SECOND, 5 * SECOND),
                quick: (300 * MS, 500 * MS),
                slow: (1_300 * MS, 2_000 * MS),
                slow_ppm,
                first_window: None,
                handoffs: 6,
                seed,
            };
            let scheme = Scheme::build(name, &[]).unwrap();
            let mut events = 0;
            let watched = cells.run_by(&scheme, true, |sim, until| {
                while sim.step(until) {
                    events += 1;
                    let [sent, delivered, dropped, under_way] = counts(sim);
                    assert_eq!(sent, delivered + dropped + under_way, "at {} ns", sim.net.now());
                }
                sim.run_until(until);
            });
            prop_assert!(events > 500, "{} events", events);
            prop_assert_eq!(watched, cells.run(&scheme, true));
        }
    }
}
