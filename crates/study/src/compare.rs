//! Runs a plan: every group warm once, forked at each handoff time, run with each scheme.

use crate::measure::{self, Row};
use crate::request::{Group, Plan};
use rayon::prelude::*;
use segue_world::{Experiment, RunRecord, WarmRun};
use serde::{Deserialize, Serialize};

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One per pair of links, kind and flow count, in the order asked for.
    pub groups: Vec<GroupResult>,
}

/// All schemes over the same handoffs.
#[derive(Clone, Debug)]
pub struct GroupResult {
    /// What was simulated (first seed, first stack).
    pub experiment: Experiment,
    /// One row per scheme.
    pub rows: Vec<Row>,
    /// One row per handoff and scheme, if asked for.
    pub handoffs: Vec<HandoffRow>,
}

/// One handoff with one scheme, flat, as `--rows` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoffRow {
    /// Link before.
    pub old: String,
    /// Link after.
    pub new: String,
    /// `mbb` or `bbm`.
    pub kind: &'static str,
    /// s.
    pub disconnect_s: f64,
    /// Number of flows.
    pub flows: usize,
    /// Scheme.
    pub scheme: String,
    /// Its stack.
    pub stack: &'static str,
    /// Seed.
    pub seed: u64,
    /// T, s.
    pub at_s: f64,
    /// s; empty if incomplete.
    pub transfer_s: Option<f64>,
    /// s.
    pub bound_s: f64,
    /// From completion to the end, as are the following counts.
    pub timeouts: usize,
    /// Timeouts whose packet was delivered after all.
    pub spurious_timeouts: usize,
    /// Between T and completion.
    pub timeouts_in_disconnection: usize,
    /// Entries into fast recovery.
    pub fast_retransmits: usize,
    /// Data and ACKs, in queues.
    pub drops: u32,
    /// Data and ACKs.
    pub lost_in_disconnection: u32,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Those that brought nothing.
    pub needless_retransmissions: u32,
}

impl GroupResult {
    /// Whether schemes stand on several stacks, which meet the handoffs in different states.
    pub fn several_stacks(&self) -> bool {
        self.rows.windows(2).any(|pair| pair[0].stack != pair[1].stack)
    }

    /// Whether the physical bound is the same for all schemes; on several stacks it is not.
    pub fn same_bounds(&self) -> bool {
        self.rows.windows(2).all(|pair| pair[0].bound_s == pair[1].bound_s)
    }
}

impl Comparison {
    /// Runs the plan on all cores. `done` hears how many more handoffs are finished, and may end the run
    /// ([`crate::stop`]); the rows of single handoffs are kept if `keep_handoffs`.
    pub fn run(plan: &Plan, keep_handoffs: bool, done: &(dyn Fn(u64) + Sync)) -> Self {
        let groups = plan.groups();
        let groups = groups
            .par_iter()
            .map(|seeds| {
                let records: Vec<Vec<Vec<RunRecord>>> =
                    seeds.par_iter().map(|group| records(plan, group, done)).collect();
                summarise(plan, seeds, records, keep_handoffs)
            })
            .collect();
        Self { groups }
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// Forks that are kept at a time: enough for all cores, too few to fill the memory.
const BATCH: usize = 64;

/// Runs one warm-up's handoffs; records by handoff time, then by scheme.
pub fn records(plan: &Plan, group: &Group, done: &(dyn Fn(u64) + Sync)) -> Vec<Vec<RunRecord>> {
    let mut warm: Vec<WarmRun> = group.experiments.iter().cloned().map(WarmRun::new).collect();
    for (stack, warm) in warm.iter_mut().enumerate() {
        warm.follow(plan.schemes.iter().filter(|s| s.stack_index == stack).map(|s| &s.scheme));
    }
    let mut records = Vec::with_capacity(plan.request.at.len());
    for times in plan.request.at.chunks(BATCH) {
        let forks: Vec<Vec<_>> = times
            .iter()
            .map(|&at| {
                done(0);
                warm.iter_mut().map(|warm| warm.fork(at)).collect()
            })
            .collect();
        records.par_extend(forks.into_par_iter().map(|forks| {
            done(0);
            let handoffs: Vec<_> = forks.into_iter().map(|fork| fork.complete()).collect();
            let records: Vec<_> =
                plan.schemes.iter().map(|s| handoffs[s.stack_index].run(&s.scheme)).collect();
            done(plan.schemes.len() as u64);
            records
        }));
    }
    records
}

fn summarise(plan: &Plan, seeds: &[Group], records: Vec<Vec<Vec<RunRecord>>>, keep: bool) -> GroupResult {
    let experiment = &seeds[0].experiments[0];
    // Points in the order of seeds, then of times; the same for every scheme.
    let points: Vec<&Vec<RunRecord>> = records.iter().flatten().collect();
    let mut rows = Vec::new();
    let mut handoffs = Vec::new();
    for (index, scheme) in plan.schemes.iter().enumerate() {
        let own: Vec<&RunRecord> = points.iter().map(|records| &records[index]).collect();
        let first: Vec<&RunRecord> = points.iter().map(|records| &records[0]).collect();
        rows.push(measure::row(plan, experiment, scheme, &own, &first));
        if keep {
            for (seed, at) in seeds.iter().zip(&records) {
                let lines =
                    at.iter().map(|at| measure::handoff_row(experiment, scheme, seed.seed, &at[index]));
                handoffs.extend(lines);
            }
        }
    }
    GroupResult { experiment: experiment.clone(), rows, handoffs }
}
