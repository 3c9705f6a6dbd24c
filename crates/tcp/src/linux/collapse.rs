//! The walk through a SACK block: packets are tagged, and SACKed neighbours become one buffer.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_sacktag_walk`, `tcp_match_skb_to_sack`, `tcp_shift_skb_data`, `tcp_shifted_skb`,
//! `tcp_skb_shift`). Buffers decide which D-SACKs are seen. One that lies in a buffer is cut out of it, and the walk
//! may merge it again before it comes to it.

use super::LinuxSender;
use super::cc::RateSample;
use super::queue::{EVER_RETRANS, LOST, PUSH, RETRANS, SACKED};
use super::sack::{Block, SackTag};
use crate::advice::Advisor;

/// Bytes that a buffer stays below: 65535 segments of at least eight bytes (`TCP_MIN_GSO_SIZE`).
const LARGEST: u32 = 65_535 * 8;

/// The fate of a buffer that might be merged with the one before (`tcp_shift_skb_data`).
enum Shift {
    /// It has been merged, with this one.
    Into(u32),
    /// It stays as it is, and untagged.
    Nothing,
    /// It stays by itself.
    Fallback,
}

impl<A: Advisor> LinuxSender<A> {
    /// Tags the buffers of one block from `at` on; returns the one where it ended, if any (`tcp_sacktag_walk`).
    pub(super) fn sacktag_walk(
        &mut self,
        mut at: Option<u32>,
        block: Block,
        next_dup: Option<Block>,
        tag: &mut SackTag,
        rs: &mut RateSample,
    ) -> Option<u32> {
        while let Some(seq) = at.filter(|&seq| seq < block.end) {
            let mut dup = block.dup;
            let mut in_block = false;
            if let Some(next) = next_dup.filter(|next| seq < next.end) {
                in_block = self.match_block(seq, next.start, next.end);
                dup |= in_block;
            }
            if !in_block {
                match self.shift(seq, Block { dup, ..block }, tag, rs) {
                    Shift::Into(first) => {
                        at = self.buffer_behind(first);
                        continue;
                    }
                    Shift::Nothing => {}
                    Shift::Fallback => in_block = self.match_block(seq, block.start, block.end),
                }
            }
            if in_block {
                let packets = self.queue.buffer_packets(seq);
                let flags = self.sacktag_one(seq, packets, dup, tag);
                self.queue.get_mut(seq).flags = flags;
                self.note_delivered(seq, rs);
                if flags & SACKED != 0 && packets == 1 {
                    self.queue.unlist(seq);
                }
                self.advance_highest_sack(seq, packets);
            }
            at = self.buffer_behind(seq);
        }
        at
    }

    fn buffer_behind(&self, first: u32) -> Option<u32> {
        let next = self.queue.buffer_end(first);
        (next < self.queue.end()).then_some(next)
    }

    /// `tcp_advance_highest_sack`.
    fn advance_highest_sack(&mut self, seq: u32, packets: u32) {
        if seq >= self.highest_sack_seq() {
            self.highest_sack = seq + packets;
        }
    }

    /// Whether the buffer that begins with `seq` lies in `start..end`. Where the range ends or begins within it, it is
    /// cut in two (`tcp_match_skb_to_sack`).
    fn match_block(&mut self, seq: u32, start: u32, end: u32) -> bool {
        let buffer_end = self.queue.buffer_end(seq);
        if start <= seq && buffer_end <= end {
            return true;
        }
        if buffer_end - seq == 1 || buffer_end <= start {
            return false;
        }
        let begins = start <= seq;
        self.queue.split(seq, if begins { end } else { start });
        begins
    }

    /// Merges what the block has of the buffer `seq` with the buffer before, and that with the one behind if both are
    /// SACKed now (`tcp_shift_skb_data`).
    fn shift(&mut self, seq: u32, block: Block, tag: &mut SackTag, rs: &mut RateSample) -> Shift {
        let end = self.queue.buffer_end(seq);
        let retransmitted = self.queue.get(seq).flags & (LOST | RETRANS) == RETRANS;
        if (!block.dup && retransmitted) || end <= self.sk.snd_una || seq == self.queue.head() {
            return Shift::Fallback;
        }
        let first = self.queue.buffer_of(seq - 1);
        if !self.queue.is_plainly_sacked(first) {
            return Shift::Fallback;
        }
        let shifted = match block.start <= seq && end <= block.end {
            true => end,
            false if end <= block.start || end - seq == 1 => return Shift::Nothing,
            false if block.start > seq => return Shift::Fallback,
            false => block.end,
        };
        if shifted <= self.sk.snd_una || !self.fits(first, shifted) {
            return Shift::Fallback;
        }
        if shifted < end {
            self.queue.split(seq, shifted);
        }
        self.shifted(first, seq, block.dup, tag, rs);
        if shifted < end {
            return Shift::Into(first);
        }
        if let Some(next) = self.buffer_behind(first)
            && self.queue.is_plainly_sacked(next)
            && self.fits(first, self.queue.buffer_end(next))
        {
            self.shifted(first, next, false, tag, rs);
        }
        Shift::Into(first)
    }

    /// Whether a buffer `first..end` is not too large (`tcp_skb_shift`).
    fn fits(&self, first: u32, end: u32) -> bool {
        (end - first).saturating_mul(self.sk.mss_cache) < LARGEST
    }

    /// The buffer `seq` is tagged and becomes a part of `first` (`tcp_shifted_skb`).
    fn shifted(&mut self, first: u32, seq: u32, dup: bool, tag: &mut SackTag, rs: &mut RateSample) {
        let packets = self.queue.buffer_packets(seq);
        self.sacktag_one(seq, packets, dup, tag);
        if packets == 1 {
            self.queue.unlist(seq);
            let packet = self.queue.get_mut(seq);
            packet.flags = packet.flags & (EVER_RETRANS | PUSH) | SACKED;
        }
        self.note_delivered(seq, rs);
        self.advance_highest_sack(seq, packets);
        if self.retransmit_hint == Some(seq) {
            self.retransmit_hint = Some(first);
        }
        self.queue.join(first, seq);
    }
}
