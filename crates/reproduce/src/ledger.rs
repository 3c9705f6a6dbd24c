//! The ledger: what a paper states, as data. One file per paper in `papers/`; these types are its schema.
//!
//! The code knows operations, not papers. A claim says over which points it holds ([`Points`]) and what must
//! be true there ([`Expect`]); a figure says what is drawn. Words such as `about` have their tolerance from
//! [`crate::tolerance`].

mod cells;
mod downloads;
mod drives;
mod expect;
mod figures;

pub use cells::CellPoints;
pub use downloads::{DownloadCurve, Downloads};
pub use drives::{ClassWord, Drives};
pub use expect::{At, Bounds, Direction, EventWord, Expect, Fact, Measure, Operand, Stat};
pub use figures::{BdpAndThreshold, Figure, Form, OneHandoff, Panel, Series};

use schemars::JsonSchema;
use segue_files::drive::PaperDrive;
use segue_files::scenario::OneOf;
use segue_study::planned::StackWords;
use segue_world::KindWord;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One paper.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Name on the command line.
    pub id: String,
    /// As docs/reference/algorithms.md cites it.
    pub number: String,
    /// Authors, title, place, year.
    pub cite: String,
    /// Settings that its points share.
    pub defaults: Defaults,
    /// Readings of open points that this paper's runs use, with their reasons.
    #[serde(default, rename = "reading")]
    pub readings: Vec<Reading>,
    /// Benches that the paper may have had instead; verdicts of each stand beside the others (`--sensitivity`).
    #[serde(default)]
    pub sensitivity: Vec<Sensitivity>,
    /// Tables of ours that belong beside it in the gallery.
    #[serde(default)]
    pub tables: Vec<TableWord>,
    /// Its figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    /// Its statements.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A table of the gallery that no paper has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableWord {
    /// Senders and buffers at routers ([`crate::buffers`]).
    SendersAndBuffers,
}

/// Settings that the points of a paper share.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// P; 100 unless given.
    #[serde(default = "hundred")]
    pub packets: u32,
    /// Length of a disconnection, s; 1 unless given.
    #[serde(default = "one_second")]
    pub disconnect_s: f64,
    /// Stack of all senders in drives; each scheme's own unless given.
    pub stack: Option<String>,
    /// Seeds of the traffic of each drive; 10 unless given.
    #[serde(default = "ten")]
    pub seeds: u64,
    /// The paper's names of senders, and Segue's.
    pub schemes: BTreeMap<String, String>,
}

impl Defaults {
    /// The stack as it is asked for.
    pub(crate) fn stack_words(&self) -> StackWords<'_> {
        StackWords { stack: self.stack.as_deref(), cc: None }
    }
}

fn hundred() -> u32 {
    100
}

fn one_second() -> f64 {
    1.0
}

fn ten() -> u64 {
    10
}

/// A reading of an open point (docs/reference/algorithms.md, section 9).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// A setting, as `--set` takes it.
    pub set: String,
    /// Section of docs/reference/algorithms.md.
    pub section: String,
    /// Support in the paper's text, and readings that were tried.
    pub why: String,
}

/// Another bench for all runs of a paper.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// In tables.
    pub name: String,
    /// Settings, as `--set` takes them.
    pub set: Vec<String>,
    /// Why it is looked at.
    pub why: String,
}

impl Paper {
    /// The paper with runs on another bench.
    #[must_use]
    pub fn on(&self, other: &Sensitivity) -> Self {
        let reading =
            |set: &String| Reading { set: set.clone(), section: "-".into(), why: other.why.clone() };
        let mut paper = self.clone();
        paper.readings.extend(other.set.iter().map(reading));
        paper
    }
}

/// One value or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Several<T> {
    /// One.
    One(T),
    /// Several, in order.
    Many(Vec<T>),
}

impl<T> Several<T> {
    /// All of them.
    pub fn all(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Over which handoffs: every combination of kind, links, flows and packets, in this order (the last varies fastest).
/// Each is over the handoff times of the bench or at one time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// `mbb`, `bbm` or both.
    #[schemars(with = "Several<OneOf<KindWord>>")]
    pub kind: Several<KindWord>,
    /// Length of the disconnection, s; the paper's unless given.
    pub disconnect_s: Option<Several<f64>>,
    /// Old and new link: `6400/9 200/300`, in kbit/s and ms.
    pub links: Several<String>,
    /// Numbers of flows; 1 unless given.
    pub flows: Option<Several<usize>>,
    /// P; the paper's unless given.
    pub packets: Option<Several<u32>>,
    /// One handoff, at this T in s, in place of 200.
    pub at_s: Option<f64>,
}

/// The part of a claim's points that a contrast compares.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Handoffs of this kind.
    #[schemars(with = "Option<OneOf<KindWord>>")]
    pub kind: Option<KindWord>,
    /// With these links.
    pub links: Option<Several<String>>,
    /// With these numbers of flows.
    pub flows: Option<Several<usize>>,
    /// In these drives.
    pub drive: Option<Several<PaperDrive>>,
    /// Handoffs of these classes.
    pub class: Option<Several<ClassWord>>,
    /// With these buffers, packets.
    pub buffer: Option<Several<u32>>,
    /// With these shares of timeouts, percent.
    pub p_percent: Option<Several<u32>>,
}

/// Subject of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// A result of their simulations.
    Result,
    /// One run that they narrate, or a computed number.
    Example,
    /// A rule.
    Formula,
}

/// How a statement is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// By simulation.
    Sim,
    /// By arithmetic, in a test.
    Calc,
    /// By reading: `by` says where.
    Doc,
}

/// One statement.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Unique; `etcp1-` for paper 001, `mflow-` for 000, `tcpho-` for 003, `fmip-` for 002.
    pub id: String,
    /// Where it stands.
    pub place: String,
    /// Its subject.
    pub kind: ClaimKind,
    /// How it is judged.
    pub check: Check,
    /// In our words.
    pub statement: String,
    /// The stated numbers in words, for tables.
    pub stated: String,
    /// Over which handoffs; not for `calc` and `doc`.
    pub points: Option<Points>,
    /// Over which drives, in place of handoffs.
    pub drives: Option<Drives>,
    /// Over which runs in two cells, in place of handoffs.
    pub cells: Option<CellPoints>,
    /// Over which downloads, in place of handoffs.
    pub downloads: Option<Downloads>,
    /// Conditions that must all be true; not for `calc` and `doc`.
    #[serde(default)]
    pub expect: Vec<Expect>,
    /// The test (`calc`) or the place (`doc`) that shows it.
    pub by: Option<String>,
    /// Why it cannot be judged.
    pub cannot: Option<String>,
    /// Why it differs, found by looking at the packets.
    pub why: Option<String>,
    /// Points that the text leaves open.
    pub ambiguous: Option<String>,
}
