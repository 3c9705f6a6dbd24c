//! Single handoffs packet by packet: which of a comparison's are worth a look, and their traces.

use crate::compare::GroupResult;
use crate::request::Plan;
use rayon::prelude::*;
use segue_world::trace::{Trace, TracedHandoff};
use segue_world::{Nanos, SECOND};

/// One handoff of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Index of its group: links, kind, number of flows.
    pub group: usize,
    /// Its seed.
    pub seed: u64,
    /// T.
    pub at: Nanos,
}

/// A handoff with one scheme.
#[derive(Clone, Debug)]
pub struct SchemeTrace {
    /// The scheme as asked for.
    pub scheme: String,
    /// Its settings.
    pub settings: Vec<(String, String)>,
    /// The stack it runs on.
    pub stack: &'static str,
    /// Its events.
    pub trace: Trace,
}

impl SchemeTrace {
    /// Whether a copy's bytes had all been received when it arrived, by flow and copy number.
    pub fn needless(&self) -> impl Fn(u16, u32) -> bool + use<> {
        use segue_tcp::receiver::Arrival;
        use segue_world::trace::What;
        let brought_nothing = |event: &segue_world::trace::Event| match &event.what {
            What::Received { packet, arrival: Some(Arrival::Duplicate) } => Some((packet.flow, packet.copy)),
            _ => None,
        };
        let copies: std::collections::BTreeSet<_> =
            self.trace.events.iter().filter_map(brought_nothing).collect();
        move |flow, copy| copies.contains(&(flow, copy))
    }
}

/// Time before the handoff that a story or a page needs, ns.
const NEEDED_BEFORE: Nanos = SECOND;

impl Moment {
    /// Since when a story or a page tells.
    pub fn told_since(&self) -> Nanos {
        self.at.saturating_sub(NEEDED_BEFORE)
    }
}

/// Traces of one handoff with every scheme of the plan, in the plan's order; every event from the first SYN on.
pub fn explain(plan: &Plan, moment: Moment) -> Vec<SchemeTrace> {
    explain_since(plan, moment, 0)
}

/// The same without what happened before `since`.
pub fn explain_since(plan: &Plan, moment: Moment, since: Nanos) -> Vec<SchemeTrace> {
    explain_at_most(plan, moment, since, usize::MAX, &|_| {})
}

/// The same on all cores; of a run with more than `most` events none is kept ([`Trace::whole`]). `done` hears of runs
/// as in [`Comparison::run`](crate::Comparison::run).
pub fn explain_at_most(
    plan: &Plan,
    moment: Moment,
    since: Nanos,
    most: usize,
    done: &(dyn Fn(u64) + Sync),
) -> Vec<SchemeTrace> {
    let groups = plan.groups();
    let seeds = &groups[moment.group];
    let group = seeds.iter().find(|group| group.seed == moment.seed).unwrap_or(&seeds[0]);
    let stacks = group.experiments.par_iter();
    let stacks = stacks.map(|experiment| {
        done(0);
        TracedHandoff::new(experiment, moment.at, since, most, &|| done(0))
    });
    let stacks: Vec<TracedHandoff> = stacks.collect();
    let schemes = plan.schemes.par_iter().map(|planned| {
        done(0);
        let trace = stacks[planned.stack_index].run(&planned.scheme, &|| done(0));
        done(1);
        let (scheme, settings) = (planned.name.clone(), planned.settings.clone());
        SchemeTrace { scheme, settings, stack: planned.stack.name, trace }
    });
    schemes.collect()
}

/// Whether schemes stand on several stacks, which meet one handoff in different states.
pub fn several_stacks(traces: &[SchemeTrace]) -> bool {
    traces.windows(2).any(|pair| pair[0].stack != pair[1].stack)
}

/// A handoff and why it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The handoff.
    pub moment: Moment,
    /// Such as `median`.
    pub why: &'static str,
}

/// The handoffs in which the reference scheme takes its median time, its quartiles and its longest, the median first.
/// There are none of later handoffs of a run, which traces do not reach. The reference is the first regular TCP listed,
/// or the first scheme. `result` must have kept its single handoffs.
pub fn typical(plan: &Plan, group: usize, result: &GroupResult) -> Vec<Chosen> {
    if result.handoff.is_some_and(|nth| nth > 1) {
        return Vec::new();
    }
    let group = group / plan.series.handoffs as usize;
    let regular = |index: &usize| plan.schemes[*index].scheme.is_regular();
    let reference = (0..plan.schemes.len()).find(regular).unwrap_or(0);
    let times = &plan.request.at;
    let points = times.len() * plan.request.seeds as usize;
    let mut order: Vec<usize> = (0..points).collect();
    let transfer =
        |point: usize| result.handoffs[reference * points + point].transfer_s.unwrap_or(f64::INFINITY);
    order.sort_by(|&a, &b| transfer(a).total_cmp(&transfer(b)).then(a.cmp(&b)));
    let last = points - 1;
    let mut chosen: Vec<Chosen> = Vec::new();
    // The median of an even number of handoffs lies between two: the faster one stands for it.
    let ranks = [
        ("median", last / 2),
        ("lower quartile", last / 4),
        ("upper quartile", last - last / 4),
        ("longest", last),
    ];
    for (why, rank) in ranks {
        let point = order[rank];
        let seed = plan.request.seed + (point / times.len()) as u64;
        let moment = Moment { group, seed, at: times[point % times.len()] };
        if chosen.iter().all(|other| other.moment != moment) {
            chosen.push(Chosen { moment, why });
        }
    }
    chosen
}

/// The scheme that [`typical`] goes by.
pub fn reference(plan: &Plan) -> &str {
    let regular = plan.schemes.iter().find(|scheme| scheme.scheme.is_regular());
    &regular.unwrap_or(&plan.schemes[0]).name
}
