//! The bounds of one handoff: what [`crate::bound`] asks for, read from the network at completion, and when a notice
//! can have come.

use super::completed::{Completed, GIVE_UP};
use super::fork::plain;
use crate::access::AccessLink;
use crate::bench::{CN, LinkIds, NEW, OLD, WIRED_DELAY, correspondent, mobile};
use crate::bench::{neighbours, traffic};
use crate::bound::bound;
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route, Router};
use crate::record::OldDelivery;
use crate::routers;
use crate::words::Address;
use segue_handoff::RouterRule;
use segue_netsim::{LinkId, Nanos, PacketId};
use std::collections::BTreeSet;

/// How often a link with neighbours is looked at.
const LOOKS: Nanos = 5_000_000;

impl<W: HostObserver> Completed<W> {
    /// Shortest time from completion that any scheme could take, where the routers do as `rule` says.
    pub fn bound(&self, rule: Option<RouterRule>) -> Nanos {
        let experiment = &self.fork.experiment;
        let (sim, link_ids) = (&self.fork.sim, &self.fork.link_ids);
        let (old, must_carry) = needs(sim, self.targets(), self.old_deliveries());
        let waiting = link_ids.lead_to().into_iter().any(|link| !sim.net.link(link).is_empty());
        let first_sent = if waiting { 0 } else { self.before_access() };
        let first_held = rule.map(|rule| routers::first_held(sim, link_ids, experiment, rule));
        if experiment.address == Address::New {
            // Where nothing is missing, the transfer ends as the connection opens.
            let fates = sim.net.link(link_ids.access[NEW].down).coming_fates();
            let reachable = self.opened() + self.before_access();
            return self
                .bound_from([reachable, 0], &old, must_carry, fates)
                .max(self.opened() - self.completion);
        }
        let reachable = self.completion + first_held.map_or(first_sent, |held| held.min(first_sent));
        let busy = sim.net.link(link_ids.access[OLD].down).busy_until();
        if neighbours::any(sim) || self.returns_to_traffic() {
            // Which of the next packets are the mobile's nobody knows: none is lost.
            return self.bound_from([reachable, busy], &old, must_carry, || true);
        }
        let fates = sim.net.link(link_ids.access[NEW].down).coming_fates();
        self.bound_from([reachable, busy], &old, must_carry, fates)
    }

    /// The same for senders that know nothing before a notice can be with them: until then they are regular TCP.
    /// `physical` is the bound for those that always know.
    pub fn bound_told(&self, physical: Nanos) -> Nanos {
        // Nothing is told to connections that begin after the handoff.
        let told = self.told_at().filter(|_| self.fork.experiment.address == Address::Keep);
        let Some(told_at) = told else { return physical };
        if told_at == self.completion {
            return physical;
        }
        let (mut sim, link_ids) = self.start(&plain());
        // Nobody is told meanwhile; a mobile that does not stay goes back.
        self.run_steps(&mut sim, &plain(), &mut self.steps(&plain()), told_at);
        let told = sim.clone();
        let reachable = told_at + self.before_access();
        let is_upward = self.fork.experiment.is_upward();
        if !self.fork.experiment.new.features[usize::from(is_upward)].is_first_in_first_out()
            || neighbours::any(&sim)
            || self.uses_old_link()
        {
            return self.bound_at_best(&told, told_at, reachable).max(physical);
        }

        // Packets under way then come whatever the senders do: queues are first in, first out.
        self.run_deaf(&mut sim, &link_ids);
        let new_link = sim.net.link(link_ids.access[NEW].down);
        let (busy_until, fates) = (new_link.busy_until(), new_link.coming_fates());
        let (coming, must_carry) = needs(&told, self.targets(), deliveries(sim));
        self.bound_from([busy_until.max(reachable), 0], &coming, must_carry, fates).max(physical)
    }

    /// The bound given the notice where the new link's queue may drop what waits, or send later packets first, or
    /// carries those of neighbours. It is also the bound where both links carry. All that is under way at `told_at`
    /// counts as if it were there, and the links as free.
    fn bound_at_best(&self, told: &BenchSim<W>, told_at: Nanos, reachable: Nanos) -> Nanos {
        let ids = told.net.on_links().chain(routers::held(told));
        let (coming, must_carry) = needs(told, self.targets(), there(told, told_at, ids));
        self.bound_from([reachable, told_at], &coming, must_carry, || true)
    }

    /// The bound where `coming` are on their way anyhow, and links can carry others. The new link can from the first of
    /// these times on, the old one, if it takes any, from the second on. `fates` says of each packet that the new link
    /// will send whether it comes out.
    fn bound_from(
        &self,
        [reachable, busy]: [Nanos; 2],
        coming: &[Nanos],
        must_carry: u64,
        fates: impl FnMut() -> bool,
    ) -> Nanos {
        let mut carriers = self.carriers(reachable, busy, fates);
        let brought = |packets: u64| carriers.brought(packets);
        let acknowledged = |at| self.acknowledged(at);
        bound(self.completion, coming, must_carry, brought, acknowledged, |at| self.old_acknowledged(at))
    }

    /// Whether new packets go over the old link, too.
    fn uses_old_link(&self) -> bool {
        let kind = self.fork.experiment.kind;
        kind.overlap().is_some() || kind.returns_after().is_some()
    }

    /// The least time from a sender to the new access link: at the mobile none.
    fn before_access(&self) -> Nanos {
        if self.fork.experiment.is_upward() { 0 } else { 2 * WIRED_DELAY }
    }

    /// Packets that the old link still delivers after completion: it carries on without new traffic.
    fn old_deliveries(&self) -> Vec<OldDelivery> {
        let experiment = &self.fork.experiment;
        if experiment.kind.breaks() {
            return Vec::new();
        }
        let changes =
            |link: &AccessLink| !link.features[usize::from(experiment.is_upward())].is_first_in_first_out();
        let returns = self.returns_to_traffic();
        if self.uses_old_link() && (changes(&experiment.old) || returns && changes(&experiment.new)) {
            // Later arrivals may change what is dropped, or be sent first.
            let (sim, link_ids) = (&self.fork.sim, &self.fork.link_ids);
            let over_new = if returns { link_ids.new_way() } else { Vec::new() };
            let ways = link_ids.old_way().into_iter().chain(over_new);
            let ids = ways.flat_map(|link| sim.net.link(link).packets());
            return there(sim, self.completion, ids);
        }
        let (mut sim, link_ids) = self.start_without_overlap(&plain());
        if returns {
            if self.uses_old_link() {
                // Packets that have not come to where the ways part may go by either.
                traffic::stop_own(&mut sim, &link_ids);
            }
            self.run_deaf(&mut sim, &link_ids);
            return deliveries(sim);
        }
        self.run_dry(&mut sim, &link_ids.old_way());
        deliveries(sim)
    }

    /// Whether the mobile is back on a link that may still carry what was sent before it left.
    pub fn returns_to_traffic(&self) -> bool {
        self.fork.continued && !self.fork.experiment.kind.breaks()
    }

    /// How long after completion the new link still sends what it had before.
    pub fn still_sends(&self) -> Nanos {
        let new_link = self.fork.sim.net.link(self.fork.link_ids.access[NEW].down);
        new_link.busy_until().saturating_sub(self.completion)
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
        // Nobody watches this copy, in which a fast new link may carry millions of packets.
        drop(sim.net.observer.watch.set_aside());
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

/// Data packets of the mobile among these, as if they were there at `at`.
fn there<W: HostObserver>(
    sim: &BenchSim<W>,
    at: Nanos,
    ids: impl Iterator<Item = PacketId>,
) -> Vec<OldDelivery> {
    let packets = ids.map(|id| &sim.net.packets[id]);
    let data = packets.filter(|packet| packet.data && sim.net.observer.is_own(packet.flow));
    data.map(|packet| OldDelivery { at, flow: packet.flow, seq: packet.segment.seq }).collect()
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
