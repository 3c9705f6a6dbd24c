//! SACK-based loss recovery of RFC 6675, with limited transmit (its section 5, step 3) and its
//! rules after a timeout (section 5.1).
//!
//! ```text
//!              DupThresh duplicate ACKs, or HighACK+1 lost
//!      Open  ─────────────────────────────────────────────►  Recovery
//!       ▲ ▲                cumulative ACK                        │
//!       │ └──────────────  reaches RecoveryPoint  ◄──────────────┤
//!       │                                                        │ timer
//!       └────  the same  ────  AfterTimeout  ◄───────────────────┘ (also from Open)
//! ```
//!
//! `snd_una` is HighACK + 1, `snd_max` is HighData + 1; `snd_nxt` equals `snd_max` throughout, since
//! retransmissions are chosen from the scoreboard.

use super::Recovery;
use super::scoreboard::Scoreboard;
use crate::Nanos;
use crate::advice::Advisor;
use crate::congestion::CongestionControl;
use crate::core::{Core, Forced};
use crate::segment::Segment;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No loss is being repaired.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// The timer expired: slow start over what the receiver lacks.
    AfterTimeout,
}

/// RFC 6675 without what [`Core`] holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rfc6675 {
    scoreboard: Scoreboard,
    phase: Phase,
    /// RecoveryPoint + 1.
    recovery_point: u32,
    /// RescueRxt is defined: the one rescue retransmission of this recovery has been sent.
    rescued: bool,
    /// Packets sent by limited transmit since the last cumulative ACK.
    limited: u32,
}

impl Rfc6675 {
    /// Pipe and the same counted packet by packet. For tests.
    pub fn pipes(&self, snd_max: u32) -> (u32, u32) {
        (self.scoreboard.pipe(snd_max), self.scoreboard.pipe_recomputed(snd_max))
    }

    /// Says whether the ACK has SACK news.
    fn on_cumulative_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment) -> bool {
        let acked = ack.ack - core.snd_una;
        // Section 5: "the TCP MUST reset DupAcks to zero".
        core.dup_acks = 0;
        self.limited = 0;
        core.advance(now, ack, self.in_fast_recovery());
        self.scoreboard.advance(core.snd_una);
        let news = self.update(core, ack);
        match core.snd_una == acked {
            true => core.establish(),
            false => core.report_ack(now, acked, self.scoreboard.sacked(), self.in_fast_recovery()),
        }
        // Section 5, (A): RecoveryPoint is acknowledged. Section 5.1: only now may loss recovery
        // begin anew after a timeout.
        if self.phase != Phase::Open && core.snd_una >= self.recovery_point {
            if self.phase == Phase::Recovery {
                core.congestion.on_recovery_exit(core.flight(), u32::MAX);
            }
            self.phase = Phase::Open;
            core.holding = false;
            self.scoreboard.forget_retransmissions();
        }
        // RFC 6298, 5.2 and 5.3. Section 6 leaves the choice; this is the standard timer, which no
        // retransmission restarts.
        if core.flight() > 0 {
            core.start_timer(now);
        } else {
            core.timer = None;
        }
        news
    }

    /// Update() of section 4; says whether there is news.
    #[inline]
    fn update<A: Advisor>(&mut self, core: &Core<A>, ack: &Segment) -> bool {
        !ack.sack.is_empty() && self.scoreboard.update(&ack.sack, core.snd_max, core.profile.dupthresh)
    }

    /// Section 5: "Upon the receipt of a duplicate ACK".
    fn on_dup_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos) {
        core.dup_acks += 1;
        match self.phase {
            // Steps 1 and 2. Step 3, limited transmit, is `next`.
            Phase::Open => {
                if core.dup_acks >= core.profile.dupthresh || self.scoreboard.is_lost(core.snd_una) {
                    self.enter(core, now);
                }
            }
            Phase::Recovery => {
                if core.advisor.listening() {
                    let view = core.view(true);
                    let advice = core.advisor.on_dup_ack(&view);
                    core.enact(&advice, now);
                }
            }
            Phase::AfterTimeout => {}
        }
    }

    /// Section 5, step 4: fast retransmit and loss recovery.
    fn enter<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos) {
        let advice = core.begin_fast_recovery();
        // (4.1)
        self.phase = Phase::Recovery;
        self.recovery_point = core.snd_max;
        self.rescued = false;
        // (4.2), where FlightSize is without what limited transmit has sent (RFC 5681, 3.2).
        let flight = core.flight() - self.limited.min(core.flight());
        core.cut_after_loss(flight, &advice, now);
        // (4.3); HighRxt follows in `on_forced`.
        self.scoreboard.forget_retransmissions();
        core.forced = Some(Forced::Head);
    }

    /// Whether the head's retransmission is lost, too, because something sent after it has arrived. The rule is
    /// RFC 8985, 6.2, step 5, with the reordering window of zero that it has in loss recovery.
    fn has_lost_its_copy<A: Advisor>(&self, core: &Core<A>, ack: &Segment) -> bool {
        if self.phase == Phase::Open || core.holding || self.scoreboard.next_hole() <= core.snd_una {
            return false;
        }
        let copy = core.last_copy(core.snd_una);
        let sacked = ack.sack.as_slice().iter();
        let mut sacked =
            sacked.flat_map(|&(left, right)| left.max(core.snd_una + 1)..right.min(core.snd_max));
        sacked.any(|seq| core.last_copy(seq) > copy)
    }

    /// NextSeg() of section 4.
    fn next_segment<A: Advisor>(&mut self, core: &Core<A>) -> Option<u32> {
        let hole = match core.holding {
            true => u32::MAX, // no retransmission until told to resume
            false => self.scoreboard.next_hole(),
        };
        let in_window = hole < core.snd_una.saturating_add(core.rwnd);
        // (1) the first packet that is not SACKed, not yet retransmitted and lost. After a timeout
        // that is all that was outstanding then.
        let after_timeout = self.phase == Phase::AfterTimeout;
        if in_window && self.scoreboard.is_lost(hole) && !(after_timeout && hole >= self.recovery_point) {
            self.scoreboard.mark_retransmitted(hole);
            return Some(hole);
        }
        // (2) new data
        if core.may_send_new() {
            return Some(core.snd_nxt);
        }
        if after_timeout || core.holding {
            return None;
        }
        // (3) the same as (1), but not known to be lost
        if in_window && hole < self.scoreboard.highest_sacked() {
            self.scoreboard.mark_retransmitted(hole);
            return Some(hole);
        }
        // (4) one rescue retransmission per recovery; HighRxt stays
        if !self.rescued
            && let Some(seq) = self.scoreboard.highest_hole(core.snd_max)
            && seq < core.snd_una.saturating_add(core.rwnd)
        {
            self.rescued = true;
            return Some(seq);
        }
        None
    }
}

impl Recovery for Rfc6675 {
    fn on_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment, counts: bool) {
        let news = if ack.ack > core.snd_una {
            self.on_cumulative_ack(core, now, ack)
        } else {
            let news = self.update(core, ack);
            if ack.ack == core.snd_una {
                core.report_ack(now, 0, self.scoreboard.sacked(), self.in_fast_recovery());
            }
            news
        };
        // Section 2: a duplicate ACK is one with SACK news, whatever else it says.
        if news && counts {
            self.on_dup_ack(core, now);
        }
        if news && core.profile.detects_lost_retransmission && self.has_lost_its_copy(core, ack) {
            core.forced = Some(Forced::Head);
        }
        core.sending = true;
    }

    /// Section 5.1.
    fn on_timeout<A: Advisor>(&mut self, core: &mut Core<A>) {
        core.dup_acks = 0;
        self.limited = 0;
        // "RecoveryPoint MUST be set to HighData" and "a new recovery phase MUST NOT be initiated
        // until HighACK is greater than or equal to" it.
        self.phase = Phase::AfterTimeout;
        self.recovery_point = core.snd_max;
        // SACK information is kept (erratum 1610 to RFC 2018) and fills in the sequence space.
        self.scoreboard.mark_all_lost(core.snd_max);
        core.snd_nxt = core.snd_max;
    }

    #[inline]
    fn next<A: Advisor>(&mut self, core: &mut Core<A>) -> Option<u32> {
        let window = core.congestion.window();
        if self.phase != Phase::Open {
            // Section 5, (C): while cwnd - pipe >= 1 SMSS.
            return match self.scoreboard.pipe(core.snd_max) < window {
                true => self.next_segment(core),
                false => None,
            };
        }
        // RFC 5681, section 3.1; with limited transmit section 5, step (3.3).
        let flight = core.flight();
        let outstanding = match core.profile.limited_transmit {
            true => self.scoreboard.pipe(core.snd_max),
            false => flight,
        };
        if outstanding >= window || !core.may_send_new() {
            return None;
        }
        self.limited += u32::from(core.dup_acks > 0 && flight >= window);
        Some(core.snd_nxt)
    }

    fn on_forced<A: Advisor>(&mut self, core: &mut Core<A>, seq: u32) {
        if seq < core.snd_max {
            self.scoreboard.mark_retransmitted(seq);
        }
    }

    fn in_fast_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    fn in_flight<A: Advisor>(&self, core: &Core<A>) -> u32 {
        match self.phase == Phase::Open && !core.profile.limited_transmit {
            true => core.flight(),
            false => self.scoreboard.pipe(core.snd_max),
        }
    }

    fn is_sacked(&self, seq: u32) -> bool {
        self.scoreboard.is_sacked(seq)
    }
}
