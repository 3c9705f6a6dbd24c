//! A trace as qlog, which qvis opens: one trace for each flow, as its sender sees it. It is contained JSON of version
//! 0.3 (draft-ietf-quic-qlog-main-schema-02, with the events of draft-ietf-quic-qlog-quic-events-01).
//!
//! qlog is made for QUIC, and TCP is told in its words. Each transmission has a number of its own, as in QUIC, so that
//! a packet sent again is another one. An ACK names the transmissions whose bytes it reports for the first time.
//! Windows count bytes on the wire, as lengths of packets do.

use crate::Provenance;
use segue_study::decision_words::decision_in_words;
use segue_study::explain::SchemeTrace;
use segue_study::story::headline;
use segue_study::tcp_rules::hystart_in_words;
use segue_tcp::Window256;
use segue_tcp::encode::byte_number;
use segue_tcp::receiver::Arrival;
use segue_world::Nanos;
use segue_world::access::PACKET_BYTES;
use segue_world::packet::Packet;
use segue_world::trace::{LossCause, SenderState, Side, What};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// From here on a threshold says that there has been no cut.
const UNLIMITED: Window256 = 1 << 28;

/// A file. Readers look for the first two fields at its very beginning.
#[derive(Debug, Serialize)]
struct File<'a> {
    qlog_version: &'static str,
    qlog_format: &'static str,
    title: String,
    description: String,
    traces: Vec<FlowTrace<'a>>,
    /// Readers leave out what they do not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a Provenance>,
}

#[derive(Debug, Serialize)]
struct FlowTrace<'a> {
    title: String,
    vantage_point: Value,
    common_fields: Value,
    events: Vec<Event<'a>>,
}

#[derive(Debug, Serialize)]
struct Event<'a> {
    /// ms since the beginning of the simulation.
    time: f64,
    name: &'a str,
    data: Value,
}

/// One qlog file: all flows of a trace from the first SYN on, and where they come from.
///
/// # Errors
/// The JSON writer's.
pub fn qlog(told: &SchemeTrace, origin: Option<&Provenance>) -> Result<String, serde_json::Error> {
    let experiment = &told.trace.experiment;
    let title = format!("{}, scheme {}", headline(experiment), told.scheme);
    let flows = 0..u16::try_from(experiment.flows).unwrap_or(u16::MAX);
    let file = File {
        qlog_version: "0.3",
        qlog_format: "JSON",
        description: format!("Segue {}: TCP of the stack {}", env!("CARGO_PKG_VERSION"), told.stack),
        traces: flows
            .map(|flow| FlowTrace {
                title: format!("{}, flow {flow}", told.scheme),
                vantage_point: json!({ "name": "sender", "type": "server" }),
                common_fields: json!({
                    "protocol_type": ["TCP"],
                    "time_format": "relative",
                    "reference_time": 0,
                    "group_id": format!("{} {flow}", told.scheme),
                }),
                events: events(told, flow),
            })
            .collect(),
        origin,
        title,
    };
    serde_json::to_string(&file).map(|text| text + "\n")
}

fn events(told: &SchemeTrace, flow: u16) -> Vec<Event<'static>> {
    let trace = &told.trace;
    let mut log = Log::default();
    let handoff = [(trace.record.at, "the handoff begins"), (trace.record.completion, "the new link is up")];
    let mut marks = handoff.into_iter().peekable();
    for event in &trace.events {
        while let Some((at, mark)) = marks.next_if(|(at, _)| *at <= event.at) {
            log.mark(at, "handoff", mark.to_string());
        }
        log.event(told, flow, event.at, &event.what);
    }
    log.events
}

/// Packets that the sender has sent and heard.
#[derive(Default)]
struct Log {
    events: Vec<Event<'static>>,
    /// The last transmission of each packet.
    last: BTreeMap<u32, u32>,
    /// The transmission that brought each packet, until an ACK reports it.
    brought: BTreeMap<u32, u32>,
    /// ACKs heard.
    heard: u64,
    /// As it was last told.
    state: Option<SenderState>,
}

impl Log {
    fn push(&mut self, at: Nanos, name: &'static str, data: Value) {
        self.events.push(Event { time: ms(at), name, data });
    }

    /// Events that QUIC has no name for.
    fn mark(&mut self, at: Nanos, kind: &str, message: String) {
        self.push(at, "simulation:marker", json!({ "type": kind, "message": message }));
    }

    fn event(&mut self, told: &SchemeTrace, flow: u16, at: Nanos, what: &What) {
        match what {
            What::Sent(packet) if packet.data && packet.flow == flow => self.sent(told, at, packet),
            // The first of several copies counts.
            What::Received { packet, arrival }
                if packet.data && packet.flow == flow && *arrival == Some(Arrival::New) =>
            {
                self.brought.entry(packet.segment.seq).or_insert(packet.copy);
            }
            What::Received { packet, .. } if !packet.data && packet.flow == flow && !packet.segment.syn => {
                self.heard(at, packet);
            }
            What::Dropped { side, packet } if packet.flow == flow => {
                self.mark(at, "loss", format!("{}: the queue of the {} is full", named(packet), link(*side)));
            }
            What::Lost { side, packet, cause } if packet.flow == flow => {
                let on = if *cause == LossCause::Link { "on the" } else { "in the disconnection of the" };
                self.mark(at, "loss", format!("{}: lost {on} {}", named(packet), link(*side)));
            }
            What::Overflowed { packet, .. } if packet.flow == flow => {
                self.mark(at, "loss", format!("{}: the buffer of the router is full", named(packet)));
            }
            What::Timeout { flow: of, .. } if *of == flow => {
                let data = json!({ "timer_type": "pto", "event_type": "expired" });
                self.push(at, "recovery:loss_timer_updated", data);
            }
            What::HyStart { flow: of, sign, before, ssthresh } if *of == flow => {
                self.mark(at, "hystart", hystart_in_words(*sign, *before, *ssthresh));
            }
            What::Decided { flow: of, decision } if *of == flow => {
                self.mark(at, "decision", decision_in_words(decision));
            }
            What::Acted { flow: of, act } if *of == flow => {
                self.mark(at, "help", format!("{act} [{}]", act.rule()));
            }
            What::State { flow: of, state } if *of == flow => self.state(at, state),
            _ => {}
        }
    }

    fn sent(&mut self, told: &SchemeTrace, at: Nanos, packet: &Packet) {
        let segment = &packet.segment;
        let before = if packet.is_probe() { None } else { self.last.insert(segment.seq, packet.copy) };
        if let Some(lost) = before {
            // A sender that sends a packet again takes the transmission before for lost.
            let by_timer = self.state.is_some_and(|state| state.in_rto_recovery);
            let trigger = if by_timer { "pto_expired" } else { "reordering_threshold" };
            self.push(
                at,
                "recovery:packet_lost",
                json!({ "header": header(lost.into()), "trigger": trigger }),
            );
        }
        let offset = byte_number(&told.trace.experiment.stack, segment.seq);
        let frame = json!({
            "frame_type": "stream",
            "stream_id": 0,
            "offset": offset,
            "length": segment.payload,
        });
        let data = json!({
            "header": header(packet.copy.into()),
            "raw": { "length": packet.bytes },
            "frames": [frame],
        });
        self.push(at, "transport:packet_sent", data);
    }

    fn heard(&mut self, at: Nanos, packet: &Packet) {
        let segment = &packet.segment;
        let reported = |seq: u32| {
            seq < segment.ack
                || segment.sack.as_slice().iter().any(|&(first, last)| (first..=last).contains(&seq))
        };
        let (fresh, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.brought).into_iter().partition(|&(seq, _)| reported(seq));
        self.brought = rest;
        let ranges = ranges(&fresh.into_values().collect());
        let frames = match ranges.is_empty() {
            true => json!([]),
            false => json!([{ "frame_type": "ack", "acked_ranges": ranges }]),
        };
        let data =
            json!({ "header": header(self.heard), "raw": { "length": packet.bytes }, "frames": frames });
        self.heard += 1;
        self.push(at, "transport:packet_received", data);
    }

    fn state(&mut self, at: Nanos, state: &SenderState) {
        // In 256ths of a packet.
        let bytes = |window: Window256| u64::from(window) * PACKET_BYTES / 256;
        let mut data = json!({
            "congestion_window": bytes(state.cwnd),
            "bytes_in_flight": u64::from(state.flight()) * PACKET_BYTES,
        });
        if state.ssthresh < UNLIMITED {
            data["ssthresh"] = json!(bytes(state.ssthresh));
        }
        if let Some(srtt) = state.srtt {
            data["smoothed_rtt"] = json!(ms(srtt));
        }
        self.push(at, "recovery:metrics_updated", data);
        let now = phase(state);
        if self.state.as_ref().map(phase) != Some(now) {
            self.push(at, "recovery:congestion_state_updated", json!({ "new": now }));
        }
        self.state = Some(*state);
    }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

/// The phase of congestion control.
fn phase(state: &SenderState) -> &'static str {
    match state {
        _ if state.in_fast_recovery => "recovery",
        _ if state.cwnd < state.ssthresh => "slow_start",
        _ => "congestion_avoidance",
    }
}

/// Numbers in runs: first and last of each.
fn ranges(numbers: &BTreeSet<u32>) -> Vec<[u32; 2]> {
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => ranges.push([number, number]),
        }
    }
    ranges
}

fn named(packet: &Packet) -> String {
    match packet.data {
        true => format!("packet {}, transmission {}", packet.segment.seq, packet.copy),
        false => format!("ACK {}", packet.segment.ack),
    }
}

fn link(side: Side) -> &'static str {
    match side {
        Side::Old => "old link",
        Side::New => "new link",
    }
}

fn ms(time: Nanos) -> f64 {
    time as f64 / 1e6
}
