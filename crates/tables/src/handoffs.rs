//! Single handoffs as columns: the rows of `--rows`, typed, each with all that tells it from the others of a sweep.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, Field, Fields, Schema, SchemaRef};
use segue_study::HandoffRow;
use segue_study::measure::{EACH, EachKind, EachMeasure, Measure, OPTIONAL, OPTIONAL_FIELDS};
use std::sync::Arc;

/// Choices of the command line that `--rows` leaves out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
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
    /// The choices of the command line.
    pub asked: Arc<Question>,
    /// The row of `--rows`.
    pub row: HandoffRow,
    /// Values of classes of traffic, by the names of their columns; `None` = infinite, or there was nothing.
    pub classes: Vec<(&'static str, Option<f64>)>,
}

/// Columns that not every sweep has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Some run has several handoffs: a column says which of its run a row is.
    pub several: bool,
    /// Classes of traffic that some run measures: fields of a row of `segue compare`.
    pub classes: Vec<&'static str>,
}

impl Layout {
    fn measures(&self) -> impl Iterator<Item = &'static Measure> {
        OPTIONAL.iter().filter(|measure| self.classes.contains(&measure.field))
    }
}

/// Words that repeat: each stands once.
fn words<'r>(rows: &'r [SweptHandoff], word: impl Fn(&'r SweptHandoff) -> &'r str) -> ArrayRef {
    Arc::new(rows.iter().map(word).collect::<DictionaryArray<Int32Type>>())
}

fn numbers(rows: &[SweptHandoff], number: impl Fn(&SweptHandoff) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(number)))
}

fn seconds(rows: &[SweptHandoff], time: impl Fn(&HandoffRow) -> f64) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(rows.iter().map(|handoff| time(&handoff.row))))
}

/// Numbers that the table of measures has for one handoff.
fn measured(rows: &[SweptHandoff], measure: &EachMeasure) -> ArrayRef {
    let values = rows.iter().map(|handoff| (measure.of)(&handoff.row));
    match measure.kind {
        // A count is whole; one beyond 32 bits stays at the most.
        EachKind::Count => {
            Arc::new(values.map(|count| count.map(|count| count as u32)).collect::<UInt32Array>())
        }
        EachKind::Seconds | EachKind::MaybeInfinite => Arc::new(values.collect::<Float64Array>()),
    }
}

fn of_class(rows: &[SweptHandoff], name: &str) -> ArrayRef {
    let value = |handoff: &SweptHandoff| handoff.classes.iter().find(|(own, _)| *own == name)?.1;
    Arc::new(rows.iter().map(value).collect::<Float64Array>())
}

/// The columns, in order, with their fields.
fn columns(rows: &[SweptHandoff], layout: &Layout) -> Vec<(Field, ArrayRef)> {
    let flows = |handoff: &SweptHandoff| u32::try_from(handoff.row.flows).unwrap_or(u32::MAX);
    let question: [(&str, ArrayRef); 14] = [
        ("old", words(rows, |handoff| &handoff.row.old)),
        ("new", words(rows, |handoff| &handoff.row.new)),
        ("kind", words(rows, |handoff| handoff.row.kind)),
        ("disconnect_s", seconds(rows, |row| row.disconnect_s)),
        ("flows", numbers(rows, flows)),
        ("scheme", words(rows, |handoff| &handoff.row.scheme)),
        ("stack", words(rows, |handoff| handoff.row.stack)),
        ("notice", words(rows, |handoff| handoff.asked.notice)),
        ("notice_loss", numbers(rows, |handoff| handoff.asked.notice_loss)),
        ("definition", words(rows, |handoff| handoff.asked.definition)),
        ("settings", words(rows, |handoff| &handoff.asked.settings)),
        ("packets", numbers(rows, |handoff| handoff.asked.packets)),
        ("seed", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|handoff| handoff.row.seed)))),
        ("at_s", seconds(rows, |row| row.at_s)),
    ];
    let field = |name, column: ArrayRef, may_be_null| {
        (Field::new(name, column.data_type().clone(), may_be_null), column)
    };
    let question = question.into_iter().map(|(name, column)| field(name, column, false));
    let which = layout.several.then(|| numbers(rows, |handoff| handoff.row.handoff.unwrap_or(1)));
    let question = question.chain(which.map(|column| field("handoff", column, false)));
    let measures = EACH
        .iter()
        .map(|measure| field(measure.name, measured(rows, measure), measure.kind == EachKind::MaybeInfinite));
    let classes = layout.measures().map(|measure| field(measure.csv, of_class(rows, measure.csv), true));
    question.chain(measures).chain(classes).collect()
}

/// Names and types of the columns that every sweep has: words as dictionaries, times as 64-bit floating point in s,
/// counts as 32-bit integers. Only `transfer_s` may be null: the transfer did not end within 400 s.
pub fn handoff_schema() -> SchemaRef {
    schema(&Layout::default())
}

/// Whether these are the columns of handoffs, with or without those that not every sweep has.
pub fn is_handoff_schema(fields: &Fields) -> bool {
    let named = |name: &str| fields.iter().any(|field| field.name() == name);
    let classes = OPTIONAL_FIELDS.iter().map(|&(class, _)| class);
    let layout = Layout {
        several: named("handoff"),
        classes: classes
            .filter(|class| OPTIONAL.iter().any(|measure| measure.field == *class && named(measure.csv)))
            .collect(),
    };
    schema(&layout).fields() == fields
}

fn schema(layout: &Layout) -> SchemaRef {
    Arc::new(Schema::new(columns(&[], layout).into_iter().map(|(field, _)| field).collect::<Vec<_>>()))
}

/// The handoffs as one batch of columns.
///
/// # Errors
///
/// Columns that do not fit the schema, which would be our mistake.
pub fn handoff_batch(rows: &[SweptHandoff], layout: &Layout) -> Result<RecordBatch, ArrowError> {
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns(rows, layout).into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}
