//! The terminal table of a laboratory.

use comfy_table::CellAlignment;
use segue_console::plain_table;
use segue_study::live::LiveMeasures;
use segue_study::numbers::{count, kilobytes, ratio, time};
use segue_study::{LabPlan, LiveComparison, LiveGroup, LiveRow};
use segue_world::{Kind, SECOND};

const HEAD: [&str; 14] = [
    "sender",
    "Q1",
    "median",
    "Q3",
    "1 s",
    "5 s",
    "10 s",
    "drops",
    "lost",
    "rexmit",
    "vs first",
    "sim first",
    "sim 1 s",
    "sim 10 s",
];

/// The whole table as text.
pub fn render(plan: &LabPlan, comparison: &LiveComparison) -> String {
    let mut text = plan.title.iter().map(|title| format!("{title}\n\n")).collect::<String>();
    for group in &comparison.groups {
        let stack = group.rows.first().map(|row| format!("; {}", row.stack)).unwrap_or_default();
        text.push_str(&format!(
            "{}{stack}\n{}\n{}\n",
            headline(plan, group.kind),
            table(group),
            given_up(group)
        ));
    }
    text + &format!(
        "Runs a row: {}, interleaved. Q1, median, Q3: from link-up until the first data packet leaves the sender, s (inf: none\n\
         did). 1 s, 5 s, 10 s: kB of new data that reached the mobile since link-up, median. drops, lost, rexmit: packets a run\n\
         that found a queue full, that the disconnection swallowed, that were sent again. vs first: kB in 10 s over those of\n\
         {}, median of neighbouring runs. sim: what the simulator says of the same, - where it has no such sender.\n",
        plan.runs,
        plan.senders.first().map_or("the first", |sender| &sender.name),
    )
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
        Kind::Mbb => "make-before-break".to_string(),
        Kind::Bbm(time) => format!("break-before-make {} s", time as f64 / SECOND as f64),
    };
    let plural = if plan.flows == 1 { "" } else { "s" };
    format!("{} -> {}, {kind}, {} flow{plural}", plan.old.text, plan.new.text, plan.flows)
}

fn table(group: &LiveGroup) -> String {
    let mut table = plain_table(&HEAD);
    table.force_no_tty();
    for row in &group.rows {
        table.add_row(cells(row));
    }
    for column in 1..HEAD.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn cells(row: &LiveRow) -> [String; 14] {
    let live = &row.live.measures;
    let first = live.first_send_after_link_up_s;
    let simulated =
        |cell: fn(&LiveMeasures) -> String| row.simulated.as_ref().map_or_else(|| "-".to_string(), cell);
    [
        row.scheme.clone(),
        time(first.q1),
        time(first.median),
        time(first.q3),
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
