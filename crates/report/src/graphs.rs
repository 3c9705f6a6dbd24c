//! From a trace to pictures: one flow's packets and windows, and the queues of both links.

use segue_draw::{
    About, Handoff, LinkQueue, Notice, Point, QueueGraph, SequenceGraph, Timeline, WindowGraph,
};
use segue_handoff::Occasion;
use segue_study::explain::SchemeTrace;
use segue_study::story::round_trip;
use segue_world::trace::{Event, LossCause, Side, Trace, What};
use segue_world::{Kind, Nanos, SECOND};
use std::collections::BTreeSet;

/// The pictures of one handoff with one scheme.
pub struct Graphs {
    /// The flow that is shown: the slowest.
    pub flow: u16,
    /// Packets over time.
    pub sequence: SequenceGraph,
    /// The same around the handoff, where that is a small part of the whole.
    pub zoom: Option<SequenceGraph>,
    /// Windows over time.
    pub window: WindowGraph,
    /// Queues over time.
    pub queue: QueueGraph,
}

pub(crate) fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// The flow whose cumulative ACK reached its target last, or never.
pub(crate) fn slowest(trace: &Trace) -> u16 {
    let mut reached: Vec<Option<Nanos>> = vec![None; trace.targets.len()];
    for event in trace.events.iter().filter(|event| event.at >= trace.record.completion) {
        if let What::State { flow, state } = &event.what {
            let index = usize::from(*flow);
            if state.snd_una >= trace.targets[index] && reached[index].is_none() {
                reached[index] = Some(event.at);
            }
        }
    }
    let latest = reached
        .iter()
        .enumerate()
        .max_by_key(|(index, at)| (at.unwrap_or(Nanos::MAX), std::cmp::Reverse(*index)));
    latest.map_or(0, |(index, _)| index as u16)
}

/// Most that is shown of what was before the handoff.
const MOST_BEFORE: Nanos = SECOND;

/// The shown time of `flow`: a little before the handoff, and all until the end. A fast old link would fill the
/// picture with its packets, so they take a quarter of its height at most.
fn span(trace: &Trace, flow: u16) -> (Nanos, Nanos) {
    let at = trace.record.at;
    let length = trace.end - at;
    let mut from = at.saturating_sub((length / 8).clamp(SECOND / 20, MOST_BEFORE));
    let states = || {
        trace.events.iter().filter_map(|event| match &event.what {
            What::State { flow: whose, state } if *whose == flow => Some((event.at, state.snd_max)),
            _ => None,
        })
    };
    let sent_before = states().take_while(|(time, _)| *time <= at).last().map_or(0, |(_, max)| max);
    let target = trace.targets.get(usize::from(flow)).copied().unwrap_or(0);
    let shown_before = (target.saturating_sub(sent_before) / 3).max(20);
    if let Some((time, _)) = states().find(|(_, max)| *max + shown_before >= sent_before) {
        from = from.max(time.min(at));
    }
    (from, trace.end + length / 50)
}

pub(crate) fn timeline(told: &SchemeTrace, flow: u16) -> Timeline {
    let trace = &told.trace;
    let (at, completion) = (seconds(trace.record.at), seconds(trace.record.completion));
    let (from, to) = span(trace, flow);
    let heard = trace.events.iter().filter_map(|event| match &event.what {
        What::Decided { flow: whose, decision } if *whose == flow => {
            let label = match decision.occasion {
                Occasion::Notice(_) => "notice",
                Occasion::Start(_) => "HO Start",
                Occasion::Finish => "HO Finish",
                _ => return None,
            };
            Some(Notice { time: seconds(event.at), label: label.into() })
        }
        _ => None,
    });
    Timeline {
        span: Some((seconds(from), seconds(to))),
        handoff: Some(match trace.experiment.kind {
            Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => Handoff::Instant(at),
            Kind::Bbm(_) => Handoff::Disconnection(at, completion),
        }),
        notices: heard.collect(),
    }
}

/// Pictures of `told`; `id` is unique in the page.
pub fn graphs(told: &SchemeTrace, id: &str) -> Graphs {
    let flow = slowest(&told.trace);
    let timeline = timeline(told, flow);
    let sequence = sequence(told, flow, timeline.clone(), id);
    Graphs {
        flow,
        zoom: zoom(told, &sequence),
        sequence,
        window: window(told, flow, timeline.clone(), id),
        queue: queue(told, flow, timeline, id),
    }
}

/// How much longer the whole has to be than what decides.
const ZOOM: Nanos = 4;

/// The decisive time, on a slow link a small part of the picture: from the handoff to three round trips after it.
fn zoom(told: &SchemeTrace, whole: &SequenceGraph) -> Option<SequenceGraph> {
    let trace = &told.trace;
    let record = &trace.record;
    let decided = 3 * round_trip(&trace.experiment);
    let to = record.completion + decided;
    if trace.end - record.at <= ZOOM * (to - record.at) {
        return None;
    }
    let from = seconds(record.at.saturating_sub((to - record.at) / 10));
    let shown_from = whole.timeline.span.map_or(from, |span| from.max(span.0));
    let mut graph = SequenceGraph { target: None, end: None, ..whole.clone() };
    graph.timeline.span = Some((shown_from, seconds(to)));
    graph.about = about(told, "", "", "Around the handoff", whole.about.description.clone());
    graph.about.id = format!("{}-zoom", whole.about.id);
    Some(graph)
}

fn about(told: &SchemeTrace, id: &str, what: &str, title: &str, description: String) -> About {
    let title = format!("{title}, {}, handoff at {} s", told.scheme, seconds(told.trace.record.at));
    About { id: format!("{id}-{what}"), title, description, heading: String::new() }
}

fn sequence(told: &SchemeTrace, flow: u16, timeline: Timeline, id: &str) -> SequenceGraph {
    let trace = &told.trace;
    let (from, _) = span(trace, flow);
    let needless = told.needless();
    let mut graph = SequenceGraph {
        timeline,
        target: trace.targets.get(usize::from(flow)).map(|&target| f64::from(target)),
        end: trace.record.transfer.map(|_| seconds(trace.end)),
        ..SequenceGraph::default()
    };
    let mut acknowledged = None;
    for event in &trace.events {
        let at = |value: u32| Point::new(seconds(event.at), f64::from(value));
        if let What::State { flow: whose, state } = &event.what
            && *whose == flow
        {
            if acknowledged != Some(state.snd_una) && event.at >= from {
                graph.ack.push(at(state.snd_una));
            } else if event.at < from {
                graph.ack = vec![Point::new(seconds(from), f64::from(state.snd_una))];
            }
            acknowledged = Some(state.snd_una);
        }
        if event.at >= from {
            mark(&mut graph, trace, event, flow, &needless);
        }
    }
    graph.about = about(
        told,
        id,
        "sequence",
        "Time-sequence graph",
        format!(
            "Packet numbers over time: {} sent for the first time, {} sent again, {} of them needlessly, {} lost, {} \
             timeouts, {} fast retransmits.",
            graph.first_transmissions.len(),
            graph.retransmissions.len() + graph.needless.len(),
            graph.needless.len(),
            graph.drops.len(),
            graph.timeouts.len(),
            graph.fast_retransmits.len(),
        ),
    );
    graph
}

/// An event of this flow in its graph.
fn mark(
    graph: &mut SequenceGraph,
    trace: &Trace,
    event: &Event,
    flow: u16,
    needless: &impl Fn(u16, u32) -> bool,
) {
    let at = |value: u32| Point::new(seconds(event.at), f64::from(value));
    match &event.what {
        What::Sent(packet) if packet.data && !packet.is_probe() && packet.flow == flow => {
            let point = at(packet.segment.seq);
            if !packet.retransmission {
                graph.first_transmissions.push(point);
            } else if needless(flow, packet.copy) {
                graph.needless.push(point);
            } else {
                graph.retransmissions.push(point);
            }
        }
        What::Received { packet, .. } if !packet.data && packet.flow == flow => {
            let blocks = packet.segment.sack.as_slice().iter();
            graph.sacks.extend(blocks.filter(|block| block.0 > packet.segment.ack).map(|block| {
                segue_draw::Sack { time: seconds(event.at), from: f64::from(block.0), to: f64::from(block.1) }
            }));
        }
        What::Dropped { side, packet }
        | What::Lost { side, packet, .. }
        | What::Overflowed { side, packet }
            if packet.flow == flow =>
        {
            let place = match (&event.what, side) {
                _ if !packet.data => segue_draw::DropPlace::Ack,
                (What::Lost { cause: LossCause::Link, .. }, _) => segue_draw::DropPlace::Link,
                (What::Lost { .. }, _) => segue_draw::DropPlace::Disconnection,
                (_, Side::Old) => segue_draw::DropPlace::OldQueue,
                (_, Side::New) => segue_draw::DropPlace::NewQueue,
            };
            let number = if packet.data { packet.segment.seq } else { packet.segment.ack };
            graph.drops.push(segue_draw::Drop { at: at(number), place });
        }
        What::Timeout { flow: whose, head, .. } if *whose == flow => {
            let known = trace.record.timeouts.iter().find(|t| (t.at, t.flow) == (event.at, flow));
            let spurious = known.is_some_and(|timeout| timeout.spurious);
            graph.timeouts.push(segue_draw::Timeout { at: at(*head), spurious });
        }
        What::FastRetransmit { flow: whose, head, .. } if *whose == flow => {
            graph.fast_retransmits.push(at(*head));
        }
        _ => {}
    }
}

fn window(told: &SchemeTrace, flow: u16, timeline: Timeline, id: &str) -> WindowGraph {
    let (from, _) = span(&told.trace, flow);
    let (mut cwnd, mut ssthresh, mut flight) = (Vec::new(), Vec::new(), Vec::new());
    for event in &told.trace.events {
        let What::State { flow: whose, state } = &event.what else { continue };
        if *whose != flow {
            continue;
        }
        // Values from before stay only while they hold.
        if event.at <= from {
            [&mut cwnd, &mut ssthresh, &mut flight].into_iter().for_each(Vec::clear);
        }
        let time = seconds(event.at.max(from));
        step(&mut cwnd, time, f64::from(state.cwnd) / 256.0);
        step(&mut ssthresh, time, f64::from(state.ssthresh) / 256.0);
        step(&mut flight, time, f64::from(state.flight()));
    }
    let description =
        "Congestion window, slow-start threshold and FlightSize of one flow over time.".to_string();
    let about = about(told, id, "window", "Windows", description);
    WindowGraph { about, timeline, cwnd, ssthresh, flight }
}

/// Adds a value that holds from `time` on; at one instant the last counts.
pub(crate) fn step(line: &mut Vec<Point>, time: f64, value: f64) {
    match line.last_mut() {
        Some(last) if last.value == value => {}
        Some(last) if last.time == time => last.value = value,
        _ => line.push(Point::new(time, value)),
    }
}

fn queue(told: &SchemeTrace, flow: u16, timeline: Timeline, id: &str) -> QueueGraph {
    let experiment = &told.trace.experiment;
    let links = [(Side::Old, &experiment.old, "old"), (Side::New, &experiment.new, "new")];
    let [old, new] = links.map(|(side, link, name)| LinkQueue {
        label: format!("{name} link {}", link.text),
        limit: Some(f64::from(link.queue)),
        ..queue_of(&told.trace, side, span(&told.trace, flow))
    });
    let description =
        "Packets in the queues of the old and the new link towards the mobile, and how long each data \
                       packet waited there."
            .to_string();
    QueueGraph { about: about(told, id, "queue", "Queues", description), timeline, old, new }
}

/// Length and waits of the queue towards the mobile, in the time shown.
fn queue_of(trace: &Trace, side: Side, (from, to): (Nanos, Nanos)) -> LinkQueue {
    // Departures before arrivals at one instant; each event has a number of its own.
    let mut changes: BTreeSet<(Nanos, u8, usize)> = BTreeSet::new();
    let mut queue = LinkQueue::default();
    for (number, event) in trace.events.iter().enumerate() {
        let What::Queued { side: whose, packet, start, departure, .. } = &event.what else { continue };
        if *whose != side || !packet.data || *departure < from {
            continue;
        }
        changes.insert((event.at, 1, number));
        changes.insert((*departure, 0, number));
        if event.at >= from {
            queue.delays.push(Point::new(seconds(*start), seconds(start - event.at)));
        }
    }
    let mut length = 0.0;
    for (at, arrives, _) in changes {
        length += if arrives == 1 { 1.0 } else { -1.0 };
        if at < to {
            step(&mut queue.length, seconds(at.max(from)), length);
        }
    }
    queue
}
