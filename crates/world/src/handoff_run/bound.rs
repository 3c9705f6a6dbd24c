//! The bounds of one handoff: what [`crate::bound`] asks for, read from the network at completion, and when a notice
//! can have come.

use super::completed::{Completed, GIVE_UP};
use super::fork::plain;
use crate::bench::neighbours;
use crate::bench::{CN, LinkIds, NEW, WIRED_DELAY, correspondent, mobile};
use crate::bound::bound;
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route, Router};
use crate::record::OldDelivery;
use crate::routers;
use crate::words::Kind;
use segue_handoff::RouterRule;
use segue_netsim::{LinkId, Nanos, Rate};
use std::collections::BTreeSet;

/// How often a link with neighbours is looked at.
const LOOKS: Nanos = 5_000_000;
/// Bytes of an ACK without options.
const ACK_BYTES: u32 = 40;
/// Bytes of a data packet as the bound counts them.
const DATA_BYTES: u32 = 1500;

impl<W: HostObserver> Completed<W> {
    /// Shortest time from completion that any scheme could take, where the routers do as `rule` says.
    pub fn bound(&self, rule: Option<RouterRule>) -> Nanos {
        let experiment = &self.fork.experiment;
        let (old, must_carry) = needs(&self.fork.sim, self.targets(), self.old_deliveries());
        let (sim, link_ids) = (&self.fork.sim, &self.fork.link_ids);
        let waiting = link_ids.lead_to().into_iter().any(|link| !sim.net.link(link).is_empty());
        let first_sent = if waiting { 0 } else { self.before_access() };
        let first_held = rule.map(|rule| routers::first_held(experiment, rule));
        let reachable = self.completion + first_held.map_or(first_sent, |held| held.min(first_sent));
        if neighbours::any(sim) || self.returns_to_traffic() {
            // Which of the next packets are the mobile's nobody knows: none is lost.
            return self.bound_from(reachable, &old, must_carry, || true);
        }
        let fates = sim.net.link(link_ids.access[NEW].down).coming_fates();
        self.bound_from(reachable, &old, must_carry, fates)
    }

    /// The same for senders that know nothing before a notice can be with them: until then they are regular TCP.
    /// `physical` is the bound for those that always know.
    pub fn bound_told(&self, physical: Nanos) -> Nanos {
        let Some(told_at) = self.told_at() else { return physical };
        if told_at == self.completion {
            return physical;
        }
        let (mut sim, link_ids) = self.start(&plain());
        sim.run_until(told_at);
        let told = sim.clone();
        let reachable = told_at + self.before_access();
        let is_upward = self.fork.experiment.is_upward();
        if !self.fork.experiment.new.features[usize::from(is_upward)].is_first_in_first_out()
            || neighbours::any(&sim)
        {
            return self.bound_at_best(&told, told_at, reachable).max(physical);
        }

        // Packets under way then come whatever the senders do: queues are first in, first out.
        self.run_deaf(&mut sim, &link_ids);
        let new_link = sim.net.link(link_ids.access[NEW].down);
        let (busy_until, fates) = (new_link.busy_until(), new_link.coming_fates());
        let (coming, must_carry) = needs(&told, self.targets(), deliveries(sim));
        self.bound_from(busy_until.max(reachable), &coming, must_carry, fates).max(physical)
    }

    /// The bound given the notice where the new link's queue may drop what waits, or send later packets first, or
    /// carries those of neighbours: all that is under way at `told_at` counts as if it were there, and the link as
    /// free.
    fn bound_at_best(&self, told: &BenchSim<W>, told_at: Nanos, reachable: Nanos) -> Nanos {
        let packets = told.net.on_links().chain(routers::held(told)).map(|id| &told.net.packets[id]);
        let data = packets.filter(|packet| packet.data && told.net.observer.is_own(packet.flow));
        let under_way =
            data.map(|packet| OldDelivery { at: told_at, flow: packet.flow, seq: packet.segment.seq });
        let (coming, must_carry) = needs(told, self.targets(), under_way.collect());
        self.bound_from(reachable, &coming, must_carry, || true)
    }

    /// The bound where `coming` are on their way anyhow, and the new link can carry others from `reachable` on. `fates`
    /// says of each packet that it will send whether it comes out: of those that do not, the sender may have made the
    /// smallest there is. Added delays count as none: a sender may wait until they are small.
    fn bound_from(
        &self,
        reachable: Nanos,
        coming: &[Nanos],
        must_carry: u64,
        mut fates: impl FnMut() -> bool,
    ) -> Nanos {
        let experiment = &self.fork.experiment;
        let data_bytes = experiment.stack.data_bytes().min(DATA_BYTES);
        let (is_upward, hops) = (experiment.is_upward(), experiment.fixed_hops());
        let (delay, behind) = match is_upward {
            false => (experiment.new.delay.min(), Rate::new(hops.last).time(data_bytes)),
            true => {
                let wired = Rate::new(hops.wired).time(data_bytes) + WIRED_DELAY;
                (experiment.new.up_delay().min(), 2 * wired)
            }
        };
        let mut service = experiment.new.best_service(experiment.place(NEW), is_upward);
        // `bound` asks for ever more packets, so the last departure is enough.
        let (mut carried, mut departure) = (0, reachable);
        let brought = |packets: u64| {
            while carried < packets {
                let arrives = fates();
                departure = service.departure(departure, if arrives { data_bytes } else { ACK_BYTES });
                carried += u64::from(arrives);
            }
            departure + delay + behind
        };
        bound(self.completion, coming, must_carry, brought, |at| self.acknowledged(at))
    }

    /// The least time from a sender to the new access link: at the mobile none.
    fn before_access(&self) -> Nanos {
        if self.fork.experiment.is_upward() { 0 } else { 2 * WIRED_DELAY }
    }

    /// When an ACK can be with the sender that the receiver sends over the new link at `at`.
    pub(super) fn acknowledged(&self, at: Nanos) -> Nanos {
        let experiment = &self.fork.experiment;
        let hops = experiment.fixed_hops();
        let ack_hops = Rate::new(hops.last).time(ACK_BYTES);
        let ack_wired = 2 * (Rate::new(hops.wired).time(ACK_BYTES) + WIRED_DELAY);
        if experiment.is_upward() {
            let mut down = experiment.new.best_service(experiment.place(NEW), false);
            return down.departure(at + ack_wired, ACK_BYTES) + experiment.new.delay.min() + ack_hops;
        }
        let mut up = experiment.new.best_service(experiment.place(NEW), true);
        up.departure(at + ack_hops, ACK_BYTES) + experiment.new.up_delay().min() + ack_wired
    }

    /// Packets that the old link still delivers after completion: it carries on without new traffic.
    fn old_deliveries(&self) -> Vec<OldDelivery> {
        if self.fork.experiment.kind != Kind::Mbb {
            return Vec::new();
        }
        let (mut sim, link_ids) = self.start(&plain());
        if self.returns_to_traffic() {
            self.run_deaf(&mut sim, &link_ids);
            return deliveries(sim);
        }
        self.run_dry(&mut sim, &link_ids.old_way());
        deliveries(sim)
    }

    /// Whether the mobile is back on a link that may still carry what was sent before it left.
    pub fn returns_to_traffic(&self) -> bool {
        self.fork.continued && self.fork.experiment.kind == Kind::Mbb
    }

    /// Goes on until nothing is under way, while the senders hear and say nothing.
    fn run_deaf(&self, sim: &mut BenchSim<W>, link_ids: &LinkIds) {
        let mut deaf = Router::default();
        let ways_back = match link_ids.is_upward {
            true => link_ids.last.map(|last| last.up).to_vec(),
            false => vec![link_ids.core.up],
        };
        ways_back.into_iter().for_each(|link| deaf.route(link, Route::None));
        sim.nodes[usize::from(CN.0)] = BenchNode::Router(deaf);
        if let Some(recorder) = &mut sim.net.observer.recorder {
            recorder.keep_deliveries();
        }
        let ways = [link_ids.edge, link_ids.access, link_ids.last];
        let ways = ways.into_iter().flatten().chain([link_ids.core]).map(|duplex| duplex.down);
        self.run_dry(sim, &ways.collect::<Vec<_>>());
    }

    /// Goes on until nothing is on these links, or with neighbours nothing of the mobile's.
    fn run_dry(&self, sim: &mut BenchSim<W>, ways: &[LinkId]) {
        if neighbours::any(sim) {
            let carries_own = |sim: &BenchSim<W>| {
                let packets = ways.iter().flat_map(|&link| sim.net.link(link).fates());
                let mut flows = packets.map(|(id, _)| sim.net.packets[id].flow);
                flows.any(|flow| sim.net.observer.is_own(flow))
            };
            let mut until = sim.net.now();
            while carries_own(sim) && until < self.completion + GIVE_UP {
                until += LOOKS;
                sim.run_until(until);
            }
            return;
        }
        while ways.iter().any(|&link| !sim.net.link(link).is_empty()) {
            if !sim.step(self.completion + GIVE_UP) {
                break;
            }
        }
    }
}

fn deliveries<W: HostObserver>(mut sim: BenchSim<W>) -> Vec<OldDelivery> {
    sim.net.observer.recorder.take().map(|recorder| recorder.old_deliveries).unwrap_or_default()
}

/// When needed packets arrive that are under way, and how many needed packets are not.
fn needs<W: HostObserver>(
    sim: &BenchSim<W>,
    targets: &[u32],
    under_way: Vec<OldDelivery>,
) -> (Vec<Nanos>, u64) {
    let receivers = &mobile(sim).flows;
    let mut coming = BTreeSet::new();
    let mut times = Vec::new();
    for OldDelivery { at, flow, seq } in under_way {
        let needed = seq < targets[usize::from(flow)] && !receivers[usize::from(flow)].receiver.has(seq);
        if needed && coming.insert((flow, seq)) {
            times.push(at);
        }
    }
    let senders = correspondent(sim).flows.iter().map(|flow| &flow.sender);
    let flows = receivers.iter().zip(targets).zip(senders).enumerate();
    let must_carry = flows.map(|(flow, ((state, &target), sender))| {
        // The SYN is no packet of data: the bound carries it for nothing.
        let first = state.receiver.rcv_nxt().max(1);
        // Nothing of what has never been sent can be there or on its way.
        let never_sent = sender.snd_max().clamp(first, target.max(first));
        let missing = (first..never_sent)
            .filter(|&seq| !state.receiver.has(seq) && !coming.contains(&(flow as u16, seq)));
        missing.count() as u64 + u64::from(target.saturating_sub(never_sent))
    });
    (times, must_carry.sum())
}
