//! Results as JSON and CSV, in files that appear whole or not at all.

mod csv_rows;
mod output;

pub use csv_rows::{comparison_csv, handoffs_csv};
pub use output::{Output, OutputError};

use segue_study::{Comparison, Row};
use serde::{Deserialize, Serialize};

/// The JSON document of `compare --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Version of the contract.
    pub version: u32,
    /// One row per direction, kind, flow count and scheme.
    pub rows: Vec<Row>,
}

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
