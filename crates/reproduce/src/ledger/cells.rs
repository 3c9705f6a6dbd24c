//! Runs in the two cells of Chou and Shin, and points of their Markov chain, as a ledger names them.

use super::Several;
use schemars::JsonSchema;
use serde::Deserialize;

/// Over which runs: every combination of buffer, probability and mean sojourn, in this order (the last varies fastest). A
/// scheme whose name in Segue begins with `model:` is computed by the chain, any other is simulated.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellPoints {
    /// W_max, packets.
    pub w_max: u32,
    /// B, packets.
    pub buffer: Several<u32>,
    /// Share of handoffs that let the timer expire, percent.
    pub p_percent: Several<u32>,
    /// Shortest and longest sojourn, round trips of 0.2 s; in place of `mean_s`.
    pub sojourn_rtt: Option<[u32; 2]>,
    /// Mean sojourns, s; S lies within 30 %.
    pub mean_s: Option<Several<u32>>,
    /// Handoffs of a run: one number or several, which vary faster than the sojourns; 200 unless given.
    pub handoffs: Option<Several<u32>>,
    /// The first handoff comes when the window is so large, packets; otherwise when the first sojourn ends.
    pub first_window: Option<u32>,
    /// Least RTO, ms; 1000 unless given.
    pub rto_ms: Option<u32>,
    /// Latency of every handoff, ms; 300 to 500 without a timeout and 1300 to 2000 with one unless given.
    pub latency_ms: Option<u32>,
    /// Equation 7 as printed; corrected unless given.
    #[serde(default)]
    pub printed: bool,
}
