//! The rules that a page cites. Each citation leads to the section of the specification, which the page holds, or to the
//! row of an open point.

use crate::page::{prose, prose_with};
use maud::{Markup, html};
use segue_study::specification;

/// The place of the list in a page.
pub const PLACE: &str = "rules";
/// The heading above it.
pub const HEADING: &str = "Rules that the stories cite";
/// Bytes that the list has at most: the specification is not longer.
pub const MOST: usize = specification::SPECIFICATION.len();

fn place(number: &str) -> String {
    format!("rule-{number}")
}

/// A text in which numbers that it cites are links.
pub fn linked(text: &str) -> Markup {
    html! {
        @for (part, is_number) in specification::cited(text) {
            @if is_number { a href=(format!("#{}", place(part))) { (part) } } @else { (part) }
        }
    }
}

/// The same of a text in which backticks enclose code.
pub fn linked_prose(text: &str) -> Markup {
    prose_with(text, linked)
}

/// A citation; numbers of sections are links.
pub fn citation(citation: &str) -> Markup {
    html! { span.rule { "[" (linked(citation)) "]" } }
}

/// Sections that citations name, each once, in their order in the specification; `None` if there are none.
pub fn cited<'a>(citations: impl Iterator<Item = &'a str>) -> Option<Markup> {
    let mut numbers: Vec<&str> = Vec::new();
    for (part, _) in citations.flat_map(specification::cited).filter(|(_, is_number)| *is_number) {
        if !numbers.contains(&part) {
            numbers.push(part);
        }
    }
    // Sections and open points are numbered in their order.
    numbers
        .sort_by_key(|number| number.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>());
    (!numbers.is_empty()).then(|| {
        html! {
            p.lead {
                "From " (specification::PLACE) "; " code { "segue explain 2.1" } " prints one. Papers have numbers there: "
                code { "segue explain 000" } " names one."
            }
            ul.cited {
                @for number in numbers {
                    @if let Some(section) = specification::section(number) {
                        li id=(place(number)) {
                            details { summary { (prose(section.heading)) } pre tabindex="0" { (section.body) } }
                        }
                    } @else if let Some((point, choice)) = specification::open_point(number) {
                        li id=(place(number)) {
                            details { summary { (number) ". " (prose(point)) } p { "Choice: " (prose(choice)) } }
                        }
                    }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_citation_leads_to_its_section() {
        let a3 = "A3: segue explain 2.4, A4: segue explain 2.5";
        let link = citation(a3).into_string();
        assert!(link.contains("segue explain <a href=\"#rule-2.4\">2.4</a>, A4"), "{link}");
        let list = cited([a3, "RFC 6298, 5.4 to 5.6; segue explain 1", a3, "bench.md"].into_iter());
        let list = list.expect("some are cited").into_string();
        for (number, times) in [("1", 1), ("2.4", 1), ("2.5", 1)] {
            assert_eq!(list.matches(&format!("id=\"rule-{number}\"")).count(), times, "{number}: {list}");
        }
        assert!(list.find("rule-1\"") < list.find("rule-2.4\""), "in the order of the text");
        assert!(list.contains("retransmit snd_una") && list.len() < MOST);
        assert!(cited(["bench.md"].into_iter()).is_none());
    }

    /// They are rows of a table, not sections.
    #[test]
    fn open_points_are_cited_too() {
        let text =
            "No kind is named (segue explain 9.36, 9.37). See segue explain 2.1, 9.5; segue explain 9.99.";
        let list = cited([text].into_iter()).expect("four are cited").into_string();
        assert!(list.contains("<li id=\"rule-9.5\">") && list.contains("keep current rto until"), "{list}");
        let places = ["2.1", "9.5", "9.36"].map(|number| list.find(&format!("rule-{number}\"")));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
        let summaries = list.split("<summary>").skip(1).filter_map(|rest| rest.split("</summary>").next());
        let summaries: Vec<&str> = summaries.collect();
        assert!(
            summaries.len() == 4 && summaries.iter().all(|summary| !summary.contains('`')),
            "{summaries:?}"
        );
        assert!(summaries[0].contains("<code>in_rto</code>"), "{summaries:?}");
    }
}
