//! The status of an attached sender: its connections and counters.

use super::Error;
use super::pins;
use crate::layouts::{segue_counter, segue_flow_row, segue_link, unmapped};
use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapHandle};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use zerocopy::FromBytes;

/// One attachment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Version of the JSON.
    pub version: u32,
    /// Name of the congestion control.
    pub name: String,
    /// The scheme that decides.
    pub scheme: String,
    /// The congestion control that is wrapped.
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
    /// Its name.
    pub name: &'static str,
    /// Number of times.
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

/// The counters in their order, as users know them.
const COUNTERS: [(&str, segue_counter); segue_counter::SEGUE_COUNTERS.0 as usize] = [
    ("negotiated", segue_counter::SEGUE_COUNT_NEGOTIATED),
    ("first-reports", segue_counter::SEGUE_COUNT_FIRST),
    ("accepted", segue_counter::SEGUE_COUNT_ACCEPTED),
    ("foreseen", segue_counter::SEGUE_COUNT_FORESEEN),
    ("bad-length", segue_counter::SEGUE_COUNT_BAD_LENGTH),
    ("bad-version", segue_counter::SEGUE_COUNT_BAD_VERSION),
    ("bad-type", segue_counter::SEGUE_COUNT_BAD_TYPE),
    ("zero-rate", segue_counter::SEGUE_COUNT_ZERO_RATE),
    ("wrong-nonce", segue_counter::SEGUE_COUNT_WRONG_NONCE),
    ("repeated", segue_counter::SEGUE_COUNT_REPEATED),
    ("bad-ack", segue_counter::SEGUE_COUNT_BAD_ACK),
    ("not-consumed", segue_counter::SEGUE_COUNT_NOT_CONSUMED),
    ("too-soon", segue_counter::SEGUE_COUNT_TOO_SOON),
    ("not-negotiated", segue_counter::SEGUE_COUNT_NOT_NEGOTIATED),
    ("no-old-link", segue_counter::SEGUE_COUNT_NO_OLD_LINK),
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

/// The daemon's record in the map `about`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) name: String,
    pub(super) scheme: String,
    pub(super) around: String,
    pub(super) cgroup: String,
    pub(super) icmp: bool,
}

impl About {
    pub(super) fn write(&self, map: &impl MapCore) -> Result<(), Error> {
        let mut text =
            serde_json::to_vec(self).map_err(|error| Error::kernel("writing down settings", error))?;
        let room = map.value_size() as usize;
        if text.len() > room {
            return Err(Error::User(format!("the path of the cgroup is too long: {}", self.cgroup)));
        }
        text.resize(room, b' ');
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

/// The status of the attachment pinned in this folder, for the caller's network namespace.
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
            .into_iter()
            .map(|(name, index)| Ok(Counter { name, count: count(counters, index.0)? }))
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

/// Runs a program over the sockets of the caller's network namespace; returns its output.
pub(super) fn run(link: &Link) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    Iter::new(link)
        .map_err(|error| Error::kernel("starting a program over the sockets", error))?
        .read_to_end(&mut text)
        .map_err(|problem| Error::io("running a program over the sockets", problem))?;
    Ok(text)
}

fn rows(octets: &[u8]) -> Vec<FlowStatus> {
    let whole = octets.chunks_exact(size_of::<segue_flow_row>());
    whole.filter_map(|octets| segue_flow_row::read_from_bytes(octets).ok()).map(FlowStatus::from).collect()
}

impl From<segue_flow_row> for FlowStatus {
    fn from(row: segue_flow_row) -> Self {
        let segue_link { rate_kbps, delay_us } = row.link;
        Self {
            local: SocketAddr::new(unmapped(row.local), row.local_port),
            remote: SocketAddr::new(unmapped(row.remote), row.remote_port),
            negotiated: row.negotiated != 0,
            enrolled: row.enrolled != 0,
            state: row.state,
            link: (row.reported != 0).then_some(LinkStatus { rate_kbps, delay_us }),
            flows: row.flows,
            accepted: row.accepted,
            refused: row.refused,
            cwnd: row.cwnd,
            ssthresh: row.ssthresh,
        }
    }
}
