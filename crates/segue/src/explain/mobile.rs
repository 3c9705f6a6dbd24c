//! Rules of a mobile whose servers know nothing of handoffs, docs/reference/mobile.md, by their numbers.

use super::markdown::{flowing, without_links};

const RULES: &str = include_str!("../../../../docs/reference/mobile.md");
const PLACE: &str = "docs/reference/mobile.md";

/// How the names of its schemes begin, and of its rules.
const NAME: &str = "mobile";

/// The number that a line begins with, if it begins a rule or a section: `1.2` or `## 3. `.
fn number(line: &str) -> Option<&str> {
    let (number, rest) = line.trim_start_matches("## ").split_once(' ')?;
    let is_section = line.starts_with("## ") && number.ends_with('.');
    let number = number.trim_end_matches('.');
    let is_number =
        number.split('.').all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()));
    let is_rule = rest.starts_with('*') && number.contains('.');
    (is_number && (is_section || is_rule)).then_some(number)
}

/// The rule of that number, or the text of that section before its first rule.
fn text(wanted: &str) -> Option<String> {
    let mut lines = RULES.lines().skip_while(|line| number(line) != Some(wanted));
    let first = lines.next()?;
    let rest = lines.take_while(|line| number(line).is_none() && !line.starts_with('#'));
    let lines: Vec<&str> = std::iter::once(first.trim_start_matches("## ")).chain(rest).collect();
    Some(lines.join("\n").trim_end().to_string() + "\n")
}

/// The rule that `mobile 1.2` or `mobile 1.2, 1.4` names, as stories cite it.
pub fn rule(name: &str, width: usize) -> Option<String> {
    let numbers = name.strip_prefix(NAME)?.trim_start_matches(".md").strip_prefix(' ')?;
    let told = numbers.split(',').map(|number| text(number.trim()));
    let told: Option<Vec<String>> =
        told.map(|text| Some(flowing(&without_links(&text?, "docs/reference"), width))).collect();
    told.map(|told| told.join("\n") + &format!("  {PLACE}\n"))
}

/// The rules of a scheme of that page.
pub fn rules_of(scheme: &str) -> Option<String> {
    let rules: Vec<&str> = RULES.lines().filter_map(number).filter(|number| number.contains('.')).collect();
    let (first, last) = (rules.first()?, rules.last()?);
    scheme.starts_with(NAME).then(|| format!("  rules: segue explain mobile {first} to mobile {last}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_by_their_numbers() {
        let told = rule("mobile 1.2", 80).expect("a rule");
        assert!(told.starts_with("1.2 *At once.*") && !told.contains("1.3 *Then*"), "{told}");
        assert!(told.contains("RFC 6069") && told.ends_with(&format!("{PLACE}\n")), "{told}");
        let several = rule("mobile 1.2, 1.4", 80).expect("two");
        assert!(several.contains("1.2 *At once.*") && several.contains("\n1.4 *Later.*"), "{several}");
        assert!(rule("mobile 3", 80).expect("a section").starts_with("3. Senders"));
        for none in ["mobile", "mobile 9.9", "mobile 1.2, 9.9", "mobile x", "1.2"] {
            assert!(rule(none, 80).is_none(), "{none}");
        }
        assert_eq!(
            rules_of("mobile-window").as_deref(),
            Some("  rules: segue explain mobile 1.1 to mobile 2.8\n")
        );
        assert!(rules_of("etcp").is_none());
    }

    #[test]
    fn lines_fit() {
        for number in RULES.lines().filter_map(number) {
            let told = rule(&format!("mobile {number}"), 80).expect(number);
            assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
        }
    }
}
