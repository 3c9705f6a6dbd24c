//! What the bench's packets carry.

use segue_netsim::Payload;
use segue_tcp::{Segment, Transmit};

/// A TCP segment under way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Flow it belongs to.
    pub flow: u16,
    /// Whether it goes from the sender to the mobile.
    pub data: bool,
    /// Whether its bytes were sent before.
    pub retransmission: bool,
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
        Self { flow, data: true, retransmission, bytes, copy, segment }
    }

    /// What a receiver puts on the wire: a segment and the bytes that links charge for it.
    #[inline]
    pub fn ack(flow: u16, (segment, bytes): (Segment, u32)) -> Self {
        Self { flow, data: false, retransmission: false, bytes, copy: u32::MAX, segment }
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
}
