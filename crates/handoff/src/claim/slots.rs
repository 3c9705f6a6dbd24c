//! The packet that takes a slot of the new link, and when it does (near.md, sections 3, 4.7 and 7).

use super::ledger::{Fate, Ledger, Packet};
use super::rate::{Queue, RateProbe};
use super::{Claim, FlowState, NEVER, Rule};
use segue_policy::{Near, PACKET};
use segue_tcp::Nanos;

impl Claim {
    /// Packets of all flows on the new link.
    pub(super) fn in_flight(&self) -> u32 {
        self.flows.iter().map(|ledger| ledger.out).sum()
    }

    /// The claim is over: flows have their windows.
    fn is_over(&self) -> bool {
        !matches!(self.rule, Rule::Claim(_))
    }

    /// Whether one more packet may be out (3.1, 7.5).
    fn has_room(&self) -> bool {
        let most = match (self.rule, self.queue) {
            (Rule::Window, Queue::Own { .. }) => self.near.drain_limit(self.window, self.own),
            (Rule::Controls, Queue::Own { .. }) => self.near.drain_limit(u64::MAX, self.own),
            (Rule::Controls, _) => return true,
            (Rule::Window, Queue::Shared) => self.window / u64::from(PACKET),
            _ => Near::flight_limit(self.window, self.own),
        };
        u64::from(self.in_flight()) < most
    }

    /// Whether one more packet of this flow may be out (7.3).
    fn lets<F: FlowState>(&self, flow: &F, ledger: &Ledger) -> bool {
        let most = || match u64::from(flow.window()) {
            window if flow.reduces() || self.queue == Queue::Shared => window,
            window => Near::flight_limit(window * u64::from(PACKET), 1),
        };
        ledger.joined && (self.rule != Rule::Controls || u64::from(ledger.out) < most())
    }

    /// Until when the first unacknowledged packet of a flow waits, so that the mobile does not refuse what the old link
    /// still brings (4.7).
    fn head_waits(&self, ledger: &Ledger) -> Option<Nanos> {
        let last = ledger.refused_until()? + self.slip;
        let (lost, old) = self.flows.iter().fold((0, 0), |sum, flow| (sum.0 + flow.lost, sum.1 + flow.old));
        let waits = !self.near.too_late(self.slot, lost + self.near.horizon(old), last);
        // The first of them may be under way for a whole slot after completion.
        waits.then(|| (last + self.near.old_slot_ns).saturating_sub(self.near.data_owd_ns))
    }

    /// How many lost packets at a flow's head wait at that time: one, or none.
    fn waiting(&self, at: Nanos, ledger: &Ledger) -> u32 {
        u32::from(self.head_waits(ledger).is_some_and(|until| at < until))
    }

    /// The flow that has a slot at that time: lost packets first; then the flow with the fewest new packets (3.3).
    fn choose<F: FlowState>(&self, at: Nanos, flows: &[F]) -> Option<usize> {
        let all = self.flows.iter().enumerate();
        let joined = || all.clone().filter(|&(index, ledger)| self.lets(&flows[index], ledger));
        let lost = joined().filter(|(_, ledger)| ledger.lost > self.waiting(at, ledger));
        let new = || joined().filter(|&(index, _)| flows[index].has_new());
        let least = |(index, ledger): &(usize, &Ledger)| (ledger.fresh, *index);
        let next = || match self.probe {
            RateProbe::Sending { left: 1..Near::PROBE_PACKETS, .. } => {
                new().find(|&(index, _)| index == self.probe_flow)
            }
            _ => None,
        };
        let choice = lost.min_by_key(least).or_else(next).or_else(|| new().min_by_key(least));
        choice.map(|(index, _)| index)
    }

    /// How long a slot is. Beside others, controls that pace decide that, too (7.5).
    fn slot_length<F: FlowState>(&self, flows: &[F]) -> Nanos {
        if self.queue != Queue::Shared || !self.is_over() {
            return self.near.slot_ns;
        }
        let joined = flows.iter().zip(&self.flows).filter(|(_, ledger)| ledger.joined);
        let paced: Option<u64> = joined.map(|(flow, _)| flow.packets_per_second()).sum();
        let pace = paced.filter(|&paced| paced > 0).map_or(0, |paced| 1_000_000_000 / paced);
        self.near.shared_slot_ns().max(pace)
    }

    /// The time of the next slot after this one of `slot`, where a packet of flow `index` takes it, perhaps `again`.
    fn gap(&mut self, index: usize, again: bool, slot: Nanos) -> Nanos {
        let RateProbe::Sending { left: left @ 1.., first, .. } = self.probe else { return slot };
        if again {
            return slot;
        }
        // The rate probe leaves at double speed, and what that saves is waited for behind it (6.3).
        (self.probe_flow, self.probe_saved) = (index, self.probe_saved + slot / 2);
        let last = if left == 1 { self.copies + 1 } else { 0 };
        self.probe = RateProbe::Sending { left: left - 1, last, first };
        let waits = if left == 1 { std::mem::take(&mut self.probe_saved) } else { 0 };
        slot - slot / 2 + waits
    }

    /// When the next packet may leave. After the claim two may leave at once, as an ACK for two lets them (7.3).
    fn next_slot(&self) -> Nanos {
        let probes = matches!(self.probe, RateProbe::Sending { left: 1.., .. });
        if self.is_over() && !probes { self.slot.saturating_sub(self.near.slot_ns) } else { self.slot }
    }

    /// The packet that takes the slot at `now`, if there is one: of which flow, and its number.
    pub fn next<F: FlowState>(&mut self, now: Nanos, flows: &[F]) -> Option<(usize, u32)> {
        if now < self.next_slot() {
            return None;
        }
        let has_room = self.has_room();
        let drains = matches!(self.queue, Queue::Own { .. });
        self.held_back = !has_room && self.rule == Rule::Window && !drains;
        if !has_room {
            return None;
        }
        let index = self.choose(now, flows)?;
        let ledger = &self.flows[index];
        let lost = ledger.first_lost(self.waiting(now, ledger) as usize);
        self.slot = now.max(self.slot) + self.gap(index, lost.is_some(), self.slot_length(flows));
        self.copies += 1;
        let number = self.copies;
        let ledger = &mut self.flows[index];
        if ledger.expires.is_none() {
            ledger.expires = Some(now + self.near.rto_ns(ledger.backoff));
        }
        let Some(place) = lost else {
            ledger.fresh += 1;
            ledger.push(Packet { fate: Fate::Out(number), sent: now, again: false });
            return Some((index, ledger.end() - 1));
        };
        ledger.set(place, Fate::Out(number));
        (ledger.packets[place].sent, ledger.packets[place].again) = (now, true);
        Some((index, ledger.una + place as u32))
    }

    /// When something is to be done next.
    pub fn deadline<F: FlowState>(&self, flows: &[F]) -> Option<Nanos> {
        let mut at = self.all_join;
        for ledger in &self.flows {
            at = at.min(ledger.expires.unwrap_or(NEVER));
            if ledger.old > 0 {
                let old = ledger.packets.iter().filter_map(|packet| match packet.fate {
                    Fate::Old(arrives) => Some(self.near.loss_deadline(arrives + self.slip)),
                    _ => None,
                });
                at = at.min(old.min().unwrap_or(NEVER));
            }
        }
        if self.next_slot() < at && self.has_room() {
            if self.choose(self.next_slot(), flows).is_some() {
                at = self.next_slot();
            } else {
                let lets = |&(index, ledger): &(usize, &Ledger)| self.lets(&flows[index], ledger);
                let heads = self.flows.iter().enumerate().filter(lets);
                let heads = heads.filter_map(|(_, ledger)| self.head_waits(ledger));
                at = at.min(heads.min().unwrap_or(NEVER).max(self.slot));
            }
        }
        (at != NEVER).then_some(at)
    }
}
