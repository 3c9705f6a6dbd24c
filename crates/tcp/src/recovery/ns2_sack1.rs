//! Loss recovery of ns-2 2.35's `Sack1TcpAgent` with its `ScoreBoardRQ`, rule by rule.
//!
//! "Regular TCP" of Daniel and Kojo. Names in the rules below are ns-2's where they say why a line
//! exists: `pipe_`, `recover_`, `last_ack_`, `timeout_`. Our `snd_una` is `highest_ack_ + 1`,
//! `snd_nxt` is `t_seqno_`, `snd_max` is `maxseq_ + 1`.

use super::Recovery;
use crate::Nanos;
use crate::advice::Advisor;
use crate::congestion::CongestionControl;
use crate::core::{Core, Forced};
use crate::segment::Segment;

/// `Sack1TcpAgent` without what [`Core`] holds.
#[derive(Clone, Debug)]
pub(crate) struct Ns2Sack1 {
    scoreboard: Scoreboard,
    in_fast_recovery: bool,
    /// Packets believed to be under way; meaningful in fast recovery only.
    pipe: i64,
    /// `recover_ + 1`: fast recovery ends here, and no new one begins before.
    recover: u32,
    /// `last_ack_ + 1`: `snd_una` as of the last ACK outside fast recovery.
    last_una: u32,
    /// `timeout_`: a timer expired and no new ACK has come since.
    after_timeout: bool,
}

impl Default for Ns2Sack1 {
    fn default() -> Self {
        Self {
            scoreboard: Scoreboard::default(),
            in_fast_recovery: false,
            pipe: -1,
            recover: 1,
            last_una: 0,
            after_timeout: false,
        }
    }
}

impl Ns2Sack1 {
    /// `Sack1TcpAgent::dupack_action`.
    fn on_third_dup_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos) {
        // `bugFix_`: no second fast retransmit before the recovery point; `bugfix_ss_`: unless
        // it is the first data packet.
        if core.snd_una <= self.recover && core.snd_una != 1 {
            return;
        }
        let advice = core.begin_fast_recovery();
        self.recover = core.snd_max;
        // NUMDUPACKS in ns-2, where it is the count.
        self.pipe = i64::from(core.flight()) - i64::from(core.dup_acks);
        core.start_timer(now);
        self.in_fast_recovery = true;
        self.scoreboard.mark_retransmitted(core.snd_una);
        core.cut_after_loss(core.flight(), &advice, now);
        core.forced = Some(Forced::Head);
    }

    /// `newack` and what surrounds it: the end of fast recovery or a normal new ACK.
    fn on_full_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment) {
        core.dup_acks = 0;
        core.advance(now, ack, self.in_fast_recovery);
        self.last_una = core.snd_una;
        core.snd_nxt = core.snd_nxt.max(core.snd_una);
        core.start_timer(now);
        self.after_timeout = false;
    }
}

impl Recovery for Ns2Sack1 {
    /// `Sack1TcpAgent::recv`.
    fn on_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment, counts: bool) {
        let advances = ack.ack > core.snd_una;
        if ack.ack == core.snd_una {
            core.report_ack(now, 0, 0, self.in_fast_recovery);
        }
        if !counts && !advances {
            return; // a notice is no duplicate ACK and has not left the pipe
        }
        if !self.in_fast_recovery {
            if ack.ack > self.last_una {
                self.on_full_ack(core, now, ack);
                core.report_ack(now, 1, 0, false);
                self.scoreboard.clear();
                if core.snd_una == 1 {
                    core.establish();
                }
            } else if ack.ack == self.last_una && !self.after_timeout && counts {
                let news = self.scoreboard.update(core.snd_una, ack);
                if news {
                    core.dup_acks += 1;
                    // More than dupthresh: advice has lowered it, or `bugFix_` has refused.
                    if core.dup_acks >= core.profile.dupthresh {
                        self.on_third_dup_ack(core, now);
                    } else if core.profile.limited_transmit
                        && core.snd_nxt <= core.snd_una - 1 + core.congestion.window() + core.dup_acks
                    {
                        core.forced = Some(Forced::New); // `send_one`, RFC 3042
                    }
                }
            }
            // `aggressive_maxburst_`: old ACKs, too, may release what the window allows.
            core.sending |= core.dup_acks == 0;
        } else {
            self.pipe -= 1;
            if ack.ack >= self.recover {
                self.recover = 1;
                self.on_full_ack(core, now, ack);
                if advances {
                    core.report_ack(now, 1, 0, true);
                }
                self.in_fast_recovery = false;
                self.scoreboard.clear();
                core.holding = false;
                core.congestion.on_recovery_exit(core.flight(), u32::MAX);
            } else if advances {
                // A partial ACK: `highest_ack_` moves, `last_ack_` does not.
                core.move_una(now, ack, true);
                core.report_ack(now, 1, 0, true);
                self.scoreboard.update(core.snd_una, ack);
                self.pipe -= 1;
                core.rto.clear_backoff();
                core.start_timer(now);
            } else if !self.after_timeout && counts {
                if self.scoreboard.update(core.snd_una, ack) && core.dup_acks > 0 {
                    core.dup_acks += 1;
                }
                // RFC 5681, 2: an ACK that others have overtaken is no duplicate. ns-2 does not tell them apart.
                if core.advisor.listening() && ack.ack == core.snd_una {
                    let view = core.view(true);
                    let advice = core.advisor.on_dup_ack(&view);
                    core.enact(&advice, now);
                }
            }
            core.sending = true;
        }
    }

    /// `Sack1TcpAgent::timeout`.
    fn on_timeout<A: Advisor>(&mut self, core: &mut Core<A>) {
        core.dup_acks = 0;
        self.in_fast_recovery = false;
        self.after_timeout = true;
        self.last_una = self.last_una.max(core.snd_una);
        self.recover = core.snd_max;
        self.scoreboard.clear();
    }

    /// One turn of `Sack1TcpAgent::send_much`.
    #[inline(always)] // one caller
    fn next<A: Advisor>(&mut self, core: &mut Core<A>) -> Option<u32> {
        let window = core.congestion.window();
        let open = if self.in_fast_recovery {
            // `pipe_ < int(cwnd_)`: here the receiver's window does not clip cwnd.
            self.pipe < i64::from(core.congestion.cwnd() / 256)
        } else {
            core.snd_nxt < self.last_una + window.min(core.rwnd)
        };
        if !open || self.last_una >= core.end {
            return None;
        }
        let hole = if core.holding { None } else { self.scoreboard.next_hole() };
        let seq = match hole {
            Some(hole) => {
                if self.recover <= 1 || hole >= core.snd_una + core.rwnd {
                    return None;
                }
                self.scoreboard.mark_retransmitted(hole);
                hole
            }
            None => {
                let within = if self.in_fast_recovery { core.rwnd } else { window.min(core.rwnd) };
                if core.snd_nxt >= core.snd_una + within || core.snd_nxt >= core.end {
                    return None;
                }
                core.snd_nxt
            }
        };
        self.pipe += 1;
        Some(seq)
    }

    fn on_forced<A: Advisor>(&mut self, core: &mut Core<A>, seq: u32) {
        // The third duplicate ACK's own retransmission is in `pipe` already; what advice forces
        // on top is counted as `send_much` would.
        if self.in_fast_recovery && seq != core.snd_una {
            self.pipe += 1;
        }
    }

    fn in_fast_recovery(&self) -> bool {
        self.in_fast_recovery
    }

    fn in_flight<A: Advisor>(&self, core: &Core<A>) -> u32 {
        match self.in_fast_recovery {
            true => self.pipe.clamp(0, i64::from(u32::MAX)) as u32,
            false => core.snd_nxt - self.last_una,
        }
    }

    fn is_sacked(&self, seq: u32) -> bool {
        let ranges = &self.scoreboard.ranges;
        let index = ranges.partition_point(|range| range.1 <= seq);
        ranges.get(index).is_some_and(|range| range.0 <= seq)
    }
}

/// `ScoreBoardRQ` over `ReassemblyQueue`: disjoint, ascending SACKed ranges and a high-water mark
/// of what has been retransmitted.
#[derive(Clone, Debug, Default)]
struct Scoreboard {
    ranges: Vec<(u32, u32)>,
    /// Packets in `ranges` (`total_`).
    total: i64,
    /// `sack_min`: one beyond the highest cumulative ACK seen by the scoreboard.
    sack_min: u32,
    /// `h_seqno_`: everything below has been looked at for retransmission.
    high: u32,
}

impl Scoreboard {
    /// `ClearScoreBoard`.
    #[inline]
    fn clear(&mut self) {
        self.ranges.clear();
        self.total = 0;
        self.high = 0;
    }

    fn mark_retransmitted(&mut self, seq: u32) {
        self.high = self.high.max(seq + 1);
    }

    /// `UpdateScoreBoard`; says whether the ACK brought news (`CheckUpdate`).
    fn update(&mut self, una: u32, ack: &Segment) -> bool {
        let before = self.total;
        let mut changed = false;
        if self.sack_min < una {
            self.sack_min = una;
            if !self.ranges.is_empty() {
                self.clear_to(una);
                changed = true;
            }
        }
        let dsack = ack.sack.dsack(ack.ack);
        for &block in ack.sack.as_slice() {
            if Some(block) != dsack || block.0 >= una {
                self.add(block.0, block.1);
            }
        }
        changed || before != self.total
    }

    /// `ReassemblyQueue::clearto`.
    fn clear_to(&mut self, seq: u32) {
        let gone = self.ranges.partition_point(|range| range.1 <= seq);
        for range in self.ranges.drain(..gone) {
            self.total -= i64::from(range.1 - range.0);
        }
        if let Some(first) = self.ranges.first_mut()
            && first.0 <= seq
        {
            self.total -= i64::from(seq - first.0);
            first.0 = seq;
        }
    }

    /// `ReassemblyQueue::add`. A range that reaches `sack_min` moves it to its end, even down,
    /// when the receiver repeats an outdated block.
    fn add(&mut self, left: u32, right: u32) {
        let first = self.ranges.partition_point(|range| range.1 < left);
        let last = self.ranges.partition_point(|range| range.0 <= right);
        if let Some(&(l, r)) = self.ranges.get(first)
            && l <= left
            && right <= r
        {
            if (l, r) != (left, right) {
                self.follow(self.ranges[0]);
            }
            return;
        }
        let (mut l, mut r) = (left, right);
        for range in self.ranges.drain(first..last) {
            l = l.min(range.0);
            r = r.max(range.1);
            self.total -= i64::from(range.1 - range.0);
        }
        self.total += i64::from(r - l);
        self.ranges.insert(first, (l, r));
        self.follow((l, r));
    }

    fn follow(&mut self, range: (u32, u32)) {
        if self.sack_min >= range.0 {
            self.sack_min = range.1;
        }
    }

    /// `GetNextRetran`: the next hole below some SACKed range that has not been retransmitted.
    #[inline]
    fn next_hole(&mut self) -> Option<u32> {
        if self.ranges.is_empty() {
            return None;
        }
        self.high = self.high.max(self.sack_min);
        let index = self.ranges.partition_point(|range| range.1 < self.high);
        let &(left, right) = self.ranges.get(index)?;
        let seq = if left > self.high {
            self.high
        } else if index + 1 < self.ranges.len() {
            right
        } else {
            return None;
        };
        self.high = self.high.max(seq);
        Some(seq)
    }
}
