//! CSV: the rows of a comparison, flat, and its single handoffs.

use segue_study::Comparison;
use segue_study::measure::FlatRow;
use serde::Serialize;

/// Rows as CSV, with their names above.
pub fn csv_text<T: Serialize>(rows: impl Iterator<Item = T>) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    // Everything written was text.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line per row of the comparison.
pub fn comparison_csv(comparison: &Comparison) -> Result<String, csv::Error> {
    csv_text(comparison.rows().map(FlatRow::from))
}

/// One line per handoff and scheme.
pub fn handoffs_csv(comparison: &Comparison) -> Result<String, csv::Error> {
    csv_text(comparison.groups.iter().flat_map(|group| &group.handoffs))
}
