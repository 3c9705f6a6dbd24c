//! ACKs built here and sent through a raw socket, for kernels and segments in which the kernel's own ACKs have no
//! place for the option: a pure ACK with time stamps and the report, and no SACK block (docs/reference/wire.md).

use super::Error;
use super::records::Ack;
use etherparse::PacketBuilder;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6,
    sendmsg, setsockopt, socket, sockopt,
};
use segue_policy::Link;
use segue_policy::wire::{Report, ReportType};
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

/// The usual default of hosts (RFC 1700); a router on the way needs no more.
const TTL: u8 = 64;

/// The packet, from the IP header on.
pub(super) fn packet(ack: &Ack, link: Link, kind: ReportType) -> Result<Vec<u8>, Error> {
    let report = Report { kind, seq: ack.report, nonce: ack.nonce, link }.encode().map_err(Error::Report)?;
    let mut options = Vec::with_capacity(24);
    if let Some((value, echo)) = ack.stamps {
        // RFC 7323, appendix A: two NOPs align them
        options.extend([1, 1, 8, 10]);
        options.extend(value.to_be_bytes());
        options.extend(echo.to_be_bytes());
    }
    options.extend(report);
    let ip = match (ack.local.ip(), ack.remote.ip()) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => PacketBuilder::ipv4(local.octets(), remote.octets(), TTL),
        (IpAddr::V6(local), IpAddr::V6(remote)) => PacketBuilder::ipv6(local.octets(), remote.octets(), TTL),
        _ => return Err(Error::Families(ack.local, ack.remote)),
    };
    let builder = ip
        .tcp(ack.local.port(), ack.remote.port(), ack.seq, ack.window)
        .ack(ack.ack)
        .options_raw(&options)
        .expect("at most 24 octets of 40");
    let mut packet = Vec::with_capacity(builder.size(0));
    builder.write(&mut packet, &[]).expect("a vector grows, and no payload is too long");
    Ok(packet)
}

/// Raw sockets of the network namespace in which they were opened, which is when they are first needed.
#[derive(Default)]
pub(super) struct Sender {
    ipv4: Option<RawSocket>,
    ipv6: Option<RawSocket>,
}

impl Sender {
    /// Sends the connection's copies.
    pub(super) fn send(&mut self, ack: &Ack, link: Link, kind: ReportType) -> Result<(), Error> {
        let packet = packet(ack, link, kind)?;
        for _ in 0..ack.copies {
            self.send_packet(ack, &packet).map_err(|source| Error::Send { remote: ack.remote, source })?;
        }
        Ok(())
    }

    fn send_packet(&mut self, ack: &Ack, packet: &[u8]) -> io::Result<()> {
        let data = [IoSlice::new(packet)];
        let none = MsgFlags::empty();
        // The source address and the device choose the route, as they do for the connection's own segments.
        match (ack.local.ip(), ack.remote.ip()) {
            (IpAddr::V4(local), IpAddr::V4(remote)) => {
                let info = libc::in_pktinfo {
                    ipi_ifindex: ack.device as i32,
                    ipi_spec_dst: libc::in_addr { s_addr: u32::from_ne_bytes(local.octets()) },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                let socket = RawSocket::with_mark(&mut self.ipv4, AddressFamily::Inet, ack.mark)?;
                let to = SockaddrIn::from(SocketAddrV4::new(remote, 0));
                sendmsg(
                    socket.as_raw_fd(),
                    &data,
                    &[ControlMessage::Ipv4PacketInfo(&info)],
                    none,
                    Some(&to),
                )?;
            }
            (IpAddr::V6(local), IpAddr::V6(remote)) => {
                let info = libc::in6_pktinfo {
                    ipi6_ifindex: ack.device,
                    ipi6_addr: libc::in6_addr { s6_addr: local.octets() },
                };
                let socket = RawSocket::with_mark(&mut self.ipv6, AddressFamily::Inet6, ack.mark)?;
                let to = SockaddrIn6::from(SocketAddrV6::new(remote, 0, 0, ack.device));
                sendmsg(
                    socket.as_raw_fd(),
                    &data,
                    &[ControlMessage::Ipv6PacketInfo(&info)],
                    none,
                    Some(&to),
                )?;
            }
            _ => unreachable!("packet() has refused it"),
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
