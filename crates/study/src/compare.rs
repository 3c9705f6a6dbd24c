//! Runs a plan: every group warm once, forked at each handoff time, run with each scheme.

use crate::measure::{HandoffRow, Row, Sample};
use crate::request::{Group, Plan};
use crate::warnings::{distinct, warnings};
use rayon::prelude::*;
use segue_handoff::Scheme;
use segue_world::{Experiment, Fork, RunRecord, WarmRun};

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One per pair of links, kind and flow count, in the order asked for; of several handoffs in a run one each.
    pub groups: Vec<GroupResult>,
}

/// All schemes over the same handoffs.
#[derive(Clone, Debug)]
pub struct GroupResult {
    /// The simulated experiment (first seed, first stack).
    pub experiment: Experiment,
    /// Which handoff of its run, from 1; `None` if it is the only one.
    pub handoff: Option<u32>,
    /// One row per scheme.
    pub rows: Vec<Row>,
    /// One row per handoff and scheme, if asked for.
    pub handoffs: Vec<HandoffRow>,
    /// Share of the handoffs that find some flow in its first recovery, on the stack that has most of them.
    pub first_recovery: f64,
}

/// A larger share of handoffs in the first recovery is told.
const MOST_IN_FIRST_RECOVERY: f64 = 0.1;
/// A larger share of transfers that are not complete is explained.
const MOST_INCOMPLETE: f64 = 0.1;

impl GroupResult {
    /// The stacks of the schemes.
    fn stacks(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.stack.as_str())
    }

    /// The same, each once, in the order of the rows.
    pub fn distinct_stacks(&self) -> Vec<&str> {
        distinct(self.stacks())
    }

    /// Whether schemes stand on several stacks, which meet the handoffs in different states.
    pub fn several_stacks(&self) -> bool {
        self.rows.windows(2).any(|pair| pair[0].stack != pair[1].stack)
    }

    /// Facts that a reader must know before comparing numbers.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = warnings(&self.experiment, self.stacks(), self.several_stacks());
        let one_seed = self.rows.first().is_some_and(|row| row.seeds == 1 && row.points > 1);
        if one_seed && (self.experiment.old.has_chance() || self.experiment.new.has_chance()) {
            warnings.push(
                "one seed, so that all handoffs meet the same losses and jitter: see --seeds".to_string(),
            );
        }
        let incomplete =
            self.rows.iter().map(|row| row.incomplete as f64 / row.points.max(1) as f64).fold(0.0, f64::max);
        let [old, new] = [&self.experiment.old, &self.experiment.new];
        if incomplete > MOST_INCOMPLETE && (old.has_lasting_bursts() || new.has_lasting_bursts()) {
            warnings.push(format!(
                "up to {:.0} % of a scheme's transfers are not complete, and bursts of losses here last while nobody \
                 sends: see --seeds, and loss=ge(p,r)/1ms for bursts that end with time",
                100.0 * incomplete
            ));
        }
        let tells = |name: &str| {
            let mobile = Scheme::build(name, &[]).map(|scheme| scheme.mobile());
            mobile.is_ok_and(|rule| rule.announces || rule.alone.is_some() || rule.foretells.is_some())
        };
        if !self.experiment.notice_error.is_none() && !self.rows.iter().any(|row| tells(&row.scheme)) {
            warnings.push(
                "no scheme here is told of the new link, so that --notice-error changes none".to_string(),
            );
        }
        if self.first_recovery > MOST_IN_FIRST_RECOVERY {
            warnings.push(format!(
                "{:.0} % of the handoffs fall into the connection's first recovery: see --warm-up",
                100.0 * self.first_recovery
            ));
        }
        warnings
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
                let records: Vec<Vec<AtTime>> =
                    seeds.par_iter().map(|group| records(plan, group, done)).collect();
                let records: Vec<Vec<_>> = records.iter().map(|seed| seed.iter().collect()).collect();
                summaries(plan, seeds, &records, keep_handoffs)
            })
            .collect::<Vec<_>>();
        Self { groups: groups.into_iter().flatten().collect() }
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// Forks that are kept at a time: enough for all cores, too few to fill the memory.
const BATCH: usize = 64;

/// Runs one warm-up's handoffs; records by handoff time, then by scheme, then by handoff of the run.
pub fn records(plan: &Plan, group: &Group, done: &(dyn Fn(u64) + Sync)) -> Vec<AtTime> {
    let mut warm = warm_runs(plan, group);
    let mut records = Vec::with_capacity(plan.request.at.len());
    for times in plan.request.at.chunks(BATCH) {
        let forks: Vec<Vec<_>> = times
            .iter()
            .map(|&at| {
                done(0);
                warm.iter_mut().map(|warm| warm.fork_unless(at, &|| done(0))).collect()
            })
            .collect();
        records.par_extend(forks.into_par_iter().map(|forks| {
            done(0);
            let records = run_forks(plan, forks, &|| done(0));
            done(runs_at_a_time(plan));
            records
        }));
    }
    records
}

/// A warm run for each stack, ready for the schemes on it.
pub(crate) fn warm_runs(plan: &Plan, group: &Group) -> Vec<WarmRun> {
    let mut warm: Vec<WarmRun> = group.experiments.iter().cloned().map(WarmRun::new).collect();
    for (stack, warm) in warm.iter_mut().enumerate() {
        warm.follow(plan.schemes.iter().filter(|s| s.stack_index == stack).map(|s| &s.scheme));
    }
    warm
}

/// Runs the handoffs of a time, by forks of each stack. `looks` is called now and then, and
/// may end them ([`crate::stop`]).
pub(crate) fn run_forks(plan: &Plan, forks: Vec<Fork>, looks: &(dyn Fn() + Sync)) -> AtTime {
    let handoffs: Vec<_> = forks.into_iter().map(|fork| fork.complete()).collect();
    // Schemes are shared out where there are fewer handoffs than cores.
    let schemes = plan.schemes.par_iter();
    schemes.map(|s| handoffs[s.stack_index].run_series(&s.scheme, plan.series, looks)).collect()
}

/// How many handoffs are run at a time, with all schemes.
pub(crate) fn runs_at_a_time(plan: &Plan) -> u64 {
    plan.schemes.len() as u64 * u64::from(plan.series.handoffs)
}

/// Records of a handoff time, by scheme, then by handoff of the run.
pub(crate) type AtTime = Vec<Vec<RunRecord>>;

/// Each handoff of the runs; `records` by seed, then by handoff time.
pub(crate) fn summaries(
    plan: &Plan,
    seeds: &[Group],
    records: &[Vec<&AtTime>],
    keep: bool,
) -> Vec<GroupResult> {
    let mut experiment = seeds[0].experiments[0].clone();
    let mut handoffs = Vec::new();
    for nth in 0..plan.series.handoffs {
        let following = experiment.following();
        handoffs.push(summarise(plan, seeds, experiment, records, nth, keep));
        experiment = following;
    }
    handoffs
}

/// One handoff of each run.
fn summarise(
    plan: &Plan,
    seeds: &[Group],
    experiment: Experiment,
    records: &[Vec<&AtTime>],
    nth: u32,
    keep: bool,
) -> GroupResult {
    let handoff = plan.which(nth);
    let nth = nth as usize;
    // Points in the order of seeds, then of times; the same for every scheme.
    let points: Vec<&AtTime> = records.iter().flatten().copied().collect();
    let mut rows = Vec::new();
    let mut first_recovery: f64 = 0.0;
    let mut handoffs = Vec::new();
    for (index, scheme) in plan.schemes.iter().enumerate() {
        let own: Vec<&RunRecord> = points.iter().map(|records| &records[index][nth]).collect();
        let first: Vec<&RunRecord> = points.iter().map(|records| &records[0][nth]).collect();
        let recovering = |record: &&&RunRecord| record.senders_at.iter().any(|at| at.in_first_recovery);
        first_recovery = first_recovery.max(own.iter().filter(recovering).count() as f64 / own.len() as f64);
        let row = Row::new(plan, &experiment, scheme, &Sample { handoffs: &own, first: &first });
        rows.push(Row { handoff, ..row });
        if keep {
            for (seed, at) in seeds.iter().zip(records) {
                let rows =
                    at.iter().map(|at| HandoffRow::new(&experiment, scheme, seed.seed, &at[index][nth]));
                handoffs.extend(rows.map(|row| HandoffRow { handoff, ..row }));
            }
        }
    }
    GroupResult { experiment, handoff, rows, handoffs, first_recovery }
}
