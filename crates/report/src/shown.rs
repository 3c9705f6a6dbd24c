//! The handoffs of a comparison that its page tells packet by packet.

use crate::handoff::{Drawn, furnish_alike, furnish_narrow};
use crate::pictures::{Budget, Picture};
use crate::{headline_of, page};
use maud::{Markup, html};
use rayon::prelude::*;
use segue_export::Handoffs;
use segue_study::bench_words::{EVERY, HANDOFFS};
use segue_study::explain::{Chosen, Moment, SchemeTrace, explain_at_most, reference, typical};
use segue_study::measure::seconds;
use segue_study::{Comparison, GroupResult, Plan, Request};
use segue_world::Experiment;
use std::path::Path;

/// Groups whose other handoffs are drawn beside the median one.
const GROUPS_WITH_CHOICE: usize = 4;

/// Handoffs that are drawn at all: many more than fit into a page, and few enough for the memory.
const MOST_DRAWN: usize = 60;

/// Most events of a handoff that is drawn, with all schemes: as in the explorer, ten for each of 150,000 packets. Never
/// are more in memory.
const MOST_EVENTS: usize = 1_500_000;

/// Handoffs that are drawn at the same time, if each has its part of the events at most.
const TOGETHER: usize = 4;

/// The place of a block's handoff.
pub fn place(index: usize) -> String {
    format!("one-handoff-{index}")
}

/// The handoffs of one group that are shown.
pub struct Shown {
    /// The group's.
    pub headline: String,
    /// Each with the command that tells it.
    pub handoffs: Vec<(Chosen, Drawn, Option<String>)>,
    /// Those for which there was no room.
    left_out: Vec<Chosen>,
    /// Those with too many packets.
    too_many: Vec<Chosen>,
}

/// The shown single handoffs, and which charts, with their narrow form or without. Room goes to wide charts and the
/// median handoffs of all groups first, then to narrow charts and pictures, then to other handoffs.
pub fn handoffs(
    plan: &Plan,
    comparison: &Comparison,
    charts: &[(Picture, String)],
    budget: &Budget,
) -> (Vec<Shown>, Vec<Option<bool>>) {
    let wide = |(picture, caption): &(Picture, String)| {
        budget.takes(picture.bytes().0 + caption.len() + 200).then_some(false)
    };
    let mut narrow: Vec<Option<bool>> = charts.iter().map(wide).collect();
    let choices: Vec<(usize, Chosen)> = comparison
        .groups
        .iter()
        .enumerate()
        .flat_map(|(index, group)| {
            let most = if comparison.groups.len() <= GROUPS_WITH_CHOICE { usize::MAX } else { 1 };
            typical(plan, index, group).into_iter().take(most).map(move |chosen| (index, chosen))
        })
        .take(MOST_DRAWN)
        .collect();
    let mut shown: Vec<Shown> = comparison.groups.iter().map(Shown::nothing_of).collect();
    let (mut kept, mut drawn, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for ((group, chosen), told) in choices.iter().zip(draw(plan, &choices)) {
        let Some((picture, command)) = told else {
            shown[*group].too_many.push(chosen.clone());
            continue;
        };
        kept.push((*group, chosen.clone()));
        drawn.push(picture);
        commands.push(command);
    }
    let choices = kept;
    budget.must_take(commands.iter().flatten().map(|command| command.len() + 100).sum());
    let mut fits = vec![false; drawn.len()];
    let (mut medians, mut others) = (Vec::new(), Vec::new());
    for ((drawn, (_, chosen)), fits) in drawn.iter_mut().zip(&choices).zip(&mut fits) {
        if chosen.why == "median" { medians.push((drawn, fits)) } else { others.push((drawn, fits)) }
    }
    let (mut medians, told): (Vec<&mut Drawn>, Vec<&mut bool>) = medians.into_iter().unzip();
    for (told, fits) in told.into_iter().zip(furnish_alike(&mut medians, budget)) {
        *told = fits;
    }
    for (narrow, (picture, _)) in narrow.iter_mut().zip(charts) {
        let (wide, both) = picture.bytes();
        *narrow = narrow.map(|_| budget.takes(both - wide));
    }
    furnish_narrow(&mut medians, budget);
    for (drawn, fits) in &mut others {
        **fits = drawn.furnish(budget);
    }
    let mut others: Vec<&mut Drawn> = others.into_iter().map(|(drawn, _)| drawn).collect();
    furnish_narrow(&mut others, budget);

    for ((((group, chosen), drawn), command), fits) in choices.into_iter().zip(drawn).zip(commands).zip(fits)
    {
        let shown = &mut shown[group];
        if fits { shown.handoffs.push((chosen, drawn, command)) } else { shown.left_out.push(chosen) }
    }
    (shown, narrow)
}

/// The handoffs with the commands that tell them; `None` for one with too many packets.
fn draw(plan: &Plan, choices: &[(usize, Chosen)]) -> Vec<Option<(Drawn, Option<String>)>> {
    let draw = |number: usize, most: usize| {
        let moment = choices[number].1.moment;
        let traces = explain_within(plan, moment, most)?;
        let experiment = traces.first().map(|told| &told.trace.experiment);
        let command = experiment.and_then(|experiment| trace_command(plan, moment, experiment));
        Some((Drawn::new(&traces, &format!("handoff-{number}")), command))
    };
    let mut drawn = Vec::with_capacity(choices.len());
    for first in (0..choices.len()).step_by(TOGETHER) {
        let numbers = (first..choices.len().min(first + TOGETHER)).into_par_iter();
        drawn.par_extend(numbers.map(|number| draw(number, MOST_EVENTS / TOGETHER)));
    }
    // Large ones one after the other.
    for (number, drawn) in drawn.iter_mut().enumerate() {
        *drawn = drawn.take().or_else(|| draw(number, MOST_EVENTS));
    }
    drawn
}

/// Traces of one handoff with every scheme, in the plan's order, from a second before it on; `None` if all have more
/// than `most` events. Never are more than so many kept.
fn explain_within(plan: &Plan, moment: Moment, most: usize) -> Option<Vec<SchemeTrace>> {
    let (since, part) = (moment.told_since(), most / plan.schemes.len().max(1));
    let mut traces = explain_at_most(plan, moment, since, part, &|_| {});
    let whole = traces.iter().filter(|told| told.trace.whole);
    let kept: usize = whole.map(|told| told.trace.events.len()).sum();
    let mut left = most.checked_sub(kept)?;
    let large = traces.iter().filter(|told| !told.trace.whole).count();
    if large * (part + 1) > left {
        return None;
    }
    // A scheme may have more than its part where others have less.
    for (told, scheme) in traces.iter_mut().zip(&plan.schemes).filter(|(told, _)| !told.trace.whole) {
        let alone = Plan { schemes: vec![scheme.clone()], ..plan.clone() };
        *told =
            explain_at_most(&alone, moment, since, left, &|_| {}).pop().filter(|told| told.trace.whole)?;
        left = left.checked_sub(told.trace.events.len())?;
    }
    Some(traces)
}

impl Shown {
    /// A group without any.
    fn nothing_of(group: &GroupResult) -> Self {
        let headline = headline_of(group);
        Self { headline, handoffs: Vec::new(), left_out: Vec::new(), too_many: Vec::new() }
    }

    /// Whether it was to be drawn, room or not; of many blocks only the first are.
    pub fn has_been_drawn(&self) -> bool {
        !self.handoffs.is_empty() || !self.left_out.is_empty() || !self.too_many.is_empty()
    }

    pub fn markup(&self, plan: &Plan, index: usize) -> Markup {
        let reference = reference(plan);
        let name = |chosen: &Chosen| {
            let seed = match plan.request.seeds {
                1 => String::new(),
                _ => format!(", seed {}", chosen.moment.seed),
            };
            format!("{} (T = {} s{seed})", chosen.why, seconds(chosen.moment.at))
        };
        let shows = format!("handoff-of-{index}");
        let told = |(_, drawn, command): &(Chosen, Drawn, Option<String>)| {
            html! {
                @if let Some(command) = command { (page::again(None, command)) }
                (drawn.markup())
            }
        };
        html! {
            h2 id=(place(index)) { "One handoff: " (self.headline) }
            @if self.handoffs.len() > 1 {
                div.choice {
                    label for=(format!("choice-{index}")) { "Handoff by the transfer time of " (reference) ":" }
                    select id=(format!("choice-{index}")) data-shows=(shows) autocomplete="off" {
                        @for (number, (chosen, ..)) in self.handoffs.iter().enumerate() {
                            option value=(format!("{shows}-{number}")) { (name(chosen)) }
                        }
                    }
                }
            } @else if let Some((chosen, ..)) = self.handoffs.first() {
                p.lead { "Handoff by the transfer time of " (reference) ": " (name(chosen)) "." }
            }
            @if let Some(chosen) = self.left_out.first() {
                p.lead {
                    @if self.handoffs.is_empty() {
                        "Handoff by the transfer time of " (reference) ": " (name(chosen))
                        " would make this page too large; segue trace shows it."
                    } @else {
                        "Other handoffs would make this page too large; segue trace shows any."
                    }
                }
            }
            @if let Some(chosen) = self.too_many.first() {
                p.lead {
                    @if self.handoffs.is_empty() && self.left_out.is_empty() {
                        "Handoff by the transfer time of " (reference) ": " (name(chosen))
                        " has too many packets for this page; segue trace tells it."
                    } @else {
                        "Other handoffs have too many packets for this page; segue trace tells any."
                    }
                }
            }
            @if let Some(handoff) = self.handoffs.first() {
                div id=(shows) { (told(handoff)) }
            }
            @for (number, handoff) in self.handoffs.iter().enumerate().skip(1) {
                template id=(format!("{shows}-{number}")) { (told(handoff)) }
            }
        }
    }
}

/// The command that tells one handoff of a plan, unless its words cannot.
fn trace_command(plan: &Plan, moment: Moment, experiment: &Experiment) -> Option<String> {
    let mut request = Request {
        pairs: vec![(experiment.old.clone(), experiment.new.clone())],
        kinds: vec![experiment.kind],
        flows: vec![experiment.flows],
        at: vec![moment.at],
        seed: moment.seed,
        seeds: 1,
        ..plan.request.clone()
    };
    // Only the first handoff of a run is told.
    request.settings.retain(|(key, _)| ![HANDOFFS, EVERY].contains(&key.as_str()));
    let mut question = Handoffs::of(&request, Path::new(""));
    // Paths are those of the command that made the page.
    question.folder.clear();
    question.trace_command()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan;
    use segue_study::explain::explain_since;
    use segue_world::SECOND;

    /// The first of several handoffs of a run is told.
    #[test]
    fn a_handoff_has_the_command_that_tells_it() {
        let moment = Moment { group: 0, seed: 7, at: 5 * SECOND };
        for settings in [&[][..], &[("handoffs", "2"), ("every", "30s")]] {
            let plan = plan(settings);
            let traces = explain_since(&plan, moment, moment.told_since());
            let command = trace_command(&plan, moment, &traces[0].trace.experiment);
            let expected = "segue trace 6400kbit/9ms 400kbit/150ms --kind mbb --flows 1 --schemes sack,etcp-v1 --at 5s \
                            --packets 20 --definition after-highest --notice instant --seed 7";
            assert_eq!(command.as_deref(), Some(expected));
        }
    }

    /// All schemes share the room, whichever of them has more events.
    #[test]
    fn events_are_kept_up_to_a_number_of_all_schemes() {
        let moment = Moment { group: 0, seed: 7, at: 5 * SECOND };
        let mut plan = plan(&[]);
        for _ in 0..2 {
            let all = explain_since(&plan, moment, moment.told_since());
            let events: Vec<usize> = all.iter().map(|told| told.trace.events.len()).collect();
            assert_ne!(events[0], events[1], "one has more than its part");
            let most = events.iter().sum();
            let kept = explain_within(&plan, moment, most).expect("all are kept");
            assert_eq!(format!("{kept:?}"), format!("{all:?}"));
            assert!(explain_within(&plan, moment, most - 1).is_none());
            plan.schemes.reverse();
        }
    }
}
