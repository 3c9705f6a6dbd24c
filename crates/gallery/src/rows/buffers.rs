//! The cells of the gallery's table of senders and buffers, as CSV.

use segue_export::csv_text;
use segue_reproduce::buffers::SendersAndBuffers;
use serde::Serialize;

/// A cell of the table of senders and buffers; an empty field is infinite.
#[derive(Serialize)]
struct BufferCell<'a> {
    router_buffer: &'a str,
    old: &'a str,
    new: &'a str,
    disconnect_s: f64,
    scheme: &'a str,
    stack: &'a str,
    packets: u32,
    points: usize,
    incomplete: usize,
    transfer_q1_s: Option<f64>,
    transfer_median_s: Option<f64>,
    transfer_q3_s: Option<f64>,
    timeouts: f64,
}

/// One line per cell of the gallery's table of senders and buffers, column by column.
pub fn buffers_csv(table: &SendersAndBuffers) -> Result<String, csv::Error> {
    let cells = table.columns.iter().flat_map(|(column, comparison)| {
        comparison.rows().map(|row| BufferCell {
            router_buffer: column.buffer(),
            old: &row.old,
            new: &row.new,
            disconnect_s: row.disconnect_s,
            scheme: &row.scheme,
            stack: &row.stack,
            packets: row.packets,
            points: row.points,
            incomplete: row.incomplete,
            transfer_q1_s: row.transfer_s.q1,
            transfer_median_s: row.transfer_s.median,
            transfer_q3_s: row.transfer_s.q3,
            timeouts: row.timeouts,
        })
    });
    csv_text(cells)
}
