//! All schemes of one handoff in one picture over time: when nothing came, and the delay in managed queues.

use crate::graphs::{seconds, slowest, step, timeline};
use crate::looks;
use segue_draw::{
    About, Point, QueueDelay, QueueDelayGraph, QueueDelayPlot, Series, StallChart, StallRow, Timeline,
};
use segue_study::explain::SchemeTrace;
use segue_study::stalls::stalls;
use segue_tcp::segment::Ecn;
use segue_world::access::QueueWord;
use segue_world::trace::{Side, Trace, What};
use segue_world::{AccessLink, Nanos};

/// Beyond the longest transfer that ends so much of its time is shown of those that do not.
const BEYOND: Nanos = 4;

/// The pictures of one handoff with all schemes.
pub struct Beside {
    /// When nothing came.
    pub stalls: StallChart,
    /// Delay in the queues; `None`: no queue of data is managed.
    pub queue_delay: Option<QueueDelayGraph>,
}

/// `id` is unique in the page.
pub fn beside(traces: &[SchemeTrace], id: &str) -> Beside {
    let timeline = common_timeline(traces);
    let series = looks::series(traces.iter().map(|told| (told.scheme.as_str(), told.scheme.clone())));
    Beside {
        stalls: stall_chart(traces, &series, timeline.clone(), id),
        queue_delay: queue_delay(traces, &series, timeline, id),
    }
}

/// From the first to the last time that the pictures of a scheme show. Notices belong to one scheme each.
fn common_timeline(traces: &[SchemeTrace]) -> Timeline {
    let of = |told: &SchemeTrace| Timeline { notices: Vec::new(), ..timeline(told, slowest(&told.trace)) };
    let Some(mut common) = traces.first().map(of) else { return Timeline::default() };
    let done = traces.iter().filter(|told| told.trace.record.transfer.is_some());
    let last = done.map(|told| told.trace.end - told.trace.record.at).max();
    let shown = last.map_or(Nanos::MAX, |last| last + last / BEYOND);
    for told in traces {
        let until = seconds(told.trace.record.at.saturating_add(shown));
        let own = of(told).span;
        common.span = common
            .span
            .zip(own)
            .map(|((from, to), (own_from, own_to))| (from.min(own_from), to.max(own_to).min(until)));
    }
    common
}

fn about(traces: &[SchemeTrace], id: &str, what: &str, title: &str, description: &str) -> About {
    let at = traces.first().map_or(0.0, |told| seconds(told.trace.record.at));
    About {
        id: format!("{id}-{what}"),
        title: format!("{title}, handoff at {at} s"),
        description: description.into(),
        heading: String::new(),
    }
}

fn stall_chart(traces: &[SchemeTrace], series: &[Series], timeline: Timeline, id: &str) -> StallChart {
    let row = |(told, series): (&SchemeTrace, &Series)| {
        let trace = &told.trace;
        let stalls = stalls(trace, slowest(trace));
        StallRow {
            series: series.clone(),
            stalls: stalls.into_iter().map(|(from, until)| (seconds(from), seconds(until))).collect(),
            end: trace.record.transfer.map(|_| seconds(trace.end)),
        }
    };
    let description = "One row per scheme, as long as its transfer lasts, with a bar for each time in which nothing new \
                       came in order for more than 200 ms.";
    StallChart {
        about: about(traces, id, "stalls", "Stalls", description),
        timeline,
        rows: traces.iter().zip(series).map(row).collect(),
    }
}

fn queue_delay(
    traces: &[SchemeTrace],
    series: &[Series],
    timeline: Timeline,
    id: &str,
) -> Option<QueueDelayGraph> {
    let experiment = &traces.first()?.trace.experiment;
    let upward = experiment.traffic.as_ref().is_some_and(|traffic| traffic.is_upward());
    let queue = |link: &AccessLink| link.features[usize::from(upward)].queue;
    let links = [(Side::Old, &experiment.old, "old"), (Side::New, &experiment.new, "new")];
    let managed = links.into_iter().filter(|(_, link, _)| queue(link) != QueueWord::DropTail);
    let plots: Vec<QueueDelayPlot> = managed
        .map(|(side, link, name)| QueueDelayPlot {
            label: format!("{name} link, {}", queue(link)),
            target: queue(link).target().map(seconds),
            courses: traces
                .iter()
                .zip(series)
                .map(|(told, series)| course(&told.trace, side, series))
                .collect(),
        })
        .collect();
    let description = "How long each data packet waited in the managed queues, one curve per scheme, with what the queues \
                       dropped and marked.";
    (!plots.is_empty()).then(|| QueueDelayGraph {
        about: about(traces, id, "queue-delay", "Queueing delay", description),
        timeline,
        plots,
    })
}

/// The queue of a link as the data of a scheme met it.
fn course(trace: &Trace, side: Side, series: &Series) -> QueueDelay {
    // Begin of the transmission, end, arrival.
    let mut passed: Vec<(Nanos, Nanos, Nanos)> = Vec::new();
    let (mut drops, mut marks) = (Vec::new(), Vec::new());
    for event in &trace.events {
        match &event.what {
            What::Queued { side: whose, packet, start, departure, .. } if *whose == side && packet.data => {
                passed.push((*start, *departure, event.at));
                if packet.segment.ecn.says(Ecn::CE) {
                    marks.push(seconds(*start));
                }
            }
            What::Dropped { side: whose, packet } if *whose == side && packet.data => {
                drops.push(seconds(event.at))
            }
            _ => {}
        }
    }
    QueueDelay { series: series.clone(), delays: waits(passed), end: Some(seconds(trace.end)), drops, marks }
}

/// The wait of each packet when its transmission begins, and 0 from the end of one on that none is behind.
fn waits(mut passed: Vec<(Nanos, Nanos, Nanos)>) -> Vec<Point> {
    passed.sort_unstable();
    // The first arrival among those that are sent later: flows have queues of their own.
    let mut next_arrival = vec![Nanos::MAX; passed.len()];
    for index in (1..passed.len()).rev() {
        next_arrival[index - 1] = next_arrival[index].min(passed[index].2);
    }
    let mut delays = Vec::new();
    for (&(start, departure, arrival), next) in passed.iter().zip(next_arrival) {
        step(&mut delays, seconds(start), seconds(start - arrival));
        if next > departure {
            step(&mut delays, seconds(departure), 0.0);
        }
    }
    delays
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, in ms: the first waits for nothing and takes 2, the second waits 1 behind it; then the queue is empty
    /// until 10. There two flows have packets, of which the later one is sent first.
    #[test]
    fn waits_are_those_of_packets_and_none_where_the_queue_is_empty() {
        let ms = |time: f64| (time * 1e6) as Nanos;
        let passed =
            [(0.0, 2.0, 0.0), (2.0, 4.0, 1.0), (10.0, 12.0, 10.0), (12.0, 14.0, 11.0), (14.0, 16.0, 10.0)];
        let passed = passed.map(|(start, departure, arrival)| (ms(start), ms(departure), ms(arrival)));
        let points = waits(passed.to_vec());
        let found: Vec<(f64, f64)> =
            points.iter().map(|p| (p.time * 1e3, (p.value * 1e6).round() / 1e3)).collect();
        assert_eq!(found, [(0.0, 0.0), (2.0, 1.0), (4.0, 0.0), (12.0, 1.0), (14.0, 4.0), (16.0, 0.0)]);
    }
}
