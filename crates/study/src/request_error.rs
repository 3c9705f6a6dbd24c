//! Why a request cannot be carried out.

use segue_handoff::SchemeError;

/// Why a request cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No such stack.
    #[error("unknown stack `{name}`; expected one of {expected}{hint}")]
    Stack {
        /// The word.
        name: String,
        /// The stacks.
        expected: String,
        /// The most similar, in words; empty if none is.
        hint: String,
    },
    /// No such congestion control.
    #[error("unknown congestion control `{name}`; expected one of {expected}{hint}")]
    Control {
        /// The word.
        name: String,
        /// The controls.
        expected: String,
        /// The most similar, in words; empty if none is.
        hint: String,
    },
    /// No such scheme, or a bad setting of one.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// A setting that neither a chosen scheme nor the stack has.
    #[error(
        "unknown setting `{key}`; none of the chosen schemes nor their stacks has it; expected one that segue schemes NAME lists{hint}"
    )]
    Setting {
        /// The word.
        key: String,
        /// The most similar, in words; empty if none is.
        hint: String,
    },
    /// A setting of the stack with a bad value.
    #[error("setting `{key}`: bad value `{value}`; expected {expected}")]
    Value {
        /// The setting.
        key: String,
        /// The value.
        value: String,
        /// The valid form and range.
        expected: String,
    },
    /// A number out of range.
    #[error("{what} {value} is out of range; expected {expected}")]
    Range {
        /// Name of the quantity.
        what: &'static str,
        /// The number.
        value: String,
        /// The valid range.
        expected: &'static str,
    },
    /// A list without content or with repetitions.
    #[error("{what}: {problem}")]
    List {
        /// Which list.
        what: &'static str,
        /// The fault, and what was expected.
        problem: String,
    },
}

impl RequestError {
    /// Whether it is about the value of setting `key`.
    pub fn names(&self, key: &str) -> bool {
        matches!(self, Self::Value { key: own, .. } if own == key)
    }
}
