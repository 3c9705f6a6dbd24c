//! The content of the bench's packets.

use segue_handoff::fmipv6::Message;
use segue_netsim::{Codepoint, Payload};
use segue_tcp::segment::{CarriedOption, Ecn, SackList};
use segue_tcp::{Segment, Transmit};

/// A signal on the wire: an IPv6 header.
const SIGNAL_BYTES: u32 = 40;
/// ICMP unreachable on the wire: an IPv4 header and ICMP's, and of the packet that it quotes the IPv4 header and 8
/// bytes (RFC 792).
const UNREACHABLE_BYTES: u32 = 20 + 8 + 20 + 8;

/// Messages between access routers and the mobile. A signal is no packet of a flow: hosts do not send or hear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// From the mobile: whatever is held for it may come (algorithms.md, 6.1).
    ForwardingRequest,
    /// From the router that held packets, behind the last of them: end of forwarding, last = L; L is the segment's
    /// number (6.1).
    EndOfForwarding,
    /// From the mobile to a sender: host unreachable, about the packet whose number the segment has (RFC 6069).
    Unreachable,
    /// From the mobile: its SYN of a connection that is opened anew.
    Open,
    /// A message of a fast handover or a binding (RFC 5568, RFC 6275).
    Mobility(Message),
}

/// A TCP segment under way.
///
/// Fields of every packet lie in one cache line; SACK blocks and signals, which few have, in the next. A packet is
/// written where it lies ([`Payload::write`]), so that a data packet costs one line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Bytes that links charge.
    pub bytes: u32,
    /// Number of this transmission among the flow's.
    pub copy: u32,
    /// Flow it belongs to.
    pub flow: u16,
    /// Whether it goes from the sender to the mobile.
    pub data: bool,
    /// Whether its bytes were sent before.
    pub retransmission: bool,
    /// Whether a router has held it for the mobile.
    pub forwarded: bool,
    /// Whether it is one of two copies, each on a link of its own.
    pub twin: bool,
    /// Whether `message` means something.
    is_signal: bool,
    /// The segment.
    pub segment: Segment,
    message: Signal,
}

const _: () =
    assert!(std::mem::offset_of!(Packet, segment.sack) < 64, "the number of SACK blocks in the first line");

impl Packet {
    /// A segment that a sender puts on the wire.
    #[inline(always)] // the packet is made where it will lie
    pub fn data(flow: u16, sent: Transmit) -> Self {
        let Transmit { segment, bytes, copy, retransmission } = sent;
        Self { data: true, retransmission, copy, ..Self::ack(flow, (segment, bytes)) }
    }

    /// A segment that a receiver puts on the wire, and the bytes that links charge for it.
    #[inline(always)] // the packet is made where it will lie
    pub fn ack(flow: u16, (segment, bytes): (Segment, u32)) -> Self {
        Self {
            bytes,
            copy: u32::MAX,
            flow,
            data: false,
            retransmission: false,
            forwarded: false,
            twin: false,
            is_signal: false,
            segment,
            message: Signal::ForwardingRequest,
        }
    }

    /// A message about `flow`. `last` is the packet that is unreachable, or L of a notice that ends the forwarding. For
    /// mobility signalling it is the number of the message.
    pub fn of_signal(flow: u16, message: Signal, last: u32) -> Self {
        let segment = Segment {
            seq: last,
            ack: 0,
            window: 0,
            payload: 0,
            syn: false,
            push: false,
            has_ack: false,
            detail: Default::default(),
            ecn: Default::default(),
            sack: SackList::default(),
            timestamps: None,
            option: CarriedOption::default(),
        };
        let bytes = if message == Signal::Unreachable { UNREACHABLE_BYTES } else { SIGNAL_BYTES };
        Self { is_signal: true, message, ..Self::ack(flow, (segment, bytes)) }
    }

    /// The message of the handoff that it is in place of a TCP segment.
    #[inline]
    pub fn signal(&self) -> Option<Signal> {
        self.is_signal.then_some(self.message)
    }

    /// Whether it is a sender's ACK without data, which a kernel ends the handshake with and answers old segments with.
    /// A window probe has a number below `rcv_nxt`, what the receiver expects.
    pub fn is_bare_ack(&self, rcv_nxt: u32) -> bool {
        self.is_probe() && self.segment.seq >= rcv_nxt
    }

    /// Whether it is a window probe: from a sender, without data.
    pub fn is_probe(&self) -> bool {
        self.data && !self.segment.is_data()
    }
}

impl Payload for Packet {
    #[inline]
    fn size(&self) -> u32 {
        self.bytes
    }

    #[inline]
    fn flow(&self) -> u16 {
        self.flow
    }

    #[inline]
    fn ecn(&self) -> Codepoint {
        match self.segment.ecn {
            ecn if ecn.says(Ecn::CE) => Codepoint::Ce,
            ecn if ecn.says(Ecn::ECT) => Codepoint::Ect,
            _ => Codepoint::NotEct,
        }
    }

    fn mark(&mut self) {
        self.segment.ecn = self.segment.ecn.and(Ecn::CE);
    }

    #[inline]
    fn blank() -> Option<Self> {
        Some(Self::of_signal(0, Signal::ForwardingRequest, 0))
    }

    #[inline(always)] // so that a packet is made where it will lie
    fn write(self, place: &mut Self) {
        let Self { bytes, copy, flow, data, retransmission, forwarded, twin, is_signal, segment, message } =
            self;
        place.bytes = bytes;
        place.copy = copy;
        place.flow = flow;
        place.data = data;
        place.retransmission = retransmission;
        place.forwarded = forwarded;
        place.twin = twin;
        place.is_signal = is_signal;
        if is_signal {
            place.message = message;
        }
        segment.write(&mut place.segment);
    }
}
