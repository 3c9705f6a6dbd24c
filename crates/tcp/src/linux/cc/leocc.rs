//! LeoCC: BBR version 1 for paths through satellites in low orbit, which are reconfigured every some seconds.
//!
//! A reconfiguration is known before it comes. Then ProbeRtt measures the new path's round trip, which replaces
//! `min_rtt` however long it is. Startup finds the new path's bandwidth without a memory of the old one. In between a
//! queue shows in a filtered round trip. While that is long, the bandwidth to go by is a filtered one, too, in place of
//! the largest of ten rounds. Probing is then gentler.
//!
//! Source: SpaceNetLab/LeoCC (SIGCOMM 2025), `leocc/simulation/leocc.c`; the paper was not read. `struct leocc` is
//! `struct bbr` without policers. The module has the table of gains and the clock in common for all connections. Here
//! each has its own, and the clock is that of a schedule. Its filters multiply in 32 bits, here in 64: they differ from
//! 12 Gbit/s on.

use super::bbr::{BbrWith, CYCLE, Mode, Rules, SCALE, UNIT};

/// ProbeBw's gain of the rate in the probing phase while there is a queue.
const GENTLE_GAIN: u32 = UNIT * 21 / 20;
/// A queue, us: the filtered round trip exceeds `min_rtt` by so much (`min_rtt_fluctuation`).
const FLUCTUATION_US: u32 = 10_000;
/// A new path, us: a round trip of ProbeRtt is below the filtered one by more (`delta_thresh`).
const FALL_US: i64 = 45_000;

/// `struct leocc`.
pub type Leocc = BbrWith<LeoRules>;

/// A Kalman filter of one number, in integers; gains in 1/256.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kalman {
    /// The estimate and its variance (`bw_hat_post`, `p_post_bw`).
    x: u32,
    p: u32,
}

impl Default for Kalman {
    /// `leocc_init`.
    fn default() -> Self {
        Self { x: 0, p: 25 }
    }
}

impl Kalman {
    /// Variances of the number itself and of its measurement (`var_Q`, `var_R`).
    const Q: u32 = 4;
    const R: u32 = 4;

    /// A measurement (`leocc_main`). Returns the gain.
    #[inline]
    fn measured(&mut self, z: u32) -> u32 {
        self.p += Self::Q;
        let gain = (self.p << SCALE) / (self.p + Self::R);
        let both = u64::from(UNIT - gain) * u64::from(self.x) + u64::from(gain) * u64::from(z);
        self.x = (both >> SCALE) as u32;
        self.p = ((UNIT - gain) * self.p) >> SCALE;
        gain
    }
}

/// The fields that `struct leocc` has beside BBR.
#[derive(Clone, Debug, Default)]
pub struct LeoRules {
    /// The schedule has a reconfiguration about now.
    is_near: bool,
    /// An ACK has come in that time, and Startup has not filled the pipe since (`reconfiguration_trigger`).
    triggered: bool,
    /// The bandwidth before the first sample of a much shorter path (`reconfiguration_max_bw`).
    reconfiguration_max_bw: u32,
    /// Bandwidth of the last ACK (`latest_bw`), and the largest of this round (`rtt_cnt_max_bw`).
    latest_bw: u32,
    rtt_cnt_max_bw: u32,
    bw: Kalman,
    rtt: Kalman,
    /// There is a queue (not `use_max_filter`).
    is_gentle: bool,
}

impl Rules for LeoRules {
    /// `leocc_min_rtt_win_sec`.
    const MIN_RTT_WINDOW_S: u32 = 20;
    /// `leocc_probe_rtt_cwnd`.
    const PROBE_RTT_GAIN: Option<u32> = Some(UNIT / 2);
    /// `leocc_update_min_rtt`.
    const PROBE_RTT_RENEWS: bool = true;
    const LONG_TERM: bool = false;

    fn path_changes_soon(&mut self, is_near: bool) {
        self.is_near = is_near;
    }

    /// `leocc_main`, before `leocc_update_model`.
    #[inline]
    fn ack_begins(&mut self, round: bool) {
        self.triggered |= self.is_near;
        if round {
            self.bw.measured(self.rtt_cnt_max_bw);
        }
    }

    #[inline]
    fn round_begins(&mut self) {
        self.rtt_cnt_max_bw = 0;
    }

    /// `leocc_update_bw`.
    #[inline]
    fn sampled(&mut self, bw: u32, rtt_us: i64, mode: Mode) {
        self.rtt_cnt_max_bw = self.rtt_cnt_max_bw.max(bw);
        if mode == Mode::ProbeRtt && rtt_us > 0 && i64::from(self.rtt.x) > rtt_us + FALL_US {
            self.reconfiguration_max_bw = self.latest_bw;
        }
        self.latest_bw = bw;
    }

    /// `leocc_update_min_rtt`: Startup and Drain go on.
    #[inline]
    fn probes_rtt(&self, mode: Mode, expired: bool) -> bool {
        mode == Mode::ProbeBw && (expired || self.triggered)
    }

    /// `leocc_check_probe_rtt_done`, `leocc_reset_mode`.
    #[inline]
    fn starts_anew(&self) -> Option<u32> {
        self.triggered.then_some(self.reconfiguration_max_bw)
    }

    /// `leocc_check_drain`.
    #[inline]
    fn startup_is_over(&mut self) {
        (self.triggered, self.reconfiguration_max_bw) = (false, 0);
    }

    #[inline]
    fn pacing_gain(&self, phase: usize) -> u32 {
        if phase == 0 && self.is_gentle { GENTLE_GAIN } else { CYCLE[phase] }
    }

    /// `leocc_main`, after `leocc_update_model`. An unknown `min_rtt` is the largest number, and its sum wraps.
    #[inline]
    fn bandwidth(&mut self, mode: Mode, rtt_us: i64, min_rtt_us: u32) -> Option<u32> {
        if rtt_us > 0 {
            self.rtt.measured(rtt_us as u32);
        }
        self.is_gentle = mode == Mode::ProbeBw
            && !self.triggered
            && self.rtt.x >= min_rtt_us.wrapping_add(FLUCTUATION_US);
        self.is_gentle.then_some(self.bw.x)
    }
}

#[cfg(test)]
mod tests;
