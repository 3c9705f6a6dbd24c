//! SACK and D-SACK: tags on the queue, reordering.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_sacktag_write_queue`, `tcp_sacktag_skip`, `tcp_maybe_skipping_dsack`,
//! `tcp_sacktag_one`, `tcp_is_sackblock_valid`, `tcp_check_dsack`, `tcp_dsack_seen`, `tcp_check_sack_reordering`);
//! RFC 2018, RFC 2883. The walk through a block is `collapse.rs`.

use super::cc::RateSample;
use super::cc::rate::Delivered;
use super::queue::{ANY_RETRANS, LOST, RETRANS, SACKED};
use super::{CaState, LinuxSender, REORDERING, flag};
use crate::advice::Advisor;
use crate::segment::{MAX_SACK_BLOCKS, Segment};

/// Largest degree of reordering (`tcp_max_reordering`).
pub(super) const MAX_REORDERING: u32 = 300;

/// News in the SACK blocks of an ACK (`struct tcp_sacktag_state`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SackTag {
    /// Send times, us, of the first and the last newly SACKed packet that was sent once; 0 = none.
    pub first_sackt: u64,
    pub last_sackt: u64,
    /// Lowest packet that came late.
    pub reord: u32,
    /// Packets delivered.
    pub delivered: u32,
    pub flags: u32,
}

/// A SACK block, and whether it reports a duplicate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    pub start: u32,
    pub end: u32,
    pub dup: bool,
}

/// Blocks of the last ACK that had any, ascending; empty ones come first (`recv_sack_cache`). Their packets are tagged.
pub(super) type Cache = [(u32, u32); MAX_SACK_BLOCKS];

/// Reordering on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reorder {
    /// Its degree, packets (`reordering`).
    pub degree: u32,
    /// Times that it was seen (`reord_seen`).
    pub seen: u32,
    /// D-SACKs (`dsack_dups`).
    pub dsacks: u32,
}

impl Default for Reorder {
    fn default() -> Self {
        Self { degree: REORDERING, seen: 0, dsacks: 0 }
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// One beyond the highest SACKed packet (`tcp_highest_sack_seq`).
    #[inline]
    pub(super) fn highest_sack_seq(&self) -> u32 {
        if self.sk.sacked_out == 0 { self.sk.snd_una } else { self.highest_sack }
    }

    /// Tags the queue by the blocks of `ack` (`tcp_sacktag_write_queue`).
    pub(super) fn sacktag(&mut self, ack: &Segment, prior_una: u32, tag: &mut SackTag, rs: &mut RateSample) {
        tag.flags = 0;
        tag.reord = self.sk.snd_nxt;
        if self.sk.sacked_out == 0 {
            self.highest_sack = self.queue.head(); // `tcp_highest_sack_reset`
        }
        let found_dup = self.check_dsack(ack, prior_una, tag);
        if self.sk.packets_out == 0 {
            return;
        }
        let mut blocks = [Block::default(); MAX_SACK_BLOCKS];
        let mut used = 0;
        for (i, &(start, end)) in ack.sack.as_slice().iter().enumerate() {
            let dup = i == 0 && found_dup;
            if self.is_sack_block_valid(dup, start, end) && end > prior_una {
                blocks[used] = Block { start, end, dup };
                used += 1;
            }
        }
        let blocks = &mut blocks[..used];
        blocks.sort_by_key(|block| block.start); // stable, as the kernel's exchanges are
        self.tag_blocks(blocks, tag, rs);
        self.sack_cache = Cache::default();
        for (slot, block) in self.sack_cache[MAX_SACK_BLOCKS - used..].iter_mut().zip(&blocks[..]) {
            *slot = (block.start, block.end);
        }
        if self.sk.ca_state != CaState::Loss || self.undo.marker.is_some() {
            self.check_reordering(tag.reord);
        }
    }

    /// Tags the packets of the blocks, ascending, that the last ACK did not report. Never backwards, so that a duplicate
    /// within a block counts once, if at all.
    fn tag_blocks(&mut self, blocks: &[Block], tag: &mut SackTag, rs: &mut RateSample) {
        let known = self.sack_cache;
        let mut cached = match self.sk.sacked_out {
            0 => known.len(),
            _ => known.iter().position(|&block| block != (0, 0)).unwrap_or(known.len()),
        };
        let mut at = None;
        let mut i = 0;
        while i < blocks.len() {
            let block = blocks[i];
            let next_dup = blocks.get(i + 1).filter(|next| next.dup).copied();
            while known.get(cached).is_some_and(|known| block.start >= known.1) {
                cached += 1;
            }
            let overlapping = known.get(cached).filter(|known| !block.dup && block.end > known.0);
            if let Some(&(start, end)) = overlapping {
                if block.start < start {
                    at = self.sacktag_skip(at, block.start);
                    at = self.sacktag_walk(at, Block { end: start, ..block }, next_dup, tag, rs);
                }
                if block.end <= end {
                    i += 1;
                    continue;
                }
                // `tcp_maybe_skipping_dsack`
                if let Some(dup) = next_dup.filter(|dup| dup.start < end) {
                    at = self.sacktag_skip(at, dup.start);
                    at = self.sacktag_walk(at, dup, None, tag, rs);
                }
                cached += 1;
                if self.highest_sack_seq() != end {
                    at = self.sacktag_skip(at, end);
                    continue;
                }
                at = self.highest_sack_buffer();
                if at.is_none() {
                    break;
                }
            } else {
                if block.start >= self.highest_sack_seq() {
                    at = self.highest_sack_buffer();
                    if at.is_none() {
                        break;
                    }
                }
                at = self.sacktag_skip(at, block.start);
            }
            at = self.sacktag_walk(at, block, next_dup, tag, rs);
            i += 1;
        }
    }

    /// The buffer behind the highest SACKed one, if there is one (`tcp_highest_sack`).
    fn highest_sack_buffer(&self) -> Option<u32> {
        (self.highest_sack < self.queue.end()).then_some(self.highest_sack)
    }

    /// The buffer `at` if it lies beyond packet `to`, else the one that holds it (`tcp_sacktag_skip`).
    fn sacktag_skip(&self, at: Option<u32>, to: u32) -> Option<u32> {
        let holds = (self.queue.head()..self.queue.end()).contains(&to);
        at.filter(|&at| at > to).or_else(|| holds.then(|| self.queue.buffer_of(to)))
    }

    /// Packet `seq` is (s)acked: it may give the rate sample.
    #[inline]
    pub(super) fn note_delivered(&mut self, seq: u32, rs: &mut RateSample) {
        let packet = self.queue.get_mut(seq);
        let delivered = Delivered {
            sent_us: packet.sent_us(),
            end_seq: seq + 1,
            retransmitted: packet.has(ANY_RETRANS),
            sacked: packet.has(SACKED),
        };
        self.sk.rate_skb_delivered(&mut packet.stamp, &delivered, rs);
    }

    /// The buffer of `packets` that begins with `seq` lies in a block; returns its flags (`tcp_sacktag_one`). Only SACKed
    /// ones have several.
    pub(super) fn sacktag_one(&mut self, seq: u32, packets: u32, dup: bool, tag: &mut SackTag) -> u8 {
        let packet = *self.queue.get(seq);
        let mut flags = packet.flags;
        if dup && packet.has(ANY_RETRANS) {
            let end = seq + packets;
            if self.undo.retrans > 0 && self.undo.marker.is_some_and(|marker| end > marker) {
                self.undo.retrans = (self.undo.retrans - packets as i32).max(0);
            }
            if packet.has(SACKED) {
                tag.reord = tag.reord.min(seq);
            }
        }
        // About to be acknowledged.
        if seq + packets <= self.sk.snd_una {
            return flags;
        }
        if !packet.has(SACKED) {
            self.rack_advance(flags, seq + 1, packet.sent_us());
            if packet.has(RETRANS) {
                // Not lost: the retransmission is believed to be under way still.
                if packet.has(LOST) {
                    flags &= !(LOST | RETRANS);
                    self.sk.lost_out -= 1;
                    self.sk.retrans_out -= 1;
                }
            } else {
                if !packet.has(ANY_RETRANS) {
                    // A hole is filled by what was sent once: reordering.
                    if seq < self.highest_sack_seq() {
                        tag.reord = tag.reord.min(seq);
                    }
                    if seq < self.high_seq {
                        tag.flags |= flag::ORIG_SACK_ACKED;
                    }
                    if !self.is_old(&packet) {
                        if tag.first_sackt == 0 {
                            tag.first_sackt = packet.sent_us();
                        }
                        tag.last_sackt = packet.sent_us();
                    }
                }
                if packet.has(LOST) {
                    flags &= !LOST;
                    self.sk.lost_out -= 1;
                }
            }
            flags |= SACKED;
            tag.flags |= flag::DATA_SACKED;
            self.sk.sacked_out += packets;
            tag.delivered += packets;
            self.note_on_path(&packet);
        }
        if dup && flags & RETRANS != 0 {
            flags &= !RETRANS;
            self.sk.retrans_out -= packets;
        }
        flags
    }

    /// `tcp_is_sackblock_valid`.
    fn is_sack_block_valid(&self, dup: bool, start: u32, end: u32) -> bool {
        if end > self.sk.snd_nxt || start >= end || start >= self.sk.snd_nxt {
            return false;
        }
        if start > self.sk.snd_una {
            return true;
        }
        let Some(marker) = self.undo.marker.filter(|_| dup) else { return false };
        if end > self.sk.snd_una {
            return false;
        }
        start >= marker || (end > marker && start.saturating_add(self.max_window) >= end)
    }

    /// Whether the first block reports a duplicate that counts (`tcp_check_dsack`).
    fn check_dsack(&mut self, ack: &Segment, prior_una: u32, tag: &mut SackTag) -> bool {
        let Some((start, end)) = ack.sack.dsack(ack.ack) else { return false };
        self.advisor.on_dsack(start, end);
        let dups = self.dsack_seen(start, end, tag);
        if dups == 0 {
            return false;
        }
        if self.undo.retrans > 0 && end <= prior_una && self.undo.marker.is_some_and(|marker| end > marker) {
            self.undo.retrans = (self.undo.retrans - dups as i32).max(0);
        }
        true
    }

    /// Packets that a D-SACK reports, 0 if it cannot be due to this sender (`tcp_dsack_seen`).
    fn dsack_seen(&mut self, start: u32, end: u32, tag: &mut SackTag) -> u32 {
        if start >= end || end - start > self.max_window {
            return 0;
        }
        let dups = end - start;
        if dups == 1 && self.tlp.high_seq != 0 && self.tlp.high_seq == end {
            tag.flags |= flag::DSACK_TLP;
        }
        self.reorder.dsacks += dups;
        if self.reorder.dsacks > self.total_retrans {
            return 0;
        }
        // RACK is not to blame for a probe, nor without reordering.
        if self.reorder.seen > 0 && tag.flags & flag::DSACK_TLP == 0 {
            self.rack.dsack_seen = true;
        }
        tag.flags |= flag::DSACKING_ACK;
        tag.delivered += dups;
        dups
    }

    /// A packet that was sent once came after later ones (`tcp_check_sack_reordering`).
    pub(super) fn check_reordering(&mut self, low_seq: u32) {
        let highest = self.highest_sack_seq();
        if low_seq >= highest {
            return;
        }
        let metric = highest - low_seq;
        if metric > self.reorder.degree {
            self.reorder.degree = metric.min(MAX_REORDERING);
        }
        self.reorder.seen += 1;
    }
}
