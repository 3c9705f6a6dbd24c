//! A comparison that can be looked at before it is whole. A few handoffs, spread over all times, are run first. Then
//! come those between them, part by part in an order that is spread as well.

use crate::compare::{AtTime, Comparison, run_forks, runs_at_a_time, summaries, warm_runs};
use crate::request::{Group, Plan};
use crate::times::spread;
use segue_world::{Fork, Nanos, RunRecord, WarmRun};
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// So many handoff times come first. Fewer would say less, and more would come later.
const FIRST: usize = 16;

/// The handoffs of one pair of links, one kind, one number of flows, and one seed.
pub struct Gradual<'a> {
    plan: &'a Plan,
    seeds: Vec<Group>,
    /// Those that are done, by handoff time.
    records: Vec<OnceLock<AtTime>>,
    /// The one that is run elsewhere, by its index.
    elsewhere: Option<usize>,
    /// Between the first times, by its index, the network from which each part goes on.
    parts: Mutex<Vec<Part>>,
}

/// Handoff times in a row that are not among the first.
struct Part {
    warm: Vec<WarmRun>,
    times: Range<usize>,
}

impl<'a> Gradual<'a> {
    /// Nothing is done. There is none of a plan with several groups or seeds.
    pub fn new(plan: &'a Plan) -> Option<Self> {
        let mut groups = plan.groups();
        let seeds = groups.pop().filter(|seeds| groups.is_empty() && seeds.len() == 1)?;
        let records = plan.request.at.iter().map(|_| OnceLock::new()).collect();
        Some(Self { plan, seeds, records, elsewhere: None, parts: Mutex::default() })
    }

    /// The handoff at `at` is run elsewhere, and comes by [`Self::put`]. It is run here only if it has not come before
    /// the rest begins. This holds for a handoff of the plan that is alone in its run.
    #[must_use]
    pub fn except(self, at: Nanos) -> Self {
        let alone = self.plan.series.handoffs == 1;
        let elsewhere = self.plan.request.at.iter().position(|&own| own == at).filter(|_| alone);
        Self { elsewhere, ..self }
    }

    /// The records of the handoff that is run elsewhere, by scheme.
    pub fn put(&self, records: impl IntoIterator<Item = RunRecord>) {
        if let Some(index) = self.elsewhere {
            // It comes once.
            let _ = self.records[index].set(records.into_iter().map(|record| vec![record]).collect());
        }
    }

    /// Runs the first handoffs on the cores of this thread's pool. `done` hears of them as in [`Comparison::run`], each
    /// once it can be [looked at](Self::so_far). `wait` is called before each, so that
    /// others can go first. It is also called before the network goes on beyond the one that is run elsewhere.
    pub fn run_first(&self, done: &(dyn Fn(u64) + Sync), wait: &(dyn Fn() + Sync)) {
        let times = self.records.len();
        let first: Vec<usize> = spread(times, FIRST).collect();
        let ends = first.iter().copied().skip(1).chain([times]);
        let mut warm = warm_runs(self.plan, &self.seeds[0]);
        let mut parts = vec![Part { warm: warm.clone(), times: 0..first.first().copied().unwrap_or(times) }];
        // The oldest first: the warm run goes on beside them.
        rayon::scope_fifo(|scope| {
            for (&index, end) in first.iter().zip(ends) {
                done(0);
                let at = self.plan.request.at[index];
                let forks = warm.iter_mut().map(|warm| warm.fork_unless(at, &|| done(0))).collect();
                let here = self.elsewhere != Some(index);
                parts.push(Part { warm: warm.clone(), times: index + usize::from(here)..end });
                if here {
                    scope.spawn_fifo(move |_| {
                        wait();
                        self.run(index, forks, done);
                    });
                } else {
                    wait();
                }
            }
        });
        if let Ok(mut own) = self.parts.lock() {
            *own = parts;
        }
    }

    /// Runs the handoffs between the first ones.
    pub fn run_rest(&self, done: &(dyn Fn(u64) + Sync)) {
        let mut parts = self.parts.lock().map(|mut own| std::mem::take(&mut *own)).unwrap_or_default();
        parts.retain(|part| !part.times.is_empty());
        let bits = usize::BITS - parts.len().leading_zeros();
        let mut parts: Vec<_> = parts.into_iter().enumerate().collect();
        parts.sort_by_key(|(index, _)| index.reverse_bits() >> (usize::BITS - bits));
        rayon::scope_fifo(|scope| {
            for (_, Part { mut warm, times }) in parts {
                scope.spawn_fifo(move |_| {
                    for index in times {
                        if self.records[index].get().is_some() {
                            continue;
                        }
                        done(0);
                        let at = self.plan.request.at[index];
                        let forks = warm.iter_mut().map(|warm| warm.fork_unless(at, &|| done(0))).collect();
                        self.run(index, forks, done);
                    }
                });
            }
        });
    }

    fn run(&self, index: usize, forks: Vec<Fork>, done: &(dyn Fn(u64) + Sync)) {
        done(0);
        let records = run_forks(self.plan, forks, &|| done(0));
        // No time is run twice.
        let _ = self.records[index].set(records);
        done(runs_at_a_time(self.plan));
    }

    /// How many handoff times are done.
    pub fn done(&self) -> usize {
        self.records.iter().filter(|records| records.get().is_some()).count()
    }

    /// The plan of the handoffs that are done, and their result with all single handoffs; nothing before the first is.
    pub fn so_far(&self) -> Option<(Plan, Comparison)> {
        let times = self.plan.request.at.iter().zip(&self.records);
        let (at, records): (Vec<_>, Vec<_>) =
            times.filter_map(|(&at, records)| Some((at, records.get()?))).unzip();
        if at.is_empty() {
            return None;
        }
        let mut plan = self.plan.clone();
        plan.request.at = at;
        let groups = summaries(&plan, &self.seeds, &[records], true);
        Some((plan, Comparison { groups }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::explain::{Moment, explain};
    use crate::times::Times;
    use segue_world::{AccessLink, Definition, Kind, NoticeMode};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Schemes on two stacks, one of which acts before the handoff, and two handoffs in a run.
    fn plan(times: &str) -> Plan {
        let link = |word| AccessLink::parse(word).expect("a link");
        let request = Request {
            pairs: vec![(link("20mbit/9ms,loss=1%,jitter=5ms"), link("2mbit/30ms"))],
            kinds: vec![Kind::Mbb],
            flows: vec![2],
            schemes: ["sack", "freeze", "cubic"].map(String::from).to_vec(),
            at: Times::parse(times).expect("times").0,
            packets: 20,
            definition: Definition::AfterHighest,
            notice: NoticeMode::Instant,
            stack: None,
            cc: None,
            settings: vec![("handoffs".into(), "2".into()), ("every".into(), "3s".into())],
            seed: 3,
            seeds: 1,
        };
        request.plan().expect("a plan")
    }

    fn shown(comparison: &Comparison) -> String {
        format!("{comparison:?}")
    }

    #[test]
    fn the_whole_is_that_of_a_comparison() {
        for times in ["2s", "0.2s..2s/0.2s", "0.2s..3.4s/0.2s", "0.1s..5s/0.1s"] {
            let plan = plan(times);
            let gradual = Gradual::new(&plan).expect("one group");
            assert!(gradual.so_far().is_none(), "{times}");
            gradual.run_first(&|_| {}, &|| {});
            gradual.run_rest(&|_| {});
            let (of, whole) = gradual.so_far().expect("all");
            assert_eq!(of.request.at, plan.request.at, "{times}");
            assert_eq!(shown(&whole), shown(&Comparison::run(&plan, true, &|_| {})), "{times}");
        }
    }

    /// Each time that something is done, all that is done is what a comparison of these handoffs alone gives.
    #[test]
    fn what_is_done_so_far_is_part_of_the_whole() {
        let plan = plan("0.1s..5s/0.1s");
        let gradual = Gradual::new(&plan).expect("one group");
        let seen = Mutex::new(Vec::new());
        let look = |more| {
            if more > 0 {
                let (of, part) = gradual.so_far().expect("some");
                seen.lock().expect("no panic").push((of, shown(&part)));
            }
        };
        gradual.run_first(&look, &|| {});
        let (first, _) = gradual.so_far().expect("the first");
        gradual.run_rest(&look);
        let seen = seen.into_inner().expect("no panic");
        assert_eq!(seen.len(), 50);
        for (of, part) in &seen[..3] {
            assert!(of.request.at.len() < 50, "{}", of.request.at.len());
            assert_eq!(*part, shown(&Comparison::run(of, true, &|_| {})));
        }
        let (all, first) = (&plan.request.at, first.request.at);
        assert_eq!(first.len(), FIRST);
        let gaps = |at: &[u64]| at.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(gaps(&first) <= Some(4 * (all[1] - all[0])), "a sixteenth of fifty times is three or four");
        assert!(first[0] <= all[3] && first[FIRST - 1] >= all[46], "{first:?}");
    }

    /// With one handoff from elsewhere, which comes or does not, among the first or not.
    #[test]
    fn a_handoff_from_elsewhere_is_the_same() {
        let mut plan = plan("0.1s..5s/0.1s");
        plan.series.handoffs = 1;
        let whole = shown(&Comparison::run(&plan, true, &|_| {}));
        let first: Vec<usize> = spread(50, FIRST).collect();
        for index in [first[3], first[3] + 1] {
            let at = plan.request.at[index];
            let traces = explain(&plan, Moment { group: 0, seed: plan.request.seed, at });
            for comes in [true, false] {
                let ran = AtomicU64::new(0);
                let gradual = Gradual::new(&plan).expect("one group").except(at);
                let heard = |more| _ = ran.fetch_add(more, Ordering::Relaxed);
                gradual.run_first(&heard, &|| {});
                assert!(gradual.records[index].get().is_none());
                if comes {
                    gradual.put(traces.iter().map(|told| told.trace.record.clone()));
                }
                gradual.run_rest(&heard);
                let (_, all) = gradual.so_far().expect("all");
                assert_eq!(shown(&all), whole, "{index} {comes}");
                assert_eq!(ran.into_inner(), 3 * (50 - u64::from(comes)), "no handoff is run twice");
            }
        }
        // There is nothing to put where it is not the plan's, or one of several in a run.
        plan.series.handoffs = 2;
        assert_eq!(Gradual::new(&plan).expect("one group").except(plan.request.at[0]).elsewhere, None);
        plan.series.handoffs = 1;
        assert_eq!(Gradual::new(&plan).expect("one group").except(1).elsewhere, None);
    }

    #[test]
    fn several_groups_are_not_gradual() {
        let mut plan = plan("2s");
        plan.request.flows = vec![1, 2];
        assert!(Gradual::new(&plan).is_none());
        plan.request.flows = vec![1];
        plan.request.seeds = 2;
        assert!(Gradual::new(&plan).is_none());
    }
}
