//! RFC 6069 from this host to itself: an ICMP "host unreachable" (IPv6: "no route") that quotes the
//! head of a flow makes Linux take back one back-off of its timer, and resend if it has expired.

use super::Error;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, sendto, socket_with};
use rustix::net::{SendFlags, SocketAddrV4, SocketAddrV6};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;

/// `struct segue_icmp_request` of bpf/intf.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) local: Ipv6Addr,
    pub(crate) remote: Ipv6Addr,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) snd_una: u32,
    pub(crate) copies: u32,
}

impl Request {
    const SIZE: usize = 44;

    pub(crate) fn parse(octets: &[u8]) -> Option<Self> {
        let octets: &[u8; Self::SIZE] = octets.get(..Self::SIZE)?.try_into().ok()?;
        let address = |at: usize| -> Option<Ipv6Addr> {
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(octets.get(at..at + 16)?).ok()?))
        };
        let short = |at: usize| u16::from_ne_bytes([octets[at], octets[at + 1]]);
        let long =
            |at: usize| u32::from_ne_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]);
        Some(Self {
            local: address(0)?,
            remote: address(16)?,
            local_port: short(32),
            remote_port: short(34),
            snd_una: long(36),
            copies: long(40),
        })
    }
}

/// Raw sockets of one network namespace.
#[derive(Debug)]
pub(crate) struct Icmp {
    v4: OwnedFd,
    v6: Option<OwnedFd>,
}

impl Icmp {
    /// In the namespace of the calling thread.
    pub(crate) fn open() -> Result<Self, Error> {
        let raw =
            |family, protocol| socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, Some(protocol));
        Ok(Self {
            v4: raw(AddressFamily::INET, ipproto::ICMP)
                .map_err(|problem| Error::io("opening a raw socket for ICMP", problem))?,
            // A machine without IPv6 has no flows over it.
            v6: raw(AddressFamily::INET6, ipproto::ICMPV6).ok(),
        })
    }

    /// Sends what was asked for. A flow that has gone meanwhile is no error, and an address that has gone, which may be
    /// another host's by now, is sent nothing: a socket cannot be bound to it.
    pub(crate) fn send(&self, request: &Request) {
        let copies = 0..request.copies.min(32);
        match (request.local.to_ipv4_mapped(), request.remote.to_ipv4_mapped()) {
            (Some(local), Some(remote)) => {
                let to = SocketAddrV4::new(local, 0);
                if bind(&self.v4, &to).is_ok() {
                    let message = unreachable_v4(request, local, remote);
                    for _ in copies {
                        let _ = sendto(&self.v4, &message, SendFlags::DONTROUTE, &to);
                    }
                }
            }
            _ => {
                let Some(v6) = &self.v6 else { return };
                let to = SocketAddrV6::new(request.local, 0, 0, 0);
                if bind(v6, &to).is_ok() {
                    let message = unreachable_v6(request);
                    for _ in copies {
                        let _ = sendto(v6, &message, SendFlags::DONTROUTE, &to);
                    }
                }
            }
        }
    }
}

/// The first octets of the segment that is quoted: ports and sequence number.
fn quoted_tcp(request: &Request) -> [u8; 8] {
    let mut tcp = [0; 8];
    tcp[..2].copy_from_slice(&request.local_port.to_be_bytes());
    tcp[2..4].copy_from_slice(&request.remote_port.to_be_bytes());
    tcp[4..].copy_from_slice(&request.snd_una.to_be_bytes());
    tcp
}

/// RFC 792: type 3, code 1, and the IPv4 header with eight octets of the segment.
fn unreachable_v4(request: &Request, local: Ipv4Addr, remote: Ipv4Addr) -> [u8; 36] {
    let mut packet = [0; 36];
    packet[0] = 3;
    packet[1] = 1;
    let quoted = &mut packet[8..28];
    quoted[0] = 0x45;
    quoted[2..4].copy_from_slice(&40u16.to_be_bytes());
    quoted[8] = 64;
    quoted[9] = 6;
    quoted[12..16].copy_from_slice(&local.octets());
    quoted[16..20].copy_from_slice(&remote.octets());
    packet[28..].copy_from_slice(&quoted_tcp(request));
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// RFC 4443: type 1, code 0, and the IPv6 header with the segment's beginning. The kernel writes the checksum.
fn unreachable_v6(request: &Request) -> [u8; 56] {
    let mut packet = [0; 56];
    packet[0] = 1;
    let quoted = &mut packet[8..48];
    quoted[0] = 0x60;
    quoted[4..6].copy_from_slice(&20u16.to_be_bytes());
    quoted[6] = 6;
    quoted[7] = 64;
    quoted[8..24].copy_from_slice(&request.local.octets());
    quoted[24..40].copy_from_slice(&request.remote.octets());
    packet[48..].copy_from_slice(&quoted_tcp(request));
    packet
}

/// RFC 1071.
fn checksum(packet: &[u8]) -> u16 {
    let words =
        packet.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_as_the_program_writes_it() {
        let mut octets = [0; Request::SIZE];
        octets[10..12].fill(0xff);
        octets[12..16].copy_from_slice(&[10, 0, 0, 1]);
        octets[26..28].fill(0xff);
        octets[28..32].copy_from_slice(&[10, 0, 0, 2]);
        octets[32..34].copy_from_slice(&80u16.to_ne_bytes());
        octets[34..36].copy_from_slice(&40_000u16.to_ne_bytes());
        octets[36..40].copy_from_slice(&0x0102_0304u32.to_ne_bytes());
        octets[40..].copy_from_slice(&3u32.to_ne_bytes());
        let request = Request::parse(&octets).expect("whole");
        assert_eq!(request.local.to_ipv4_mapped(), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!((request.local_port, request.remote_port), (80, 40_000));
        assert_eq!((request.snd_una, request.copies), (0x0102_0304, 3));
        assert_eq!(Request::parse(&octets[1..]), None);

        let packet = unreachable_v4(&request, Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        assert_eq!(checksum(&packet), 0, "RFC 1071: over all, the sum is nothing");
        assert_eq!(packet[20..28], [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(packet[28..], [0, 80, 0x9c, 0x40, 1, 2, 3, 4]);
    }
}
