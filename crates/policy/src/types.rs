//! `policy/policy.h` in Rust: the notice, the sender at the event, the action.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// One packet, in the unit of windows.
pub const PACKET: u32 = 256;

/// One access link.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link {
    /// Rate in kbit/s.
    pub rate_kbps: u32,
    /// One-way propagation delay in us.
    pub delay_us: u32,
}

/// A handoff has completed (algorithms.md 0, "Notification content").
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Notice {
    /// The link before.
    pub old_link: Link,
    /// The link from now on.
    pub new_link: Link,
    /// N: flows that share the access link; 0 counts as 1.
    pub flows: u32,
    /// 1 after a break-before-make handoff.
    pub disconnected: u32,
}

/// A sender at the event; the host fills it anew for each call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sender {
    /// First unacknowledged; at an ACK: after its advance.
    pub snd_una: u32,
    /// Highest ever sent, plus one.
    pub snd_max: u32,
    /// Packets sent and not cumulatively acknowledged.
    pub flight: u32,
    /// Congestion window, 1/256 packet.
    pub cwnd: u32,
    /// Slow-start threshold, 1/256 packet.
    pub ssthresh: u32,
    /// RTO without back-off, us.
    pub rto_us: u32,
    /// ssthresh after the cut of the first expiry of the present head; 0: none.
    pub ssthresh_saved: u32,
    /// SRTT at the first expiry since `snd_una` advanced, us; 0: none.
    pub srtt_before_us: u32,
    /// Expiries of the timer since `snd_una` advanced.
    pub timeouts_since_ack: u32,
    /// 1 in fast recovery.
    pub in_fast_recovery: u8,
    /// 1 in RTO recovery.
    pub in_rto_recovery: u8,
    /// 1 at a notice without an outage, if another one came shortly before.
    pub notified_lately: u8,
    /// Not used.
    pub pad: u8,
}

/// Requests of the policy: a set of the flags below. A host that is asked for several things does them in this order.
#[repr(transparent)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct What(pub u32);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl What {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)*

            /// Every flag with its name.
            pub const NAMES: &[(Self, &str)] = &[$((Self::$name, stringify!($name)),)*];
        }
    };
}

flags! {
    /// Forget srtt and rttvar; the RTO keeps its value.
    REINIT_RTT = 0;
    /// `min_rto_us` is the new floor of the RTO; 0: the stack's own again.
    SET_MIN_RTO = 1;
    /// Set cwnd.
    SET_CWND = 2;
    /// Set ssthresh.
    SET_SSTHRESH = 3;
    /// Set dupthresh.
    SET_DUPTHRESH = 4;
    /// The RTO is its base value again; the head counts as expired once.
    CLEAR_BACKOFF = 5;
    /// rto = max(rto, floor); a running timer expires at now + rto.
    REARM_TIMER = 6;
    /// rto = max(rto, floor); a running timer expires at its last start + rto, never
    /// in the past. Only with `a1-from-last-start`.
    EXTEND_TIMER = 7;
    /// Resend the first unacknowledged segment now.
    RETRANSMIT_HEAD = 8;
    /// Answer to a fast retransmit: cut neither cwnd nor ssthresh.
    KEEP_WINDOW = 9;
    /// Answer to a fast retransmit: cut ssthresh alone. Only without
    /// `recovery-keeps-ssthresh`.
    KEEP_CWND = 10;
    /// Answer to a timeout: cwnd falls to one as ever, ssthresh stays.
    KEEP_SSTHRESH = 11;
    /// Fast recovery resends no SACK hole; said at every event until `RESUME_RECOVERY`.
    HOLD_HOLES = 12;
    /// SACK recovery as usual from here on.
    RESUME_RECOVERY = 13;
    /// One new segment whatever cwnd says; the receiver's window binds.
    SEND_NEW = 14;
    /// This RTT sample is not to be used.
    IGNORE_SAMPLE = 15;
    /// Until its end the policy's claim says before packets leave how many may be out, and how fast they leave.
    CLAIM = 16;
}

impl What {
    /// Carry on as if no policy were there.
    pub const NOTHING: Self = Self(0);

    /// Whether all of `other` is asked for.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is asked for.
    pub const fn is_nothing(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for What {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for What {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nothing() {
            return f.write_str("NOTHING");
        }
        let mut between = "";
        for (flag, name) in Self::NAMES {
            if self.has(*flag) {
                write!(f, "{between}{name}")?;
                between = " | ";
            }
        }
        Ok(())
    }
}

/// A sender that is about to send, while a claim lasts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Out {
    /// First unacknowledged.
    pub snd_una: u32,
    /// Sequence numbers per packet.
    pub unit: u32,
    /// Packets SACKed or lost.
    pub marked: u32,
    /// Packets marked lost, until they are acknowledged or SACKed.
    pub lost: u32,
    /// Highest ever sent, plus one.
    pub snd_max: u32,
    /// The group's other flows.
    pub others: u32,
    /// The sum of their [`Claim::behind`].
    pub others_behind: i32,
    /// The sum of their [`Claim::weight`].
    pub others_weight: u32,
    /// Packets: the window that the host adds [`Claim::extra_packets`] to.
    pub granted: u32,
    /// Blocks of the last ACK that had some, in order, each with its end; empty ones tell nothing.
    pub sacks: [[u32; 2]; 4],
    /// Since the notice.
    pub elapsed_ms: u32,
    /// Round trip of the last packet to arrive that was sent since then; 0: none has.
    pub rtt_us: u32,
    /// When that packet left, by the clock of `now_us`.
    pub sent_us: u32,
    /// Now.
    pub now_us: u32,
    /// Packets so far, each as often as it was sent.
    pub sent: u32,
}

/// A claim's answer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Packets that may be out in addition to the granted window.
    pub extra_packets: u32,
    /// Packets that may not be out, because other flows need their room.
    pub withheld_packets: u32,
    /// Pace with headers, kbit/s.
    pub kbps: u32,
    /// Packets that this flow has to catch up with the others of its group.
    pub behind: i32,
    /// The flow's weight among them.
    pub weight: u32,
    /// At the end: there is competing traffic.
    pub competing_traffic: u32,
}

/// The answer to one event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Action {
    /// Which of the fields count, and what to do besides.
    pub what: What,
    /// For [`What::SET_CWND`], 1/256 packet.
    pub cwnd: u32,
    /// For [`What::SET_SSTHRESH`], 1/256 packet.
    pub ssthresh: u32,
    /// For [`What::SET_MIN_RTO`], us.
    pub min_rto_us: u32,
    /// For [`What::SET_DUPTHRESH`], packets.
    pub dupthresh: u32,
    /// Which rules are behind it ([`crate::rules`]); changes nothing.
    pub rules: u32,
}

impl Action {
    /// Carry on as if no policy were there.
    pub const NOTHING: Self =
        Self { what: What::NOTHING, cwnd: 0, ssthresh: 0, min_rto_us: 0, dupthresh: 0, rules: 0 };

    /// Whether all of `what` is asked for.
    pub const fn has(&self, what: What) -> bool {
        self.what.has(what)
    }
}
