//! Where in a file something is wrong, and what, in one line.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

/// A file cannot be read or carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// There is nothing to read.
    #[error("cannot read {path}: {problem}; expected {expected}")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        problem: String,
        /// The kind of file that was expected.
        expected: &'static str,
    },
    /// Its content is wrong.
    #[error("{path}, line {line}, column {column}: {problem}")]
    Content {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// The fault, and what was expected.
        problem: String,
    },
}

/// Largest file, bytes.
const LARGEST: u64 = 4 << 20;

/// Kind of files of comparisons, sweeps and drives, for messages.
pub(crate) const SCENARIO: &str = "a scenario in TOML (segue run --schema)";

/// A file's name and text.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// Kind of the file, for messages.
    pub(crate) expected: &'static str,
}

impl Source {
    pub(crate) fn read(path: &str, expected: &'static str) -> Result<Self, FileError> {
        let unreadable = |problem| FileError::Unreadable { path: path.to_string(), problem, expected };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(in_words(&error)))?;
        if bytes.len() as u64 > LARGEST {
            return Err(unreadable(format!("more than {} MiB", LARGEST >> 20)));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| unreadable(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())))?;
        Ok(Self { path: path.to_string(), text, expected })
    }

    /// A problem at the beginning of `span`.
    pub(crate) fn at(&self, span: Range<usize>, problem: String) -> FileError {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        FileError::Content {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem,
        }
    }

    /// An error of the TOML library.
    pub(crate) fn of_toml(&self, error: &toml::de::Error) -> FileError {
        let end = self.text.len();
        self.at(error.span().unwrap_or(end..end), plain(error.message(), self.expected))
    }
}

/// The kinds of error that users meet, in plainer words than the library's.
fn in_words(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        kind => kind.to_string(),
    }
}

/// Words of the libraries that only programmers know, and what users would say.
const PLAINER: [(&str, &str); 13] = [
    ("missing field", "missing key"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("` as i128,", "`,"),
    ("expected usize", "expected a whole number"),
    ("expected u32", "expected a whole number up to 4294967295"),
    ("expected u64", "expected a whole number"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a boolean", "expected true or false"),
    ("expected a string", "expected text in quotes"),
    ("expected a map", "expected a table"),
    ("wanted string or table", "expected a word in quotes"),
];
/// The same, of messages that end with the name of a type.
const PLAINER_TO_THE_END: [(&str, &str); 2] =
    [("expected enum", "expected a word in quotes"), ("expected struct", "expected a table")];

/// The library's message as one line, in plain words, with the nearest valid word.
fn plain(message: &str, expected: &str) -> String {
    let mut line = message.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    for (words, plainer) in PLAINER {
        line = line.replace(words, plainer);
    }
    for (words, plainer) in PLAINER_TO_THE_END {
        if let Some(start) = line.find(words) {
            line.replace_range(start.., plainer);
        }
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
            line.push_str(&segue_words::did_you_mean(word, valid.iter().copied()));
        }
    }
    line
}
