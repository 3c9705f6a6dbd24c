//! What an attached sender says of itself: its connections, its counters.

use super::Error;
use super::attach::pins;
use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapHandle};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// One attachment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Of the JSON.
    pub version: u32,
    /// Name of the congestion control.
    pub name: String,
    /// The scheme that decides.
    pub scheme: String,
    /// What the congestion control is built around.
    pub around: String,
    /// Where it is attached.
    pub cgroup: String,
    /// Whether the head is resent by RFC 6069.
    pub icmp: bool,
    /// Over all connections since attach.
    #[serde(serialize_with = "as_object")]
    pub counters: Vec<Counter>,
    /// The connections of the cgroup in the reader's network namespace.
    pub flows: Vec<FlowStatus>,
}

/// One thing that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// What.
    pub name: &'static str,
    /// How often.
    pub count: u64,
}

fn as_object<S: serde::Serializer>(counters: &[Counter], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(counters.iter().map(|counter| (counter.name, counter.count)))
}

impl Status {
    /// A counter by its name; `None`: there is no such counter.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.counters.iter().find(|counter| counter.name == name).map(|counter| counter.count)
    }

    /// Reports that were refused, whatever the reason.
    pub fn refused(&self) -> u64 {
        self.counters
            .iter()
            .filter(|counter| !GOOD.contains(&counter.name))
            .map(|counter| counter.count)
            .sum()
    }
}

/// `enum segue_counter` of bpf/intf.h, in its order.
pub(super) const COUNTERS: [&str; 15] = [
    "negotiated",
    "first-reports",
    "accepted",
    "foreseen",
    "bad-length",
    "bad-version",
    "bad-type",
    "zero-rate",
    "wrong-nonce",
    "repeated",
    "bad-ack",
    "not-consumed",
    "too-soon",
    "not-negotiated",
    "no-old-link",
];

/// The counters that refuse nothing.
const GOOD: [&str; 4] = ["negotiated", "first-reports", "accepted", "foreseen"];

/// One connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowStatus {
    /// Here.
    pub local: SocketAddr,
    /// The peer.
    pub remote: SocketAddr,
    /// Whether the handshake exchanged the capability. Connections that are older than the attachment have not.
    pub negotiated: bool,
    /// Whether it runs on our congestion control.
    pub enrolled: bool,
    /// Number of the TCP state.
    pub state: u8,
    /// The link last reported: rate in kbit/s and one-way delay in us.
    pub link: Option<LinkStatus>,
    /// N: flows of the peer's host with data under way or queued, of those that have negotiated.
    pub flows: u32,
    /// Notices that reached the policy.
    pub accepted: u32,
    /// Reports that were refused.
    pub refused: u32,
    /// In packets.
    pub cwnd: u32,
    /// In packets; 2147483647 stands for none.
    pub ssthresh: u32,
}

/// A reported link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkStatus {
    /// kbit/s.
    pub rate_kbps: u32,
    /// One way, us.
    pub delay_us: u32,
}

/// What the daemon writes into the map `about`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) name: String,
    pub(super) scheme: String,
    pub(super) around: String,
    pub(super) cgroup: String,
    pub(super) icmp: bool,
}

/// Of `about` in bpf/state.h.
pub(super) const ABOUT_SIZE: usize = 8192;

impl About {
    pub(super) fn write(&self, map: &impl MapCore) -> Result<(), Error> {
        let mut text =
            serde_json::to_vec(self).map_err(|error| Error::kernel("writing down settings", error))?;
        if text.len() > ABOUT_SIZE {
            return Err(Error::User(format!("the path of the cgroup is too long: {}", self.cgroup)));
        }
        text.resize(ABOUT_SIZE, b' ');
        map.update(&0u32.to_ne_bytes(), &text, MapFlags::ANY)
            .map_err(|error| Error::kernel("writing the map about", error))
    }

    fn read(map: &impl MapCore) -> Result<Self, Error> {
        const WHAT: &str = "reading the map about";
        let text =
            map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(|error| Error::kernel(WHAT, error))?;
        serde_json::from_slice(&text.unwrap_or_default()).map_err(|error| Error::kernel(WHAT, error))
    }
}

/// What an attachment pinned in this folder says, of the caller's network namespace.
pub fn status(pin: &Path) -> Result<Status, Error> {
    pins::check(pin)?;
    let open = |name| {
        MapHandle::from_pinned_path(pin.join(name))
            .map_err(|error| Error::kernel(format!("opening {}", pin.join(name).display()), error))
    };
    let flows = Link::open(pin.join(pins::FLOWS))
        .map_err(|error| Error::kernel(format!("opening {}", pin.join(pins::FLOWS).display()), error))?;
    read(&open(pins::ABOUT)?, &open(pins::COUNTERS)?, &flows)
}

pub(super) fn read(about: &MapHandle, counters: &MapHandle, flows: &Link) -> Result<Status, Error> {
    let About { name, scheme, around, cgroup, icmp } = About::read(about)?;
    Ok(Status {
        version: 1,
        name,
        scheme,
        around,
        cgroup,
        icmp,
        counters: COUNTERS
            .iter()
            .enumerate()
            .map(|(index, name)| Ok(Counter { name, count: count(counters, index as u32)? }))
            .collect::<Result<_, Error>>()?,
        flows: rows(&run(flows)?),
    })
}

fn count(counters: &MapHandle, index: u32) -> Result<u64, Error> {
    let values = counters
        .lookup_percpu(&index.to_ne_bytes(), MapFlags::ANY)
        .map_err(|error| Error::kernel("reading the counters", error))?;
    let number =
        |octets: &Vec<u8>| octets.get(..8).and_then(|eight| eight.try_into().ok()).map(u64::from_ne_bytes);
    Ok(values.unwrap_or_default().iter().filter_map(number).sum())
}

/// Runs a program over the sockets of the caller's network namespace; what it wrote.
pub(super) fn run(link: &Link) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    Iter::new(link)
        .map_err(|error| Error::kernel("starting a program over the sockets", error))?
        .read_to_end(&mut text)
        .map_err(|problem| Error::io("running a program over the sockets", problem))?;
    Ok(text)
}

/// `struct segue_flow_row` of bpf/intf.h.
pub(super) const ROW_SIZE: usize = 68;

fn rows(octets: &[u8]) -> Vec<FlowStatus> {
    octets.chunks_exact(ROW_SIZE).map(row).collect()
}

fn row(octets: &[u8]) -> FlowStatus {
    let short = |at: usize| u16::from_ne_bytes([octets[at], octets[at + 1]]);
    let long = |at: usize| u32::from_ne_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]);
    let address = |at: usize, port: u16| {
        let mut sixteen = [0; 16];
        sixteen.copy_from_slice(&octets[at..at + 16]);
        SocketAddr::new(IpAddr::V6(Ipv6Addr::from(sixteen)).to_canonical(), port)
    };
    FlowStatus {
        local: address(0, short(32)),
        remote: address(16, short(34)),
        negotiated: octets[36] != 0,
        enrolled: octets[37] != 0,
        state: octets[39],
        link: (octets[38] != 0).then(|| LinkStatus { rate_kbps: long(40), delay_us: long(44) }),
        flows: long(48),
        accepted: long(52),
        refused: long(56),
        cwnd: long(60),
        ssthresh: long(64),
    }
}
