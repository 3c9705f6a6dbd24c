//! The terminal table of a comparison.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table, Width, presets,
};
use segue_study::measure::NewLink;
use segue_study::numbers::{count, ratio, time};
use segue_study::presentation::{Column, Presentation};
use segue_study::story::{headline, warnings};
use segue_study::{Comparison, GroupResult, Plan, Row};

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

/// Above the names of the schemes.
const NAMES: &str = "scheme";

/// Width of a column; that of names fits the longest one.
fn width(column: Column) -> u16 {
    match column {
        Column::NewLink => BAR as u16,
        Column::Timeouts
        | Column::SpuriousTimeouts
        | Column::FastRetransmits
        | Column::Jain
        | Column::BetterThanFirst
        | Column::WorseThanFirst => 6,
        // Times and counts have seven characters at most.
        column => (column.heading().len() as u16).max(7),
    }
}

/// The whole table as text; `colour` for terminals.
pub fn render(plan: &Plan, comparison: &Comparison, shown: &Presentation, colour: bool) -> String {
    let mut text = shown.title.iter().map(|title| format!("{title}\n\n")).collect::<String>();
    let name_width = plan.schemes.iter().map(|s| s.name.chars().count()).max().unwrap_or(0).max(NAMES.len());
    for group in &comparison.groups {
        text.push_str(&heading(group));
        text.push('\n');
        text.push_str(&group_table(group, &shown.columns, name_width as u16, colour));
        text.push_str("\n\n");
    }
    text.push_str(&legend(plan, &shown.columns));
    text
}

fn heading(group: &GroupResult) -> String {
    let experiment = &group.experiment;
    let first = group.rows.first().and_then(|row| row.bound_s);
    let same = group.same_bounds();
    let bound = first.filter(|_| same).map(|bound| format!("; bound {} s", time(Some(bound))));
    let warnings = warnings(experiment, group.several_stacks());
    let warnings: String = warnings.iter().map(|warning| format!("; {warning}")).collect();
    format!("{}{}{warnings}", headline(experiment), bound.unwrap_or_default())
}

fn group_table(group: &GroupResult, columns: &[Column], name_width: u16, colour: bool) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let names = std::iter::once(Cell::new(NAMES))
        .chain(columns.iter().map(|&column| Cell::new(column.heading()).set_alignment(alignment(column))));
    table.set_header(names.map(|cell| if colour { cell.add_attribute(Attribute::Bold) } else { cell }));
    for row in &group.rows {
        let comparable = row.stack == group.rows[0].stack;
        let cells = columns.iter().map(|&column| cell(row, column, colour && comparable));
        table.add_row(std::iter::once(Cell::new(&row.scheme)).chain(cells));
    }
    let widths = std::iter::once(name_width).chain(columns.iter().map(|&column| width(column)));
    // One character of padding on either side of a cell.
    table.set_constraints(widths.map(|w| ColumnConstraint::Absolute(Width::Fixed(w + 2))));
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn alignment(column: Column) -> CellAlignment {
    if column == Column::NewLink { CellAlignment::Left } else { CellAlignment::Right }
}

/// `judged`: coloured by its ratio to the first row, which is on the same stack.
fn cell(row: &Row, column: Column, judged: bool) -> Cell {
    let against = &row.against_first;
    let text = match column {
        Column::Q1 => time(row.transfer_s.q1),
        Column::Median => time(row.transfer_s.median),
        Column::Q3 => time(row.transfer_s.q3),
        Column::Bound => time(row.bound_s),
        Column::OverBound => ratio(row.over_bound.median),
        Column::OverBoundP90 => ratio(row.over_bound.p90),
        Column::Incomplete => row.incomplete.to_string(),
        Column::Timeouts => count(row.timeouts),
        Column::SpuriousTimeouts => count(row.spurious_timeouts),
        Column::SpuriousTimeoutFraction => ratio(Some(row.spurious_timeout_fraction)),
        Column::TimeoutsInDisconnection => count(row.timeouts_in_disconnection),
        Column::FastRetransmits => count(row.fast_retransmits),
        Column::Drops => count(row.drops),
        Column::LostInDisconnection => count(row.lost_in_disconnection),
        Column::Retransmissions => count(row.retransmissions),
        Column::NeedlessRetransmissions => count(row.needless_retransmissions),
        // Without a packet there was no delay: nothing is infinite here.
        Column::QueueDelay => row.queue_delay_s.median.map_or("-".into(), |delay| time(Some(delay))),
        Column::QueueDelayP95 => row.queue_delay_s.p95.map_or("-".into(), |delay| time(Some(delay))),
        Column::Jain => ratio(Some(row.jain)),
        Column::RatioToFirst => ratio(against.ratio_median),
        Column::BetterThanFirst => ratio(Some(against.better)),
        Column::WorseThanFirst => ratio(Some(against.worse)),
        Column::NewLink => bar(&row.new_link_s),
    };
    let cell = Cell::new(text).set_alignment(alignment(column));
    match against.ratio_median {
        _ if !judged || column != Column::RatioToFirst => cell,
        Some(ratio) if ratio < 0.95 => cell.fg(Color::Green),
        Some(ratio) if ratio <= 1.05 => cell,
        _ => cell.fg(Color::Red),
    }
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

fn legend(plan: &Plan, columns: &[Column]) -> String {
    let classes: Vec<String> =
        CLASSES.iter().map(|(letter, _, meaning)| format!("{letter} {meaning}")).collect();
    let handoffs = plan.request.at.len() as u64 * plan.request.seeds;
    let packets = plan.request.packets;
    if columns != Column::USUAL {
        return format!(
            "Handoffs a row: {handoffs}. Transfers of {packets} packets per flow, times in s; docs/bench.md defines the measures.\n\
             vs first: median ratio to {}. New link: {}.\n",
            plan.schemes[0].name,
            classes.join(", "),
        );
    }
    format!(
        "Handoffs a row: {handoffs}. Q1, median, Q3: transfer time of {packets} packets per flow, s (inf = incomplete); x bound, p90: its\n\
         ratio to the physical bound, median and 90th percentile; RTO ... needless: means per handoff; vs first: median\n\
         ratio to {}. New link: {}.\n",
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
