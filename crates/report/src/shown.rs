//! The handoffs of a comparison that its page tells packet by packet.

use crate::handoff::{Drawn, furnish_alike, furnish_narrow};
use crate::pictures::{Budget, Picture};
use crate::{headline_of, page};
use maud::{Markup, html};
use rayon::prelude::*;
use segue_export::Handoffs;
use segue_study::bench_words::{EVERY, HANDOFFS};
use segue_study::explain::{Chosen, Moment, explain_around, reference, typical};
use segue_study::measure::seconds;
use segue_study::{Comparison, Plan, Request};
use segue_world::Experiment;
use std::path::Path;

/// Groups whose other handoffs are drawn beside the median one.
const GROUPS_WITH_CHOICE: usize = 4;

/// Handoffs that are drawn at all: many more than fit into a page, and few enough for the memory.
const MOST_DRAWN: usize = 60;

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
    let (mut drawn, commands): (Vec<Drawn>, Vec<Option<String>>) = choices
        .par_iter()
        .enumerate()
        .map(|(number, (_, chosen))| {
            let traces = explain_around(plan, chosen.moment);
            let experiment = traces.first().map(|told| &told.trace.experiment);
            let command = experiment.and_then(|experiment| trace_command(plan, chosen.moment, experiment));
            (Drawn::new(&traces, &format!("handoff-{number}")), command)
        })
        .unzip();
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

    let mut shown: Vec<Shown> = comparison
        .groups
        .iter()
        .map(|group| Shown { headline: headline_of(group), handoffs: Vec::new(), left_out: Vec::new() })
        .collect();
    for ((((group, chosen), drawn), command), fits) in choices.into_iter().zip(drawn).zip(commands).zip(fits)
    {
        let shown = &mut shown[group];
        if fits { shown.handoffs.push((chosen, drawn, command)) } else { shown.left_out.push(chosen) }
    }
    (shown, narrow)
}

impl Shown {
    /// Whether it was drawn, room or not; of many blocks only the first are.
    pub fn has_been_drawn(&self) -> bool {
        !self.handoffs.is_empty() || !self.left_out.is_empty()
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
    use segue_world::SECOND;

    /// The first of several handoffs of a run is told.
    #[test]
    fn a_handoff_has_the_command_that_tells_it() {
        let moment = Moment { group: 0, seed: 7, at: 5 * SECOND };
        for settings in [&[][..], &[("handoffs", "2"), ("every", "30s")]] {
            let plan = plan(settings);
            let traces = explain_around(&plan, moment);
            let command = trace_command(&plan, moment, &traces[0].trace.experiment);
            let expected = "segue trace 6400kbit/9ms 400kbit/150ms --kind mbb --flows 1 --schemes sack,etcp-v1 --at 5s \
                            --packets 20 --definition after-highest --notice instant --seed 7";
            assert_eq!(command.as_deref(), Some(expected));
        }
    }
}
