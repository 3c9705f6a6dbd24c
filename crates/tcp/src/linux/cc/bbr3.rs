//! BBR version 3 (draft-ietf-ccwg-bbr; names as in Google's kernel): version 1 with bounds that losses set.
//!
//! **Not held against a kernel**: no released kernel has it. Fractions are the draft's, not rounded to 1/256 as in
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
//! Two bounds join bandwidth and round trip. The upper, `inflight_hi`, is what a probe has shown to be safe; the
//! lower ones, `bw_lo` and `inflight_lo`, are what losses outside probes leave until the next probe.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bbr::aggregation::Aggregation;
use super::bbr::{BW_SCALE, BW_UNIT, LONGEST_BURST, SCALE, UNIT, pacing_rate};
use super::rate::stamp_delta;
use super::sock::after;
use super::{CaEvent, CaState, CongestionOps, INFINITE_SSTHRESH, PacingStatus, RateSample, Sock, TxStamp};

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
/// What losses leave of a lower bound, percent (Beta).
const BETA_PERCENT: u64 = 70;
/// What cruising leaves to others of the upper bound, percent (Headroom).
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
/// A short round trip allows longer bursts: 64 KiB, halved per 512 us.
const BURST_BYTES: u64 = 65_536;
const BURST_RTT_SHIFT: u32 = 9;
/// Least segments of a burst (`tcp_min_tso_segs`).
const LEAST_BURST: u32 = 2;
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

/// What the present ACKs tell of the last probe.
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

    /// What losses have cut since [`Self::ssthresh`] is restored.
    fn undo_cwnd(&mut self, sk: &Sock) -> u32 {
        self.reset_full_bw();
        self.loss_in_round = false;
        self.bw_lo = self.bw_lo.max(self.undo.0);
        self.inflight_lo = self.inflight_lo.max(self.undo.1);
        self.inflight_hi = self.inflight_hi.max(self.undo.2);
        self.prior_cwnd.max(sk.snd_cwnd)
    }
}

/// Signals.
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

    fn update_latest_signals(&mut self, sk: &Sock, rs: &RateSample, sample_bw: u32) {
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

    fn update_congestion_signals(&mut self, sk: &Sock, rs: &RateSample, sample_bw: u32) {
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
    fn cut_lower_bounds(&mut self, sk: &Sock) {
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
    fn note_loss(&mut self, sk: &Sock) {
        if !self.loss_in_round {
            self.loss_round_delivered = sk.delivered;
        }
        self.loss_in_round = true;
    }

    /// A probe of the tail has repaired the loss of one packet.
    fn tail_loss(&mut self, sk: &Sock) {
        self.note_loss(sk);
        let rs = RateSample { lost: 1, tx_in_flight: self.inflight_latest + 1, ..RateSample::default() };
        if self.probe_samples && is_inflight_too_high(&rs) {
            self.handle_inflight_too_high(sk, &rs);
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

    /// Startup ends, too, if a round of recovery has lost too much, in several places.
    fn check_startup_losses(&mut self, sk: &Sock, rs: &RateSample) {
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
}

/// Modes.
impl Bbr3 {
    fn check_drain(&mut self, sk: &mut Sock) {
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

    fn reset_congestion_signals(&mut self) {
        (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0, 0);
    }

    fn reset_lower_bounds(&mut self) {
        (self.bw_lo, self.inflight_lo) = (UNSET, UNSET);
    }

    fn start_down(&mut self, sk: &Sock) {
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

    fn start_refill(&mut self, sk: &Sock) {
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
    fn update_cycle_phase(&mut self, sk: &Sock, rs: &RateSample, sample_bw: u32) {
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

    /// The upper bound falls when a probe loses too much and rises when more than it was in flight safely. Says
    /// whether the mode has changed.
    fn adapt_upper_bound(&mut self, sk: &Sock, rs: &RateSample) -> bool {
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
    fn handle_inflight_too_high(&mut self, sk: &Sock, rs: &RateSample) {
        self.prev_probe_too_high = true;
        self.probe_samples = false;
        if !rs.is_app_limited {
            self.inflight_hi = rs.tx_in_flight.max(percent(self.target_inflight(sk), BETA_PERCENT));
        }
        if self.mode == Mode::Up {
            self.start_down(sk);
        }
    }

    fn probe_inflight_upward(&mut self, sk: &Sock, rs: &RateSample) {
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

    fn raise_slope(&mut self, sk: &Sock) {
        self.up_cnt = (sk.snd_cwnd >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(30);
    }

    fn update_min_rtt(&mut self, sk: &mut Sock, rs: &RateSample) {
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

    fn check_probe_rtt_done(&mut self, sk: &mut Sock) {
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

    fn update_gains(&mut self) {
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

/// Rate and window.
impl Bbr3 {
    fn init_pacing_rate(&mut self, sk: &mut Sock) {
        self.has_seen_rtt = sk.srtt_us > 0;
        let rtt_us = if self.has_seen_rtt { (sk.srtt_us >> 3).max(1) } else { 1_000 };
        let bw = u64::from(sk.snd_cwnd) * BW_UNIT / u64::from(rtt_us);
        sk.pacing_rate = pacing_rate(sk, bw as u32, STARTUP_PACING_GAIN).max(1);
    }

    fn set_pacing_rate(&mut self, sk: &mut Sock, gain: u32) {
        let rate = pacing_rate(sk, self.bw(), gain).max(1);
        if !self.has_seen_rtt && sk.srtt_us > 0 {
            self.init_pacing_rate(sk);
        }
        if self.full_bw_reached || rate > sk.pacing_rate {
            sk.pacing_rate = rate;
        }
    }

    fn save_cwnd(&mut self, sk: &Sock) {
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

    fn inflight(&self, sk: &Sock, bw: u32) -> u32 {
        self.quantized(sk, self.bdp(bw, UNIT))
    }

    fn target_inflight(&self, sk: &Sock) -> u32 {
        self.inflight(sk, self.bw()).min(sk.snd_cwnd)
    }

    fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bw(), UNIT / 2).max(CWND_MIN)
    }

    fn with_headroom(&self) -> u32 {
        if self.inflight_hi == UNSET {
            return UNSET;
        }
        let headroom = percent(self.inflight_hi, HEADROOM_PERCENT).max(1);
        self.inflight_hi.saturating_sub(headroom).max(CWND_MIN)
    }

    fn packets_in_net_at_edt(&self, sk: &Sock, inflight_now: u32) -> u32 {
        let wait_us = sk.tcp_wstamp_ns.saturating_sub(sk.tcp_clock_cache) / 1_000;
        let delivered = (u64::from(self.bw()).wrapping_mul(wait_us) >> BW_SCALE) as u32;
        let burst = if self.pacing_gain > UNIT { self.tso_segs_goal(sk) } else { 0 };
        (inflight_now + burst).saturating_sub(delivered)
    }

    fn set_cwnd(&mut self, sk: &mut Sock, acked: u32) {
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
    fn bound_cwnd(&self, sk: &mut Sock) {
        let upper = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_hi,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
            Mode::Startup | Mode::Drain => UNSET,
        };
        sk.set_cwnd(sk.snd_cwnd.min(upper.min(self.inflight_lo).max(CWND_MIN)));
    }
}

/// More lost than 2 % of what was in flight.
fn is_inflight_too_high(rs: &RateSample) -> bool {
    rs.lost > 0 && rs.tx_in_flight > 0 && rs.lost as u64 * 100 > u64::from(rs.tx_in_flight) * LOSS_PERCENT
}

/// Packets in flight at which the losses of a flight passed 2 %, for a packet of it: solves
/// (lost before + x) = 2 % (in flight before + x).
fn inflight_at_loss(rs: &RateSample) -> u32 {
    ((inflight_at_loss_percent(rs) + 50) / 100) as u32
}

/// The same in hundredths of a packet.
fn inflight_at_loss_percent(rs: &RateSample) -> u64 {
    let before = u64::from(rs.tx_in_flight.saturating_sub(1));
    let lost_before = rs.lost.saturating_sub(1).max(0) as u64;
    let budget = (before * LOSS_PERCENT).saturating_sub(lost_before * 100); // hundredths
    before * 100 + (budget * 100 + (100 - LOSS_PERCENT) / 2) / (100 - LOSS_PERCENT)
}

/// So many percent, rounded down.
fn percent(value: u32, of: u64) -> u32 {
    (u64::from(value) * of / 100) as u32
}

#[cfg(test)]
mod tests;
