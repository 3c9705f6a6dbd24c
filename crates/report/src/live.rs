//! The page of `segue lab run --report`: the question, a table per kind of handoff with the simulator's numbers beside
//! the laboratory's, and charts of both.

use crate::pictures::{Budget, Picture};
use crate::{Origin, looks, page};
use maud::{Markup, html};
use segue_draw::{About, Across, Group, QuartileChart, Quartiles, Spacing};
use segue_export::live_csv;
use segue_study::lab_plan::{KERNEL, WIRED};
use segue_study::live::LiveMeasures;
use segue_study::measure::{Quartiles as Measured, seconds};
use segue_study::numbers::{count, kilobytes, ratio, time};
use segue_study::{LabPlan, LiveComparison, LiveGroup, LiveRow};
use segue_world::Kind;

/// Columns of a table, and what they mean.
const COLUMNS: [(&str, &str); 15] = [
    ("sender", ""),
    ("first send Q1, s", "from link-up until the first data packet leaves the sender, lower quartile"),
    ("median, s", "the same, median"),
    ("Q3, s", "the same, upper quartile"),
    ("1 s, kB", "data new to the mobile that reached it within 1 s of link-up, median"),
    ("5 s, kB", "within 5 s"),
    ("10 s, kB", "within 10 s"),
    ("drops", "packets that found a queue full, per run"),
    ("lost", "packets that the disconnection swallowed, per run"),
    ("resent", "packets sent again, per run"),
    ("10 s vs first", "bytes within 10 s over those of the first sender, median of neighbouring runs"),
    ("95 %", "confidence interval of the mean of these ratios"),
    ("first send, s (sim)", "median of the simulator"),
    ("1 s, kB (sim)", "median of the simulator"),
    ("10 s, kB (sim)", "median of the simulator"),
];

/// The page.
pub fn live_page(plan: &LabPlan, comparison: &LiveComparison, origin: &Origin) -> String {
    let links = format!("{} \u{2192} {}", plan.old.text, plan.new.text);
    let title = plan.title.clone().unwrap_or(links);
    let budget = Budget::of_page();
    let charts = [
        chart(
            "first-send",
            "Time to the first packet",
            "from link-up to the first data packet, s",
            comparison,
            |m| Some(m.first_send_after_link_up_s),
        ),
        chart("bytes-1s", "Bytes within 1 s", "bytes within 1 s of link-up, kB", comparison, |m| {
            of_bytes(m.bytes_1s_quartiles)
        }),
        chart("bytes-10s", "Bytes within 10 s", "bytes within 10 s of link-up, kB", comparison, |m| {
            of_bytes(m.bytes_10s_quartiles)
        }),
    ];
    let groups = comparison.groups.iter().enumerate();
    let parts: Vec<(String, String)> = std::iter::once(("result".to_string(), "Result".to_string()))
        .chain(groups.map(|(index, group)| (place(index), kind_in_words(group.kind))))
        .collect();
    let content = html! {
        h1 { (title) }
        p.lead { "Real senders in a laboratory on one machine: " (plan.runs) @if plan.runs == 1 { " run" } @else { " runs" } " of each, interleaved." }
        (asked(plan, comparison, origin))
        (page::contents(&parts))
        h2 id="result" { "Result" }
        @for (picture, caption) in charts.iter().flatten() {
            @let (wide, both) = picture.bytes();
            @if budget.takes(wide) { (picture.markup(budget.takes(both - wide), caption)) }
        }
        @if let Ok(csv) = live_csv(comparison) {
            p.again { (page::saved("numbers (CSV)", "segue-lab.csv", "text/csv", &csv)) }
        }
        @for (index, group) in comparison.groups.iter().enumerate() { (table(group, index)) }
        p.lead {
            "Link-up: the moment from which packets can take the new link. Bytes: data new to the mobile that reached it, of \
             all flows. A dash: the simulator has no such sender, or it was not observed for so long; inf: nothing was sent \
             while it was observed. The simulator's senders run on " (KERNEL) "."
        }
    };
    page::page(&format!("Segue: {title}"), content)
}

/// In kB, as tables have it; none if it was not observed for so long.
fn of_bytes(quartiles: Measured) -> Option<Measured> {
    quartiles.median?;
    let kilo = |bytes: Option<f64>| bytes.map(|bytes| bytes / 1000.0);
    Some(Measured { q1: kilo(quartiles.q1), median: kilo(quartiles.median), q3: kilo(quartiles.q3) })
}

fn kind_in_words(kind: Kind) -> String {
    match kind {
        Kind::Bbm(time) => format!("break-before-make, {} s without a link", seconds(time)),
        // A laboratory has no others.
        Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => "make-before-break".into(),
    }
}

fn asked(plan: &LabPlan, comparison: &LiveComparison, origin: &Origin) -> Markup {
    let kinds: Vec<String> = plan.kinds.iter().map(|kind| kind_in_words(*kind)).collect();
    let senders: Vec<&str> = plan.senders.iter().map(|sender| sender.name.as_str()).collect();
    let kernel = comparison.rows().next().map_or("none", |row| row.stack.as_str());
    html! {
        dl.asked {
            dt { "Old link" } dd { (plan.old.text) ", queue of " (plan.old.queue) " packets" }
            dt { "New link" } dd { (plan.new.text) ", queue of " (plan.new.queue) " packets" }
            dt { "Handoff" } dd { (kinds.join("; ")) "; " (seconds(plan.warm_up)) " s after the flows began" }
            dt { "Wire" } dd { (seconds(plan.wired)) " s one way between server and access router; the simulator has " (seconds(WIRED)) " s" }
            @if let Some(noise) = comparison.rows().find_map(|row| row.simulated_noise_s) {
                dt { "Noise" } dd { (1e3 * noise) " ms of jitter on the simulator's links; the laboratory has its own" }
            }
            dt { "Flows" } dd { (plan.flows) }
            dt { "Senders" } dd { (senders.join(", ")) }
            dt { "Kernel" } dd { (kernel) }
            dt { "Repeat it" } dd { code.command { @for word in origin.command.split(' ') { span { (word) } " " } } }
            dt { "Made by" } dd { "Segue " (origin.version) }
        }
    }
}

/// The place of a table.
fn place(index: usize) -> String {
    format!("kind-{index}")
}

fn table(group: &LiveGroup, index: usize) -> Markup {
    html! {
        h3 id=(place(index)) { (kind_in_words(group.kind)) }
        div.table {
            table {
                thead { tr { @for (name, meaning) in COLUMNS { th title=(meaning) { (name) } } } }
                tbody { @for row in &group.rows { (line(row)) } }
            }
        }
    }
}

fn line(row: &LiveRow) -> Markup {
    let live = &row.live.measures;
    let first = live.first_send_after_link_up_s;
    let against = row.live.against_first.bytes_10s;
    let interval = against.and_then(|ratio| Some(format!("{:.2} to {:.2}", ratio.low?, ratio.high?)));
    let dash = || "-".to_string();
    let simulated = |cell: fn(&LiveMeasures) -> String| row.simulated.as_ref().map_or_else(dash, cell);
    html! {
        tr {
            td { (looks::named(&row.scheme)) }
            td { (time(first.q1)) }
            td { (time(first.median)) }
            td { (time(first.q3)) }
            td { (kilobytes(live.bytes_1s)) }
            td { (kilobytes(live.bytes_5s)) }
            td { (kilobytes(live.bytes_10s)) }
            td { (count(row.drops)) }
            td { (count(row.lost_in_disconnection)) }
            td { (count(row.retransmissions)) }
            td { (against.map_or_else(dash, |against| ratio(Some(against.median)))) }
            td { (interval.unwrap_or_else(dash)) }
            td { (simulated(|sim| time(sim.first_send_after_link_up_s.median))) }
            td { (simulated(|sim| kilobytes(sim.bytes_1s))) }
            td { (simulated(|sim| kilobytes(sim.bytes_10s))) }
        }
    }
}

/// Senders of the laboratory, then those of the simulator; a group per kind of handoff. `None` if nothing was measured.
fn chart(
    id: &str,
    title: &str,
    measure: &str,
    comparison: &LiveComparison,
    of: fn(&LiveMeasures) -> Option<Measured>,
) -> Option<(Picture, String)> {
    let rows = &comparison.groups.first()?.rows;
    let simulated = |row: &&LiveRow| row.simulated.is_some();
    let real = rows.iter().map(|row| (row.scheme.as_str(), row.scheme.clone()));
    let beside = rows.iter().filter(simulated);
    let beside = beside.map(|row| (row.scheme.as_str(), format!("{}, simulated", row.scheme)));
    let series = looks::series(real.chain(beside));
    let infinite = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    let bar = |measures: &LiveMeasures| {
        let Measured { q1, median, q3 } = of(measures)?;
        Some(Quartiles { q1: infinite(q1), median: infinite(median), q3: infinite(q3) })
    };
    let groups = comparison.groups.iter().map(|group| Group {
        label: match group.kind {
            Kind::Bbm(time) => format!("{} s", seconds(time)),
            kind => kind.word().into(),
        },
        bars: (group.rows.iter().map(|row| bar(&row.live.measures)))
            .chain(group.rows.iter().filter_map(|row| row.simulated.as_ref()).map(bar))
            .collect(),
        ..Group::default()
    });
    let groups: Vec<Group> = groups.collect();
    let values = || groups.iter().flat_map(|group| group.bars.iter().flatten()).map(|bar| bar.median);
    values().next()?;
    let finite = || values().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
    // A stall is longer than a round trip by orders of magnitude.
    let spacing = if low > 0.0 && high > 8.0 * low { Spacing::Log } else { Spacing::Linear };
    let picture = Picture::draw((400, 420), |size, suffix| {
        let chart = QuartileChart {
            about: About {
                id: format!("{id}{suffix}"),
                title: title.into(),
                description: format!("Quartiles of each sender: {measure}."),
                heading: String::new(),
            },
            across: Across::Categories { label: String::new() },
            measure: measure.into(),
            spacing,
            series: series.clone(),
            groups: groups.clone(),
        };
        chart.svg(size)
    });
    Some((picture, format!("{title}: a bar from the lower to the upper quartile, a mark at the median.")))
}
