//! BBR version 3 (draft-ietf-ccwg-bbr; names as in Google's kernel): version 1 with bounds that losses set.
//!
//! **Not validated against a kernel**: no released kernel has it. Fractions are the draft's, not rounded to 1/256 as in
//! Google's kernel. Left out: ECN, protective load balancing, the fast path of application-limited flows.
//!
//! ```text
//!                 |
//!                 v
//!    +---> Startup ---> Drain ---> Down ---> Cruise <---+
//!    |                              ^  \        |       |
//!    |                              |   v       v       |
//!    |                              Up <--- Refill      |
//!    |                                                  |
//!    +------------------ ProbeRtt <--- from all --------+
//! ```
//!
//! Two bounds join bandwidth and round trip. The upper, `inflight_hi`, is what a probe has shown to be safe. The lower
//! ones, `bw_lo` and `inflight_lo`, are what losses outside probes leave until the next probe.

mod losses;
mod modes;
mod window;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use self::losses::{inflight_at_loss, is_inflight_too_high};
use super::bbr::aggregation::Aggregation;
use super::bbr::{BW_UNIT, SCALE, UNIT};
use super::sock::after;
use super::{CaEvent, CaState, CongestionOps, INFINITE_SSTHRESH, PacingStatus, RateSample, Sock, TxStamp};
use crate::advice::Anew;

/// Rate gains: 4 ln 2 in Startup; Drain; a probe; after it.
const STARTUP_PACING_GAIN: u32 = UNIT * 277 / 100;
const DRAIN_PACING_GAIN: u32 = UNIT / 2;
const UP_PACING_GAIN: u32 = UNIT * 5 / 4;
const DOWN_PACING_GAIN: u32 = UNIT * 9 / 10;
/// Window gains.
const CWND_GAIN: u32 = 2 * UNIT;
const UP_CWND_GAIN: u32 = UNIT * 9 / 4;
/// Losses beyond this percentage of what was in flight are too many (LossThresh).
const LOSS_PERCENT: u64 = 2;
/// Share of a lower bound that losses leave, percent (Beta).
const BETA_PERCENT: u64 = 70;
/// Share of the upper bound that cruising leaves to others, percent (Headroom).
const HEADROOM_PERCENT: u64 = 15;
/// Least window, packets (MinPipeCwnd).
const CWND_MIN: u32 = 4;
/// The pipe is full after three rounds without a growth by a quarter...
const FULL_BW_GROWTH: u32 = UNIT * 5 / 4;
const FULL_BW_ROUNDS: u32 = 3;
/// ...or after so many losses in a round of recovery.
const FULL_LOSSES: u32 = 6;
/// Drain ends after so many rounds at the latest.
const DRAIN_ROUNDS: u32 = 3;
/// Rounds of a slot of aggregated ACKs; one in Startup.
const EXTRA_ACKED_ROUNDS: u32 = 5;
/// Windows of `min_rtt` and of what calls for ProbeRtt, s, and the stay there, ms.
const MIN_RTT_WINDOW_S: u32 = 10;
const PROBE_RTT_WINDOW_S: u32 = 5;
const PROBE_RTT_MS: u32 = 200;
/// A probe comes after 2 s and up to one more, by lot...
const PROBE_WAIT_US: u32 = 2_000_000;
const PROBE_WAIT_RAND_US: u32 = 1_000_000;
/// ...or after as many rounds as Reno would take, at most 63, of which none or one counts from the start, by lot.
const PROBE_ROUNDS_MOST: u32 = 63;
const PROBE_ROUNDS_RAND: u32 = 2;
/// A bound that is not set.
const UNSET: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// ProbeBW: less than the bandwidth, so that others' and the probe's queue drains.
    Down,
    /// ProbeBW: the bandwidth, below the upper bound.
    Cruise,
    /// ProbeBW: a round to fill the pipe before it is probed.
    Refill,
    /// ProbeBW: more than the bandwidth.
    Up,
    ProbeRtt,
}

/// Relation of the present ACKs to the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    /// The probe has begun, its ACKs are not there yet.
    Starting,
    Feedback,
    /// The probe is over, its ACKs still come.
    Stopping,
}

/// The connection's state.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    mode: Mode,
    ack_phase: AckPhase,
    init_cwnd: u32,
    /// Smallest round trip of 10 s, of 5 s, and when they were measured, jiffies.
    min_rtt_us: u32,
    min_rtt_stamp: u32,
    probe_rtt_min_us: u32,
    probe_rtt_min_stamp: u32,
    probe_rtt_done_stamp: Option<u32>,
    probe_rtt_round_done: bool,
    /// Largest bandwidth of the last probing cycle and of this one.
    bw_hi: [u32; 2],
    next_rtt_delivered: u32,
    round_start: bool,
    cycle_mstamp: u64,
    pacing_gain: u32,
    cwnd_gain: u32,
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: u32,
    full_bw_cnt: u32,
    drain_rounds: u32,
    prev_ca_state: CaState,
    prior_cwnd: u32,
    idle_restart: bool,
    has_seen_rtt: bool,
    aggregation: Aggregation,

    /// Best of the round for rate and volume; a round of its own, which losses start.
    bw_latest: u32,
    inflight_latest: u32,
    loss_round_delivered: u32,
    loss_round_start: bool,
    loss_in_round: bool,
    loss_events_in_round: u32,
    /// Bounds.
    bw_lo: u32,
    inflight_lo: u32,
    inflight_hi: u32,
    /// The lower ones and the upper one before the last episode, for undo.
    undo: (u32, u32, u32),
    /// The upper bound grows by one per `up_cnt` packets ACKed; the divisor halves in each round.
    up_cnt: u32,
    up_acks: u32,
    up_rounds: u32,
    wait_us: u32,
    rounds_since_probe: u32,
    /// Samples are of a probe.
    probe_samples: bool,
    prev_probe_too_high: bool,
    stopped_risky_probe: bool,
    random: Pcg64Mcg,
}

impl Bbr3 {
    /// `seed` draws how long it waits between probes.
    pub fn new(seed: u64) -> Self {
        Self {
            mode: Mode::Startup,
            ack_phase: AckPhase::Init,
            init_cwnd: 0,
            min_rtt_us: u32::MAX,
            min_rtt_stamp: 0,
            probe_rtt_min_us: u32::MAX,
            probe_rtt_min_stamp: 0,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            bw_hi: [0; 2],
            next_rtt_delivered: 0,
            round_start: false,
            cycle_mstamp: 0,
            pacing_gain: STARTUP_PACING_GAIN,
            cwnd_gain: CWND_GAIN,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0,
            full_bw_cnt: 0,
            drain_rounds: 0,
            prev_ca_state: CaState::Open,
            prior_cwnd: 0,
            idle_restart: false,
            has_seen_rtt: false,
            aggregation: Aggregation::default(),
            bw_latest: 0,
            inflight_latest: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            loss_events_in_round: 0,
            bw_lo: UNSET,
            inflight_lo: UNSET,
            inflight_hi: UNSET,
            undo: (0, 0, 0),
            up_cnt: UNSET,
            up_acks: 0,
            up_rounds: 0,
            wait_us: 0,
            rounds_since_probe: 0,
            probe_samples: false,
            prev_probe_too_high: false,
            stopped_risky_probe: false,
            random: Pcg64Mcg::seed_from_u64(seed),
        }
    }
}

impl CongestionOps for Bbr3 {
    /// Nothing but a path of which nothing is known: no program is written around it.
    fn start_anew(&mut self, sk: &mut Sock, why: Anew) {
        if why == Anew::Unknown {
            let random = self.random.clone();
            *self = Self { random, ..Self::new(0) };
            self.init(sk);
        }
    }

    fn init(&mut self, sk: &mut Sock) {
        sk.snd_ssthresh = INFINITE_SSTHRESH;
        self.init_cwnd = sk.snd_cwnd;
        self.prior_cwnd = sk.snd_cwnd;
        self.next_rtt_delivered = sk.delivered;
        self.loss_round_delivered = sk.delivered.wrapping_add(1);
        (self.min_rtt_us, self.probe_rtt_min_us) = (sk.min_rtt_us(), sk.min_rtt_us());
        (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (sk.jiffies, sk.jiffies);
        self.init_pacing_rate(sk);
        self.aggregation.restart(sk.tcp_mstamp);
        if sk.pacing_status == PacingStatus::None {
            sk.pacing_status = PacingStatus::Needed;
        }
    }

    /// A packet of a probe is lost: did the flight before it lose too much?
    fn skb_marked_lost(&mut self, sk: &mut Sock, stamp: &TxStamp) {
        self.note_loss(sk);
        if !self.probe_samples || stamp.delivered_mstamp == 0 {
            return;
        }
        let mut rs = RateSample {
            tx_in_flight: stamp.tx_in_flight,
            lost: sk.lost.wrapping_sub(stamp.lost) as i32,
            is_app_limited: stamp.is_app_limited,
            ..RateSample::default()
        };
        if is_inflight_too_high(&rs) {
            rs.tx_in_flight = inflight_at_loss(&rs);
            self.handle_inflight_too_high(sk, &rs);
        }
    }

    fn ssthresh(&mut self, sk: &Sock) -> u32 {
        self.save_cwnd(sk);
        self.undo = (self.bw_lo, self.inflight_lo, self.inflight_hi);
        sk.snd_ssthresh
    }

    fn set_state(&mut self, sk: &mut Sock, new: CaState) {
        if new == CaState::Loss {
            self.prev_ca_state = CaState::Loss;
            self.reset_full_bw();
            if !self.is_probing() && self.inflight_lo == UNSET {
                self.inflight_lo = sk.snd_cwnd.max(self.prior_cwnd);
            }
        } else if self.prev_ca_state == CaState::Loss {
            sk.set_cwnd(sk.snd_cwnd.max(self.prior_cwnd));
        }
    }

    fn cwnd_event(&mut self, sk: &mut Sock, event: CaEvent) {
        match event {
            CaEvent::TxStart if sk.app_limited != 0 => {
                self.idle_restart = true;
                self.aggregation.restart(sk.tcp_mstamp);
                if self.in_probe_bw() {
                    self.set_pacing_rate(sk, UNIT);
                } else if self.mode == Mode::ProbeRtt {
                    self.check_probe_rtt_done(sk);
                }
            }
            CaEvent::TlpRecovery => self.tail_loss(sk),
            _ => {}
        }
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    /// In the draft's order: signals, model, gains, then rate and window.
    fn cong_control(&mut self, sk: &mut Sock, rs: &RateSample) {
        self.update_round(sk, rs);
        let sample_bw = if rs.is_valid() {
            (rs.delivered as u64 * BW_UNIT).div_ceil(rs.interval_us as u64) as u32
        } else {
            0
        };
        self.update_latest_signals(sk, rs, sample_bw);
        self.update_congestion_signals(sk, rs, sample_bw);
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.aggregation.update(sk, rs, self.bw(), self.round_start, rounds);
        self.check_startup_losses(sk, rs);
        self.check_full_bw(rs, sample_bw);
        self.check_drain(sk);
        self.update_cycle_phase(sk, rs, sample_bw);
        self.update_min_rtt(sk, rs);
        self.update_gains();
        self.set_pacing_rate(sk, self.pacing_gain);
        self.set_cwnd(sk, rs.acked_sacked);
        self.bound_cwnd(sk);
        if self.loss_round_start && !rs.is_acking_tlp_retrans_seq {
            self.bw_latest = sample_bw;
            self.inflight_latest = rs.delivered.max(0) as u32;
        }
        self.prev_ca_state = sk.ca_state;
    }

    /// Restores the bounds that losses have cut since [`Self::ssthresh`].
    fn undo_cwnd(&mut self, sk: &Sock) -> u32 {
        self.reset_full_bw();
        self.loss_in_round = false;
        self.bw_lo = self.bw_lo.max(self.undo.0);
        self.inflight_lo = self.inflight_lo.max(self.undo.1);
        self.inflight_hi = self.inflight_hi.max(self.undo.2);
        self.prior_cwnd.max(sk.snd_cwnd)
    }
}

/// Bandwidth and rounds.
impl Bbr3 {
    fn max_bw(&self) -> u32 {
        self.bw_hi[0].max(self.bw_hi[1])
    }

    fn bw(&self) -> u32 {
        self.max_bw().min(self.bw_lo)
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// Losses are then the probe's own doing.
    fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up)
    }

    fn update_round(&mut self, sk: &Sock, rs: &RateSample) {
        self.round_start = rs.is_valid() && !after(self.next_rtt_delivered, rs.prior_delivered);
        if self.round_start {
            self.next_rtt_delivered = sk.delivered;
            self.rounds_since_probe += 1;
        }
    }

    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_cnt, self.full_bw_now) = (0, 0, false);
    }

    fn check_full_bw(&mut self, rs: &RateSample, sample_bw: u32) {
        if self.full_bw_now || rs.is_app_limited {
            return;
        }
        let threshold = (u64::from(self.full_bw) * u64::from(FULL_BW_GROWTH)) >> SCALE;
        if u64::from(sample_bw) >= threshold {
            self.reset_full_bw();
            self.full_bw = sample_bw;
        } else if self.round_start {
            self.full_bw_cnt += 1;
            self.full_bw_now = self.full_bw_cnt >= FULL_BW_ROUNDS;
            self.full_bw_reached |= self.full_bw_now;
        }
    }
}

/// So many percent, rounded down.
fn percent(value: u32, of: u64) -> u32 {
    (u64::from(value) * of / 100) as u32
}

#[cfg(test)]
mod tests;
