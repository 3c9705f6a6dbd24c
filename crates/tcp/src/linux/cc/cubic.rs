//! CUBIC as Linux has it (`tcp_cubic.c` 2.3): RFC 9438's curve in integers, a Reno-friendly floor, HyStart.
//!
//! Time is counted in jiffies, so a growth step may fall one jiffy earlier or later than the curve's. Departures from
//! RFC 9438: the curve looks `delay_min` ahead and not a smoothed RTT, and a timeout forgets W_max. Undo restores cwnd
//! and ssthresh but neither W_max nor the epoch.

use super::sock::after;
use super::{AckSample, CaEvent, CaState, CongestionOps, HyStartEnd, HyStartSign, INFINITE_SSTHRESH, PacingStatus, Sock};
use crate::advice::Anew;

/// A factor of 1, in units of beta (`BICTCP_BETA_SCALE`).
const UNIT: u64 = 1024;
/// Share of cwnd that a loss leaves: 0.70, in 1/1024.
const BETA: u64 = 717;
/// Reno's window grows by a packet per `cwnd * BETA_SCALE / 8` ACKed ones: 1.875 cwnd (RFC 9438, 4.3).
const BETA_SCALE: u64 = 8 * (UNIT + BETA) / 3 / (UNIT - BETA);
/// C = 41/1024 per s^3 and round trip of 100 ms: 0.4 packets/s^3 (`bic_scale`, `cube_rtt_scale`).
const CUBE_RTT_SCALE: u64 = 41 * 10;
/// 1/C, for K^3 in (1/1024 s)^3 (`cube_factor`).
const CUBE_FACTOR: u64 = (1 << 40) / CUBE_RTT_SCALE;
/// While W_max is unknown a packet costs at most this many: 5 % per round.
const MOST_UNKNOWN: u32 = 20;
/// A packet costs at least this many: 1.5 x per round.
const LEAST: u32 = 2;

/// HyStart judges from this cwnd on (`hystart_low_window`).
const LOW_WINDOW: u32 = 16;
/// ACKs as close as this are one train (`hystart_ack_delta_us`).
const ACK_DELTA_US: i32 = 2_000;
/// Samples of a round that HyStart waits for (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;
/// Bounds of the rise of the round trip that ends slow start, us.
const DELAY_MIN_US: u32 = 4_000;
const DELAY_MAX_US: u32 = 16_000;
/// Most that bursts may lengthen an ACK train, us.
const MOST_ACK_DELAY_US: u64 = 1_000;

/// `struct bictcp`.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    curve: Curve,
    hystart: HyStart,
    /// SaTCP's flag is up.
    keeps_w_max: bool,
}

/// State that a timeout forgets.
#[derive(Clone, Debug, Default)]
struct Curve {
    /// ACKed packets that open cwnd by one.
    cnt: u32,
    /// W_max; 0 = unknown.
    last_max_cwnd: u32,
    /// cwnd and jiffies of the last evaluation.
    last_cwnd: u32,
    last_time: u32,
    /// Where the curve is flat, packets, and when, 1/1024 s from the epoch's start.
    origin_point: u32,
    k: u32,
    /// Smallest round trip, us; 0 = none yet.
    delay_min: u32,
    /// Jiffies at the first growth after a reduction.
    epoch_start: Option<u32>,
    /// ACKed packets that Reno's window has not yet grown by.
    ack_cnt: u32,
    /// The window that Reno would have (W_est).
    tcp_cwnd: u32,
}

/// Hybrid slow start: leaves slow start before packets are lost.
#[derive(Clone, Debug, Default)]
struct HyStart {
    /// It has ended slow start; since a timeout.
    found: bool,
    sample_cnt: u8,
    /// The round began, and its last close ACK came, at, us.
    round_start: u32,
    last_ack: u32,
    /// The round ends when this is acknowledged.
    end_seq: u32,
    /// Smallest round trip of the round, us.
    curr_rtt: u32,
    /// How it ended slow start last, for stories; a timeout does not forget it.
    end: Option<HyStartEnd>,
}

impl Cubic {
    /// Nothing is drawn by lot.
    pub fn new(_seed: u64) -> Self {
        Self::default()
    }
}

impl CongestionOps for Cubic {
    /// `cubictcp_init`.
    fn init(&mut self, sk: &mut Sock) {
        self.curve = Curve::default();
        self.hystart.begin_round(sk);
    }

    /// `segue_cubic_anew` and `segue_cubic_bound_w_max`: it comes to rest at what the policy reckons with, the link's BDP and
    /// a queue of the same. A cut has begun a curve by itself. After a refuted raise without an outage W_max is no more
    /// than the window before it, unless more is left.
    fn start_anew(&mut self, sk: &mut Sock, why: Anew) {
        let before = match why {
            Anew::Retreat { before, .. } | Anew::ClaimOver { before, .. } => before,
            Anew::Refuted { before } => Some(before),
            _ => None,
        };
        let before = before.map(|before| before.max(2));
        if matches!(why, Anew::ClaimOver { cut: true, .. } | Anew::Refuted { .. }) {
            self.curve.last_max_cwnd = self.curve.last_max_cwnd.min(before.unwrap_or(u32::MAX));
            return;
        }
        self.init(sk);
        let window = sk.snd_ssthresh;
        if window < INFINITE_SSTHRESH / 2 {
            let w_max = 2 * window - window / 4;
            self.curve.last_max_cwnd = before.map_or(w_max, |before| w_max.min(before).max(window));
        }
    }

    /// `cubictcp_acked`.
    #[inline]
    fn pkts_acked(&mut self, sk: &mut Sock, sample: &AckSample) {
        if sample.rtt_us < 0 {
            return;
        }
        // The first second after a reduction: the queue it left is not the path's.
        if let Some(start) = self.curve.epoch_start
            && (sk.jiffies.wrapping_sub(start) as i32) < sk.hz as i32
        {
            return;
        }
        let delay = (sample.rtt_us as u32).max(1);
        if self.curve.delay_min == 0 || self.curve.delay_min > delay {
            self.curve.delay_min = delay;
        }
        if !self.hystart.found && sk.in_slow_start() {
            self.hystart.update(sk, delay, self.curve.delay_min);
        }
    }

    /// `cubictcp_recalc_ssthresh`: the epoch ends; W_max is cwnd, or less if it was not reached (fast convergence,
    /// RFC 9438, 4.7).
    fn ssthresh(&mut self, sk: &Sock) -> u32 {
        let cwnd = u64::from(sk.snd_cwnd);
        self.curve.epoch_start = None;
        self.curve.last_max_cwnd = if sk.snd_cwnd < self.curve.last_max_cwnd {
            (cwnd * (UNIT + BETA) / (2 * UNIT)) as u32
        } else {
            sk.snd_cwnd
        };
        ((cwnd * BETA / UNIT) as u32).max(2)
    }

    /// `cubictcp_state`: a timeout forgets everything, the W_max that [`Self::ssthresh`] has just noted included.
    fn set_state(&mut self, sk: &mut Sock, new: CaState) {
        if new == CaState::Loss && !self.keeps_w_max {
            self.init(sk);
        }
    }

    /// `cubictcp_cwnd_event`: idle time does not count as growth. Also called when one ACK empties the pipe.
    fn cwnd_event(&mut self, sk: &mut Sock, event: CaEvent) {
        if event != CaEvent::TxStart {
            return;
        }
        let idle = sk.jiffies.wrapping_sub(sk.lsndtime);
        if let Some(start) = &mut self.curve.epoch_start
            && idle as i32 > 0
        {
            *start = start.wrapping_add(idle);
            if after(*start, sk.jiffies) {
                *start = sk.jiffies;
            }
        }
    }

    /// `cubictcp_cong_avoid`.
    #[inline]
    fn cong_avoid(&mut self, sk: &mut Sock, mut acked: u32) {
        if !sk.cwnd_limited() {
            return;
        }
        if sk.in_slow_start() {
            acked = sk.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.curve.update(sk, acked, self.keeps_w_max);
        sk.cong_avoid_ai(self.curve.cnt, acked);
    }

    /// The kernel module of SaTCP (LeoEM, `satcp.patch`). While its flag is up, state Loss forgets nothing, and an
    /// epoch that begins has a ninth of its K.
    fn keep_w_max(&mut self, keeps: bool) {
        self.keeps_w_max = keeps;
    }

    /// `tcp_reno_undo_cwnd`.
    fn undo_cwnd(&mut self, sk: &Sock) -> u32 {
        sk.snd_cwnd.max(sk.prior_cwnd)
    }

    fn hystart_end(&self) -> Option<HyStartEnd> {
        self.hystart.end
    }
}

impl Curve {
    /// `bictcp_update`: how many ACKed packets open cwnd by one.
    fn update(&mut self, sk: &Sock, acked: u32, keeps_w_max: bool) {
        let (cwnd, now) = (sk.snd_cwnd, sk.jiffies);
        self.ack_cnt = self.ack_cnt.wrapping_add(acked);
        // The same window is judged anew after 1/32 s.
        if self.last_cwnd == cwnd && now.wrapping_sub(self.last_time) as i32 <= (sk.hz / 32) as i32 {
            return;
        }
        // The curve is evaluated once per jiffy; Reno's window with every ACK.
        if self.epoch_start.is_none() || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            let start = *self.epoch_start.get_or_insert_with(|| {
                self.ack_cnt = acked;
                self.tcp_cwnd = cwnd;
                if self.last_max_cwnd <= cwnd {
                    self.k = 0;
                    self.origin_point = cwnd;
                } else {
                    self.k = cubic_root(CUBE_FACTOR * u64::from(self.last_max_cwnd - cwnd));
                    self.origin_point = self.last_max_cwnd;
                }
                if keeps_w_max {
                    self.k -= 8 * self.k / 9;
                }
                now
            });
            let jiffies = u64::from(now.wrapping_sub(start)) + usecs_to_jiffies(self.delay_min, sk.hz);
            let target = self.target((jiffies << 10) / u64::from(sk.hz));
            self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
            if self.last_max_cwnd == 0 && self.cnt > MOST_UNKNOWN {
                self.cnt = MOST_UNKNOWN;
            }
        }
        self.keep_up_with_reno(cwnd);
        self.cnt = self.cnt.max(LEAST);
    }

    /// W(t) = C (t - K)^3 + W_max (RFC 9438, 4.2), `t` in 1/1024 s.
    fn target(&self, t: u64) -> u32 {
        let k = u64::from(self.k);
        let offs = t.abs_diff(k);
        // Beyond some 250 s the kernel's product overflows, and so does ours.
        let cube = CUBE_RTT_SCALE.wrapping_mul(offs).wrapping_mul(offs).wrapping_mul(offs);
        let delta = (cube >> 40) as u32;
        if t < k { self.origin_point.wrapping_sub(delta) } else { self.origin_point.wrapping_add(delta) }
    }

    /// Never less than Reno would have (RFC 9438, 4.3).
    fn keep_up_with_reno(&mut self, cwnd: u32) {
        let cost = ((u64::from(cwnd) * BETA_SCALE) >> 3) as u32;
        while self.ack_cnt > cost {
            self.ack_cnt -= cost;
            self.tcp_cwnd = self.tcp_cwnd.wrapping_add(1);
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }
}

impl HyStart {
    /// A round that begins now (`bictcp_hystart_reset`).
    fn begin_round(&mut self, sk: &Sock) {
        *self = Self {
            found: false,
            sample_cnt: 0,
            round_start: sk.tcp_mstamp as u32,
            last_ack: sk.tcp_mstamp as u32,
            end_seq: sk.snd_nxt,
            curr_rtt: u32::MAX,
            end: self.end,
        };
    }

    /// `hystart_update`: slow start ends if ACKs of one train span half of the round trip. It also ends if the round's
    /// shortest delay has risen by an eighth.
    fn update(&mut self, sk: &mut Sock, delay: u32, delay_min: u32) {
        if after(sk.snd_una, self.end_seq) {
            self.begin_round(sk);
        }
        if sk.snd_cwnd < LOW_WINDOW {
            return;
        }
        let now = sk.tcp_mstamp as u32;
        if now.wrapping_sub(self.last_ack) as i32 <= ACK_DELTA_US {
            self.last_ack = now;
            let mut span = delay_min.wrapping_add(ack_delay(sk));
            // Pacing spreads a window over half a round trip, so then the train may be as long as all of it.
            if sk.pacing_status == PacingStatus::None {
                span >>= 1;
            }
            if now.wrapping_sub(self.round_start) > span {
                self.leave_slow_start(sk, HyStartSign::AckTrain);
            }
        }
        self.curr_rtt = self.curr_rtt.min(delay);
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
        } else if self.curr_rtt > delay_min.wrapping_add((delay_min >> 3).clamp(DELAY_MIN_US, DELAY_MAX_US)) {
            self.leave_slow_start(sk, HyStartSign::RoundTrips);
        }
    }

    /// One ACK may show both signs; the first counts.
    fn leave_slow_start(&mut self, sk: &mut Sock, sign: HyStartSign) {
        if !self.found {
            let (before, ssthresh) = (sk.snd_ssthresh, sk.snd_cwnd);
            self.end = Some(HyStartEnd { at_us: sk.tcp_mstamp, sign, before, ssthresh });
        }
        self.found = true;
        sk.snd_ssthresh = sk.snd_cwnd;
    }
}

/// Time that bursts of the sender may add to an ACK train, us (`hystart_ack_delay`).
fn ack_delay(sk: &Sock) -> u32 {
    match sk.pacing_rate {
        0 => 0,
        rate => MOST_ACK_DELAY_US.min(u64::from(sk.gso_max_size) * 4 * 1_000_000 / rate) as u32,
    }
}

/// Rounded up.
fn usecs_to_jiffies(us: u32, hz: u32) -> u64 {
    (u64::from(us) * u64::from(hz)).div_ceil(1_000_000)
}

/// About cbrt(x * 2^18) - 1 for x < 64, tuned by hand (a table of facts of `cubic_root`).
const CBRT: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176,
    179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224,
    225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// The cube root, from a table of the leading bits and one Newton step; 0.2 % off on average (`cubic_root`).
fn cubic_root(a: u64) -> u32 {
    let bits = u64::BITS - a.leading_zeros();
    if bits < 7 {
        return (u32::from(CBRT[a as usize]) + 35) >> 6;
    }
    let b = ((bits * 84) >> 8) - 1;
    let x = ((u32::from(CBRT[(a >> (b * 3)) as usize]) + 10) << b) >> 6;
    let x = 2 * u64::from(x) + a / (u64::from(x) * u64::from(x - 1));
    ((x * 341) >> 10) as u32
}

#[cfg(test)]
mod tests;
