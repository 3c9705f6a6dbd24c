//! BBRv3's rate and window: the bandwidth-delay product times a gain, within the bounds.
//!
//! Source: draft-ietf-ccwg-bbr, sections "Pacing Rate: BBR.pacing_rate", "Send Quantum: BBR.send_quantum" and
//! "Congestion Window".

use super::super::bbr::{BW_SCALE, BW_UNIT, LONGEST_BURST, SCALE, UNIT, pacing_rate};
use super::super::{CaState, Sock};
use super::{Bbr3, CWND_MIN, HEADROOM_PERCENT, Mode, STARTUP_PACING_GAIN, UNSET, percent};

/// A short round trip allows longer bursts: 64 KiB, halved per 512 us.
const BURST_BYTES: u64 = 65_536;
const BURST_RTT_SHIFT: u32 = 9;
/// Least segments of a burst (`tcp_min_tso_segs`).
const LEAST_BURST: u32 = 2;

impl Bbr3 {
    pub(super) fn init_pacing_rate(&mut self, sk: &mut Sock) {
        self.has_seen_rtt = sk.srtt_us > 0;
        let rtt_us = if self.has_seen_rtt { (sk.srtt_us >> 3).max(1) } else { 1_000 };
        let bw = u64::from(sk.snd_cwnd) * BW_UNIT / u64::from(rtt_us);
        sk.pacing_rate = pacing_rate(sk, bw as u32, STARTUP_PACING_GAIN).max(1);
    }

    pub(super) fn set_pacing_rate(&mut self, sk: &mut Sock, gain: u32) {
        let rate = pacing_rate(sk, self.bw(), gain).max(1);
        if !self.has_seen_rtt && sk.srtt_us > 0 {
            self.init_pacing_rate(sk);
        }
        if self.full_bw_reached || rate > sk.pacing_rate {
            sk.pacing_rate = rate;
        }
    }

    pub(super) fn save_cwnd(&mut self, sk: &Sock) {
        self.prior_cwnd = if self.prev_ca_state < CaState::Recovery && self.mode != Mode::ProbeRtt {
            sk.snd_cwnd
        } else {
            self.prior_cwnd.max(sk.snd_cwnd)
        };
    }

    fn bdp(&self, bw: u32, gain: u32) -> u32 {
        if self.min_rtt_us == u32::MAX {
            return self.init_cwnd;
        }
        let product = (u64::from(bw) * u64::from(self.min_rtt_us)).wrapping_mul(u64::from(gain));
        (((product >> SCALE) + BW_UNIT - 1) >> BW_SCALE) as u32
    }

    /// Segments of a burst: a millisecond of the rate, and more on short paths.
    fn tso_segs_goal(&self, sk: &Sock) -> u32 {
        let by_rtt = BURST_BYTES.checked_shr(self.min_rtt_us >> BURST_RTT_SHIFT).unwrap_or(0);
        let bytes = (sk.pacing_rate >> sk.pacing_shift).saturating_add(by_rtt).min(LONGEST_BURST) as u32;
        (bytes / sk.mss_cache).max(LEAST_BURST)
    }

    fn quantized(&self, sk: &Sock, cwnd: u32) -> u32 {
        let cwnd = cwnd.max(3 * self.tso_segs_goal(sk)).max(CWND_MIN);
        if self.mode == Mode::Up { cwnd.saturating_add(2) } else { cwnd }
    }

    pub(super) fn inflight(&self, sk: &Sock, bw: u32) -> u32 {
        self.quantized(sk, self.bdp(bw, UNIT))
    }

    pub(super) fn target_inflight(&self, sk: &Sock) -> u32 {
        self.inflight(sk, self.bw()).min(sk.snd_cwnd)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bw(), UNIT / 2).max(CWND_MIN)
    }

    pub(super) fn with_headroom(&self) -> u32 {
        if self.inflight_hi == UNSET {
            return UNSET;
        }
        let headroom = percent(self.inflight_hi, HEADROOM_PERCENT).max(1);
        self.inflight_hi.saturating_sub(headroom).max(CWND_MIN)
    }

    pub(super) fn packets_in_net_at_edt(&self, sk: &Sock, inflight_now: u32) -> u32 {
        let wait_us = sk.tcp_wstamp_ns.saturating_sub(sk.tcp_clock_cache) / 1_000;
        let delivered = (u64::from(self.bw()).wrapping_mul(wait_us) >> BW_SCALE) as u32;
        let burst = if self.pacing_gain > UNIT { self.tso_segs_goal(sk) } else { 0 };
        (inflight_now + burst).saturating_sub(delivered)
    }

    pub(super) fn set_cwnd(&mut self, sk: &mut Sock, acked: u32) {
        let mut cwnd = sk.snd_cwnd;
        if acked > 0 {
            let bw = self.bw();
            let most = self.bdp(bw, self.cwnd_gain).saturating_add(self.aggregation.extra(bw));
            let most = self.quantized(sk, most);
            if self.full_bw_reached {
                cwnd = (cwnd + acked).min(most);
            } else if cwnd < most || cwnd < 2 * self.init_cwnd {
                cwnd += acked;
            }
            cwnd = cwnd.max(CWND_MIN);
        }
        sk.set_cwnd(cwnd);
        if self.mode == Mode::ProbeRtt {
            sk.set_cwnd(sk.snd_cwnd.min(self.probe_rtt_cwnd()));
        }
    }

    /// Within the bounds; cruising and ProbeRtt keep clear of the upper one.
    pub(super) fn bound_cwnd(&self, sk: &mut Sock) {
        let upper = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_hi,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
            Mode::Startup | Mode::Drain => UNSET,
        };
        sk.set_cwnd(sk.snd_cwnd.min(upper.min(self.inflight_lo).max(CWND_MIN)));
    }
}
