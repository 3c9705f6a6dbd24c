//! Tables.

use comfy_table::{ContentArrangement, Table, presets};

/// A table without lines that keeps to the terminal's width.
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    table
}

/// Such a table as lines without blanks at their end.
pub fn lines(table: &Table) -> String {
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
