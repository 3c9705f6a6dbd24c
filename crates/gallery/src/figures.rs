//! The papers' figures, from what was run or computed.

use crate::lcfd::{lcfd_chart, lcfd_windows_chart};
use crate::tcp_ho::{gains_chart, saving_chart, windows_chart};
use segue_draw::{
    About, Across, Group, Handoff as Break, Line, LineChart, LinePlot, Look, Point, QuartileChart, Quartiles,
    SequenceGraph, Spacing, Timeline, Timeout,
};
use segue_model::lcfd::Equation7;
use segue_model::lcfd::figures::{Compared, Figure as Chained};
use segue_model::tcp_ho::{Curve, Handoff};
use segue_report::fmip::signalling;
use segue_report::pictures::Picture;
use segue_report::{graphs, looks};
use segue_reproduce::cells::cell_steps;
use segue_reproduce::downloads::{Curve as Course, curves, handover};
use segue_reproduce::judge::Source;
use segue_reproduce::ledger::{BdpAndThreshold, DownloadCurve, Figure, Form, Measure, Panel, Paper, Stat};
use segue_reproduce::progress::progress;
use segue_reproduce::run::Results;
use segue_reproduce::sample::Sample;
use segue_study::drive::Mean;
use segue_world::drive::cells::Step;
use std::collections::BTreeSet;

/// One figure, drawn.
pub struct DrawnFigure {
    /// Its panels, in order.
    pub panels: Vec<DrawnPanel>,
}

/// One panel, drawn.
pub struct DrawnPanel {
    /// Its title.
    pub title: String,
    /// Title of the horizontal axis of bars.
    pub x: Option<String>,
    /// The picture.
    pub(crate) picture: Picture,
}

impl DrawnPanel {
    /// Title and horizontal axis.
    pub(crate) fn caption(&self) -> String {
        match &self.x {
            Some(x) => format!("{}, over {x}", self.title),
            None => self.title.clone(),
        }
    }

    /// The picture as a file of its own.
    pub fn standalone(&self) -> String {
        segue_draw::standalone(self.picture.wide())
    }
}

/// Draws a figure; a bar without a result is left out.
pub fn figure(paper: &Paper, figure: &Figure, results: &Results) -> DrawnFigure {
    let panels = figure.panels.iter().enumerate().filter_map(|(index, panel)| {
        let id = format!("{}-{}-{index}", paper.id, figure.id);
        let picture = match figure.form {
            Form::Quartiles | Form::Means => bars(paper, figure, panel, results, &id),
            Form::Gains => lines(gains(panel, &id)?),
            Form::Windows => {
                let handoff = panel.model.first()?;
                let handoff = Handoff::new(handoff.b, handoff.c).ok()?;
                lines(windows_chart(&handoff, panel.estimate?, &id))
            }
            Form::Saving => lines(saving_chart(&id)),
            Form::Download => lines(download_chart(paper, figure, panel, &id)?),
            Form::Progress => lines(progress_chart(paper, figure, panel, &id)?),
            Form::Chain => lines(chain(panel, &id)?),
            Form::Comeback => lines(lcfd_windows_chart(&id)),
            Form::Steps => packets(steps_graph(paper, figure, panel, &id)?),
            Form::Signalling => {
                let ladder = signalling(&handover(paper, panel).ok()?, about(figure, panel, &id));
                Picture::draw((560, 620), |size, suffix| {
                    let mut ladder = ladder.clone();
                    ladder.about.id.push_str(suffix);
                    ladder.svg(size)
                })
            }
            Form::Sequence => packets(sequence(paper, panel, results, &id)?),
        };
        Some(DrawnPanel { title: panel.title.clone(), x: panel.x.clone(), picture })
    });
    DrawnFigure { panels: panels.collect() }
}

/// Segue's name of a sender, of a model's the scheme that it models.
fn scheme(paper: &Paper, sender: &str) -> String {
    let own = paper.own(sender);
    own.strip_prefix("model:").map_or(own.clone(), |modelled| paper.own(modelled))
}

/// The quartiles of a measure.
fn quartiles(sample: &Sample, of: Measure) -> Option<Quartiles> {
    let number = |stat| sample.number(of, stat);
    Some(Quartiles { q1: number(Stat::Q1)?, median: number(Stat::Median)?, q3: number(Stat::Q3)? })
}

/// Its mean in place of the median, and the 95 % confidence interval in place of the box.
fn mean(sample: &Sample, of: Measure) -> Option<Quartiles> {
    let values = sample.values(of);
    let Mean { mean, ci95 } = (!values.is_empty()).then(|| Mean::of(values))?;
    let half = ci95.unwrap_or(0.0);
    Some(Quartiles { q1: mean - half, median: mean, q3: mean + half })
}

fn bars(paper: &Paper, figure: &Figure, panel: &Panel, results: &Results, id: &str) -> Picture {
    let of = panel.of.unwrap_or(Measure::Transfer);
    let own: Vec<String> =
        (0..panel.series_count()).map(|series| scheme(paper, panel.sender(series))).collect();
    let labels = (0..own.len()).map(|series| panel.label(series).to_string());
    let series = looks::series(own.iter().map(String::as_str).zip(labels));
    let bar = |series: usize, position: usize| {
        let point = panel.point(paper, series, position)?;
        let sample = results.sample(&point, &paper.own(panel.sender(series)))?;
        if figure.form == Form::Means { mean(sample, of) } else { quartiles(sample, of) }
    };
    let groups: Vec<Group> = panel
        .labels
        .iter()
        .enumerate()
        .map(|(position, label)| Group {
            label: label.clone(),
            position: position as f64,
            bars: (0..own.len()).map(|series| bar(series, position)).collect(),
            ..Group::default()
        })
        .collect();
    let title = format!("{}, {}", figure.place, panel.title);
    Picture::draw((360, 380), |size, suffix| {
        let chart = QuartileChart {
            about: About {
                id: format!("{id}{suffix}"),
                title: title.clone(),
                description: figure.title.clone(),
                heading: String::new(),
            },
            across: Across::Categories { label: panel.x.clone().unwrap_or_default() },
            measure: measure_title(of, panel.packets.unwrap_or(paper.defaults.packets)),
            spacing: Spacing::Linear,
            series: series.clone(),
            groups: groups.clone(),
        };
        chart.svg(size)
    })
}

/// Curves of Equations 1 and 2 over the error of the estimate.
fn gains(panel: &Panel, id: &str) -> Option<LineChart> {
    let curve = |of: &BdpAndThreshold| Curve::over(Handoff::new(of.b, of.c).ok()?, &panel.sigma_percent).ok();
    let curves: Vec<Curve> = panel.model.iter().map(curve).collect::<Option<_>>()?;
    Some(gains_chart(&curves, id))
}

/// How far the senders of a panel come along its route.
fn progress_chart(paper: &Paper, figure: &Figure, panel: &Panel, id: &str) -> Option<LineChart> {
    let senders = progress(paper, panel).ok()?;
    let schemes: Vec<String> = senders.iter().map(|(sender, _)| scheme(paper, sender)).collect();
    let looks = looks::looks(schemes.iter().map(String::as_str));
    let line = |((label, points), look): ((String, Vec<_>), Look)| Line {
        label,
        look,
        steps: true,
        points: thinned(&points),
    };
    let lines = senders.into_iter().zip(looks).map(line).collect();
    Some(over_time(figure, panel, id, vec![LinePlot { measure: "packets acknowledged".into(), lines }]))
}

/// A figure of the Markov chain.
fn chain(panel: &Panel, id: &str) -> Option<LineChart> {
    let figure = Chained::ALL.into_iter().find(|figure| Some(figure.number()) == panel.chain)?;
    let equation = Equation7::Corrected;
    let settings = figure.settings(equation).ok()?.into_iter();
    let all: Option<Vec<Compared>> =
        settings.map(|setting| Compared::new(setting, figure.schemes(), equation).ok()).collect();
    Some(lcfd_chart(figure, &all?, id))
}

/// Steps of one sender around one handoff.
fn steps_graph(paper: &Paper, figure: &Figure, panel: &Panel, id: &str) -> Option<SequenceGraph> {
    let around = cell_steps(paper, panel)?;
    let mut about = about(figure, panel, id);
    about.description.push_str(" Time is counted from link-down.");
    let mut graph = SequenceGraph {
        about,
        timeline: Timeline {
            handoff: Some(Break::Disconnection(0.0, around.latency_s)),
            ..Timeline::default()
        },
        ..SequenceGraph::default()
    };
    for (at, step) in &around.steps {
        let point = |packet: u32| Point::new(*at, f64::from(packet));
        match *step {
            Step::Sent(seq, false) => graph.first_transmissions.push(point(seq)),
            Step::Sent(seq, true) => graph.retransmissions.push(point(seq)),
            Step::Heard(ack) if graph.ack.last().is_some_and(|last| last.value >= f64::from(ack)) => {
                graph.duplicate_acks.push(point(ack));
            }
            Step::Heard(ack) => graph.ack.push(point(ack)),
            Step::Timeout(head) => graph.timeouts.push(Timeout { at: point(head), spurious: false }),
            Step::FastRetransmit(head) => graph.fast_retransmits.push(point(head)),
            Step::Window(_) => {}
        }
    }
    Some(graph)
}

/// Downloads of a panel over time: a plot for each sender, where it has several of each.
fn download_chart(paper: &Paper, figure: &Figure, panel: &Panel, id: &str) -> Option<LineChart> {
    let measure = match panel.shows? {
        DownloadCurve::Sequence => "sequence number received, bytes",
        DownloadCurve::Window => "congestion window, segments",
        DownloadCurve::Injected => "sent in HANDOFF, kB",
    };
    let curves = curves(paper, panel).ok()?;
    let schemes: Vec<String> = curves.iter().map(|curve| scheme(paper, &curve.sender)).collect();
    let looks = looks::looks(schemes.iter().map(String::as_str));
    let looking: Vec<(&Course, Look)> = curves.iter().zip(looks).collect();
    let line = |&(curve, look): &(&Course, Look)| Line {
        label: curve.name(),
        look,
        steps: true,
        points: thinned(&curve.points),
    };
    let plots = match curves.iter().any(|curve| curve.download.is_some()) {
        true => {
            let plot = |of: &[(&Course, Look)]| LinePlot {
                measure: format!("{}: {measure}", of[0].0.sender),
                lines: of.iter().map(line).collect(),
            };
            looking.chunk_by(|a, b| a.0.sender == b.0.sender).map(plot).collect()
        }
        false => {
            let lines = looking.iter().map(line).collect();
            vec![LinePlot { measure: measure.into(), lines }]
        }
    };
    Some(over_time(figure, panel, id, plots))
}

fn about(figure: &Figure, panel: &Panel, id: &str) -> About {
    About {
        id: id.into(),
        title: format!("{}, {}", figure.place, panel.title),
        description: figure.title.clone(),
        heading: String::new(),
    }
}

/// Plots of a panel over time.
fn over_time(figure: &Figure, panel: &Panel, id: &str, plots: Vec<LinePlot>) -> LineChart {
    LineChart { about: about(figure, panel, id), across: "time, s".into(), plots }
}

/// Spans of a curve: less than what can be told apart.
const SPANS: f64 = 600.0;

/// The first, the least, the greatest and the last point of each span of a curve in steps, so that nothing falls out.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let length = ((last.0 - first.0) / SPANS).max(f64::MIN_POSITIVE);
    let place = |point: &(f64, f64)| ((point.0 - first.0) / length).floor();
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for span in points.chunk_by(|a, b| place(a) == place(b)) {
        let last = span.len() - 1;
        let by_value = |a: &usize, b: &usize| span[*a].1.total_cmp(&span[*b].1);
        let extremes = [(0..=last).min_by(by_value), (0..=last).max_by(by_value)];
        let all: BTreeSet<usize> = extremes.into_iter().flatten().chain([0, last]).collect();
        kept.extend(all.into_iter().map(|index| span[index]));
    }
    kept
}

fn lines(chart: LineChart) -> Picture {
    Picture::draw((400, 380), |size, suffix| {
        let mut chart = chart.clone();
        chart.about.id.push_str(suffix);
        chart.svg(size)
    })
}

fn measure_title(of: Measure, packets: u32) -> String {
    match of {
        Measure::Transfer => format!("transfer of {packets} packets, s"),
        Measure::Drops => "drops per handoff".into(),
        Measure::DataDrops => "data packets dropped per handoff".into(),
        Measure::Timeouts => "timeouts per handoff".into(),
        Measure::NeedlessRetransmissions => "needless retransmissions per handoff".into(),
        Measure::Unused => "unused connection time, s".into(),
        Measure::MobileThroughput => "throughput of the mobile's flow, kbit/s".into(),
        Measure::CrossThroughput => "throughput of the cross traffic, kbit/s".into(),
        Measure::LostWithOldLink => "data packets lost per handoff".into(),
        Measure::IdleAfterLinkUp => "from link-up until data comes, s".into(),
        Measure::UnusedAtFirst => "share of the first five seconds unused".into(),
        Measure::CellThroughput => "throughput, packets/s".into(),
        Measure::ResentPerWindow => "packets sent again per handoff / W_max".into(),
        Measure::OvershootDrops => "drops in the first five seconds".into(),
        Measure::Goodput => "mean throughput, kbit/s".into(),
        other => format!("{other:?}"),
    }
}

fn sequence(paper: &Paper, panel: &Panel, results: &Results, id: &str) -> Option<SequenceGraph> {
    let handoff = panel.handoff.as_ref()?;
    let told = results.trace(&handoff.single(paper), &paper.own(&handoff.scheme))?;
    Some(graphs::graphs(told, id).sequence)
}

fn packets(graph: SequenceGraph) -> Picture {
    Picture::draw((400, 360), |size, suffix| {
        let mut graph = graph.clone();
        graph.about.id.push_str(suffix);
        graph.svg(size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that falls to one for a moment.
    #[test]
    fn thinned_curves_keep_what_is_seen() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|k| (f64::from(k) / 10_000.0, 72.0)).collect();
        points[4044].1 = 1.0;
        points.push((3.0, 73.0));
        let kept = thinned(&points);
        assert!(kept.len() < 700 && kept.contains(&(0.4044, 1.0)), "{}", kept.len());
        assert_eq!(kept[kept.len() - 2..], [(0.9999, 72.0), (3.0, 73.0)]);
        assert!(thinned(&[]).is_empty());
    }
}
