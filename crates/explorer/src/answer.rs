//! Answers: the rows, the events, the capture, and what the page shows.

use crate::question::{LATEST, Question, USUAL_TIMES, in_seconds};
use crate::refusal::Refusal;
use crate::words;
use crate::work::{Cancellation, cores};
use segue_capture::{SNAPLEN, capture};
use segue_export::{Provenance, comparison_json, trace_lines};
use segue_report::{comparison_part, handoff_part};
use segue_study::compare::records;
use segue_study::explain::{
    Moment, SchemeTrace, explain, explain_at_most, explain_since, several_stacks, typical,
};
use segue_study::measure::seconds;
use segue_study::numbers::time;
use segue_study::stop::{stop, stoppable};
use segue_study::story::headline;
use segue_study::warnings::warnings;
use segue_study::{Comparison, Plan, Presentation};
use segue_world::access::PACKET_BYTES;
use segue_world::{Kind, Nanos, RunRecord, SECOND};
use serde_json::{Value, json};
use std::path::Path;

/// Most packets of the handoffs that the page draws.
const MOST_DRAWN: u64 = 150_000;
/// The most of them that were sent before the handoff.
const MOST_BEFORE: u64 = 10_000;
/// Most events that are kept of each of them until it is known how many packets there are. A packet has about seven.
const MOST_EVENTS: usize = 10 * MOST_DRAWN as usize;
/// Most packets of a capture, and of the lines of a trace.
const MOST_TOLD: u64 = 50_000;
/// A run ends so long after completion, s.
const GIVE_UP: f64 = 400.0;

/// The rows as `segue compare --json -` writes them.
pub fn rows(
    question: &Question,
    cancellation: &Cancellation,
    program: &str,
    folder: &Path,
) -> Result<Option<String>, Refusal> {
    let run = || Comparison::run(&question.plan, false, &|_| go_on(cancellation));
    let Ok(comparison) = stoppable(run) else { return Ok(None) };
    let origin = Provenance::of_plan(program, &question.plan, folder).map_err(Refusal::ours)?;
    comparison_json(&comparison, Some(&origin)).map(Some).map_err(Refusal::ours)
}

/// The page's view of some or all handoffs of the question, those of the plan `of`. It has `html`, a sentence `said`,
/// `points` of `of` handoff times, the `typical` handoffs, and the `command` and `toml` that repeat the whole. `drawn` is
/// the handoff to draw unless the user has chosen one.
pub fn comparison_view(
    question: &Question,
    of: &Plan,
    comparison: &Comparison,
    folder: &Path,
) -> Result<String, Refusal> {
    let plan = &question.plan;
    let Some(group) = comparison.groups.first() else { return Ok(String::new()) };
    let medians = group.rows.iter().map(|row| match row.transfer_s.median {
        None => format!("{} not done", row.scheme),
        median => format!("{} {} s", row.scheme, time(median)),
    });
    let said = match plan.has_transfers() {
        true => format!("Median transfer time: {}.", medians.collect::<Vec<_>>().join(", ")),
        false => "The times of the traffic are in the table.".to_string(),
    };
    let typical: Vec<Value> = typical(of, 0, group)
        .iter()
        .map(|chosen| json!({ "why": chosen.why, "at": in_seconds(chosen.moment.at) }))
        .collect();
    let year = if plan.is_of_2008_unasked() { ", that of 2008" } else { "" };
    let tcp = format!("TCP: {}{year}", group.distinct_stacks().join(", "));
    // They differ from those of `segue compare` over fast links.
    let times = question.times.as_deref().unwrap_or(USUAL_TIMES);
    let times = format!("handoff{} at {times}", if question.all_points == 1 { "" } else { "s" });
    let heading =
        [headline(&group.experiment), times].into_iter().chain(words::conditions(&plan.request)).chain([tcp]);
    let view = json!({
        "html": comparison_part(of, comparison, &Presentation::default()),
        "headline": heading.collect::<Vec<_>>().join("; "),
        "notes": notes(group.warnings()),
        "said": said,
        "points": of.request.at.len(),
        "of": question.all_points,
        "typical": typical,
        "drawn": question.drawn,
        "command": words::compare_command(question, folder),
        "toml": words::scenario(question)?,
    });
    Ok(view.to_string())
}

/// Words of warning name options that the page may not have.
fn notes(warnings: Vec<String>) -> Vec<String> {
    warnings.into_iter().map(|warning| warning.replace("see --", "see segue compare --")).collect()
}

/// The page's view of one handoff: `html`, a sentence `said`, and the `command` that repeats it.
pub fn handoff_view(
    question: &Question,
    cancellation: &Cancellation,
    folder: &Path,
) -> Result<Option<String>, Refusal> {
    let Some(traces) = drawn(question, cancellation)? else { return Ok(None) };
    let Some(first) = traces.first() else { return Ok(None) };
    let view = json!({
        "html": handoff_part(&traces),
        "notes": notes(warnings(&first.trace.experiment, traces.iter().map(|trace| trace.stack), several_stacks(&traces))),
        "said": format!("The handoff at {} s is shown.", seconds(first.trace.record.at)),
        "command": words::trace_command(question, folder),
    });
    Ok(Some(view.to_string()))
}

/// The events as `segue trace --json -` writes them.
pub fn lines(
    question: &Question,
    cancellation: &Cancellation,
    program: &str,
    folder: &Path,
) -> Result<Option<String>, Refusal> {
    if !Size::told(question).bounded(cancellation)? {
        return Ok(None);
    }
    let (plan, moment) = (&question.plan, moment(question));
    let origin = Provenance::of_trace(program, plan, moment, folder).map_err(Refusal::ours)?;
    let traces = cores()?.install(|| explain(plan, moment));
    let lines = traces.iter().map(|told| trace_lines(told, Some(&origin)));
    lines.collect::<Result<String, _>>().map(Some).map_err(Refusal::ours)
}

/// The capture as `segue trace --pcap` writes it.
pub fn packets(question: &Question, cancellation: &Cancellation) -> Result<Option<Vec<u8>>, Refusal> {
    if !Size::told(question).bounded(cancellation)? {
        return Ok(None);
    }
    let traces = cores()?.install(|| explain(&question.plan, moment(question)));
    let Some(told) = traces.first() else { return Ok(None) };
    capture(&told.scheme, &told.trace, SNAPLEN).map(Some).map_err(Refusal::ours)
}

fn moment(question: &Question) -> Moment {
    let request = &question.plan.request;
    Moment { group: 0, seed: request.seed, at: request.at.first().copied().unwrap_or(LATEST) }
}

/// How long before a handoff at `at` a story begins: a second, on a fast old link the time of so many packets.
fn drawn_before(plan: &Plan, at: Nanos) -> Nanos {
    let rate = plan.request.pairs.iter().map(|(old, _)| old.down.mean_rate()).max().unwrap_or(1).max(1);
    let packets = u128::from(MOST_BEFORE * PACKET_BYTES * 8) * u128::from(SECOND) / u128::from(rate);
    at.min(SECOND).min(Nanos::try_from(packets).unwrap_or(SECOND))
}

/// The traces that the page draws; `None` once nobody wants them.
fn drawn(question: &Question, cancellation: &Cancellation) -> Result<Option<Vec<SchemeTrace>>, Refusal> {
    let (plan, moment) = (&question.plan, moment(question));
    let since = moment.at - drawn_before(plan, moment.at);
    let size = Size::drawn(question);
    let cores = cores()?;
    if size.fits() {
        return Ok(Some(cores.install(|| explain_since(plan, moment, since))));
    }
    // The runs that are drawn tell how many packets they have.
    let most = MOST_EVENTS / plan.schemes.len().max(1);
    let goes_on = |_| go_on(cancellation);
    let traced = |most| cores.install(|| explain_at_most(plan, moment, since, most, &goes_on));
    let run = |most| stoppable(|| traced(most)).ok();
    let Some(traces) = run(most) else { return Ok(None) };
    size.check(traces.iter().map(|told| &told.trace.record))?;
    match traces.iter().all(|told| told.trace.whole) {
        true => Ok(Some(traces)),
        // One scheme has more than its part, and others less.
        false => Ok(run(usize::MAX)),
    }
}

/// How many packets are told of, and may be.
struct Size<'a> {
    plan: &'a Plan,
    at: Nanos,
    /// At most: the old link full from the time that is asked for until the handoff.
    early: f64,
    most: u64,
    /// For those who ask for too many.
    instead: &'static str,
}

impl<'a> Size<'a> {
    /// The size of a handoff that is drawn.
    fn drawn(question: &'a Question) -> Self {
        let (plan, at) = (&question.plan, moment(question).at);
        Self::new(plan, at, drawn_before(plan, at), MOST_DRAWN, "fewer schemes or a slower link")
    }

    /// The size of a handoff that is told from the first packet on.
    fn told(question: &'a Question) -> Self {
        let at = moment(question).at;
        let instead = "an earlier handoff or a slower link, or segue trace on the command line";
        Self::new(&question.plan, at, at, MOST_TOLD, instead)
    }

    fn new(plan: &'a Plan, at: Nanos, before: Nanos, most: u64, instead: &'static str) -> Self {
        let old = plan.request.pairs.iter().map(|(old, _)| carried(old.down.mean_rate(), seconds(before)));
        Self { plan, at, early: old.sum(), most, instead }
    }

    /// The new link full for so long.
    fn late(&self, time_s: f64) -> f64 {
        self.plan.request.pairs.iter().map(|(_, new)| carried(new.down.mean_rate(), time_s)).sum()
    }

    /// Whether both links full until a run ends would not be too many.
    fn fits(&self) -> bool {
        self.plan.schemes.len() as f64 * (self.early + self.late(GIVE_UP)) <= self.most as f64
    }

    /// Refuses runs that had too many.
    fn check<'r>(&self, records: impl Iterator<Item = &'r RunRecord>) -> Result<(), Refusal> {
        // Both links carry data in some kinds; in others the new link has counted all of them.
        let both_carry = self.plan.request.kinds.iter().any(|kind| !matches!(kind, Kind::Mbb | Kind::Bbm(_)));
        let after = |record: &RunRecord| match both_carry {
            true => self.late(record.transfer.map_or(GIVE_UP, seconds)),
            false => (record.queue_delays.len() + record.data_drops.len()) as f64,
        };
        let all: f64 = records.map(|record| self.early + after(record)).sum();
        if all > self.most as f64 {
            let (at, most, instead) = (in_seconds(self.at), self.most, self.instead);
            return Err(Refusal::bad(format!(
                "at {at}: up to {all:.0} packets are too many; expected at most {most}: {instead}"
            )));
        }
        Ok(())
    }

    /// Refuses what has too many, if need be by a run that nobody watches and that costs little; false once nobody
    /// wants it.
    fn bounded(&self, cancellation: &Cancellation) -> Result<bool, Refusal> {
        if self.fits() {
            return Ok(true);
        }
        let Some(records) = first_handoff(self.plan, cancellation) else { return Ok(false) };
        self.check(records.iter()).map(|()| true)
    }
}

/// Packets that a link carries at most.
fn carried(rate: u64, time_s: f64) -> f64 {
    rate as f64 * time_s / (8.0 * PACKET_BYTES as f64)
}

/// Ends a run that nobody wants any more.
pub fn go_on(cancellation: &Cancellation) {
    if !cancellation.goes_on() {
        stop();
    }
}

/// Each scheme's record of the first handoff; `None` once nobody wants it.
fn first_handoff(plan: &Plan, cancellation: &Cancellation) -> Option<Vec<RunRecord>> {
    let groups = plan.groups();
    let group = groups.first()?.first()?;
    let goes_on = |_| go_on(cancellation);
    let mut records = stoppable(|| records(plan, group, &goes_on)).ok()?;
    Some(records.swap_remove(0).into_iter().map(|mut handoffs| handoffs.swap_remove(0)).collect())
}
