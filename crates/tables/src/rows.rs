//! The records of CSV files as Arrow record batches: the same columns in the same order; what is empty there is null
//! here. Text is utf8, counts are unsigned, everything else is float64. The events of traces: [`crate::events_arrow`].

use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use segue_export::FlatDriveRow;
use segue_study::Comparison;
use segue_study::drive::DriveRow;
use segue_study::measure::{FlatRow, OPTIONAL, has};
use serde::{Deserialize, Serialize};
use serde_arrow::schema::{SchemaLike, TracingOptions};

/// A table cannot be made.
pub type ArrowError = serde_arrow::Error;

/// Records as columns. The types of the fields, not the values, make the schema.
pub(crate) fn batch<'de, T: Deserialize<'de> + Serialize>(rows: &[T]) -> Result<RecordBatch, ArrowError> {
    batch_of(rows, &["handoff"])
}

/// The same without the columns of what the question did not ask for.
fn batch_of<'de, T: Deserialize<'de> + Serialize>(
    rows: &[T],
    without: &[&str],
) -> Result<RecordBatch, ArrowError> {
    let options = TracingOptions::default().strings_as_large_utf8(false);
    let mut fields = Vec::<FieldRef>::from_type::<T>(options)?;
    fields.retain(|field| !without.contains(&field.name().as_str()));
    serde_arrow::to_record_batch(&fields, &rows)
}

/// Any records as columns, one row each.
pub fn records_arrow<'de, T: Deserialize<'de> + Serialize>(
    rows: impl Iterator<Item = T>,
) -> Result<RecordBatch, ArrowError> {
    batch(&rows.collect::<Vec<_>>())
}

/// One row per direction, kind, flow count and scheme (docs/reference/results.md).
pub fn comparison_arrow(comparison: &Comparison) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<_> = comparison.rows().map(FlatRow::from).collect();
    batch_of(&rows, &not_asked_for(comparison))
}

/// One row per handoff and scheme, those that the comparison has kept.
pub fn handoffs_arrow(comparison: &Comparison) -> Result<RecordBatch, ArrowError> {
    let handoffs = comparison.groups.iter().flat_map(|group| &group.handoffs);
    batch_of(&handoffs.cloned().collect::<Vec<_>>(), &not_asked_for(comparison))
}

/// Columns that no row has: which handoff of its run it is, and measures of what only some questions have.
fn not_asked_for(comparison: &Comparison) -> Vec<&'static str> {
    let several = comparison.groups.iter().any(|group| group.handoff.is_some());
    let absent = OPTIONAL.iter().filter(|measure| !comparison.rows().any(|row| has(row, measure.field)));
    absent.map(|measure| measure.csv).chain((!several).then_some("handoff")).collect()
}

/// One row per drive and scheme (docs/guide/drives.md).
pub fn drive_arrow(rows: &[DriveRow]) -> Result<RecordBatch, ArrowError> {
    records_arrow(rows.iter().map(FlatDriveRow::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{batch_from_bytes, batch_to_bytes};
    use arrow_array::Array;
    use segue_export::{comparison_csv, drive_csv, handoffs_csv};
    use segue_gallery::{gain_rows, lcfd_csv, lcfd_rows, tcp_ho_csv};
    use segue_model::lcfd::Equation7;
    use segue_model::lcfd::figures::{Compared, Figure};
    use segue_model::tcp_ho::{Curve, Handoff};
    use segue_study::{Plan, Request, Times};
    use segue_world::{AccessLink, Definition, Kind, NoticeMode};

    fn plan() -> Plan {
        let link = |word| AccessLink::parse(word).expect("a link");
        let request = Request {
            // So slow that nothing ends within 400 s.
            pairs: vec![(link("2mbit/20ms"), link("2kbit/300ms")), (link("wlan"), link("egprs"))],
            kinds: vec![Kind::Mbb],
            flows: vec![1],
            schemes: vec!["sack".into(), "etcp-v1".into()],
            at: Times::parse("1s..2s/1s").expect("times").0,
            packets: 100,
            definition: Definition::AfterHighest,
            notice: NoticeMode::Instant,
            stack: None,
            cc: None,
            settings: Vec::new(),
            seed: 1,
            seeds: 1,
        };
        request.plan().expect("a plan")
    }

    /// Neighbours and traffic have columns where somebody asked for them.
    #[test]
    fn columns_of_neighbours_and_traffic_are_like_their_csv() {
        for (key, value, columns) in [("neighbours", "1", 3), ("traffic", "video(100kbit,10fps)", 6)] {
            let mut request = plan().request;
            request.settings = vec![(key.into(), value.into())];
            let comparison = Comparison::run(&request.plan().expect("a plan"), false, &|_| ());
            let rows = comparison_arrow(&comparison).expect("columns");
            assert_like(&rows, &comparison_csv(&comparison).expect("CSV"));
            let plain = comparison_arrow(&Comparison { groups: Vec::new() }).expect("columns");
            assert_eq!(rows.num_columns(), plain.num_columns() + columns, "{key}");
        }
    }

    /// Columns, rows and empty fields of the CSV.
    fn assert_like(batch: &RecordBatch, csv: &str) {
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(reader.headers().expect("a header").iter().collect::<Vec<_>>(), names);
        let records: Vec<_> = reader.records().map(|record| record.expect("a record")).collect();
        assert_eq!(records.len(), batch.num_rows());
        for (index, name) in names.iter().enumerate() {
            let empty = records.iter().filter(|record| record[index].is_empty()).count();
            // An empty text is one.
            let column = batch.column(index);
            if *column.data_type() != arrow_schema::DataType::Utf8
                || batch.schema().field(index).is_nullable()
            {
                assert_eq!(column.null_count(), empty, "{name}");
            }
        }
    }

    #[test]
    fn tables_are_like_their_csv() {
        let comparison = Comparison::run(&plan(), true, &|_| ());
        let rows = comparison_arrow(&comparison).expect("columns");
        assert_like(&rows, &comparison_csv(&comparison).expect("CSV"));
        let medians = rows.column_by_name("transfer_median_s").expect("a column");
        assert_eq!((medians.len(), medians.null_count()), (4, 2));
        assert_like(&handoffs_arrow(&comparison).expect("columns"), &handoffs_csv(&comparison).expect("CSV"));
        let curves =
            [Curve::over(Handoff::new(58.0, 50.0).expect("a handoff"), &[5.0, 10.0]).expect("a curve")];
        assert_like(&records_arrow(gain_rows(&curves)).expect("columns"), &tcp_ho_csv(&curves).expect("CSV"));
        let equation = Equation7::Corrected;
        let figure = Figure::ALL[0];
        let settings = figure.settings(equation).expect("settings");
        let of = |setting| Compared::new(setting, figure.schemes(), equation).expect("a comparison");
        let blocks = [(Some(figure), settings.into_iter().map(of).collect())];
        assert_like(
            &records_arrow(lcfd_rows(&blocks, equation)).expect("columns"),
            &lcfd_csv(&blocks, equation).expect("CSV"),
        );
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        assert_eq!(drive_arrow(&[]).expect("columns").num_columns(), 36);
        assert_eq!(drive_csv(&[]).expect("CSV"), "");
        let none = Comparison { groups: Vec::new() };
        let whole = Comparison::run(&plan(), false, &|_| ());
        let schema = |comparison| comparison_arrow(comparison).expect("columns").schema();
        assert_eq!(schema(&none), schema(&whole));
    }

    #[test]
    fn bytes_are_read_again() {
        let comparison = Comparison::run(&plan(), true, &|_| ());
        let batch = handoffs_arrow(&comparison).expect("columns");
        let bytes = batch_to_bytes(&batch).expect("bytes");
        assert_eq!(batch_from_bytes(&bytes).expect("a batch"), batch);
        for wrong in [&[][..], b"rubbish", &bytes[..bytes.len() / 2]] {
            assert!(batch_from_bytes(wrong).is_err());
        }
    }
}
