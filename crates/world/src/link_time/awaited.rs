//! Causes for which senders wait: windows that forbid, target packets that are missing, ACKs.

use super::Standing;
use crate::bit_set::BitSet;
use crate::packet::Packet;
use segue_tcp::AnyReceiver;

/// One flow.
#[derive(Clone, Debug)]
struct Flow {
    sender: Standing,
    /// Number that its cumulative ACK has to reach.
    target: u32,
    /// The mobile has all packets below.
    received_below: u32,
    /// Packets from there up to the target that it has, by their distance.
    received: BitSet,
    /// How many copies of each of these packets will be with the mobile, by their distance: those on the links behind
    /// the queues.
    coming: Vec<i32>,
}

impl Flow {
    /// Where a packet counts: its distance, if it is a target packet that the mobile did not have at first.
    #[inline]
    fn distance(&self, seq: u32) -> Option<u32> {
        if seq < self.target { seq.checked_sub(self.received_below) } else { None }
    }

    /// Whether the mobile has a target packet.
    fn has(&self, seq: u32) -> bool {
        self.distance(seq).is_none_or(|distance| self.received.contains(distance))
    }

    /// Whether a target packet that the mobile does not have is on its way to it.
    fn is_coming(&self, seq: u32) -> bool {
        let copies = self.distance(seq).and_then(|distance| self.coming.get(distance as usize));
        copies.is_some_and(|&copies| copies > 0)
    }

    /// Some target packet has not been sent.
    fn is_unsent(&self) -> bool {
        self.sender.snd_max < self.target
    }
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
            Flow { sender, target, received_below, received, coming: Vec::new() }
        };
        let flows: Vec<_> = flows.map(flow).collect();
        Self {
            limited: flows.iter().filter(|flow| flow.sender.window_limited).count(),
            unsent: flows.iter().filter(|flow| flow.is_unsent()).count(),
            flows,
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

    /// So many more copies of a data packet are behind the queues before the mobile, or in the last of them.
    #[inline]
    pub fn comes(&mut self, packet: &Packet, copies: i32) {
        let flow = &mut self.flows[usize::from(packet.flow)];
        if let Some(distance) = flow.distance(packet.segment.seq) {
            let distance = distance as usize;
            if flow.coming.len() <= distance {
                flow.coming.resize(distance + 1, 0);
            }
            flow.coming[distance] += copies;
        }
    }

    /// The mobile has received a packet for the first time.
    #[inline]
    pub fn received(&mut self, flow: u16, seq: u32) {
        let flow = &mut self.flows[usize::from(flow)];
        if let Some(distance) = flow.distance(seq) {
            flow.received.insert(distance);
        }
    }

    /// Whether every target packet is with the mobile or beyond the queues on its way to it.
    pub fn only_acks(&mut self) -> bool {
        // Not even sent.
        if self.unsent > 0 {
            return false;
        }
        let flows = &self.flows;
        let is_missing = |flow: u16, seq: u32| !flows[usize::from(flow)].has(seq);
        let transmissions = |flow: u16| flows[usize::from(flow)].sender.transmissions;
        // Thousands may be missing, and thousands under way: what was missed last time mostly still is, and for
        // certain while its flow sends nothing.
        let last = self.missed.filter(|last| {
            is_missing(last.flow, last.seq)
                && (last.transmissions == transmissions(last.flow)
                    || !flows[usize::from(last.flow)].is_coming(last.seq))
        });
        let first = || {
            let missing = flows.iter().enumerate().rev().flat_map(|(id, flow)| {
                let seqs = (flow.sender.snd_una..flow.target).rev();
                seqs.map(move |seq| (id as u16, seq)).filter(|&(flow, seq)| is_missing(flow, seq))
            });
            let mut missed = missing.filter(|&(flow, seq)| !flows[usize::from(flow)].is_coming(seq));
            missed.next()
        };
        let missed = last.map(|last| (last.flow, last.seq)).or_else(first);
        self.missed = missed.map(|(flow, seq)| Missed { flow, seq, transmissions: transmissions(flow) });
        self.missed.is_none()
    }
}
