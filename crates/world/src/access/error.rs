//! Faults in a link that a user wrote.

use segue_netsim::TraceError;

/// Faults in a link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Neither RATE/DELAY nor a preset nor a trace.
    #[error(
        "unknown link `{text}`; expected RATE/DELAY such as 6400kbit/9ms, trace:PATH, or one of {presets}{hint}"
    )]
    Unknown {
        /// The word.
        text: String,
        /// The presets.
        presets: String,
        /// The nearest preset, in words.
        hint: String,
    },
    /// A number with a unit is malformed.
    #[error("link `{link}`: bad {what} `{word}`; expected {expected}")]
    Quantity {
        /// The link.
        link: String,
        /// rate, delay, queue, ...
        what: &'static str,
        /// The word.
        word: String,
        /// The valid form and range, and the nearest word if there is one.
        expected: String,
    },
    /// A word that does not exist.
    #[error("link `{link}`: unknown option `{word}`; expected one of {expected}{hint}")]
    Option {
        /// The link.
        link: String,
        /// The word.
        word: String,
        /// The valid ones.
        expected: String,
        /// The nearest of them, or its form, in words.
        hint: String,
    },
    /// A queueing discipline that does not exist.
    #[error(
        "link `{link}`: unknown queue `{word}`; expected droptail, codel, fq_codel, pie, red, or a length such as 100p, \
         100ms or 2bdp{hint}"
    )]
    Queue {
        /// The link.
        link: String,
        /// The word.
        word: String,
        /// The nearest one, in words.
        hint: String,
    },
    /// Words that contradict each other, or lack another.
    #[error("link `{link}`: {problem}")]
    Clash {
        /// The link.
        link: String,
        /// The fault, and what was expected.
        problem: String,
    },
    /// A word that is given twice.
    #[error("link `{link}`: `{word}=` is given twice; expected it once")]
    Twice {
        /// The link.
        link: String,
        /// The option.
        word: String,
    },
    /// Two delays.
    #[error("link `{link}`: delay=TIME and delay-trace=PATH exclude each other")]
    TwoDelays {
        /// The link.
        link: String,
    },
    /// A file cannot be read.
    #[error(
        "link `{link}`: cannot read {}: {problem}; expected a file in mahimahi's format",
        if path.is_empty() { "``" } else { path }
    )]
    File {
        /// The link.
        link: String,
        /// The file.
        path: String,
        /// The cause.
        problem: String,
    },
    /// A file's content is wrong.
    #[error("link `{link}`: {path}: {problem}")]
    Content {
        /// The link.
        link: String,
        /// The file.
        path: String,
        /// The fault and its place.
        problem: TraceError,
    },
}
