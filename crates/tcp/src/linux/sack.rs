//! SACK and D-SACK: tags on the queue, reordering.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_sacktag_write_queue`, `tcp_sacktag_walk`, `tcp_sacktag_one`,
//! `tcp_is_sackblock_valid`, `tcp_check_dsack`, `tcp_dsack_seen`, `tcp_check_sack_reordering`); RFC 2018, RFC 2883.

use super::cc::RateSample;
use super::cc::rate::Delivered;
use super::queue::{ANY_RETRANS, LOST, RETRANS, SACKED};
use super::{CaState, LinuxSender, flag};
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
    reord: u32,
    /// Packets delivered.
    pub delivered: u32,
    pub flags: u32,
}

/// A SACK block, and whether it reports a duplicate.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    start: u32,
    end: u32,
    dup: bool,
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
        let mut at = None;
        for i in 0..blocks.len() {
            let block = blocks[i];
            let next_dup = blocks.get(i + 1).filter(|next| next.dup).copied();
            // `tcp_sacktag_skip`: never backwards, so that a duplicate inside a block counts once.
            let from = match at {
                Some(at) if at > block.start => at,
                _ if block.start < self.queue.head() => continue,
                _ => block.start,
            };
            at = Some(self.sacktag_walk(from, block, next_dup, tag, rs));
        }
        if self.sk.ca_state != CaState::Loss || self.undo_marker.is_some() {
            self.check_reordering(tag.reord);
        }
    }

    /// Tags the packets of one block from `seq` on; returns where it ended (`tcp_sacktag_walk`).
    fn sacktag_walk(
        &mut self,
        from: u32,
        block: Block,
        next_dup: Option<Block>,
        tag: &mut SackTag,
        rs: &mut RateSample,
    ) -> u32 {
        let end = block.end.min(self.queue.end());
        let mut seq = from;
        while seq < end {
            let dup = block.dup || next_dup.is_some_and(|dup| dup.start <= seq && seq < dup.end);
            if !dup && self.queue.get(seq).has(SACKED) {
                // Nothing is new here; only a duplicate that is reported may still be told.
                let stop = next_dup.filter(|dup| seq < dup.start).map_or(end, |dup| dup.start);
                seq = self.queue.run_end(seq).min(stop).max(seq + 1);
                continue;
            }
            self.sacktag_one(seq, dup, tag);
            self.note_delivered(seq, rs);
            if self.queue.get(seq).has(SACKED) {
                self.queue.unlist(seq);
            }
            if seq >= self.highest_sack_seq() {
                self.highest_sack = seq + 1; // `tcp_advance_highest_sack`
            }
            seq += 1;
        }
        if from < end && !block.dup && self.queue.get(from).has(SACKED) {
            self.queue.note_run(from, end);
        }
        seq
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

    /// Packet `seq` lies in a block (`tcp_sacktag_one`).
    fn sacktag_one(&mut self, seq: u32, dup: bool, tag: &mut SackTag) {
        let packet = *self.queue.get(seq);
        let mut flags = packet.flags;
        if dup && packet.has(ANY_RETRANS) {
            if self.undo_retrans > 0 && self.undo_marker.is_some_and(|marker| seq + 1 > marker) {
                self.undo_retrans -= 1;
            }
            if packet.has(SACKED) {
                tag.reord = tag.reord.min(seq);
            }
        }
        // About to be acknowledged.
        if seq < self.sk.snd_una {
            return;
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
            self.sk.sacked_out += 1;
            tag.delivered += 1;
            self.note_on_path(&packet);
        }
        if dup && flags & RETRANS != 0 {
            flags &= !RETRANS;
            self.sk.retrans_out -= 1;
        }
        self.queue.get_mut(seq).flags = flags;
        // A retransmission that was not called lost is left alone.
        if !dup && flags & SACKED != 0 && packet.flags & (SACKED | LOST | RETRANS) != RETRANS {
            self.queue.merge(seq);
        }
    }

    /// `tcp_is_sackblock_valid`.
    fn is_sack_block_valid(&self, dup: bool, start: u32, end: u32) -> bool {
        if end > self.sk.snd_nxt || start >= end || start >= self.sk.snd_nxt {
            return false;
        }
        if start > self.sk.snd_una {
            return true;
        }
        let Some(marker) = self.undo_marker.filter(|_| dup) else { return false };
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
        if self.undo_retrans > 0 && end <= prior_una && self.undo_marker.is_some_and(|marker| end > marker) {
            self.undo_retrans = (self.undo_retrans - dups as i32).max(0);
        }
        true
    }

    /// Packets that a D-SACK reports, 0 if it cannot be due to this sender (`tcp_dsack_seen`).
    fn dsack_seen(&mut self, start: u32, end: u32, tag: &mut SackTag) -> u32 {
        if start >= end || end - start > self.max_window {
            return 0;
        }
        let dups = end - start;
        if dups == 1 && self.tlp_high_seq != 0 && self.tlp_high_seq == end {
            tag.flags |= flag::DSACK_TLP;
        }
        self.dsack_dups += dups;
        if self.dsack_dups > self.total_retrans {
            return 0;
        }
        // RACK is not to blame for a probe, nor without reordering.
        if self.reord_seen > 0 && tag.flags & flag::DSACK_TLP == 0 {
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
        if metric > self.reordering {
            self.reordering = metric.min(MAX_REORDERING);
        }
        self.reord_seen += 1;
    }
}
