//! Downloads during a fast handover, as a ledger names them.

use super::Several;
use schemars::JsonSchema;
use serde::Deserialize;

/// Over which downloads: every combination of L2 handoff delay and access delays, in this order (the last varies fastest).
///
/// The senders of such points may name the buffer at NAR: `hn@100kB`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Downloads {
    /// L2 handoff delays, s.
    pub disconnect_s: Several<f64>,
    /// One-way delays of the links c and d, `20/5` in ms; the scenario's unless given.
    pub access_ms: Option<Several<String>>,
}

/// Quantities of a download that a figure shows over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DownloadCurve {
    /// Sequence number of the last byte received, in order or not.
    Sequence,
    /// Congestion window, packets.
    Window,
    /// Data that left the sender in HANDOFF, kB.
    Injected,
}
