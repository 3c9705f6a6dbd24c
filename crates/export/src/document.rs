//! The JSON document of a comparison, read again.

use crate::Provenance;
use segue_study::Row;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

/// The JSON document of `compare --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document<R = Row> {
    /// Version of the contract.
    pub version: u32,
    /// One row per direction, kind, flow count and scheme.
    pub rows: Vec<R>,
    /// Notes for readers of the rows: stacks that were not validated against a kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Where it comes from; results of older programs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Provenance>,
}

/// The expected document, for messages.
const EXPECTED: &str = "expected a result of segue compare --json";

/// A result cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// There is nothing to read.
    #[error("cannot read {path}: {problem}; {EXPECTED}, or - for standard input")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        problem: String,
    },
    /// It is not JSON.
    #[error("{path}, line {line}, column {column}: not JSON: {problem}; {EXPECTED}")]
    Syntax {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The fault.
        problem: String,
    },
    /// It is JSON, but no comparison.
    #[error("{path}, line {line}, column {column}: not a comparison: {problem}; {EXPECTED}")]
    Content {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The fault.
        problem: String,
    },
    /// A contract that this program does not know.
    #[error("{path}: version {version} of the contract; expected version 1")]
    Version {
        /// The file.
        path: String,
        /// As the file has it.
        version: String,
    },
    /// A comparison of nothing.
    #[error("{path}: the comparison has no rows; expected at least one")]
    Empty {
        /// The file.
        path: String,
    },
}

/// The largest document that is read, bytes: a quarter of a million rows.
const LARGEST: u64 = 256 << 20;

/// The field that is read first: another version may have other rows.
#[derive(Deserialize)]
struct Version {
    version: serde_json::Value,
}

/// The field that only a comparison has.
#[derive(Deserialize)]
struct Rows {
    rows: IgnoredAny,
}

impl<R: DeserializeOwned> Document<R> {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &str) -> Result<Self, DocumentError> {
        Self::parse(&read_document(path)?, if path == "-" { "standard input" } else { path })
    }

    /// Reads text; `name` is for messages.
    pub fn parse(text: &[u8], name: &str) -> Result<Self, DocumentError> {
        let fail = |error: serde_json::Error| in_place(&error, name);
        let path = || name.to_string();
        // By itself the library would take a list for an object without names.
        let _: BTreeMap<String, IgnoredAny> = serde_json::from_slice(text).map_err(fail)?;
        // It is JSON: what is wrong from here on is its content.
        let fail = |error: serde_json::Error| match in_place(&error, name) {
            DocumentError::Syntax { path, line, column, problem } => {
                DocumentError::Content { path, line, column, problem }
            }
            other => other,
        };
        let Version { version } = serde_json::from_slice(text).map_err(fail)?;
        if version != 1 {
            // It may be anything, of any length.
            let version = version.to_string().chars().take(40).collect();
            return Err(DocumentError::Version { path: path(), version });
        }
        // Other documents have an `origin`, too, but of another form: that would not tell what is wrong.
        let Rows { rows: IgnoredAny } = serde_json::from_slice(text).map_err(fail)?;
        let document: Self = serde_json::from_slice(text).map_err(fail)?;
        if document.rows.is_empty() {
            return Err(DocumentError::Empty { path: path() });
        }
        Ok(document)
    }
}

/// The bytes of a document in a file, or on standard input for `-`.
///
/// Errors: it cannot be read, or is too large.
pub fn read_document(path: &str) -> Result<Vec<u8>, DocumentError> {
    let (name, bytes) = match path {
        "-" => ("standard input", read_all(io::stdin().lock())),
        path => (path, File::open(path).and_then(read_all)),
    };
    let unreadable = |problem| DocumentError::Unreadable { path: name.to_string(), problem };
    let bytes = bytes.map_err(|problem| unreadable(in_words(&problem)))?;
    if bytes.len() as u64 > LARGEST {
        return Err(unreadable(format!("more than {} MiB", LARGEST >> 20)));
    }
    Ok(bytes)
}

/// The command behind JSON of ours that is no comparison. It is the log of a trace, whose first line has its origin, or a
/// document without rows.
pub fn command_of_another(bytes: &[u8]) -> Option<String> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<serde_json::Value>();
    let first = values.next()?.ok()?;
    let command = first["origin"]["command"].as_str()?;
    first.get("rows").is_none().then(|| command.to_string())
}

fn read_all(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The kinds of error that users meet, in plainer words than the library's.
fn in_words(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        kind => kind.to_string(),
    }
}

/// The library's words for a fault, without names of its types.
fn plain(category: Category, words: &str) -> String {
    match category {
        Category::Eof => "it ends too early".into(),
        Category::Io | Category::Syntax => "a character that JSON does not allow here".into(),
        Category::Data => {
            match words.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected ")) {
                None => words.into(),
                Some((found, wanted)) => {
                    let found = match found.split_once(' ').unwrap_or((found, "")) {
                        ("sequence", _) => "a list".into(),
                        ("map", _) => "an object".into(),
                        ("string", text) => format!("the text {text}"),
                        ("integer" | "floating", number) => {
                            format!("the number {}", number.trim_start_matches("point ").trim_matches('`'))
                        }
                        _ => found.to_string(),
                    };
                    let wanted = match wanted {
                        "a string" => "text",
                        "a sequence" => "a list",
                        "a boolean" => "true or false",
                        word if word.starts_with(['u', 'i', 'f'])
                            && word.ends_with(|c: char| c.is_ascii_digit()) =>
                        {
                            "a number"
                        }
                        word if word.contains("map") || word.starts_with("struct ") => "an object",
                        _ => "something else",
                    };
                    format!("found {found} in place of {wanted}")
                }
            }
        }
    }
}

fn in_place(error: &serde_json::Error, name: &str) -> DocumentError {
    // The library has none before the first character.
    let (path, line, column) = (name.to_string(), error.line(), error.column().max(1));
    // The library ends its message with the place, which stands at the front here.
    let text = error.to_string();
    let place = format!(" at line {line} column {}", error.column());
    let problem = plain(error.classify(), text.strip_suffix(&place).unwrap_or(&text));
    match error.classify() {
        Category::Data => DocumentError::Content { path, line, column, problem },
        Category::Io | Category::Syntax | Category::Eof => {
            DocumentError::Syntax { path, line, column, problem }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A faulty document, and a part of the message.
    #[test]
    fn bad_documents_say_where_and_what_was_expected() {
        let bad: [(&str, &str); 10] = [
            ("", "f, line 1, column 1: not JSON: it ends too early"),
            (
                "{\"version\":1,\n\"rows\":[}",
                "f, line 2, column 9: not JSON: a character that JSON does not allow here",
            ),
            ("{\"version\":1,\"rows\":[", "not JSON: it ends too early"),
            ("\u{feff}{}", "f, line 1, column 1: not JSON"),
            ("old,new,kind\n", "f, line 1, column 1: not JSON"),
            ("[1, []]", "not a comparison: found a list in place of an object"),
            ("{\"rows\":[]}", "not a comparison: missing field `version`"),
            ("{\"version\":2,\"pairs\":[]}", "f: version 2 of the contract; expected version 1"),
            ("{\"version\":1,\"rows\":[]}", "f: the comparison has no rows"),
            ("{\"version\":1,\"rows\":[{\"old\":\"wlan\"}]}", "not a comparison: missing field `new`"),
        ];
        for (text, part) in bad {
            let message = Document::<Row>::parse(text.as_bytes(), "f").unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("expected"), "{text}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
        assert!(Document::<Row>::parse(b"{\"version\":1,\"rows\":[\"\xff\"]}", "f").is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (path, part) in [
            ("/nowhere/x.json", "there is no such file"),
            (folder.path().to_str().unwrap(), "is a directory"),
        ] {
            let message = Document::<Row>::read(path).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains(path), "{message}");
        }
    }
}
