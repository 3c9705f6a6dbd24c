//! Measures of the user's traffic, by class: a table below that of the transfers (docs/reference/traffic.md).

use crate::layout::{self, Cell, Paint, Side, wrapped};
use segue_study::measure::{OPTIONAL, has};
use segue_study::{GroupResult, Row};

/// Fields of a row, in the order of the table.
const CLASSES: [&str; 5] = ["download", "upload", "request", "video", "page"];
/// Measures of a class, in the order of [`COLUMNS`]; a class may lack one.
const PARTS: [&str; 6] =
    ["completion_median_s", "completion_p95_s", "stall_s", "delay_p95_s", "late_frames", "count"];
/// Headings and their meanings.
pub const COLUMNS: [(&str, &str); 6] = [
    ("median", "seconds until a transfer, response, frame or page is there, median; `inf`: never"),
    ("p95", "the same, 95th percentile"),
    ("stalled", "seconds of waiting, where nothing came for more than 200 ms, mean per handoff and flow"),
    ("delay", "one-way delay of data packets in seconds, 95th percentile"),
    ("late", "frames later than 100 ms beyond their time, mean per handoff"),
    ("count", "transfers, responses, frames or pages, mean per handoff"),
];

/// The classes of a block, a line for each scheme; nothing where no traffic is measured.
pub fn render(group: &GroupResult, colour: bool) -> String {
    let measured = || CLASSES.into_iter().filter(|class| group.rows.iter().any(|row| has(row, class)));
    if measured().next().is_none() {
        return String::new();
    }
    let bold = |text: &str| Cell { text: text.into(), paint: Paint::Bold };
    let head = ["traffic", "scheme"].into_iter().chain(COLUMNS.map(|(heading, _)| heading));
    let mut rows = vec![head.map(bold).collect::<Vec<_>>()];
    for class in measured() {
        for row in &group.rows {
            let names = [class, &row.scheme].map(|name| Cell::from(name.to_string()));
            let numbers = PARTS.map(|part| Cell::from(text(row, class, part)));
            rows.push(names.into_iter().chain(numbers).collect());
        }
    }
    let sides = [[Side::Left; 2].as_slice(), &[Side::Right; 6]].concat();
    layout::table(&rows, &layout::widths(&rows), &sides, colour)
}

fn text(row: &Row, class: &str, part: &str) -> String {
    let find = |part: &str| OPTIONAL.iter().find(|measure| measure.name == format!("{class}.{part}"));
    let nothing = find("count").is_some_and(|count| count.value(row) == Some(0.0));
    match find(part) {
        // Nothing was asked for: no time is infinite.
        Some(_) if nothing && part.starts_with("completion") => "-".to_string(),
        found => found.map_or_else(String::new, |measure| measure.text(row)),
    }
}

/// Meanings of the columns. `several`: handoffs follow one another, and each counts to the next.
pub fn legend(counted_s: f64, several: bool, width: usize) -> String {
    let next = if several { "the next T, for the last until " } else { "" };
    let about =
        format!("Traffic: what was under way at T or asked for until {next}{counted_s} s after completion.");
    let lines = COLUMNS.map(|(heading, meaning)| wrapped(&format!("{heading:8}"), meaning, width));
    format!("\n{}{}", wrapped("", &about, width), lines.concat())
}
