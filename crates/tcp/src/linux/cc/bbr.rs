//! BBR version 1 as Linux has it (`tcp_bbr.c`): a model of the path, and a rate and a window that follow from it.
//!
//! ```text
//!             |
//!             v
//!    +---> Startup ---> Drain ---> ProbeBw <---+
//!    |        ^                       |        |
//!    |        +-------- ProbeRtt <----+        |
//!    |                     ^  |                |
//!    +---------------------+  +----------------+
//! ```
//!
//! Each ACK moves the model: bandwidth, the largest delivery rate of ten round trips; `min_rtt`, the smallest round
//! trip of ten seconds. The window is a multiple of their product, losses hardly matter.

pub(super) mod aggregation;
mod long_term;
mod rules;
mod window;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use self::aggregation::Aggregation;
use self::long_term::{LongTerm, Verdict};
pub use self::rules::{Plain, Rules};
pub(super) use self::window::pacing_rate;
use self::window::{bytes_per_second, min_tso_segs};
use super::rate::stamp_delta;
use super::sock::after;
use super::{CaEvent, CaState, CongestionOps, INFINITE_SSTHRESH, MinMax, PacingStatus, RateSample, Sock};
use crate::advice::Anew;

/// Bandwidths are packets per us << 24.
pub(super) const BW_SCALE: u32 = 24;
pub(super) const BW_UNIT: u64 = 1 << BW_SCALE;
/// Gains are in 1/256.
pub(super) const SCALE: u32 = 8;
pub(super) const UNIT: u32 = 1 << SCALE;

/// Startup: 2/ln 2, the least that doubles the rate in each round trip.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
/// Drain: its inverse.
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// ProbeBw's window: room for delayed ACKs.
const CWND_GAIN: u32 = 2 * UNIT;
/// ProbeBw's rate: a round trip of probing, one of draining, six of cruising.
pub(super) const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The cycle begins in one of so many phases, by lot: not in the draining one.
const CYCLE_RAND: u32 = 7;
/// Round trips of the bandwidth's window.
const BW_ROUNDS: u32 = CYCLE.len() as u32 + 2;
/// Least stay in ProbeRtt, ms.
const PROBE_RTT_MS: u32 = 200;
/// Least window, packets.
const CWND_MIN: u32 = 4;
/// The pipe is full after three rounds without a growth by a quarter.
const FULL_BW_GROWTH: u32 = UNIT * 5 / 4;
const FULL_BW_ROUNDS: u32 = 3;
/// Longest burst, bytes: `GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`.
pub(super) const LONGEST_BURST: u64 = 65_536 - 1 - 320;
/// Rounds of a slot of aggregated ACKs.
const EXTRA_ACKED_ROUNDS: u32 = 5;

/// `enum bbr_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The rate grows until the pipe is full.
    Startup,
    /// The queue that made is drained.
    Drain,
    /// The rate cycles around the estimate.
    ProbeBw,
    /// Few packets in flight, to see the path without a queue.
    ProbeRtt,
}

/// BBR version 1 as it is.
pub type Bbr = BbrWith<Plain>;

/// `struct bbr`, and what another control has beside it.
#[derive(Clone, Debug)]
pub struct BbrWith<R: Rules> {
    pub(super) rules: R,
    pub(super) mode: Mode,
    /// Smallest round trip, us, and when it was measured, jiffies.
    pub(super) min_rtt_us: u32,
    min_rtt_stamp: u32,
    /// ProbeRtt may end, jiffies; `None` until few packets are in flight.
    probe_rtt_done_stamp: Option<u32>,
    probe_rtt_round_done: bool,
    /// Largest delivery rate.
    pub(super) bw: MinMax,
    /// Round trips so far; one ends when a packet is delivered that was sent after `next_rtt_delivered`.
    rtt_cnt: u32,
    next_rtt_delivered: u32,
    round_start: bool,
    /// The phase of ProbeBw and when it began.
    pub(super) cycle_idx: usize,
    cycle_mstamp: u64,
    pacing_gain: u32,
    cwnd_gain: u32,
    /// Startup's test of the pipe.
    pub(super) full_bw_reached: bool,
    full_bw: u32,
    full_bw_cnt: u32,
    /// At the last ACK.
    prev_ca_state: CaState,
    /// The first round of recovery: as many packets leave as arrive.
    packet_conservation: bool,
    /// cwnd before recovery or ProbeRtt.
    prior_cwnd: u32,
    /// Sending again after idle time.
    idle_restart: bool,
    has_seen_rtt: bool,
    /// Policers.
    lt: LongTerm,
    aggregation: Aggregation,
    random: Pcg64Mcg,
}

impl<R: Rules> BbrWith<R> {
    /// `seed` draws where ProbeBw's cycle begins.
    pub fn new(seed: u64) -> Self {
        Self {
            rules: R::default(),
            mode: Mode::Startup,
            min_rtt_us: u32::MAX,
            min_rtt_stamp: 0,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            bw: MinMax::new(0, 0),
            rtt_cnt: 0,
            next_rtt_delivered: 0,
            round_start: false,
            cycle_idx: 0,
            cycle_mstamp: 0,
            pacing_gain: UNIT,
            cwnd_gain: UNIT,
            full_bw_reached: false,
            full_bw: 0,
            full_bw_cnt: 0,
            prev_ca_state: CaState::Open,
            packet_conservation: false,
            prior_cwnd: 0,
            idle_restart: false,
            has_seen_rtt: false,
            lt: LongTerm::default(),
            aggregation: Aggregation::default(),
            random: Pcg64Mcg::seed_from_u64(seed),
        }
    }
}

impl<R: Rules> CongestionOps for BbrWith<R> {
    /// `segue_bbr_anew`, `segue_bbr_retreat`, `segue_bbr_ends_startup`. Where the path is known, ProbeBw begins.
    fn start_anew(&mut self, sk: &mut Sock, why: Anew) {
        match why {
            Anew::WindowSet { kbps } => {
                let random = self.random.clone();
                *self = Self { random, ..Self::new(0) };
                self.init(sk);
                self.min_rtt_us = u32::MAX;
                sk.pacing_rate = u64::from(kbps) * 125;
            }
            Anew::Retreat { found: proven, before } => {
                let srtt_us = u64::from((sk.srtt_us >> 3).max(1));
                let found = u64::from(proven) * u64::from(sk.mss_cache) * 1_000_000 / srtt_us;
                sk.pacing_rate = sk.pacing_rate.min(found);
                if before.is_some() {
                    self.takes_back_min_rtt(sk);
                }
            }
            // It has measured the path all the time, and the flow has filled its part.
            Anew::ClaimOver { refuted, .. } => {
                self.full_bw_reached = true;
                if refuted {
                    self.takes_back_min_rtt(sk);
                }
            }
            Anew::Refuted { .. } => self.takes_back_min_rtt(sk),
            Anew::Unknown => {
                let random = self.random.clone();
                *self = Self { random, ..Self::new(0) };
                self.init(sk);
            }
            Anew::Claimed { packet, rtt } => {
                let random = self.random.clone();
                *self = Self { random, ..Self::new(0) };
                self.init(sk);
                let bw = BW_UNIT * 1_000 / packet.max(1);
                self.bw = MinMax::new(0, bw.min(u32::MAX.into()) as u32);
                self.min_rtt_us = (rtt / 1_000).clamp(1, u32::MAX.into()) as u32;
                self.has_seen_rtt = true;
                self.full_bw_reached = true;
                self.prior_cwnd = sk.snd_cwnd;
                self.enter_probe_bw(sk);
                self.update_gains();
                self.set_pacing_rate(sk, self.bw(), self.pacing_gain);
            }
        }
    }

    /// `bbr_init`.
    fn init(&mut self, sk: &mut Sock) {
        sk.snd_ssthresh = INFINITE_SSTHRESH;
        self.next_rtt_delivered = sk.delivered;
        self.min_rtt_us = sk.min_rtt_us();
        self.min_rtt_stamp = sk.jiffies;
        self.init_pacing_rate(sk);
        self.lt.reset(sk);
        self.aggregation.restart(sk.tcp_mstamp);
        if sk.pacing_status == PacingStatus::None {
            sk.pacing_status = PacingStatus::Needed;
        }
    }

    /// `bbr_ssthresh`: a loss leaves ssthresh, and cwnd too but for the packets lost.
    fn ssthresh(&mut self, sk: &Sock) -> u32 {
        self.save_cwnd(sk);
        sk.snd_ssthresh
    }

    /// `bbr_set_state`: a timeout ends a round.
    fn set_state(&mut self, sk: &mut Sock, new: CaState) {
        if new == CaState::Loss {
            self.prev_ca_state = CaState::Loss;
            self.full_bw = 0;
            self.round_start = true;
            self.sample_long_term(sk, &RateSample { losses: 1, ..RateSample::default() });
        }
    }

    /// `bbr_cwnd_event`: data after idle time leaves at the estimated rate.
    fn cwnd_event(&mut self, sk: &mut Sock, event: CaEvent) {
        if event != CaEvent::TxStart || sk.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(sk.tcp_mstamp);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(sk, self.bw(), UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(sk),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    /// `bbr_main`.
    fn cong_control(&mut self, sk: &mut Sock, rs: &RateSample) {
        self.rules.ack_begins(self.mode == Mode::ProbeBw && self.ends_round(rs));
        self.update_bw(sk, rs);
        self.aggregation.update(sk, rs, self.bw(), self.round_start, EXTRA_ACKED_ROUNDS);
        if self.mode == Mode::ProbeBw && self.phase_is_over(sk, rs) {
            self.advance_cycle_phase(sk);
        }
        self.check_full_bw_reached(rs);
        self.check_drain(sk);
        self.update_min_rtt(sk, rs);
        self.update_gains();
        let own = self.rules.bandwidth(self.mode, rs.rtt_us, self.min_rtt_us);
        let bw = own.unwrap_or(self.bw());
        self.set_pacing_rate(sk, bw, self.pacing_gain);
        self.set_cwnd(sk, rs, bw);
    }

    /// `bbr_undo_cwnd`: cwnd was hardly cut, but Startup's test may have been misled.
    fn undo_cwnd(&mut self, sk: &Sock) -> u32 {
        self.full_bw = 0;
        self.full_bw_cnt = 0;
        self.lt.reset(sk);
        sk.snd_cwnd
    }

    fn full_bw_reached(&self) -> bool {
        self.full_bw_reached
    }

    /// As if the smallest of the window had just been measured.
    fn set_min_rtt(&mut self, sk: &Sock, min_rtt_us: u32) {
        (self.min_rtt_us, self.min_rtt_stamp) = (min_rtt_us, sk.jiffies);
    }

    fn path_changes_soon(&mut self, is_near: bool) {
        self.rules.path_changes_soon(is_near);
    }

    /// `bbr_min_tso_segs`.
    fn min_tso_segs(&self, sk: &Sock) -> Option<u32> {
        Some(min_tso_segs(sk))
    }
}

/// The model of the path.
impl<R: Rules> BbrWith<R> {
    /// The largest bandwidth of the window (`bbr_max_bw`).
    fn max_bw(&self) -> u32 {
        self.bw.get()
    }

    /// The bandwidth to go by (`bbr_bw`).
    fn bw(&self) -> u32 {
        self.lt.bw().unwrap_or(self.max_bw())
    }

    /// Whether an ACK is for a packet that was sent after the round trip began.
    fn ends_round(&self, rs: &RateSample) -> bool {
        !after(self.next_rtt_delivered, rs.prior_delivered)
    }

    /// `bbr_update_bw`.
    fn update_bw(&mut self, sk: &Sock, rs: &RateSample) {
        self.round_start = false;
        if !rs.is_valid() {
            return;
        }
        if self.ends_round(rs) {
            self.next_rtt_delivered = sk.delivered;
            self.rtt_cnt = self.rtt_cnt.wrapping_add(1);
            self.round_start = true;
            self.packet_conservation = false;
            self.rules.round_begins();
        }
        self.sample_long_term(sk, rs);
        let bw = rs.delivered as u64 * BW_UNIT / rs.interval_us as u64;
        self.rules.sampled(bw as u32, rs.rtt_us, self.mode);
        // A rate that the application held back says nothing about the path, unless it says "more".
        if !rs.is_app_limited || bw >= u64::from(self.max_bw()) {
            self.bw.running_max(BW_ROUNDS, self.rtt_cnt, bw as u32);
        }
    }

    /// `bbr_lt_bw_sampling`.
    fn sample_long_term(&mut self, sk: &Sock, rs: &RateSample) {
        if !R::LONG_TERM {
            return;
        }
        match self.lt.sample(sk, rs, self.round_start, self.mode == Mode::ProbeBw) {
            Verdict::Unchanged => {}
            Verdict::Policed => self.pacing_gain = UNIT,
            Verdict::Over => self.enter_probe_bw(sk),
        }
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        let threshold = ((u64::from(self.full_bw) * u64::from(FULL_BW_GROWTH)) >> SCALE) as u32;
        if self.max_bw() >= threshold {
            self.full_bw = self.max_bw();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= FULL_BW_ROUNDS;
    }

    /// `bbr_update_min_rtt`, with ProbeRtt's beginning and end.
    fn update_min_rtt(&mut self, sk: &mut Sock, rs: &RateSample) {
        let expired = after(sk.jiffies, self.min_rtt_stamp.wrapping_add(R::MIN_RTT_WINDOW_S * sk.hz));
        if rs.rtt_us >= 0
            && (rs.rtt_us < i64::from(self.min_rtt_us) || (expired && !rs.is_ack_delayed))
        {
            self.min_rtt_us = rs.rtt_us as u32;
            self.min_rtt_stamp = sk.jiffies;
        }
        if !self.idle_restart && self.rules.probes_rtt(self.mode, expired) {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(sk);
            self.probe_rtt_done_stamp = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sk, rs);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }
}

/// Modes.
impl<R: Rules> BbrWith<R> {
    /// 200 ms and a round trip with at most so many packets in flight; their low rate does not count.
    fn probe_rtt(&mut self, sk: &mut Sock, rs: &RateSample) {
        sk.mark_app_limited();
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                if R::PROBE_RTT_RENEWS && self.probe_rtt_is_over(sk) {
                    // Without a sample of this ACK none is known (the -1 of the kernel as an unsigned number).
                    (self.min_rtt_us, self.min_rtt_stamp) = (rs.rtt_us as u32, sk.jiffies);
                }
                self.check_probe_rtt_done(sk);
            }
        } else if sk.packets_in_flight() <= self.probe_rtt_cwnd() {
            let stay = (PROBE_RTT_MS * sk.hz).div_ceil(1_000);
            self.probe_rtt_done_stamp = Some(sk.jiffies.wrapping_add(stay));
            self.probe_rtt_round_done = false;
            self.next_rtt_delivered = sk.delivered;
        }
    }

    fn probe_rtt_is_over(&self, sk: &Sock) -> bool {
        self.probe_rtt_done_stamp.is_some_and(|done| after(sk.jiffies, done))
    }

    /// `bbr_check_probe_rtt_done`.
    fn check_probe_rtt_done(&mut self, sk: &mut Sock) {
        if !self.probe_rtt_is_over(sk) {
            return;
        }
        if !R::PROBE_RTT_RENEWS {
            self.min_rtt_stamp = sk.jiffies;
        }
        sk.set_cwnd(sk.snd_cwnd.max(self.prior_cwnd));
        if let Some(bw) = self.rules.starts_anew() {
            (self.full_bw_reached, self.full_bw, self.full_bw_cnt) = (false, 0, 0);
            self.mode = Mode::Startup;
            self.bw = MinMax::new(self.rtt_cnt, bw);
        } else if self.full_bw_reached {
            self.enter_probe_bw(sk);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_check_drain`.
    /// `segue_bbr_takes_back_min_rtt`: a standing queue may have made it longer.
    fn takes_back_min_rtt(&mut self, sk: &Sock) {
        self.min_rtt_us = self.min_rtt_us.min(sk.min_rtt_us());
    }

    fn check_drain(&mut self, sk: &mut Sock) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.rules.startup_is_over();
            self.mode = Mode::Drain;
            sk.snd_ssthresh = self.inflight(sk, self.max_bw(), UNIT);
        }
        if self.mode == Mode::Drain
            && self.packets_in_net_at_edt(sk, sk.packets_in_flight()) <= self.inflight(sk, self.max_bw(), UNIT)
        {
            self.enter_probe_bw(sk);
        }
    }

    /// `bbr_reset_probe_bw_mode`: the phase after one drawn by lot.
    fn enter_probe_bw(&mut self, sk: &Sock) {
        self.mode = Mode::ProbeBw;
        let lot = (u64::from(self.random.next_u32()) * u64::from(CYCLE_RAND)) >> 32;
        self.cycle_idx = CYCLE.len() - 1 - lot as usize;
        self.advance_cycle_phase(sk);
    }

    /// `bbr_advance_cycle_phase`.
    fn advance_cycle_phase(&mut self, sk: &Sock) {
        self.cycle_idx = (self.cycle_idx + 1) % CYCLE.len();
        self.cycle_mstamp = sk.delivered_mstamp;
    }

    /// `bbr_is_next_cycle_phase`: a phase lasts a round trip. Probing goes on until the pipe holds what it is to hold
    /// or loses it; draining ends as soon as the queue is gone.
    fn phase_is_over(&self, sk: &Sock, rs: &RateSample) -> bool {
        let full_length = stamp_delta(sk.delivered_mstamp, self.cycle_mstamp) > self.min_rtt_us;
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let inflight = self.packets_in_net_at_edt(sk, rs.prior_in_flight);
        if self.pacing_gain > UNIT {
            return full_length
                && (rs.losses > 0 || inflight >= self.inflight(sk, self.max_bw(), self.pacing_gain));
        }
        full_length || inflight <= self.inflight(sk, self.max_bw(), UNIT)
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.lt.bw().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (self.rules.pacing_gain(self.cycle_idx), CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

#[cfg(test)]
mod tests;
