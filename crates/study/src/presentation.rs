//! How a comparison is shown, as far as the one who asks decides it: title, columns, chart. Words only; the
//! rooms above draw and print.

use crate::measure::Column;
use crate::parameter::Parameter;
use serde::Deserialize;

/// Choices for a table, a page and a chart beside the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// Title of the comparison.
    pub title: Option<String>,
    /// Columns of the table after the scheme's name: [`Column::USUAL`] unless somebody chose.
    pub columns: Vec<Column>,
    /// The chart of quartiles.
    pub chart: Chart,
}

impl Default for Presentation {
    /// As `segue compare` shows it.
    fn default() -> Self {
        Self { title: None, columns: Column::USUAL.to_vec(), chart: Chart::default() }
    }
}

/// The axes of the chart of quartiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// Parameter of the horizontal axis; the blocks of the table, by name, unless given.
    pub across: Option<Parameter>,
    /// How it lies there.
    pub horizontal: Scale,
    /// How transfer times lie on the vertical axis; chosen by their range unless given.
    pub vertical: Option<Scale>,
}

/// How numbers lie on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are.
    Log,
}

impl Scale {
    /// Every word and its meaning, for schemas.
    pub const WORDS: [(&'static str, &'static str); 2] =
        [("linear", "Equal differences are equally far apart."), ("log", "Equal ratios are.")];
}
