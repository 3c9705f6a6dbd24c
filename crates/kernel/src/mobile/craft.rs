//! Packets built here and sent through a raw socket. They are ACKs with a report, for kernels and segments in which the
//! kernel's own ACKs have no place for the option. These ACKs are pure ones with time stamps, and no SACK block
//! (docs/reference/wire.md). And what peers without capability are sent after an outage ([`super::resume`]): plain
//! ACKs, and ICMP messages.

use super::Error;
use super::records::{Ack, Ends};
use etherparse::{
    Icmpv4Type, Icmpv6Type, IpHeaders, IpNumber, Ipv4Header, Ipv6Header, PacketBuilder, PacketBuilderStep,
    icmpv4, icmpv6,
};
use nix::libc;
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6,
    sendmsg, setsockopt, socket, sockopt,
};
use segue_policy::Link;
use segue_policy::wire::{Report, ReportType};
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

/// The usual default of hosts (RFC 1700); a router on the way needs no more.
const TTL: u8 = 64;

/// The IP header.
fn ip(ends: &Ends) -> Result<PacketBuilderStep<IpHeaders>, Error> {
    match (ends.local.ip(), ends.remote.ip()) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => {
            Ok(PacketBuilder::ipv4(local.octets(), remote.octets(), TTL))
        }
        (IpAddr::V6(local), IpAddr::V6(remote)) => {
            Ok(PacketBuilder::ipv6(local.octets(), remote.octets(), TTL))
        }
        _ => Err(Error::Families(ends.local, ends.remote)),
    }
}

/// A pure ACK, from the IP header on: (sequence number, ACK number), window, time stamps, options behind them.
pub(super) fn pure_ack(
    ends: &Ends,
    numbers: (u32, u32),
    window: u16,
    stamps: Option<(u32, u32)>,
    more: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut options = Vec::with_capacity(24);
    if let Some((value, echo)) = stamps {
        // RFC 7323, appendix A: two NOPs align them
        options.extend([1, 1, 8, 10]);
        options.extend(value.to_be_bytes());
        options.extend(echo.to_be_bytes());
    }
    options.extend(more);
    let (seq, ack) = numbers;
    let builder = ip(ends)?
        .tcp(ends.local.port(), ends.remote.port(), seq, window)
        .ack(ack)
        .options_raw(&options)
        .expect("at most 24 octets of 40");
    let mut packet = Vec::with_capacity(builder.size(0));
    builder.write(&mut packet, &[]).expect("a vector grows, and no payload is too long");
    Ok(packet)
}

/// The ACK that carries a report.
pub(super) fn packet(ack: &Ack, link: Link, kind: ReportType) -> Result<Vec<u8>, Error> {
    let report = Report { kind, seq: ack.report, nonce: ack.nonce, link }.encode().map_err(Error::Report)?;
    pure_ack(&ack.ends, (ack.seq, ack.ack), ack.window, ack.stamps, &report)
}

/// Host unreachable (RFC 792: type 3, code 1; RFC 4443: type 1, code 0) to the peer, about its segment of this sequence
/// number.
pub(super) fn unreachable(ends: &Ends, number: u32) -> Result<Vec<u8>, Error> {
    use icmpv4::DestUnreachableHeader::Host;
    use icmpv6::DestUnreachableCode::NoRoute;
    message(
        ends,
        number,
        Icmpv4Type::DestinationUnreachable(Host),
        Icmpv6Type::DestinationUnreachable(NoRoute),
    )
}

/// Fragmentation needed (RFC 1191: 3, 4) or packet too big (RFC 4443: 2) to the peer, about its segment
/// of this number. The path takes no more than `mtu` octets.
pub(super) fn too_big(ends: &Ends, number: u32, mtu: u16) -> Result<Vec<u8>, Error> {
    let needed = icmpv4::DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: mtu };
    let ipv6 = Icmpv6Type::PacketTooBig { mtu: mtu.into() };
    message(ends, number, Icmpv4Type::DestinationUnreachable(needed), ipv6)
}

/// A message about the peer's segment of this sequence number. It quotes the segment's IP header, and as much of TCP's
/// as RFC 792 asks for.
fn message(ends: &Ends, number: u32, ipv4: Icmpv4Type, ipv6: Icmpv6Type) -> Result<Vec<u8>, Error> {
    /// TCP's header: the length that the quoted IP header tells.
    const HEADER: u16 = 20;
    let mut quoted = Vec::with_capacity(48);
    match (ends.local.ip(), ends.remote.ip()) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => {
            Ipv4Header::new(HEADER, TTL, IpNumber::TCP, remote.octets(), local.octets())
                .expect("a short packet")
                .write(&mut quoted)
                .expect("a vector grows");
        }
        (IpAddr::V6(local), IpAddr::V6(remote)) => Ipv6Header {
            payload_length: HEADER,
            next_header: IpNumber::TCP,
            hop_limit: TTL,
            source: remote.octets(),
            destination: local.octets(),
            ..Ipv6Header::default()
        }
        .write(&mut quoted)
        .expect("a vector grows"),
        _ => return Err(Error::Families(ends.local, ends.remote)),
    }
    quoted.extend(ends.remote.port().to_be_bytes());
    quoted.extend(ends.local.port().to_be_bytes());
    quoted.extend(number.to_be_bytes());
    let mut packet = Vec::with_capacity(104);
    let ip = ip(ends)?;
    match ends.local {
        SocketAddr::V4(_) => ip.icmpv4(ipv4).write(&mut packet, &quoted),
        SocketAddr::V6(_) => ip.icmpv6(ipv6).write(&mut packet, &quoted),
    }
    .expect("a vector grows, and no payload is too long");
    Ok(packet)
}

/// Raw sockets of the network namespace in which they were opened, which is when they are first needed.
#[derive(Default)]
pub(super) struct Sender {
    ipv4: Option<RawSocket>,
    ipv6: Option<RawSocket>,
}

impl Sender {
    /// Sends the connection's copies. `before`: the link of a first report that goes ahead.
    pub(super) fn send(
        &mut self,
        ack: &Ack,
        link: Link,
        kind: ReportType,
        before: Link,
    ) -> Result<(), Error> {
        let notice = packet(ack, link, kind)?;
        for copy in 0..ack.copies {
            let packet = match ack.ahead && copy == 0 {
                true => &packet(&Ack { report: 0, ..*ack }, before, ReportType::First)?,
                false => &notice,
            };
            self.send_packet(&ack.ends, packet)?;
        }
        Ok(())
    }

    /// Sends one copy by this device, whatever the connection's route.
    pub(super) fn send_over(
        &mut self,
        device: u32,
        ack: &Ack,
        link: Link,
        kind: ReportType,
    ) -> Result<(), Error> {
        let packet = packet(ack, link, kind)?;
        self.send_packet(&Ends { device, ..ack.ends }, &packet)
    }

    /// Sends a packet to a connection's peer.
    pub(super) fn send_packet(&mut self, ends: &Ends, packet: &[u8]) -> Result<(), Error> {
        self.try_packet(ends, packet).map_err(|source| Error::Send { remote: ends.remote, source })
    }

    fn try_packet(&mut self, ends: &Ends, packet: &[u8]) -> io::Result<()> {
        let data = [IoSlice::new(packet)];
        // A queue that stands still must not hold up the agent.
        let at_once = MsgFlags::MSG_DONTWAIT;
        // The source address and the device choose the route, as they do for the connection's own segments.
        match (ends.local.ip(), ends.remote.ip()) {
            (IpAddr::V4(local), IpAddr::V4(remote)) => {
                let info = libc::in_pktinfo {
                    ipi_ifindex: ends.device as i32,
                    ipi_spec_dst: libc::in_addr { s_addr: u32::from_ne_bytes(local.octets()) },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                let socket = RawSocket::with_mark(&mut self.ipv4, AddressFamily::Inet, ends.mark)?;
                let to = SockaddrIn::from(SocketAddrV4::new(remote, 0));
                sendmsg(
                    socket.as_raw_fd(),
                    &data,
                    &[ControlMessage::Ipv4PacketInfo(&info)],
                    at_once,
                    Some(&to),
                )?;
            }
            (IpAddr::V6(local), IpAddr::V6(remote)) => {
                let info = libc::in6_pktinfo {
                    ipi6_ifindex: ends.device,
                    ipi6_addr: libc::in6_addr { s6_addr: local.octets() },
                };
                let socket = RawSocket::with_mark(&mut self.ipv6, AddressFamily::Inet6, ends.mark)?;
                let to = SockaddrIn6::from(SocketAddrV6::new(remote, 0, 0, ends.device));
                sendmsg(
                    socket.as_raw_fd(),
                    &data,
                    &[ControlMessage::Ipv6PacketInfo(&info)],
                    at_once,
                    Some(&to),
                )?;
            }
            _ => unreachable!("a packet of two families cannot be built"),
        }
        Ok(())
    }
}

/// Sends packets with their IP header (raw(7): IPPROTO_RAW).
struct RawSocket {
    socket: OwnedFd,
    mark: u32,
}

impl RawSocket {
    fn with_mark(place: &mut Option<Self>, family: AddressFamily, mark: u32) -> io::Result<&OwnedFd> {
        let mut raw = match place.take() {
            Some(raw) => raw,
            None => Self {
                socket: socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Raw)?,
                mark: 0,
            },
        };
        if raw.mark != mark {
            setsockopt(&raw.socket, sockopt::Mark, &mark)?;
            raw.mark = mark;
        }
        Ok(&place.insert(raw).socket)
    }
}
