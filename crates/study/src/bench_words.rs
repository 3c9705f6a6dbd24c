//! The bench's own settings, which concern every scheme: one table, of which commands, files and queries make their words.

/// A setting of the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchWord {
    /// Its name after `--set`. If it has a key in files, it is an option and a key of queries, too.
    pub key: &'static str,
    /// Its key in files, if it has one beside `settings`.
    pub file: Option<&'static str>,
    /// Its values, in words; those with an option are explained there.
    pub values: &'static str,
    /// Its value unless it is set, in words; empty where the meaning or nothing tells.
    pub usual: &'static str,
    /// Its effect, in words.
    pub meaning: &'static str,
}

/// Delay of an instant notice (algorithms.md, 9.15).
pub const NOTICE_DELAY: &str = "notice-delay";
/// Length of queues that no word of a link tells.
pub const LINK_QUEUE: &str = "link-queue";
/// Time between the starts of flows.
pub const STARTS: &str = "starts";
/// The flows whose packets are counted.
pub const TARGET: &str = "target";
/// How long both links carry in a soft handoff.
pub const OVERLAP: &str = "overlap";
/// The way of packets meanwhile.
pub const SOFT: &str = "soft";
/// How long a mobile stays on the new link in a ping-pong.
pub const RETURN: &str = "return";
/// The fate of the mobile's address.
pub const ADDRESS: &str = "address";
/// The acts of the mobile's user.
pub const TRAFFIC: &str = "traffic";
/// Users who share the access links.
pub const NEIGHBOURS: &str = "neighbours";
/// How far notices may be wrong.
pub const NOTICE_ERROR: &str = "notice-error";
/// Number of handoffs in a run.
pub const HANDOFFS: &str = "handoffs";
/// Time between them.
pub const EVERY: &str = "every";

/// All of them.
pub const BENCH_WORDS: [BenchWord; 13] = [
    BenchWord {
        key: NOTICE_DELAY,
        file: None,
        values: "a time",
        usual: "0s",
        meaning: "delay of an instant notice after completion (9.15)",
    },
    BenchWord {
        key: LINK_QUEUE,
        file: None,
        values: "a length",
        usual: "",
        meaning: "queues of links whose words name none: 2bdp, 50p, 100ms or max(2bdp,20p); max(bdp,5p) unless set",
    },
    BenchWord {
        key: STARTS,
        file: None,
        values: "a time up to 100s",
        usual: "",
        meaning: "time between the starts of two flows with seed 1; others draw them within 20 times that; 1ms unless set",
    },
    BenchWord {
        key: TARGET,
        file: None,
        values: "per-flow or in-all",
        usual: "",
        meaning: "whether each flow is to bring P packets, or all together: per-flow (default) or in-all",
    },
    BenchWord {
        key: OVERLAP,
        file: Some("overlap"),
        values: "as --overlap",
        usual: "1s",
        meaning: "how long both links carry in a soft handoff: 1s",
    },
    BenchWord {
        key: SOFT,
        file: Some("soft"),
        values: "as --soft",
        usual: "duplicate",
        meaning: "whether packets of a soft handoff go over both links, or each over one: duplicate, split",
    },
    BenchWord {
        key: RETURN,
        file: Some("return"),
        values: "as --return",
        usual: "1s",
        meaning: "how long after T a mobile of a ping-pong is back: 1s",
    },
    BenchWord {
        key: ADDRESS,
        file: Some("address"),
        values: "as --address",
        usual: "",
        meaning: "whether the mobile keeps its address, or connections end and begin anew: keep (default) or new",
    },
    BenchWord {
        key: TRAFFIC,
        file: Some("traffic"),
        values: "as --traffic",
        usual: "long downloads",
        meaning: "what the user does, measured by class: download, upload, both, request(14kB,200ms), video(4mbit,30fps), page",
    },
    BenchWord {
        key: NEIGHBOURS,
        file: Some("neighbours"),
        values: "as --neighbours",
        usual: "none",
        meaning: "long downloads of others on each access link, and their congestion control: 3 or 3/cubic",
    },
    BenchWord {
        key: NOTICE_ERROR,
        file: Some("notice_error"),
        values: "as --notice-error",
        usual: "none",
        meaning: "how far the told rate and delay of the new link may be wrong, and how late: rate=2x,delay=30ms,late=100ms",
    },
    BenchWord {
        key: HANDOFFS,
        file: Some("handoffs"),
        values: "as --handoffs",
        usual: "1",
        meaning: "handoffs in one run: to the new link, back, and so on; each begins `every` after the one before",
    },
    BenchWord {
        key: EVERY,
        file: Some("every"),
        values: "as --every",
        usual: "",
        meaning: "from the beginning of a handoff to that of the next: 15s",
    },
];

impl BenchWord {
    /// The word of that name.
    pub fn named(key: &str) -> Option<&'static Self> {
        BENCH_WORDS.iter().find(|word| word.key == key)
    }

    /// Its values and what holds unless it is set, in words.
    pub fn values_and_usual(&self) -> String {
        match self.usual {
            "" => self.values.into(),
            usual => format!("{}; {usual} unless set", self.values),
        }
    }
}
