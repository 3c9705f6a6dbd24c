//! A sender and a receiver of any stack: by rules that profiles choose, or as a kernel has them.

use crate::Nanos;
use crate::advice::{Advice, Advisor, View};
use crate::core::Counters;
use crate::linux::LinuxSender;
use crate::linux::cc::HyStartEnd;
use crate::linux::receiver::LinuxReceiver;
use crate::linux::wheel::TimerSlot;
use crate::profile::StackProfile;
use crate::receiver::{Arrival, Receiver};
use crate::segment::{CarriedOption, Segment};
use crate::sender::{Sender, Transmit};

/// [`Sender`] or [`LinuxSender`], as the profile says.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // the stack of most runs is not behind a pointer
pub enum AnySender<A> {
    /// A profile's rules.
    Rules(Sender<A>),
    /// The kernel's.
    Linux(Box<LinuxSender<A>>),
}

/// [`Receiver`] or [`LinuxReceiver`], as the profile says.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // the stack of most runs is not behind a pointer
pub enum AnyReceiver {
    /// A profile's rules.
    Rules(Receiver),
    /// The kernel's.
    Linux(Box<LinuxReceiver>),
}

macro_rules! each {
    ($any:expr, $tcp:ident => $call:expr) => {
        match $any {
            Self::Rules($tcp) => $call,
            Self::Linux($tcp) => $call,
        }
    };
}

/// Methods that both have.
macro_rules! forward {
    ($($(#[$meta:meta])* fn $name:ident(&$self:ident $(, $arg:ident: $of:ty)*) $(-> $result:ty)?;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of either.")]
            $(#[$meta])*
            pub fn $name(&$self $(, $arg: $of)*) $(-> $result)? {
                each!($self, tcp => tcp.$name($($arg),*))
            }
        )*
    };
}

macro_rules! forward_mut {
    ($($(#[$meta:meta])* fn $name:ident(&mut $self:ident $(, $arg:ident: $of:ty)*) $(-> $result:ty)?;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of either.")]
            $(#[$meta])*
            pub fn $name(&mut $self $(, $arg: $of)*) $(-> $result)? {
                each!($self, tcp => tcp.$name($($arg),*))
            }
        )*
    };
}

impl<A: Advisor> AnySender<A> {
    /// A closed sender. `clock_phase`: where in its tick the clock of a stack by rules
    /// stands at time zero.
    pub fn new(profile: &StackProfile, clock_phase: Nanos, advisor: A) -> Self {
        match profile.kernel {
            None => Self::Rules(Sender::new(profile, clock_phase, advisor)),
            Some(kernel) => Self::Linux(Box::new(LinuxSender::new(profile, kernel, advisor))),
        }
    }

    /// Where a kernel's transmit timer lies in the host's wheel.
    #[inline]
    pub fn place(&self) -> Option<TimerSlot> {
        match self {
            Self::Rules(_) => None,
            Self::Linux(tcp) => Some(tcp.place()),
        }
    }

    /// ICMP host unreachable about packet `seq` has come; whether it took a back-off of the timer back (RFC 6069).
    /// Only a kernel heeds it.
    pub fn on_unreachable(&mut self, now: Nanos, seq: u32) -> bool {
        match self {
            Self::Rules(_) => false,
            Self::Linux(tcp) => tcp.on_unreachable(now, seq),
        }
    }

    /// The advisor.
    pub fn advisor(&mut self) -> &mut A {
        each!(self, tcp => tcp.advisor())
    }

    /// The stack.
    pub fn profile(&self) -> &StackProfile {
        each!(self, tcp => tcp.profile())
    }

    /// Cuts that a kernel has taken back (`tcp_undo_cwnd_reduction`); none by a profile's rules.
    pub fn undos(&self) -> u32 {
        match self {
            Self::Rules(_) => 0,
            Self::Linux(tcp) => tcp.tally().undos,
        }
    }

    /// How HyStart ended slow start last; only a kernel's cubic has it.
    pub fn hystart_end(&self) -> Option<HyStartEnd> {
        match self {
            Self::Rules(_) => None,
            Self::Linux(tcp) => tcp.hystart_end(),
        }
    }

    forward_mut! {
        fn carry_on_syn(&mut self, option: CarriedOption);
        fn open(&mut self, packets: u32);
        #[inline]
        fn on_segment(&mut self, now: Nanos, segment: &Segment);
        fn on_timer(&mut self, now: Nanos) -> bool;
        fn enact(&mut self, now: Nanos, advice: &Advice);
        fn send(&mut self, now: Nanos, seq: u32) -> Option<Transmit>;
        #[inline(always)] // the packet is made where it will lie
        fn poll_transmit(&mut self, now: Nanos) -> Option<Transmit>;
    }

    /// The sender as an advisor sees it at `now`, whenever it has heard something last.
    pub fn view_at(&mut self, now: Nanos) -> View {
        match self {
            Self::Rules(tcp) => tcp.view(),
            Self::Linux(tcp) => tcp.view_at(now),
        }
    }

    /// Gives the next packet to `put`. Each of the two calls `put` itself: a packet that came out of the choice between
    /// them would lie in memory, and be copied.
    #[inline(always)] // so that a packet is made where it will lie
    pub fn transmit_with<R>(&mut self, now: Nanos, put: impl FnOnce(Transmit) -> R) -> Option<R> {
        match self {
            Self::Rules(tcp) => tcp.transmit_with(now, put),
            Self::Linux(tcp) => tcp.poll_transmit(now).map(put),
        }
    }

    forward! {
        #[inline]
        fn deadline(&self) -> Option<Nanos>;
        fn view(&self) -> View;
        #[inline]
        fn counters(&self) -> Counters;
        #[inline]
        fn snd_una(&self) -> u32;
        #[inline]
        fn snd_max(&self) -> u32;
        fn head_copy(&self) -> u32;
        fn is_established(&self) -> bool;
        fn sent_at(&self, now: Nanos, seq: u32) -> Nanos;
        fn is_sacked(&self, seq: u32) -> bool;
        fn min_rtt(&self) -> Option<Nanos>;
        fn has_new(&self) -> bool;
        fn has_data(&self) -> bool;
        fn has_unsent_data(&self) -> bool;
        fn in_flight(&self) -> u32;
        fn pipes(&self) -> Option<(u32, u32)>;
        fn in_rto_recovery(&self) -> bool;
        fn timing(&self) -> (Option<Nanos>, Nanos, Nanos);
        fn window(&self) -> u32;
    }
}

impl AnyReceiver {
    /// A receiver that waits for the SYN.
    pub fn new(profile: &StackProfile) -> Self {
        match profile.kernel {
            None => Self::Rules(Receiver::new(profile)),
            Some(kernel) => Self::Linux(Box::new(LinuxReceiver::new(profile, kernel))),
        }
    }

    /// Where a kernel's timer lies in the host's wheel.
    #[inline]
    pub fn place(&self) -> Option<TimerSlot> {
        match self {
            Self::Rules(_) => None,
            Self::Linux(tcp) => Some(tcp.place()),
        }
    }

    forward_mut! {
        fn set_dsack(&mut self, on: bool);
        fn set_window(&mut self, window: u32);
        fn set_bound(&mut self, bound: Option<u32>);
        fn announce_window(&mut self, now: Nanos);
        fn carry(&mut self, option: CarriedOption);
        #[inline]
        fn on_segment(&mut self, now: Nanos, segment: &Segment) -> Option<Arrival>;
        fn on_timer(&mut self, now: Nanos);
        #[inline]
        fn poll_transmit(&mut self) -> Option<(Segment, u32)>;
        fn notify(&mut self, now: Nanos, option: CarriedOption) -> (Segment, u32);
    }

    /// Whether an ACK is to be sent now, as far as that is easily told.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        match self {
            Self::Rules(tcp) => tcp.may_transmit(),
            Self::Linux(_) => true,
        }
    }

    /// Gives the ACK to be sent now to `put`, as [`AnySender::transmit_with`] does with packets.
    #[inline(always)] // so that a packet is made where it will lie
    pub fn transmit_with<R>(&mut self, put: impl FnOnce((Segment, u32)) -> R) -> Option<R> {
        match self {
            Self::Rules(tcp) => tcp.transmit_with(put),
            Self::Linux(tcp) => tcp.poll_transmit().map(put),
        }
    }

    forward! {
        #[inline]
        fn rcv_nxt(&self) -> u32;
        #[inline]
        fn last_ack(&self) -> u32;
        fn received(&self) -> u32;
        fn window(&self) -> u32;
        fn bound(&self) -> Option<u32>;
        fn as_crafted(&self, ack: &Segment) -> (Segment, u32);
        fn plain_ack(&self, now: Nanos) -> (Segment, u32);
        fn beside(&self, ack: &Segment, option: CarriedOption) -> Option<(Segment, u32)>;
        fn has(&self, seq: u32) -> bool;
        #[inline]
        fn deadline(&self) -> Option<Nanos>;
    }
}
