//! Loss detection and recovery: which packet goes next, and what ACKs mean. One file per rule set.

mod newreno;
mod ns2_sack1;
mod rfc6675;
mod scoreboard;

use newreno::{NewReno, PartialAck};
use ns2_sack1::Ns2Sack1;
use rfc6675::Rfc6675;

use crate::Nanos;
use crate::advice::Advisor;
use crate::core::Core;
use crate::rules::RecoveryRules;
use crate::segment::Segment;

/// A rule set at work.
pub(crate) trait Recovery {
    /// An acceptable ACK has arrived. `counts`: it may count as a duplicate. Unless others have overtaken it, the
    /// congestion control hears of it once ([`Core::report_ack`]), before anything follows from it.
    fn on_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment, counts: bool);
    /// The retransmission timer has expired (before the window is cut).
    fn on_timeout<A: Advisor>(&mut self, core: &mut Core<A>);
    /// The packet that may be sent now, if any. Called until it answers `None`.
    fn next<A: Advisor>(&mut self, core: &mut Core<A>) -> Option<u32>;
    /// A packet that `next` did not choose is sent (forced by TCP or by advice).
    fn on_forced<A: Advisor>(&mut self, core: &mut Core<A>, seq: u32);
    /// Whether fast recovery is under way.
    fn in_fast_recovery(&self) -> bool;
    /// Packets that [`next`](Self::next) holds against the window now. In RTO recovery: what has been sent
    /// since the expiry and is not acknowledged, Linux's `tcp_packets_in_flight`.
    fn in_flight<A: Advisor>(&self, core: &Core<A>) -> u32;
    /// Whether a SACK block has reported an outstanding packet.
    fn is_sacked(&self, _seq: u32) -> bool {
        false
    }
}

/// A rule set, dispatched statically.
#[derive(Clone, Debug)]
#[repr(u8)] // the variant in a byte of its own, read for every packet
pub(crate) enum AnyRecovery {
    Ns2Sack1(Ns2Sack1),
    Rfc6675(Rfc6675),
    NewReno(NewReno),
}

impl AnyRecovery {
    pub(crate) fn new(rules: RecoveryRules) -> Self {
        match rules {
            RecoveryRules::Ns2Sack1 => Self::Ns2Sack1(Ns2Sack1::default()),
            RecoveryRules::Rfc6675 => Self::Rfc6675(Rfc6675::default()),
            RecoveryRules::NewReno => Self::NewReno(NewReno::new(PartialAck::Retransmits)),
            RecoveryRules::Reno => Self::NewReno(NewReno::new(PartialAck::EndsRecovery)),
        }
    }
}

impl AnyRecovery {
    /// Pipe from counters and counted packet by packet, where it is RFC 6675's.
    pub(crate) fn pipes(&self, snd_max: u32) -> Option<(u32, u32)> {
        match self {
            Self::Rfc6675(r) => Some(r.pipes(snd_max)),
            _ => None,
        }
    }
}

macro_rules! dispatch {
    ($self:ident, $inner:ident => $call:expr) => {
        match $self {
            AnyRecovery::Ns2Sack1($inner) => $call,
            AnyRecovery::Rfc6675($inner) => $call,
            AnyRecovery::NewReno($inner) => $call,
        }
    };
}

impl Recovery for AnyRecovery {
    #[inline]
    fn on_ack<A: Advisor>(&mut self, core: &mut Core<A>, now: Nanos, ack: &Segment, counts: bool) {
        dispatch!(self, r => r.on_ack(core, now, ack, counts));
    }

    fn on_timeout<A: Advisor>(&mut self, core: &mut Core<A>) {
        dispatch!(self, r => r.on_timeout(core));
    }

    #[inline(always)] // one caller
    fn next<A: Advisor>(&mut self, core: &mut Core<A>) -> Option<u32> {
        dispatch!(self, r => r.next(core))
    }

    #[inline]
    fn on_forced<A: Advisor>(&mut self, core: &mut Core<A>, seq: u32) {
        dispatch!(self, r => r.on_forced(core, seq));
    }

    #[inline]
    fn in_fast_recovery(&self) -> bool {
        dispatch!(self, r => r.in_fast_recovery())
    }

    fn in_flight<A: Advisor>(&self, core: &Core<A>) -> u32 {
        dispatch!(self, r => r.in_flight(core))
    }

    fn is_sacked(&self, seq: u32) -> bool {
        dispatch!(self, r => r.is_sacked(seq))
    }
}
