//! A trace as JSON lines: one event a line, first what was run, last what it counts (docs/guide/trace.md).

mod decided;

use self::decided::{advice, in_packets, occasion};
use crate::origin::Provenance;
use segue_handoff::Act;
use segue_study::explain::SchemeTrace;
use segue_study::warnings::unproven;
use segue_tcp::Segment;
use segue_tcp::linux::cc::HyStartSign;
use segue_tcp::receiver::Arrival;
use segue_world::notice_error::Told;
use segue_world::packet::Packet;
use segue_world::trace::{Event, LossCause, Side, What};
use segue_world::{Nanos, NoticeMode};
use serde::Serialize;
use std::collections::BTreeMap;

/// One line: the scheme, the time in ns, and what happened.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// Simulated time, ns.
    ns: Nanos,
    /// Scheme of the run.
    scheme: &'a str,
    /// The event.
    #[serde(flatten)]
    event: LineEvent<'a>,
}

/// Kinds of events.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LineEvent<'a> {
    /// First line: what was run.
    Run(Run<'a>),
    /// A host sends a packet.
    Send(PacketLine),
    /// A packet reaches the other host.
    Receive(PacketLine),
    /// An access link takes a packet in.
    Queue {
        /// `old` or `new`.
        link: &'static str,
        /// When its transmission begins, ns.
        start_ns: Nanos,
        /// When it ends, ns.
        departure_ns: Nanos,
        /// When it reaches the far end, ns.
        delivery_ns: Nanos,
        /// The packet.
        #[serde(flatten)]
        packet: PacketLine,
    },
    /// The queue of an access link was full.
    Drop {
        /// `old` or `new`.
        link: &'static str,
        /// The packet.
        #[serde(flatten)]
        packet: PacketLine,
    },
    /// The link lost the packet: it was down, or lost it while it was up.
    Lose {
        /// `old` or `new`.
        link: &'static str,
        /// It was up.
        #[serde(skip_serializing_if = "is_false")]
        while_up: bool,
        /// The packet.
        #[serde(flatten)]
        packet: PacketLine,
    },
    /// The buffer of an access router was full.
    Overflow {
        /// `old` or `new`: whose router.
        link: &'static str,
        /// The packet.
        #[serde(flatten)]
        packet: PacketLine,
    },
    /// A retransmission timer expired.
    Timeout {
        /// Flow.
        flow: u16,
        /// First unacknowledged packet.
        seq: u32,
        /// Its last transmission.
        copy: u32,
        /// That transmission is delivered after all; `null` before T, where nobody looks.
        spurious: Option<bool>,
    },
    /// A sender enters fast recovery.
    FastRetransmit {
        /// Flow.
        flow: u16,
        /// First unacknowledged packet.
        seq: u32,
        /// Duplicate ACKs heard since it is the first.
        dup_acks: u32,
    },
    /// HyStart ends a sender's slow start.
    #[serde(rename = "hystart")]
    HyStart {
        /// Flow.
        flow: u16,
        /// `ack_train` or `round_trips`.
        sign: &'static str,
        /// Packets.
        ssthresh_before: f64,
        /// Packets.
        ssthresh: f64,
    },
    /// A scheme answers an event.
    Decide {
        /// Flow.
        flow: u16,
        /// The event.
        on: &'static str,
        /// The rules behind the answer.
        rules: Vec<RuleLine>,
        /// Requests of the answer.
        advice: AdviceLine,
    },
    /// The mobile helps a sender that knows nothing, or that sender hears of it.
    Help {
        /// Flow.
        flow: u16,
        /// The act.
        act: &'static str,
        /// The packet that a message quotes.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u32>,
        /// The number of an ACK.
        #[serde(skip_serializing_if = "Option::is_none")]
        ack: Option<u32>,
        /// The bound of the window, packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        window: Option<u32>,
        /// Lost before the uplink.
        #[serde(skip_serializing_if = "is_false")]
        lost: bool,
        /// The sender takes a back-off back.
        #[serde(skip_serializing_if = "is_false")]
        heeded: bool,
        /// The rule behind it.
        rule: &'static str,
    },
    /// A sender has changed.
    State {
        /// Flow.
        flow: u16,
        /// First unacknowledged packet.
        snd_una: u32,
        /// One beyond the highest packet ever sent.
        snd_max: u32,
        /// Packets.
        cwnd: f64,
        /// Packets.
        ssthresh: f64,
        /// Smoothed round-trip time, ns.
        srtt_ns: Option<Nanos>,
        /// RTO with back-off, ns.
        rto_ns: Nanos,
        /// When the timer expires, ns.
        timer_ns: Option<Nanos>,
        /// In fast recovery.
        fast_recovery: bool,
        /// In RTO recovery.
        rto_recovery: bool,
    },
    /// Last line: the measures of docs/reference/bench.md.
    Counts(Counts<'a>),
}

/// Settings of the run.
#[derive(Debug, Serialize)]
pub struct Run<'a> {
    /// Version of these lines.
    version: u32,
    /// Its origin: program, question, links, files.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a Provenance>,
    old: &'a str,
    new: &'a str,
    kind: &'static str,
    disconnect_ns: Nanos,
    flows: usize,
    /// Packets that each direction's queue of the old and the new link holds.
    queues: [u32; 2],
    notice: &'static str,
    notice_delay_ns: Nanos,
    /// Copies of an in-band notice that are lost.
    notice_loss: u32,
    /// Where notices may be wrong: what this one tells of the new link.
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<ToldLine>,
    definition: &'static str,
    stack: &'static str,
    /// Notes for its readers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    settings: BTreeMap<&'a str, &'a str>,
    seed: u64,
    packets: u32,
    at_ns: Nanos,
    completion_ns: Nanos,
    end_ns: Nanos,
    /// The packet that each flow's cumulative ACK has to reach.
    targets: &'a [u32],
}

/// The new link as a notice tells it.
#[derive(Debug, Serialize)]
pub struct ToldLine {
    rate_kbps: u32,
    delay_us: u32,
    /// So much later than notices come otherwise.
    late_ns: Nanos,
}

/// A packet: data have `seq` and `copy`, ACKs have `ack`.
#[derive(Debug, Default, Serialize)]
pub struct PacketLine {
    /// Number of the flow.
    pub flow: u16,
    /// Bytes that links charge.
    pub bytes: u32,
    /// Number of a data packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    /// Number of this transmission among the flow's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<u32>,
    /// Its bytes were sent before.
    #[serde(skip_serializing_if = "is_false")]
    pub resent: bool,
    /// On arrival: its bytes had all been received.
    #[serde(skip_serializing_if = "is_false")]
    pub duplicate: bool,
    /// On arrival: thrown away, for its time stamp is too old (PAWS).
    #[serde(skip_serializing_if = "is_false")]
    pub refused: bool,
    /// A window probe: no data, the number below the window.
    #[serde(skip_serializing_if = "is_false")]
    pub probe: bool,
    /// Cumulative ACK, packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<u32>,
    /// It advertises a window of zero.
    #[serde(skip_serializing_if = "is_false")]
    pub window_closed: bool,
    /// First and last packet of each SACK block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sack: Vec<(u32, u32)>,
    /// The first of these blocks reports a duplicate (RFC 2883).
    #[serde(skip_serializing_if = "is_false")]
    pub dsack: bool,
    /// It carries an option of Segue: a capability or a report.
    #[serde(skip_serializing_if = "is_false")]
    pub option: bool,
    /// It opens a connection.
    #[serde(skip_serializing_if = "is_false")]
    pub syn: bool,
}

#[derive(Debug, Serialize)]
pub struct RuleLine {
    pub name: &'static str,
    /// Section of docs/reference/algorithms.md, or `near 8.1` of docs/reference/near.md.
    pub section: &'static str,
}

/// Requests of an answer; a field is absent if it is not asked for.
#[derive(Debug, Default, Serialize)]
pub struct AdviceLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<f64>,
    /// 0: the stack's own again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto_ns: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dupthresh: Option<u32>,
    /// All other requests, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<&'static str>,
}

/// The record's counts, from completion to the end (docs/reference/bench.md).
#[derive(Debug, Serialize)]
pub struct Counts<'a> {
    transfer_ns: Option<Nanos>,
    bound_ns: Nanos,
    timeouts: usize,
    spurious_timeouts: usize,
    timeouts_in_disconnection: usize,
    fast_retransmits: usize,
    drops: u32,
    lost_in_disconnection: u32,
    /// Packets that links lost while they were up.
    #[serde(skip_serializing_if = "is_zero")]
    link_losses: u32,
    retransmissions: u32,
    needless_retransmissions: u32,
    acknowledged: &'a [u32],
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// All events of a trace, one JSON object a line. `origin`: what it depends on.
pub fn trace_lines(told: &SchemeTrace, origin: Option<&Provenance>) -> Result<String, serde_json::Error> {
    let trace = &told.trace;
    let mut text = String::new();
    let mut push = |ns: Nanos, event: LineEvent| -> Result<(), serde_json::Error> {
        text.push_str(&serde_json::to_string(&Line { ns, scheme: &told.scheme, event })?);
        text.push('\n');
        Ok(())
    };
    push(0, LineEvent::Run(run(told, origin)))?;
    for event in &trace.events {
        push(event.at, line(told, event))?;
    }
    push(trace.end, LineEvent::Counts(counts(told)))?;
    Ok(text)
}

fn run<'a>(told: &'a SchemeTrace, origin: Option<&'a Provenance>) -> Run<'a> {
    let experiment = &told.trace.experiment;
    let record = &told.trace.record;
    Run {
        version: 1,
        origin,
        old: &experiment.old.text,
        new: &experiment.new.text,
        kind: experiment.kind.word(),
        disconnect_ns: experiment.kind.disconnection(),
        flows: experiment.flows,
        queues: [experiment.old.queue, experiment.new.queue],
        notice: experiment.notice.word(),
        notice_delay_ns: experiment.notice_delay,
        notice_loss: match experiment.notice {
            NoticeMode::InBand { lost } => lost,
            NoticeMode::Instant | NoticeMode::Withheld => 0,
        },
        told: told.trace.told.map(|Told { new_link, late }| ToldLine {
            rate_kbps: new_link.rate_kbps,
            delay_us: new_link.delay_us,
            late_ns: late,
        }),
        definition: experiment.definition.word(),
        stack: told.stack,
        notes: unproven(
            [told.stack]
                .into_iter()
                .chain(experiment.neighbours.as_ref().map(|neighbours| neighbours.stack.name)),
        ),
        settings: told.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        seed: experiment.seed,
        packets: experiment.packets,
        at_ns: record.at,
        completion_ns: record.completion,
        end_ns: told.trace.end,
        targets: &told.trace.targets,
    }
}

fn counts(told: &SchemeTrace) -> Counts<'_> {
    let record = &told.trace.record;
    let since = record.timeouts_after().count();
    Counts {
        transfer_ns: record.transfer,
        bound_ns: record.bound,
        timeouts: since,
        spurious_timeouts: record.timeouts_after().filter(|timeout| timeout.spurious).count(),
        timeouts_in_disconnection: record.timeouts.len() - since,
        fast_retransmits: record.fast_retransmits.iter().filter(|f| f.0 >= record.completion).count(),
        drops: record.drops,
        lost_in_disconnection: record.lost_in_disconnection,
        link_losses: record.link_losses,
        retransmissions: record.retransmissions,
        needless_retransmissions: record.needless_retransmissions,
        acknowledged: &record.acknowledged,
    }
}

/// An event as these lines tell it.
pub fn line<'a>(told: &'a SchemeTrace, event: &'a Event) -> LineEvent<'a> {
    match &event.what {
        What::Sent(packet) => LineEvent::Send(packet_line(packet)),
        What::Received { packet, arrival } => {
            let duplicate = *arrival == Some(Arrival::Duplicate) && !packet.is_probe();
            let refused = *arrival == Some(Arrival::Refused);
            LineEvent::Receive(PacketLine { duplicate, refused, ..packet_line(packet) })
        }
        What::Queued { side, packet, start, departure, delivery } => LineEvent::Queue {
            link: side_name(*side),
            start_ns: *start,
            departure_ns: *departure,
            delivery_ns: *delivery,
            packet: packet_line(packet),
        },
        What::Dropped { side, packet } => {
            LineEvent::Drop { link: side_name(*side), packet: packet_line(packet) }
        }
        What::Lost { side, packet, cause } => LineEvent::Lose {
            link: side_name(*side),
            while_up: *cause == LossCause::Link,
            packet: packet_line(packet),
        },
        What::Overflowed { side, packet } => {
            LineEvent::Overflow { link: side_name(*side), packet: packet_line(packet) }
        }
        What::Timeout { flow, head, copy } => {
            let known = told.trace.record.timeouts.iter().find(|t| (t.at, t.flow) == (event.at, *flow));
            let spurious = known.map(|timeout| timeout.spurious);
            LineEvent::Timeout { flow: *flow, seq: *head, copy: *copy, spurious }
        }
        What::FastRetransmit { flow, head, dup_acks } => {
            LineEvent::FastRetransmit { flow: *flow, seq: *head, dup_acks: *dup_acks }
        }
        What::HyStart { flow, sign, before, ssthresh } => LineEvent::HyStart {
            flow: *flow,
            sign: match sign {
                HyStartSign::AckTrain => "ack_train",
                HyStartSign::RoundTrips => "round_trips",
            },
            ssthresh_before: in_packets(*before),
            ssthresh: in_packets(*ssthresh),
        },
        What::Decided { flow, decision } => LineEvent::Decide {
            flow: *flow,
            on: occasion(decision),
            rules: decision
                .rules
                .iter()
                .map(|rule| RuleLine { name: rule.name, section: rule.section })
                .collect(),
            advice: advice(decision),
        },
        What::Acted { flow, act } => help(*flow, act),
        What::State { flow, state } => LineEvent::State {
            flow: *flow,
            snd_una: state.snd_una,
            snd_max: state.snd_max,
            cwnd: in_packets(state.cwnd),
            ssthresh: in_packets(state.ssthresh),
            srtt_ns: state.srtt,
            rto_ns: state.rto,
            timer_ns: state.timer,
            fast_recovery: state.in_fast_recovery,
            rto_recovery: state.in_rto_recovery,
        },
    }
}

fn help(flow: u16, act: &Act) -> LineEvent<'static> {
    let (mut seq, mut ack, mut window, mut lost, mut heeded) = (None, None, None, false, false);
    match *act {
        Act::Message { seq: of, lost: is_lost } | Act::Octet { seq: of, lost: is_lost } => {
            (seq, lost) = (Some(of), is_lost)
        }
        Act::MessageLost { seq: of } => seq = Some(of),
        Act::MessageHeard { seq: of, heeded: is_heeded } => (seq, heeded) = (Some(of), is_heeded),
        Act::LastAck { ack: of, lost: is_lost } | Act::EarlyAck { ack: of, lost: is_lost } => {
            (ack, lost) = (Some(of), is_lost)
        }
        Act::NotEchoed { ack: of } => ack = Some(of),
        Act::Bounded { window: packets, .. } => window = Some(packets),
        Act::Resumed | Act::Answered | Act::LeftAlone | Act::Unbounded => {}
    }
    LineEvent::Help { flow, act: act.name(), seq, ack, window, lost, heeded, rule: act.rule() }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Old => "old",
        Side::New => "new",
    }
}

fn packet_line(packet: &Packet) -> PacketLine {
    let segment: &Segment = &packet.segment;
    let common = PacketLine {
        flow: packet.flow,
        bytes: packet.bytes,
        syn: segment.syn,
        option: !segment.option.is_empty(),
        ..PacketLine::default()
    };
    if packet.data {
        PacketLine {
            seq: Some(segment.seq),
            copy: Some(packet.copy),
            resent: packet.retransmission,
            probe: packet.is_probe(),
            ..common
        }
    } else {
        PacketLine {
            ack: Some(segment.ack),
            window_closed: segment.window == 0,
            sack: segment.sack.as_slice().to_vec(),
            dsack: segment.sack.dsack(segment.ack).is_some(),
            ..common
        }
    }
}
