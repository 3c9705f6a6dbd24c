//! Words of the glossary, and headings of tables that are no measures of a comparison.

use super::markdown::{hanging, without_links};

/// The glossary: a table with a row for each word.
const GLOSSARY: &str = include_str!("../../../../docs/reference/glossary.md");
/// Where pages lie that it links to.
const FOLDER: &str = "docs/reference";

/// Words and meanings.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = GLOSSARY.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
}

/// Names of an entry: `break-before-make (BBM)` and `RTT, SRTT` are two each.
fn names_of(words: &str) -> impl Iterator<Item = &str> {
    let parts = words.split([',', '(']).map(|part| part.trim_end_matches(')').trim());
    std::iter::once(words).chain(parts)
}

/// The meaning of a word, in any case, one or several of them.
pub fn word(name: &str, width: usize) -> Option<String> {
    let name = name.to_lowercase();
    let one = name.strip_suffix('s').unwrap_or(&name);
    let is_it =
        |words: &str| names_of(words).any(|word| [&name, one].contains(&word.to_lowercase().as_str()));
    let (words, meaning) = entries().find(|(words, _)| is_it(words))?;
    Some(hanging(&format!("Word {words}: "), &without_links(meaning, FOLDER), 2, width))
}

/// All words, for hints.
pub fn words() -> impl Iterator<Item = String> {
    entries().flat_map(|(words, _)| names_of(words).skip(1)).map(str::to_string)
}

/// Columns of tables that have headings of their own.
fn tables() -> Vec<(&'static str, &'static [(&'static str, &'static str)])> {
    vec![
        ("segue compare --traffic", &crate::traffic_table::COLUMNS),
        #[cfg(feature = "files")]
        ("segue run, of drives", &crate::drive::COLUMNS),
        #[cfg(feature = "live")]
        ("segue lab run", &crate::lab_table::COLUMNS),
    ]
}

/// The meanings of a heading, one for each table that has it.
pub fn heading(name: &str, width: usize) -> Vec<String> {
    let tell = |(table, columns): (&str, &[(&str, &str)])| {
        let (heading, meaning) = columns.iter().find(|(heading, _)| *heading == name)?;
        Some(hanging(&format!("Column {heading} of {table}: "), meaning, 2, width))
    };
    tables().into_iter().filter_map(tell).collect()
}

/// All headings, for hints.
pub fn headings() -> impl Iterator<Item = String> {
    tables().into_iter().flat_map(|(_, columns)| columns).map(|(heading, _)| heading.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_several_names() {
        for name in ["BBM", "bbm", "break-before-make", "break-before-make (BBM)"] {
            let told = word(name, 80).unwrap_or_default();
            assert!(
                told.starts_with("Word break-before-make (BBM): a handoff with an outage"),
                "{name}: {told}"
            );
        }
        assert_eq!(word("SRTT", 80), word("rtt", 80));
        assert!(word("", 80).is_none() && word("word", 80).is_none() && word("---", 80).is_none());
        assert!(word("drive", 80).is_some_and(|told| told.contains("(docs/guide/drives.md)")));
    }

    #[test]
    fn every_word_and_heading_is_told() {
        assert!(words().count() > 45);
        words().for_each(|name| assert!(word(&name, 80).is_some(), "{name}"));
        headings().for_each(|name| assert!(!heading(&name, 80).is_empty(), "{name}"));
    }
}
