//! The terminal table of a comparison.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, Table, Width, presets};
use segue_study::measure::NewLink;
use segue_study::numbers::{count, ratio, time};
use segue_study::story::headline;
use segue_study::{Comparison, GroupResult, Plan, Row};
use segue_world::Experiment;

/// Width of the bar of link time, characters.
const BAR: usize = 24;
/// One character and colour per class of link time.
const CLASSES: [(char, Color, &str); 6] = [
    ('#', Color::Green, "useful"),
    ('x', Color::Red, "needless"),
    ('-', Color::Blue, "idle: data or last ACKs under way"),
    ('w', Color::Yellow, "idle: window"),
    ('t', Color::Magenta, "idle: timer"),
    ('.', Color::DarkGrey, "idle: other, such as slow start after a timeout"),
];

const HEADER: [&str; 14] = [
    "scheme", "Q1", "median", "Q3", "x bound", "p90", "RTO", "spur", "FR", "drops", "rexmit", "needless",
    "vs first", "new link",
];
/// Widths of the columns after the first, which fits the longest name.
const WIDTHS: [u16; 13] = [7, 7, 7, 7, 7, 6, 6, 6, 7, 7, 8, 8, BAR as u16];

/// The whole table as text; `colour` for terminals.
pub fn render(plan: &Plan, comparison: &Comparison, colour: bool) -> String {
    let mut text = String::new();
    let name_width =
        plan.schemes.iter().map(|s| s.name.chars().count()).max().unwrap_or(0).max(HEADER[0].len());
    for group in &comparison.groups {
        text.push_str(&heading(group));
        text.push('\n');
        text.push_str(&group_table(group, name_width as u16, colour));
        text.push_str("\n\n");
    }
    text.push_str(&legend(plan));
    text
}

fn heading(group: &GroupResult) -> String {
    let experiment = &group.experiment;
    let first = group.rows.first().and_then(|row| row.bound_s);
    let bound = if group.rows.iter().all(|row| row.bound_s == first) {
        first.map(|b| format!("; bound {} s", time(Some(b))))
    } else {
        // The mark of a transfer is what regular TCP of the same stack had sent.
        Some("; each stack has its own mark and bound".to_string())
    };
    format!("{}{}{}", headline(experiment), bound.unwrap_or_default(), raised(experiment))
}

/// Says so where a fast access link raises the other hops.
fn raised(experiment: &Experiment) -> String {
    let hops = experiment.fixed_hops();
    if hops.wired == 100_000_000 {
        return String::new();
    }
    format!("; wired hops raised to {} Mbit/s", hops.wired / 1_000_000)
}

fn group_table(group: &GroupResult, name_width: u16, colour: bool) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(HEADER.iter().enumerate().map(|(column, name)| {
        let cell = Cell::new(name).set_alignment(alignment(column));
        if colour { cell.add_attribute(Attribute::Bold) } else { cell }
    }));
    for row in &group.rows {
        table.add_row(cells(row, colour));
    }
    let widths = std::iter::once(name_width).chain(WIDTHS);
    // One character of padding on either side of a cell.
    table.set_constraints(widths.map(|w| ColumnConstraint::Absolute(Width::Fixed(w + 2))));
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn alignment(column: usize) -> CellAlignment {
    if column == 0 || column == HEADER.len() - 1 { CellAlignment::Left } else { CellAlignment::Right }
}

fn cells(row: &Row, colour: bool) -> Vec<Cell> {
    let against = &row.against_first;
    let texts = [
        row.scheme.clone(),
        time(row.transfer_s.q1),
        time(row.transfer_s.median),
        time(row.transfer_s.q3),
        ratio(row.over_bound.median),
        ratio(row.over_bound.p90),
        count(row.timeouts),
        count(row.spurious_timeouts),
        count(row.fast_retransmits),
        count(row.drops),
        count(row.retransmissions),
        count(row.needless_retransmissions),
        ratio(against.ratio_median),
        bar(&row.new_link_s),
    ];
    let judged = match against.ratio_median {
        Some(ratio) if ratio < 0.95 => Some(Color::Green),
        Some(ratio) if ratio <= 1.05 => None,
        _ => Some(Color::Red),
    };
    texts
        .into_iter()
        .enumerate()
        .map(|(column, text)| {
            let cell = Cell::new(text).set_alignment(alignment(column));
            match judged {
                Some(judgement) if colour && column == 12 => cell.fg(judgement),
                _ => cell,
            }
        })
        .collect()
}

/// Where the new link's time went, as shares of a bar.
fn bar(link: &NewLink) -> String {
    let parts =
        [link.useful, link.needless, link.idle_path, link.idle_window, link.idle_timer, link.idle_other];
    let total: f64 = parts.iter().sum();
    if total <= 0.0 {
        return String::new();
    }
    let mut text = String::new();
    let mut sum = 0.0;
    for (part, (letter, ..)) in parts.iter().zip(CLASSES) {
        sum += part;
        let end = (sum / total * BAR as f64).round() as usize;
        while text.len() < end {
            text.push(letter);
        }
    }
    text
}

fn legend(plan: &Plan) -> String {
    let classes: Vec<String> =
        CLASSES.iter().map(|(letter, _, meaning)| format!("{letter} {meaning}")).collect();
    format!(
        "Handoffs a row: {}. Q1, median, Q3: transfer time of {} packets per flow, s (inf = incomplete); x bound, p90: its\n\
         ratio to the physical bound, median and 90th percentile; RTO ... needless: means per handoff; vs first: median\n\
         ratio to {}. New link: {}.\n",
        plan.request.at.len() as u64 * plan.request.seeds,
        plan.request.packets,
        plan.schemes[0].name,
        classes.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_and_in_proportion() {
        let link = NewLink {
            useful: 6.0,
            needless: 3.0,
            idle_path: 0.0,
            idle_window: 3.0,
            idle_timer: 0.0,
            idle_other: 0.0,
        };
        assert_eq!(bar(&link), "############xxxxxxwwwwww");
    }
}
