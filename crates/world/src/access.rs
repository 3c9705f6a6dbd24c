//! Access links as the user writes them: `6400kbit/9ms`, a preset, or a measured `trace:`.

use segue_handoff::Link;
use segue_netsim::queue::usual_limit;
use segue_netsim::{CapacityTrace, Delay, DelayTrace, LinkConfig, Nanos, Rate, SECOND, Service, TraceError};
use segue_words::{did_you_mean, quantity};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a full packet.
pub const PACKET_BYTES: u64 = 1500;

/// Presets: the access technologies that Daniel and Kojo (2009) name, by rate and delay.
pub const PRESETS: [(&str, &str); 4] = [
    ("egprs", "200kbit/300ms"),
    ("hsdpa", "2000kbit/50ms"),
    ("wimax", "11000kbit/20ms"),
    ("wlan", "54mbit/2ms"),
];

/// What is wrong with a link.
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
        /// The valid form and range.
        expected: &'static str,
    },
    /// An option of a trace that does not exist.
    #[error(
        "link `{link}`: unknown option `{word}`; expected up=PATH, start=TIME, delay=TIME, delay-trace=PATH or queue=N"
    )]
    Option {
        /// The link.
        link: String,
        /// The word.
        word: String,
    },
    /// A trace without a delay.
    #[error("link `{link}`: `{word}=` stands there twice; expected it once")]
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
    #[error("link `{link}`: cannot read {path}: {problem}")]
    File {
        /// The link.
        link: String,
        /// The file.
        path: String,
        /// Why.
        problem: String,
    },
    /// A file's content is wrong.
    #[error("link `{link}`: {path}: {problem}")]
    Content {
        /// The link.
        link: String,
        /// The file.
        path: String,
        /// What, and where.
        problem: TraceError,
    },
}

/// Capacity of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// bit/s.
    Fixed(u64),
    /// Measured.
    Trace(CapacityTrace),
}

impl Capacity {
    /// Mean rate, bit/s.
    pub fn mean_rate(&self) -> u64 {
        match self {
            Self::Fixed(rate) => *rate,
            Self::Trace(trace) => trace.mean_rate(),
        }
    }

    pub(crate) fn service(&self) -> Service {
        match self {
            Self::Fixed(rate) => Service::Fixed(Rate::new(*rate)),
            Self::Trace(trace) => Service::trace(trace.clone()),
        }
    }
}

/// One-way delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkDelay {
    /// Always the same.
    Fixed(Nanos),
    /// Measured.
    Trace(DelayTrace),
}

impl LinkDelay {
    /// Delay of what is sent at `t`.
    pub fn at(&self, t: Nanos) -> Nanos {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Trace(trace) => trace.at(t),
        }
    }

    /// Least delay.
    pub fn min(&self) -> Nanos {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Trace(trace) => trace.min(),
        }
    }

    fn mean(&self) -> Nanos {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Trace(trace) => trace.mean(),
        }
    }

    fn config(&self) -> Delay {
        match self {
            Self::Fixed(delay) => Delay::Fixed(*delay),
            Self::Trace(trace) => Delay::Trace(trace.clone()),
        }
    }
}

/// An access link, both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLink {
    /// As the user wrote it, made printable: it reaches terminals, pages and captures.
    pub text: String,
    /// Towards the mobile.
    pub down: Capacity,
    /// From the mobile.
    pub up: Capacity,
    /// One way, either direction.
    pub delay: LinkDelay,
    /// Queue of each direction, packets, the one being sent included.
    pub queue: u32,
    /// The files that were read for it, which no result may replace.
    pub files: Vec<PathBuf>,
}

impl AccessLink {
    /// Reads a link, and the files it names.
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        Self::parse_in(text, Path::new(""))
    }

    /// The same; the paths of traces start from `folder`.
    pub fn parse_in(text: &str, folder: &Path) -> Result<Self, LinkError> {
        if let Some(rest) = text.strip_prefix("trace:") {
            return trace_link(text, rest, folder);
        }
        let meaning = PRESETS.iter().find(|(name, _)| *name == text).map_or(text, |(_, link)| link);
        let Some((rate, delay)) = meaning.split_once('/') else {
            return Err(unknown(text));
        };
        let rate = parse_rate(rate).ok_or_else(|| LinkError::Quantity {
            link: text.to_string(),
            what: "rate",
            word: rate.to_string(),
            expected: "a positive number with unit bit, kbit, mbit or gbit, at most 100 Gbit/s",
        })?;
        let delay = quantity::time(delay).filter(|&d| d > 0 && d <= 10 * SECOND).ok_or_else(|| {
            LinkError::Quantity {
                link: text.to_string(),
                what: "delay",
                word: delay.to_string(),
                expected: "a positive number with unit us, ms or s, at most 10 s",
            }
        })?;
        let queue = usual_limit(rate, delay);
        Ok(Self {
            text: printable(text),
            down: Capacity::Fixed(rate),
            up: Capacity::Fixed(rate),
            delay: LinkDelay::Fixed(delay),
            queue,
            files: Vec::new(),
        })
    }

    /// A link of constant rate (bit/s), one-way delay and queue (packets), its text such that it can be read back.
    pub fn fixed(rate: u64, delay: Nanos, queue: u32) -> Self {
        let rates = [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1_000, "kbit"), (1, "bit")];
        let times = [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        Self {
            text: format!("{}/{}", in_unit(rate, rates), in_unit(delay, times)),
            down: Capacity::Fixed(rate),
            up: Capacity::Fixed(rate),
            delay: LinkDelay::Fixed(delay),
            queue,
            files: Vec::new(),
        }
    }

    /// The queue and line towards the mobile.
    pub fn down_config(&self) -> LinkConfig {
        LinkConfig::new(self.down.service(), self.delay.config()).drop_tail(self.queue)
    }

    /// The queue and line from the mobile.
    pub fn up_config(&self) -> LinkConfig {
        LinkConfig::new(self.up.service(), self.delay.config()).drop_tail(self.queue)
    }

    /// What a notice says of the link: the rate between `from` and `to`, the delay at `to`.
    pub fn reported(&self, from: Nanos, to: Nanos, delay_at: Nanos) -> Link {
        let rate = match &self.down {
            Capacity::Fixed(rate) => *rate,
            Capacity::Trace(trace) => trace.rate_between(from, to),
        };
        Link {
            rate_kbps: ((rate + 500) / 1000).clamp(1, u64::from(u32::MAX)) as u32,
            delay_us: (self.delay.at(delay_at) / 1000).min(u64::from(u32::MAX)) as u32,
        }
    }
}

/// A whole number of the largest unit that goes into `value`.
fn in_unit(value: u64, units: [(u64, &str); 4]) -> String {
    let (scale, unit) = units.into_iter().find(|(scale, _)| value.is_multiple_of(*scale)).unwrap_or((1, ""));
    format!("{}{unit}", value / scale)
}

/// Control characters, which a file name may have, as their numbers: `\u{1b}`.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() || c == '\u{feff}' => printable.extend(c.escape_unicode()),
            c => printable.push(c),
        }
    }
    printable
}

fn unknown(text: &str) -> LinkError {
    LinkError::Unknown {
        text: text.to_string(),
        presets: PRESETS.map(|(name, _)| name).join(", "),
        hint: did_you_mean(text, PRESETS.map(|(name, _)| name)),
    }
}

/// A rate such as `6400kbit`, in bit/s; positive, at most 100 Gbit/s.
pub fn parse_rate(text: &str) -> Option<u64> {
    quantity::rate(text).filter(|&rate| rate > 0 && rate <= 100_000_000_000)
}

/// `trace:PATH[,up=PATH][,start=300s][,delay=20ms|delay-trace=PATH][,queue=100p]`.
fn trace_link(link: &str, rest: &str, folder: &Path) -> Result<AccessLink, LinkError> {
    let bad = |what, word: &str, expected| LinkError::Quantity {
        link: link.to_string(),
        what,
        word: word.to_string(),
        expected,
    };
    let mut words = rest.split(',');
    let path = words.next().unwrap_or_default();
    let (mut up, mut start, mut delay, mut delay_trace, mut queue) = (None, 0, None, None, None);
    let mut named: Vec<&str> = Vec::new();
    for word in words {
        let option = word.split_once('=').map_or(word, |(option, _)| option);
        if named.contains(&option) {
            return Err(LinkError::Twice { link: link.to_string(), word: option.to_string() });
        }
        named.push(option);
        match word.split_once('=') {
            Some(("up", value)) => up = Some(value),
            Some(("start", value)) => {
                start = quantity::time(value)
                    .filter(|&t| t <= 1_000_000 * SECOND)
                    .ok_or_else(|| bad("start", value, "a time such as 300s"))?;
            }
            Some(("delay", value)) => {
                let time = quantity::time(value).filter(|&d| d > 0 && d <= 10 * SECOND);
                delay = Some(time.ok_or_else(|| {
                    bad("delay", value, "a positive number with unit us, ms or s, at most 10 s")
                })?);
            }
            Some(("delay-trace", value)) => delay_trace = Some(value),
            Some(("queue", value)) => {
                queue = Some(
                    quantity::packets(value)
                        .filter(|&n| (1..=10_000_000).contains(&n))
                        .ok_or_else(|| bad("queue", value, "1 to 10000000 packets, such as 100p"))?,
                );
            }
            _ => return Err(LinkError::Option { link: link.to_string(), word: word.to_string() }),
        }
    }
    let read = |path: &str| {
        let place = folder.join(path);
        read_trace(&place).map_err(|error| LinkError::File {
            link: link.to_string(),
            path: place.display().to_string(),
            problem: error.to_string(),
        })
    };
    let files = [Some(path), up, delay_trace].into_iter().flatten().map(|path| folder.join(path)).collect();
    let content =
        |path: &str, problem| LinkError::Content { link: link.to_string(), path: path.to_string(), problem };
    let capacity =
        |path: &str| CapacityTrace::parse(&read(path)?, start).map_err(|problem| content(path, problem));
    let delay = match (delay, delay_trace) {
        (Some(_), Some(_)) => return Err(LinkError::TwoDelays { link: link.to_string() }),
        (Some(delay), None) => LinkDelay::Fixed(delay),
        (None, Some(path)) => LinkDelay::Trace(
            DelayTrace::parse(&read(path)?, start).map_err(|problem| content(path, problem))?,
        ),
        (None, None) => LinkDelay::Fixed(DEFAULT_TRACE_DELAY),
    };
    let down = capacity(path)?;
    let up = up.map_or_else(|| Ok(down.clone()), capacity)?;
    let queue = queue.unwrap_or_else(|| usual_limit(down.mean_rate(), delay.mean()));
    Ok(AccessLink {
        text: printable(link),
        down: Capacity::Trace(down),
        up: Capacity::Trace(up),
        delay,
        queue,
        files,
    })
}

/// Largest trace file, bytes: a day of 1 Gbit/s has some fifty million lines.
const LARGEST_TRACE: u64 = 1 << 30;

/// The text of a trace file.
fn read_trace(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(LARGEST_TRACE).read_to_string(&mut text)?;
    if read as u64 == LARGEST_TRACE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has 1 GiB or more"));
    }
    Ok(text)
}

/// One-way delay of a measured link that names none: mahimahi's customary 20 ms.
const DEFAULT_TRACE_DELAY: Nanos = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_the_papers() {
        let queue = |text: &str| AccessLink::parse(text).unwrap().queue;
        // BDP of the link if above 5 packets, else 5; examples.txt names qo and qn.
        assert_eq!(queue("6400kbit/9ms"), 10);
        assert_eq!(queue("200kbit/300ms"), 10);
        assert_eq!(queue("1600kbit/75ms"), 20);
        assert_eq!(queue("1600kbit/300ms"), 80);
        assert_eq!(queue("6400kbit/300ms"), 320);
        assert_eq!(queue("1600kbit/1ms"), 5);
        assert_eq!(queue("700kbit/75ms"), 9);
    }

    #[test]
    fn the_name_of_a_trace_is_printable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a\u{1b}[31m\nb");
        std::fs::write(&path, "1\n2\n").unwrap();
        let link = AccessLink::parse(&format!("trace:{}", path.display())).unwrap();
        assert!(link.text.ends_with("a\\u{1b}[31m\\u{a}b"), "{}", link.text);
    }

    #[test]
    fn spellings() {
        let link = AccessLink::parse("54Mbit/2ms").unwrap();
        assert_eq!((link.down.mean_rate(), link.delay), (54_000_000, LinkDelay::Fixed(2_000_000)));
        assert_eq!(AccessLink::parse("wlan").unwrap().down.mean_rate(), 54_000_000);
        assert_eq!(parse_rate("0kbit"), None);
        assert_eq!(parse_rate("-1kbit"), None);
    }

    #[test]
    fn fixed_links_can_be_read_back() {
        for (rate, delay, text) in [
            (200_000, 150_000_000, "200kbit/150ms"),
            (7_000_000, 10_000_000, "7mbit/10ms"),
            (777_778, 1_000_000_500, "777778bit/1000000500ns"),
        ] {
            let link = AccessLink::fixed(rate, delay, 20);
            assert_eq!(link.text, text);
            assert_eq!(AccessLink { queue: 20, ..AccessLink::parse(text).unwrap() }, link);
        }
    }

    #[test]
    fn errors_name_the_word_and_the_expectation() {
        let message = |text: &str| AccessLink::parse(text).unwrap_err().to_string();
        assert!(message("wlam").contains("did you mean `wlan`"), "{}", message("wlam"));
        assert!(!message("wifi").contains("did you mean"), "a wrong guess: {}", message("wifi"));
        assert!(message("64kbots/9ms").contains("bad rate `64kbots`"));
        assert!(message("64kbit/0ms").contains("bad delay `0ms`"));
        assert!(message("trace:/nowhere").contains("cannot read /nowhere"));
        assert!(message("trace:/nowhere,queue=0").contains("bad queue `0`"));
        assert!(message("trace:/nowhere,color=red").contains("unknown option `color=red`"));
    }
}
