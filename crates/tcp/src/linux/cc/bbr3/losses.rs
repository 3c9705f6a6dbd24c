//! BBRv3's bounds: losses of a round cut the lower ones, a probe that loses more than 2 % sets the upper one.
//!
//! Source: draft-ietf-ccwg-bbr, sections "Updating the Model Upon Packet Loss" and "Exiting Startup Based on Packet
//! Loss"; `bbr_is_inflight_too_high`, `bbr_inflight_hi_from_lost_skb` and `bbr_adapt_upper_bounds` of Google's kernel.

use super::super::sock::after;
use super::super::{CaState, RateSample, Sock};
use super::{AckPhase, BETA_PERCENT, Bbr3, FULL_LOSSES, LOSS_PERCENT, Mode, UNSET, percent};

impl Bbr3 {
    pub(super) fn update_latest_signals(&mut self, sk: &Sock, rs: &RateSample, sample_bw: u32) {
        self.loss_round_start = false;
        if !rs.is_valid() || rs.acked_sacked == 0 {
            return;
        }
        self.bw_latest = self.bw_latest.max(sample_bw);
        self.inflight_latest = self.inflight_latest.max(rs.delivered as u32);
        if !after(self.loss_round_delivered, rs.prior_delivered) {
            self.loss_round_delivered = sk.delivered;
            self.loss_round_start = true;
        }
    }

    pub(super) fn update_congestion_signals(&mut self, sk: &Sock, rs: &RateSample, sample_bw: u32) {
        if !rs.is_valid() || rs.acked_sacked == 0 {
            return;
        }
        if !rs.is_app_limited || sample_bw >= self.max_bw() {
            self.bw_hi[1] = self.bw_hi[1].max(sample_bw);
        }
        self.loss_in_round |= rs.losses > 0;
        if self.loss_round_start {
            if self.loss_in_round && !self.is_probing() {
                self.cut_lower_bounds(sk);
            }
            self.loss_in_round = false;
        }
    }

    /// A round with losses: 0.7 of what was, but no less than the round has delivered.
    pub(super) fn cut_lower_bounds(&mut self, sk: &Sock) {
        if self.bw_lo == UNSET {
            self.bw_lo = self.max_bw();
        }
        if self.inflight_lo == UNSET {
            self.inflight_lo = sk.snd_cwnd;
        }
        self.bw_lo = self.bw_latest.max(percent(self.bw_lo, BETA_PERCENT)).max(1);
        self.inflight_lo = self.inflight_latest.max(percent(self.inflight_lo, BETA_PERCENT));
    }

    /// The first loss of a round starts a round of its own, which sees all of the path's capacity.
    pub(super) fn note_loss(&mut self, sk: &Sock) {
        if !self.loss_in_round {
            self.loss_round_delivered = sk.delivered;
        }
        self.loss_in_round = true;
    }

    /// A probe of the tail has repaired the loss of one packet.
    pub(super) fn tail_loss(&mut self, sk: &Sock) {
        self.note_loss(sk);
        let rs = RateSample { lost: 1, tx_in_flight: self.inflight_latest + 1, ..RateSample::default() };
        if self.probe_samples && is_inflight_too_high(&rs) {
            self.handle_inflight_too_high(sk, &rs);
        }
    }

    /// Startup ends, too, if a round of recovery has lost too much, in several places.
    pub(super) fn check_startup_losses(&mut self, sk: &Sock, rs: &RateSample) {
        if self.full_bw_reached {
            return;
        }
        self.loss_events_in_round += u32::from(rs.losses > 0);
        if self.loss_round_start {
            if sk.ca_state == CaState::Recovery
                && self.loss_events_in_round >= FULL_LOSSES
                && is_inflight_too_high(rs)
            {
                self.full_bw_reached = true;
                self.inflight_hi = self.inflight(sk, self.max_bw()).max(self.inflight_latest);
            }
            self.loss_events_in_round = 0;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0, 0);
    }

    pub(super) fn reset_lower_bounds(&mut self) {
        (self.bw_lo, self.inflight_lo) = (UNSET, UNSET);
    }

    /// The upper bound falls when a probe loses too much and rises when more than it was in flight safely. Says
    /// whether the mode has changed.
    pub(super) fn adapt_upper_bound(&mut self, sk: &Sock, rs: &RateSample) -> bool {
        if self.round_start && self.ack_phase == AckPhase::Starting {
            self.ack_phase = AckPhase::Feedback;
        } else if self.round_start && self.ack_phase == AckPhase::Stopping {
            self.probe_samples = false;
            self.ack_phase = AckPhase::Init;
            // The cycle's probe is judged: the last cycle's bandwidth may be forgotten.
            if self.in_probe_bw() && !rs.is_app_limited && self.bw_hi[1] > 0 {
                self.bw_hi = [self.bw_hi[1], 0];
            }
            // The probe stopped at the old bound and lost nothing: go on beyond.
            if self.in_probe_bw() && self.stopped_risky_probe && !self.prev_probe_too_high {
                self.start_refill(sk);
                return true;
            }
        }
        if is_inflight_too_high(rs) {
            if self.probe_samples {
                self.handle_inflight_too_high(sk, rs);
            }
        } else if self.inflight_hi != UNSET {
            self.inflight_hi = self.inflight_hi.max(rs.tx_in_flight);
            if self.mode == Mode::Up {
                self.probe_inflight_upward(sk, rs);
            }
        }
        false
    }

    /// One reaction per probe.
    pub(super) fn handle_inflight_too_high(&mut self, sk: &Sock, rs: &RateSample) {
        self.prev_probe_too_high = true;
        self.probe_samples = false;
        if !rs.is_app_limited {
            self.inflight_hi = rs.tx_in_flight.max(percent(self.target_inflight(sk), BETA_PERCENT));
        }
        if self.mode == Mode::Up {
            self.start_down(sk);
        }
    }

    pub(super) fn probe_inflight_upward(&mut self, sk: &Sock, rs: &RateSample) {
        if !sk.is_cwnd_limited || sk.snd_cwnd < self.inflight_hi {
            return;
        }
        self.up_acks += rs.acked_sacked;
        if self.up_acks >= self.up_cnt {
            self.inflight_hi = self.inflight_hi.saturating_add(self.up_acks / self.up_cnt);
            self.up_acks %= self.up_cnt;
        }
        if self.round_start {
            self.raise_slope(sk);
        }
    }

    pub(super) fn raise_slope(&mut self, sk: &Sock) {
        self.up_cnt = (sk.snd_cwnd >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(30);
    }
}

/// More lost than 2 % of what was in flight.
pub(super) fn is_inflight_too_high(rs: &RateSample) -> bool {
    rs.lost > 0 && rs.tx_in_flight > 0 && rs.lost as u64 * 100 > u64::from(rs.tx_in_flight) * LOSS_PERCENT
}

/// Packets in flight at which the losses of a flight passed 2 %, for a packet of it. Solves (lost before + x) = 2 % (in
/// flight before + x).
pub(super) fn inflight_at_loss(rs: &RateSample) -> u32 {
    ((inflight_at_loss_percent(rs) + 50) / 100) as u32
}

/// The same in hundredths of a packet.
pub(super) fn inflight_at_loss_percent(rs: &RateSample) -> u64 {
    let before = u64::from(rs.tx_in_flight.saturating_sub(1));
    let lost_before = rs.lost.saturating_sub(1).max(0) as u64;
    let budget = (before * LOSS_PERCENT).saturating_sub(lost_before * 100); // hundredths
    before * 100 + (budget * 100 + (100 - LOSS_PERCENT) / 2) / (100 - LOSS_PERCENT)
}
