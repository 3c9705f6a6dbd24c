//! Where in a file something is wrong, and what, in one line.

use crate::forgiven::forgiven;
use segue_words::text;
use segue_world::AccessLink;
use segue_world::access::LinkNames;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

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

/// Largest file, MiB.
const LARGEST_MIB: u64 = 4;

/// Kind of files of comparisons, sweeps and drives, for messages.
pub(crate) const SCENARIO: &str = "a scenario in TOML (segue run --schema)";

/// Kind of the laboratory's files, for messages.
pub(crate) const PLAN: &str = "a laboratory's plan in TOML";

/// The letter between the words of a key in files of this kind: `warm-up` or `warm_up`.
fn joint(expected: &str) -> char {
    if expected == PLAN { '-' } else { '_' }
}

/// A file's name and text, and what names its links may have.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// Kind of the file, for messages.
    pub(crate) expected: &'static str,
    /// Names of links beside those of the presets.
    pub(crate) names: LinkNames,
}

impl Source {
    pub(crate) fn read(path: &str, expected: &'static str) -> Result<Self, FileError> {
        let text = text::read(Path::new(path), LARGEST_MIB);
        let text =
            text.map_err(|problem| FileError::Unreadable { path: path.to_string(), problem, expected })?;
        Ok(Self::of(path, &text, expected))
    }

    /// Text that was read elsewhere.
    pub(crate) fn of(path: &str, text: &str, expected: &'static str) -> Self {
        Self {
            path: path.into(),
            text: forgiven(text.into(), joint(expected)),
            expected,
            names: LinkNames::default(),
        }
    }

    /// The same file where links have these names, too.
    pub(crate) fn with(self, names: &LinkNames) -> Self {
        Self { names: names.clone(), ..self }
    }

    /// A link of the file. The paths of its traces start from the file's folder.
    pub(crate) fn link(&self, text: &Spanned<String>) -> Result<AccessLink, FileError> {
        let folder = Path::new(&self.path).parent().unwrap_or(Path::new(""));
        AccessLink::parse_forgiving(text.get_ref(), folder, &self.names)
            .map_err(|error| self.at(text.span(), error.to_string()))
    }

    /// A problem at the beginning of `span`.
    pub(crate) fn at(&self, span: Range<usize>, problem: String) -> FileError {
        let (line, column) = text::place(&self.text, span.start);
        FileError::Content { path: self.path.clone(), line, column, problem }
    }

    /// An error of the TOML library.
    pub(crate) fn of_toml(&self, error: &toml::de::Error) -> FileError {
        if let Some(kind) = kind_of_result(&self.text) {
            return self.at(0..0, format!("this is {kind}, perhaps a result; expected {}", self.expected));
        }
        let end = self.text.len();
        let span = error.span().unwrap_or(end..end);
        let problem = match self.text.get(span.clone()) {
            Some(key) if error.message() == "duplicate key" => text::twice(key),
            _ => text::plain(error.message(), self.expected),
        };
        self.at(span, problem)
    }
}

/// The kind of file that holds a result, by its beginning.
fn kind_of_result(text: &str) -> Option<&'static str> {
    let first = text.trim_start();
    let page = first.get(..9).is_some_and(|begin| begin.eq_ignore_ascii_case("<!doctype"));
    let head = first.lines().find(|line| !line.starts_with('#'));
    let table = head.is_some_and(|line| line.split(',').any(|column| column == "scheme"));
    let kinds = [(first.starts_with('{'), "JSON"), (page, "a page"), (table, "CSV")];
    kinds.into_iter().find_map(|(is_it, kind)| is_it.then_some(kind))
}
