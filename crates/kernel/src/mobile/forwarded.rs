//! Connections that this host forwards (`bpf/mobile/forwarded.h`), and how packets about them leave.
//!
//! The addresses are those of the uplink, behind a NAT of this host. A packet that this host made with them would be a
//! connection of its own to the NAT, which would give it another port. So packets leave as frames of the device
//! (packet(7)), behind all of that.

use super::notify::give;
use super::records::Ends;
use super::resume::Waiting;
use super::{Error, Mobile};
use crate::layouts::{segue_forwarded, segue_tuple};
use libbpf_rs::{MapCore, MapFlags};
use nix::libc;
use nix::sys::socket::{AddressFamily, LinkAddr, MsgFlags, SockFlag, SockType, SockaddrLike, sendto, socket};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;
use zerocopy::{FromBytes, IntoBytes};

/// Connections of one question to the kernel (`FORWARDED_FLOWS`).
const AT_ONCE: u32 = 4096;
/// An established connection has acknowledged data that came since its first segment.
const PROVEN: u32 = 2;

/// Out of a device, to a router.
#[derive(Debug)]
pub struct Exit {
    device: u32,
    /// Its hardware address. Links without any, such as a modem's, need none.
    hardware: Vec<u8>,
    socket: OwnedFd,
}

impl Exit {
    /// By the device of this index of the current network namespace, to this hardware address.
    ///
    /// # Errors
    /// The kernel refuses a packet socket, or the address is too long.
    pub fn new(device: u32, hardware: &[u8]) -> Result<Self, Error> {
        let socket = socket(AddressFamily::Packet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None);
        let socket = socket.map_err(|error| Error::Exit(error.into()))?;
        if hardware.len() > 8 {
            return Err(Error::Exit(io::Error::other("a hardware address of more than 8 octets")));
        }
        Ok(Self { device, hardware: hardware.to_vec(), socket })
    }

    /// Whether it leads there.
    pub fn is(&self, device: u32, hardware: &[u8]) -> bool {
        (self.device, self.hardware.as_slice()) == (device, hardware)
    }

    pub(super) fn send(&self, ends: &Ends, packet: &[u8]) -> Result<(), Error> {
        let protocol = match ends.remote.ip() {
            IpAddr::V4(_) => libc::ETH_P_IP,
            IpAddr::V6(_) => libc::ETH_P_IPV6,
        };
        let to = self.address(protocol as u16);
        let sent = sendto(self.socket.as_raw_fd(), packet, &to, MsgFlags::empty());
        sent.map(drop).map_err(|error| Error::Send { remote: ends.remote, source: error.into() })
    }

    #[allow(unsafe_code, reason = "no library makes an address of packet(7)")]
    fn address(&self, protocol: u16) -> LinkAddr {
        let mut hardware = [0; 8];
        hardware[..self.hardware.len()].copy_from_slice(&self.hardware);
        let raw = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol.to_be(),
            sll_ifindex: self.device as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: self.hardware.len() as u8,
            sll_addr: hardware,
        };
        // SAFETY: it is one of this family, and of this length; it is copied.
        let address = unsafe {
            LinkAddr::from_raw((&raw const raw).cast(), Some(size_of::<libc::sockaddr_ll>() as u32))
        };
        address.expect("it is of its family")
    }
}

impl Mobile {
    /// Whether connections that this host forwards are followed, at the devices of [`Mobile::follow`].
    ///
    /// # Errors
    /// The programs are gone.
    pub fn follow_forwarded(&mut self, yes: bool) -> Result<(), Error> {
        self.orders.forwarded = yes;
        give(&self.skel, &self.orders)
    }

    /// Those of them that may be helped: established ones on which something has come, or was sent by the near end,
    /// since then, by CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn forwarded_waiting(&self, since: Duration) -> Result<Vec<Waiting>, Error> {
        let since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let all = self.skel.maps.forwarded.lookup_batch(AT_ONCE, MapFlags::ANY, MapFlags::ANY);
        let all = all.map_err(Error::kernel("list what is forwarded"))?;
        let waiting = |(key, value): (Vec<u8>, Vec<u8>)| {
            let flow = segue_forwarded::read_from_bytes(&value).ok()?;
            let may_wait = flow.known >= PROVEN && flow.window > 0 && flow.heard >= since;
            let tuple = segue_tuple::read_from_bytes(&key).ok()?;
            may_wait.then(|| self::waiting(tuple, &flow))
        };
        Ok(all.filter_map(waiting).collect())
    }

    /// How packets about such connections leave from now on; `None`: as packets that this host makes itself, which a
    /// NAT of this host may change.
    ///
    /// # Errors
    /// These programs are not loaded.
    pub fn forward_by(&mut self, exit: Option<Exit>) -> Result<(), Error> {
        self.resume()?.exit = exit;
        Ok(())
    }

    /// The exit of [`Mobile::forward_by`].
    pub fn exit(&self) -> Option<&Exit> {
        self.resume.as_ref()?.exit.as_ref()
    }

    /// The newest ACK number; none: the connection is at its end, or forgotten.
    pub(super) fn newest_forwarded(&self, tuple: &segue_tuple) -> Result<Option<u32>, Error> {
        let octets = self.skel.maps.forwarded.lookup(tuple.as_bytes(), MapFlags::ANY);
        let octets = octets.map_err(Error::kernel("read what is forwarded"))?;
        let flow = octets.and_then(|octets| segue_forwarded::read_from_bytes(&octets).ok());
        Ok(flow.map(|flow| flow.acks[0]))
    }
}

fn waiting(tuple: segue_tuple, flow: &segue_forwarded) -> Waiting {
    let (local, remote) = tuple.into();
    let known = flow.acks.len().min(flow.known as usize);
    Waiting {
        ends: Ends { remote, local, mark: 0, device: 0 },
        seq: flow.seq,
        ack: flow.acks[0],
        stamp: (flow.stamped != 0).then_some(flow.tsval),
        window: flow.window,
        forwarded: true,
        acks: flow.acks[..known].to_vec(),
        rtt: None,
    }
}
