//! TCP as Linux 6.12 has it: the kernel's sender, rule by rule, in integers of its own size.
//!
//! One file per algorithm, each rule under the name of the kernel's function. [`cc`] has the congestion controls.
//! What the kernel keeps in `struct tcp_sock` is in [`Sock`] where controls use it, else in [`LinuxSender`].
//! Left out: segmentation offload, ECN, Fast Open, MTU probing, metrics cache, thin streams.

mod ack;
pub mod cc;
mod frto;
mod info;
mod lcd;
mod newreno;
mod paws;
mod prr;
mod queue;
mod rack;
pub mod receiver;
mod recovery;
mod rtt;
mod sack;
mod timeout;
mod tlp;
mod transmit;
mod undo;
pub mod wheel;

use std::collections::VecDeque;

use self::cc::{CaEvent, CaState, CcName, CongestionOps, Control, INFINITE_SSTHRESH, PacingStatus, Sock};
pub use self::info::TcpInfo;
use self::paws::Stamps;
use self::queue::Queue;
use self::rack::Rack;
use self::rtt::Rtt;
use self::wheel::{Clock, Place, WheelTimer};
use crate::Nanos;
use crate::advice::{Advice, Advisor, KernelView, MinRto, View};
use crate::core::{Counters, charged_header};
use crate::profile::StackProfile;
use crate::segment::{CarriedOption, SackList, Segment, Timestamps};
use crate::sender::Transmit;

/// Degree of reordering at the start (`tcp_reordering`).
const REORDERING: u32 = 3;

/// What an ACK was (`FLAG_*` of tcp_input.c).
mod flag {
    pub const WIN_UPDATE: u32 = 0x02;
    pub const DATA_ACKED: u32 = 0x04;
    pub const RETRANS_DATA_ACKED: u32 = 0x08;
    pub const SYN_ACKED: u32 = 0x10;
    pub const DATA_SACKED: u32 = 0x20;
    pub const LOST_RETRANS: u32 = 0x80;
    pub const ORIG_SACK_ACKED: u32 = 0x200;
    pub const SND_UNA_ADVANCED: u32 = 0x400;
    pub const DSACKING_ACK: u32 = 0x800;
    pub const SET_XMIT_TIMER: u32 = 0x1000;
    pub const SACK_RENEGING: u32 = 0x2000;
    pub const DSACK_TLP: u32 = 0x20000;
    pub const ACKED: u32 = DATA_ACKED | SYN_ACKED;
    pub const NOT_DUP: u32 = WIN_UPDATE | ACKED;
    pub const CA_ALERT: u32 = DATA_SACKED | DSACKING_ACK;
    pub const FORWARD_PROGRESS: u32 = ACKED | DATA_SACKED;
}

/// What the transmit timer stands for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    None,
    /// `ICSK_TIME_RETRANS`.
    Retrans,
    /// `ICSK_TIME_REO_TIMEOUT`.
    Reo,
    /// `ICSK_TIME_LOSS_PROBE`.
    LossProbe,
    /// `ICSK_TIME_PROBE0`.
    Probe0,
}

/// What an ACK lets out beside new data (`REXMIT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rexmit {
    None,
    Lost,
    /// New data first: F-RTO.
    New,
}

/// A packet on its way out.
#[derive(Clone, Copy, Debug)]
struct Out {
    seq: u32,
    copy: u32,
    /// Its time stamp, ms.
    stamp: u32,
    /// PSH.
    push: bool,
    kind: OutKind,
}

#[derive(Clone, Copy, Debug)]
enum OutKind {
    Data {
        retransmission: bool,
    },
    /// A pure ACK or a window probe.
    Bare,
}

/// What has happened since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub recoveries: u32,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Packets sent, pure ACKs and window probes among them.
    pub transmissions: u32,
    /// Tail loss probes.
    pub probes: u32,
    /// Cuts taken back.
    pub undos: u32,
}

/// Linux's sender of full segments, sans-IO; used like [`Sender`](crate::Sender).
#[derive(Clone, Debug)]
pub struct LinuxSender<A> {
    sk: Sock,
    control: Control,
    queue: Queue,
    clock: Clock,
    advisor: A,
    profile: StackProfile,
    /// Rides on the SYN.
    capability: CarriedOption,
    /// Packets to be put on the wire.
    out: VecDeque<Out>,
    /// Time of the present event, and in jiffies.
    now: Nanos,
    jiffies: u64,
    /// A timer's function runs.
    in_timer: bool,

    /// The application has called [`open`](Self::open).
    opening: bool,
    /// `TCP_ESTABLISHED`.
    established: bool,
    /// One beyond the last packet that the application has written.
    write_seq: u32,
    /// One beyond the last packet that the send buffer has held, and those in it that end a piece of writing.
    filled: u32,
    pushes: VecDeque<u32>,
    initial_window: u32,
    /// Packets that the receiver can take from `snd_una` on, now and at most so far.
    snd_wnd: u32,
    max_window: u32,
    stamps: Stamps,
    last_oow_ack: u32,
    data_segs_out: u32,
    probes_out: u32,

    rtt: Rtt,
    /// `icsk_backoff`, `icsk_retransmits`.
    backoff: u32,
    retransmits: u32,
    total_rto: u32,
    total_retrans: u32,
    pending: Pending,
    timer: Option<Nanos>,
    /// What the wheel holds, even if nothing is pending.
    wheel_timer: WheelTimer,
    pacing_timer: Option<Nanos>,
    /// Data packets that this event has sent, and whether more wait until they have left the host
    /// (`sk_wmem_alloc`, `TSQ_THROTTLED`).
    in_host: u32,
    throttled: bool,
    given_up: bool,

    high_seq: u32,
    highest_sack: u32,
    retransmit_hint: Option<u32>,
    reordering: u32,
    reord_seen: u32,
    dsack_dups: u32,
    rack: Rack,
    is_sack_reneg: bool,
    frto: bool,
    /// `snd_nxt` when a loss probe was sent; 0 = none is out.
    tlp_high_seq: u32,
    tlp_retrans: bool,
    prr_delivered: u32,
    prr_out: u32,
    undo_marker: Option<u32>,
    undo_retrans: i32,
    prior_ssthresh: u32,
    /// Time stamp of the first retransmission of an episode, ms; 0 = none.
    retrans_stamp: u32,
    /// Retransmissions that `retrans_out` counts for good, as the kernel's does.
    leaked: u32,

    cwnd_stamp: u32,
    cwnd_used: u32,
    cwnd_usage_seq: u32,

    counters: Tally,
    /// For advisors: expiries since `snd_una` advanced, ssthresh and SRTT at the first.
    expiries: u32,
    ssthresh_saved: u32,
    srtt_before: Nanos,
    slow_start_after_idle: bool,
    /// The receiver reports what has arrived (`tcp_is_sack`).
    sack_ok: bool,
    /// When the last ACK came.
    quiet_since: Nanos,
    /// Whether programs can bound the RTO, and its own ceiling, jiffies.
    has_rto_max: bool,
    own_rto_max: u64,
    /// Advice forbids the retransmission of holes, or everything.
    holding: bool,
    suspended: bool,
}

/// A kernel. What is kept here of both is the same (docs/reference/schemes.md says where they differ).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Linux 6.12.
    V6_12,
    /// Linux 6.18.
    V6_18,
}

impl Release {
    /// The stack's name without its congestion control.
    pub fn name(self) -> &'static str {
        match self {
            Self::V6_12 => "linux-6.12",
            Self::V6_18 => "linux-6.18",
        }
    }

    /// Whether programs can bound the RTO of a connection (`TCP_RTO_MAX_MS`, since 6.15).
    fn has_rto_max(self) -> bool {
        self == Self::V6_18
    }
}

/// Settings of a Linux sender beside its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxSettings {
    /// Kernel.
    pub release: Release,
    /// Congestion control.
    pub control: CcName,
    /// Jiffies per second (`CONFIG_HZ`).
    pub hz: u32,
    /// What the control draws by lot follows from it.
    pub seed: u64,
    /// How far beyond a multiple of 4096 jiffies the host's clock stands at time zero.
    pub phase: Nanos,
    /// cwnd shrinks while nothing is sent (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Who paces at the start; a control may ask for pacing itself.
    pub pacing: PacingStatus,
}

impl LinuxSettings {
    /// The same with clock and lot after `seed`; with 1 the clock is the reference's.
    pub fn seeded(self, seed: u64) -> Self {
        // SplitMix64
        let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        let period = 4096 * (1_000_000_000 / Nanos::from(self.hz));
        let phase = if seed == 1 { 0 } else { x % period };
        Self { seed, phase, ..self }
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// A closed sender.
    pub fn new(profile: &StackProfile, settings: LinuxSettings, advisor: A) -> Self {
        let clock = Clock::new(settings.hz, settings.phase);
        let mut sk = Sock::new(settings.hz, profile.mss.into());
        sk.refresh(clock.since_boot(0), clock.jiffies(0) as u32);
        sk.pacing_status = settings.pacing;
        let us = |ns: Nanos| (ns / 1_000) as u32;
        Self {
            rtt: Rtt::new(&clock, us(profile.rto.initial), us(profile.rto.min), profile.rto.max / 1_000),
            sk,
            control: Control::new(settings.control, settings.seed),
            queue: Queue::new(),
            clock,
            advisor,
            profile: *profile,
            capability: CarriedOption::default(),
            out: VecDeque::with_capacity(64),
            now: 0,
            jiffies: clock.jiffies(0),
            in_timer: false,
            opening: false,
            established: false,
            write_seq: 0,
            filled: 1,
            pushes: VecDeque::with_capacity(4),
            initial_window: profile.initial_window,
            snd_wnd: profile.receive_window,
            max_window: profile.receive_window,
            stamps: Stamps::default(),
            last_oow_ack: 0,
            data_segs_out: 0,
            probes_out: 0,
            backoff: 0,
            retransmits: 0,
            total_rto: 0,
            total_retrans: 0,
            pending: Pending::None,
            timer: None,
            wheel_timer: WheelTimer::default(),
            pacing_timer: None,
            in_host: 0,
            throttled: false,
            given_up: false,
            high_seq: 0,
            highest_sack: 0,
            retransmit_hint: None,
            reordering: REORDERING,
            reord_seen: 0,
            dsack_dups: 0,
            rack: Rack::default(),
            is_sack_reneg: false,
            frto: false,
            tlp_high_seq: 0,
            tlp_retrans: false,
            prr_delivered: 0,
            prr_out: 0,
            undo_marker: None,
            undo_retrans: -1,
            prior_ssthresh: 0,
            retrans_stamp: 0,
            leaked: 0,
            cwnd_stamp: 0,
            cwnd_used: 0,
            cwnd_usage_seq: 0,
            counters: Tally::default(),
            expiries: 0,
            ssthresh_saved: 0,
            srtt_before: 0,
            slow_start_after_idle: settings.slow_start_after_idle,
            sack_ok: profile.sack_blocks > 0,
            quiet_since: 0,
            has_rto_max: settings.release.has_rto_max(),
            own_rto_max: clock.from_us(profile.rto.max / 1_000),
            holding: false,
            suspended: false,
        }
    }

    /// Lets `option` ride on the SYN.
    pub fn carry_on_syn(&mut self, option: CarriedOption) {
        self.capability = option;
    }

    /// Opens the connection; the application has `packets` full segments to send.
    pub fn open(&mut self, packets: u32) {
        // `tcp_sendmsg_locked`: the application was idle until now.
        if self.established && self.sk.snd_nxt == self.write_seq {
            self.sk.rate_check_app_limited();
        }
        self.write_seq = packets.saturating_add(1); // the SYN is packet 0
        self.opening = true;
    }

    /// The application has called: the SYN, or more data after idle time.
    #[cold]
    fn start(&mut self, now: Nanos) {
        self.refresh(now);
        if self.established {
            self.slow_start_after_idle_check();
            self.push_pending();
        } else if self.sk.snd_nxt == 0 {
            // `tcp_connect`: the SYN counts as outstanding before it is sent.
            self.retrans_stamp = self.time_stamp();
            self.sk.packets_out = 1;
            let syn = self.queue.push();
            self.transmit(syn, false);
            self.sk.snd_nxt = 1;
            self.set_timer(Pending::Retrans, self.rtt.rto);
        }
        self.leave_host();
    }

    /// A segment has arrived.
    pub fn on_segment(&mut self, now: Nanos, segment: &Segment) {
        if !segment.has_ack {
            return;
        }
        self.refresh(now);
        self.stamps.saw = segment.timestamps.is_some();
        if let Some(stamps) = segment.timestamps {
            self.stamps.value = stamps.value;
            self.stamps.echo = stamps.echo;
        }
        if !self.established {
            self.on_syn_ack(segment);
            return self.leave_host();
        }
        if segment.syn {
            // The SYN/ACK again: a challenge ACK (`tcp_validate_incoming`).
            if !self.oow_rate_limited() {
                self.send_ack();
            }
            return;
        }
        if self.paws_discard(segment) {
            if !self.oow_rate_limited() {
                self.send_ack();
            }
            return;
        }
        if self.ack(segment) {
            self.push_pending();
            self.leave_host();
            self.fill_buffer();
        }
    }

    /// `tcp_rcv_synsent_state_process`, `tcp_finish_connect`, `tcp_init_transfer`.
    fn on_syn_ack(&mut self, segment: &Segment) {
        if !segment.syn || segment.ack != 1 || self.sk.snd_nxt == 0 {
            return;
        }
        self.ack(segment);
        self.snd_wnd = segment.window;
        self.max_window = segment.window;
        if self.stamps.saw {
            self.stamps.recent = self.stamps.value;
        }
        self.established = true;
        if self.sk.srtt_us == 0 {
            self.rtt.fall_back(&self.clock); // `tcp_init_metrics`
        }
        let cwnd = if self.total_retrans > 1 && self.undo_marker.is_some() { 1 } else { self.init_cwnd() };
        self.sk.set_cwnd(cwnd);
        self.cwnd_stamp = self.sk.jiffies;
        self.control.init(&mut self.sk);
        self.send_ack();
        self.quiet_since = self.now;
        // `tcp_sendmsg`: the application was idle until now.
        self.sk.rate_check_app_limited();
        self.fill_buffer();
        self.push_pending();
    }

    /// The clock has reached [`Self::deadline`]. Says whether the retransmission timer expired.
    pub fn on_timer(&mut self, now: Nanos) -> bool {
        self.refresh(now);
        if self.advisor.deadline().is_some_and(|deadline| deadline <= now) {
            let view = self.view();
            let advice = self.advisor.on_deadline(now, &view);
            self.take(&advice);
            self.follow(&advice);
        }
        if self.pacing_timer.is_some_and(|deadline| deadline <= now) {
            self.pacing_timer = None;
            self.tsq_write();
        }
        self.leave_host();
        if self.timer.is_none_or(|deadline| deadline > now) {
            return false;
        }
        self.in_timer = true;
        let expired = self.write_timer();
        self.in_timer = false;
        self.leave_host();
        expired
    }

    /// When [`Self::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        let least = |a: Option<Nanos>, b: Option<Nanos>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        least(least(self.timer, self.pacing_timer), self.advisor.deadline())
    }

    /// Where the transmit timer lies in the host's wheel.
    #[inline]
    pub fn place(&self) -> Place {
        self.wheel_timer.place()
    }

    /// Advice from outside, such as a handoff scheme's answer to a notice.
    pub fn enact(&mut self, now: Nanos, advice: &Advice) {
        self.refresh(now);
        self.take(advice);
        self.follow(advice);
        self.leave_host();
    }

    /// The next packet to put on the wire now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Nanos) -> Option<Transmit> {
        if std::mem::take(&mut self.opening) {
            self.start(now);
        }
        let out = self.out.pop_front()?;
        let (payload, retransmission) = match out.kind {
            OutKind::Data { retransmission } => {
                (if out.seq == 0 { 0 } else { self.profile.mss }, retransmission)
            }
            OutKind::Bare => (0, false),
        };
        let syn = out.seq == 0 && matches!(out.kind, OutKind::Data { .. });
        let segment = Segment {
            seq: out.seq,
            ack: u32::from(!syn),
            window: self.profile.receive_window,
            payload,
            syn,
            push: out.push,
            has_ack: !syn,
            sack: SackList::default(),
            timestamps: Some(Timestamps { value: out.stamp, echo: self.stamps.recent }),
            option: if syn { self.capability } else { CarriedOption::default() },
        };
        let bytes = charged_header(&self.profile, &segment);
        Some(Transmit { segment, bytes, copy: out.copy, retransmission })
    }

    /// `tcp_mstamp_refresh`.
    #[inline]
    fn refresh(&mut self, now: Nanos) {
        self.now = now;
        self.jiffies = self.clock.jiffies(now);
        self.sk.refresh(self.clock.since_boot(now), self.jiffies as u32);
    }

    /// `tcp_time_stamp_ts`, ms.
    #[inline]
    fn time_stamp(&self) -> u32 {
        (self.sk.tcp_clock_cache / 1_000_000) as u32
    }

    #[inline]
    fn has_cong_control(&self) -> bool {
        self.control.has_cong_control()
    }

    /// `tcp_ca_event`.
    fn cwnd_event(&mut self, event: CaEvent) {
        self.control.cwnd_event(&mut self.sk, event);
    }

    #[inline]
    fn next_copy(&mut self) -> u32 {
        self.counters.transmissions += 1;
        self.counters.transmissions - 1
    }

    /// `snd_una` has advanced: whoever advises hears of it.
    #[inline]
    fn note_progress(&mut self) {
        self.expiries = 0;
        self.srtt_before = 0;
        if self.sk.ca_state != CaState::Loss {
            self.ssthresh_saved = 0;
        }
        if let Some(advice) = self.ask(|advisor, view| advisor.on_new_ack(view)) {
            self.take(&advice);
        }
    }

    /// Asks the advisor, if it listens.
    #[inline]
    fn ask(&mut self, question: impl FnOnce(&mut A, &View) -> Advice) -> Option<Advice> {
        if !self.advisor.listening() {
            return None;
        }
        let view = self.view();
        Some(question(&mut self.advisor, &view))
    }

    /// Changes what advice changes; sends nothing.
    fn take(&mut self, advice: &Advice) {
        if advice.clear_backoff {
            self.backoff = 0;
            self.expiries = self.expiries.min(1);
            if self.sk.srtt_us > 0 {
                self.rtt.rto = self.rtt.base(&self.sk, &self.clock);
            }
        }
        if advice.reinit_rtt {
            self.sk.srtt_us = 0;
        }
        match advice.min_rto {
            Some(MinRto::Own) => self.rtt.rto_min_us = (self.profile.rto.min / 1_000) as u32,
            Some(MinRto::AtLeast(least)) => {
                self.rtt.rto_min_us = (self.profile.rto.min.max(least) / 1_000) as u32;
            }
            None => {}
        }
        if let Some(cwnd) = advice.cwnd {
            self.sk.set_cwnd((cwnd / 256).max(1));
        }
        if let Some(ssthresh) = advice.ssthresh {
            self.sk.snd_ssthresh =
                if ssthresh == u32::MAX { INFINITE_SSTHRESH } else { (ssthresh / 256).max(2) };
        }
        if let Some(anew) = advice.anew {
            self.sk.snd_cwnd_cnt = 0;
            self.cwnd_stamp = self.sk.jiffies;
            self.control.start_anew(&mut self.sk, anew);
        }
        if let Some(dupthresh) = advice.dupthresh {
            self.reordering = dupthresh;
        }
        self.holding = (self.holding || advice.hold_holes) && !advice.resume_recovery;
        if advice.suspend {
            self.suspended = true;
            self.clear_timer();
        }
        if advice.resume {
            self.suspended = false;
        }
    }

    /// Sends what advice asks for, and restarts the timer.
    fn follow(&mut self, advice: &Advice) {
        let outstanding = self.sk.packets_out > 0;
        if advice.resume && outstanding {
            self.set_timer(Pending::Retrans, self.rtt.rto);
        }
        if advice.retransmit_head && outstanding {
            self.retransmit(self.queue.head());
        }
        if (advice.rearm_timer || advice.retransmit_head) && outstanding {
            self.set_timer(Pending::Retrans, self.rtt.rto);
        }
        if advice.room_for_one {
            self.sk.set_cwnd(self.sk.snd_cwnd.max(self.sk.packets_in_flight() + 1));
        }
        if advice.send_new
            && self.sk.snd_nxt < self.write_seq
            && (advice.beyond_window || self.may_send_new())
        {
            self.transmit_new();
        }
        self.xmit_retransmit_queue();
        self.push_pending();
    }

    /// Who advises.
    pub fn advisor(&mut self) -> &mut A {
        &mut self.advisor
    }

    /// The stack.
    pub fn profile(&self) -> &StackProfile {
        &self.profile
    }

    /// The socket as its congestion control sees it.
    pub fn sock(&self) -> &Sock {
        &self.sk
    }

    /// What an advisor sees.
    pub fn view(&self) -> View {
        View {
            snd_una: self.sk.snd_una,
            snd_max: self.sk.snd_nxt,
            flight: self.sk.packets_out,
            cwnd: self.sk.snd_cwnd.saturating_mul(256),
            ssthresh: self.sk.snd_ssthresh.saturating_mul(256),
            rto: self.clock.to_us(self.rtt.base(&self.sk, &self.clock)) * 1_000,
            srtt: u64::from(self.sk.srtt_us) * 125,
            mss: self.sk.mss_cache,
            transmissions: self.counters.transmissions,
            ssthresh_saved: self.ssthresh_saved.saturating_mul(256),
            srtt_before: self.srtt_before,
            timeouts_since_ack: self.expiries,
            in_fast_recovery: self.sk.ca_state == CaState::Recovery,
            in_rto_recovery: self.in_rto_recovery(),
            kernel: Some(KernelView {
                now: self.now,
                has_rto_max: self.has_rto_max,
                is_calm: self.retransmits == 0 && self.probes_out == 0 && self.snd_wnd > 0,
                rttvar_us: self.rtt.rttvar_us,
                quiet_since: self.quiet_since,
                cwnd: self.sk.snd_cwnd,
                ssthresh: self.sk.snd_ssthresh,
                in_flight: self.sk.packets_in_flight(),
                high_seq: self.high_seq,
                most_room: self.max_window + 1,
                delivered: self.sk.delivered,
                lost: self.sk.lost,
                min_rtt_us: self.sk.min_rtt_us(),
                rate_delivered: self.sk.rate_delivered,
                rate_interval_us: self.sk.rate_interval_us,
                mss: self.sk.mss_cache,
            }),
        }
    }

    /// Tells programs around the control of an ACK.
    #[inline]
    fn tell_ack(&mut self) {
        if self.advisor.watching() {
            let view = self.view();
            let advice = self.advisor.on_ack(&view);
            self.take(&advice);
            self.heed_rto_bound();
        }
        self.quiet_since = self.now;
    }

    /// `TCP_RTO_MAX_MS`.
    fn heed_rto_bound(&mut self) {
        let bound = self.advisor.rto_bound_ms().map(|ms| self.clock.from_us(u64::from(ms) * 1_000));
        self.rtt.rto_max = bound.map_or(self.own_rto_max, |bound| bound.min(self.own_rto_max));
    }

    /// The ssthresh that stays where advice keeps that of `before` the cut.
    fn kept(&self, before: u32) -> u32 {
        let cut = self.sk.snd_ssthresh;
        if before > cut { self.advisor.kept(before, cut, self.sk.prior_cwnd) } else { cut }
    }

    /// Events so far.
    #[inline]
    pub fn counters(&self) -> Counters {
        let Tally { timeouts, recoveries, retransmissions, transmissions, .. } = self.counters;
        Counters { timeouts, fast_retransmits: recoveries, retransmissions, transmissions }
    }

    /// Events so far, as the kernel tells them apart.
    pub fn tally(&self) -> Tally {
        self.counters
    }

    /// First unacknowledged packet.
    #[inline]
    pub fn snd_una(&self) -> u32 {
        self.sk.snd_una
    }

    /// One beyond the highest packet ever sent.
    #[inline]
    pub fn snd_max(&self) -> u32 {
        self.sk.snd_nxt
    }

    /// Copy number of the last transmission of `snd_una`.
    pub fn head_copy(&self) -> u32 {
        if self.queue.is_empty() { 0 } else { self.queue.get(self.queue.head()).copy }
    }

    /// Whether the connection is established: its SYN is acknowledged.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Whether data is outstanding or waits to be sent.
    pub fn has_data(&self) -> bool {
        self.sk.snd_una < self.write_seq
    }

    /// Whether there is data that has not been sent.
    pub fn has_unsent_data(&self) -> bool {
        self.sk.snd_nxt < self.write_seq
    }

    /// Packets held against the window (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        self.sk.packets_in_flight()
    }

    /// The same, and counted anew packet by packet; for tests.
    pub fn pipes(&self) -> Option<(u32, u32)> {
        let counted = (self.queue.head()..self.queue.end()).map(|seq| {
            let packet = self.queue.get(seq);
            let out = u32::from(!packet.has(queue::SACKED | queue::LOST));
            out + u32::from(packet.has(queue::RETRANS))
        });
        Some((self.sk.packets_in_flight(), counted.sum::<u32>() + self.leaked))
    }

    /// In the Loss state.
    pub fn in_rto_recovery(&self) -> bool {
        self.sk.ca_state == CaState::Loss
    }

    /// The connection has been given up (`tcp_retries2`).
    pub fn has_given_up_for_good(&self) -> bool {
        self.given_up
    }

    /// Smoothed round-trip time, RTO and its floor, ns.
    pub fn timing(&self) -> (Option<Nanos>, Nanos, Nanos) {
        let srtt = (self.sk.srtt_us > 0).then(|| u64::from(self.sk.srtt_us) * 125);
        (srtt, self.clock.to_us(self.rtt.rto) * 1_000, u64::from(self.rtt.rto_min_us) * 1_000)
    }

    /// cwnd in whole packets.
    pub fn window(&self) -> u32 {
        self.sk.snd_cwnd
    }
}
