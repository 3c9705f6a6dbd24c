//! The record of one run of one sender.

use super::packet::Packet;
use super::programs::Said;
use std::collections::BTreeMap;
use std::time::Duration;

/// One run. Octets are those of TCP data that the mobile had not received before; all times are measured where the
/// server's device meets the emulator.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// Name of the sender.
    pub sender: String,
    /// Which round, from 0.
    pub run: u32,
    /// From the first bulk packet to T, when the routes leave the old link.
    pub handoff_at: Duration,
    /// From the new link's start to the first data packet that the server sent.
    pub first_send_after_link_up: Option<Duration>,
    /// The same, of a packet whose octets it had sent before.
    pub first_retransmission_after_link_up: Option<Duration>,
    /// The same, of the first octet that the mobile lacked at link-up.
    pub head_after_link_up: Option<Duration>,
    /// From the new link's start to the first new data in order that reached the mobile.
    pub first_data_after_link_up: Option<Duration>,
    /// From the new link's start to the first packet of the mobile's: its notice, where it sends one.
    pub first_from_mobile_after_link_up: Option<Duration>,
    /// From the new link's start to the first notice that the mobile sent, if it sent one.
    pub notice_after_link_up: Option<Duration>,
    /// Delivered in the first second after link-up. `None` here and below: not observed for so long.
    pub bytes_1s: Option<u64>,
    /// In the first 5 s.
    pub bytes_5s: Option<u64>,
    /// In the first 10 s.
    pub bytes_10s: Option<u64>,
    /// In the second that begins one round trip after link-up.
    pub bytes_1s_after_round_trip: Option<u64>,
    /// All until the end of the observation.
    pub bytes_observed: u64,
    /// All from the beginning of the flows to the end of the observation.
    pub bytes_total: u64,
    /// Octets of full packets' data that the new link can carry in one second from link-up.
    pub capacity_1s: u64,
    /// In 10 s.
    pub capacity_10s: u64,
    /// In the second that begins one round trip after link-up.
    pub capacity_1s_after_round_trip: u64,
    /// Delivered in the last second before T, as a share of what the old link could carry.
    pub old_link_share: f64,
    /// From T to the end.
    pub after: Counts,
    /// From the start to T.
    pub before: Counts,
    /// For each bulk flow, in the order of their beginning.
    pub flows: Vec<FlowRecord>,
    /// Counts of the server's kernel from T to the end (`Tcp` and `TcpExt` of `/proc/net`).
    pub kernel: BTreeMap<String, u64>,
    /// Counts of the mobile's notice, by name; empty without one.
    pub notified: BTreeMap<String, u64>,
    /// Counters of the sender that was told; empty for others.
    pub sender_counters: BTreeMap<String, u64>,
    /// Counts that the programs report.
    pub programs: Said,
    /// Whether the sender's kernel held a connection for dead (`tcp_retries2`), so that the program ended.
    pub gave_up: bool,
    /// How exact the emulator was.
    pub emulator: Exactness,
    /// Time of link-up and of T since the laboratory's time zero, for captures.
    pub link_up: Duration,
    /// T.
    pub link_down: Duration,
    /// All packets, if the plan wants them.
    pub packets: Vec<Packet>,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// As of the whole.
    pub first_send_after_link_up: Option<Duration>,
    /// Delivered until the end of the observation.
    pub bytes_observed: u64,
}

/// Packets, both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Dropped by full queues.
    pub drops: u64,
    /// Dropped packets with data.
    pub data_drops: u64,
    /// On a link that was up, by its loss model.
    pub lost_on_link: u64,
    /// On the old link when it went, or sent while there was none.
    pub lost_in_disconnection: u64,
    /// Data packets whose octets, or some, had been sent before.
    pub retransmissions: u64,
    /// Data packets that brought nothing new.
    pub needless_retransmissions: u64,
}

/// Exactness of the emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exactness {
    /// Packets were handed over so much later than due: median.
    pub late_median: Duration,
    /// 99th percentile.
    pub late_p99: Duration,
    /// Largest.
    pub late_most: Duration,
    /// From the mobile's SYN to the SYN-ACK that it got: the path's round trip.
    pub handshake: Option<Duration>,
    /// CPU time of the emulator's thread as a share of one core.
    pub cpu: f64,
    /// Whether it ran under a real-time policy.
    pub realtime: bool,
}
