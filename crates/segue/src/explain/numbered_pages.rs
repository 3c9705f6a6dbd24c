//! Rules of schemes that a page of ours defines, by the page's name and their numbers: `mobile 1.2`, `near 8.6`.

use super::markdown::{flowing, without_links};

/// A page with numbered rules.
struct Page {
    /// How the names of its schemes begin, and of its rules.
    name: &'static str,
    /// The name that a list of rules has for them.
    listed: &'static str,
    text: &'static str,
    place: &'static str,
}

/// All of them.
const PAGES: [Page; 2] = [
    Page {
        name: "mobile",
        listed: "the mobile alone",
        text: include_str!("../../../../docs/reference/mobile.md"),
        place: "docs/reference/mobile.md",
    },
    Page {
        name: "near",
        listed: "near",
        text: include_str!("../../../../docs/reference/near.md"),
        place: "docs/reference/near.md",
    },
];

/// The number at the beginning of a section (`## 3. Slots`) or of a rule, which is a paragraph (`3.1 At most`) or a row
/// of a table (`| 2.1 | ...`). `paragraph`: whether the line begins one.
fn number(line: &str, paragraph: bool) -> Option<&str> {
    let (head, is_section) = match line.strip_prefix("## ") {
        Some(head) => (head, true),
        None => (line.trim_start_matches("| "), false),
    };
    let (number, _) = head.split_once(' ')?;
    let plain = number.trim_end_matches('.');
    let is_number = plain.split('.').all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()));
    let is_rule = plain.contains('.') && number == plain && (paragraph || line.starts_with('|'));
    (is_number && (is_section || is_rule)).then_some(plain)
}

impl Page {
    /// The page of this scheme, or of the rule that begins so.
    fn of(name: &str) -> Option<&'static Self> {
        PAGES.iter().find(|page| name.starts_with(page.name))
    }

    /// Each line with its number, if it has one.
    fn lines(&self) -> impl Iterator<Item = (Option<&'static str>, &'static str)> + use<> {
        let before = std::iter::once("").chain(self.text.lines());
        before.zip(self.text.lines()).map(|(before, line)| (number(line, before.is_empty()), line))
    }

    /// Names of the first rule and of the last one.
    fn range(&self) -> Option<String> {
        let mut rules = self.lines().filter_map(|(number, _)| number.filter(|number| number.contains('.')));
        let (first, last) = (rules.next()?, rules.last()?);
        Some(format!("{0} {first} to {0} {last}", self.name))
    }

    /// The rule of that number, or the section without the rules that are paragraphs.
    fn text(&self, wanted: &str) -> Option<String> {
        let mut lines = self.lines().skip_while(|(number, _)| *number != Some(wanted));
        let (_, first) = lines.next()?;
        if first.starts_with('|') {
            return Some(self.row(first));
        }
        let rest = lines.take_while(|(number, line)| {
            !line.starts_with('#') && (number.is_none() || line.starts_with('|'))
        });
        let lines = std::iter::once(first.trim_start_matches("## ")).chain(rest.map(|(_, line)| line));
        Some(lines.collect::<Vec<_>>().join("\n").trim_end().to_string() + "\n")
    }

    /// A row of a table as a paragraph. The first cell has no heading, and the second names what is defined.
    fn row(&self, row: &str) -> String {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (heads, values) = cells.split_at(2.min(cells.len()));
        let example = values.get(1).map(|example| format!(" Example: {example}.")).unwrap_or_default();
        format!("{}: {}.{example}\n", heads.join(" "), values.first().unwrap_or(&""))
    }
}

/// The rule that `mobile 1.2` or `mobile 1.2, 1.4` names, as stories cite it.
pub fn rule(name: &str, width: usize) -> Option<String> {
    let page = Page::of(name)?;
    let numbers = name.strip_prefix(page.name)?.trim_start_matches(".md").strip_prefix(' ')?;
    let told = numbers.split(',').map(|number| page.text(number.trim()));
    let told: Option<Vec<String>> =
        told.map(|text| Some(flowing(&without_links(&text?, "docs/reference"), width))).collect();
    told.map(|told| told.join("\n") + &format!("  {}\n", page.place))
}

/// The rules of that number on all of these pages, each with its name.
pub fn everywhere(number: &str, width: usize) -> Vec<String> {
    let named = PAGES.iter().filter_map(|page| {
        let name = format!("{} {number}", page.name);
        Some(format!("{}  also: segue explain {name}\n", rule(&name, width)?))
    });
    named.collect()
}

/// The rules of a scheme of such a page.
pub fn rules_of(scheme: &str) -> Option<String> {
    Some(format!("  rules: segue explain {}\n", Page::of(scheme)?.range()?))
}

/// A line for each of these pages: whose rules they are, and their names.
pub fn overview() -> String {
    let line = |page: &Page| Some(format!("  rules of {}: {}\n", page.listed, page.range()?));
    PAGES.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_by_their_numbers() {
        let told = rule("mobile 1.2", 80).expect("a rule");
        assert!(told.starts_with("1.2 *At once.*") && !told.contains("1.3 *Then*"), "{told}");
        assert!(told.contains("RFC 6069") && told.ends_with("docs/reference/mobile.md\n"), "{told}");
        let several = rule("mobile 1.2, 1.4", 80).expect("two");
        assert!(several.contains("1.2 *At once.*") && several.contains("\n1.4 *Later.*"), "{several}");
        assert!(rule("mobile 3", 80).expect("a section").starts_with("3. Senders"));
        for none in ["mobile", "mobile 9.9", "mobile 1.2, 9.9", "mobile x", "1.2", "near", "near 10.1"] {
            assert!(rule(none, 80).is_none(), "{none}");
        }
        assert_eq!(
            rules_of("mobile-window").as_deref(),
            Some("  rules: segue explain mobile 1.1 to mobile 2.8\n")
        );
        assert!(rules_of("etcp").is_none());
        let [near] = &everywhere("8.5", 80)[..] else { panic!("one page has it") };
        assert!(near.starts_with("8.5 *Rounds.*"), "{near}");
        assert!(near.ends_with("  docs/reference/near.md\n  also: segue explain near 8.5\n"), "{near}");
        assert!(everywhere("10.9", 80).is_empty() && everywhere("x", 80).is_empty());
    }

    /// A rule may be a row of a table, and a section has its table.
    #[test]
    fn rules_in_tables_are_told() {
        let slot = rule("near 2.2", 80).expect("a rule");
        assert!(slot.starts_with("2.2 slot: 8 P / rate of the new link; "), "{slot}");
        assert!(slot.contains(" Example: 60 ms;"), "{slot}");
        let path = rule("near 2", 80).expect("a section");
        assert!(path.starts_with("2. The path\n") && path.contains("completion"), "{path}");
        assert!(rule("near 3.1", 80).expect("a rule").contains("* Example: 14 packets."));
        assert_eq!(rules_of("near").as_deref(), Some("  rules: segue explain near 1.1 to near 8.13\n"));
    }

    #[test]
    fn lines_fit() {
        for page in &PAGES {
            for number in page.lines().filter_map(|(number, _)| number) {
                let told = rule(&format!("{} {number}", page.name), 80).expect(number);
                assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
            }
        }
    }
}
