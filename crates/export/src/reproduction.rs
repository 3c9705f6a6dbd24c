//! Judged claims as JSON, and the numbers behind a figure as CSV (docs/reproduction.md).

use segue_reproduce::judge::Source;
use segue_reproduce::ledger::{Figure, Measure, Paper, Stat};
use segue_reproduce::points::Point;
use segue_reproduce::run::Results;
use segue_reproduce::verdict::{Judged, Verdict};
use segue_world::trace::What;
use segue_world::{Nanos, SECOND};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct ClaimRow<'a> {
    id: &'a str,
    place: &'a str,
    kind: String,
    check: String,
    verdict: &'static str,
    stated: &'a str,
    measured: &'a str,
    why: &'a str,
}

/// `{"version":1,"points":N,"claims":[{"id",..,"verdict",..}],"summary":{..}}`, one claim a line.
pub fn claims_json(judged: &[Judged], points: usize) -> Result<String, serde_json::Error> {
    let mut summary: BTreeMap<&'static str, usize> = Verdict::ALL.map(|verdict| (verdict.words(), 0)).into();
    for claim in judged {
        *summary.entry(claim.verdict.words()).or_default() += 1;
    }
    let lower = |debug: String| debug.to_lowercase();
    let row = |judged: &Judged| {
        serde_json::to_string(&ClaimRow {
            id: &judged.claim.id,
            place: &judged.claim.place,
            kind: lower(format!("{:?}", judged.claim.kind)),
            check: lower(format!("{:?}", judged.claim.check)),
            verdict: judged.verdict.words(),
            stated: &judged.claim.stated,
            measured: &judged.measured,
            why: &judged.why,
        })
    };
    let rows: Vec<String> = judged.iter().map(row).collect::<Result<_, _>>()?;
    let summary = serde_json::to_string(&summary)?;
    Ok(format!(
        "{{\"version\":1,\"points\":{points},\"claims\":[\n{}\n],\"summary\":{summary}}}\n",
        rows.join(",\n")
    ))
}

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
    let mut writer = csv::Writer::from_writer(Vec::new());
    for panel in &figure.panels {
        if let Some(handoff) = &panel.handoff {
            let Some(told) = results.trace(&handoff.single(paper), &paper.own(&handoff.scheme)) else {
                continue;
            };
            for event in &told.trace.events {
                let (name, packet) = match &event.what {
                    What::Sent(packet) if packet.data && packet.retransmission => {
                        ("resent", packet.segment.seq)
                    }
                    What::Sent(packet) if packet.data => ("sent", packet.segment.seq),
                    What::Received { packet, .. } if !packet.data => ("acknowledged", packet.segment.ack),
                    What::Dropped { packet, .. } if packet.data => ("dropped", packet.segment.seq),
                    What::Lost { packet, .. } if packet.data => ("lost", packet.segment.seq),
                    What::Timeout { head, .. } => ("timeout", *head),
                    What::FastRetransmit { head, .. } => ("fast_retransmit", *head),
                    _ => continue,
                };
                writer.serialize(Mark {
                    panel: &panel.title,
                    time_s: seconds(event.at),
                    event: name,
                    packet,
                })?;
            }
            continue;
        }
        for (index, position) in panel.bars() {
            let series = &panel.series[index];
            let Some(point) = panel.point(paper, index, position) else { continue };
            let Point { disconnect, links, flows, packets, .. } = point.clone();
            let scheme = paper.own(&series.scheme);
            let sample = results.sample(&point, &scheme);
            let of = panel.of.unwrap_or(Measure::Transfer);
            let number = |stat| sample?.number(of, stat).filter(|value: &f64| value.is_finite());
            writer.serialize(Bar {
                panel: &panel.title,
                position: &panel.labels[position],
                series: &series.label,
                scheme: &scheme,
                links,
                kind: if disconnect == 0 { "mbb" } else { "bbm" },
                disconnect_s: seconds(disconnect),
                flows,
                packets,
                q1: number(Stat::Q1),
                median: number(Stat::Median),
                q3: number(Stat::Q3),
            })?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
