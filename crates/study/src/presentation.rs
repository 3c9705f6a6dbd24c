//! How a comparison is shown, as far as the one who asks decides it: title, columns, chart. Words only; the
//! rooms above draw and print.

use crate::parameter::Parameter;
use schemars::JsonSchema;
use serde::Deserialize;

/// What a table, a page and a chart are told beside the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// What the comparison is about.
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
    /// What lies along the horizontal axis; the blocks of the table, by name, unless given.
    pub across: Option<Parameter>,
    /// How it lies there.
    pub horizontal: Scale,
    /// How transfer times lie on the vertical axis; chosen by their range unless given.
    pub vertical: Option<Scale>,
}

/// How numbers lie on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are.
    Log,
}

/// Columns of the table; docs/bench.md defines the measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Lower quartile of the transfer time, s.
    Q1,
    /// Median transfer time, s.
    Median,
    /// Upper quartile of the transfer time, s.
    Q3,
    /// Median of the physical bound, s.
    Bound,
    /// Transfer time over bound, median.
    OverBound,
    /// Transfer time over bound, 90th percentile.
    OverBoundP90,
    /// Handoffs whose transfer did not complete.
    Incomplete,
    /// Timeouts per handoff.
    Timeouts,
    /// Spurious timeouts per handoff.
    SpuriousTimeouts,
    /// Share of handoffs with a spurious timeout.
    SpuriousTimeoutFraction,
    /// Timeouts between T and completion, per handoff.
    TimeoutsInDisconnection,
    /// Entries into fast recovery per handoff.
    FastRetransmits,
    /// Packets, ACKs included, that found a queue full, per handoff.
    Drops,
    /// Packets that the disconnection swallowed, per handoff.
    LostInDisconnection,
    /// Packets sent again, per handoff.
    Retransmissions,
    /// Packets sent again that brought nothing new, per handoff.
    NeedlessRetransmissions,
    /// Median delay at the new link's queue, s.
    QueueDelay,
    /// 95th percentile of the delay at the new link's queue, s.
    QueueDelayP95,
    /// Jain's index of fairness.
    Jain,
    /// Median ratio to the first scheme over the same handoffs.
    RatioToFirst,
    /// Share of handoffs that are better than the first scheme's by more than 5 %.
    BetterThanFirst,
    /// Share of handoffs that are worse than the first scheme's by more than 5 %.
    WorseThanFirst,
    /// Where the new link's time went, as a bar.
    NewLink,
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

    /// What stands above it in a table.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Q1 => "Q1",
            Self::Median => "median",
            Self::Q3 => "Q3",
            Self::Bound => "bound",
            Self::OverBound => "x bound",
            Self::OverBoundP90 => "p90",
            Self::Incomplete => "incomplete",
            Self::Timeouts => "RTO",
            Self::SpuriousTimeouts => "spur",
            Self::SpuriousTimeoutFraction => "with spur",
            Self::TimeoutsInDisconnection => "RTO in gap",
            Self::FastRetransmits => "FR",
            Self::Drops => "drops",
            Self::LostInDisconnection => "lost in gap",
            Self::Retransmissions => "rexmit",
            Self::NeedlessRetransmissions => "needless",
            Self::QueueDelay => "queue",
            Self::QueueDelayP95 => "queue p95",
            Self::Jain => "Jain",
            Self::RatioToFirst => "vs first",
            Self::BetterThanFirst => "better",
            Self::WorseThanFirst => "worse",
            Self::NewLink => "new link",
        }
    }
    /// One line about it, below the table; `first` is the scheme that the others are compared with.
    pub fn meaning(self, first: &str) -> String {
        match self {
            Self::Q1 => "transfer time in seconds, lower quartile".into(),
            Self::Median => "transfer time in seconds, median".into(),
            Self::Q3 => "transfer time in seconds, upper quartile".into(),
            Self::Bound => "least time that any sender needs on these links, in seconds, median".into(),
            Self::OverBound => "transfer time over the least that any sender needs, median".into(),
            Self::OverBoundP90 => {
                "transfer time over the least that any sender needs, 90th percentile".into()
            }
            Self::Incomplete => "handoffs whose transfer did not complete".into(),
            Self::Timeouts => "retransmission timeouts per handoff".into(),
            Self::SpuriousTimeouts => "spurious ones per handoff: the packet was not lost".into(),
            Self::SpuriousTimeoutFraction => "share of handoffs with a spurious timeout".into(),
            Self::TimeoutsInDisconnection => "timeouts during the disconnection, per handoff".into(),
            Self::FastRetransmits => "fast retransmits per handoff".into(),
            Self::Drops => "packets that found a queue full, ACKs included, per handoff".into(),
            Self::LostInDisconnection => "packets lost in the disconnection, per handoff".into(),
            Self::Retransmissions => "packets sent again, per handoff".into(),
            Self::NeedlessRetransmissions => {
                "packets sent again that brought nothing new, per handoff".into()
            }
            Self::QueueDelay => "wait at the new link's queue in seconds, median".into(),
            Self::QueueDelayP95 => "wait at the new link's queue in seconds, 95th percentile".into(),
            Self::Jain => "Jain's index of fairness among the flows; 1 is fair".into(),
            Self::RatioToFirst => {
                format!("transfer time over that of {first} in the same handoff, median; below 1 is faster")
            }
            Self::BetterThanFirst => format!("share of handoffs faster than {first} by more than 5 %"),
            Self::WorseThanFirst => format!("share of handoffs slower than {first} by more than 5 %"),
            Self::NewLink => "how the new link spent that time".into(),
        }
    }
}
