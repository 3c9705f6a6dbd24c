//! The events of traces as an Arrow record batch (docs/guide/trace.md). It has the lines of
//! [`segue_export::trace_lines`] between the first and the last, one row each. Fields that an event does not have are
//! null.

use crate::rows::{ArrowError, batch};
use arrow_array::RecordBatch;
use segue_export::{LineEvent, PacketLine, line};
use segue_study::explain::SchemeTrace;
use segue_world::Nanos;
use serde::{Deserialize, Serialize};

/// An event, flat.
#[derive(Debug, Default, Deserialize, Serialize)]
struct EventRow<'a> {
    ns: Nanos,
    scheme: &'a str,
    event: &'a str,
    flow: u16,
    link: Option<&'a str>,
    bytes: Option<u32>,
    seq: Option<u32>,
    copy: Option<u32>,
    ack: Option<u32>,
    /// `2112-2115 2120`: first and last packet of each block.
    sack: Option<String>,
    dsack: Option<bool>,
    resent: Option<bool>,
    duplicate: Option<bool>,
    probe: Option<bool>,
    window_closed: Option<bool>,
    option: Option<bool>,
    syn: Option<bool>,
    start_ns: Option<Nanos>,
    departure_ns: Option<Nanos>,
    delivery_ns: Option<Nanos>,
    spurious: Option<bool>,
    dup_acks: Option<u32>,
    on: Option<&'a str>,
    /// `A1 (2.1), A2 (2.2)`: name and section of docs/reference/algorithms.md.
    rules: Option<String>,
    /// Names of what else a decision asks for.
    advice: Option<String>,
    min_rto_ns: Option<Nanos>,
    dupthresh: Option<u32>,
    snd_una: Option<u32>,
    snd_max: Option<u32>,
    /// Window of a state, or asked for by a decision; packets.
    cwnd: Option<f64>,
    ssthresh: Option<f64>,
    srtt_ns: Option<Nanos>,
    rto_ns: Option<Nanos>,
    timer_ns: Option<Nanos>,
    fast_recovery: Option<bool>,
    rto_recovery: Option<bool>,
    /// Cause of a loss: by the link while it was up, and not by the disconnection.
    while_up: Option<bool>,
    /// Help of a mobile alone: its kind.
    act: Option<&'a str>,
    /// Bound of a window, packets.
    window: Option<u32>,
    /// Lost before the uplink.
    lost: Option<bool>,
    /// The sender takes a back-off back.
    heeded: Option<bool>,
    /// End of slow start by HyStart: its sign, and ssthresh before it, packets.
    sign: Option<&'a str>,
    ssthresh_before: Option<f64>,
}

/// One row per event and scheme.
pub fn events_arrow(traces: &[SchemeTrace]) -> Result<RecordBatch, ArrowError> {
    let rows = traces.iter().flat_map(|told| {
        let of = move |event| row(line(told, event));
        let events = told.trace.events.iter();
        events.map(move |event| EventRow { ns: event.at, scheme: &told.scheme, ..of(event) })
    });
    batch(&rows.collect::<Vec<_>>())
}

fn row(event: LineEvent<'_>) -> EventRow<'_> {
    match event {
        // The run's settings and counts are no events.
        LineEvent::Run(_) | LineEvent::Counts(_) => EventRow::default(),
        LineEvent::Send(packet) => EventRow { event: "send", ..of_packet(packet) },
        LineEvent::Receive(packet) => EventRow { event: "receive", ..of_packet(packet) },
        LineEvent::Queue { link, start_ns, departure_ns, delivery_ns, packet } => EventRow {
            event: "queue",
            link: Some(link),
            start_ns: Some(start_ns),
            departure_ns: Some(departure_ns),
            delivery_ns: Some(delivery_ns),
            ..of_packet(packet)
        },
        LineEvent::Drop { link, packet } => EventRow { event: "drop", link: Some(link), ..of_packet(packet) },
        LineEvent::Lose { link, packet, while_up } => {
            EventRow { event: "lose", link: Some(link), while_up: Some(while_up), ..of_packet(packet) }
        }
        LineEvent::Overflow { link, packet } => {
            EventRow { event: "overflow", link: Some(link), ..of_packet(packet) }
        }
        LineEvent::Timeout { flow, seq, copy, spurious } => EventRow {
            event: "timeout",
            flow,
            seq: Some(seq),
            copy: Some(copy),
            spurious,
            ..EventRow::default()
        },
        LineEvent::FastRetransmit { flow, seq, dup_acks } => EventRow {
            event: "fast_retransmit",
            flow,
            seq: Some(seq),
            dup_acks: Some(dup_acks),
            ..EventRow::default()
        },
        LineEvent::HyStart { flow, sign, ssthresh_before, ssthresh } => EventRow {
            event: "hystart",
            flow,
            sign: Some(sign),
            ssthresh_before: Some(ssthresh_before),
            ssthresh: Some(ssthresh),
            ..EventRow::default()
        },
        LineEvent::Decide { flow, on, rules, advice } => EventRow {
            event: "decide",
            flow,
            on: Some(on),
            rules: Some(joined(rules.iter().map(|rule| format!("{} ({})", rule.name, rule.section)), ", ")),
            advice: Some(joined(advice.also.iter().map(|name| name.to_string()), ", ")),
            min_rto_ns: advice.min_rto_ns,
            dupthresh: advice.dupthresh,
            cwnd: advice.cwnd,
            ssthresh: advice.ssthresh,
            ..EventRow::default()
        },
        LineEvent::Help { flow, act, seq, ack, window, lost, heeded, rule } => EventRow {
            event: "help",
            flow,
            act: Some(act),
            seq,
            ack,
            window,
            lost: Some(lost),
            heeded: Some(heeded),
            rules: Some(rule.to_string()),
            ..EventRow::default()
        },
        LineEvent::State {
            flow,
            snd_una,
            snd_max,
            cwnd,
            ssthresh,
            srtt_ns,
            rto_ns,
            timer_ns,
            fast_recovery,
            rto_recovery,
        } => EventRow {
            event: "state",
            flow,
            snd_una: Some(snd_una),
            snd_max: Some(snd_max),
            cwnd: Some(cwnd),
            ssthresh: Some(ssthresh),
            srtt_ns,
            rto_ns: Some(rto_ns),
            timer_ns,
            fast_recovery: Some(fast_recovery),
            rto_recovery: Some(rto_recovery),
            ..EventRow::default()
        },
    }
}

fn of_packet<'a>(packet: PacketLine) -> EventRow<'a> {
    let block = |&(left, right): &(u32, u32)| match right - left {
        1 => left.to_string(),
        _ => format!("{left}-{}", right - 1),
    };
    EventRow {
        flow: packet.flow,
        bytes: Some(packet.bytes),
        seq: packet.seq,
        copy: packet.copy,
        ack: packet.ack,
        sack: (!packet.sack.is_empty()).then(|| joined(packet.sack.iter().map(block), " ")),
        dsack: Some(packet.dsack),
        resent: Some(packet.resent),
        duplicate: Some(packet.duplicate),
        probe: Some(packet.probe),
        window_closed: Some(packet.window_closed),
        option: Some(packet.option),
        syn: Some(packet.syn),
        ..EventRow::default()
    }
}

fn joined(words: impl Iterator<Item = String>, between: &str) -> String {
    words.collect::<Vec<_>>().join(between)
}
