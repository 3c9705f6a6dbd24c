//! The measures of docs/reference/bench.md, over all handoffs of one row.

use crate::compare::HandoffRow;
use crate::planned::PlannedScheme;
use crate::quantile::{quantile, quartiles, sorted};
use crate::request::Plan;
use segue_world::{Definition, Experiment, Kind, Nanos, NoticeMode, RunRecord, SECOND};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Lower quartile, median and upper quartile; `None` (JSON null) = infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quartiles {
    /// 25 %.
    pub q1: Option<f64>,
    /// 50 %.
    pub median: Option<f64>,
    /// 75 %.
    pub q3: Option<f64>,
}

/// Ratio to the bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverBound {
    /// 50 %.
    pub median: Option<f64>,
    /// 90 %.
    pub p90: Option<f64>,
}

/// Where the time of the new link's data direction went, mean s per handoff.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewLink {
    /// Bytes first received by this packet.
    pub useful: f64,
    /// Bytes that had been received.
    pub needless: f64,
    /// Idle, data on its way to the link or last ACKs awaited.
    pub idle_path: f64,
    /// Idle, a window forbids to send.
    pub idle_window: f64,
    /// Idle, every sender waits for a timer.
    pub idle_timer: f64,
    /// Idle for another reason.
    pub idle_other: f64,
}

/// Queueing delay at the new access queue, s, all points pooled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueDelay {
    /// 50 %.
    pub median: Option<f64>,
    /// 95 %.
    pub p95: Option<f64>,
}

/// Against the first scheme over the same handoffs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgainstFirst {
    /// Median of the ratio per handoff; `None` = infinite.
    pub ratio_median: Option<f64>,
    /// Share of handoffs that are better by more than 5 %.
    pub better: f64,
    /// Share of handoffs that are worse by more than 5 %.
    pub worse: f64,
}

/// One row of a comparison: the JSON contract of docs/reference/bench.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Link before, as asked for.
    pub old: String,
    /// Link after.
    pub new: String,
    /// `mbb` or `bbm`.
    pub kind: String,
    /// s; 0 for `mbb`.
    pub disconnect_s: f64,
    /// Number of flows.
    pub flows: usize,
    /// Scheme.
    pub scheme: String,
    /// Its stack.
    pub stack: String,
    /// `instant` or `in-band`.
    pub notice: String,
    /// `after-highest` or `after-ack`.
    pub definition: String,
    /// First seed.
    pub seed: u64,
    /// Number of seeds, if several.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub seeds: u64,
    /// Settings that concern this scheme.
    pub settings: BTreeMap<String, String>,
    /// P.
    pub packets: u32,
    /// Number of handoffs.
    pub points: usize,
    /// Of those, how many did not complete.
    pub incomplete: usize,
    /// Transfer time, s.
    pub transfer_s: Quartiles,
    /// Median of the bound, s.
    pub bound_s: Option<f64>,
    /// Transfer time over bound, per handoff.
    pub over_bound: OverBound,
    /// From completion to the end, mean per handoff, as are the following counts.
    pub timeouts: f64,
    /// Those whose packet was delivered after all.
    pub spurious_timeouts: f64,
    /// Share of handoffs with one.
    pub spurious_timeout_fraction: f64,
    /// Between T and completion.
    pub timeouts_in_disconnection: f64,
    /// Entries into fast recovery.
    pub fast_retransmits: f64,
    /// In queues, data and ACKs.
    pub drops: f64,
    /// Packets of both directions that the disconnection swallowed.
    pub lost_in_disconnection: f64,
    /// Packets sent again.
    pub retransmissions: f64,
    /// Packets sent again that brought nothing.
    pub needless_retransmissions: f64,
    /// Where the new link's time went.
    pub new_link_s: NewLink,
    /// Delay at its queue.
    pub queue_delay_s: QueueDelay,
    /// Jain's index of newly acknowledged bytes, mean per handoff.
    pub jain: f64,
    /// Against the first scheme listed.
    pub against_first: AgainstFirst,
}

fn one() -> u64 {
    1
}

fn is_one(n: &u64) -> bool {
    *n == 1
}

/// Seconds.
pub fn seconds(ns: Nanos) -> f64 {
    ns as f64 / SECOND as f64
}

/// Transfer time, s; infinite if incomplete.
fn transfer(record: &RunRecord) -> f64 {
    record.transfer.map_or(f64::INFINITY, seconds)
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}

/// `mbb` or `bbm`.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Mbb => "mbb",
        Kind::Bbm(_) => "bbm",
    }
}

/// `instant`, `in-band` or `withheld`.
pub fn notice_name(notice: NoticeMode) -> &'static str {
    match notice {
        NoticeMode::Instant => "instant",
        NoticeMode::InBand { .. } => "in-band",
        NoticeMode::Withheld => "withheld",
    }
}

/// `after-highest` or `after-ack`.
pub fn definition_name(definition: Definition) -> &'static str {
    match definition {
        Definition::AfterHighest => "after-highest",
        Definition::AfterAck => "after-ack",
    }
}

/// Jain's fairness index: (sum x)^2 / (n sum x^2); 1 if nothing was acknowledged.
fn jain(shares: &[u32]) -> f64 {
    let sum: f64 = shares.iter().map(|&x| f64::from(x)).sum();
    let squares: f64 = shares.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// The row of one scheme; `own` and `first` are the records of this and of the first scheme over
/// the same handoffs.
pub(crate) fn row(
    plan: &Plan,
    experiment: &Experiment,
    scheme: &PlannedScheme,
    own: &[&RunRecord],
    first: &[&RunRecord],
) -> Row {
    let request = &plan.request;
    let points = own.len() as f64;
    let mean = |value: &dyn Fn(&RunRecord) -> f64| own.iter().map(|r| value(r)).sum::<f64>() / points;
    let count = |value: &dyn Fn(&RunRecord) -> usize| mean(&|r| value(r) as f64);
    let spurious = |r: &RunRecord| r.timeouts_after().filter(|t| t.spurious).count();
    let link_time = |class: &dyn Fn(&RunRecord) -> Nanos| mean(&|r| seconds(class(r)));

    let times = sorted(own.iter().map(|r| transfer(r)).collect());
    let [q1, median, q3] = quartiles(&times).map(finite);
    let bounds = sorted(own.iter().map(|r| seconds(r.bound)).collect());
    let over = sorted(own.iter().filter(|r| r.bound > 0).map(|r| transfer(r) / seconds(r.bound)).collect());
    let waits = sorted(own.iter().flat_map(|r| &r.queue_delays).map(|&ns| seconds(ns)).collect());
    let ratios: Vec<f64> =
        own.iter().zip(first).map(|(own, first)| ratio(transfer(own), transfer(first))).collect();
    let share = |of: &dyn Fn(f64) -> bool| ratios.iter().filter(|&&r| of(r)).count() as f64 / points;
    let (better, worse) = (share(&|r| r < 0.95), share(&|r| r > 1.05));

    Row {
        old: experiment.old.text.clone(),
        new: experiment.new.text.clone(),
        kind: kind_name(experiment.kind).into(),
        disconnect_s: seconds(experiment.kind.disconnection()),
        flows: experiment.flows,
        scheme: scheme.name.clone(),
        stack: scheme.stack.name.into(),
        notice: notice_name(request.notice).into(),
        definition: definition_name(request.definition).into(),
        seed: request.seed,
        seeds: request.seeds,
        settings: scheme.settings.iter().cloned().collect(),
        packets: request.packets,
        points: own.len(),
        incomplete: own.iter().filter(|r| r.transfer.is_none()).count(),
        transfer_s: Quartiles { q1, median, q3 },
        bound_s: quantile(&bounds, 0.5),
        over_bound: OverBound { median: finite(quantile(&over, 0.5)), p90: finite(quantile(&over, 0.9)) },
        timeouts: count(&|r| r.timeouts_after().count()),
        spurious_timeouts: count(&spurious),
        spurious_timeout_fraction: own.iter().filter(|r| spurious(r) > 0).count() as f64 / points,
        timeouts_in_disconnection: count(&|r| r.timeouts.len() - r.timeouts_after().count()),
        fast_retransmits: count(&fast_retransmits),
        drops: mean(&|r| f64::from(r.drops)),
        lost_in_disconnection: mean(&|r| f64::from(r.lost_in_disconnection)),
        retransmissions: mean(&|r| f64::from(r.retransmissions)),
        needless_retransmissions: mean(&|r| f64::from(r.needless_retransmissions)),
        new_link_s: NewLink {
            useful: link_time(&|r| r.link_time.useful),
            needless: link_time(&|r| r.link_time.needless),
            idle_path: link_time(&|r| r.link_time.idle_path),
            idle_window: link_time(&|r| r.link_time.idle_window),
            idle_timer: link_time(&|r| r.link_time.idle_timer),
            idle_other: link_time(&|r| r.link_time.idle_other),
        },
        queue_delay_s: QueueDelay { median: quantile(&waits, 0.5), p95: quantile(&waits, 0.95) },
        jain: mean(&|r| jain(&r.acknowledged)),
        against_first: AgainstFirst { ratio_median: finite(quantile(&sorted(ratios), 0.5)), better, worse },
    }
}

/// Entries into fast recovery from completion on.
fn fast_retransmits(record: &RunRecord) -> usize {
    record.fast_retransmits.iter().filter(|(at, ..)| *at >= record.completion).count()
}

/// `own / first`, where both may be infinite or zero.
fn ratio(own: f64, first: f64) -> f64 {
    if own == first { 1.0 } else { own / first }
}

/// One handoff as `--rows` writes it.
pub fn handoff_row(
    experiment: &Experiment,
    scheme: &PlannedScheme,
    seed: u64,
    record: &RunRecord,
) -> HandoffRow {
    HandoffRow {
        old: experiment.old.text.clone(),
        new: experiment.new.text.clone(),
        kind: kind_name(experiment.kind),
        disconnect_s: seconds(experiment.kind.disconnection()),
        flows: experiment.flows,
        scheme: scheme.name.clone(),
        stack: scheme.stack.name,
        seed,
        at_s: seconds(record.at),
        transfer_s: record.transfer.map(seconds),
        bound_s: seconds(record.bound),
        timeouts: record.timeouts_after().count(),
        spurious_timeouts: record.timeouts_after().filter(|t| t.spurious).count(),
        timeouts_in_disconnection: record.timeouts.len() - record.timeouts_after().count(),
        fast_retransmits: fast_retransmits(record),
        drops: record.drops,
        lost_in_disconnection: record.lost_in_disconnection,
        retransmissions: record.retransmissions,
        needless_retransmissions: record.needless_retransmissions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_of_equal_and_of_one_sided_shares() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[0, 0]), 1.0);
    }

    #[test]
    fn ratios_of_incomplete_runs() {
        assert_eq!(ratio(f64::INFINITY, f64::INFINITY), 1.0);
        assert_eq!(ratio(1.0, f64::INFINITY), 0.0);
        assert_eq!(ratio(f64::INFINITY, 1.0), f64::INFINITY);
        assert_eq!(ratio(0.0, 0.0), 1.0);
    }
}
