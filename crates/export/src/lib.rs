//! Results as JSON and CSV, in files that appear whole or not at all, and read again.

mod csv_rows;
mod difference;
mod document;
mod drive;
mod live;
mod origin;
mod trace_lines;

pub use csv_rows::{comparison_csv, csv_text, handoffs_csv};
pub use difference::difference_json;
pub use document::{Document, DocumentError};
pub use drive::{FlatDriveRow, drive_csv, drive_json};
pub use live::{lab_drive_json, live_csv, live_json};
pub use origin::Origin;
pub use segue_output::{Draft, Output, OutputError, folder_of, in_words};
pub use trace_lines::{LineEvent, PacketLine, line, trace_lines};

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
