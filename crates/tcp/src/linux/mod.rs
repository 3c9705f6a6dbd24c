//! TCP as Linux 6.12 has it: the kernel's sender, rule by rule, in integers of its own size.
//!
//! One file per algorithm, each rule under the name of the kernel's function. [`cc`] has the congestion controls.
//! State of `struct tcp_sock` is in [`Sock`] where controls use it, else in [`LinuxSender`]. Left out: segmentation
//! offload, Fast Open, MTU probing, metrics cache, thin streams.

mod ack;
mod advice;
mod burst;
pub mod cc;
mod claimed;
mod collapse;
mod ecn;
mod frto;
mod handshake;
mod info;
mod lcd;
mod newreno;
mod path;
mod paws;
mod prr;
mod queue;
mod rack;
pub mod receiver;
mod recovery;
mod rtt;
mod sack;
pub(crate) mod settings;
mod timeout;
mod tlp;
mod transmit;
mod undo;
pub mod wheel;
mod writing;

use std::collections::VecDeque;

use self::advice::Advised;
use self::cc::{CaEvent, CaState, CongestionOps, Control, Sock};
use self::ecn::EcnState;
pub use self::info::{Tally, TcpInfo};
use self::path::Path;
use self::paws::Stamps;
use self::prr::Prr;
use self::queue::Queue;
use self::rack::Rack;
use self::rtt::Rtt;
use self::sack::Reorder;
pub use self::settings::{LinuxSettings, Release, Writer};
use self::timeout::{Pending, Retries, XmitTimer};
use self::tlp::Tlp;
use self::transmit::{InHost, Usage};
use self::undo::Undo;
use self::wheel::{Clock, TimerSlot};
use self::writing::Written;
use crate::Nanos;
use crate::advice::Advisor;
use crate::core::charged_header;
use crate::profile::StackProfile;
use crate::segment::{CarriedOption, Detail, Ecn, SackList, Segment, Timestamps};
use crate::sender::Transmit;

/// Degree of reordering at the start (`tcp_reordering`).
const REORDERING: u32 = 3;

/// Kind of an ACK (`FLAG_*` of tcp_input.c).
mod flag {
    pub const WIN_UPDATE: u32 = 0x02;
    pub const DATA_ACKED: u32 = 0x04;
    pub const RETRANS_DATA_ACKED: u32 = 0x08;
    pub const SYN_ACKED: u32 = 0x10;
    pub const DATA_SACKED: u32 = 0x20;
    pub const ECE: u32 = 0x40;
    pub const LOST_RETRANS: u32 = 0x80;
    pub const ORIG_SACK_ACKED: u32 = 0x200;
    pub const SND_UNA_ADVANCED: u32 = 0x400;
    pub const DSACKING_ACK: u32 = 0x800;
    pub const SET_XMIT_TIMER: u32 = 0x1000;
    pub const SACK_RENEGING: u32 = 0x2000;
    pub const DSACK_TLP: u32 = 0x20000;
    pub const ACKED: u32 = DATA_ACKED | SYN_ACKED;
    pub const NOT_DUP: u32 = WIN_UPDATE | ACKED;
    pub const CA_ALERT: u32 = DATA_SACKED | ECE | DSACKING_ACK;
    pub const FORWARD_PROGRESS: u32 = ACKED | DATA_SACKED;
}

/// Packets that an ACK lets out beside new data (`REXMIT_*`).
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
    /// TCP handed it over as one with others.
    cut: bool,
    ecn: Ecn,
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
    written: Written,
    /// The first octet of packet `snd_una` is acknowledged, too: it is part of the kernel's `snd_una`.
    una_octet: bool,
    /// Packets that the receiver can take from `snd_una` on, now and at most so far.
    snd_wnd: u32,
    max_window: u32,
    stamps: Stamps,
    ecn: EcnState,
    last_oow_ack: u32,
    data_segs_out: u32,
    probes_out: u32,

    rtt: Rtt,
    xmit: XmitTimer,
    retries: Retries,
    total_retrans: u32,
    host: InHost,

    high_seq: u32,
    highest_sack: u32,
    sack_cache: sack::Cache,
    retransmit_hint: Option<u32>,
    reorder: Reorder,
    rack: Rack,
    is_sack_reneg: bool,
    frto: bool,
    tlp: Tlp,
    prr: Prr,
    undo: Undo,
    /// Retransmissions that `retrans_out` counts until nothing is outstanding, as the kernel's does.
    leaked: u32,

    usage: Usage,

    counters: Tally,
    advised: Advised,
    slow_start_after_idle: bool,
    /// Several packets may leave as one.
    bursts: bool,
    /// The receiver reports what has arrived (`tcp_is_sack`).
    sack_ok: bool,
    /// The path since it became another one.
    path: Option<Path>,
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
            written: Written::new(settings.writer),
            una_octet: false,
            snd_wnd: profile.receive_window,
            max_window: profile.receive_window,
            stamps: Stamps::default(),
            ecn: EcnState::new(settings.ecn),
            last_oow_ack: 0,
            data_segs_out: 0,
            probes_out: 0,
            xmit: XmitTimer::default(),
            retries: Retries::default(),
            total_retrans: 0,
            host: InHost::default(),
            high_seq: 0,
            highest_sack: 0,
            sack_cache: sack::Cache::default(),
            retransmit_hint: None,
            reorder: Reorder::default(),
            rack: Rack::default(),
            is_sack_reneg: false,
            frto: false,
            tlp: Tlp::default(),
            prr: Prr::default(),
            undo: Undo::default(),
            leaked: 0,
            usage: Usage::default(),
            counters: Tally::default(),
            advised: Advised {
                has_rto_max: settings.release.has_rto_max(),
                own_rto_max: clock.from_us(profile.rto.max / 1_000),
                ..Advised::default()
            },
            slow_start_after_idle: settings.slow_start_after_idle,
            bursts: settings.bursts,
            sack_ok: profile.sack_blocks > 0,
            path: None,
        }
    }

    /// Lets `option` ride on the SYN.
    pub fn carry_on_syn(&mut self, option: CarriedOption) {
        self.capability = option;
    }

    /// Opens the connection; the application has `packets` full segments to send.
    pub fn open(&mut self, packets: u32) {
        // `tcp_sendmsg_locked`: the application was idle until now.
        if self.established && self.sk.snd_nxt == self.written.end {
            self.sk.rate_check_app_limited();
        }
        self.written.add_message(packets.saturating_add(1)); // the SYN is packet 0
        self.opening = true;
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
            self.write();
        }
    }

    /// The clock has reached [`Self::deadline`]. Says whether the retransmission timer expired.
    pub fn on_timer(&mut self, now: Nanos) -> bool {
        self.refresh(now);
        if self.advisor.deadline().is_some_and(|deadline| deadline <= now) {
            let view = self.view();
            let advice = self.advisor.on_deadline(now, &view);
            self.take(&advice);
            // A flag of the control makes nothing leave.
            if advice.kernel.keep_w_max.is_none() && advice.kernel.path_changes_soon.is_none() {
                self.follow(&advice);
            }
        }
        if self.host.pacing_timer.is_some_and(|deadline| deadline <= now) {
            self.host.pacing_timer = None;
            self.tsq_write();
        }
        self.leave_host();
        if self.xmit.fires.is_none_or(|deadline| deadline > now) {
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
        least(least(self.xmit.fires, self.host.pacing_timer), self.advisor.deadline())
    }

    /// Where the transmit timer lies in the host's wheel.
    #[inline]
    pub fn place(&self) -> TimerSlot {
        self.xmit.wheel.place()
    }

    /// The next packet to put on the wire now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Nanos) -> Option<Transmit> {
        if std::mem::take(&mut self.opening) {
            self.start(now);
        }
        let out = self.out.pop_front()?;
        Some(self.packet(out))
    }

    #[inline]
    fn packet(&self, out: Out) -> Transmit {
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
            detail: if out.cut { Detail::Cut } else { Detail::None },
            ecn: out.ecn,
            sack: SackList::default(),
            timestamps: Some(Timestamps { value: out.stamp, echo: self.stamps.recent }),
            option: if syn { self.capability } else { CarriedOption::default() },
        };
        let bytes = charged_header(&self.profile, &segment);
        Transmit { segment, bytes, copy: out.copy, retransmission }
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

    /// The advisor.
    pub fn advisor(&mut self) -> &mut A {
        &mut self.advisor
    }
}
