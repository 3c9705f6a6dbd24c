//! Measured links: `trace:PATH` and what stands behind it.

use super::error::LinkError;
use super::words::{Direction, Words, pieces};
use super::{AccessLink, Capacity, LinkDelay, delay_of, printable};
use segue_netsim::queue::usual_limit;
use segue_netsim::{CapacityTrace, DelayTrace, Nanos, SECOND};
use segue_words::quantity;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Words that only a measured link has.
const OWN: [&str; 4] = ["up", "start", "delay", "delay-trace"];

/// `trace:PATH[,up=PATH][,start=300s][,delay=20ms|delay-trace=PATH][,WORDS]`.
pub(super) fn trace_link(link: &str, rest: &str, folder: &Path) -> Result<AccessLink, LinkError> {
    let bad = |what, word: &str, expected: &str| LinkError::Quantity {
        link: link.to_string(),
        what,
        word: word.to_string(),
        expected: expected.to_string(),
    };
    let pieces = pieces(rest);
    let (path, words) = pieces.split_first().map_or(("", &[][..]), |(path, words)| (*path, words));
    let is_own = |word: &&&str| word.split_once('=').is_some_and(|(key, _)| OWN.contains(&key));
    let (own, other): (Vec<&str>, Vec<&str>) = {
        let (own, other): (Vec<&&str>, Vec<&&str>) = words.iter().partition(is_own);
        (own.into_iter().copied().collect(), other.into_iter().copied().collect())
    };
    let mut words = Words::default();
    words.read(link, &other, &OWN)?;
    words.check(link, true)?;
    let (mut up, mut start, mut delay, mut delay_trace) = (None, 0, None, None);
    let mut named: Vec<&str> = Vec::new();
    for word in own {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        if named.contains(&option) {
            return Err(LinkError::Twice { link: link.to_string(), word: option.to_string() });
        }
        named.push(option);
        match option {
            "up" => up = Some(value),
            "start" => {
                start = quantity::time(value)
                    .filter(|&t| t <= 1_000_000 * SECOND)
                    .ok_or_else(|| bad("start", value, "a time such as 300s"))?;
            }
            "delay" => {
                delay = Some(delay_of(value).ok_or_else(|| {
                    bad("delay", value, "a positive number with unit us, ms or s, at most 10 s")
                })?);
            }
            _ => delay_trace = Some(value),
        }
    }
    let read = |path: &str| {
        let place = folder.join(path);
        read_trace(&place).map_err(|error| LinkError::File {
            link: link.to_string(),
            path: place.display().to_string(),
            problem: segue_words::text::in_words(&error),
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
    let queue = |direction: &Direction, capacity: &CapacityTrace| {
        let (rate, way) = (capacity.mean_rate(), delay.mean());
        let limit = direction.length.map(|length| length.packets(rate, 2 * way));
        let usual = || direction.features.queue.usual_limit(rate).unwrap_or_else(|| usual_limit(rate, way));
        limit.unwrap_or_else(usual)
    };
    // The queue of both directions is that of the trace towards the mobile, unless it is told otherwise.
    let limit = queue(&words.down, &down);
    let up_limit = queue(&words.up, if words.up.length.is_some() { &up } else { &down });
    Ok(AccessLink {
        text: printable(link),
        down: Capacity::Trace(down),
        up: Capacity::Trace(up),
        delay,
        queue: limit,
        files,
        up_delay: None,
        up_queue: (up_limit != limit).then_some(up_limit),
        features: [words.down.features, words.up.features],
        rate_and_delay: None,
        meaning: None,
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
