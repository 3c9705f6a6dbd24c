//! RFC 6069 from this host to itself. An ICMP "host unreachable" (IPv6: "no route") quotes the head of a flow. It makes
//! Linux take back one back-off of the flow's timer, and resend if that has expired.

use super::Error;
use crate::layouts::segue_icmp_request;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, sendto, socket_with};
use rustix::net::{SendFlags, SocketAddrV4, SocketAddrV6};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use zerocopy::FromBytes;

/// A flow whose timer is to be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// IPv4 as IPv6 maps it, as the next.
    pub(crate) local: Ipv6Addr,
    pub(crate) remote: Ipv6Addr,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) snd_una: u32,
    pub(crate) copies: u32,
}

impl Request {
    /// As a program writes it into its ring; `None`: something else.
    pub(crate) fn parse(octets: &[u8]) -> Option<Self> {
        let (written, _) = segue_icmp_request::read_from_prefix(octets).ok()?;
        let segue_icmp_request { local, remote, local_port, remote_port, snd_una, copies } = written;
        let [local, remote] = [local, remote].map(Ipv6Addr::from);
        Some(Self { local, remote, local_port, remote_port, snd_una, copies })
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

    /// Sends what was asked for. A flow that has gone meanwhile is no error. An address that has gone may be another
    /// host's by now; a socket cannot be bound to it, so nothing is sent.
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
    use zerocopy::IntoBytes;

    /// RFC 792, RFC 1071.
    #[test]
    fn an_unreachable_quotes_the_head_of_the_flow() {
        let [local, remote] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let written = segue_icmp_request {
            local: local.to_ipv6_mapped().octets(),
            remote: remote.to_ipv6_mapped().octets(),
            local_port: 80,
            remote_port: 40_000,
            snd_una: 0x0102_0304,
            copies: 3,
        };
        let request = Request::parse(written.as_bytes()).expect("whole");
        assert_eq!(request.local.to_ipv4_mapped(), Some(local));
        assert_eq!(Request::parse(&written.as_bytes()[1..]), None);

        let packet = unreachable_v4(&request, local, remote);
        assert_eq!(packet[..2], [3, 1], "host unreachable");
        assert_eq!(checksum(&packet), 0, "RFC 1071: over all, the sum is nothing");
        assert_eq!(packet[20..28], [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(packet[28..], [0, 80, 0x9c, 0x40, 1, 2, 3, 4]);
    }
}
