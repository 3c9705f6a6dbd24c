//! The gallery's table of senders and buffers, a part for each pair of links and disconnection.

use maud::{Markup, html};
use segue_reproduce::buffers::SendersAndBuffers;
use segue_study::Row;
use segue_study::numbers::{count, time};

/// The table, with the command that repeats each column.
pub(crate) fn senders_and_buffers(table: &SendersAndBuffers) -> Markup {
    let rows: Vec<Vec<&Row>> = table.rows().collect();
    let first = rows.first().and_then(|row| row.first());
    html! {
        h2 #senders-and-buffers { "Senders and buffers" }
        p.lead {
            "What the sender does and what an access router keeps are independent of each other: each sender with each buffer"
            @if let Some(row) = first { ", all on " code { (row.stack) } ", " (handoffs(row.points)) " each" }
            ". Median transfer time"
            @if let Some(row) = first { " of " (row.packets) " packets" }
            ", s / timeouts per handoff from completion on. " code { "hn" } " brings its own buffer at the new router, whatever
            the column says: its cells are one result."
        }
        @for block in rows.chunk_by(|a, b| block(a) == block(b)) {
            @if let Some((old, new, disconnect_s)) = block.first().and_then(|cells| self::block(cells)) {
                h3 { (old) " → " (new) ", without a link for " (disconnect_s) " s" }
            }
            div.table { table {
                thead { tr {
                    th { "sender" }
                    @for (column, _) in &table.columns { th { code { (column.buffer()) } } }
                } }
                tbody {
                    @for cells in block {
                        tr {
                            td { (cells.first().map_or("", |row| &row.scheme)) }
                            @for row in cells { td.cell { (cell(row)) } }
                        }
                    }
                }
            } }
        }
        p.lead {
            "Each column is a scenario: "
            @for (index, (column, _)) in table.columns.iter().enumerate() {
                @if index > 0 { ", " }
                code.command { "segue run " (column.file) }
            }
            "."
        }
    }
}

/// Links and disconnection that the rows of one block share.
fn block<'a>(cells: &[&'a Row]) -> Option<(&'a str, &'a str, f64)> {
    cells.first().map(|row| (row.old.as_str(), row.new.as_str(), row.disconnect_s))
}

/// So many handoffs.
pub(crate) fn handoffs(count: usize) -> String {
    format!("{count} handoff{}", if count == 1 { "" } else { "s" })
}

fn cell(row: &Row) -> String {
    format!("{} / {}", time(row.transfer_s.median), count(row.timeouts))
}
