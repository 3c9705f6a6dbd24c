//! BBR's rate and window: the bandwidth-delay product times a gain, with room for bursts and aggregated ACKs.
//!
//! Source: net/ipv4/tcp_bbr.c (`bbr_set_pacing_rate`, `bbr_bdp`, `bbr_quantization_budget`, `bbr_set_cwnd`,
//! `bbr_set_cwnd_to_recover_or_restore`, `bbr_tso_segs_goal`).

use super::super::{CaState, INIT_CWND, RateSample, Sock};
use super::{BW_SCALE, BW_UNIT, BbrWith, CWND_MIN, HIGH_GAIN, LONGEST_BURST, Mode, Rules, SCALE, UNIT};

/// Percent that the rate stays below the estimate.
const PACING_MARGIN: u64 = 1;
/// Bursts of a single segment below this rate, bits per second.
const MIN_TSO_RATE: u64 = 1_200_000;

impl<R: Rules> BbrWith<R> {
    /// `bbr_init_pacing_rate_from_rtt`: the initial window in a round trip, 1 ms if none is known.
    pub(super) fn init_pacing_rate(&mut self, sk: &mut Sock) {
        let rtt_us = match sk.srtt_us {
            0 => 1_000,
            srtt => {
                self.has_seen_rtt = true;
                (srtt >> 3).max(1)
            }
        };
        let bw = u64::from(sk.snd_cwnd) * BW_UNIT / u64::from(rtt_us);
        sk.pacing_rate = pacing_rate(sk, bw as u32, HIGH_GAIN);
    }

    /// `bbr_set_pacing_rate`: until the pipe is full the rate only grows.
    pub(super) fn set_pacing_rate(&mut self, sk: &mut Sock, bw: u32, gain: u32) {
        let rate = pacing_rate(sk, bw, gain);
        if !self.has_seen_rtt && sk.srtt_us > 0 {
            self.init_pacing_rate(sk);
        }
        if self.full_bw_reached || rate > sk.pacing_rate {
            sk.pacing_rate = rate;
        }
    }

    /// `bbr_save_cwnd`.
    pub(super) fn save_cwnd(&mut self, sk: &Sock) {
        self.prior_cwnd = if self.prev_ca_state < CaState::Recovery && self.mode != Mode::ProbeRtt {
            sk.snd_cwnd
        } else {
            self.prior_cwnd.max(sk.snd_cwnd)
        };
    }

    /// `bbr_bdp`: bandwidth x `min_rtt` x gain, rounded up.
    pub(super) fn bdp(&self, bw: u32, gain: u32) -> u32 {
        if self.min_rtt_us == u32::MAX {
            return INIT_CWND;
        }
        let product = (u64::from(bw) * u64::from(self.min_rtt_us)).wrapping_mul(u64::from(gain));
        (((product >> SCALE) + BW_UNIT - 1) >> BW_SCALE) as u32
    }

    /// `bbr_quantization_budget`: room for bursts at both ends, and for ACKs of two.
    pub(super) fn quantized(&self, sk: &Sock, cwnd: u32) -> u32 {
        let even = (cwnd.wrapping_add(3 * tso_segs_goal(sk)).wrapping_add(1)) & !1;
        if self.mode == Mode::ProbeBw && self.cycle_idx == 0 { even.wrapping_add(2) } else { even }
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, sk: &Sock, bw: u32, gain: u32) -> u32 {
        self.quantized(sk, self.bdp(bw, gain))
    }

    /// `bbr_packets_in_net_at_edt`: what will be in the network when the next packet may leave.
    pub(super) fn packets_in_net_at_edt(&self, sk: &Sock, inflight_now: u32) -> u32 {
        let wait_us = sk.tcp_wstamp_ns.saturating_sub(sk.tcp_clock_cache) / 1_000;
        let delivered = (u64::from(self.bw()).wrapping_mul(wait_us) >> BW_SCALE) as u32;
        let burst = if self.pacing_gain > UNIT { tso_segs_goal(sk) } else { 0 };
        (inflight_now + burst).saturating_sub(delivered)
    }

    /// `bbr_ack_aggregation_cwnd`.
    pub(super) fn ack_aggregation_cwnd(&self) -> u32 {
        if self.full_bw_reached { self.aggregation.extra(self.bw()) } else { 0 }
    }

    /// `bbr_set_cwnd`.
    pub(super) fn set_cwnd(&mut self, sk: &mut Sock, rs: &RateSample, bw: u32) {
        let acked = rs.acked_sacked;
        let mut cwnd = sk.snd_cwnd;
        if acked > 0 {
            cwnd = self.recover_or_restore(sk, rs);
            if !self.packet_conservation {
                let target =
                    self.quantized(sk, self.bdp(bw, self.cwnd_gain).wrapping_add(self.ack_aggregation_cwnd()));
                if self.full_bw_reached {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || sk.delivered < INIT_CWND {
                    cwnd += acked;
                }
                cwnd = cwnd.max(CWND_MIN);
            }
        }
        sk.set_cwnd(cwnd);
        if self.mode == Mode::ProbeRtt {
            sk.set_cwnd(sk.snd_cwnd.min(self.probe_rtt_cwnd()));
        }
    }

    /// Most packets of ProbeRtt.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        R::PROBE_RTT_GAIN.map_or(CWND_MIN, |gain| self.bdp(self.max_bw(), gain).max(CWND_MIN))
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: cwnd less what is lost; at first as many packets as arrive, then up to
    /// two for each; afterwards what it was.
    fn recover_or_restore(&mut self, sk: &Sock, rs: &RateSample) -> u32 {
        let (before, state) = (std::mem::replace(&mut self.prev_ca_state, sk.ca_state), sk.ca_state);
        let mut cwnd = sk.snd_cwnd.saturating_sub(rs.losses).max(1);
        let conserved = sk.packets_in_flight() + rs.acked_sacked;
        if state == CaState::Recovery && before != CaState::Recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = sk.delivered;
            cwnd = conserved;
        } else if before >= CaState::Recovery && state < CaState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        if self.packet_conservation { cwnd.max(conserved) } else { cwnd }
    }
}

/// `bbr_rate_bytes_per_sec`: a bandwidth x gain, less the margin, in bytes per second.
pub(super) fn bytes_per_second(sk: &Sock, bw: u64, gain: u32) -> u64 {
    let rate = bw.wrapping_mul(u64::from(sk.mss_cache)).wrapping_mul(u64::from(gain)) >> SCALE;
    rate.wrapping_mul(1_000_000 / 100 * (100 - PACING_MARGIN)) >> BW_SCALE
}

/// `bbr_bw_to_pacing_rate`.
pub(in super::super) fn pacing_rate(sk: &Sock, bw: u32, gain: u32) -> u64 {
    bytes_per_second(sk, u64::from(bw), gain).min(sk.max_pacing_rate)
}

pub(super) fn min_tso_segs(sk: &Sock) -> u32 {
    if sk.pacing_rate < MIN_TSO_RATE >> 3 { 1 } else { 2 }
}

/// `bbr_tso_segs_goal`: segments of a burst of 2^-`pacing_shift` s.
pub(super) fn tso_segs_goal(sk: &Sock) -> u32 {
    let bytes = (sk.pacing_rate >> sk.pacing_shift).min(LONGEST_BURST) as u32;
    (bytes / sk.mss_cache).max(min_tso_segs(sk)).min(0x7f)
}
