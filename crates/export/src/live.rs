//! A laboratory's rows as JSON and CSV.

use crate::Provenance;
use crate::csv_rows::csv_text;
use crate::document_json;
use segue_study::live::{LiveMeasures, RatioToFirst};
use segue_study::{DriveRow, LiveComparison, LiveRow};
use serde::Serialize;

/// Rows as JSON text, one a line, with a final line feed.
pub fn live_json(
    comparison: &LiveComparison,
    origin: Option<&Provenance>,
) -> Result<String, serde_json::Error> {
    document_json(comparison.rows(), &[], origin)
}

/// Rows of a drive as JSON text, one a line, with a final line feed.
pub fn lab_drive_json(rows: &[DriveRow], origin: Option<&Provenance>) -> Result<String, serde_json::Error> {
    document_json(rows.iter(), &[], origin)
}

/// A [`LiveRow`] without nesting and without what a laboratory cannot measure. An empty time is infinite, other empty
/// fields do not exist.
#[derive(Serialize)]
struct FlatRow<'a> {
    old: &'a str,
    new: &'a str,
    kind: &'a str,
    disconnect_s: f64,
    flows: usize,
    sender: &'a str,
    stack: &'a str,
    notice: &'a str,
    seed: u64,
    settings: String,
    runs: usize,
    incomplete: usize,
    gave_up: usize,
    first_send_q1_s: Option<f64>,
    first_send_median_s: Option<f64>,
    first_send_q3_s: Option<f64>,
    first_retransmission_median_s: Option<f64>,
    first_data_median_s: Option<f64>,
    share_1s_after_round_trip: Option<f64>,
    bytes_1s: Option<f64>,
    bytes_5s: Option<f64>,
    bytes_10s: Option<f64>,
    drops: f64,
    lost_in_disconnection: f64,
    retransmissions: f64,
    bytes_1s_to_first: Option<f64>,
    bytes_10s_to_first: Option<f64>,
    bytes_10s_to_first_low: Option<f64>,
    bytes_10s_to_first_high: Option<f64>,
    simulated_runs: usize,
    simulated_first_send_s: Option<f64>,
    simulated_bytes_1s: Option<f64>,
    simulated_bytes_5s: Option<f64>,
    simulated_bytes_10s: Option<f64>,
    simulated_drops: Option<f64>,
    simulated_retransmissions: Option<f64>,
    conditions: &'a str,
    program: &'a str,
    simulated_noise_s: Option<f64>,
}

impl<'a> From<&'a LiveRow> for FlatRow<'a> {
    fn from(row: &'a LiveRow) -> Self {
        let settings: Vec<String> =
            row.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let live = &row.live.measures;
        let first = live.first_send_after_link_up_s;
        let median = |ratio: Option<RatioToFirst>| ratio.map(|ratio| ratio.median);
        let ten = row.live.against_first.bytes_10s;
        let simulated = |value: fn(&LiveMeasures) -> Option<f64>| row.simulated.as_ref().and_then(value);
        Self {
            old: &row.old,
            new: &row.new,
            kind: &row.kind,
            disconnect_s: row.disconnect_s,
            flows: row.flows,
            sender: &row.scheme,
            stack: &row.stack,
            notice: &row.notice,
            seed: row.seed,
            settings: settings.join(" "),
            runs: row.points,
            incomplete: row.incomplete,
            gave_up: live.gave_up,
            first_send_q1_s: first.q1,
            first_send_median_s: first.median,
            first_send_q3_s: first.q3,
            first_retransmission_median_s: live.first_retransmission_after_link_up_s.and_then(|of| of.median),
            first_data_median_s: live.first_data_after_link_up_s.and_then(|of| of.median),
            share_1s_after_round_trip: live.share_1s_after_round_trip.and_then(|of| of.median),
            bytes_1s: live.bytes_1s,
            bytes_5s: live.bytes_5s,
            bytes_10s: live.bytes_10s,
            drops: row.drops,
            lost_in_disconnection: row.lost_in_disconnection,
            retransmissions: row.retransmissions,
            bytes_1s_to_first: median(row.live.against_first.bytes_1s),
            bytes_10s_to_first: median(ten),
            bytes_10s_to_first_low: ten.and_then(|ratio| ratio.low),
            bytes_10s_to_first_high: ten.and_then(|ratio| ratio.high),
            simulated_runs: row.simulated.as_ref().map_or(0, |measures| measures.runs),
            simulated_first_send_s: simulated(|measures| measures.first_send_after_link_up_s.median),
            simulated_bytes_1s: simulated(|measures| measures.bytes_1s),
            simulated_bytes_5s: simulated(|measures| measures.bytes_5s),
            simulated_bytes_10s: simulated(|measures| measures.bytes_10s),
            simulated_drops: simulated(|measures| Some(measures.drops)),
            simulated_retransmissions: simulated(|measures| Some(measures.retransmissions)),
            conditions: &row.conditions,
            program: &row.program,
            simulated_noise_s: row.simulated_noise_s,
        }
    }
}

/// One line per sender and kind of handoff.
pub fn live_csv(comparison: &LiveComparison) -> Result<String, csv::Error> {
    csv_text(comparison.rows().map(FlatRow::from))
}
