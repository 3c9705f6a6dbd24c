//! Single handoffs as columns: the rows of `--rows`, typed, each with all that tells it from the others of a sweep.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use segue_study::HandoffRow;
use std::sync::Arc;

/// What `--rows` leaves to the command line that was typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// `instant` or `in-band`.
    pub notice: &'static str,
    /// Copies of an in-band notice that are lost.
    pub notice_loss: u32,
    /// `after-highest` or `after-ack`.
    pub definition: &'static str,
    /// The settings that concern the scheme: `KEY=VALUE KEY=VALUE`.
    pub settings: String,
    /// P.
    pub packets: u32,
}

/// One handoff of a sweep with one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptHandoff {
    /// What was asked for.
    pub asked: Arc<Asked>,
    /// What `--rows` says of it.
    pub row: HandoffRow,
}

/// Words that repeat: each stands once.
fn words<'r>(rows: &'r [SweptHandoff], word: impl Fn(&'r SweptHandoff) -> &'r str) -> ArrayRef {
    Arc::new(rows.iter().map(word).collect::<DictionaryArray<Int32Type>>())
}

fn numbers(rows: &[SweptHandoff], number: impl Fn(&SweptHandoff) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(number)))
}

fn counts(rows: &[SweptHandoff], count: impl Fn(&HandoffRow) -> usize) -> ArrayRef {
    numbers(rows, |handoff| u32::try_from(count(&handoff.row)).unwrap_or(u32::MAX))
}

fn seconds(rows: &[SweptHandoff], time: impl Fn(&HandoffRow) -> f64) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(rows.iter().map(|handoff| time(&handoff.row))))
}

/// The columns by name, in order.
fn columns(rows: &[SweptHandoff]) -> [(&'static str, ArrayRef); 24] {
    [
        ("old", words(rows, |handoff| &handoff.row.old)),
        ("new", words(rows, |handoff| &handoff.row.new)),
        ("kind", words(rows, |handoff| handoff.row.kind)),
        ("disconnect_s", seconds(rows, |row| row.disconnect_s)),
        ("flows", counts(rows, |row| row.flows)),
        ("scheme", words(rows, |handoff| &handoff.row.scheme)),
        ("stack", words(rows, |handoff| handoff.row.stack)),
        ("notice", words(rows, |handoff| handoff.asked.notice)),
        ("notice_loss", numbers(rows, |handoff| handoff.asked.notice_loss)),
        ("definition", words(rows, |handoff| handoff.asked.definition)),
        ("settings", words(rows, |handoff| &handoff.asked.settings)),
        ("packets", numbers(rows, |handoff| handoff.asked.packets)),
        ("seed", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|handoff| handoff.row.seed)))),
        ("at_s", seconds(rows, |row| row.at_s)),
        ("transfer_s", Arc::new(rows.iter().map(|handoff| handoff.row.transfer_s).collect::<Float64Array>())),
        ("bound_s", seconds(rows, |row| row.bound_s)),
        ("timeouts", counts(rows, |row| row.timeouts)),
        ("spurious_timeouts", counts(rows, |row| row.spurious_timeouts)),
        ("timeouts_in_disconnection", counts(rows, |row| row.timeouts_in_disconnection)),
        ("fast_retransmits", counts(rows, |row| row.fast_retransmits)),
        ("drops", numbers(rows, |handoff| handoff.row.drops)),
        ("lost_in_disconnection", numbers(rows, |handoff| handoff.row.lost_in_disconnection)),
        ("retransmissions", numbers(rows, |handoff| handoff.row.retransmissions)),
        ("needless_retransmissions", numbers(rows, |handoff| handoff.row.needless_retransmissions)),
    ]
}

/// Names and types of the columns: words as dictionaries, times as 64-bit floating point in s, counts as 32-bit
/// integers. Only `transfer_s` may be null: the transfer did not end within 400 s.
pub fn handoff_schema() -> SchemaRef {
    let field = |(name, column): (&str, ArrayRef)| {
        let kind: &DataType = column.data_type();
        Field::new(name, kind.clone(), name == "transfer_s")
    };
    Arc::new(Schema::new(columns(&[]).map(field).to_vec()))
}

/// The handoffs as one batch of columns.
///
/// # Errors
///
/// Columns that do not fit the schema, which would be our mistake.
pub fn handoff_batch(rows: &[SweptHandoff]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(handoff_schema(), columns(rows).map(|(_, column)| column).to_vec())
}
