//! The page of `segue compare --report`: the table, the charts, and a few handoffs packet by packet.

use crate::chart::quartiles;
use crate::handoff::{Drawn, LINK_TIME_CAPTION, Room, bar_of_row, link_time};
use crate::pictures::{Budget, Picture};
use crate::{Origin, asked, headline, page};
use maud::{Markup, html};
use rayon::prelude::*;
use segue_study::explain::{Chosen, explain, reference, typical};
use segue_study::measure::seconds;
use segue_study::numbers::{count, ratio, time};
use segue_study::{Comparison, GroupResult, Plan, Presentation, Row};

/// Groups whose other handoffs are drawn beside the median one.
const GROUPS_WITH_CHOICE: usize = 4;

/// Handoffs that are drawn at all: many more than fit into a page, and few enough for the memory.
const MOST_DRAWN: usize = 60;

/// The page; `comparison` must have kept its single handoffs.
pub fn comparison_page(
    plan: &Plan,
    comparison: &Comparison,
    presentation: &Presentation,
    origin: &Origin,
) -> String {
    let budget = Budget::new();
    let title = presentation.title.clone().unwrap_or_else(|| links(plan));
    let charts = charts(comparison, presentation);
    let with_narrow: Vec<Option<bool>> = charts.iter().map(|(picture, _)| room(picture, &budget)).collect();
    let handoffs = handoffs(plan, comparison, &budget);
    let content = html! {
        h1 { (title) }
        p.lead { (points(plan)) " handoffs per scheme, simulated packet by packet." }
        (asked::asked(plan, origin))
        h2 { "Result" }
        @for group in &comparison.groups { (table(group)) }
        (legend(plan))
        @for ((picture, caption), narrow) in charts.iter().zip(&with_narrow) {
            @if let Some(narrow) = *narrow { (picture.markup(narrow, caption)) }
        }
        @if with_narrow.contains(&None) {
            p.lead { "Other charts would make this page too large." }
        }
        @for (index, group) in handoffs.iter().enumerate() { (group.markup(plan, index)) }
    };
    page::page(&format!("Segue: {title}"), content)
}

/// Whether the narrow picture fits as well; `None` if not even the wide one does.
fn room(picture: &Picture, budget: &Budget) -> Option<bool> {
    let (wide, both) = picture.bytes();
    if budget.takes(both) { Some(true) } else { budget.takes(wide).then_some(false) }
}

/// The links, or how many pairs of them.
fn links(plan: &Plan) -> String {
    match &plan.request.pairs[..] {
        [(old, new), back @ ..] if back.is_empty() || asked::is_the_way_back(&plan.request.pairs) => {
            format!("{} \u{2192} {}", old.text, new.text)
        }
        pairs => format!("{} pairs of links", pairs.len()),
    }
}

fn points(plan: &Plan) -> u64 {
    plan.request.at.len() as u64 * plan.request.seeds
}

// ------------------------------------------------------------------------------------- the table

const COLUMNS: [(&str, &str); 13] = [
    ("scheme", ""),
    ("Q1, s", "lower quartile of the transfer time"),
    ("median, s", "median transfer time"),
    ("Q3, s", "upper quartile of the transfer time"),
    ("\u{d7} bound", "transfer time over the physical bound, median"),
    ("p90", "the same, 90th percentile"),
    ("timeouts", "per handoff"),
    ("spurious", "timeouts whose packet was not lost, per handoff"),
    ("fast retransmits", "per handoff"),
    ("drops", "data and ACKs that found a queue full, per handoff"),
    ("resent", "packets sent again, per handoff"),
    ("needless", "those of them that brought nothing, per handoff"),
    ("vs first", "median ratio to the first scheme over the same handoffs"),
];

fn table(group: &GroupResult) -> Markup {
    html! {
        h3 { (headline(&group.experiment)) }
        div.table {
            table {
                thead { tr { @for (name, meaning) in COLUMNS { th title=(meaning) { (name) } } } }
                tbody { @for row in &group.rows { (line(row)) } }
            }
        }
    }
}

fn line(row: &Row) -> Markup {
    let against = row.against_first.ratio_median;
    let judged = match against {
        Some(ratio) if ratio < 0.95 => "better",
        Some(ratio) if ratio <= 1.05 => "",
        _ => "worse",
    };
    html! {
        tr {
            td { (row.scheme) }
            td { (time(row.transfer_s.q1)) }
            td { (time(row.transfer_s.median)) }
            td { (time(row.transfer_s.q3)) }
            td { (ratio(row.over_bound.median)) }
            td { (ratio(row.over_bound.p90)) }
            td { (count(row.timeouts)) }
            td { (count(row.spurious_timeouts)) }
            td { (count(row.fast_retransmits)) }
            td { (count(row.drops)) }
            td { (count(row.retransmissions)) }
            td { (count(row.needless_retransmissions)) }
            td class=(judged) { (ratio(against)) }
        }
    }
}

fn legend(plan: &Plan) -> Markup {
    html! {
        p.lead {
            "Transfer time: from the completion of the handoff until the slowest flow is done (inf: not within 400 s). \
             \u{d7} bound: its ratio to what no sender can beat with these links. Counts are means per handoff. vs first: \
             median ratio to " b { (plan.schemes[0].name) } " over the same handoffs; below 1 is faster."
        }
    }
}

// ------------------------------------------------------------------------------------ the charts

fn charts(comparison: &Comparison, presentation: &Presentation) -> Vec<(Picture, String)> {
    let mut charts = vec![(
        picture(comparison, presentation),
        "Transfer time: a bar from the lower to the upper quartile, a mark at the median, and the median of the physical \
         bound."
            .to_string(),
    )];
    for (index, group) in comparison.groups.iter().enumerate() {
        let headline = headline(&group.experiment);
        let first = group.rows.first().and_then(|row| row.bound_s);
        let bound = first.filter(|_| group.rows.iter().all(|row| row.bound_s == first));
        let bars = group.rows.iter().map(bar_of_row).collect();
        let picture = link_time(&format!("link-time-{index}"), &headline, bound, bars);
        let caption = match index {
            0 => format!("{headline}. {LINK_TIME_CAPTION} Means over all handoffs."),
            _ => format!("{headline}: where the new link's time went."),
        };
        charts.push((picture, caption));
    }
    charts
}

fn picture(comparison: &Comparison, presentation: &Presentation) -> Picture {
    let chart = quartiles(comparison, presentation);
    Picture::draw((400, 420), |size, suffix| {
        let mut chart = chart.clone();
        chart.about.id.push_str(suffix);
        // The page says it above.
        chart.about.heading.clear();
        chart.svg(size)
    })
}

// ---------------------------------------------------------------------------------- the handoffs

/// The handoffs of one group that are shown.
struct Shown {
    headline: String,
    handoffs: Vec<(Chosen, Drawn, Room)>,
    /// Those for which there was no room.
    left_out: bool,
}

fn handoffs(plan: &Plan, comparison: &Comparison, budget: &Budget) -> Vec<Shown> {
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
    let drawn: Vec<Drawn> = choices
        .par_iter()
        .enumerate()
        .map(|(number, (_, chosen))| Drawn::new(&explain(plan, chosen.moment), &format!("handoff-{number}")))
        .collect();
    // Room goes to the median handoffs of all groups first.
    let mut rooms = vec![Room::None; drawn.len()];
    let is_median = |number: usize| choices[number].1.why == "median";
    for first in [true, false] {
        for number in (0..drawn.len()).filter(|&number| is_median(number) == first) {
            rooms[number] = drawn[number].room(budget);
        }
    }
    let mut shown: Vec<Shown> = comparison
        .groups
        .iter()
        .map(|group| Shown { headline: headline(&group.experiment), handoffs: Vec::new(), left_out: false })
        .collect();
    for (((group, chosen), drawn), room) in choices.into_iter().zip(drawn).zip(rooms) {
        match room {
            Room::None => shown[group].left_out = true,
            room => shown[group].handoffs.push((chosen, drawn, room)),
        }
    }
    for group in &mut shown {
        group.left_out |= group.handoffs.is_empty();
    }
    shown
}

impl Shown {
    fn markup(&self, plan: &Plan, index: usize) -> Markup {
        let reference = reference(plan);
        let name = |chosen: &Chosen| {
            let seed = match plan.request.seeds {
                1 => String::new(),
                _ => format!(", seed {}", chosen.moment.seed),
            };
            format!("{} ({} s{seed})", chosen.why, seconds(chosen.moment.at))
        };
        let place = format!("handoff-of-{index}");
        html! {
            h2 { "One handoff: " (self.headline) }
            @if self.handoffs.len() > 1 {
                div.choice {
                    label for=(format!("choice-{index}")) { "The handoff with the transfer time of " (reference) " that is" }
                    select id=(format!("choice-{index}")) data-shows=(place) autocomplete="off" {
                        @for (number, (chosen, ..)) in self.handoffs.iter().enumerate() {
                            option value=(format!("{place}-{number}")) { (name(chosen)) }
                        }
                    }
                }
            } @else if let Some((chosen, ..)) = self.handoffs.first() {
                p.lead { "The handoff with the transfer time of " (reference) " that is " (name(chosen)) "." }
            }
            @if self.left_out {
                p.lead { "Other handoffs would make this page too large; segue trace shows any." }
            }
            @if let Some((_, drawn, room)) = self.handoffs.first() {
                div id=(place) { (drawn.markup(*room)) }
            }
            @for (number, (_, drawn, room)) in self.handoffs.iter().enumerate().skip(1) {
                template id=(format!("{place}-{number}")) { (drawn.markup(*room)) }
            }
        }
    }
}
