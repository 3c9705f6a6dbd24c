//! A way out of this host for packets that it makes for others.
//!
//! A NAT of this host would take a packet of this host with a forwarded connection's addresses for a connection of its
//! own. It would give it another port. So such packets leave as frames of the device (packet(7)), behind all of that.

use super::Error;
use super::records::Ends;
use nix::libc;
use nix::sys::socket::{AddressFamily, LinkAddr, MsgFlags, SockFlag, SockType, SockaddrLike, sendto, socket};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

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
        // A queue that stands still must not hold up the agent.
        let sent = sendto(self.socket.as_raw_fd(), packet, &to, MsgFlags::MSG_DONTWAIT);
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
