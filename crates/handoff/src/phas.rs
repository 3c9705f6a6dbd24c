//! PHAS, post-handoff acknowledgement suppression (Chou and Shin 2004, section III-B; algorithms.md, 6.2): a filter at
//! the mobile between TCP receiver and demultiplexer. ACKs of packets that a router held and forwarded do not go out
//! one by one. A sender whose timer expired during the handoff would take the first for the ACK of its retransmission.
//! It would then resend the rest, which the mobile has.
//!
//! The notice that ends the forwarding follows the last packet, whose ACK has been dropped by then. So the filter sends
//! the last ACK that it dropped, and ends (6.2 [C]). The branch of 6.2 for a notice that comes ahead of the packets is
//! not needed: a tunnel does not reorder. ACKs of packets that were not forwarded always pass. The paper drops those of
//! forwarded ones, and a lost notice must not silence the repair of a gap.

/// The filter of one flow.
#[derive(Clone, Debug)]
pub struct Phas {
    /// Whether the ACK that covers all is sent twice.
    extra_dup: bool,
    /// Whether the packet that came last was forwarded.
    forwarded: bool,
    /// The last ACK that was dropped since forwarding began.
    held: Option<u32>,
    /// The last ACK that the receiver made, passed or not.
    last_ack: u32,
}

impl Phas {
    /// The filter of a receiver whose last ACK was `last_ack`.
    pub fn new(extra_dup: bool, last_ack: u32) -> Self {
        Self { extra_dup, forwarded: false, held: None, last_ack }
    }

    /// A packet has come, before the receiver makes its ACK. `forwarded`: a router held it.
    pub fn on_packet(&mut self, forwarded: bool) {
        self.forwarded = forwarded;
    }

    /// Whether the receiver's `ack` goes out (6.2).
    pub fn on_ack(&mut self, ack: u32) -> bool {
        let duplicate = ack == self.last_ack;
        self.last_ack = ack;
        let passes = !self.forwarded || duplicate;
        if !passes {
            self.held = Some(ack);
        }
        passes
    }

    /// The notice "end of forwarding" has come: how many copies of the receiver's last ACK go out now (6.2 [C]).
    pub fn on_end(&mut self) -> u32 {
        let covers = self.held.take() == Some(self.last_ack);
        self.forwarded = false;
        if covers { 1 + u32::from(self.extra_dup) } else { 0 }
    }
}
