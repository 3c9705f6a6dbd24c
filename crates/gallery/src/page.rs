//! The page of `segue reproduce`: every figure, what its paper says about it, what was measured, the verdict.

use crate::buffers::senders_and_buffers;
use crate::figures::DrawnFigure;
use maud::{Markup, html};
use segue_report::pictures::Budget;
use segue_report::{Origin, page as html_page};
use segue_reproduce::buffers::SendersAndBuffers;
use segue_reproduce::ledger::{Figure, Paper};
use segue_reproduce::verdict::{Judged, Verdict};
use std::collections::BTreeSet;

/// One paper in the gallery.
pub struct Exhibit<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// Its figures, drawn.
    pub figures: Vec<(&'a Figure, DrawnFigure)>,
    /// Its claims, judged.
    pub claims: Vec<Judged<'a>>,
}

/// The page. `points`: handoff times per bar.
pub fn gallery_page(
    exhibits: &[Exhibit],
    buffers: Option<&SendersAndBuffers>,
    points: usize,
    origin: &Origin,
) -> String {
    let budget = Budget::of_pictures();
    let content = html! {
        h1 { "Papers, run again" }
        p.lead {
            "Every figure redrawn and every statement judged on fresh simulations, " (points)
            " handoffs, or at most so many seeds of a drive, for each bar. Made by Segue " (origin.version) "; repeat it with "
            code.command { (origin.command) } "."
        }
        (summary(exhibits))
        @for exhibit in exhibits { (exhibit.markup(&budget)) }
        @if let Some(table) = buffers { (senders_and_buffers(table)) }
    };
    html_page("Segue: papers, run again", content)
}

fn count(exhibits: &[Exhibit], verdict: Verdict) -> usize {
    exhibits.iter().flat_map(|exhibit| &exhibit.claims).filter(|judged| judged.verdict == verdict).count()
}

fn summary(exhibits: &[Exhibit]) -> Markup {
    html! {
        div.table { table {
            thead { tr { th { "paper" } @for verdict in Verdict::ALL { th { (verdict.words()) } } } }
            tbody {
                @for exhibit in exhibits {
                    @let one = std::slice::from_ref(exhibit);
                    tr {
                        td { (exhibit.paper.id) }
                        @for verdict in Verdict::ALL { td { (count(one, verdict)) } }
                    }
                }
                tr { td { "all" } @for verdict in Verdict::ALL { td { (count(exhibits, verdict)) } } }
            }
        } }
    }
}

impl Exhibit<'_> {
    fn claims_of(&self, figure: &Figure) -> Markup {
        let first = |id: &String| {
            let mut showing = self.figures.iter().filter(|(figure, _)| figure.supports.contains(id));
            showing.next().is_some_and(|(first, _)| first.id == figure.id)
        };
        html! {
            ul.claims {
                @for judged in self.claims.iter().filter(|judged| figure.supports.contains(&judged.claim.id)) {
                    (claim(judged, first(&judged.claim.id)))
                }
            }
        }
    }

    fn markup(&self, budget: &Budget) -> Markup {
        let shown: BTreeSet<&str> =
            self.figures.iter().flat_map(|(figure, _)| &figure.supports).map(String::as_str).collect();
        let rest: Vec<&Judged> =
            self.claims.iter().filter(|judged| !shown.contains(judged.claim.id.as_str())).collect();
        html! {
            h2 { (self.paper.cite) }
            @for reading in &self.paper.readings {
                p.lead { "Reading of " (reading.section) ": " code { (reading.set) } ". " (reading.why) }
            }
            @for (figure, drawn) in &self.figures {
                section {
                    h3 { (figure.place) ": " (figure.title) }
                    @for panel in &drawn.panels {
                        @let both = budget.takes(panel.picture.bytes().1);
                        (panel.picture.markup(both, &panel.caption()))
                    }
                    @if let Some(notes) = &figure.notes { p.lead { (notes) } }
                    (self.claims_of(figure))
                }
            }
            @if !rest.is_empty() {
                section {
                    h3 { "Other statements" }
                    ul.claims { @for judged in rest { (claim(judged, true)) } }
                }
            }
        }
    }
}

/// A claim; several figures may show it, and the first has its id.
fn claim(judged: &Judged, first: bool) -> Markup {
    html! {
        li id=[first.then_some(&judged.claim.id)] {
            span class=(format!("verdict {}", class(judged.verdict))) { (judged.verdict.words()) }
            " " (judged.claim.statement) " "
            span.rule { (judged.claim.place) ", " (judged.claim.id) }
            dl {
                dt { "stated" } dd { (judged.claim.stated) }
                @if !judged.measured.is_empty() { dt { "measured" } dd { (judged.measured) } }
                @if !judged.why.is_empty() { dt { "why" } dd { (judged.why) } }
                @if let Some(open) = &judged.claim.ambiguous { dt { "open" } dd { (open) } }
            }
        }
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::RefutedByNs2 => "refuted",
        Verdict::CannotBeJudged => "unjudged",
    }
}
