//! Advice from outside TCP: the state that a sender shows at each event, and the actions that it can take.
//!
//! A sender without an advisor, or whose advisor is silent, is the stack itself.

use crate::segment::MAX_SACK_BLOCKS;
use crate::{Nanos, Window256};

/// State of a sender at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// First unacknowledged packet.
    pub snd_una: u32,
    /// One beyond the highest packet ever sent.
    pub snd_max: u32,
    /// `snd_max - snd_una`, packets.
    pub flight: u32,
    /// Congestion window.
    pub cwnd: Window256,
    /// Slow-start threshold.
    pub ssthresh: Window256,
    /// Retransmission timeout without back-off.
    pub rto: Nanos,
    /// SRTT; 0 if there was no sample.
    pub srtt: Nanos,
    /// Bytes of a full segment.
    pub mss: u32,
    /// Packets ever sent.
    pub transmissions: u32,
    /// ssthresh after the cut of the first timeout of the present `snd_una`; 0 if there was none
    /// or its RTO recovery is over.
    pub ssthresh_saved: Window256,
    /// SRTT at the first timeout since `snd_una` advanced, before the stack forgets it; 0 if there
    /// was no timeout, or no sample before it.
    pub srtt_before: Nanos,
    /// Timeouts since `snd_una` advanced; one once advice has cleared the back-off.
    pub timeouts_since_ack: u32,
    /// In fast recovery.
    pub in_fast_recovery: bool,
    /// A timer expired, and what was outstanding then is not yet acknowledged.
    pub in_rto_recovery: bool,
    /// State that a kernel's programs can read beside that, on a stack that is a kernel's.
    pub kernel: Option<KernelView>,
}

/// The part of `struct tcp_sock` that programs around a congestion control use. Windows and counts are in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelView {
    /// Now.
    pub now: Nanos,
    /// Whether programs can bound the RTO (`TCP_RTO_MAX_MS`, Linux 6.15).
    pub has_rto_max: bool,
    /// The timer has resent nothing since the last progress, and the peer's window is open.
    pub is_calm: bool,
    /// `rttvar_us`.
    pub rttvar_us: u32,
    /// When the last ACK came.
    pub quiet_since: Nanos,
    /// `snd_cwnd`.
    pub cwnd: u32,
    /// `snd_ssthresh`.
    pub ssthresh: u32,
    /// `tcp_packets_in_flight`.
    pub in_flight: u32,
    /// The control knows the path's rate (BBR's `full_bw_reached`), or asks for none.
    pub is_full: bool,
    /// The state is CWR or Recovery (`tcp_in_cwnd_reduction`).
    pub reduces: bool,
    /// Packets SACKed or marked lost.
    pub marked: u32,
    /// `lost_out`: packets marked lost.
    pub lost_out: u32,
    /// More than a packet waits that the receiver can take, or one is marked lost.
    pub has_backlog: bool,
    /// Blocks of the last ACK that had some, ascending; empty ones come first (`recv_sack_cache`).
    pub sacks: [(u32, u32); MAX_SACK_BLOCKS],
    /// When the packet left that was sent last of those known to have arrived (RACK), and its round trip, us.
    pub last_sent: Nanos,
    /// See `last_sent`.
    pub last_rtt_us: u32,
    /// `high_seq`: a recovery ends there.
    pub high_seq: u32,
    /// Most packets that the peer has ever had room for.
    pub most_room: u32,
    /// `delivered` and `lost`: so many so far.
    pub delivered: u32,
    /// See `delivered`.
    pub lost: u32,
    /// `rtt_min`, us.
    pub min_rtt_us: u32,
    /// `rate_delivered` packets in `rate_interval_us`.
    pub rate_delivered: u32,
    /// See `rate_delivered`.
    pub rate_interval_us: u32,
    /// `mss_cache`, bytes.
    pub mss: u32,
    /// Packets of a new connection's first window.
    pub initial_window: u32,
    /// Packets delivered, and marked lost, of those that were sent since the path became [another](NewPath).
    pub path_delivered: u32,
    /// See `path_delivered`.
    pub path_lost: u32,
}

/// Why a congestion control starts anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anew {
    /// Advice has set the window; the flow's share of the path is told.
    WindowSet {
        /// Its rate, kbit/s.
        kbps: u32,
    },
    /// The window that advice had set was too large.
    Retreat {
        /// Packets that were found instead.
        found: u32,
        /// Advice had raised the window without an outage from this one, packets.
        before: Option<u32>,
    },
    /// The path is known, and the flow has filled its part of it.
    Claimed {
        /// The time of one packet in it.
        packet: Nanos,
        /// The path's round trip.
        rtt: Nanos,
    },
    /// A claim is over, in which others have set window and pace.
    ClaimOver {
        /// The control's own cut has ended it.
        cut: bool,
        /// It had raised the window without an outage, and this was refuted.
        refuted: bool,
        /// The window before that, packets, if its end refutes the raise.
        before: Option<u32>,
    },
    /// The control's own cut has refuted a raise without an outage, whose claim is over.
    Refuted {
        /// The window before it, packets.
        before: u32,
    },
    /// Nothing is known of the path.
    Unknown,
}

/// The path is another one, and nothing is known of it (RFC 9000, 9.4).
///
/// Window, threshold and estimator are those of a new connection. Packets of the old path count neither as under way nor
/// as delivered. Their losses cut nothing, and their round trips are no samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPath {
    /// RTO until the first sample.
    pub rto: Nanos,
    /// All that is outstanding is taken for lost.
    pub lost: bool,
}

/// An act of programs around a kernel's congestion control on its pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The sender paces by itself if nobody does (`SK_PACING_NEEDED`).
    Begins,
    /// Until something else changes it: bytes of payload a second (`sk_pacing_rate`).
    At(u64),
    /// The same, unless it is slower already.
    NoFasterThan(u64),
    /// The sender paces by itself if nobody does, at no more than so many bytes of payload a second
    /// (`SO_MAX_PACING_RATE`).
    AtMost(u64),
    /// It paces as it did before.
    Ends,
}

/// The floor of the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinRto {
    /// The stack's own.
    Own,
    /// At least this.
    AtLeast(Nanos),
}

/// Orders to a sender. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// Send the first unacknowledged packet now.
    pub retransmit_head: bool,
    /// Linux in place of that: cwnd is at least what is under way and one packet more. So the next packet that is lost
    /// and not yet sent again goes out now, else a new one (docs/internals/kernel.md).
    pub room_for_one: bool,
    /// New congestion window.
    pub cwnd: Option<Window256>,
    /// New slow-start threshold.
    pub ssthresh: Option<Window256>,
    /// New floor of the RTO.
    pub min_rto: Option<MinRto>,
    /// New number of duplicate ACKs that starts a fast retransmit.
    pub dupthresh: Option<u32>,
    /// Restart the retransmission timer at now + RTO.
    pub rearm_timer: bool,
    /// Let the running timer expire at its last start + RTO, but not in the past.
    pub extend_timer: bool,
    /// Undo the exponential back-off.
    pub clear_backoff: bool,
    /// Forget SRTT and RTTVAR; the RTO keeps its value until the next sample.
    pub reinit_rtt: bool,
    /// Answer to a fast retransmit: enter recovery without a cut of cwnd and ssthresh.
    pub keep_window: bool,
    /// Answer to a fast retransmit: cut ssthresh alone.
    pub keep_cwnd: bool,
    /// Answer to a timeout: cwnd falls, ssthresh stays.
    pub keep_ssthresh: bool,
    /// Retransmit no SACK holes until told to resume.
    pub hold_holes: bool,
    /// Send one new packet, whatever cwnd says (the receiver's window still binds).
    pub send_new: bool,
    /// With [`send_new`](Self::send_new): whatever the receiver's window says, too.
    pub beyond_window: bool,
    /// From now on no timer runs, and ACKs acknowledge and nothing else. They do not move cwnd and ssthresh, do not
    /// count as duplicates, and let nothing out. Only what is asked for is sent.
    pub suspend: bool,
    /// The end of that. The retransmission timer starts at now + RTO if something is outstanding.
    pub resume: bool,
    /// Back to normal SACK recovery.
    pub resume_recovery: bool,
    /// Answer to an RTT sample: do not use it.
    pub ignore_sample: bool,
    /// Acts that only a kernel's stack can do.
    pub kernel: KernelAdvice,
}

/// Orders to a sender that is a kernel's. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelAdvice {
    /// The one who says how fast packets leave.
    pub pace: Option<Pace>,
    /// The congestion control forgets what it knows of the path.
    pub anew: Option<Anew>,
    /// The path is another one.
    pub path: Option<NewPath>,
    /// Whether from now on no ACK moves cwnd, nor the end of a recovery.
    pub hold_window: Option<bool>,
    /// Send the first unacknowledged packet now; a copy of it that is under way is taken for lost.
    pub probe_head: bool,
    /// Whether from now on CUBIC keeps W_max at a timeout, and climbs back to it in a ninth of its time.
    pub keep_w_max: Option<bool>,
    /// Whether the path is about to change, for a control that prepares for it.
    pub path_changes_soon: Option<bool>,
    /// The path's smallest round trip is this one, for a control that keeps it (BBR).
    pub min_rtt: Option<Nanos>,
    /// Ask [`Advisor::on_deadline`] at once, which is told the time.
    pub ask_again: bool,
}

impl From<KernelAdvice> for Advice {
    fn from(kernel: KernelAdvice) -> Self {
        Self { kernel, ..Self::default() }
    }
}

/// Somebody outside TCP who is told of every event of one sender and may advise it.
///
/// Events are distinct calls, never merged. Each default is silence.
pub trait Advisor: Clone {
    /// Whether the advisor wants to be asked at all now. Plain TCP stays on its fast path.
    #[inline]
    fn listening(&self) -> bool {
        false
    }
    /// An ACK, new or duplicate, reports that packets `left..right` arrived twice (RFC 2883).
    /// Comes before the other calls for that ACK.
    fn on_dsack(&mut self, _left: u32, _right: u32) {}
    /// An ACK advanced `snd_una` (already done in `view`). Comes before [`Self::on_rtt_sample`].
    fn on_new_ack(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// A duplicate ACK in fast recovery.
    fn on_dup_ack(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// A fast retransmit of `snd_una` is about to cut the window.
    fn on_fast_retransmit(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// A mark of congestion has come back and is about to cut the window (RFC 3168; a kernel's alone).
    fn on_mark(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// The retransmission timer has expired and is about to cut the window.
    fn on_timeout(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// When [`Self::on_deadline`] wants to be called: an advisor may have timers of its own.
    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        None
    }
    /// The clock has reached [`Self::deadline`].
    fn on_deadline(&mut self, _now: Nanos, _view: &View) -> Advice {
        Advice::default()
    }
    /// Whether programs around a kernel's congestion control want to hear of [ACKs](Self::on_ack) and of what follows.
    #[inline]
    fn watching(&self) -> bool {
        false
    }
    /// Whether a kernel's congestion control is to see no slow start when it hears of a round trip. `recovers`: in fast
    /// recovery or RTO recovery.
    fn hides_slow_start(&self, _recovers: bool) -> bool {
        false
    }
    /// An ACK, once it has taken packets off the queue and before the state changes.
    fn on_ack(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// A cut is undone: the new cwnd, packets, in place of `cwnd`.
    fn on_undo(&mut self, _view: &View, cwnd: u32) -> u32 {
        cwnd
    }
    /// The state has become Open: another cwnd, packets.
    fn on_open(&mut self, _view: &View) -> Option<u32> {
        None
    }
    /// The timer has expired, the state is Loss.
    fn on_loss(&mut self) {}
    /// The window has been cut: the state is CWR, Recovery or Loss.
    fn on_cut(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// Whether it wants to be asked before packets leave.
    #[inline]
    fn claims(&self) -> bool {
        false
    }
    /// Packets may be about to leave, and cwnd and pace have not been looked at (`min_tso_segs`).
    fn before_sending(&mut self, _view: &View) -> Advice {
        Advice::default()
    }
    /// A bound of the RTO, ms; asked for after the calls above.
    fn rto_bound_ms(&self) -> Option<u32> {
        None
    }
    /// The ssthresh, packets, where advice keeps that of `before` the cut.
    fn kept(&self, before: u32, _cut: u32, _prior_cwnd: u32) -> u32 {
        before
    }
    /// An RTT sample of packet `seq`, a round trip of `rtt`, is about to be used.
    fn on_rtt_sample(&mut self, _view: &View, _seq: u32, _rtt: Nanos) -> Advice {
        Advice::default()
    }
}

/// Nobody advises.
impl Advisor for () {}
