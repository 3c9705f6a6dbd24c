//! Addresses of a TCP packet, and the number by which IPv4 names TCP.

use std::net::Ipv4Addr;

/// TCP's protocol number (RFC 9293, 3.1).
pub(super) const PROTOCOL_TCP: u8 = 6;

/// Where a packet comes from and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv4Addresses {
    /// Sender.
    pub source: Ipv4Addr,
    /// Receiver.
    pub destination: Ipv4Addr,
}

impl Ipv4Addresses {
    /// The way back.
    pub fn reversed(self) -> Self {
        Ipv4Addresses { source: self.destination, destination: self.source }
    }
}
