//! Words of a question, as command lines, files and results have them.

use segue_netsim::{Nanos, SECOND};
use segue_words::choices;

choices! {
/// Kinds of handoff of papers and laboratories.
pub enum KindWord {
    /// Make-before-break.
    Mbb = "mbb",
    /// Break-before-make.
    Bbm = "bbm",
}
}

choices! {
/// Kinds of handoff of the simulator.
pub enum SimulatedKind {
    /// Make-before-break.
    Mbb = "mbb",
    /// Break-before-make.
    Bbm = "bbm",
    /// Both links carry for a while.
    Soft = "soft",
    /// To the new link, and back after a while.
    PingPong = "ping-pong",
}
}

choices! {
/// Ways of packets while both links carry.
pub enum SoftWord {
    /// Each packet goes over both links; the first copy counts.
    Duplicate = "duplicate",
    /// Each packet goes over one of them, by their rates.
    Split = "split",
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
/// Effect of a handoff on the mobile's address.
pub enum Address {
    /// It stays, and connections with it.
    Keep = "keep",
    /// The new link has another: connections of the old one end, and others are opened.
    New = "new",
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

/// The time during which both links carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// From T on.
    pub length: Nanos,
    /// Way of packets meanwhile.
    pub way: SoftWord,
}

/// A second: what a disconnection, an overlap and a stay last unless they are given.
impl Default for Overlap {
    fn default() -> Self {
        Self { length: SECOND, way: SoftWord::Duplicate }
    }
}

/// Kinds of handoff with their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Make-before-break.
    Mbb,
    /// Break-before-make with this disconnection.
    Bbm(Nanos),
    /// Both links carry for a while; then the new one does alone.
    Soft(Overlap),
    /// Make-before-break, and back to the old link so long after T.
    PingPong(Nanos),
}

impl SimulatedKind {
    /// The kind with that disconnection, if it has one; other times are the usual ones.
    pub fn with(self, disconnection: Nanos) -> Kind {
        match self {
            Self::Mbb => Kind::Mbb,
            Self::Bbm => Kind::Bbm(disconnection),
            Self::Soft => Kind::Soft(Overlap::default()),
            Self::PingPong => Kind::PingPong(Overlap::default().length),
        }
    }
}

impl Kind {
    /// From T to completion.
    pub fn disconnection(self) -> Nanos {
        match self {
            Self::Bbm(time) => time,
            Self::Mbb | Self::Soft(_) | Self::PingPong(_) => 0,
        }
    }

    /// Whether there is a time without a link.
    pub fn breaks(self) -> bool {
        matches!(self, Self::Bbm(_))
    }

    /// How long both links carry.
    pub fn overlap(self) -> Option<Overlap> {
        if let Self::Soft(overlap) = self { Some(overlap) } else { None }
    }

    /// How long after T the mobile is back.
    pub fn returns_after(self) -> Option<Nanos> {
        if let Self::PingPong(stay) = self { Some(stay) } else { None }
    }

    /// Its word, without the time.
    pub fn simulated(self) -> SimulatedKind {
        match self {
            Self::Mbb => SimulatedKind::Mbb,
            Self::Bbm(_) => SimulatedKind::Bbm,
            Self::Soft(_) => SimulatedKind::Soft,
            Self::PingPong(_) => SimulatedKind::PingPong,
        }
    }

    /// `mbb`, `bbm`, `soft` or `ping-pong`.
    pub fn word(self) -> &'static str {
        self.simulated().word()
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
