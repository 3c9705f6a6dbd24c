//! Cuts of the window, and the advice that is asked for before each: view, question, enactment.
//!
//! Source: RFC 5681, section 3.1 (no window below a segment); RFC 6298, section 3 (no sample across a recovery).

use super::{Core, Forced, TimerKind};
use crate::Nanos;
use crate::advice::{Advice, Advisor, KernelAdvice, View};
use crate::congestion::{Congestion, CongestionControl};

impl<A: Advisor> Core<A> {
    pub fn view(&self, in_fast_recovery: bool) -> View {
        View {
            kernel: None,
            snd_una: self.snd_una,
            snd_max: self.snd_max,
            flight: self.flight(),
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            rto: self.rto.base(),
            srtt: self.rto.srtt().unwrap_or(0),
            mss: u32::from(self.profile.mss),
            transmissions: self.counters.transmissions,
            ssthresh_saved: self.ssthresh_saved,
            srtt_before: self.srtt_before,
            timeouts_since_ack: self.expiries,
            in_fast_recovery,
            in_rto_recovery: self.rto_recovery.is_some(),
        }
    }

    /// Fast recovery begins: it is counted, no round trip is timed across it (RFC 6298, section 3),
    /// and whoever advises is asked before anything changes.
    pub fn begin_fast_recovery(&mut self) -> Advice {
        self.counters.fast_retransmits += 1;
        self.timed = None;
        if !self.advisor.listening() {
            return Advice::default();
        }
        let view = self.view(false);
        self.advisor.on_fast_retransmit(&view)
    }

    /// Fast recovery begins with `flight` packets outstanding: the cut, unless advice says otherwise.
    pub fn cut_after_loss(&mut self, flight: u32, advice: &Advice, now: Nanos) {
        if !advice.keep_window {
            let cwnd = self.congestion.cwnd();
            self.congestion.on_congestion(Congestion::FastRetransmit, flight, now);
            if advice.keep_cwnd {
                self.congestion.set_window(Some(cwnd), None);
            }
        }
        self.enact(advice, now);
    }

    /// The timer has expired: advice, cut, history.
    pub fn cut_after_timeout(&mut self, now: Nanos) {
        let advice = match self.advisor.listening() {
            true => {
                let view = self.view(false);
                self.advisor.on_timeout(&view)
            }
            false => Advice::default(),
        };
        let ssthresh = self.congestion.ssthresh();
        let event = Congestion::Timeout { repeated: self.expiries > 0 };
        self.congestion.on_congestion(event, self.flight(), now);
        if advice.keep_ssthresh {
            self.congestion.set_window(None, Some(ssthresh));
        }
        self.expiries += 1;
        self.rto_recovery = Some(self.snd_max);
        if self.expiries == 1 {
            self.ssthresh_saved = self.congestion.ssthresh();
            self.srtt_before = self.rto.srtt().unwrap_or(0); // `back_off` may forget it
        }
        self.enact(&advice, now);
    }

    /// Does what it is told.
    pub fn enact(&mut self, advice: &Advice, now: Nanos) {
        // Taken apart whole, so that nothing new is ignored in silence.
        let Advice {
            retransmit_head,
            room_for_one: _, // `Sender::enact`
            cwnd,
            ssthresh,
            min_rto,
            dupthresh,
            rearm_timer,
            extend_timer,
            clear_backoff,
            reinit_rtt,
            keep_window: _, // at the cut
            keep_cwnd: _,
            keep_ssthresh: _,
            hold_holes,
            send_new,
            beyond_window,
            suspend,
            resume,
            resume_recovery,
            ignore_sample: _, // at the sample
            kernel,
        } = *advice;
        debug_assert_eq!(kernel, KernelAdvice::default(), "this stack is no kernel's");
        if clear_backoff {
            self.rto.clear_backoff();
            self.expiries = self.expiries.min(1);
        }
        if reinit_rtt {
            self.rto.reinit();
        }
        if let Some(min) = min_rto {
            self.rto.set_min(min);
        }
        if cwnd.is_some() || ssthresh.is_some() {
            // A window below one packet would never be left: no ACK, no timer (RFC 5681, 3.1).
            self.congestion.set_window(cwnd.map(|cwnd| cwnd.max(256)), ssthresh);
        }
        if hold_holes {
            self.holding = true;
        }
        if resume_recovery {
            self.holding = false;
        }
        if send_new {
            self.forced = Some(if beyond_window { Forced::Beyond } else { Forced::New });
        }
        if retransmit_head && self.flight() > 0 {
            self.forced = Some(Forced::Head);
        }
        if let Some(dupthresh) = dupthresh {
            self.profile.dupthresh = dupthresh;
        }
        if extend_timer && self.flight() > 0 {
            self.timer = Some((self.timer_started + self.rto.rto()).max(now));
        }
        if (rearm_timer || retransmit_head) && self.flight() > 0 {
            self.start_timer(now);
        }
        if suspend {
            self.suspended = true;
            self.timer = None;
            self.timer_kind = TimerKind::Retransmission;
            self.dup_acks = 0;
            self.sending = false;
        }
        if resume && std::mem::take(&mut self.suspended) {
            self.sending = true;
            if self.flight() > 0 {
                self.start_timer(now);
            }
        }
    }
}
