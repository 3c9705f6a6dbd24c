//! Results as JSON, CSV and Parquet, in files that appear whole or not at all, and read again; as Arrow tables;
//! captures ([`capture`]).

mod arrow_bytes;
mod arrow_events;
mod arrow_rows;
pub mod capture;
mod csv_rows;
mod difference;
mod document;
mod drive;
mod handoff_table;
mod lcfd;
mod live;
mod model;
mod output;
mod parquet_file;
mod reproduction;
mod trace_lines;

pub use arrow_bytes::{batch_from_bytes, batch_to_bytes};
pub use arrow_events::events_arrow;
pub use arrow_rows::{
    ArrowError, claims_arrow, comparison_arrow, drive_arrow, gains_arrow, handoffs_arrow, lcfd_arrow,
    savings_arrow,
};
pub use csv_rows::{buffers_csv, comparison_csv, handoffs_csv};
pub use difference::difference_json;
pub use document::{Document, DocumentError};
pub use drive::{drive_csv, drive_json};
pub use handoff_table::{Asked, SweptHandoff, handoff_batch, handoff_schema};
pub use lcfd::{lcfd_csv, lcfd_json, lcfd_windows_csv, mode_name};
pub use live::{lab_drive_json, live_csv, live_json};
pub use model::{tcp_ho_csv, tcp_ho_json};
pub use output::{Output, OutputError, in_words};
pub use parquet_file::{ParquetFileError, ParquetReader, ParquetWriter};
pub use reproduction::{claims_json, figure_csv};
pub use trace_lines::trace_lines;

use segue_study::Comparison;

/// A comparison as JSON text, one row a line, with a final line feed.
pub fn comparison_json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    let rows: Result<Vec<String>, _> = comparison.rows().map(serde_json::to_string).collect();
    Ok(format!("{{\"version\":1,\"rows\":[\n{}\n]}}\n", rows?.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_comparison_is_still_a_document() {
        let text = comparison_json(&Comparison { groups: Vec::new() }).unwrap();
        let document: Document = serde_json::from_str(&text).unwrap();
        assert_eq!(document, Document { version: 1, rows: Vec::new() });
    }
}
