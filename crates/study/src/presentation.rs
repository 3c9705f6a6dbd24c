//! How a comparison is shown, as far as the one who asks decides it: title, columns, chart. Words only; the
//! rooms above draw and print.

use crate::parameter::Parameter;
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

/// An enum of words as files have them: each with what it means, for schemas and help.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident => $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word and its meaning.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, concat!($($doc),+)),)+];
        }
    };
}

words! {
/// How numbers lie on an axis.
Scale {
    /// Equal differences are equally far apart.
    Linear => "linear",
    /// Equal ratios are.
    Log => "log",
}
}

#[expect(clippy::derivable_impls, reason = "the macro leaves no place for #[default]")]
impl Default for Scale {
    fn default() -> Self {
        Self::Linear
    }
}

words! {
/// Columns of the table; docs/reference/bench.md defines the measures.
Column {
    /// Lower quartile of the transfer time, s.
    Q1 => "q1",
    /// Median transfer time, s.
    Median => "median",
    /// Upper quartile of the transfer time, s.
    Q3 => "q3",
    /// Median of the physical bound, s.
    Bound => "bound",
    /// Transfer time over bound, median.
    OverBound => "over_bound",
    /// Transfer time over bound, 90th percentile.
    OverBoundP90 => "over_bound_p90",
    /// Handoffs whose transfer did not complete.
    Incomplete => "incomplete",
    /// Timeouts per handoff.
    Timeouts => "timeouts",
    /// Spurious timeouts per handoff.
    SpuriousTimeouts => "spurious_timeouts",
    /// Share of handoffs with a spurious timeout.
    SpuriousTimeoutFraction => "spurious_timeout_fraction",
    /// Timeouts between T and completion, per handoff.
    TimeoutsInDisconnection => "timeouts_in_disconnection",
    /// Entries into fast recovery per handoff.
    FastRetransmits => "fast_retransmits",
    /// Packets, ACKs included, that found a queue full, per handoff.
    Drops => "drops",
    /// Packets that the disconnection swallowed, per handoff.
    LostInDisconnection => "lost_in_disconnection",
    /// Packets sent again, per handoff.
    Retransmissions => "retransmissions",
    /// Packets sent again that brought nothing new, per handoff.
    NeedlessRetransmissions => "needless_retransmissions",
    /// Median delay at the new link's queue, s.
    QueueDelay => "queue_delay",
    /// 95th percentile of the delay at the new link's queue, s.
    QueueDelayP95 => "queue_delay_p95",
    /// Jain's index of fairness.
    Jain => "jain",
    /// Median ratio to the first scheme over the same handoffs.
    RatioToFirst => "ratio_to_first",
    /// Share of handoffs that are better than the first scheme's by more than 5 %.
    BetterThanFirst => "better_than_first",
    /// Share of handoffs that are worse than the first scheme's by more than 5 %.
    WorseThanFirst => "worse_than_first",
    /// Where the new link's time went, as a bar.
    NewLink => "new_link",
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
