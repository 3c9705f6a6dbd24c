//! Results as JSON and CSV, in files that appear whole or not at all, and read again.

mod csv_origin;
mod csv_rows;
mod difference;
mod document;
mod drive;
mod flent;
mod live;
mod origin;
mod qlog;
mod question;
pub mod schema;
mod trace_lines;
mod xplot;

pub use csv_origin::{
    OF_FOLDER, folder_metadata, is_metadata, metadata, metadata_file, origin_in_comments, origin_in_metadata,
    without_comments,
};
pub use csv_rows::{comparison_csv, csv_text, handoffs_csv};
pub use difference::difference_json;
pub use document::{Document, DocumentError, command_of_another, read_document};
pub use drive::{FlatDriveRow, drive_csv, drive_json, drive_notes};
pub use flent::flent;
pub use live::{lab_drive_json, live_csv, live_json};
pub use origin::{DirectionRecord, LinkRecord, Origin, Provenance, digest, digest_of};
pub use qlog::qlog;
pub use question::{Drives, Handoffs, Lab, Question, QuestionError};
pub use segue_output::{Draft, Output, OutputError, folder_of, in_words, try_folder};
pub use trace_lines::{LineEvent, PacketLine, line, trace_lines};
pub use xplot::xplot;

use segue_study::Comparison;
use segue_study::warnings::unproven;
use serde::Serialize;

/// A name for the file of `scheme`, another one for every scheme: `etcp_a1+a3.pcapng`. File systems and programs take a
/// colon for something else; no scheme has a low line in its name.
pub fn file_name(scheme: &str, ending: &str) -> String {
    format!("{}.{ending}", scheme.replace(':', "_"))
}

/// A comparison as JSON text, one row a line, with a final line feed.
pub fn comparison_json(
    comparison: &Comparison,
    origin: Option<&Provenance>,
) -> Result<String, serde_json::Error> {
    document_json(comparison.rows(), &comparison_notes(comparison), origin)
}

/// Notes for readers of a comparison: stacks that were not validated against a kernel.
pub fn comparison_notes(comparison: &Comparison) -> Vec<String> {
    let beside = comparison.groups.iter().filter_map(|group| group.experiment.neighbours.as_ref());
    let stacks = comparison.rows().map(|row| row.stack.as_str());
    unproven(stacks.chain(beside.map(|neighbours| neighbours.stack.name)))
}

/// Rows as the document that every `--json` writes, one row a line. `notes`: what their reader must know.
fn document_json<R: Serialize>(
    rows: impl Iterator<Item = R>,
    notes: &[String],
    origin: Option<&Provenance>,
) -> Result<String, serde_json::Error> {
    let rows: Result<Vec<String>, _> = rows.map(|row| serde_json::to_string(&row)).collect();
    let notes = match notes {
        [] => String::new(),
        notes => format!(",\n\"notes\":{}", serde_json::to_string(notes)?),
    };
    let origin = match origin {
        Some(origin) => format!(",\n\"origin\":{}", serde_json::to_string(origin)?),
        None => String::new(),
    };
    Ok(format!("{{\"version\":1,\"rows\":[\n{}\n]{notes}{origin}}}\n", rows?.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_comparison_is_still_a_document() {
        let text = comparison_json(&Comparison { groups: Vec::new() }, None).unwrap();
        let document: Document = serde_json::from_str(&text).unwrap();
        assert_eq!(document, Document { version: 1, rows: Vec::new(), notes: Vec::new(), origin: None });
    }
}
