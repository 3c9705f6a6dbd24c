//! CSV: the rows of a comparison, flat, and its single handoffs.

use segue_study::{Comparison, Row};
use serde::{Deserialize, Serialize};

/// A [`Row`] without nesting; an empty field is infinite.
#[derive(Deserialize, Serialize)]
pub struct FlatRow<'a> {
    old: &'a str,
    new: &'a str,
    kind: &'a str,
    disconnect_s: f64,
    flows: usize,
    scheme: &'a str,
    stack: &'a str,
    notice: &'a str,
    definition: &'a str,
    seed: u64,
    seeds: u64,
    settings: String,
    packets: u32,
    points: usize,
    incomplete: usize,
    transfer_q1_s: Option<f64>,
    transfer_median_s: Option<f64>,
    transfer_q3_s: Option<f64>,
    bound_s: Option<f64>,
    over_bound_median: Option<f64>,
    over_bound_p90: Option<f64>,
    timeouts: f64,
    spurious_timeouts: f64,
    spurious_timeout_fraction: f64,
    timeouts_in_disconnection: f64,
    fast_retransmits: f64,
    drops: f64,
    lost_in_disconnection: f64,
    retransmissions: f64,
    needless_retransmissions: f64,
    useful_s: f64,
    needless_s: f64,
    idle_path_s: f64,
    idle_window_s: f64,
    idle_timer_s: f64,
    idle_other_s: f64,
    queue_delay_median_s: Option<f64>,
    queue_delay_p95_s: Option<f64>,
    jain: f64,
    ratio_to_first_median: Option<f64>,
    better_than_first: f64,
    worse_than_first: f64,
}

impl<'a> From<&'a Row> for FlatRow<'a> {
    fn from(row: &'a Row) -> Self {
        let settings: Vec<String> =
            row.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Self {
            old: &row.old,
            new: &row.new,
            kind: &row.kind,
            disconnect_s: row.disconnect_s,
            flows: row.flows,
            scheme: &row.scheme,
            stack: &row.stack,
            notice: &row.notice,
            definition: &row.definition,
            seed: row.seed,
            seeds: row.seeds,
            settings: settings.join(" "),
            packets: row.packets,
            points: row.points,
            incomplete: row.incomplete,
            transfer_q1_s: row.transfer_s.q1,
            transfer_median_s: row.transfer_s.median,
            transfer_q3_s: row.transfer_s.q3,
            bound_s: row.bound_s,
            over_bound_median: row.over_bound.median,
            over_bound_p90: row.over_bound.p90,
            timeouts: row.timeouts,
            spurious_timeouts: row.spurious_timeouts,
            spurious_timeout_fraction: row.spurious_timeout_fraction,
            timeouts_in_disconnection: row.timeouts_in_disconnection,
            fast_retransmits: row.fast_retransmits,
            drops: row.drops,
            lost_in_disconnection: row.lost_in_disconnection,
            retransmissions: row.retransmissions,
            needless_retransmissions: row.needless_retransmissions,
            useful_s: row.new_link_s.useful,
            needless_s: row.new_link_s.needless,
            idle_path_s: row.new_link_s.idle_path,
            idle_window_s: row.new_link_s.idle_window,
            idle_timer_s: row.new_link_s.idle_timer,
            idle_other_s: row.new_link_s.idle_other,
            queue_delay_median_s: row.queue_delay_s.median,
            queue_delay_p95_s: row.queue_delay_s.p95,
            jain: row.jain,
            ratio_to_first_median: row.against_first.ratio_median,
            better_than_first: row.against_first.better,
            worse_than_first: row.against_first.worse,
        }
    }
}

/// Rows as CSV, with their names above.
pub fn csv_text<T: Serialize>(rows: impl Iterator<Item = T>) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    // Everything written was text.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line per row of the comparison.
pub fn comparison_csv(comparison: &Comparison) -> Result<String, csv::Error> {
    csv_text(comparison.rows().map(FlatRow::from))
}

/// One line per handoff and scheme.
pub fn handoffs_csv(comparison: &Comparison) -> Result<String, csv::Error> {
    csv_text(comparison.groups.iter().flat_map(|group| &group.handoffs))
}
