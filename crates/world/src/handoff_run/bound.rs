//! The bound of one handoff: what [`crate::bound`] asks for, read from the network at completion.

use super::completed::{Completed, GIVE_UP};
use super::fork::plain;
use crate::bench::{NEW, OLD, WIRED_DELAY, correspondent, mobile};
use crate::bound::bound;
use crate::nodes::HostObserver;
use crate::routers;
use crate::words::Kind;
use segue_handoff::RouterRule;
use segue_netsim::{Nanos, Rate};
use std::collections::BTreeSet;

/// Bytes of an ACK without options.
const ACK_BYTES: u32 = 40;
/// Bytes of a data packet as the bound counts them.
const DATA_BYTES: u32 = 1500;

impl<W: HostObserver> Completed<W> {
    /// What no scheme can beat, from completion, where the routers do as `rule` says.
    pub fn bound(&self, rule: Option<RouterRule>) -> Nanos {
        let experiment = &self.fork.experiment;
        let targets = self.targets();
        let receivers = &mobile(&self.fork.sim).flows;

        // Needed packets that are still on the old path, and when they arrive.
        let mut on_old = BTreeSet::new();
        let mut old = Vec::new();
        for (at, flow, seq) in self.old_deliveries() {
            let needed = seq < targets[usize::from(flow)] && !receivers[usize::from(flow)].receiver.has(seq);
            if needed && on_old.insert((flow, seq)) {
                old.push(at);
            }
        }
        let senders = correspondent(&self.fork.sim).flows.iter().map(|flow| &flow.sender);
        let must_carry: u64 = receivers
            .iter()
            .zip(targets)
            .zip(senders)
            .enumerate()
            .map(|(flow, ((state, &target), sender))| {
                // The SYN is no packet of data: the bound carries it for nothing.
                let first = state.receiver.rcv_nxt().max(1);
                // Nothing of what has never been sent can be there or on its way.
                let never_sent = sender.snd_max().clamp(first, target.max(first));
                let missing = (first..never_sent)
                    .filter(|&seq| !state.receiver.has(seq) && !on_old.contains(&(flow as u16, seq)));
                missing.count() as u64 + u64::from(target.saturating_sub(never_sent))
            })
            .sum();

        let (sim, places) = (&self.fork.sim, &self.fork.places);
        let waiting =
            [places.core.down, places.edge[NEW].down].into_iter().any(|link| !sim.net.link(link).is_empty());
        let first_sent = if waiting { 0 } else { 2 * WIRED_DELAY };
        let first_held = rule.map(|rule| routers::first_held(experiment, rule));
        let reachable = self.completion + first_held.map_or(first_sent, |held| held.min(first_sent));
        let hops = experiment.fixed_hops();
        let delay = experiment.new.delay.min();
        let data_bytes = experiment.stack.data_bytes().min(DATA_BYTES);
        let last_hop = Rate::new(hops.last).time(data_bytes);
        let ack_hops = Rate::new(hops.last).time(ACK_BYTES);
        let ack_wired = 2 * (Rate::new(hops.wired).time(ACK_BYTES) + WIRED_DELAY);

        let mut service = experiment.new.down.service();
        // `bound` asks for ever more packets, so the last departure is enough.
        let (mut carried, mut departure) = (0, reachable);
        let brought = |packets: u64| {
            while carried < packets {
                departure = service.departure(departure, data_bytes);
                carried += 1;
            }
            departure + delay + last_hop
        };
        let acknowledged = |at: Nanos| {
            let mut up = experiment.new.up.service();
            up.departure(at + ack_hops, ACK_BYTES) + delay + ack_wired
        };
        bound(self.completion, &old, must_carry, brought, acknowledged)
    }

    /// What the old link still delivers after completion: it carries on without new traffic.
    fn old_deliveries(&self) -> Vec<(Nanos, u16, u32)> {
        if self.fork.experiment.kind != Kind::Mbb {
            return Vec::new();
        }
        let (mut sim, places) = self.start(&plain());
        let path = [places.edge[OLD].down, places.access[OLD].down, places.last[OLD].down];
        while path.iter().any(|&link| !sim.net.link(link).is_empty()) {
            if !sim.step(self.completion + GIVE_UP) {
                break;
            }
        }
        let recorder = sim.net.observer.recorder.take();
        recorder.map(|r| r.old_deliveries.iter().map(|d| (d.at, d.flow, d.seq)).collect()).unwrap_or_default()
    }
}
