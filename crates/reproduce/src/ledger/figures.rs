//! Figures as a ledger names them.

use super::{CellPoints, DownloadCurve, Downloads, Drives, Measure, Several};
use schemars::JsonSchema;
use segue_files::scenario::OneOf;
use segue_world::KindWord;
use serde::Deserialize;

/// How a figure looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Quartile bars.
    Quartiles,
    /// Time-sequence graphs.
    Sequence,
    /// Means over the seeds of a drive, with 95 % confidence intervals.
    Means,
    /// A model's mean gain over the error of the estimate (docs/papers/models.md).
    Gains,
    /// A model's windows over time.
    Windows,
    /// A model's saving over the length of a disconnection.
    Saving,
    /// How far senders come along one route.
    Progress,
    /// Numbers of a Markov chain (docs/papers/models.md).
    Chain,
    /// Its two windows after one handoff.
    Comeback,
    /// Steps of one sender around one handoff between two cells.
    Steps,
    /// Downloads over time.
    Download,
    /// Messages of one download's handover: who told whom.
    Signalling,
}

/// One figure.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name on the command line, such as `fig17`.
    pub id: String,
    /// Where it stands.
    pub place: String,
    /// Its contents, in a sentence.
    pub title: String,
    /// How it looks.
    pub form: Form,
    /// The claims it supports.
    #[serde(default)]
    pub supports: Vec<String>,
    /// Points that the paper leaves open about it.
    pub notes: Option<String>,
    /// Its panels, in order.
    #[serde(rename = "panel")]
    pub panels: Vec<Panel>,
}

/// One coordinate system.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Such as `a: make-before-break`.
    pub title: String,
    /// Bars: title of the horizontal axis.
    pub x: Option<String>,
    /// Bars: its positions, as labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Bars: of what; transfer time unless given.
    pub of: Option<Measure>,
    /// P; the paper's unless given.
    pub packets: Option<u32>,
    /// Quartile bars: one bar per label and series.
    #[serde(default)]
    pub series: Vec<Series>,
    /// Means: one drive, or class of its handoffs, per label.
    pub drives: Option<Drives>,
    /// Means and steps: runs in two cells, one per label.
    pub cells: Option<CellPoints>,
    /// Chain: number of the figure.
    pub chain: Option<u8>,
    /// Means, steps and signalling: the senders, by the paper's names.
    #[serde(default)]
    pub senders: Vec<String>,
    /// Means, and downloads over time: one download per label, or per curve and sender. Signalling: one.
    pub downloads: Option<Downloads>,
    /// Downloads over time: what of them.
    pub shows: Option<DownloadCurve>,
    /// Downloads over time: the first sequence number.
    #[serde(default)]
    pub first_sequence: u32,
    /// Progress: where the mobile is, without other traffic.
    #[serde(default)]
    pub route: Vec<RouteStay>,
    /// Progress: one-way delay of the wide area, ms.
    pub wan_ms: Option<u32>,
    /// Time-sequence graph: the handoff.
    pub handoff: Option<OneHandoff>,
    /// Gains: one curve for each. Windows: one handoff.
    #[serde(default)]
    pub model: Vec<BdpAndThreshold>,
    /// Windows: the estimate of TCP-HO, segments.
    pub estimate: Option<f64>,
    /// Gains: standard deviations of the estimate, percent of the BDP.
    #[serde(default)]
    pub sigma_percent: Vec<f64>,
}

/// One series of a quartile chart: a point per label of the panel.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// For the legend.
    pub label: String,
    /// By the paper's name.
    pub scheme: String,
    /// Kind of handoff.
    #[schemars(with = "OneOf<KindWord>")]
    pub kind: KindWord,
    /// Length of the disconnection, s; the paper's unless given.
    pub disconnect_s: Option<f64>,
    /// One pair of links per label, or one for all.
    pub links: Several<String>,
    /// One number of flows per label, or one for all; 1 unless given.
    pub flows: Option<Several<usize>>,
}

/// A stay of a route.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteStay {
    /// s.
    pub from_s: f64,
    /// s.
    pub until_s: f64,
    /// `200/150` in kbit/s and ms.
    pub link: String,
}

/// A handoff as the model of TCP-HO sees it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BdpAndThreshold {
    /// BDP of the new path, segments.
    pub b: f64,
    /// TCP's threshold from before, segments.
    pub c: f64,
}

/// One handoff with one scheme.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneHandoff {
    /// By the paper's name.
    pub scheme: String,
    /// Kind of handoff.
    #[schemars(with = "OneOf<KindWord>")]
    pub kind: KindWord,
    /// Length of the disconnection, s; the paper's unless given.
    pub disconnect_s: Option<f64>,
    /// Old and new link.
    pub links: String,
    /// T, s.
    pub at_s: f64,
}
