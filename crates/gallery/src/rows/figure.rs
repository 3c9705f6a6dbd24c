//! The numbers behind a figure, as CSV (docs/papers/reproduction.md).

use super::lcfd::{lcfd_figure_csv, lcfd_windows_csv};
use segue_model::lcfd::figures::FIGURE_3;
use segue_model::tcp_ho::{Handoff, saving_at};
use segue_reproduce::cells::cell_steps;
use segue_reproduce::downloads::{curves, handover};
use segue_reproduce::judge::Source;
use segue_reproduce::ledger::{ClassWord, Figure, Form, Measure, Panel, Paper, Stat};
use segue_reproduce::points::{Handoffs, OneDownload, OneDrive, Point};
use segue_reproduce::progress::progress;
use segue_reproduce::run::Results;
use segue_study::drive::Mean;
use segue_world::drive::cells::Step;
use segue_world::trace::What;
use segue_world::{Nanos, SECOND};
use serde::Serialize;

type Rows = csv::Writer<Vec<u8>>;

/// A bar of a quartile chart.
#[derive(Serialize)]
struct Bar<'a> {
    panel: &'a str,
    position: &'a str,
    series: &'a str,
    scheme: &'a str,
    links: String,
    kind: &'static str,
    disconnect_s: f64,
    flows: usize,
    packets: u32,
    q1: Option<f64>,
    median: Option<f64>,
    q3: Option<f64>,
}

/// A bar of means over the seeds of a drive.
#[derive(Serialize)]
struct MeanBar<'a> {
    panel: &'a str,
    position: &'a str,
    series: &'a str,
    scheme: &'a str,
    drive: &'static str,
    drive_seed: u64,
    wan_ms: u32,
    error_percent: u32,
    class: Option<&'static str>,
    mean: Option<f64>,
    ci95: Option<f64>,
}

/// A bar of means over runs in two cells.
#[derive(Serialize)]
struct CellBar<'a> {
    panel: &'a str,
    position: &'a str,
    series: &'a str,
    scheme: &'a str,
    w_max: u32,
    buffer: u32,
    p_percent: u32,
    mean_sojourn_s: f64,
    mean: Option<f64>,
    ci95: Option<f64>,
}

/// A bar of means over the seeds of a download.
#[derive(Serialize)]
struct DownloadBar<'a> {
    panel: &'a str,
    position: &'a str,
    series: &'a str,
    scheme: &'a str,
    disconnect_s: f64,
    access_ms: Option<String>,
    mean: Option<f64>,
    ci95: Option<f64>,
}

/// A step of a sender around one handoff.
#[derive(Serialize)]
struct StepMark<'a> {
    panel: &'a str,
    time_s: f64,
    event: &'static str,
    packet: u32,
}

/// A point of a download over time.
#[derive(Serialize)]
struct Moment<'a> {
    panel: &'a str,
    curve: &'a str,
    time_s: f64,
    value: f64,
}

/// A message of a handover.
#[derive(Serialize)]
struct MessageLine<'a> {
    panel: &'a str,
    message: &'static str,
    from: &'static str,
    to: &'static str,
    sent_s: f64,
    arrived_s: Option<f64>,
}

/// A point of a model's curve.
#[derive(Serialize)]
struct CurvePoint<'a> {
    panel: &'a str,
    b: f64,
    c: f64,
    estimate: Option<f64>,
    sigma_percent: Option<f64>,
    gain: f64,
}

/// A point of a sender's way along a route.
#[derive(Serialize)]
struct Along<'a> {
    panel: &'a str,
    scheme: String,
    time_s: f64,
    acknowledged: f64,
}

/// A point of a saving.
#[derive(Serialize)]
struct Saved<'a> {
    panel: &'a str,
    end_over_t: f64,
    saving: f64,
}

/// An event of a time-sequence graph.
#[derive(Serialize)]
struct Mark<'a> {
    panel: &'a str,
    time_s: f64,
    event: &'static str,
    packet: u32,
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// The numbers behind a figure.
pub fn figure_csv(paper: &Paper, figure: &Figure, results: &Results) -> Result<String, csv::Error> {
    let mut rows = Rows::from_writer(Vec::new());
    for panel in &figure.panels {
        match figure.form {
            Form::Download => downloads(&mut rows, paper, panel)?,
            Form::Signalling => signals(&mut rows, paper, panel)?,
            Form::Progress => along(&mut rows, paper, panel)?,
            Form::Saving => savings(&mut rows, panel)?,
            Form::Gains | Form::Windows => {
                curve_points(panel).into_iter().try_for_each(|point| rows.serialize(point))?;
            }
            Form::Steps => steps(&mut rows, paper, panel)?,
            Form::Comeback => return lcfd_windows_csv(FIGURE_3),
            Form::Chain | Form::Quartiles | Form::Means | Form::Sequence => {
                if let Some(number) = panel.chain {
                    return lcfd_figure_csv(number);
                }
                match &panel.handoff {
                    Some(_) => sequence(&mut rows, paper, panel, results)?,
                    None => bars(&mut rows, paper, panel, results)?,
                }
            }
        }
    }
    let bytes = rows.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn downloads(rows: &mut Rows, paper: &Paper, panel: &Panel) -> Result<(), csv::Error> {
    for curve in curves(paper, panel).unwrap_or_default() {
        let name = curve.name();
        for (time_s, value) in curve.points {
            rows.serialize(Moment { panel: &panel.title, curve: &name, time_s, value })?;
        }
    }
    Ok(())
}

fn signals(rows: &mut Rows, paper: &Paper, panel: &Panel) -> Result<(), csv::Error> {
    for signal in handover(paper, panel).into_iter().flat_map(|record| record.signals) {
        rows.serialize(MessageLine {
            panel: &panel.title,
            message: signal.message,
            from: signal.from.name(),
            to: signal.to.name(),
            sent_s: seconds(signal.sent),
            arrived_s: signal.arrived.map(seconds),
        })?;
    }
    Ok(())
}

/// Such a panel was run when the ledger was checked.
fn along(rows: &mut Rows, paper: &Paper, panel: &Panel) -> Result<(), csv::Error> {
    for (sender, points) in progress(paper, panel).unwrap_or_default() {
        for (time_s, acknowledged) in points {
            let scheme = paper.own(&sender);
            rows.serialize(Along { panel: &panel.title, scheme, time_s, acknowledged })?;
        }
    }
    Ok(())
}

fn savings(rows: &mut Rows, panel: &Panel) -> Result<(), csv::Error> {
    for step in 0..=20 {
        let x = 1.0 + f64::from(step) / 20.0;
        rows.serialize(Saved { panel: &panel.title, end_over_t: x, saving: saving_at(x, 2.0) })?;
    }
    Ok(())
}

fn steps(rows: &mut Rows, paper: &Paper, panel: &Panel) -> Result<(), csv::Error> {
    for (time_s, step) in cell_steps(paper, panel).into_iter().flat_map(|around| around.steps) {
        let (event, packet) = match step {
            Step::Sent(seq, false) => ("sent", seq),
            Step::Sent(seq, true) => ("resent", seq),
            Step::Heard(ack) => ("acknowledged", ack),
            Step::Timeout(head) => ("timeout", head),
            Step::FastRetransmit(head) => ("fast_retransmit", head),
            Step::Window(window) => ("window", window),
        };
        rows.serialize(StepMark { panel: &panel.title, time_s, event, packet })?;
    }
    Ok(())
}

/// The events of one handoff.
fn sequence(rows: &mut Rows, paper: &Paper, panel: &Panel, results: &Results) -> Result<(), csv::Error> {
    let told = panel
        .handoff
        .as_ref()
        .and_then(|handoff| results.trace(&handoff.single(paper), &paper.own(&handoff.scheme)));
    for event in told.iter().flat_map(|told| &told.trace.events) {
        let (name, packet) = match &event.what {
            What::Sent(packet) if packet.data && packet.retransmission => ("resent", packet.segment.seq),
            What::Sent(packet) if packet.data => ("sent", packet.segment.seq),
            What::Received { packet, .. } if !packet.data => ("acknowledged", packet.segment.ack),
            What::Dropped { packet, .. } if packet.data => ("dropped", packet.segment.seq),
            What::Lost { packet, .. } if packet.data => ("lost", packet.segment.seq),
            What::Timeout { head, .. } => ("timeout", *head),
            What::FastRetransmit { head, .. } => ("fast_retransmit", *head),
            _ => continue,
        };
        rows.serialize(Mark { panel: &panel.title, time_s: seconds(event.at), event: name, packet })?;
    }
    Ok(())
}

fn bars(rows: &mut Rows, paper: &Paper, panel: &Panel, results: &Results) -> Result<(), csv::Error> {
    for (index, position) in panel.bars() {
        if let Some(point) = panel.point(paper, index, position) {
            bar(rows, paper, panel, results, (index, position), point)?;
        }
    }
    Ok(())
}

/// The bar of a series at a position.
fn bar(
    rows: &mut Rows,
    paper: &Paper,
    panel: &Panel,
    results: &Results,
    (index, position): (usize, usize),
    point: Point,
) -> Result<(), csv::Error> {
    let scheme = &paper.own(panel.sender(index));
    let sample = results.sample(&point, scheme);
    let of = panel.of.unwrap_or(Measure::Transfer);
    let mean = || {
        let values = sample.map(|sample| sample.values(of)).filter(|values| !values.is_empty());
        let mean = values.map(Mean::of);
        (mean.map(|mean| mean.mean), mean.and_then(|mean| mean.ci95))
    };
    let number = |stat| sample?.number(of, stat).filter(|value: &f64| value.is_finite());
    let (position, series, panel) = (&panel.labels[position], panel.label(index), &panel.title);
    match point {
        Point::Handoffs(Handoffs { disconnect, links, flows, packets, .. }) => rows.serialize(Bar {
            panel,
            position,
            series,
            scheme,
            links,
            kind: if disconnect == 0 { "mbb" } else { "bbm" },
            disconnect_s: seconds(disconnect),
            flows,
            packets,
            q1: number(Stat::Q1),
            median: number(Stat::Median),
            q3: number(Stat::Q3),
        }),
        Point::Cell(cell) => {
            let (mean, ci95) = mean();
            rows.serialize(CellBar {
                panel,
                position,
                series,
                scheme,
                w_max: cell.w_max,
                buffer: cell.buffer,
                p_percent: cell.p_percent,
                mean_sojourn_s: seconds(cell.sojourn.0.midpoint(cell.sojourn.1)),
                mean,
                ci95,
            })
        }
        Point::Download(OneDownload { disconnect, access_ms }) => {
            let (mean, ci95) = mean();
            let disconnect_s = seconds(disconnect);
            rows.serialize(DownloadBar {
                panel,
                position,
                series,
                scheme,
                disconnect_s,
                access_ms,
                mean,
                ci95,
            })
        }
        Point::Drive(OneDrive { drive, seed, wan_ms, error_percent, class }) => {
            let (mean, ci95) = mean();
            rows.serialize(MeanBar {
                panel,
                position,
                series,
                scheme,
                drive: drive.name(),
                drive_seed: seed,
                wan_ms,
                error_percent,
                class: class.map(|class: ClassWord| class.class().name()),
                mean,
                ci95,
            })
        }
    }
}

/// Mean gains over the error, or the gain with one estimate.
fn curve_points(panel: &Panel) -> Vec<CurvePoint<'_>> {
    let mut points = Vec::new();
    for of in &panel.model {
        let Ok(handoff) = Handoff::new(of.b, of.c) else { continue };
        let point = |estimate, sigma_percent, gain| CurvePoint {
            panel: &panel.title,
            b: of.b,
            c: of.c,
            estimate,
            sigma_percent,
            gain,
        };
        points.extend(panel.estimate.map(|x| point(Some(x), None, handoff.gain(x))));
        let means = panel.sigma_percent.iter().filter_map(|&percent| {
            Some(point(None, Some(percent), handoff.mean_gain(of.b * percent / 100.0).ok()?))
        });
        points.extend(means);
    }
    points
}
