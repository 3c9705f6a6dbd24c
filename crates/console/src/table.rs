//! Tables.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

/// The width of a table whose rows stay whole.
pub const WHOLE: usize = usize::MAX;

/// A table without lines, `width` characters wide at most. Its first column, of names, does not wrap.
pub fn plain_table(header: &[&str], width: usize) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(header);
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

/// Such a table as lines without blanks at their end.
pub fn lines(table: &Table) -> String {
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
