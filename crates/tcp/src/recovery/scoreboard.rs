//! The SACK scoreboard of RFC 6675. It has what the receiver holds beyond the cumulative ACK, which of the rest is
//! lost, and which has been retransmitted. From these it tells how much is under way.
//!
//! No step costs more than the SACK blocks that change. Packets below `lost_edge` are lost, those below `high_rxt`
//! retransmitted, and three counters turn these two edges into Pipe.

use crate::segment::SackList;
use std::collections::VecDeque;

/// SACKed packets as disjoint, ascending, never adjacent ranges, with counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    /// `HighACK + 1`.
    una: u32,
    ranges: VecDeque<(u32, u32)>,
    /// SACKed packets.
    sacked: u32,
    /// Every packet below that is not SACKed is lost.
    lost_edge: u32,
    /// SACKed packets below `lost_edge`.
    sacked_below_lost: u32,
    /// `HighRxt + 1`: every packet below that is not SACKed has been retransmitted.
    high_rxt: u32,
    /// SACKed packets below `high_rxt`.
    sacked_below_rxt: u32,
}

/// Packets of `left..right` below `edge`.
#[inline]
fn below(left: u32, right: u32, edge: u32) -> u32 {
    right.min(edge).saturating_sub(left)
}

impl Scoreboard {
    /// The cumulative ACK has moved to `una`.
    #[inline]
    pub fn advance(&mut self, una: u32) {
        self.una = una;
        while let Some(first) = self.ranges.front_mut()
            && first.0 < una
        {
            let (left, right) = (first.0, first.1.min(una));
            self.sacked -= right - left;
            self.sacked_below_lost -= below(left, right, self.lost_edge);
            self.sacked_below_rxt -= below(left, right, self.high_rxt);
            if first.1 <= una {
                self.ranges.pop_front();
            } else {
                first.0 = una;
            }
        }
        self.lost_edge = self.lost_edge.max(una);
        self.high_rxt = self.high_rxt.max(una);
    }

    /// Update() (RFC 6675, section 4): takes in the blocks of an ACK. Returns whether one of them reports a packet
    /// between HighACK and HighData that was not reported before. Such a block makes the ACK a duplicate (section 2).
    /// The block of a D-SACK reports none: its packet lies below the cumulative ACK or inside the block that follows.
    #[inline]
    pub fn update(&mut self, blocks: &SackList, snd_max: u32, dupthresh: u32) -> bool {
        let before = self.sacked;
        for &(left, right) in blocks.as_slice() {
            let (left, right) = (left.max(self.una), right.min(snd_max));
            if left < right {
                self.add(left, right);
            }
        }
        let news = self.sacked != before;
        if news {
            self.move_lost_edge(dupthresh);
        }
        news
    }

    fn add(&mut self, left: u32, right: u32) {
        // Those that it touches: first..last.
        let first = match self.ranges.back() {
            Some(&(_, end)) if end < left => self.ranges.len(),
            _ => self.ranges.partition_point(|range| range.1 < left),
        };
        let (mut l, mut r) = (left, right);
        let mut gap = left;
        let mut last = first;
        while let Some(&(from, to)) = self.ranges.get(last)
            && from <= right
        {
            self.count(gap, from);
            gap = gap.max(to);
            (l, r) = (l.min(from), r.max(to));
            last += 1;
        }
        self.count(gap, right);
        if first == last {
            self.ranges.insert(first, (l, r));
        } else {
            self.ranges[first] = (l, r);
            if last > first + 1 {
                self.ranges.drain(first + 1..last);
            }
        }
    }

    /// Packets `left..right` are newly SACKed.
    fn count(&mut self, left: u32, right: u32) {
        if left < right {
            self.sacked += right - left;
            self.sacked_below_lost += below(left, right, self.lost_edge);
            self.sacked_below_rxt += below(left, right, self.high_rxt);
        }
    }

    /// IsLost() (RFC 6675, section 4): lost is a packet above which more than (DupThresh - 1) full
    /// segments have been SACKed. In packets of one size this covers "DupThresh discontiguous
    /// sequences", too. So everything below the DupThresh-th SACKed packet from the top is lost.
    fn move_lost_edge(&mut self, dupthresh: u32) {
        let mut remaining = dupthresh.max(1);
        for &(left, right) in self.ranges.iter().rev() {
            if right - left >= remaining {
                let edge = right - remaining;
                if edge > self.lost_edge {
                    self.lost_edge = edge;
                    self.sacked_below_lost = self.sacked - dupthresh.max(1);
                }
                return;
            }
            remaining -= right - left;
        }
    }

    /// Whether packet `seq` is SACKed.
    pub fn is_sacked(&self, seq: u32) -> bool {
        let index = self.ranges.partition_point(|range| range.1 <= seq);
        self.ranges.get(index).is_some_and(|range| range.0 <= seq)
    }

    /// Packets SACKed beyond the cumulative ACK.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// IsLost() of a packet that is not SACKed.
    #[inline]
    pub fn is_lost(&self, seq: u32) -> bool {
        seq < self.lost_edge
    }

    /// SetPipe() (RFC 6675, section 4): the packets that are neither SACKed nor lost, and those
    /// that are not SACKed and have been retransmitted.
    #[inline]
    pub fn pipe(&self, snd_max: u32) -> u32 {
        let not_lost = snd_max - self.lost_edge - (self.sacked - self.sacked_below_lost);
        let retransmitted = self.high_rxt - self.una - self.sacked_below_rxt;
        not_lost + retransmitted
    }

    /// SetPipe() as the RFC has it, packet by packet. For tests.
    pub fn pipe_recomputed(&self, snd_max: u32) -> u32 {
        let sacked = |seq| self.ranges.iter().any(|&(left, right)| left <= seq && seq < right);
        let mut pipe = 0;
        for seq in (self.una..snd_max).filter(|&seq| !sacked(seq)) {
            pipe += u32::from(!self.is_lost(seq)) + u32::from(seq < self.high_rxt);
        }
        pipe
    }

    /// The first packet beyond HighRxt that is not SACKed (RFC 6675, NextSeg, 1.a).
    #[inline]
    pub fn next_hole(&self) -> u32 {
        let from = self.high_rxt;
        let index = self.ranges.partition_point(|range| range.1 <= from);
        match self.ranges.get(index) {
            Some(&(left, right)) if left <= from => right,
            _ => from,
        }
    }

    /// One beyond the highest SACKed packet (RFC 6675, NextSeg, 1.b); `una` if there is none.
    pub fn highest_sacked(&self) -> u32 {
        self.ranges.back().map_or(self.una, |range| range.1)
    }

    /// The highest outstanding packet that is not SACKed (RFC 6675, NextSeg, 4).
    pub fn highest_hole(&self, snd_max: u32) -> Option<u32> {
        let top = match self.ranges.back() {
            Some(&(left, right)) if right == snd_max => left,
            _ => snd_max,
        };
        (top > self.una).then(|| top - 1)
    }

    /// `seq` is being retransmitted. HighRxt follows if it is the next one that was due.
    pub fn mark_retransmitted(&mut self, seq: u32) {
        let due = self.next_hole();
        if seq == due {
            self.sacked_below_rxt += due - self.high_rxt; // what was skipped is SACKed
            self.high_rxt = seq + 1;
        }
    }

    /// HighRxt = HighACK: nothing has been retransmitted yet.
    pub fn forget_retransmissions(&mut self) {
        self.high_rxt = self.una;
        self.sacked_below_rxt = 0;
    }

    /// After a timeout whatever is not SACKed is lost.
    pub fn mark_all_lost(&mut self, snd_max: u32) {
        // RFC 2018, section 8: a receiver that holds `una` and does not acknowledge it has dropped
        // what it had reported.
        if self.ranges.front().is_some_and(|range| range.0 <= self.una) {
            self.ranges.clear();
            self.sacked = 0;
        }
        self.lost_edge = snd_max;
        self.sacked_below_lost = self.sacked;
        self.forget_retransmissions();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(of: &[(u32, u32)]) -> SackList {
        let mut list = SackList::default();
        for &(left, right) in of {
            list.push(left, right);
        }
        list
    }

    /// RFC 6675, IsLost: three SACKed packets above, be they in one run or in three.
    #[test]
    fn is_lost_with_three_above() {
        let mut board = Scoreboard::default();
        board.advance(1);
        assert!(board.update(&blocks(&[(3, 5)]), 20, 3));
        assert!(!board.is_lost(1));
        assert!(board.update(&blocks(&[(7, 8), (3, 5)]), 20, 3));
        assert!(board.is_lost(1) && board.is_lost(2) && !board.is_lost(5) && !board.is_lost(6));
        // 5, 6 and 8.. are under way: nothing has been retransmitted.
        assert_eq!(board.pipe(20), 2 + 12);
        board.mark_retransmitted(1);
        assert_eq!(board.pipe(20), 2 + 12 + 1);
        assert_eq!(board.next_hole(), 2);
    }

    /// RFC 6675, section 2: what is repeated is no news, nor is a D-SACK.
    #[test]
    fn repeated_blocks_are_no_news() {
        let mut board = Scoreboard::default();
        board.advance(5);
        assert!(board.update(&blocks(&[(7, 9)]), 20, 3));
        assert!(!board.update(&blocks(&[(7, 9)]), 20, 3));
        assert!(!board.update(&blocks(&[(2, 3), (7, 9)]), 20, 3), "below the cumulative ACK");
        assert!(!board.update(&blocks(&[(8, 9), (7, 9)]), 20, 3), "inside the second block");
    }

    #[test]
    fn a_timeout_loses_all_but_the_sacked() {
        let mut board = Scoreboard::default();
        board.advance(1);
        board.update(&blocks(&[(3, 6)]), 10, 3);
        board.mark_all_lost(10);
        assert_eq!((board.pipe(10), board.next_hole()), (0, 1));
        board.mark_retransmitted(1);
        board.mark_retransmitted(2);
        assert_eq!((board.pipe(10), board.next_hole()), (2, 6));
    }

    proptest! {
        /// The counters give what counting gives, whatever happens.
        #[test]
        fn pipe_equals_its_recomputation(
            steps in prop::collection::vec((0..6u8, 0..40u32, 1..6u32), 1..80)
        ) {
            let mut board = Scoreboard::default();
            let (mut una, mut snd_max) = (0, 1);
            for (kind, a, b) in steps {
                match kind {
                    0 => snd_max += b,
                    1 => {
                        una = (una + b).min(snd_max);
                        board.advance(una);
                    }
                    2 | 3 => {
                        let left = una + a % (snd_max - una + 1);
                        board.update(&blocks(&[(left, left + b)]), snd_max, 3);
                    }
                    4 if board.next_hole() < snd_max => board.mark_retransmitted(board.next_hole()),
                    5 if a == 0 => board.mark_all_lost(snd_max),
                    5 if a == 1 => board.forget_retransmissions(),
                    _ => {}
                }
                prop_assert_eq!(board.pipe(snd_max), board.pipe_recomputed(snd_max));
            }
        }
    }
}
