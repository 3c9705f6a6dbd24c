//! BBRv3's state machine: Startup, Drain, the four phases of ProbeBW, and ProbeRTT.
//!
//! Source: draft-ietf-ccwg-bbr, section "State Machine" (Startup, Drain, ProbeBW, ProbeRTT).

use rand_core::RngCore;

use super::super::bbr::UNIT;
use super::super::rate::stamp_delta;
use super::super::sock::after;
use super::super::{RateSample, Sock};
use super::{AckPhase, Bbr3, CWND_GAIN, DOWN_PACING_GAIN, DRAIN_PACING_GAIN, DRAIN_ROUNDS, MIN_RTT_WINDOW_S, Mode, PROBE_ROUNDS_MOST, PROBE_ROUNDS_RAND, PROBE_RTT_MS, PROBE_RTT_WINDOW_S, PROBE_WAIT_RAND_US, PROBE_WAIT_US, STARTUP_PACING_GAIN, UNSET, UP_CWND_GAIN, UP_PACING_GAIN};

impl Bbr3 {
    pub(super) fn check_drain(&mut self, sk: &mut Sock) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            self.drain_rounds = 0;
            sk.snd_ssthresh = self.inflight(sk, self.max_bw());
            self.reset_congestion_signals();
        } else if self.mode == Mode::Drain {
            self.drain_rounds += u32::from(self.round_start);
        }
        if self.mode == Mode::Drain
            && (self.drain_rounds >= DRAIN_ROUNDS
                || self.packets_in_net_at_edt(sk, sk.packets_in_flight()) <= self.inflight(sk, self.max_bw()))
        {
            self.start_down(sk);
        }
    }

    pub(super) fn start_down(&mut self, sk: &Sock) {
        self.mode = Mode::Down;
        self.reset_congestion_signals();
        self.up_cnt = UNSET;
        self.rounds_since_probe = self.below(PROBE_ROUNDS_RAND);
        self.wait_us = PROBE_WAIT_US + self.below(PROBE_WAIT_RAND_US);
        self.cycle_mstamp = sk.tcp_mstamp;
        self.ack_phase = AckPhase::Stopping;
        self.next_rtt_delivered = sk.delivered;
    }

    fn start_cruise(&mut self) {
        self.mode = Mode::Cruise;
        if self.inflight_lo != UNSET {
            self.inflight_lo = self.inflight_lo.min(self.inflight_hi);
        }
    }

    pub(super) fn start_refill(&mut self, sk: &Sock) {
        self.mode = Mode::Refill;
        self.reset_lower_bounds();
        (self.up_rounds, self.up_acks, self.stopped_risky_probe) = (0, 0, false);
        self.ack_phase = AckPhase::Refilling;
        self.next_rtt_delivered = sk.delivered;
    }

    fn start_up(&mut self, sk: &Sock, sample_bw: u32) {
        self.mode = Mode::Up;
        self.ack_phase = AckPhase::Starting;
        self.next_rtt_delivered = sk.delivered;
        self.cycle_mstamp = sk.tcp_mstamp;
        self.reset_full_bw();
        self.full_bw = sample_bw;
        self.raise_slope(sk);
    }

    /// Evenly below `end`, by lot.
    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.random.next_u32()) * u64::from(end)) >> 32) as u32
    }

    /// ProbeBW's machine.
    pub(super) fn update_cycle_phase(&mut self, sk: &Sock, rs: &RateSample, sample_bw: u32) {
        if !self.full_bw_reached || self.adapt_upper_bound(sk, rs) || !self.in_probe_bw() {
            return;
        }
        let inflight = self.packets_in_net_at_edt(sk, rs.prior_in_flight);
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(sk) => self.start_refill(sk),
            Mode::Down if inflight <= self.with_headroom().min(self.inflight(sk, self.max_bw())) => {
                self.start_cruise();
            }
            // ACKs of what the refilled pipe holds.
            Mode::Refill if self.round_start => {
                self.probe_samples = true;
                self.start_up(sk, sample_bw);
            }
            Mode::Up => self.probe_up(sk, inflight, sample_bw),
            _ => {}
        }
    }

    /// A probe ends where the last one went too far, or when it finds no more bandwidth.
    fn probe_up(&mut self, sk: &Sock, inflight: u32, sample_bw: u32) {
        if self.prev_probe_too_high && inflight >= self.inflight_hi {
            self.stopped_risky_probe = true;
        } else if sk.is_cwnd_limited && sk.snd_cwnd >= self.inflight_hi {
            // The bound may hide bandwidth.
            self.reset_full_bw();
            self.full_bw = sample_bw;
            return;
        } else if !self.full_bw_now {
            return;
        }
        self.prev_probe_too_high = false;
        self.start_down(sk);
    }

    fn is_time_to_probe(&self, sk: &Sock) -> bool {
        stamp_delta(sk.tcp_mstamp, self.cycle_mstamp) > self.wait_us
            || self.rounds_since_probe >= PROBE_ROUNDS_MOST.min(self.target_inflight(sk))
    }

    pub(super) fn update_min_rtt(&mut self, sk: &mut Sock, rs: &RateSample) {
        let older = |stamp: u32, seconds| after(sk.jiffies, stamp.wrapping_add(seconds * sk.hz));
        let expired = older(self.probe_rtt_min_stamp, PROBE_RTT_WINDOW_S);
        if rs.rtt_us >= 0
            && (rs.rtt_us < i64::from(self.probe_rtt_min_us) || (expired && !rs.is_ack_delayed))
        {
            self.probe_rtt_min_us = rs.rtt_us as u32;
            self.probe_rtt_min_stamp = sk.jiffies;
        }
        if self.probe_rtt_min_us <= self.min_rtt_us || older(self.min_rtt_stamp, MIN_RTT_WINDOW_S) {
            self.min_rtt_us = self.probe_rtt_min_us;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd(sk);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::Stopping;
            self.next_rtt_delivered = sk.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sk);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, sk: &mut Sock) {
        sk.mark_app_limited();
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(sk);
            }
        } else if sk.packets_in_flight() <= self.probe_rtt_cwnd() {
            self.probe_rtt_done_stamp = Some(sk.jiffies.wrapping_add((PROBE_RTT_MS * sk.hz).div_ceil(1_000)));
            self.probe_rtt_round_done = false;
            self.next_rtt_delivered = sk.delivered;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, sk: &mut Sock) {
        if !self.probe_rtt_done_stamp.is_some_and(|done| after(sk.jiffies, done)) {
            return;
        }
        self.probe_rtt_min_stamp = sk.jiffies;
        sk.set_cwnd(sk.snd_cwnd.max(self.prior_cwnd));
        self.reset_lower_bounds();
        if self.full_bw_reached {
            self.start_down(sk);
            self.start_cruise(); // there is no queue to drain
        } else {
            self.mode = Mode::Startup;
        }
    }

    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (STARTUP_PACING_GAIN, CWND_GAIN),
            Mode::Drain => (DRAIN_PACING_GAIN, CWND_GAIN),
            Mode::Down => (DOWN_PACING_GAIN, CWND_GAIN),
            Mode::Cruise | Mode::Refill => (UNIT, CWND_GAIN),
            Mode::Up => (UP_PACING_GAIN, UP_CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}
