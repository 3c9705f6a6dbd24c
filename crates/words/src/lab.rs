//! A laboratory's plan: its words and its limits, the same in files, in the simulator's request and on the machine.

use crate::{Choice, choices};
use std::ops::RangeInclusive;

choices! {
/// Programs whose flows cross the link.
pub enum Program {
    /// `iperf3 -R`: the server sends as long as it is asked to.
    Iperf3 = "iperf3",
    /// nginx serves one large file per flow; curl fetches it, and every octet is compared.
    Nginx = "nginx",
    /// 200 octets each 100 ms.
    Thin = "thin",
}
}

choices! {
/// Directions of the old link that go.
pub enum Dead {
    /// Both at once: the last data and the last ACKs are lost.
    Both = "both",
    /// The downlink; the uplink goes once it has carried all ACKs.
    DownFirst = "down-first",
}
}

choices! {
/// Routers before the server.
pub enum Gateway {
    /// None.
    None = "none",
    /// A NAT and a stateful firewall: the server sees another address than the mobile's. IPv4 alone.
    Nat = "nat",
}
}

choices! {
/// Versions of the Internet Protocol.
pub enum Family {
    /// IPv4.
    Ipv4 = "4",
    /// IPv6.
    Ipv6 = "6",
}
}

/// The first word, unless another one is given.
macro_rules! first_unless_given {
    ($($Name:ident),+) => {$(
        impl Default for $Name {
            fn default() -> Self {
                Self::ALL[0]
            }
        }
    )+};
}

first_unless_given!(Program, Dead, Gateway, Family);

/// Traffic of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Bulk data from iperf3 for as long as the drive lasts.
    Bulk,
    /// A file of so many octets from nginx to curl, one for each flow, compared octet by octet; the run ends with it.
    File(u64),
    /// A page of so many octets in many small files, which are compared octet by octet; the run ends with it.
    Page(u64),
    /// Keystrokes in an ssh session.
    Typing,
    /// An ssh session in which nobody types, and the server prints a letter each 200 ms.
    Watching,
}

impl Load {
    /// The program, as plans name it.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Bulk => "iperf3",
            Self::File(_) => "nginx",
            Self::Page(_) => "page",
            Self::Typing => "ssh",
            Self::Watching => "ssh-idle",
        }
    }
}

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Flows that share the link.
pub const FLOWS: RangeInclusive<u32> = 1..=64;
/// Runs of each sender.
pub const RUNS: RangeInclusive<u32> = 1..=1000;
/// From the start of the flows to the second in which the handoff comes, ns.
pub const WARM_UP: RangeInclusive<u64> = SECOND / 10..=600 * SECOND;
/// From link-up to the end of a run, ns.
pub const OBSERVE: RangeInclusive<u64> = SECOND..=600 * SECOND;
/// How long break-before-make is without a link, ns.
pub const DISCONNECT: RangeInclusive<u64> = SECOND / 1000..=300 * SECOND;
/// One-way delay between server and access router, ns.
pub const WIRED: RangeInclusive<u64> = 0..=SECOND;
/// By how much delays of the simulated links change, ns.
pub const NOISE: RangeInclusive<u64> = 0..=SECOND / 10;
/// The rate that notices tell, as a multiple of the new link's.
pub const TOLD_RATE: RangeInclusive<f64> = 0.001..=1000.0;
/// Shares of the mobile's packets that are lost.
pub const LOST: RangeInclusive<f64> = 0.0..=1.0;
/// A file that is served, octets.
pub const FILE: RangeInclusive<u64> = 1_000..=10_000_000_000;
/// A stay of a drive, ns.
pub const STAY: RangeInclusive<u64> = SECOND / 10..=600 * SECOND;
