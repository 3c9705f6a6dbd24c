//! Packets out of order, and the SACK and D-SACK blocks that report them.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_data_queue`, `tcp_data_queue_ofo`, `tcp_ooo_try_coalesce`, `tcp_dsack_set`,
//! `tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`, `tcp_sack_remove`).

use super::LinuxReceiver;
use super::buffer::{TRUESIZE, TRUESIZE_OUT_OF_ORDER};
use super::delayed_ack::MAX_QUICKACKS;
use crate::ranges::Ranges;
use crate::segment::{Ecn, Segment};

/// SACK blocks that are remembered (`TCP_NUM_SACKS`), and those beyond which nothing is compressed.
const NUM_SACKS: usize = 4;
const BLOCKS_EXPECTED: usize = 2;
/// Segments out of order that follow one another and share a buffer (`skb_try_coalesce`).
const SEGMENTS_OUT_OF_ORDER: u32 = 2;

/// Packets that have arrived above `rcv_nxt`, and how they are reported.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    pub(super) ranges: Ranges,
    /// Blocks to report, most recent first (`selective_acks`).
    pub(super) sacks: Vec<(u32, u32)>,
    /// For the next ACK (`duplicate_sack`).
    pub(super) dsack: Option<(u32, u32)>,
    pub(super) reports_duplicates: bool,
    /// Buffers, first packet and one beyond the last, ascending (`out_of_order_queue`).
    out_of_order: Vec<(u32, u32)>,
}

impl Reassembly {
    pub(super) fn new(reports_duplicates: bool) -> Self {
        Self {
            ranges: Ranges::default(),
            sacks: Vec::with_capacity(NUM_SACKS),
            dsack: None,
            reports_duplicates,
            out_of_order: Vec::new(),
        }
    }
}

impl LinuxReceiver {
    /// `tcp_data_queue`.
    pub(super) fn queue(&mut self, segment: &Segment) {
        let Segment { seq, push, ecn, .. } = *segment;
        if seq == self.rcv_nxt {
            self.rcv_nxt += 1;
            self.ack.pushed |= push; // `tcp_measure_rcv_mss`
            self.buffer.unread = TRUESIZE;
            self.buffer.first_unread = self.rcv_nxt;
            self.event_data_recv(ecn);
            if !self.reassembly.ranges.is_empty() {
                if let Some(next) = self.reassembly.ranges.take_from(self.rcv_nxt) {
                    self.rcv_nxt = next;
                    self.ofo_queue();
                }
                self.ack.now |= self.reassembly.ranges.is_empty(); // the gap is filled (RFC 5681, 4.2)
            }
            self.sack_remove();
        } else if seq < self.rcv_nxt {
            self.set_duplicate(seq);
            self.enter_quickack_mode(MAX_QUICKACKS);
            self.ack.scheduled = true;
        } else {
            self.queue_out_of_order(seq, ecn);
        }
    }

    /// Data that has become in order waits to be read. A single packet finds room in the buffer of a single one before it
    /// (`tcp_ofo_queue`, `tcp_try_coalesce`).
    fn ofo_queue(&mut self) {
        let ready = self.reassembly.out_of_order.partition_point(|held| held.0 < self.rcv_nxt);
        let mut last = 1; // packets of the last buffer, which has the one that has just come
        for (left, right) in self.reassembly.out_of_order.drain(..ready) {
            if last == 1 && right - left == 1 {
                last = 2;
                if left == self.buffer.first_unread {
                    self.buffer.first_unread = right;
                }
            } else {
                last = right - left;
                self.buffer.unread += TRUESIZE_OUT_OF_ORDER;
            }
        }
    }

    /// Memory of what is in the buffer, read or not (`sk_rmem_alloc`).
    pub(super) fn held(&self) -> u32 {
        self.buffer.unread + self.reassembly.out_of_order.len() as u32 * TRUESIZE_OUT_OF_ORDER
    }

    /// `tcp_data_queue_ofo`.
    fn queue_out_of_order(&mut self, seq: u32, ecn: Ecn) {
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
            self.hold(seq);
        }
    }

    /// Keeps a packet out of order, with the one before it if there is room (`tcp_ooo_try_coalesce`).
    fn hold(&mut self, seq: u32) {
        let index = self.reassembly.out_of_order.partition_point(|held| held.0 < seq);
        let before = index.checked_sub(1).map(|before| &mut self.reassembly.out_of_order[before]);
        match before.filter(|held| held.1 == seq && held.1 - held.0 < SEGMENTS_OUT_OF_ORDER) {
            Some(held) => held.1 += 1,
            None => self.reassembly.out_of_order.insert(index, (seq, seq + 1)),
        }
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
