//! The terminal table of a laboratory.

use crate::layout::{self, Cell, GAP, Paint, Side, wrapped};
use segue_study::live::LiveMeasures;
use segue_study::numbers::{count, kilobytes, ratio, time};
use segue_study::{LabPlan, LiveComparison, LiveGroup, LiveRow};
use segue_world::{Kind, SECOND};

/// Above the names of senders.
const NAMES: &str = "sender";

/// Columns after the sender's name, and what they mean.
pub const COLUMNS: [(&str, &str); 14] = [
    ("Q1", "from link-up until the first data packet leaves the sender, s, lower quartile (inf: none did)"),
    ("median", "from link-up until the first data packet leaves the sender, s, median (inf: none did)"),
    ("Q3", "from link-up until the first data packet leaves the sender, s, upper quartile"),
    ("data", "from link-up until new data in order reach the mobile, s, median"),
    ("1 s", "kB of new data that reached the mobile in the first second after link-up, median"),
    ("5 s", "kB of new data that reached the mobile in 5 s after link-up, median"),
    ("10 s", "kB of new data that reached the mobile in 10 s after link-up, median"),
    ("drops", "packets that found a queue full, per run"),
    ("lost", "packets that the disconnection swallowed, per run"),
    ("rexmit", "packets that were sent again, per run"),
    ("vs first", "kB in 10 s over those of the first sender, median of neighbouring runs"),
    ("sim first", "from link-up until the first data packet in the simulator, s, median"),
    ("sim 1 s", "kB in the first second in the simulator"),
    ("sim 10 s", "kB in 10 s in the simulator"),
];

/// Columns that give way to a narrow line, in this order.
const GIVING_WAY: [&str; 6] = ["Q1", "Q3", "lost", "5 s", "sim 1 s", "rexmit"];

/// The whole table as text.
pub fn render(plan: &LabPlan, comparison: &LiveComparison, width: usize) -> String {
    let cells = |row: &LiveRow| cells(row).map(Cell::from).to_vec();
    let plain = |text: &str| Cell { text: text.into(), paint: Paint::Plain };
    let head: Vec<Cell> =
        std::iter::once(NAMES).chain(COLUMNS.map(|(heading, _)| heading)).map(plain).collect();
    let rows: Vec<Vec<Cell>> = comparison.groups.iter().flat_map(|group| &group.rows).map(cells).collect();
    let widths = layout::widths(std::iter::once(&head).chain(&rows));
    let shown = shown(&widths, width);
    let only = |row: Vec<Cell>| shown.iter().map(|&index| row[index].clone()).collect::<Vec<_>>();
    let widths: Vec<usize> = shown.iter().map(|&index| widths[index]).collect();
    let sides: Vec<Side> =
        shown.iter().map(|&index| if index == 0 { Side::Left } else { Side::Right }).collect();

    let mut text = plan.title.iter().map(|title| format!("{title}\n\n")).collect::<String>();
    for group in &comparison.groups {
        let stack = group.rows.first().map(|row| format!("; {}", row.stack)).unwrap_or_default();
        let lines: Vec<_> =
            std::iter::once(head.clone()).chain(group.rows.iter().map(cells)).map(only).collect();
        let table = layout::table(&lines, &widths, &sides, false);
        text.push_str(&wrapped("", &format!("{}{stack}", headline(plan, group.kind)), width));
        text.push_str(&format!("{table}{}\n", given_up(group)));
    }
    let first = plan.senders.first().map_or("the first", |sender| &sender.name);
    let noise = comparison.rows().find_map(|row| row.simulated_noise_s).map(|noise| {
        format!(" The simulator's links have {} ms of jitter as the laboratory's noise.", 1e3 * noise)
    });
    let about = format!(
        "Runs a row: {}, interleaved; vs first: {first}. A dash: the run was not observed for so long, or the simulator has no \
         such sender.{}{}",
        plan.runs,
        noise.unwrap_or_default(),
        if shown.len() <= COLUMNS.len() { " A wider line shows more columns." } else { "" }
    );
    text.push_str(&wrapped("", &about, width));
    for (heading, meaning) in shown.iter().filter_map(|&index| COLUMNS.get(index.checked_sub(1)?)) {
        text.push_str(&wrapped(&format!("{heading:11}"), meaning, width));
    }
    text
}

/// Columns that fit a line, the names among them.
fn shown(widths: &[usize], line: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..widths.len()).collect();
    for name in GIVING_WAY {
        let all: usize = shown.iter().map(|&index| widths[index] + GAP).sum();
        if all <= line + GAP {
            break;
        }
        shown.retain(|&index| index == 0 || COLUMNS[index - 1].0 != name);
    }
    shown
}

/// Senders that have lost connections, a line each.
fn given_up(group: &LiveGroup) -> String {
    let rows = group.rows.iter().filter(|row| row.live.measures.gave_up > 0);
    let line = |row: &LiveRow| {
        let (lost, runs) = (row.live.measures.gave_up, row.points);
        format!(
            "{}: connection held for dead by the kernel (tcp_retries2) in {lost} of {runs} runs\n",
            row.scheme
        )
    };
    rows.map(line).collect()
}

/// Links, kind and flows.
pub fn headline(plan: &LabPlan, kind: Kind) -> String {
    let kind = match kind {
        Kind::Bbm(time) => format!("break-before-make {} s", time as f64 / SECOND as f64),
        // A laboratory has no others.
        Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => "make-before-break".to_string(),
    };
    let plural = if plan.flows == 1 { "" } else { "s" };
    let conditions = plan.conditions_in_words();
    let separator = if conditions.is_empty() { "" } else { ", " };
    format!(
        "{} -> {}, {kind}, {} flow{plural}{separator}{conditions}",
        plan.old.text, plan.new.text, plan.flows
    )
}

fn cells(row: &LiveRow) -> [String; 15] {
    let live = &row.live.measures;
    let first = live.first_send_after_link_up_s;
    let simulated =
        |cell: fn(&LiveMeasures) -> String| row.simulated.as_ref().map_or_else(|| "-".to_string(), cell);
    [
        row.scheme.clone(),
        time(first.q1),
        time(first.median),
        time(first.q3),
        live.first_data_after_link_up_s.map_or_else(|| "-".to_string(), |data| time(data.median)),
        kilobytes(live.bytes_1s),
        kilobytes(live.bytes_5s),
        kilobytes(live.bytes_10s),
        count(row.drops),
        count(row.lost_in_disconnection),
        count(row.retransmissions),
        row.live
            .against_first
            .bytes_10s
            .map_or_else(|| "-".to_string(), |against| ratio(Some(against.median))),
        simulated(|measures| time(measures.first_send_after_link_up_s.median)),
        simulated(|measures| kilobytes(measures.bytes_1s)),
        simulated(|measures| kilobytes(measures.bytes_10s)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any of the others may be left out, and `segue explain` tells each alone.
    #[test]
    fn each_column_is_explained_by_itself() {
        for (heading, meaning) in COLUMNS {
            assert!(!meaning.starts_with("the same"), "{heading}: {meaning}");
        }
    }

    #[test]
    fn narrow_lines_have_fewer_columns() {
        let widths = [11, 5, 6, 5, 5, 4, 5, 5, 5, 4, 6, 8, 9, 7, 8];
        let named = |line: usize| {
            let shown = shown(&widths, line);
            assert!(shown.iter().map(|&index| widths[index] + GAP).sum::<usize>() <= line + GAP, "{line}");
            shown.iter().skip(1).map(|&index| COLUMNS[index - 1].0).collect::<Vec<_>>().join(",")
        };
        assert_eq!(named(121).split(',').count(), 14);
        assert_eq!(
            named(120),
            "median,Q3,data,1 s,5 s,10 s,drops,lost,rexmit,vs first,sim first,sim 1 s,sim 10 s"
        );
        assert_eq!(named(80), "median,data,1 s,10 s,drops,vs first,sim first,sim 10 s");
    }
}
