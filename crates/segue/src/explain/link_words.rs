//! Words of links, from the table of docs/reference/links.md.

use super::markdown::{hanging, without_links};

/// The page: its first table has a row for each word.
const LINKS: &str = include_str!("../../../../docs/reference/links.md");
const HEAD: &str = "| word | what the link does |";

/// Words as they are written, and what they do to a link.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows =
        LINKS.lines().skip_while(|line| *line != HEAD).skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
}

/// The word of a row: `loss` of `loss=1%`.
fn word_of(forms: &str) -> Option<&str> {
    forms.trim_start_matches('`').split(['=', '`']).next()
}

/// A word of links in all its forms, and what each does.
pub fn word(name: &str, width: usize) -> Option<String> {
    let name = name.trim_end_matches('=');
    let found: Vec<_> = entries().filter(|(forms, _)| word_of(forms) == Some(name)).collect();
    if found.is_empty() {
        return None;
    }
    let line = |(forms, does): &(&str, &str)| {
        let text =
            format!("{}: the link {}", forms.replace('`', ""), without_links(&does.replace('`', ""), ""));
        hanging("  ", &text, 4, width)
    };
    let head = format!("Word of links {name}, as in wlan,{}\n", example(found[0].0));
    Some(
        head + &found.iter().map(line).collect::<String>()
            + "  segue links lists all; docs/reference/links.md has the details\n",
    )
}

/// The first form of a row.
fn example(forms: &str) -> &str {
    forms.trim_start_matches('`').split('`').next().unwrap_or_default()
}

/// All words, for hints.
pub fn words() -> impl Iterator<Item = String> {
    entries().filter_map(|(forms, _)| word_of(forms)).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_world::access::WORDS;

    #[test]
    fn every_word_of_links_is_told() {
        for (name, forms) in WORDS {
            let told = word(name, 80).unwrap_or_default();
            let first = forms.split([',', ' ']).next().unwrap_or_default();
            assert!(told.contains(name) && told.contains("the link "), "{name}: {told}");
            assert!(first.starts_with(name), "{name}: {forms}");
            assert!(words().any(|word| word == name), "{name}");
        }
        assert!(
            word("loss", 80)
                .is_some_and(|told| told.contains("loses each packet") && told.contains("ge(p,r)"))
        );
        assert!(word("up", 80).is_some() && word("rate", 80).is_none() && word("", 80).is_none());
    }
}
