//! The layouts of `bpf/mobile.h`.

use segue_policy::Link;
use segue_policy::wire::ReportType;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `SEGUE_MOBILE_COPIES`
pub(super) const COPIES: u8 = 8;
/// `SEGUE_SCOPE_PREFIXES`
pub(super) const PREFIXES: usize = 1024;

/// Elements of the map `tally`, `SEGUE_TALLY_*`: numbers of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) poked: u32,
    pub(super) unrestored: u32,
    pub(super) acked: u32,
    pub(super) unwritten: u32,
    pub(super) unnegotiated: u32,
    pub(super) closing: u32,
    pub(super) later: u32,
    pub(super) unpaid: u32,
    pub(super) marked: u32,
    pub(super) negotiated: u32,
    pub(super) uploads: u32,
    pub(super) pushed: u32,
}

impl Tally {
    pub(super) const LENGTH: usize = 12;

    pub(super) fn read(counts: [u32; Self::LENGTH]) -> Self {
        let [
            poked,
            unrestored,
            acked,
            unwritten,
            unnegotiated,
            closing,
            later,
            unpaid,
            marked,
            negotiated,
            uploads,
            pushed,
        ] = counts;
        Self {
            poked,
            unrestored,
            acked,
            unwritten,
            unnegotiated,
            closing,
            later,
            unpaid,
            marked,
            negotiated,
            uploads,
            pushed,
        }
    }
}

/// `SEGUE_OTHERS_*`: what becomes of connections that a walk does not tell at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    Wait = 0,
    Told = 1,
    Marked = 2,
}

/// `struct segue_mobile_orders`
#[derive(Clone, Copy)]
pub(super) struct Orders {
    pub(super) since: u64,
    pub(super) link: Link,
    pub(super) first: Link,
    pub(super) round: u32,
    pub(super) budget: u32,
    pub(super) kind: ReportType,
    pub(super) copies: u8,
    pub(super) way: super::Way,
    pub(super) others: Others,
    /// Whether flows of this host that wait for their timers are listed, too.
    pub(super) uploads: bool,
    /// And what they have queued, with nothing under way, is sent.
    pub(super) pushes: bool,
}

impl Orders {
    pub(super) fn bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&self.since.to_ne_bytes());
        let words = [
            self.link.rate_kbps,
            self.link.delay_us,
            self.first.rate_kbps,
            self.first.delay_us,
            self.round,
            self.budget,
        ];
        for (at, word) in bytes[8..32].chunks_exact_mut(4).zip(words) {
            at.copy_from_slice(&word.to_ne_bytes());
        }
        let last = [
            self.kind as u8,
            self.copies,
            self.way as u8,
            self.others as u8,
            u8::from(self.uploads),
            u8::from(self.pushes),
        ];
        bytes[32..38].copy_from_slice(&last);
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
    /// A flow of this host that waits: how often its timer has backed off, and the first octet that is not acknowledged.
    pub(super) waits: Option<(u8, u32)>,
}

impl Ack {
    pub(super) const SIZE: usize = 76;

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
            waits: (bytes[68] != 0).then(|| (bytes[68], word(72))),
        }
    }
}
