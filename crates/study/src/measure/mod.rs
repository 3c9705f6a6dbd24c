//! The measures of docs/reference/measures.md, over all handoffs of one row. [`table`](self) has an entry for each; what JSON, CSV,
//! columns, tables, `segue diff` and the documentation need follows from it.

mod define;
mod parts;
mod sample;
mod table;

use crate::numbers;

pub use parts::{
    AgainstFirst, NeighboursKept, NewLink, OfTraffic, OfVideo, OverBound, Quartiles, QueueDelay,
};
pub(crate) use sample::Sample;
pub use sample::seconds;
pub use table::{
    Column, EACH, FIELDS, FlatRow, HandoffRow, MEASURES, OPTIONAL, OPTIONAL_FIELDS, Row, has, optional_of,
};

/// A number that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The field of [`Row`] that holds it.
    pub field: &'static str,
    /// Its path in JSON: `transfer_s.median`.
    pub name: &'static str,
    /// Its name in CSV and as a column of Arrow.
    pub csv: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// How much it varies by chance.
    pub noise: Noise,
    /// Its type.
    pub kind: EachKind,
    about: &'static str,
    /// How tables show it, if they can.
    pub shown: Option<&'static Shown>,
    of: fn(&Row) -> Option<f64>,
}

/// How a table shows a measure.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The column.
    pub column: Column,
    /// Its name in files.
    pub word: &'static str,
    /// Its heading on a terminal.
    pub heading: &'static str,
    /// Its heading in a page, where there is more room, if pages have it.
    pub title: Option<&'static str>,
}

/// Units of numbers. Where the noise of differences is unknown, `segue diff` lists earlier units first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Multiples of the first scheme's.
    TimesFirst,
    /// Multiples of the bound.
    TimesBound,
    /// s; none is infinite.
    Seconds,
    /// s; none if there was no packet.
    Delay,
    /// 0 to 1.
    Index,
    /// Share of the handoffs.
    Share,
    /// Number of handoffs.
    Handoffs,
    /// Mean number per handoff.
    PerHandoff,
    /// Multiples of what there is without the handoff.
    TimesUndisturbed,
    /// Mean number of bytes per handoff.
    Bytes,
}

impl Unit {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::TimesFirst => "times the first scheme's",
            Self::TimesBound => "times the bound",
            Self::Seconds | Self::Delay => "s",
            Self::Index => "0 to 1",
            Self::Share => "share of handoffs",
            Self::Handoffs => "handoffs",
            Self::PerHandoff => "mean per handoff",
            Self::TimesUndisturbed => "times that without the handoff",
            Self::Bytes => "bytes per handoff",
        }
    }
}

/// Figures of a row that tell how much a measure varies by chance (docs/guide/diff.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The notch around the median of the transfer time.
    Notch,
    /// That of a mean number per handoff.
    Count,
    /// That of a share of the handoffs.
    Share,
    /// A time or a ratio whose spread no row holds.
    Unknown,
}

/// A measure of a single handoff.
#[derive(Clone, Copy, Debug)]
pub struct EachMeasure {
    /// Its field in [`HandoffRow`].
    pub name: &'static str,
    /// Its type.
    pub kind: EachKind,
    /// Its value; `None` = infinite.
    pub of: fn(&HandoffRow) -> Option<f64>,
}

/// Types of measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachKind {
    /// Number of events.
    Count,
    /// s, or a mean of counts or shares.
    Seconds,
    /// The same, or infinite.
    MaybeInfinite,
}

/// Types that a measure can have.
pub(crate) trait Number {
    /// The same as the type of a single handoff's measure.
    const KIND: EachKind;
    /// `None` = infinite.
    fn number(&self) -> Option<f64>;
}

impl Number for u32 {
    const KIND: EachKind = EachKind::Count;
    fn number(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl Number for usize {
    const KIND: EachKind = EachKind::Count;
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Number for f64 {
    const KIND: EachKind = EachKind::Seconds;
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Number for Option<f64> {
    const KIND: EachKind = EachKind::MaybeInfinite;
    fn number(&self) -> Option<f64> {
        *self
    }
}

impl Measure {
    /// Its value in a row; `None` = infinite, or there is none.
    pub fn value(&self, row: &Row) -> Option<f64> {
        (self.of)(row)
    }

    /// One line about it; `first` is the scheme that the others are compared with.
    pub fn about(&self, first: &str) -> String {
        self.about.replace("{first}", first)
    }

    /// Its value as tables show it.
    pub fn text(&self, row: &Row) -> String {
        let value = self.value(row);
        match self.unit {
            // Neither has an end: nothing is as fast as the other.
            Unit::TimesFirst if row.transfer_s.median.is_none() && value == Some(1.0) => "-".into(),
            Unit::Seconds => numbers::time(value),
            // Without a packet there was no delay: nothing is infinite here.
            Unit::Delay => value.map_or("-".into(), |delay| numbers::time(Some(delay))),
            Unit::TimesFirst | Unit::TimesBound | Unit::TimesUndisturbed | Unit::Index | Unit::Share => {
                numbers::ratio(value)
            }
            Unit::Bytes => value.map_or("-".into(), |bytes| format!("{bytes:.0}")),
            Unit::PerHandoff => value.map_or("-".into(), numbers::count),
            Unit::Handoffs => value.map_or("-".into(), |handoffs| format!("{handoffs}")),
        }
    }
}

impl Column {
    /// Those of `segue compare`: what one needs to see who is faster, and why.
    pub const USUAL: [Self; 7] = [
        Self::Median,
        Self::OverBound,
        Self::OverBoundP90,
        Self::Timeouts,
        Self::SpuriousTimeouts,
        Self::RatioToFirst,
        Self::NewLink,
    ];

    /// Those of `--wide`.
    pub const WIDE: [Self; 13] = [
        Self::Q1,
        Self::Median,
        Self::Q3,
        Self::OverBound,
        Self::OverBoundP90,
        Self::Timeouts,
        Self::SpuriousTimeouts,
        Self::FastRetransmits,
        Self::Drops,
        Self::Retransmissions,
        Self::NeedlessRetransmissions,
        Self::RatioToFirst,
        Self::NewLink,
    ];

    /// The measure that it shows, and how; `None` for the bar.
    pub fn measure(self) -> Option<(&'static Measure, &'static Shown)> {
        let shown = |measure: &'static Measure| Some((measure, measure.shown?));
        MEASURES.iter().filter_map(shown).find(|(_, shown)| shown.column == self)
    }

    /// Its name in files.
    pub fn word(self) -> &'static str {
        self.measure().map_or("new_link", |(_, shown)| shown.word)
    }

    /// Its heading in a table.
    pub fn heading(self) -> &'static str {
        self.measure().map_or("new link", |(_, shown)| shown.heading)
    }

    /// One line about it, below the table; `first` is the scheme that the others are compared with.
    pub fn meaning(self, first: &str) -> String {
        self.measure().map_or("how the new link spent that time".into(), |(measure, _)| measure.about(first))
    }
}
