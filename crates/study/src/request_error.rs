//! Why a request cannot be carried out.

use segue_handoff::SchemeError;

/// Key of the bench's own setting (algorithms.md, 9.15).
pub const NOTICE_DELAY: (&str, &str) = ("notice-delay", "delay of an instant notice after completion (9.15)");

/// Key of the length of queues that no word of a link tells.
pub const LINK_QUEUE: (&str, &str) = (
    "link-queue",
    "queues of links whose words name none: 2bdp, 50p, 100ms or max(2bdp,20p); max(bdp,5p) unless set",
);

/// Key of the time between the starts of flows.
pub const STARTS: (&str, &str) = (
    "starts",
    "time between the starts of two flows with seed 1; others draw them within 20 times that; 1ms unless set",
);

/// Key of whose packets are counted.
pub const TARGET: (&str, &str) =
    ("target", "whether each flow is to bring P packets, or all together: per-flow (default) or in-all");

/// Key of how far notices may be wrong, which also has an option and a key of files.
pub const NOTICE_ERROR: (&str, &str) = (
    "notice-error",
    "how far the told rate and delay of the new link may be wrong, and how late: rate=2x,delay=30ms,late=100ms",
);

/// Key of the users who share the access links, which also has an option and a key of files.
pub const NEIGHBOURS: (&str, &str) = (
    "neighbours",
    "long downloads of others on each access link, and their congestion control: 3 or 3/cubic",
);

/// Key of what the mobile's user does, which also has an option and a key of files.
pub const TRAFFIC: (&str, &str) = (
    "traffic",
    "what the user does, measured by class: download, upload, both, request(14kB,200ms), video(4mbit,30fps), page",
);

/// Key of the number of handoffs in a run, which also has an option and a key of files.
pub const HANDOFFS: (&str, &str) = (
    "handoffs",
    "handoffs in one run: to the new link, back, and so on; each begins `every` after the one before",
);

/// Key of the time between them, which also has an option and a key of files.
pub const EVERY: (&str, &str) = ("every", "from the beginning of a handoff to that of the next: 15s");

/// Key of how long both links carry in a soft handoff, which also has an option and a key of files.
pub const OVERLAP: (&str, &str) = ("overlap", "how long both links carry in a soft handoff: 1s");

/// Key of what becomes of packets meanwhile, which also has an option and a key of files.
pub const SOFT: (&str, &str) =
    ("soft", "whether packets of a soft handoff go over both links, or each over one: duplicate, split");

/// Key of how long a mobile stays on the new link in a ping-pong, which also has an option and a key of files.
pub const RETURN: (&str, &str) = ("return", "how long after T a mobile of a ping-pong is back: 1s");

/// Key of what becomes of the mobile's address, which also has an option.
pub const ADDRESS: (&str, &str) = (
    "address",
    "whether the mobile keeps its address, or connections end and begin anew: keep (default) or new",
);

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
