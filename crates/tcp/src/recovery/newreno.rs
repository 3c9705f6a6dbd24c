//! Loss recovery without SACK: fast retransmit and fast recovery of RFC 5681 (section 3.2), and what
//! NewReno (RFC 6582) makes of a partial ACK. One switch, [`PartialAck`], is the difference.
//!
//! The window of fast recovery is cwnd and an inflation kept beside it. So a congestion control (and whoever advises
//! it) sees the cwnd that recovery will leave behind. `recover` is one beyond the RFC's. After a timeout everything
//! from `snd_una` on is sent again (go-back-N).

use super::Recovery;
use crate::Nanos;
use crate::advice::Advisor;
use crate::congestion::{CongestionControl, CongestionRules};
use crate::core::{Core, Forced};
use crate::segment::Segment;

/// Meaning of an ACK that advances, but not beyond all that was outstanding at the fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialAck {
    /// Reno: fast recovery ends with it (RFC 5681, 3.2, step 6).
    EndsRecovery,
    /// NewReno: the next packet is lost, too (RFC 6582, 3.2, step 3).
    Retransmits,
}

/// Reno or NewReno without what [`Core`] holds.
#[derive(Clone, Debug)]
pub(crate) struct NewReno {
    partial_ack: PartialAck,
    in_fast_recovery: bool,
    /// Packets that fast recovery adds to cwnd; below zero when partial ACKs have taken more.
    inflation: i64,
    /// One beyond the highest packet sent when the last recovery began or the timer expired.
    recover: u32,
    /// A partial ACK of this recovery has restarted the timer.
    timer_restarted: bool,
    /// Packets sent by limited transmit since the last cumulative ACK.
    limited: u32,
    /// Window that the last ACK advertised.
    last_window: u32,
}

impl NewReno {
    pub fn new(partial_ack: PartialAck) -> Self {
        Self {
            partial_ack,
            in_fast_recovery: false,
            inflation: 0,
            recover: 0, // RFC 6582, 3.2: the initial send sequence number
            timer_restarted: false,
            limited: 0,
            last_window: u32::MAX,
        }
    }

    /// cwnd with its inflation, packets.
    #[inline]
    fn window<A: Advisor>(&self, core: &Core<A>) -> u32 {
        let window = core.congestion.window();
        match self.inflation {
            0 => window,
            more => (i64::from(window) + more).clamp(1, i64::from(u32::MAX)) as u32,
        }
    }

    fn on_new_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment) {
        let acked = ack.ack - core.snd_una;
        core.dup_acks = 0;
        self.limited = 0;
        core.advance(now, ack, self.in_fast_recovery);
        core.snd_nxt = core.snd_nxt.max(core.snd_una);
        let partial = self.in_fast_recovery && core.snd_una < self.recover;
        if partial && self.partial_ack == PartialAck::Retransmits {
            core.report_ack(now, acked, 0, true);
            self.on_partial_ack(core, now, acked);
            return;
        }
        if core.snd_una == acked {
            core.establish();
        } else if self.in_fast_recovery {
            self.leave(core, now, acked);
        } else {
            core.report_ack(now, acked, 0, false);
        }
        // RFC 6298, 5.2 and 5.3
        if core.flight() > 0 {
            core.start_timer(now);
        } else {
            core.timer = None;
        }
    }

    /// RFC 6582, 3.2, step 3, "Partial acknowledgments".
    fn on_partial_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, acked: u32) {
        // "retransmit the first unacknowledged segment"
        if !core.holding {
            core.forced = Some(Forced::Head);
        }
        // "Deflate the congestion window by the amount of new data acknowledged [...] add back SMSS"
        self.inflation -= i64::from(acked) - 1;
        // "For the first partial ACK [...] also reset the retransmit timer": the "Impatient" variant of section 4. With
        // many losses per window it prefers the timer to one repair per round trip. ns-2 (`newreno_changes1_`) and
        // FreeBSD do the same. "Slow-but-Steady" restarts it at every one.
        if !self.timer_restarted || core.profile.slow_but_steady {
            self.timer_restarted = true;
            core.start_timer(now);
        }
    }

    /// RFC 6582, 3.2, step 3, "Full acknowledgments"; RFC 5681, 3.2, step 6.
    fn leave<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, acked: u32) {
        self.in_fast_recovery = false;
        self.inflation = 0;
        core.holding = false;
        let most = match self.partial_ack {
            // Option 1: cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS), against a burst.
            PartialAck::Retransmits => core.flight().max(1) + 1,
            PartialAck::EndsRecovery => u32::MAX,
        };
        core.congestion.on_recovery_exit(core.flight(), most);
        // `recv_newack_helper` of ns-2 opens the window here, too: recovery is over when it does.
        let still_recovery = core.profile.congestion != CongestionRules::Ns2;
        core.report_ack(now, acked, 0, still_recovery);
    }

    /// RFC 5681, 3.2, and RFC 6582, 3.2, step 1.
    fn on_dup_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos) {
        core.dup_acks += 1;
        if self.in_fast_recovery {
            // RFC 5681, 3.2, step 4: "cwnd MUST be incremented by SMSS".
            self.inflation += 1;
            if core.advisor.listening() {
                let view = core.view(true);
                let advice = core.advisor.on_dup_ack(&view);
                core.enact(&advice, now);
            }
        } else if core.dup_acks >= core.profile.dupthresh {
            // More than dupthresh: advice has lowered it, or the guard has refused.
            // RFC 6582, 3.2, step 1: only if the ACK covers more than `recover`. Recovery is not entered again in a
            // window that a fast retransmit or a timeout is repairing (step 4). Without the heuristics of section 4.
            let guards = self.partial_ack == PartialAck::Retransmits && core.profile.guards_recovery;
            if !guards || core.snd_una > self.recover {
                self.enter(core, now);
            }
        } else if core.profile.limited_transmit
            && core.snd_nxt == core.snd_max
            && core.flight() < core.congestion.window() + core.dup_acks
            && core.may_send_new()
        {
            // RFC 3042: one new packet for each of the first two, cwnd unchanged.
            self.limited += 1;
            core.forced = Some(Forced::New);
        }
    }

    fn enter<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos) {
        let advice = core.begin_fast_recovery();
        self.in_fast_recovery = true;
        self.recover = core.snd_max;
        self.timer_restarted = false;
        // As BSD and ns-2 do; RFC 6298 is silent.
        core.start_timer(now);
        // RFC 5681, 3.2, step 2, where FlightSize is without what limited transmit has sent
        let flight = core.flight() - self.limited.min(core.flight());
        core.cut_after_loss(flight, &advice, now);
        // Step 3: plus the packets that the duplicate ACKs say have left
        self.inflation = i64::from(core.dup_acks);
        core.forced = Some(Forced::Head);
    }
}

impl Recovery for NewReno {
    fn on_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment, counts: bool) {
        let same_window = ack.window == self.last_window;
        if ack.ack >= core.snd_una {
            self.last_window = ack.window;
        }
        if ack.ack > core.snd_una {
            self.on_new_ack(core, now, ack);
        } else if ack.ack == core.snd_una {
            core.report_ack(now, 0, 0, self.in_fast_recovery);
            // RFC 5681, section 2: a duplicate ACK has no data, the same number and window, and
            // something is outstanding.
            if core.flight() > 0 && same_window && counts {
                self.on_dup_ack(core, now);
            }
        }
        core.sending = true;
    }

    /// RFC 6582, 3.2, step 4.
    fn on_timeout<A: Advisor>(&mut self, core: &mut Core<A>) {
        core.dup_acks = 0;
        self.limited = 0;
        self.in_fast_recovery = false;
        self.inflation = 0;
        self.recover = core.snd_max;
    }

    #[inline]
    fn next<A: Advisor>(&mut self, core: &mut Core<A>) -> Option<u32> {
        let window = self.window(core).min(core.rwnd);
        let open = core.snd_nxt - core.snd_una < window && core.snd_nxt < core.end;
        open.then_some(core.snd_nxt)
    }

    fn on_forced<A: Advisor>(&mut self, _core: &mut Core<A>, _seq: u32) {}

    fn in_fast_recovery(&self) -> bool {
        self.in_fast_recovery
    }

    fn in_flight<A: Advisor>(&self, core: &Core<A>) -> u32 {
        let in_flight = i64::from(core.snd_nxt - core.snd_una) - self.inflation;
        in_flight.clamp(0, i64::from(u32::MAX)) as u32
    }
}
