//! Drives as JSON and CSV.

use crate::csv_rows::csv_text;
use crate::{Provenance, document_json};
use segue_study::drive::{DriveRow, Mean};
use segue_study::warnings::unproven;
use serde::{Deserialize, Serialize};

/// Rows of drives as JSON text, one a line, with a final line feed.
pub fn drive_json(rows: &[DriveRow], origin: Option<&Provenance>) -> Result<String, serde_json::Error> {
    document_json(rows.iter(), &drive_notes(rows), origin)
}

/// Notes for readers of drives: stacks that were not validated against a kernel.
pub fn drive_notes(rows: &[DriveRow]) -> Vec<String> {
    unproven(rows.iter().map(|row| row.stack.as_str()))
}

/// Names of the classes of handoffs, in the paper's order.
const CLASSES: [&str; 4] = ["L-HH", "H-HH", "U-VH", "D-VH"];

/// A [`DriveRow`] without nesting; an empty field does not exist.
#[derive(Deserialize, Serialize)]
pub struct FlatDriveRow<'a> {
    drive: &'a str,
    length_s: f64,
    wan_delay_s: f64,
    bandwidth_error: f64,
    scheme: &'a str,
    stack: &'a str,
    notice: &'a str,
    seed: u64,
    seeds: u64,
    settings: String,
    mobile_kbps: f64,
    mobile_ci95: Option<f64>,
    cross_kbps: Option<f64>,
    cross_ci95: Option<f64>,
    jain: f64,
    jain_ci95: Option<f64>,
    timeouts: f64,
    retransmissions: f64,
    fast_retransmits: f64,
    idle_s: Option<f64>,
    queue_delay_median_s: Option<f64>,
    queue_delay_p95_s: Option<f64>,
    wan_drops: f64,
    notices_accepted: f64,
    notices_refused: f64,
    web_objects: Option<f64>,
    web_completion_median_s: Option<f64>,
    web_completion_p95_s: Option<f64>,
    l_hh_handoffs: usize,
    h_hh_handoffs: usize,
    u_vh_handoffs: usize,
    d_vh_handoffs: usize,
    l_hh_idle_s: Option<f64>,
    h_hh_idle_s: Option<f64>,
    u_vh_idle_s: Option<f64>,
    d_vh_idle_s: Option<f64>,
}

impl<'a> From<&'a DriveRow> for FlatDriveRow<'a> {
    fn from(row: &'a DriveRow) -> Self {
        let settings: Vec<String> =
            row.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let class = |index: usize| row.classes.get(CLASSES[index]);
        let handoffs = |index| class(index).map_or(0, |of| of.handoffs);
        let idle = |index| class(index).and_then(|of| of.idle_s);
        let half = |mean: &Option<Mean>| mean.and_then(|mean| mean.ci95);
        Self {
            drive: &row.drive,
            length_s: row.length_s,
            wan_delay_s: row.wan_delay_s,
            bandwidth_error: row.bandwidth_error,
            scheme: &row.scheme,
            stack: &row.stack,
            notice: &row.notice,
            seed: row.seed,
            seeds: row.seeds,
            settings: settings.join(" "),
            mobile_kbps: row.mobile_kbps.mean,
            mobile_ci95: row.mobile_kbps.ci95,
            cross_kbps: row.cross_kbps.map(|mean| mean.mean),
            cross_ci95: half(&row.cross_kbps),
            jain: row.jain.mean,
            jain_ci95: row.jain.ci95,
            timeouts: row.timeouts,
            retransmissions: row.retransmissions,
            fast_retransmits: row.fast_retransmits,
            idle_s: row.idle_s,
            queue_delay_median_s: row.queue_delay_median_s,
            queue_delay_p95_s: row.queue_delay_p95_s,
            wan_drops: row.wan_drops,
            notices_accepted: row.notices_accepted,
            notices_refused: row.notices_refused,
            web_objects: row.web.map(|web| web.objects),
            web_completion_median_s: row.web.and_then(|web| web.completion_median_s),
            web_completion_p95_s: row.web.and_then(|web| web.completion_p95_s),
            l_hh_handoffs: handoffs(0),
            h_hh_handoffs: handoffs(1),
            u_vh_handoffs: handoffs(2),
            d_vh_handoffs: handoffs(3),
            l_hh_idle_s: idle(0),
            h_hh_idle_s: idle(1),
            u_vh_idle_s: idle(2),
            d_vh_idle_s: idle(3),
        }
    }
}

/// Rows of drives as CSV text.
pub fn drive_csv(rows: &[DriveRow]) -> Result<String, csv::Error> {
    csv_text(rows.iter().map(FlatDriveRow::from))
}
