//! Words of files are forgiven their case and blanks after commas, as on the command line, and keys `-` in place of `_`. Links have their own rule
//! ([`segue_world::AccessLink::parse_forgiving`]), for they may name files.

use segue_words::quantity;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys whose texts are words of ours, in all files.
const KEYS: [&str; 23] = [
    "across",
    "address",
    "cc",
    "columns",
    "dead",
    "definition",
    "delay",
    "gateway",
    "horizontal",
    "kind",
    "neighbours",
    "notice",
    "notice_error",
    "of",
    "program",
    "rate",
    "schemes",
    "senders",
    "settings",
    "soft",
    "stack",
    "traffic",
    "vertical",
];

/// Keys of two words: plans of the laboratory join them by `-`, other files by `_`.
const OF_TWO_WORDS: [&str; 10] = [
    "agent_mtu",
    "bandwidth_error",
    "both_ways",
    "freeze_before",
    "lost_icmp",
    "lost_messages",
    "notice_error",
    "notice_loss",
    "told_rate",
    "warm_up",
];

/// The text with its words as they were meant, and keys of two words with this between them. All other octets keep their
/// places, so that faults can be pointed at.
pub(crate) fn forgiven(text: String, joint: char) -> String {
    let Ok(table) = DeTable::parse(&text) else { return text };
    let mut words = Vec::new();
    in_table(table.get_ref(), false, &mut words);
    let mut meant = text.clone();
    for key in table.get_ref().keys() {
        let written = &text[key.span()];
        if OF_TWO_WORDS.contains(&written.replace('-', "_").as_str()) {
            meant.replace_range(key.span(), &written.replace(['-', '_'], &joint.to_string()));
        }
    }
    for place in words {
        let written = &text[place.clone()];
        let is_bare = written.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if is_bare {
            let key = segue_words::forgiven(written);
            meant.replace_range(place, &key);
            continue;
        }
        let quote = written.chars().next().unwrap_or_default();
        let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        // A text over several lines, with escapes or in other letters is none of our words.
        let is_plain =
            ['"', '\''].contains(&quote) && inner.is_ascii() && !inner.contains(['\\', '"', '\'', '\n']);
        if is_plain && quantity::size(inner).is_none() {
            let word = format!("{quote}{}{quote}", segue_words::forgiven(inner));
            let blanks = " ".repeat(written.len() - word.len());
            meant.replace_range(place.clone(), &(word + &blanks));
        }
    }
    meant
}

/// The places of the texts in a table: all and the names of settings, or those under the keys above.
fn in_table(table: &DeTable, all: bool, words: &mut Vec<Range<usize>>) {
    for (key, value) in table.iter() {
        if all {
            words.push(key.span());
        }
        in_value(value, all || KEYS.contains(&key.get_ref().as_ref()), words);
    }
}

fn in_value(value: &Spanned<DeValue>, all: bool, words: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::String(_) if all => words.push(value.span()),
        DeValue::Array(values) => values.iter().for_each(|value| in_value(value, all, words)),
        DeValue::Table(table) => in_table(table, all, words),
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::forgiven;

    #[test]
    fn keys_are_joined_as_the_file_has_them() {
        let text = "warm-up = '1s'\nboth_ways = true\nx-y = 1\n[settings]\nwarm-up = 1\n";
        let with = |key: &str, joined: &str| text.replacen(key, joined, 1);
        assert_eq!(forgiven(text.into(), '_'), with("warm-up", "warm_up"));
        assert_eq!(forgiven(text.into(), '-'), with("both_ways", "both-ways"));
    }

    #[test]
    fn words_are_forgiven_and_all_else_keeps_its_place() {
        let text = "title = \"A B\" # Title\nold = 'trace:A.down, Up=B'\nkind = ['MBB', \"bbm\"]\n\
                    traffic = \"Download,  Video\" # both\n[settings]\nGuard-rto = 'On'\nsize = '100kB'\n\
                    [output]\njson = 'A.json'\n";
        let meant = forgiven(text.to_string(), '_');
        assert_eq!(
            meant,
            "title = \"A B\" # Title\nold = 'trace:A.down, Up=B'\nkind = ['mbb', \"bbm\"]\n\
             traffic = \"download,video\"   # both\n[settings]\nguard-rto = 'on'\nsize = '100kB'\n\
             [output]\njson = 'A.json'\n"
        );
        assert_eq!(meant.len(), text.len());
        // Longer than a format's width may be.
        let long = format!("notice = \"{}, B\"\n", "A".repeat(70_000));
        assert_eq!(forgiven(long.clone(), '_').len(), long.len());
        for text in ["kind = \"M\\u0042B\"\n", "kind = '''MBB'''\n", "kind = MBB\n", "schemes = \"Ä\"\n"] {
            assert_eq!(forgiven(text.to_string(), '_').len(), text.len(), "{text}");
        }
        // A text that is no TOML stays as it is.
        assert_eq!(forgiven("kind = MBB\n".into(), '_'), "kind = MBB\n");
    }
}
