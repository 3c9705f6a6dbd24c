//! Packets out of order, and the SACK and D-SACK blocks that report them.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_data_queue`, `tcp_data_queue_ofo`, `tcp_ooo_try_coalesce`, `tcp_dsack_set`,
//! `tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`, `tcp_sack_remove`).

use super::LinuxReceiver;
use super::buffer::{TRUESIZE, TRUESIZE_CUT, TRUESIZE_OUT_OF_ORDER};
use super::delayed_ack::MAX_QUICKACKS;
use crate::ranges::Ranges;
use crate::segment::{Detail, Ecn, Segment};

/// SACK blocks that are remembered (`TCP_NUM_SACKS`), and those beyond which nothing is compressed.
const NUM_SACKS: usize = 4;
const BLOCKS_EXPECTED: usize = 2;

/// Packets that have arrived above `rcv_nxt`, and how they are reported.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    pub(super) ranges: Ranges,
    /// Blocks to report, most recent first (`selective_acks`).
    pub(super) sacks: Vec<(u32, u32)>,
    /// For the next ACK (`duplicate_sack`).
    pub(super) dsack: Option<(u32, u32)>,
    pub(super) reports_duplicates: bool,
    /// Buffers, ascending (`out_of_order_queue`), and the memory that they take.
    out_of_order: Vec<Held>,
    memory: u32,
}

/// A buffer out of order.
#[derive(Clone, Copy, Debug)]
struct Held {
    first: u32,
    end: u32,
    /// The head has room for one segment more.
    has_room: bool,
    truesize: u32,
}

impl Reassembly {
    pub(super) fn new(reports_duplicates: bool) -> Self {
        Self {
            ranges: Ranges::default(),
            sacks: Vec::with_capacity(NUM_SACKS),
            dsack: None,
            reports_duplicates,
            out_of_order: Vec::new(),
            memory: 0,
        }
    }
}

impl LinuxReceiver {
    /// `tcp_data_queue`.
    pub(super) fn queue(&mut self, segment: &Segment) {
        let Segment { seq, push, ecn, detail, .. } = *segment;
        let cut = detail == Detail::Cut;
        if seq == self.rcv_nxt {
            self.rcv_nxt += 1;
            self.ack.pushed |= push; // `tcp_measure_rcv_mss`
            self.buffer.unread = if cut { TRUESIZE_CUT } else { TRUESIZE };
            if seq == 1 {
                self.buffer.see_first(self.buffer.unread);
            }
            self.buffer.first_unread = self.rcv_nxt;
            self.event_data_recv(ecn);
            if !self.reassembly.ranges.is_empty() {
                if let Some(next) = self.reassembly.ranges.take_from(self.rcv_nxt) {
                    self.rcv_nxt = next;
                    self.ofo_queue(!cut);
                }
                self.ack.now |= self.reassembly.ranges.is_empty(); // the gap is filled (RFC 5681, 4.2)
            }
            self.sack_remove();
        } else if seq < self.rcv_nxt {
            self.set_duplicate(seq);
            self.enter_quickack_mode(MAX_QUICKACKS);
            self.ack.scheduled = true;
        } else {
            self.queue_out_of_order(seq, ecn, cut);
        }
    }

    /// Data that has become in order waits to be read. A single packet finds room in the buffer of a single one before it,
    /// as which the one that has just come may count (`tcp_ofo_queue`, `tcp_try_coalesce`).
    fn ofo_queue(&mut self, mut has_room: bool) {
        let ready = self.reassembly.out_of_order.partition_point(|held| held.first < self.rcv_nxt);
        for held in self.reassembly.out_of_order.drain(..ready) {
            self.reassembly.memory -= held.truesize;
            if has_room && held.end - held.first == 1 {
                has_room = false;
                if held.first == self.buffer.first_unread {
                    self.buffer.first_unread = held.end;
                }
            } else {
                has_room = held.has_room;
                self.buffer.unread += held.truesize;
            }
        }
    }

    /// Memory of what is in the buffer, read or not (`sk_rmem_alloc`).
    pub(super) fn held(&self) -> u32 {
        self.buffer.unread + self.reassembly.memory
    }

    /// `tcp_data_queue_ofo`.
    fn queue_out_of_order(&mut self, seq: u32, ecn: Ecn, cut: bool) {
        self.check_ce(ecn);
        self.ack.scheduled = true;
        let first = self.reassembly.ranges.is_empty();
        let new = self.reassembly.ranges.insert(seq);
        if first {
            self.reassembly.sacks.clear();
            self.reassembly.sacks.push((seq, seq + 1));
        } else {
            if !new {
                self.set_duplicate(seq);
            }
            self.sack_new(seq);
        }
        if new {
            self.grow_window();
            self.hold(seq, cut);
        }
    }

    /// Keeps a packet out of order, with the one before it if there is room (`tcp_ooo_try_coalesce`).
    fn hold(&mut self, seq: u32, cut: bool) {
        let index = self.reassembly.out_of_order.partition_point(|held| held.first < seq);
        let before = index.checked_sub(1).map(|before| &mut self.reassembly.out_of_order[before]);
        if let Some(held) = before.filter(|held| held.end == seq && held.has_room) {
            (held.end, held.has_room) = (seq + 1, false);
            return;
        }
        let truesize = if cut { TRUESIZE_CUT } else { TRUESIZE_OUT_OF_ORDER };
        self.reassembly.memory += truesize;
        self.reassembly
            .out_of_order
            .insert(index, Held { first: seq, end: seq + 1, has_room: !cut, truesize });
    }

    /// `tcp_dsack_set`.
    pub(super) fn set_duplicate(&mut self, seq: u32) {
        if self.reassembly.reports_duplicates && self.profile.sack_blocks > 0 {
            self.reassembly.dsack = Some((seq, seq + 1));
        }
    }

    /// `tcp_sack_new_ofo_skb`: the block of packet `seq` comes first.
    fn sack_new(&mut self, seq: u32) {
        let touching = |&(left, right): &(u32, u32)| seq <= right && left <= seq + 1;
        if let Some(at) = self.reassembly.sacks.iter().position(touching) {
            let block = &mut self.reassembly.sacks[at];
            *block = (block.0.min(seq), block.1.max(seq + 1));
            if at >= BLOCKS_EXPECTED {
                self.send_compressed();
            }
            self.reassembly.sacks[..=at].rotate_right(1);
            // `tcp_sack_maybe_coalesce`
            let mut k = 1;
            while k < self.reassembly.sacks.len() {
                let (first, other) = (self.reassembly.sacks[0], self.reassembly.sacks[k]);
                if other.0 <= first.1 && first.0 <= other.1 {
                    self.reassembly.sacks[0] = (first.0.min(other.0), first.1.max(other.1));
                    self.reassembly.sacks.remove(k);
                } else {
                    k += 1;
                }
            }
            return;
        }
        if self.reassembly.sacks.len() >= BLOCKS_EXPECTED {
            self.send_compressed();
        }
        self.reassembly.sacks.truncate(NUM_SACKS - 1);
        self.reassembly.sacks.insert(0, (seq, seq + 1));
    }

    /// `tcp_sack_remove`.
    fn sack_remove(&mut self) {
        if self.reassembly.ranges.is_empty() {
            self.reassembly.sacks.clear();
        }
        let rcv_nxt = self.rcv_nxt;
        self.reassembly.sacks.retain(|block| block.0 > rcv_nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::LINUX_6_12;
    use crate::segment::{SackList, Timestamps};

    fn packet(seq: u32, cut: bool) -> Segment {
        Segment {
            seq,
            ack: u32::from(seq > 0),
            window: 1_000,
            payload: if seq > 0 { 1448 } else { 0 },
            syn: seq == 0,
            push: false,
            has_ack: seq > 0,
            detail: if cut { Detail::Cut } else { Detail::None },
            ecn: Default::default(),
            sack: SackList::default(),
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            option: Default::default(),
        }
    }

    /// Memory of packets 3 and on, which wait for packet 2; and with it that of those up to the next hole. Each is cut
    /// from a burst (c) or not (w).
    fn memory(two: char, waiting: &[(u32, char)]) -> (u32, u32) {
        let mut receiver = LinuxReceiver::new(&LINUX_6_12, LINUX_6_12.kernel.expect("a kernel"));
        for seq in 0..2 {
            receiver.on_segment(0, &packet(seq, false));
        }
        for &(seq, kind) in waiting {
            receiver.on_segment(0, &packet(seq, kind == 'c'));
        }
        let held = receiver.held();
        receiver.queue(&packet(2, two == 'c'));
        (held, receiver.held())
    }

    /// `skb_try_coalesce`: a head of 4,096 bytes has room for one segment more, one of 2,048 has not.
    #[test]
    fn segments_of_bursts_have_heads_of_their_own() {
        assert_eq!(memory('w', &[(3, 'w'), (4, 'w')]), (4_352, 2_280 + 4_352));
        assert_eq!(memory('w', &[(3, 'w'), (4, 'c')]), (4_352, 2_280 + 4_352));
        assert_eq!(memory('w', &[(3, 'c'), (4, 'c')]), (2 * 2_304, 2_280 + 2_304));
        assert_eq!(memory('c', &[(3, 'c'), (4, 'w')]), (2_304 + 4_352, 2 * 2_304 + 4_352));
        assert_eq!(memory('c', &[(3, 'w'), (5, 'c')]), (4_352 + 2_304, 2_304 + 4_352 + 2_304));
    }
}
