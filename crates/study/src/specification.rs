//! The specification that rules cite, docs/reference/algorithms.md, by its sections.

/// The whole of it.
pub const SPECIFICATION: &str = include_str!("../../../docs/reference/algorithms.md");
/// Where it stands.
pub const PLACE: &str = "docs/reference/algorithms.md";
/// Words before a number in a sentence that cites it.
const NAME: &str = "segue explain ";

/// A section of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// With its number, without marks.
    pub heading: &'static str,
    /// The text from there to the next heading.
    pub body: &'static str,
}

/// All sections, in order.
pub fn sections() -> impl Iterator<Item = Section> {
    SPECIFICATION.split("\n##").skip(1).filter_map(|text| {
        let (heading, body) = text.trim_start_matches('#').trim_start().split_once('\n')?;
        Some(Section { heading, body: body.trim_matches('\n') })
    })
}

/// The section of a number such as `2.4`.
pub fn section(number: &str) -> Option<Section> {
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_it = |heading: &str| {
        heading.strip_prefix(number).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with(". "))
    };
    sections().find(|section| is_it(section.heading))
}

/// An open point of the papers, such as 9.5, and our choice: a row of section 9.
pub fn open_point(number: &str) -> Option<(&'static str, &'static str)> {
    let row = |line: &'static str| line.strip_prefix("| ")?.strip_prefix(number)?.strip_prefix(" | ");
    let row = SPECIFICATION.lines().filter(|_| number.starts_with("9.")).find_map(row)?;
    row.trim_end_matches(" |").split_once(" | ")
}

/// Parts of a citation such as `A3: segue explain 2.4, A4: segue explain 9.5`: text, and whether it is the number of a
/// section or an open point.
pub fn cited(citation: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = citation;
    while let Some(found) = rest.find(NAME) {
        let (before, numbers) = rest.split_at(found + NAME.len());
        parts.push((before, false));
        rest = numbers;
        // Several are told apart by commas.
        loop {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = rest[..end].trim_end_matches('.');
            if section(number).is_none() && open_point(number).is_none() {
                break;
            }
            parts.push((number, true));
            rest = &rest[number.len()..];
            match rest.strip_prefix(", ") {
                Some(more) if more.starts_with(|c: char| c.is_ascii_digit()) => {
                    parts.push((", ", false));
                    rest = more;
                }
                _ => break,
            }
        }
    }
    if !rest.is_empty() {
        parts.push((rest, false));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_by_their_number() {
        let a3 = section("2.4").expect("a section");
        assert!(a3.heading.starts_with("2.4 A3: unused connection time"), "{}", a3.heading);
        assert!(a3.body.contains("retransmit snd_una") && !a3.body.contains("##"), "{}", a3.body);
        assert!(section("2").expect("a section").heading.starts_with("2. ETCP"));
        assert_eq!(section("99").or_else(|| section("")).or_else(|| section("A3")), None);
    }

    #[test]
    fn citations_come_apart_at_their_numbers() {
        let numbers = |citation: &str| -> Vec<String> {
            let parts = cited(citation);
            assert_eq!(parts.iter().map(|part| part.0).collect::<String>(), citation);
            parts.into_iter().filter(|part| part.1).map(|part| part.0.to_string()).collect()
        };
        assert_eq!(numbers("A3: segue explain 2.4, A4: segue explain 2.5"), ["2.4", "2.5"]);
        assert_eq!(numbers("first sample: segue explain 2.1, 2.5"), ["2.1", "2.5"]);
        assert_eq!(numbers("RFC 6298, 5.4 to 5.6; segue explain 1"), ["1"]);
        assert_eq!(
            numbers("No kind is named (segue explain 9.36, 9.37). See segue explain 2.1, 9.5;"),
            ["9.36", "9.37", "2.1", "9.5"]
        );
        assert_eq!(numbers("bench.md"), [""; 0]);
        assert_eq!(numbers("segue explain 9.99"), [""; 0], "there is no such row");
        assert_eq!(numbers("segue explain 99.9"), [""; 0], "there is no such section");
    }
}
