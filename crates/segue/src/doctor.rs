//! `segue doctor`: what this machine can do, and what is missing.

use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, outputs, print};
use clap::Args;
use comfy_table::{ColumnConstraint, Width};
use segue_console::{lines, plain_table};
use segue_export::Origin;
use segue_kernel::host::{Feature, probe};
use serde_json::json;

/// `segue doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Write the report as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Runs the command.
pub fn run(args: &DoctorArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let features = probe();
    outputs::write(json, || {
        let text =
            serde_json::to_string(&json!({ "version": 1, "features": features, "origin": origin.json() }));
        text.map(|text| text + "\n").map_err(Failure::ours)
    })?;
    if on_stdout { Ok(()) } else { print(&text(&features, screen.width)) }
}

const HEADER: [&str; 5] = ["FEATURE", "", "FOUND", "NEEDED FOR", "WORKS WITHOUT IT"];

fn cells(feature: &Feature) -> [&str; 5] {
    let there = if feature.present { "present" } else { "missing" };
    [feature.name, there, &feature.found, feature.needed_for, feature.without]
}

/// A table where the longest word of each column has its place, else a paragraph for each feature. A path that is cut
/// cannot be copied.
fn text(features: &[Feature], width: usize) -> String {
    let rows: Vec<_> = features.iter().map(cells).collect();
    let longest = |text: &str| text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
    let least: Vec<usize> = (0..HEADER.len())
        .map(|column| rows.iter().map(|row| longest(row[column])).max().unwrap_or(0) + PADDING)
        .collect();
    if least.iter().sum::<usize>() > width {
        return paragraphs(&rows, width);
    }
    let mut table = plain_table(&HEADER, width);
    for (column, &least) in least.iter().enumerate().skip(1) {
        if let (Some(column), Ok(least)) = (table.column_mut(column), u16::try_from(least)) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
    }
    rows.iter().for_each(|row| {
        table.add_row(*row);
    });
    lines(&table)
}

/// Blanks around a cell.
const PADDING: usize = 2;

fn paragraphs(rows: &[[&str; 5]], width: usize) -> String {
    let longest = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    let paragraph = |[name, there, found, needed_for, without]: &[&str; 5]| {
        let head = format!("{name:longest$}  {there}  ");
        let more = [format!("needed for {needed_for}"), format!("works without it: {without}")];
        let indent = " ".repeat(longest + 2);
        wrapped(&head, found, width) + &more.map(|line| wrapped(&indent, &line, width)).concat()
    };
    rows.iter().map(paragraph).collect()
}
