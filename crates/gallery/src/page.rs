//! The pages of `segue reproduce`: every figure, what its paper says about it, what was measured, the verdict. Several
//! papers have a page each, and one that leads to them.

use crate::buffers::{handoffs, senders_and_buffers};
use crate::figures::DrawnFigure;
use maud::{Markup, html};
use segue_report::pictures::Budget;
use segue_report::{Origin, page as html_page, rules};
use segue_reproduce::buffers::SendersAndBuffers;
use segue_reproduce::ledger::{Figure, Paper, Reading};
use segue_reproduce::papers::papers;
use segue_reproduce::run::ALL_POINTS;
use segue_reproduce::verdict::{Beside, Judged, Verdict};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// One paper in the gallery.
pub struct Exhibit<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// Its figures, drawn.
    pub figures: Vec<(&'a Figure, DrawnFigure)>,
    /// Its claims, judged.
    pub claims: Vec<Judged<'a>>,
}

/// How the gallery was made.
pub struct Making<'a> {
    /// Handoff times per bar.
    pub points: usize,
    /// Options of the command that a single figure needs as well, each behind a blank.
    pub options: String,
    /// The command, and the program.
    pub origin: &'a Origin,
}

/// The page that leads to the others.
const INDEX: &str = "index.html";
/// That of the table of senders and buffers.
const BUFFERS: &str = "senders-and-buffers.html";

/// Largest first page, bytes.
const LARGEST_INDEX: usize = 300_000;

/// Names and texts of the pages. A single paper is the index itself, unless it is large.
pub fn gallery_pages(
    exhibits: &[Exhibit],
    buffers: Option<&SendersAndBuffers>,
    making: &Making,
) -> Vec<(String, String)> {
    let budget = Budget::of_pictures;
    if let [exhibit] = exhibits {
        let content = html! {
            (exhibit.markup(&budget(), making, None))
            @if let Some(table) = buffers { (senders_and_buffers(table)) }
        };
        let page = html_page("Segue: a paper, run again", content);
        if page.len() <= LARGEST_INDEX {
            return vec![(INDEX.to_string(), page)];
        }
    }
    let index = html! {
        h1 { "Papers, run again" }
        (about(making))
        (few(exhibits, making))
        (summary(exhibits, true))
        @if buffers.is_some() {
            p { a href=(BUFFERS) { "Senders and buffers" } ": five senders beside four buffers of routers." }
        }
        p { "Beside each figure stand its numbers as CSV, and the command that draws it again." }
    };
    let mut pages = vec![(INDEX.to_string(), html_page("Segue: papers, run again", index))];
    pages.extend(exhibits.iter().map(|exhibit| {
        let content = exhibit.markup(&budget(), making, Some(INDEX));
        (page_of(exhibit.paper), html_page(&format!("Segue: {}", exhibit.paper.id), content))
    }));
    pages.extend(buffers.map(|table| {
        let content = html! { (back(INDEX)) (senders_and_buffers(table)) };
        (BUFFERS.to_string(), html_page("Segue: senders and buffers", content))
    }));
    pages
}

fn page_of(paper: &Paper) -> String {
    format!("{}.html", paper.id)
}

fn back(to: &str) -> Markup {
    html! { p { a href=(to) { "All papers" } } }
}

fn about(making: &Making) -> Markup {
    html! {
        p.lead {
            "Every figure redrawn and every statement judged on fresh simulations, " (handoffs(making.points))
            " for each bar (of a drive: as many seeds at most). Made by Segue " (making.origin.version)
            "; repeat it with " code.command { (making.origin.command) } "."
        }
    }
}

/// A warning where claims rest on too few handoffs for verdicts.
fn few(exhibits: &[Exhibit], making: &Making) -> Markup {
    let claims = || exhibits.iter().flat_map(|exhibit| &exhibit.claims);
    let few = claims().filter(|judged| judged.few).count();
    html! {
        @if few > 0 {
            p { strong { "A quick look: " (few) " of " (claims().count()) " statements have no verdict yet. "
                "These rest on " (making.points) " of " (ALL_POINTS) " handoff times, or on fewer seeds." } }
        }
    }
}

fn count(exhibits: &[Exhibit], verdict: Verdict) -> usize {
    exhibits
        .iter()
        .flat_map(|exhibit| &exhibit.claims)
        .filter(|judged| judged.settled() == Some(verdict))
        .count()
}

/// Verdicts by paper; `linked` to its page.
fn summary(exhibits: &[Exhibit], linked: bool) -> Markup {
    html! {
        div.table { table {
            thead { tr { th { "paper" } @for verdict in Verdict::ALL { th { (verdict.words()) } } } }
            tbody {
                @for exhibit in exhibits {
                    @let one = std::slice::from_ref(exhibit);
                    tr {
                        td {
                            @if linked {
                                a href=(page_of(exhibit.paper)) { (exhibit.paper.id) }
                                div.cite { (exhibit.paper.cite) }
                            }
                            @else { (exhibit.paper.id) }
                        }
                        @for verdict in Verdict::ALL { td { (count(one, verdict)) } }
                    }
                }
                @if exhibits.len() > 1 {
                    tr { td { "all" } @for verdict in Verdict::ALL { td { (count(exhibits, verdict)) } } }
                }
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

    fn markup(&self, budget: &Budget, making: &Making, up: Option<&str>) -> Markup {
        let shown: BTreeSet<&str> =
            self.figures.iter().flat_map(|(figure, _)| &figure.supports).map(String::as_str).collect();
        let rest: Vec<&Judged> =
            self.claims.iter().filter(|judged| !shown.contains(judged.claim.id.as_str())).collect();
        let texts = self.texts();
        let cited = rules::cited(texts.iter().map(String::as_str));
        budget.must_take(cited.as_ref().map_or(0, |cited| cited.0.len()));
        html! {
            @if let Some(up) = up { (back(up)) }
            h1 { (self.paper.cite) }
            (about(making))
            (few(std::slice::from_ref(self), making))
            (summary(std::slice::from_ref(self), false))
            (self.contents(!rest.is_empty(), cited.is_some()))
            p.filter {
                label { input type="checkbox" id="differing"; " only statements that do not hold, and their figures" }
            }
            @for reading in &self.paper.readings {
                p.lead {
                    "Reading of an open point (" (rules::linked(&citation(reading))) "): " code { (reading.set) } ". "
                    (prose(&reading.why))
                }
            }
            (self.benches())
            @for (figure, drawn) in &self.figures { (self.section(figure, drawn, budget, making)) }
            @if !rest.is_empty() {
                section id=(OTHER) {
                    h2 { "Other statements" }
                    ul.claims { @for judged in rest { (claim(judged, true)) } }
                }
            }
            @if let Some(cited) = cited {
                // No section: the filter does not hide it.
                h2 id=(rules::PLACE) { (CITED) }
                (cited)
            }
        }
    }

    /// Texts that may cite rules.
    fn texts(&self) -> Vec<String> {
        let readings =
            self.paper.readings.iter().flat_map(|reading| [citation(reading), reading.why.clone()]);
        let notes = self.figures.iter().filter_map(|(figure, _)| figure.notes.clone());
        let claims = self.claims.iter().flat_map(|judged| {
            let claim = judged.claim;
            let texts = [claim.statement.clone(), claim.stated.clone(), judged.why.to_string()];
            texts.into_iter().chain(claim.ambiguous.clone())
        });
        let benches = self.claims.first().into_iter().flat_map(|judged| &judged.beside);
        readings.chain(notes).chain(claims).chain(benches.map(|other| other.bench.why.clone())).collect()
    }

    /// How many claims hold on other benches, beside those that hold on this one.
    fn benches(&self) -> Markup {
        let holds = |verdict: Verdict| verdict == Verdict::Holds;
        let benches = self.claims.first().map_or(0, |judged| judged.beside.len());
        let on = |index: usize| {
            self.claims.iter().filter_map(move |judged| Some((judged, judged.beside.get(index)?)))
        };
        let count = |index: usize, before: Option<bool>, now: bool| {
            let as_asked = |(judged, other): &(&Judged, &Beside)| {
                holds(other.verdict) == now && before.is_none_or(|before| holds(judged.verdict) == before)
            };
            on(index).filter(as_asked).count()
        };
        html! {
            @if benches > 0 {
                h2 { "Other benches" }
                p.lead { "Papers leave parts of their bench open. Each row has all claims judged on another one." }
                div.table { table {
                    thead { tr {
                        th { "bench" } th.words { "settings" } th { "holds" } th { "gained" } th { "lost" }
                        th.words { "why" }
                    } }
                    tbody {
                        @for index in 0..benches {
                            @if let Some((_, first)) = on(index).next() {
                                tr {
                                    td { (first.bench.name) }
                                    td.words { code { (first.bench.set.join(" ")) } }
                                    td { (count(index, None, true)) }
                                    td { (count(index, Some(false), true)) }
                                    td { (count(index, Some(true), false)) }
                                    td.words { (prose(&first.bench.why)) }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }

    /// Links to the figures, with what became of their statements.
    fn contents(&self, others: bool, rules: bool) -> Markup {
        let verdicts = |figure: &Figure| {
            let of = |verdict: Verdict| {
                let judged = self.claims.iter().filter(|judged| figure.supports.contains(&judged.claim.id));
                judged.filter(|judged| judged.settled() == Some(verdict)).count()
            };
            let counts = Verdict::ALL.map(|verdict| (of(verdict), verdict)).into_iter();
            let counts =
                counts.filter(|(count, _)| *count > 0).map(|(count, verdict)| verdict.counted(count));
            counts.collect::<Vec<_>>().join(", ")
        };
        html! {
            nav.contents aria-label="Figures" {
                ul {
                    @for (figure, _) in &self.figures {
                        li {
                            a href=(format!("#{}", figure.id)) { (figure.place) } ": " (figure.title)
                            @let told = verdicts(figure);
                            @if !told.is_empty() { span.lead { " " (told) } }
                        }
                    }
                    @if others { li { a href=(format!("#{OTHER}")) { "Other statements" } } }
                    @if rules { li { a href=(format!("#{}", rules::PLACE)) { (CITED) } } }
                }
            }
        }
    }

    /// A figure with its numbers, its command and its statements.
    fn section(&self, figure: &Figure, drawn: &DrawnFigure, budget: &Budget, making: &Making) -> Markup {
        let name = format!("{} {}", self.paper.id, figure.id);
        html! {
            section id=(figure.id) {
                h2 { (figure.place) ": " (figure.title) }
                p.again {
                    a href=(format!("{}.csv", name.replace(' ', "-"))) { "numbers (CSV)" } " "
                    code.command { "segue reproduce " (name) (making.options) }
                }
                @for panel in &drawn.panels {
                    @let both = budget.takes(panel.picture.bytes().1);
                    (panel.picture.markup(both, &panel.caption()))
                }
                @if let Some(notes) = &figure.notes { p.lead { (prose(notes)) } }
                (self.claims_of(figure))
            }
        }
    }
}

/// The place of statements that no figure shows.
const OTHER: &str = "other-statements";
/// The heading of the rules that the page cites.
const CITED: &str = "Rules that this page cites";

/// Where the open point of a reading stands.
fn citation(reading: &Reading) -> String {
    format!("segue explain {}", reading.section)
}

/// A text of the ledger: code, links to the rules that it cites, and papers by their names in place of their numbers.
fn prose(text: &str) -> Markup {
    rules::linked_prose(&with_names(text))
}

/// Number and name of each paper.
static NAMES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let papers = papers().unwrap_or_default().into_iter();
    papers.map(|paper| (paper.number, paper.id)).collect()
});

/// A text in which `paper 000` and `000 Sec. 3.5` have the paper's name.
fn with_names(text: &str) -> String {
    let mut text = text.to_string();
    for (number, name) in NAMES.iter() {
        for word in ["Paper", "paper"] {
            text = text.replace(&format!("{word} {number}"), name);
        }
        for word in ["Sec.", "Fig."] {
            text = text.replace(&format!("{number} {word}"), &format!("{name} {word}"));
        }
    }
    text
}

/// A claim; several figures may show it, and the first has its id.
fn claim(judged: &Judged, first: bool) -> Markup {
    html! {
        li id=[first.then_some(&judged.claim.id)] class=(class(judged.verdict)) {
            // The colour of a verdict is for verdicts.
            @let badge = if judged.few { class(Verdict::CannotBeJudged) } else { class(judged.verdict) };
            span class=(format!("verdict {badge}")) { (judged.words()) }
            " " (prose(&judged.claim.statement)) " "
            span.place {
                (judged.claim.place) ", "
                a href=(format!("#{}", judged.claim.id)) { (judged.claim.id) }
            }
            dl {
                dt { "stated" } dd { (prose(&judged.claim.stated)) }
                @if !judged.measured.is_empty() { dt { "measured" } dd { (judged.measured) } }
                @if !judged.why.is_empty() { dt { "why" } dd { (prose(&judged.why)) } }
                @if let Some(open) = &judged.claim.ambiguous { dt { "open" } dd { (prose(open)) } }
                @for other in &judged.beside {
                    dt { (other.verdict.words()) }
                    dd { "on another bench, " (other.bench.name) ": " (other.measured) }
                }
            }
        }
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::BeyondTheBound => "beyond",
        Verdict::RefutedByNs2 => "refuted",
        Verdict::CannotBeJudged => "unjudged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_have_names_and_rules_are_links() {
        let page = |text| prose(text).into_string();
        assert_eq!(
            page("(paper 000 Sec. 3.5: 0.005 of `a1`)"),
            "(daniel-kojo-2009-multiflow Sec. 3.5: 0.005 of <code>a1</code>)"
        );
        assert_eq!(page("001 Sec. 5.2"), "daniel-kojo-2008-crosslayer Sec. 5.2");
        assert_eq!(page("see segue explain 9.5."), "see segue explain <a href=\"#rule-9.5\">9.5</a>.");
        // None of the ledger's texts has a number left.
        for paper in papers().expect("the ledger") {
            let texts =
                paper.claims.iter().flat_map(|claim| claim.ambiguous.iter().chain([&claim.statement]));
            for text in texts.map(|text| with_names(text)) {
                let number =
                    (0..=4).map(|number| format!("aper 00{number}")).find(|word| text.contains(word));
                assert_eq!(number, None, "{text}");
            }
        }
    }
}
