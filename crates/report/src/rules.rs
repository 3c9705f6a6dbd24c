//! The rules that a page's stories cite: each citation leads to the section of the specification, which the page holds.

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

/// A citation; numbers of sections are links.
pub fn citation(citation: &str) -> Markup {
    html! {
        span.rule {
            "["
            @for (part, is_number) in specification::cited(citation) {
                @if is_number { a href=(format!("#{}", place(part))) { (part) } } @else { (part) }
            }
            "]"
        }
    }
}

/// Sections that citations name, each once, in their order in the specification; `None` if there are none.
pub fn cited<'a>(citations: impl Iterator<Item = &'a str>) -> Option<Markup> {
    let mut numbers: Vec<&str> = Vec::new();
    for (part, _) in citations.flat_map(specification::cited).filter(|(_, is_number)| *is_number) {
        if !numbers.contains(&part) {
            numbers.push(part);
        }
    }
    let place_in_text = |number: &&str| {
        let own = specification::section(number);
        specification::sections().position(|section| Some(section) == own)
    };
    numbers.sort_by_key(place_in_text);
    (!numbers.is_empty()).then(|| {
        html! {
            p.lead { "From " (specification::PLACE) "; " code { "segue explain 2.1" } " prints one." }
            ul.cited {
                @for number in numbers {
                    @if let Some(section) = specification::section(number) {
                        li id=(place(number)) {
                            details { summary { (section.heading) } pre tabindex="0" { (section.body) } }
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
}
