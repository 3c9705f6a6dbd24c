//! The layouts of `bpf/mobile.h`.

use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `SEGUE_MOBILE_COPIES`
pub(super) const COPIES: u8 = 8;
/// `SEGUE_TALLY_LENGTH`
pub(super) const TALLY: usize = 6;

/// `SEGUE_TALLY_LATER`
pub(super) const LATER: usize = 5;

/// `struct segue_mobile_orders`
#[derive(Clone, Copy)]
pub(super) struct Orders {
    pub(super) link: Link,
    pub(super) round: u32,
    pub(super) kind: ReportType,
    pub(super) copies: u8,
    pub(super) way: super::Way,
    pub(super) all: bool,
}

impl Orders {
    pub(super) fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.link.rate_kbps.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.link.delay_us.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.round.to_ne_bytes());
        bytes[12..].copy_from_slice(&[self.kind as u8, self.copies, self.way as u8, u8::from(self.all)]);
        bytes
    }
}

/// `struct segue_mobile_ack`: a connection whose ACKs are to be crafted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ack {
    pub(super) remote: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) seq: u32,
    pub(super) ack: u32,
    /// TSval and TSecr (RFC 7323), if negotiated.
    pub(super) stamps: Option<(u32, u32)>,
    pub(super) mark: u32,
    /// Interface that the socket is bound to; 0: none.
    pub(super) device: u32,
    pub(super) window: u16,
    pub(super) nonce: u16,
    pub(super) report: u8,
    pub(super) copies: u8,
}

impl Ack {
    pub(super) const SIZE: usize = 68;

    pub(super) fn read(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let ipv6 = bytes[64] != 0;
        let address = |at: usize| {
            let octets: [u8; 16] = std::array::from_fn(|i| bytes[at + i]);
            if ipv6 {
                // an IPv6 socket may carry an IPv4 connection
                Ipv6Addr::from(octets).to_canonical()
            } else {
                IpAddr::V4(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]))
            }
        };
        Self {
            remote: SocketAddr::new(address(0), half(56)),
            local: SocketAddr::new(address(16), half(58)),
            seq: word(32),
            ack: word(36),
            stamps: (bytes[65] != 0).then(|| (word(40), word(44))),
            mark: word(48),
            device: word(52),
            window: half(60),
            nonce: half(62),
            report: bytes[66],
            copies: bytes[67],
        }
    }
}
