//! BBR's long-term bandwidth: the rate that a token-bucket policer lets through (`bbr_lt_bw_sampling`).
//!
//! Two intervals of 4 to 16 round trips with a fifth of their packets lost and the same throughput mean that somebody
//! polices. That throughput is the bandwidth for 48 round trips.

use super::{BW_UNIT, RateSample, SCALE, Sock, UNIT, bytes_per_second};

/// Least round trips of an interval; four times as many are too many.
const INTERVAL_ROUNDS: u32 = 4;
/// Lost packets per delivered one, in 1/256.
const LOSS_THRESH: u32 = 50;
/// Rates are alike if they differ by an eighth at most, or by 4 kbit/s.
const BW_RATIO: u32 = UNIT / 8;
const BW_DIFF: u64 = 4_000 / 8;
/// Round trips that the rate is used for.
const USE_ROUNDS: u32 = 48;

/// Change that a sample has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Unchanged,
    /// From now on [`LongTerm::bw`] is the bandwidth.
    Policed,
    /// No longer.
    Over,
}

/// The `lt_` fields of `struct bbr`.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    is_sampling: bool,
    use_bw: bool,
    /// Rate of the last interval, or the policer's.
    bw: u32,
    /// Round trips of the interval, or of the use.
    rtt_cnt: u32,
    /// Counters at the interval's start; the time in ms.
    last_delivered: u32,
    last_lost: u32,
    last_stamp: u32,
}

impl LongTerm {
    /// The policer's rate, if there is one.
    pub(super) fn bw(&self) -> Option<u32> {
        self.use_bw.then_some(self.bw)
    }

    /// `bbr_reset_lt_bw_sampling`.
    pub(super) fn reset(&mut self, sk: &Sock) {
        (self.bw, self.use_bw, self.is_sampling) = (0, false, false);
        self.start_interval(sk);
    }

    /// `bbr_reset_lt_bw_sampling_interval`.
    fn start_interval(&mut self, sk: &Sock) {
        self.last_stamp = (sk.delivered_mstamp / 1_000) as u32;
        self.last_delivered = sk.delivered;
        self.last_lost = sk.lost;
        self.rtt_cnt = 0;
    }

    /// An ACK, or a timeout.
    pub(super) fn sample(&mut self, sk: &Sock, rs: &RateSample, round_start: bool, probe_bw: bool) -> Verdict {
        if self.use_bw {
            if probe_bw && round_start {
                self.rtt_cnt += 1;
                if self.rtt_cnt >= USE_ROUNDS {
                    self.reset(sk);
                    return Verdict::Over;
                }
            }
            return Verdict::Unchanged;
        }
        // The first loss says that the policer's tokens are spent.
        if !self.is_sampling {
            if rs.losses == 0 {
                return Verdict::Unchanged;
            }
            self.start_interval(sk);
            self.is_sampling = true;
        }
        if rs.is_app_limited {
            self.reset(sk);
            return Verdict::Unchanged;
        }
        self.rtt_cnt += u32::from(round_start);
        if self.rtt_cnt < INTERVAL_ROUNDS {
            return Verdict::Unchanged;
        }
        if self.rtt_cnt > 4 * INTERVAL_ROUNDS {
            self.reset(sk);
            return Verdict::Unchanged;
        }
        // The interval ends with a loss, too.
        if rs.losses == 0 {
            return Verdict::Unchanged;
        }
        let lost = sk.lost.wrapping_sub(self.last_lost);
        let delivered = sk.delivered.wrapping_sub(self.last_delivered);
        if delivered == 0 || (lost << SCALE) < LOSS_THRESH.wrapping_mul(delivered) {
            return Verdict::Unchanged;
        }
        let ms = ((sk.delivered_mstamp / 1_000) as u32).wrapping_sub(self.last_stamp);
        if (ms as i32) < 1 {
            return Verdict::Unchanged;
        }
        if ms >= u32::MAX / 1_000 {
            self.reset(sk);
            return Verdict::Unchanged;
        }
        self.interval_done(sk, (u64::from(delivered) * BW_UNIT / u64::from(ms * 1_000)) as u32)
    }

    /// `bbr_lt_bw_interval_done`.
    fn interval_done(&mut self, sk: &Sock, bw: u32) -> Verdict {
        if self.bw > 0 {
            let diff = (bw.wrapping_sub(self.bw) as i32).unsigned_abs();
            if diff.wrapping_mul(UNIT) <= BW_RATIO.wrapping_mul(self.bw)
                || bytes_per_second(sk, u64::from(diff), UNIT) <= BW_DIFF
            {
                self.bw = bw.wrapping_add(self.bw) >> 1;
                self.use_bw = true;
                self.rtt_cnt = 0;
                return Verdict::Policed;
            }
        }
        self.bw = bw;
        self.start_interval(sk);
        Verdict::Unchanged
    }
}
