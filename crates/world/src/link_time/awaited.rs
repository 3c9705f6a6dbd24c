//! Causes for which senders wait: windows that forbid, target packets that are missing, ACKs.

use super::Standing;
use crate::bit_set::BitSet;
use crate::packet::Packet;
use segue_tcp::AnyReceiver;
use std::ops::Range;

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

    /// Whether a packet from the first unacknowledged one on, before the target, is neither with the mobile nor on its
    /// way to it.
    fn is_stranded(&self, seq: u32) -> bool {
        self.sender.snd_una <= seq
            && self.distance(seq).is_some_and(|distance| {
                let copies = self.coming.get(distance as usize);
                !self.received.contains(distance) && copies.is_none_or(|&copies| copies <= 0)
            })
    }

    /// How many of these packets are.
    fn stranded(&self, seqs: Range<u32>) -> usize {
        let targets = seqs.start.max(self.received_below)..seqs.end.min(self.target);
        targets.filter(|&seq| self.is_stranded(seq)).count()
    }

    /// Some target packet has not been sent.
    fn is_unsent(&self) -> bool {
        self.sender.snd_max < self.target
    }
}

/// All flows of the mobile.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    flows: Vec<Flow>,
    /// How many of them are limited by their windows.
    limited: usize,
    /// How many have not sent all their target packets.
    unsent: usize,
    /// How many packets are stranded ([`Flow::is_stranded`]), of those that have not been sent, too.
    stranded: usize,
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
            stranded: flows.iter().map(|flow| flow.stranded(0..flow.target)).sum(),
            flows,
        }
    }

    /// The sender of `flow` has changed.
    #[inline]
    pub fn stands(&mut self, flow: u16, standing: Standing) {
        let flow = &mut self.flows[usize::from(flow)];
        let before = (flow.sender.window_limited, flow.is_unsent());
        let (from, to) = (flow.sender.snd_una, standing.snd_una);
        // Acknowledged packets count no more; a connection that begins anew has acknowledged fewer.
        if from < to {
            self.stranded -= flow.stranded(from..to);
        }
        flow.sender = standing;
        if to < from {
            self.stranded += flow.stranded(to..from);
        }
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
            let place = distance as usize;
            if flow.coming.len() <= place {
                flow.coming.resize(place + 1, 0);
            }
            let was_stranded = flow.is_stranded(packet.segment.seq);
            flow.coming[place] += copies;
            let is_stranded = flow.is_stranded(packet.segment.seq);
            self.stranded = self.stranded + usize::from(is_stranded) - usize::from(was_stranded);
        }
    }

    /// The mobile has received a packet for the first time.
    #[inline]
    pub fn received(&mut self, flow: u16, seq: u32) {
        let flow = &mut self.flows[usize::from(flow)];
        if let Some(distance) = flow.distance(seq) {
            self.stranded -= usize::from(flow.is_stranded(seq));
            flow.received.insert(distance);
        }
    }

    /// Whether every target packet is with the mobile or beyond the queues on its way to it.
    pub fn only_acks(&self) -> bool {
        self.unsent == 0 && self.stranded == 0
    }
}
