//! The egress of a device (tc, clsact, direct action), whose filters see its packets. It knows what packets begin
//! with, who else has filters there (rtnetlink), and the places that ours have.

use crate::host;
use crate::sender::Error;
use crate::sender::namespace::Namespace;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHook};
use nix::libc;
use nix::net::if_::if_nametoindex;
use segue_netlink::{Client, Message, attribute, half, protocols::NETLINK_ROUTE, word};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard};

/// Octets of `struct ifinfomsg` and `tcmsg` (linux/rtnetlink.h).
const IFINFOMSG: usize = 16;
const TCMSG: usize = 20;
/// The filters of ingress and of egress below clsact (linux/pkt_sched.h: TC_H_CLSACT, TC_H_MIN_INGRESS,
/// TC_H_MIN_EGRESS).
const PARENTS: [u32; 2] = [0xffff_fff2, 0xffff_fff3];
/// Packets of a modem begin with IP (linux/if_arp.h).
const ARPHRD_RAWIP: u16 = 519;

/// A device of the current network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) index: u32,
    /// Octets before the IP header of what it is given.
    pub(crate) link_header: u32,
}

impl Device {
    /// # Errors
    /// There is no such device, or its packets are neither Ethernet's nor bare IP.
    pub(crate) fn named(name: &str) -> Result<Self, Error> {
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
    fn has_clsact(self) -> io::Result<bool> {
        let answer = Client::open(NETLINK_ROUTE)?.list(libc::RTM_GETQDISC, &[0; TCMSG])?;
        let clsact = |qdisc: &Message<'_>| {
            let kind = attribute(qdisc.payload.get(TCMSG..)?, libc::TCA_KIND)?;
            Some(word(&qdisc.payload[4..])? == self.index && kind == b"clsact\0")
        };
        Ok(answer.messages().any(|qdisc| clsact(&qdisc) == Some(true)))
    }

    /// Whether anybody has a filter there.
    fn has_filters(self) -> io::Result<bool> {
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

/// The place of one of our programs among the filters of a device; with the program's name, how another process finds
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcSlot {
    pub(crate) priority: u32,
    pub(crate) handle: u32,
    /// Name of the program, as the kernel cuts it.
    pub(crate) program: &'static str,
}

impl TcSlot {
    /// `program` is looked at when it is attached only.
    fn hook(self, device: Device, program: BorrowedFd<'_>) -> TcHook {
        let mut hook = TcHook::new(program);
        hook.ifindex(device.index as i32).attach_point(TC_EGRESS).priority(self.priority).handle(self.handle);
        hook
    }

    /// Attaches a program there, and the qdisc that it needs. `taken` makes the error of a
    /// place that is taken.
    pub(crate) fn attach(
        self,
        device: Device,
        program: BorrowedFd<'_>,
        taken: impl FnOnce() -> Error,
    ) -> Result<(), Error> {
        let mut hook = self.hook(device, program);
        if device.lacks_clsact()? {
            made().insert(device.anywhere()?);
        }
        hook.create().map_err(|error| Error::kernel("adding clsact to the device", error))?;
        hook.attach().map(drop).map_err(|error| match error.kind() {
            // By a filter of the same kind, or of another.
            libbpf_rs::ErrorKind::AlreadyExists | libbpf_rs::ErrorKind::InvalidInput => taken(),
            _ => Error::kernel("attaching to the device's egress", error),
        })
    }

    /// The program of ours that is there.
    ///
    /// # Errors
    /// It is somebody else's.
    pub(crate) fn attached(self, device: Device) -> Result<Option<ProgramInfo>, Error> {
        let none = nothing()?;
        let _quiet = host::quiet_libbpf();
        // No filter there, or no qdisc to have one.
        let Ok(id) = self.hook(device, none.as_fd()).query() else { return Ok(None) };
        let options = ProgInfoQueryOptions::default().include_map_ids(true);
        let Some(program) = ProgInfoIter::with_query_opts(options).find(|program| program.id == id) else {
            return Ok(None);
        };
        if program.name != self.program {
            return Err(Error::User(format!(
                "the program {} has priority {} at the device's egress, which ours would have",
                program.name.to_string_lossy(),
                self.priority
            )));
        }
        Ok(Some(program))
    }

    /// Removes the filter, and the qdisc if it was made for a filter of ours and nobody uses it any more. `made_clsact`: a
    /// process before this one made it.
    pub(crate) fn remove(self, device: Device, made_clsact: bool) -> Result<(), Error> {
        let anywhere = device.anywhere()?;
        if made_clsact {
            made().insert(anywhere);
        }
        let none = nothing()?;
        let mut hook = self.hook(device, none.as_fd());
        let detached =
            hook.detach().map_err(|error| Error::kernel("detaching from the device's egress", error));
        let used = device.has_filters().map_err(|problem| Error::io("filters of the device", problem))?;
        if !used && made().remove(&anywhere) {
            let both = hook.attach_point(TC_EGRESS | TC_INGRESS);
            both.destroy().map_err(|error| Error::kernel("removing clsact from the device", error))?;
        }
        detached
    }
}

impl Device {
    /// The device is gone, and its filters with it: another may get its number.
    pub(crate) fn forget(self) {
        if let Ok(anywhere) = self.anywhere() {
            made().remove(&anywhere);
        }
    }

    /// Its number is its own within a network namespace.
    fn anywhere(self) -> Result<(u64, u32), Error> {
        Ok((Namespace::current()?.number()?, self.index))
    }

    /// Whether attaching a filter adds a qdisc.
    pub(crate) fn lacks_clsact(self) -> Result<bool, Error> {
        let clsact = self.has_clsact();
        clsact.map(|has| !has).map_err(|problem| Error::io("qdiscs of the device", problem))
    }
}

/// In place of a program.
fn nothing() -> Result<File, Error> {
    const PATH: &str = "/dev/null";
    File::open(PATH).map_err(|problem| Error::io(PATH, problem))
}

/// Devices whose clsact came with a filter of this process, and goes with the last.
fn made() -> MutexGuard<'static, BTreeSet<(u64, u32)>> {
    static MADE: Mutex<BTreeSet<(u64, u32)>> = Mutex::new(BTreeSet::new());
    MADE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
