//! The layouts of `bpf/receiver.h`.

use std::net::{IpAddr, SocketAddr};

/// `SEGUE_RECEIVER_ACKS`
pub(super) const ACKS: u8 = 8;

/// `enum` of the map `counters`.
pub(super) const CLOSED: u32 = 0;
pub(super) const DROPPED: u32 = 1;
pub(super) const POKED: u32 = 2;
pub(super) const UNRESTORED: u32 = 3;

/// `struct segue_receiver_orders`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// Of CLOCK_BOOTTIME, ns, as the next.
    pub(super) closed_until: u64,
    pub(super) held_until: u64,
    pub(super) round: u32,
    pub(super) made_clsact: bool,
}

impl Orders {
    const SIZE: usize = 24;

    pub(super) fn bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.closed_until.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.held_until.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.round.to_ne_bytes());
        bytes[20..].copy_from_slice(&u32::from(self.made_clsact).to_ne_bytes());
        bytes
    }

    /// What another owner has left; `None`: not of this layout.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        Some(Self { closed_until: long(0), held_until: long(8), round: word(16), made_clsact: word(20) != 0 })
    }
}

/// `struct segue_receiver_state`, as far as the owner sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State([u8; 24]);

impl State {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Sets L of a handoff: the number of the octet behind it.
    pub(super) fn tell_last(&mut self, last: u32, round: u32) {
        self.0[8..12].copy_from_slice(&last.to_ne_bytes());
        self.0[12..16].copy_from_slice(&round.to_ne_bytes());
        // last_known, done
        (self.0[19], self.0[20]) = (1, 0);
    }

    pub(super) fn bytes(&self) -> &[u8; 24] {
        &self.0
    }
}

/// An address as the programs have it: IPv4 as IPv6 maps it.
pub(super) fn address(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
        IpAddr::V6(six) => six.octets(),
    }
}

/// `struct segue_receiver_flow`
pub(super) fn flow(local: SocketAddr, remote: SocketAddr) -> [u8; 36] {
    let mut bytes = [0; 36];
    bytes[..16].copy_from_slice(&address(remote.ip()));
    bytes[16..32].copy_from_slice(&address(local.ip()));
    bytes[32..34].copy_from_slice(&remote.port().to_be_bytes());
    bytes[34..].copy_from_slice(&local.port().to_be_bytes());
    bytes
}
