//! Text files that users write: how they are read, where a fault is, and the TOML library's messages in plain words.

use crate::did_you_mean;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The beginning of a table in Parquet.
const PARQUET: &[u8] = b"PAR1";

/// Reads a file of UTF-8, of at most `largest` MiB.
///
/// # Errors
/// The fault, without the file's name.
pub fn read(path: &Path, largest: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take((largest << 20) + 1).read_to_end(&mut bytes))
        .map_err(|error| in_words(&error))?;
    if bytes.starts_with(PARQUET) {
        return Err("this is Parquet, perhaps a result".into());
    }
    if bytes.len() as u64 > largest << 20 {
        return Err(format!("more than {largest} MiB"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

/// The kinds of error that users meet in reading a file, in plainer words than the system's.
pub fn in_words(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        io::ErrorKind::InvalidData => "it is not text in UTF-8".into(),
        // A size that is refused says which.
        io::ErrorKind::FileTooLarge if problem.get_ref().is_some() => problem.to_string(),
        kind => kind.to_string(),
    }
}

/// Line and column of the byte at `offset`, both from 1; columns are characters.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// Words of the libraries that only programmers know, and what users would say.
const PLAINER: [(&str, &str); 17] = [
    ("missing field", "missing key"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("` as i128,", "`,"),
    ("expected usize", "expected a whole number"),
    ("expected u8", "expected a whole number up to 255"),
    ("expected u16", "expected a whole number up to 65535"),
    ("expected u32", "expected a whole number up to 4294967295"),
    ("expected u64", "expected a whole number"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a boolean", "expected true or false"),
    ("expected a string", "expected text in quotes"),
    ("expected a map", "expected a table"),
    ("expected a sequence", "expected a list in [ ], or tables below headings in [[ ]]"),
    ("expected path string", "expected a path in quotes"),
    ("wanted string or table", "expected a word in quotes"),
];
/// The same, of messages that end with the name of a type.
const PLAINER_TO_THE_END: [(&str, &str); 2] =
    [("expected enum", "expected a word in quotes"), ("expected struct", "expected a table")];

/// `invalid type: integer `15`, expected true or false`, as users would say it; `None`: it is another message.
fn misfit(line: &str) -> Option<String> {
    let rest = line.strip_prefix("invalid type:").or_else(|| line.strip_prefix("invalid value:"))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let found = found.trim_start_matches([';', ' ']);
    let found = match found.split_once(' ') {
        Some(("integer", value)) => format!("the number {}", value.trim_matches('`')),
        Some(("floating", value)) => {
            format!("the number {}", value.trim_start_matches("point ").trim_matches('`'))
        }
        Some(("boolean", value)) => format!("the word {} without quotes", value.trim_matches('`')),
        Some(("string", value)) => format!("the text {value}"),
        _ => match found {
            "sequence" => "a list".to_string(),
            "map" => "a table".to_string(),
            other => other.to_string(),
        },
    };
    Some(format!("found {found}; expected {expected}"))
}

/// The message for a key that stands twice in one table.
pub fn twice(key: &str) -> String {
    let (joined, parted) = (key.replace('-', "_"), key.replace('_', "-"));
    let same = if joined == parted {
        String::new()
    } else {
        format!(": `{joined}` and `{parted}` are the same key")
    };
    format!("duplicate key `{key}`{same}; expected it once")
}

/// A message of the TOML library as one line, in plain words, with the nearest valid word. `expected`: the kind of file.
pub fn plain(message: &str, expected: &str) -> String {
    let mut line = message.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    for (words, plainer) in PLAINER {
        line = line.replace(words, plainer);
    }
    for (words, plainer) in PLAINER_TO_THE_END {
        if let Some(start) = line.find(words) {
            line.replace_range(start.., plainer);
        }
    }
    if let Some(found) = misfit(&line) {
        line = found;
    }
    if !line.contains("expected") {
        line.push_str(&format!("; expected {expected}"));
    }
    // "unknown field `flow`, expected one of `title`, `old`, ...": every second part is in quotes.
    if line.starts_with("unknown field") || line.starts_with("unknown variant") {
        line =
            line.replacen("unknown field", "unknown key", 1).replacen("unknown variant", "unknown word", 1);
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if let Some((word, valid)) = quoted.split_first() {
            line.push_str(&did_you_mean(word, valid.iter().copied()));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let text = "a = 1\n\nschön = 2";
        assert_eq!((place(text, 0), place(text, 5)), ((1, 1), (1, 6)));
        assert_eq!((place(text, 6), place(text, text.find('2').expect("there"))), ((2, 1), (3, 9)));
        assert_eq!(place(text, 99), (3, 10), "beyond the end");
    }

    #[test]
    fn a_key_that_stands_twice_is_named() {
        assert_eq!(twice("seed"), "duplicate key `seed`; expected it once");
        let said = "duplicate key `warm_up`: `warm_up` and `warm-up` are the same key; expected it once";
        assert_eq!(twice("warm_up"), said);
    }

    #[test]
    fn messages_are_plain_and_say_what_was_expected() {
        let said = plain("unknown field `flow`, expected one of `title`, `flows`", "a plan");
        assert_eq!(said, "unknown key `flow`, expected one of `title`, `flows`; did you mean `flows`?");
        assert_eq!(plain("missing field `old`", "a plan"), "missing key `old`; expected a plan");
        for (said, meant) in [
            ("type:\n  integer `1`, expected u64", "the number 1; expected a whole number"),
            ("value: integer `300`, expected u8", "the number 300; expected a whole number up to 255"),
            (
                "type: floating point `1.5`, expected u16",
                "the number 1.5; expected a whole number up to 65535",
            ),
            (
                "type: boolean `true`, expected a string",
                "the word true without quotes; expected text in quotes",
            ),
            (
                "type: string \"a, b\", expected a sequence",
                "the text \"a, b\"; expected a list in [ ], or tables below headings in [[ ]]",
            ),
            ("type: sequence, expected path string", "a list; expected a path in quotes"),
            ("type: map, expected a boolean", "a table; expected true or false"),
            ("type: integer `1`, expected struct Inner", "the number 1; expected a table"),
        ] {
            assert_eq!(plain(&format!("invalid {said}"), ""), format!("found {meant}"));
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_told() {
        assert_eq!(read(Path::new("/nowhere/a.toml"), 1), Err("there is no such file".into()));
        let endless = read(Path::new("/dev/zero"), 1);
        assert_eq!(endless, Err("more than 1 MiB".into()));
    }
}
