//! Advice from outside: programs see the sender at each ACK and timeout, and change its state.
//!
//! Source: bpf/sender (the hooks of `sock_ops` and of the wrapped congestion control) for the points at which a program
//! is asked. For its bound of the RTO: `tcp_set_rto_max_ms`.

use super::cc::{CaState, CongestionOps, INFINITE_SSTHRESH, PacingStatus};
use super::{LinuxSender, Pending};
use crate::Nanos;
use crate::advice::{Advice, Advisor, Anew, KernelAdvice, KernelView, Pace, View};

/// State for advisors, and of their advice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Advised {
    /// Expiries since `snd_una` advanced.
    pub expiries: u32,
    /// ssthresh after the cut of the first of them.
    pub ssthresh_saved: u32,
    /// SRTT before it.
    pub srtt_before: Nanos,
    /// When the last ACK came.
    pub quiet_since: Nanos,
    /// Programs can bound the RTO.
    pub has_rto_max: bool,
    /// The sender's own ceiling of the RTO, jiffies.
    pub own_rto_max: u64,
    /// Advice forbids the retransmission of holes.
    pub holds_holes: bool,
    /// Advice forbids everything.
    pub suspends: bool,
    /// Its control has gone on since then.
    pub goes_on: bool,
    /// It paces because programs have it do so.
    pub paces: bool,
    /// Advice forbids that cwnd moves.
    pub holds_window: bool,
}

impl<A: Advisor> LinuxSender<A> {
    /// Advice from outside, such as a handoff scheme's answer to a notice.
    pub fn enact(&mut self, now: Nanos, advice: &Advice) {
        self.refresh(now);
        self.take(advice);
        self.follow(advice);
        if advice.kernel.ask_again {
            let view = self.view();
            let advice = self.advisor.on_deadline(now, &view);
            self.take(&advice);
            self.follow(&advice);
        }
        self.leave_host();
    }

    /// `snd_una` has advanced: whoever advises hears of it.
    #[inline]
    pub(super) fn note_progress(&mut self) {
        self.advised.expiries = 0;
        self.advised.srtt_before = 0;
        if self.sk.ca_state != CaState::Loss {
            self.advised.ssthresh_saved = 0;
        }
        if let Some(advice) = self.ask(|advisor, view| advisor.on_new_ack(view)) {
            self.take(&advice);
        }
    }

    /// Asks the advisor, if it listens.
    #[inline]
    pub(super) fn ask(&mut self, question: impl FnOnce(&mut A, &View) -> Advice) -> Option<Advice> {
        if !self.advisor.listening() {
            return None;
        }
        let view = self.view();
        Some(question(&mut self.advisor, &view))
    }

    /// Changes what advice changes; sends nothing.
    pub(super) fn take(&mut self, advice: &Advice) {
        // Taken apart whole, so that nothing new is ignored in silence.
        let Advice {
            retransmit_head: _, // `follow` sends and starts the timer
            room_for_one: _,
            rearm_timer: _,
            extend_timer: _,
            send_new: _,
            beyond_window: _,
            keep_window: _, // at the cut
            keep_cwnd: _,
            keep_ssthresh: _,
            ignore_sample: _, // at the sample
            cwnd,
            ssthresh,
            min_rto,
            dupthresh,
            clear_backoff,
            reinit_rtt,
            hold_holes,
            suspend,
            resume,
            resume_recovery,
            kernel,
        } = *advice;
        let KernelAdvice {
            pace,
            anew,
            path,
            hold_window,
            probe_head: _, // `follow`
            keep_w_max,
            path_changes_soon,
            min_rtt,
            ask_again: _, // `enact`
        } = kernel;
        if resume {
            self.advised.suspends = false;
        }
        if clear_backoff {
            self.retries.backoff = 0;
            self.advised.expiries = self.advised.expiries.min(1);
            if self.sk.srtt_us > 0 {
                self.rtt.rto = self.rtt.base(&self.sk, &self.clock);
            }
        }
        if reinit_rtt {
            self.sk.srtt_us = 0;
        }
        if let Some(min) = min_rto {
            self.set_rto_floor(min);
        }
        if let Some(new) = path {
            self.start_path(&new);
        }
        if let Some(min_rtt) = min_rtt {
            self.control.set_min_rtt(&self.sk, u32::try_from(min_rtt / 1_000).unwrap_or(u32::MAX));
        }
        if let Some(keeps) = keep_w_max {
            self.control.keep_w_max(keeps);
        }
        if let Some(is_near) = path_changes_soon {
            self.control.path_changes_soon(is_near);
        }
        if let Some(held) = hold_window {
            self.advised.holds_window = held;
        }
        if let Some(cwnd) = cwnd {
            self.sk.set_cwnd((cwnd / 256).max(1));
        }
        if let Some(ssthresh) = ssthresh {
            self.sk.snd_ssthresh =
                if ssthresh == u32::MAX { INFINITE_SSTHRESH } else { (ssthresh / 256).max(2) };
        }
        if let Some(anew) = anew {
            if !matches!(anew, Anew::Refuted { .. }) {
                self.sk.snd_cwnd_cnt = 0;
                self.usage.stamp = self.sk.jiffies;
            }
            self.control.start_anew(&mut self.sk, anew);
        }
        if let Some(pace) = pace {
            self.take_pace(pace);
        }
        if let Some(dupthresh) = dupthresh {
            self.reorder.degree = dupthresh;
        }
        self.advised.holds_holes = (self.advised.holds_holes || hold_holes) && !resume_recovery;
        if suspend {
            self.advised.goes_on &= self.advised.suspends;
            self.advised.suspends = true;
            self.host.pacing_timer = None;
            self.clear_timer();
        }
    }

    /// Whether, and how fast, the sender paces.
    fn take_pace(&mut self, pace: Pace) {
        if matches!(pace, Pace::Begins | Pace::AtMost(_)) && self.sk.pacing_status == PacingStatus::None {
            (self.sk.pacing_status, self.advised.paces) = (PacingStatus::Needed, true);
        }
        match pace {
            Pace::Begins => {}
            Pace::At(rate) => self.sk.pacing_rate = rate,
            Pace::NoFasterThan(rate) => self.sk.pacing_rate = self.sk.pacing_rate.min(rate),
            Pace::AtMost(rate) => {
                self.sk.max_pacing_rate = rate;
                self.sk.pacing_rate = self.sk.pacing_rate.min(rate);
            }
            Pace::Ends => {
                self.sk.max_pacing_rate = u64::MAX;
                if std::mem::take(&mut self.advised.paces) {
                    self.sk.pacing_status = PacingStatus::None;
                }
            }
        }
    }

    /// Sends what advice asks for, and restarts the timer.
    pub(super) fn follow(&mut self, advice: &Advice) {
        let outstanding = self.sk.packets_out > 0;
        if advice.resume && outstanding {
            self.set_timer(Pending::Retrans, self.rtt.rto);
        }
        if advice.kernel.probe_head && outstanding {
            self.probe_head();
        }
        if advice.retransmit_head && outstanding {
            self.retransmit(self.queue.head());
        }
        if advice.extend_timer && outstanding {
            self.extend_timer();
        }
        if (advice.rearm_timer || advice.retransmit_head || advice.kernel.path.is_some()) && outstanding {
            self.set_timer(Pending::Retrans, self.rtt.rto);
        }
        if advice.room_for_one {
            self.sk.set_cwnd(self.sk.snd_cwnd.max(self.sk.packets_in_flight() + 1));
        }
        self.send_as_advised(advice);
        self.xmit_retransmit_queue();
        self.push_pending();
    }

    /// Sends a new packet if advice asks for one.
    pub(super) fn send_as_advised(&mut self, advice: &Advice) {
        if advice.send_new
            && self.sk.snd_nxt < self.written.end
            && (advice.beyond_window || self.may_send_new())
        {
            self.transmit_new();
        }
    }

    /// Tells programs around the control of an ACK.
    #[inline]
    pub(super) fn tell_ack(&mut self) {
        if self.advisor.watching() {
            let view = self.view();
            let advice = self.advisor.on_ack(&view);
            self.take(&advice);
            self.heed_rto_bound();
        }
        self.advised.quiet_since = self.now;
    }

    /// `tcp_tso_segs`, which asks the control, and with it programs around it.
    #[inline]
    pub(super) fn ask_before_sending(&mut self) {
        if self.advisor.claims() {
            let view = self.view();
            let advice = self.advisor.before_sending(&view);
            self.take(&advice);
        }
    }

    /// `TCP_RTO_MAX_MS`.
    pub(super) fn heed_rto_bound(&mut self) {
        let bound = self.advisor.rto_bound_ms().map(|ms| self.clock.from_us(u64::from(ms) * 1_000));
        self.rtt.rto_max =
            bound.map_or(self.advised.own_rto_max, |bound| bound.min(self.advised.own_rto_max));
    }

    /// The ssthresh that stays where advice keeps that of `before` the cut.
    pub(super) fn kept(&self, before: u32) -> u32 {
        let cut = self.sk.snd_ssthresh;
        if before > cut { self.advisor.kept(before, cut, self.sk.prior_cwnd) } else { cut }
    }

    /// The sender as an advisor sees it at `now`. The clock of [`Self::view`] stands at the last event.
    pub fn view_at(&mut self, now: Nanos) -> View {
        self.refresh(now);
        self.view()
    }

    /// The sender as an advisor sees it, at the time of its last event.
    pub fn view(&self) -> View {
        View {
            snd_una: self.sk.snd_una,
            snd_max: self.sk.snd_nxt,
            flight: self.sk.packets_out,
            cwnd: self.sk.snd_cwnd.saturating_mul(256),
            ssthresh: self.sk.snd_ssthresh.saturating_mul(256),
            rto: self.clock.to_us(self.rtt.base(&self.sk, &self.clock)) * 1_000,
            srtt: u64::from(self.sk.srtt_us) * 125,
            mss: self.sk.mss_cache,
            transmissions: self.counters.transmissions,
            ssthresh_saved: self.advised.ssthresh_saved.saturating_mul(256),
            srtt_before: self.advised.srtt_before,
            timeouts_since_ack: self.advised.expiries,
            in_fast_recovery: self.sk.ca_state == CaState::Recovery,
            in_rto_recovery: self.in_rto_recovery(),
            kernel: Some(KernelView {
                now: self.now,
                has_rto_max: self.advised.has_rto_max,
                is_calm: self.retries.retransmits == 0 && self.probes_out == 0 && self.snd_wnd > 0,
                rttvar_us: self.rtt.rttvar_us,
                quiet_since: self.advised.quiet_since,
                cwnd: self.sk.snd_cwnd,
                ssthresh: self.sk.snd_ssthresh,
                in_flight: self.sk.packets_in_flight(),
                is_full: self.control.full_bw_reached(),
                reduces: self.sk.in_cwnd_reduction(),
                marked: self.sk.sacked_out + self.sk.lost_out,
                lost_out: self.sk.lost_out,
                has_backlog: self.sk.lost_out > 0
                    || self.sk.snd_nxt + 1 < self.send_head_end().min(self.wnd_end()),
                sacks: self.sack_cache,
                last_sent: self.now.saturating_sub(1_000 * self.rack.age_us(self.sk.tcp_mstamp)),
                last_rtt_us: self.rack.rtt_us(),
                high_seq: self.high_seq,
                most_room: self.max_window + 1,
                delivered: self.sk.delivered,
                lost: self.sk.lost,
                min_rtt_us: self.sk.min_rtt_us(),
                rate_delivered: self.sk.rate_delivered,
                rate_interval_us: self.sk.rate_interval_us,
                mss: self.sk.mss_cache,
                initial_window: self.profile.initial_window,
                path_delivered: self.path.map_or(0, |path| path.delivered),
                path_lost: self.path.map_or(0, |path| path.lost),
            }),
        }
    }
}
