//! How results of models look: tables without lines, and charts of one size.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use segue_draw::Size;

/// Size of the chart, px: its text can still be read where it is scaled to a telephone's 390.
pub(crate) const CHART: Size = Size { width: 480, height: 440 };
/// A table without lines, numbers to the right.
pub(crate) fn table(header: impl Iterator<Item = String>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
