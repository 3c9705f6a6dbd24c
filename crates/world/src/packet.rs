//! What the bench's packets carry.

use segue_handoff::fmipv6::Message;
use segue_netsim::Payload;
use segue_tcp::segment::{CarriedOption, SackList};
use segue_tcp::{Segment, Transmit};

/// A signal on the wire: an IPv6 header.
const SIGNAL_BYTES: u32 = 40;

/// What access routers and the mobile tell each other. A signal is no packet of a flow: hosts do not send or hear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// From the mobile: whatever is held for it may come (algorithms.md, 6.1).
    ForwardingRequest,
    /// From the router that held packets, behind the last of them: end of forwarding, last = L; L is the segment's
    /// number (6.1).
    EndOfForwarding,
    /// Of a fast handover or a binding (RFC 5568, RFC 6275).
    Mobility(Message),
}

/// A TCP segment under way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Flow it belongs to.
    pub flow: u16,
    /// Whether it goes from the sender to the mobile.
    pub data: bool,
    /// Whether its bytes were sent before.
    pub retransmission: bool,
    /// Whether a router has held it for the mobile.
    pub forwarded: bool,
    /// A message of the handoff in place of a TCP segment.
    pub signal: Option<Signal>,
    /// Bytes that links charge.
    pub bytes: u32,
    /// Number of this transmission among the flow's.
    pub copy: u32,
    /// The segment.
    pub segment: Segment,
}

impl Packet {
    /// What a sender puts on the wire.
    #[inline]
    pub fn data(flow: u16, sent: Transmit) -> Self {
        let Transmit { segment, bytes, copy, retransmission } = sent;
        Self { flow, data: true, retransmission, forwarded: false, signal: None, bytes, copy, segment }
    }

    /// What a receiver puts on the wire: a segment and the bytes that links charge for it.
    #[inline]
    pub fn ack(flow: u16, (segment, bytes): (Segment, u32)) -> Self {
        Self {
            flow,
            data: false,
            retransmission: false,
            forwarded: false,
            signal: None,
            bytes,
            copy: u32::MAX,
            segment,
        }
    }

    /// A message about `flow`; `last` is L of a notice that ends the forwarding, and of mobility signalling the number of
    /// the message.
    pub fn signal(flow: u16, signal: Signal, last: u32) -> Self {
        let segment = Segment {
            seq: last,
            ack: 0,
            window: 0,
            payload: 0,
            syn: false,
            push: false,
            has_ack: false,
            sack: SackList::default(),
            timestamps: None,
            option: CarriedOption::default(),
        };
        Self { signal: Some(signal), ..Self::ack(flow, (segment, SIGNAL_BYTES)) }
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
}
