//! Words of a question, as command lines, files and results have them.

use segue_netsim::Nanos;
use segue_words::choices;

choices! {
/// Kinds of handoff.
pub enum KindWord {
    /// Make-before-break.
    Mbb = "mbb",
    /// Break-before-make.
    Bbm = "bbm",
}
}

choices! {
/// Ways of a notice.
pub enum NoticeWord {
    /// At every sender at completion.
    Instant = "instant",
    /// An option on two ACKs over the new link.
    InBand = "in-band",
}
}

choices! {
/// Definitions of the transfer time: until which packets are acknowledged.
pub enum Definition {
    /// Until P packets beyond the highest sent before completion are acknowledged.
    AfterHighest = "after-highest",
    /// Until P packets beyond the cumulative ACK at completion are acknowledged.
    AfterAck = "after-ack",
}
}

/// Break-before-make or make-before-break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Make-before-break.
    Mbb,
    /// Break-before-make with this disconnection.
    Bbm(Nanos),
}

impl Kind {
    /// From T to completion.
    pub fn disconnection(self) -> Nanos {
        match self {
            Self::Mbb => 0,
            Self::Bbm(time) => time,
        }
    }

    /// `mbb` or `bbm`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mbb => KindWord::Mbb.word(),
            Self::Bbm(_) => KindWord::Bbm.word(),
        }
    }
}

/// How senders learn of the handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeMode {
    /// At every sender at completion.
    Instant,
    /// By an option on two ACKs over the new link, of which the first `lost` are lost.
    InBand {
        /// Copies lost, 0 to 2.
        lost: u32,
    },
    /// Not at all: every scheme must then be its stack.
    Withheld,
}

/// Copies of an in-band notice: one may be lost.
const NOTICE_COPIES: u32 = 2;

impl NoticeMode {
    /// The mode that this word and number of lost copies stand for; an instant notice is never lost.
    pub fn of(word: NoticeWord, lost: u32) -> Self {
        match word {
            NoticeWord::Instant => Self::Instant,
            NoticeWord::InBand => Self::InBand { lost },
        }
    }

    /// Copies that are lost, of those in band.
    pub fn lost(self) -> u32 {
        match self {
            Self::InBand { lost } => lost,
            Self::Instant | Self::Withheld => 0,
        }
    }

    /// How many copies of a notice are heard.
    pub fn copies(self) -> u32 {
        match self {
            Self::Instant => NOTICE_COPIES,
            Self::InBand { lost } => NOTICE_COPIES.saturating_sub(lost),
            Self::Withheld => 0,
        }
    }

    /// `instant`, `in-band` or, which no user can ask for, `withheld`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Instant => NoticeWord::Instant.word(),
            Self::InBand { .. } => NoticeWord::InBand.word(),
            Self::Withheld => "withheld",
        }
    }
}
