//! From what the emulator saw to the numbers of a run.

use super::Nanos;
use super::packet::{Packet, Segment};
use super::path::{Direction, Fate};
use super::record::{Counts, Exactness, FlowRecord, RunRecord};
use segue_netsim::Service;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// A flow that was sent less is no bulk flow: iperf3's control connection.
pub(super) const BULK: u64 = 10_000;
const SECOND: Nanos = 1_000_000_000;

/// When things happened in a run, ns of the laboratory's clock, and over what.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// First bulk packet.
    pub start: Nanos,
    /// T.
    pub down: Nanos,
    /// The new link's start.
    pub up: Nanos,
    /// The end of the observation.
    pub end: Nanos,
    /// A round trip over the new link without serialisation.
    pub round_trip: Nanos,
    /// Octets of data in a packet of 1500.
    pub segment: u32,
    /// A flow that was sent fewer octets does not count.
    pub least: u64,
    /// Services towards the mobile before T and after link-up.
    pub service: [&'a Service; 2],
}

impl Frame<'_> {
    /// Octets of full packets' data that a link can carry within `[from, to)`.
    fn data(&self, link: usize, from: Nanos, to: Nanos) -> u64 {
        self.service[link].bytes_between(from, to) * u64::from(self.segment) / 1500
    }
}

/// One direction of one connection, server to mobile.
#[derive(Debug, Default)]
struct Flow {
    /// Number of the first octet seen, and the highest sent, as an offset from it.
    base: u32,
    sent: u64,
    /// Octets that the mobile has: start and end of each stretch.
    received: BTreeMap<u64, u64>,
    /// Octets new to the mobile, and when.
    news: Vec<(Nanos, u64)>,
    first_send: Option<Nanos>,
    first_retransmission: Option<Nanos>,
    /// The octet that the mobile lacked at link-up, and when it was sent.
    head: Option<u64>,
    head_sent: Option<Nanos>,
    /// New data in order after link-up.
    first_data: Option<Nanos>,
    counts: [Counts; 2],
}

impl Flow {
    /// A sequence number as an offset; numbers lie within 2^31 of the highest sent.
    fn offset(&self, sequence: u32) -> u64 {
        let near = self.base.wrapping_add(self.sent as u32);
        self.sent.saturating_add_signed(i64::from(sequence.wrapping_sub(near) as i32))
    }

    /// How many octets of `[start, end)` are new.
    fn receive(&mut self, start: u64, end: u64) -> u64 {
        let (mut low, mut high, mut known) = (start, end, 0);
        // Stretches are disjoint, so those that touch are the last ones that begin at or before the end.
        while let Some((&from, &to)) = self.received.range(..=high).next_back() {
            if to < low {
                break;
            }
            known += to.min(end).saturating_sub(from.max(start));
            low = low.min(from);
            high = high.max(to);
            self.received.remove(&from);
        }
        self.received.insert(low, high);
        end - start - known
    }

    /// First octet that the mobile lacks.
    fn lacks(&self) -> u64 {
        self.received.first_key_value().map_or(0, |(&from, &to)| if from == 0 { to } else { 0 })
    }

    fn delivered(&self, from: Nanos, to: Nanos) -> u64 {
        self.news.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, octets)| octets).sum()
    }
}

enum Event {
    Entered,
    Ended,
}

/// Fills in what the packets tell.
pub fn measure(packets: &[Packet], frame: &Frame<'_>, record: &mut RunRecord) {
    let segments: Vec<Option<Segment>> = packets.iter().map(Packet::segment).collect();
    let mut events = Vec::with_capacity(packets.len() * 2);
    for (index, packet) in packets.iter().enumerate() {
        events.push((packet.entered, index, Event::Entered));
        if let Fate::Delivered(at) | Fate::Dropped(at) | Fate::Lost(at) | Fate::Disconnected(at) = packet.fate
        {
            events.push((at, index, Event::Ended));
        }
    }
    // Stable: a packet that is dropped at once has entered first.
    events.sort_by_key(|&(at, index, _)| (at, index));

    let mut flows: BTreeMap<(Nanos, SocketAddr), Flow> = BTreeMap::new();
    let mut keys: BTreeMap<(SocketAddr, SocketAddr), (Nanos, SocketAddr)> = BTreeMap::new();
    let mut acknowledgments = [Counts::default(); 2];
    let mut at_link_up = false;
    for (at, index, event) in events {
        if at > frame.end {
            break;
        }
        if at >= frame.up && !at_link_up {
            at_link_up = true;
            for flow in flows.values_mut() {
                flow.head = Some(flow.lacks());
            }
        }
        let phase = usize::from(at >= frame.down);
        let (packet, Some(segment)) = (&packets[index], segments[index]) else { continue };
        if packet.direction == Direction::Up {
            if let Event::Ended = event {
                count_loss(&mut acknowledgments[phase], packet.fate, false);
            }
            continue;
        }
        let ends = (segment.source, segment.destination);
        let key = *keys.entry(ends).or_insert((at, segment.destination));
        let flow = flows.entry(key).or_insert_with(|| Flow {
            base: segment.sequence.wrapping_add(u32::from(segment.syn)),
            ..Flow::default()
        });
        match event {
            Event::Entered => sent(flow, at, &segment, frame, phase),
            Event::Ended => {
                count_loss(&mut flow.counts[phase], packet.fate, segment.payload > 0);
                if packet.delivered().is_some() && segment.payload > 0 {
                    let start = flow.offset(segment.sequence);
                    let lacked = flow.lacks();
                    let new = flow.receive(start, start + u64::from(segment.payload));
                    if at >= frame.up && flow.lacks() > lacked {
                        flow.first_data.get_or_insert(at);
                    }
                    flow.news.push((at, new));
                    flow.counts[phase].needless_retransmissions += u64::from(new == 0);
                }
            }
        }
    }
    let from_mobile = |packet: &&Packet| packet.direction == Direction::Up && packet.entered >= frame.up;
    let after = |packet: &Packet| Duration::from_nanos(packet.entered - frame.up);
    let mut from_mobile = packets.iter().filter(from_mobile).peekable();
    record.first_from_mobile_after_link_up = from_mobile.peek().map(|packet| after(packet));
    record.notice_after_link_up = from_mobile.find(|packet| packet.is_notice()).map(after);
    summarise(flows.values(), &acknowledgments, frame, record);
    record.emulator = exactness(packets, &segments, record.emulator);
}

fn sent(flow: &mut Flow, at: Nanos, segment: &Segment, frame: &Frame<'_>, phase: usize) {
    if segment.payload == 0 {
        return;
    }
    let start = flow.offset(segment.sequence);
    let again = start < flow.sent;
    flow.sent = flow.sent.max(start + u64::from(segment.payload));
    flow.counts[phase].retransmissions += u64::from(again);
    if at < frame.up {
        return;
    }
    flow.first_send.get_or_insert(at);
    if again {
        flow.first_retransmission.get_or_insert(at);
    }
    if flow.head.is_some_and(|head| (start..start + u64::from(segment.payload)).contains(&head)) {
        flow.head_sent.get_or_insert(at);
    }
}

fn count_loss(counts: &mut Counts, fate: Fate, data: bool) {
    match fate {
        Fate::Dropped(_) => {
            counts.drops += 1;
            counts.data_drops += u64::from(data);
        }
        Fate::Lost(_) => counts.lost_on_link += 1,
        Fate::Disconnected(_) => counts.lost_in_disconnection += 1,
        Fate::Delivered(_) | Fate::UnderWay => {}
    }
}

fn summarise<'a>(
    flows: impl Iterator<Item = &'a Flow>,
    acknowledgments: &[Counts; 2],
    frame: &Frame<'_>,
    record: &mut RunRecord,
) {
    let flows: Vec<&Flow> = flows.filter(|flow| flow.sent >= frame.least).collect();
    let since = |at: Option<Nanos>| at.map(|at| Duration::from_nanos(at - frame.up));
    let earliest = |of: fn(&Flow) -> Option<Nanos>| since(flows.iter().filter_map(|flow| of(flow)).min());
    let delivered = |from, to| flows.iter().map(|flow| flow.delivered(from, to)).sum::<u64>();
    let seconds = |count: Nanos| {
        let to = frame.up + count * SECOND;
        (to <= frame.end).then(|| delivered(frame.up, to))
    };
    record.handoff_at = Duration::from_nanos(frame.down - frame.start);
    record.first_send_after_link_up = earliest(|flow| flow.first_send);
    record.first_retransmission_after_link_up = earliest(|flow| flow.first_retransmission);
    record.first_data_after_link_up = earliest(|flow| flow.first_data);
    record.head_after_link_up = earliest(|flow| flow.head_sent);
    record.bytes_1s = seconds(1);
    record.bytes_5s = seconds(5);
    record.bytes_10s = seconds(10);
    let (from, to) = (frame.up + frame.round_trip, frame.up + frame.round_trip + SECOND);
    record.bytes_1s_after_round_trip = (to <= frame.end).then(|| delivered(from, to));
    record.bytes_observed = delivered(frame.up, frame.end);
    record.bytes_total = delivered(0, frame.end);
    record.capacity_1s = frame.data(1, frame.up, frame.up + SECOND);
    record.capacity_10s = frame.data(1, frame.up, frame.up + 10 * SECOND);
    record.capacity_1s_after_round_trip = frame.data(1, from, to);
    let second = frame.down.saturating_sub(SECOND);
    let possible = frame.data(0, second, frame.down);
    record.old_link_share = delivered(second, frame.down) as f64 / possible.max(1) as f64;
    for (phase, total) in [&mut record.before, &mut record.after].into_iter().enumerate() {
        let all = flows.iter().map(|flow| flow.counts[phase]).chain([acknowledgments[phase]]);
        *total = all.fold(Counts::default(), |a, b| Counts {
            drops: a.drops + b.drops,
            data_drops: a.data_drops + b.data_drops,
            lost_on_link: a.lost_on_link + b.lost_on_link,
            lost_in_disconnection: a.lost_in_disconnection + b.lost_in_disconnection,
            retransmissions: a.retransmissions + b.retransmissions,
            needless_retransmissions: a.needless_retransmissions + b.needless_retransmissions,
        });
    }
    record.flows = flows
        .iter()
        .map(|flow| FlowRecord {
            first_send_after_link_up: since(flow.first_send),
            bytes_observed: flow.delivered(frame.up, frame.end),
        })
        .collect();
    record.link_up = Duration::from_nanos(frame.up);
    record.link_down = Duration::from_nanos(frame.down);
}

fn exactness(packets: &[Packet], segments: &[Option<Segment>], so_far: Exactness) -> Exactness {
    let mut late: Vec<u32> =
        packets.iter().filter(|packet| packet.delivered().is_some()).map(|packet| packet.late).collect();
    late.sort_unstable();
    let quantile = |per_cent: usize| {
        let index = (late.len() * per_cent / 100).min(late.len().saturating_sub(1));
        Duration::from_nanos(late.get(index).copied().unwrap_or(0).into())
    };
    let mut syns = packets
        .iter()
        .zip(segments)
        .filter_map(|(packet, segment)| Some((packet, segment.filter(|segment| segment.syn)?)));
    let syn = syns.next().filter(|(packet, _)| packet.direction == Direction::Up);
    let answer = syn.and_then(|(_, syn)| syns.find(|(_, answer)| answer.destination == syn.source));
    let handshake = syn.zip(answer).and_then(|((syn, _), (answer, _))| {
        Some(Duration::from_nanos(answer.delivered()? + Nanos::from(answer.late) - syn.entered))
    });
    Exactness {
        late_median: quantile(50),
        late_p99: quantile(99),
        late_most: quantile(100),
        handshake,
        ..so_far
    }
}
