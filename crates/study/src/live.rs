//! A laboratory's results with real senders, and the simulator's for the same handoff. There is one row per sender,
//! with the fields of a comparison's row and three measures of its own (docs/guide/lab.md).

use crate::drive::Mean;
use crate::lab_plan::{LabPlan, LabSender};
pub use crate::live_run::{LiveRun, Moment};
use crate::measure::{Quartiles, seconds};
use crate::quantile::{quantile, quartiles, sorted};
use segue_world::Kind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All runs of one sender over one kind of handoff, in the order in which they were made. Run i of every sender was
/// made before run i + 1 of any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveRuns {
    /// The sender's name.
    pub sender: String,
    /// The runs.
    pub runs: Vec<LiveRun>,
}

/// A ratio to the first sender, from pairs of runs that were made next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioToFirst {
    /// Median of the ratios.
    pub median: f64,
    /// Their mean.
    pub mean: f64,
    /// Ends of its 95 % confidence interval, by Student's t; `None` with one run.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// Against the first sender; `None` where it delivered nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveAgainstFirst {
    /// Ratio of the bytes within 1 s.
    pub bytes_1s: Option<RatioToFirst>,
    /// Ratio of the bytes within 10 s.
    pub bytes_10s: Option<RatioToFirst>,
}

/// The three measures, and their spread. Times are infinite (`None`) where nothing was sent; bytes are `None` where it
/// was not observed for so long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveMeasures {
    /// From link-up until the first data packet leaves the sender, s.
    pub first_send_after_link_up_s: Quartiles,
    /// Median of the bytes that reached the mobile within 1 s.
    pub bytes_1s: Option<f64>,
    /// Within 5 s.
    pub bytes_5s: Option<f64>,
    /// Within 10 s.
    pub bytes_10s: Option<f64>,
    /// Packets a run that found a queue full since the handoff began, mean.
    #[serde(default)] // older files lack it
    pub drops: f64,
    /// Packets a run that were sent again, mean.
    #[serde(default)]
    pub retransmissions: f64,
    /// Number of runs.
    pub runs: usize,
    /// Quartiles of the bytes within 1 s.
    pub bytes_1s_quartiles: Quartiles,
    /// Within 10 s.
    pub bytes_10s_quartiles: Quartiles,
    /// From link-up until the first packet is sent again, s; not simulated.
    pub first_retransmission_after_link_up_s: Option<Quartiles>,
    /// From link-up until new data in order reach the mobile, s; not simulated.
    #[serde(default)]
    pub first_data_after_link_up_s: Option<Quartiles>,
    /// Bytes that reached the mobile in the second that begins one round trip after link-up. They are a share of what
    /// the new link carries in it; not simulated.
    pub share_1s_after_round_trip: Option<Quartiles>,
    /// Runs in which the sender's kernel held the connection for dead.
    pub gave_up: usize,
}

/// Results of the laboratory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// The measures.
    #[serde(flatten)]
    pub measures: LiveMeasures,
    /// Ratios to the first sender.
    pub against_first: LiveAgainstFirst,
}

/// A field of a comparison that a laboratory cannot measure: always `null`.
pub type Unmeasured = Option<()>;

/// One row: the fields of a comparison in their order, and the laboratory's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // of `measure::Row`, and explained there
pub struct LiveRow {
    pub old: String,
    pub new: String,
    pub kind: String,
    pub disconnect_s: f64,
    pub flows: usize,
    /// The sender.
    pub scheme: String,
    /// The kernel that sent.
    pub stack: String,
    pub notice: String,
    pub definition: Unmeasured,
    pub seed: u64,
    pub settings: BTreeMap<String, String>,
    pub packets: Unmeasured,
    /// Number of runs.
    pub points: usize,
    /// Runs in which nothing was sent while it was observed.
    pub incomplete: usize,
    pub transfer_s: Unmeasured,
    pub bound_s: Unmeasured,
    pub over_bound: Unmeasured,
    pub timeouts: Unmeasured,
    pub spurious_timeouts: Unmeasured,
    pub spurious_timeout_fraction: Unmeasured,
    pub timeouts_in_disconnection: Unmeasured,
    pub fast_retransmits: Unmeasured,
    pub drops: f64,
    pub lost_in_disconnection: f64,
    pub retransmissions: f64,
    pub needless_retransmissions: Unmeasured,
    pub new_link_s: Unmeasured,
    pub queue_delay_s: Unmeasured,
    pub jain: Unmeasured,
    pub against_first: Unmeasured,
    pub bound_told_s: Unmeasured,
    pub over_bound_told: Unmeasured,
    /// Results of the laboratory.
    pub live: Live,
    /// Results of the simulator; `None` for senders that it does not have.
    pub simulated: Option<LiveMeasures>,
    /// Conditions of the path, as the plan says them; empty: the usual ones.
    #[serde(default)]
    pub conditions: String,
    /// The program whose flows they are.
    #[serde(default)]
    pub program: String,
    /// The jitter that simulated links have as the laboratory's noise, s; `None` if nothing is simulated or no link gets
    /// any.
    #[serde(default)]
    pub simulated_noise_s: Option<f64>,
}

/// All senders over the same handoff.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveGroup {
    /// Make-before-break, or break-before-make and how long.
    pub kind: Kind,
    /// One row per sender, in the order of the plan.
    pub rows: Vec<LiveRow>,
}

/// The result of a laboratory.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveComparison {
    /// One per kind of handoff, in the order of the plan.
    pub groups: Vec<LiveGroup>,
}

impl LiveComparison {
    /// All rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &LiveRow> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

impl LiveGroup {
    /// `runs` of every sender of the plan, made by the kernel `stack`, over a handoff of this kind; a sender without
    /// runs has no row. The simulator's numbers stand beside them.
    pub fn new(plan: &LabPlan, kind: Kind, stack: &str, runs: &[LiveRuns]) -> Self {
        let of = |sender: &LabSender| runs.iter().find(|runs| runs.sender == sender.name);
        let first = plan.senders.first().and_then(of);
        let rows = plan.senders.iter().filter_map(|sender| {
            let own = of(sender).filter(|own| !own.runs.is_empty())?;
            let moments: Vec<Moment> = own.runs.iter().map(|run| run.moment).collect();
            let simulated = plan.simulated(sender, kind, &moments).map(|runs| measures(&runs));
            Some(row(plan, kind, stack, sender, &own.runs, first.map_or(&[], |first| &first.runs), simulated))
        });
        Self { kind, rows: rows.collect() }
    }
}

fn row(
    plan: &LabPlan,
    kind: Kind,
    stack: &str,
    sender: &LabSender,
    own: &[LiveRun],
    first: &[LiveRun],
    simulated: Option<LiveMeasures>,
) -> LiveRow {
    let live = measures(own);
    let lost = own.iter().map(|run| f64::from(run.lost_in_disconnection)).sum::<f64>() / own.len() as f64;
    LiveRow {
        old: plan.old.text.clone(),
        new: plan.new.text.clone(),
        kind: kind.word().into(),
        disconnect_s: seconds(kind.disconnection()),
        flows: plan.flows,
        scheme: sender.name.clone(),
        stack: stack.to_string(),
        notice: if sender.hears() { "in-band" } else { "withheld" }.into(),
        definition: None,
        seed: plan.seed,
        settings: sender.settings.iter().cloned().collect(),
        packets: None,
        points: own.len(),
        incomplete: own.iter().filter(|run| run.first_send_s.is_none()).count(),
        transfer_s: None,
        bound_s: None,
        over_bound: None,
        timeouts: None,
        spurious_timeouts: None,
        spurious_timeout_fraction: None,
        timeouts_in_disconnection: None,
        fast_retransmits: None,
        drops: live.drops,
        lost_in_disconnection: lost,
        retransmissions: live.retransmissions,
        needless_retransmissions: None,
        new_link_s: None,
        queue_delay_s: None,
        jain: None,
        against_first: None,
        bound_told_s: None,
        over_bound_told: None,
        live: Live {
            measures: live,
            against_first: LiveAgainstFirst {
                bytes_1s: ratio(own, first, |run| run.bytes_1s),
                bytes_10s: ratio(own, first, |run| run.bytes_10s),
            },
        },
        simulated_noise_s: plan.simulated_noise().filter(|_| simulated.is_some()).map(seconds),
        simulated,
        conditions: plan.conditions_in_words(),
        program: plan.program.word().into(),
    }
}

/// The measures of some runs.
pub fn measures(runs: &[LiveRun]) -> LiveMeasures {
    let first_sends = sorted(runs.iter().map(|run| run.first_send_s.unwrap_or(f64::INFINITY)).collect());
    let bytes = |value: fn(&LiveRun) -> Option<u64>| {
        let all: Option<Vec<f64>> = runs.iter().map(|run| value(run).map(|bytes| bytes as f64)).collect();
        sorted(all.unwrap_or_default())
    };
    let again = sorted(runs.iter().map(|run| run.first_retransmission_s.unwrap_or(f64::INFINITY)).collect());
    let data = sorted(runs.iter().map(|run| run.first_data_s.unwrap_or(f64::INFINITY)).collect());
    let shares: Option<Vec<f64>> = runs.iter().map(|run| run.share_after_round_trip).collect();
    // Where one share is told, all are measured.
    let shares = shares.map(sorted);
    let (one, five, ten) = (bytes(|run| run.bytes_1s), bytes(|run| run.bytes_5s), bytes(|run| run.bytes_10s));
    let mean = |value: fn(&LiveRun) -> u32| {
        runs.iter().map(|run| f64::from(value(run))).sum::<f64>() / runs.len().max(1) as f64
    };
    LiveMeasures {
        first_send_after_link_up_s: of_sorted(&first_sends),
        bytes_1s: quantile(&one, 0.5),
        bytes_5s: quantile(&five, 0.5),
        bytes_10s: quantile(&ten, 0.5),
        drops: mean(|run| run.drops),
        retransmissions: mean(|run| run.retransmissions),
        runs: runs.len(),
        bytes_1s_quartiles: of_sorted(&one),
        bytes_10s_quartiles: of_sorted(&ten),
        first_retransmission_after_link_up_s: shares.is_some().then(|| of_sorted(&again)),
        first_data_after_link_up_s: shares.is_some().then(|| of_sorted(&data)),
        share_1s_after_round_trip: shares.map(|shares| of_sorted(&shares)),
        gave_up: runs.iter().filter(|run| run.gave_up).count(),
    }
}

fn of_sorted(values: &[f64]) -> Quartiles {
    let [q1, median, q3] = quartiles(values).map(|value| value.filter(|value| value.is_finite()));
    Quartiles { q1, median, q3 }
}

/// Ratios of runs that were made next to each other; none if a run of the first sender brought nothing through.
fn ratio(own: &[LiveRun], first: &[LiveRun], value: fn(&LiveRun) -> Option<u64>) -> Option<RatioToFirst> {
    let pairs =
        own.iter().zip(first).map(|(own, first)| Some((value(own)?, value(first).filter(|&b| b > 0)?)));
    let ratios: Vec<f64> =
        pairs.map(|pair| pair.map(|(own, first)| own as f64 / first as f64)).collect::<Option<_>>()?;
    let median = quantile(&sorted(ratios.clone()), 0.5)?;
    let Mean { mean, ci95 } = Mean::of(&ratios);
    let end = |sign: f64| ci95.filter(|half| half.is_finite()).map(|half| mean + sign * half);
    Some(RatioToFirst { median, mean, low: end(-1.0), high: end(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(first_sends: &[Option<f64>], bytes: &[u64]) -> Vec<LiveRun> {
        let run = |(&first_send_s, &bytes): (&Option<f64>, &u64)| LiveRun {
            first_send_s,
            bytes_1s: Some(bytes),
            bytes_5s: Some(5 * bytes),
            drops: bytes as u32,
            ..LiveRun::default()
        };
        first_sends.iter().zip(bytes).map(run).collect()
    }

    #[test]
    fn quartiles_of_runs_that_never_sent_are_infinite() {
        let found = measures(&runs(&[Some(0.5), None, Some(1.5), None], &[10, 0, 20, 30]));
        // type 7 over 0.5, 1.5, inf, inf: the median lies between a finite and an infinite value
        let first = found.first_send_after_link_up_s;
        assert_eq!((first.q1, first.median, first.q3), (Some(1.25), None, None));
        assert_eq!((found.bytes_1s, found.bytes_5s, found.runs), (Some(15.0), Some(75.0), 4));
        assert_eq!(found.bytes_1s_quartiles.q1, Some(7.5));
        assert_eq!((found.bytes_10s, found.bytes_10s_quartiles.q3), (None, None), "it was not observed");
    }

    #[test]
    fn ratios_are_those_of_neighbouring_runs() {
        let sent = [Some(0.1); 3];
        let (own, first) = (runs(&sent, &[20, 30, 100]), runs(&sent, &[10, 10, 25]));
        let found = ratio(&own, &first, |run| run.bytes_1s).unwrap();
        // 2, 3, 4: mean 3, standard error 1/sqrt(3), t of two degrees of freedom 4.3027
        assert_eq!((found.median, found.mean), (3.0, 3.0));
        assert!((found.high.unwrap() - 5.4841).abs() < 1e-3 && (found.low.unwrap() - 0.5159).abs() < 1e-3);
        assert_eq!(ratio(&own, &runs(&sent, &[10, 0, 25]), |run| run.bytes_1s), None);
        assert_eq!(ratio(&own, &first, |run| run.bytes_10s), None);
        let one = ratio(&own[..1], &first[..1], |run| run.bytes_1s).unwrap();
        assert_eq!((one.mean, one.low, one.high), (2.0, None, None));
    }
}
