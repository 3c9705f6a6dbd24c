//! The device whose egress the programs see: what its packets begin with, and who else has filters there (rtnetlink).

use super::Error;
use nix::libc;
use nix::net::if_::if_nametoindex;
use segue_netlink::{Client, Message, attribute, half, protocols::NETLINK_ROUTE, word};
use std::io;

/// Octets of `struct ifinfomsg` and `tcmsg` (linux/rtnetlink.h).
const IFINFOMSG: usize = 16;
const TCMSG: usize = 20;
/// The filters of ingress and of egress below clsact (linux/pkt_sched.h: TC_H_CLSACT, TC_H_MIN_INGRESS, TC_H_MIN_EGRESS).
const PARENTS: [u32; 2] = [0xffff_fff2, 0xffff_fff3];
/// Packets of a modem begin with IP (linux/if_arp.h).
const ARPHRD_RAWIP: u16 = 519;

/// A device of the current network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Device {
    pub(super) index: u32,
    /// Octets before the IP header of what it is given.
    pub(super) link_header: u32,
}

impl Device {
    /// # Errors
    /// There is no such device, or its packets are neither Ethernet's nor bare IP.
    pub(super) fn named(name: &str) -> Result<Self, Error> {
        let no_device = |_| Error::User(format!("device {name}: there is none in this network namespace"));
        let index = if_nametoindex(name).map_err(no_device)?;
        let failed = |problem| Error::io(format!("device {name}"), problem);
        let mut wanted = [0; IFINFOMSG];
        wanted[4..8].copy_from_slice(&index.to_ne_bytes());
        let answer =
            Client::open(NETLINK_ROUTE).and_then(|mut kernel| kernel.ask(libc::RTM_GETLINK, &wanted));
        let answer = answer.map_err(failed)?;
        let kind = answer.messages().find_map(|link| half(link.payload.get(2..)?));
        let link_header = match kind {
            Some(libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK) => 14,
            // TUN and WireGuard; modems (wwan); PPP, whose header its driver adds later.
            Some(libc::ARPHRD_NONE | ARPHRD_RAWIP | libc::ARPHRD_PPP) => 0,
            other => {
                let kind = other.map_or("unknown".to_owned(), |kind| kind.to_string());
                return Err(Error::User(format!(
                    "device {name}: its packets are of type {kind} (ARPHRD_*); expected Ethernet or bare IP"
                )));
            }
        };
        Ok(Self { index, link_header })
    }

    /// Whether it has the qdisc that filters of ingress and egress are attached to.
    pub(super) fn has_clsact(self) -> io::Result<bool> {
        let answer = Client::open(NETLINK_ROUTE)?.list(libc::RTM_GETQDISC, &[0; TCMSG])?;
        let clsact = |qdisc: &Message<'_>| {
            let kind = attribute(qdisc.payload.get(TCMSG..)?, libc::TCA_KIND)?;
            Some(word(&qdisc.payload[4..])? == self.index && kind == b"clsact\0")
        };
        Ok(answer.messages().any(|qdisc| clsact(&qdisc) == Some(true)))
    }

    /// Whether anybody has a filter there.
    pub(super) fn has_filters(self) -> io::Result<bool> {
        let mut kernel = Client::open(NETLINK_ROUTE)?;
        for parent in PARENTS {
            let mut wanted = [0; TCMSG];
            wanted[4..8].copy_from_slice(&self.index.to_ne_bytes());
            wanted[12..16].copy_from_slice(&parent.to_ne_bytes());
            if kernel.list(libc::RTM_GETTFILTER, &wanted)?.messages().next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
