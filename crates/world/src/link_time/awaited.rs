//! What the senders wait for: windows that forbid, target packets that are missing, ACKs.

use super::Standing;
use crate::bit_set::BitSet;
use crate::packet::Packet;
use segue_tcp::AnyReceiver;
use std::collections::VecDeque;

/// One flow.
#[derive(Clone, Debug)]
struct Flow {
    sender: Standing,
    /// What its cumulative ACK has to reach.
    target: u32,
    /// The mobile has all packets below.
    received_below: u32,
    /// Packets from there on that it has, by their distance.
    received: BitSet,
}

impl Flow {
    fn has(&self, seq: u32) -> bool {
        seq.checked_sub(self.received_below).is_none_or(|distance| self.received.contains(distance))
    }

    /// Some target packet has not been sent.
    fn is_unsent(&self) -> bool {
        self.sender.snd_max < self.target
    }
}

/// A data packet that will be with the mobile.
#[derive(Clone, Copy, Debug)]
struct Coming {
    flow: u16,
    copy: u32,
    seq: u32,
}

/// A target packet that was neither with the mobile nor on its way when last looked for.
#[derive(Clone, Copy, Debug)]
struct Missed {
    flow: u16,
    seq: u32,
    /// Transmissions of its flow until then.
    transmissions: u32,
}

/// All flows of the mobile.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    flows: Vec<Flow>,
    /// How many of them are limited by their windows.
    limited: usize,
    /// How many have not sent all their target packets.
    unsent: usize,
    /// On the links behind the queues, oldest first but where packets overtake.
    coming: VecDeque<Coming>,
    missed: Option<Missed>,
}

impl Awaited {
    /// Flows in order: sender, receiver and target of each.
    pub fn new<'a>(flows: impl Iterator<Item = ((Standing, &'a AnyReceiver), &'a u32)>) -> Self {
        let flow = |((sender, receiver), &target): ((Standing, &AnyReceiver), &u32)| {
            let received_below = receiver.rcv_nxt();
            let mut received = BitSet::default();
            let above = (received_below..sender.snd_max).filter(|&seq| receiver.has(seq));
            above.for_each(|seq| received.insert(seq - received_below));
            Flow { sender, target, received_below, received }
        };
        let flows: Vec<_> = flows.map(flow).collect();
        Self {
            limited: flows.iter().filter(|flow| flow.sender.window_limited).count(),
            unsent: flows.iter().filter(|flow| flow.is_unsent()).count(),
            flows,
            coming: VecDeque::new(),
            missed: None,
        }
    }

    /// The sender of `flow` has changed.
    #[inline]
    pub fn stands(&mut self, flow: u16, standing: Standing) {
        let flow = &mut self.flows[usize::from(flow)];
        let before = (flow.sender.window_limited, flow.is_unsent());
        flow.sender = standing;
        self.limited = self.limited + usize::from(standing.window_limited) - usize::from(before.0);
        self.unsent = self.unsent + usize::from(flow.is_unsent()) - usize::from(before.1);
    }

    /// Whether some sender has data that its window forbids.
    pub fn window_limited(&self) -> bool {
        self.limited > 0
    }

    /// A data packet is behind the queues before the mobile, or in the last of them.
    #[inline]
    pub fn comes(&mut self, packet: &Packet) {
        let &Packet { flow, copy, .. } = packet;
        self.coming.push_back(Coming { flow, copy, seq: packet.segment.seq });
    }

    /// It has left a link.
    #[inline]
    pub fn has_come(&mut self, packet: &Packet) {
        let index = self.coming.iter().position(|coming| is_of(coming, packet));
        index.and_then(|index| self.coming.remove(index));
    }

    /// It will not be with the mobile. It is mostly the last.
    pub fn comes_no_more(&mut self, packet: &Packet) {
        let index = self.coming.iter().rposition(|coming| is_of(coming, packet));
        index.and_then(|index| self.coming.remove(index));
    }

    /// The mobile has received a packet for the first time.
    #[inline]
    pub fn received(&mut self, flow: u16, seq: u32) {
        let flow = &mut self.flows[usize::from(flow)];
        if let Some(distance) = seq.checked_sub(flow.received_below) {
            flow.received.insert(distance);
        }
    }

    /// Whether every target packet is with the mobile or beyond the queues on its way to it.
    pub fn only_acks(&mut self) -> bool {
        // Not even sent.
        if self.unsent > 0 {
            return false;
        }
        let (flows, coming) = (&self.flows, &self.coming);
        let is_missing = |flow: u16, seq: u32| !flows[usize::from(flow)].has(seq);
        let transmissions = |flow: u16| flows[usize::from(flow)].sender.transmissions;
        // Thousands may be missing, and thousands under way: what was missed last time mostly still is, and for
        // certain while its flow sends nothing.
        let last = self.missed.filter(|last| {
            is_missing(last.flow, last.seq)
                && (last.transmissions == transmissions(last.flow)
                    || !coming.iter().any(|other| (other.flow, other.seq) == (last.flow, last.seq)))
        });
        let first = || {
            let mut coming: Vec<_> = coming.iter().map(|coming| (coming.flow, coming.seq)).collect();
            coming.sort_unstable();
            let missing = flows.iter().enumerate().rev().flat_map(|(id, flow)| {
                let seqs = (flow.sender.snd_una..flow.target).rev();
                seqs.map(move |seq| (id as u16, seq)).filter(|&(flow, seq)| is_missing(flow, seq))
            });
            let mut missed = missing.filter(|packet| coming.binary_search(packet).is_err());
            missed.next()
        };
        let missed = last.map(|last| (last.flow, last.seq)).or_else(first);
        self.missed = missed.map(|(flow, seq)| Missed { flow, seq, transmissions: transmissions(flow) });
        self.missed.is_none()
    }
}

fn is_of(coming: &Coming, packet: &Packet) -> bool {
    (coming.flow, coming.copy) == (packet.flow, packet.copy)
}
