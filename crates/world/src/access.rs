//! Access links as the user writes them: `6400kbit/9ms`, a preset, or a measured `trace:`.

mod error;
mod features;
mod forgiven;
mod measured;
mod opportunities;
mod presets;
mod queue_rule;
mod words;

pub use error::LinkError;
pub use features::{Aggregation, Features, Grant, LinkSeed, Loss, QueueWord, Tokens};
pub use opportunities::opportunities_ms;
pub use presets::{LinkNames, NamingError, PRESETS, Preset, TODAY, variants};
pub use queue_rule::QueueRule;
pub use segue_netsim::delay::JitterShape;
pub use words::WORDS;

use features::Direction;
use measured::trace_link;
use segue_handoff::{Clock, Link};
use segue_netsim::queue::usual_limit;
use segue_netsim::{CapacityTrace, Delay, DelayTrace, LinkConfig, Nanos, SECOND, Service};
use segue_words::{did_you_mean, quantity};
use std::path::{Path, PathBuf};
use words::{Words, pieces};

/// Bytes of a full packet.
pub const PACKET_BYTES: u64 = 1500;

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

    fn service(&self, features: &Features, direction: Direction) -> Service {
        match self {
            Self::Fixed(rate) => features.service(*rate, direction),
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
    /// One way, either direction unless `up_delay` says otherwise; the least, if more is added.
    pub delay: LinkDelay,
    /// Queue of each direction unless `up_queue` says otherwise, packets; of a drop-tail queue the one being sent
    /// included.
    pub queue: u32,
    /// The files that were read for it, which no result may replace.
    pub files: Vec<PathBuf>,
    /// One way, from the mobile, where it is another.
    pub up_delay: Option<LinkDelay>,
    /// Queue of the direction from the mobile, where it is another.
    pub up_queue: Option<u32>,
    /// Its faults and queues beside that, towards the mobile and from it.
    pub features: [Features; 2],
    /// RATE and DELAY as the user or the preset has them; of a measured link there are none.
    pub rate_and_delay: Option<(String, String)>,
    /// The link that a preset of today or another name stands for, if one begins the text.
    pub meaning: Option<String>,
}

impl AccessLink {
    /// Reads a link, and the files it names. Presets are the only names.
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        Self::parse_in(text, Path::new(""), &LinkNames::default())
    }

    /// The same with other names; the paths of traces start from `folder`.
    pub fn parse_in(text: &str, folder: &Path, names: &LinkNames) -> Result<Self, LinkError> {
        if let Some(rest) = text.strip_prefix("trace:") {
            return trace_link(text, rest, folder);
        }
        let layers = layers(text, names);
        let head = layers[0][0];
        let Some((rate, delay)) = head.split_once('/') else {
            return Err(unknown(text, names));
        };
        let rate_and_delay = Some((rate.to_string(), delay.to_string()));
        let name = layers[layers.len() - 1][0];
        let meaning = names.meaning(name).filter(|_| PRESETS.iter().all(|(old, _)| *old != name));
        let rate = parse_rate(rate).ok_or_else(|| LinkError::Quantity {
            link: text.to_string(),
            what: "rate",
            word: rate.to_string(),
            expected: "a positive number with unit bit, kbit, mbit or gbit, at most 100 Gbit/s".to_string(),
        })?;
        let delay = delay_of(delay).ok_or_else(|| LinkError::Quantity {
            link: text.to_string(),
            what: "delay",
            word: delay.to_string(),
            expected: "a positive number with unit us, ms or s, at most 10 s".to_string(),
        })?;
        let mut words = Words::default();
        for layer in &layers {
            words.read(text, &layer[1..], &[])?;
        }
        words.check(text, false)?;
        let (up_rate, up_delay) = (words.up_rate.unwrap_or(rate), words.up_delay.unwrap_or(delay));
        let limit = |direction: &words::Direction, rate: u64, way: Nanos| {
            let usual =
                || direction.features.queue.usual_limit(rate).unwrap_or_else(|| usual_limit(rate, way));
            direction.length.map_or_else(usual, |length| length.packets(rate, delay + up_delay))
        };
        let (queue, up_queue) = (limit(&words.down, rate, delay), limit(&words.up, up_rate, up_delay));
        Ok(Self {
            text: printable(text),
            down: Capacity::Fixed(rate),
            up: Capacity::Fixed(up_rate),
            delay: LinkDelay::Fixed(delay),
            queue,
            files: Vec::new(),
            up_delay: (up_delay != delay).then_some(LinkDelay::Fixed(up_delay)),
            up_queue: (up_queue != queue).then_some(up_queue),
            features: [words.down.features, words.up.features],
            rate_and_delay,
            meaning: meaning.map(str::to_string),
        })
    }

    /// A link of constant rate (bit/s), one-way delay and queue (packets), its text such that it can be read back.
    pub fn fixed(rate: u64, delay: Nanos, queue: u32) -> Self {
        let rates = [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1_000, "kbit"), (1, "bit")];
        let times = [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        let (rate_word, delay_word) = (in_unit(rate, rates), in_unit(delay, times));
        Self {
            text: format!("{rate_word}/{delay_word}"),
            down: Capacity::Fixed(rate),
            up: Capacity::Fixed(rate),
            delay: LinkDelay::Fixed(delay),
            queue,
            files: Vec::new(),
            up_delay: None,
            up_queue: None,
            features: Default::default(),
            rate_and_delay: Some((rate_word, delay_word)),
            meaning: None,
        }
    }

    /// The queue and line towards the mobile.
    pub fn down_config(&self, place: LinkSeed) -> LinkConfig {
        let [features, _] = &self.features;
        let direction = Direction { place, up: false };
        features.config(self.service(place, false), self.delay.config(), self.queue, direction)
    }

    /// The queue and line from the mobile.
    pub fn up_config(&self, place: LinkSeed) -> LinkConfig {
        let [_, features] = &self.features;
        let (delay, queue) = (self.up_delay().config(), self.up_queue.unwrap_or(self.queue));
        features.config(self.service(place, true), delay, queue, Direction { place, up: true })
    }

    /// The same with its directions exchanged, for what is told of it.
    pub(crate) fn turned(&self) -> Self {
        let [down, up] = self.features;
        let (delay, queue) = (self.up_delay().clone(), self.up_queue.unwrap_or(self.queue));
        Self {
            text: self.text.clone(),
            down: self.up.clone(),
            up: self.down.clone(),
            up_delay: (delay != self.delay).then(|| self.delay.clone()),
            up_queue: (queue != self.queue).then_some(self.queue),
            delay,
            queue,
            files: self.files.clone(),
            features: [up, down],
            rate_and_delay: self.rate_and_delay.clone(),
            meaning: self.meaning.clone(),
        }
    }

    /// Whether its capacity or its delay changes, so that it is another one at another time.
    pub fn varies(&self) -> bool {
        let place = LinkSeed { seed: 0, link: 0 };
        self.down_config(place).varies() || self.up_config(place).varies()
    }

    /// The same with a delay that changes by `size`, as by the word `jitter`, in each direction without such a word.
    /// Packets keep their order.
    pub fn with_jitter(mut self, size: Nanos) -> Self {
        for way in self.features.iter_mut().filter(|way| size > 0 && way.jitter.is_none()) {
            way.jitter = Some((JitterShape::Normal, size));
        }
        self
    }

    /// Whether it has words whose effect is drawn from the seed.
    pub fn has_chance(&self) -> bool {
        self.features.iter().any(Features::has_chance)
    }

    /// Whether it loses in bursts that end with packets and not with time, so that they last while nobody sends.
    pub fn has_lasting_bursts(&self) -> bool {
        self.features.iter().any(|way| matches!(way.loss, Some(features::Loss::GilbertElliott(_))))
    }

    /// When it is reconfigured, if it is.
    pub fn clock(&self) -> Option<Clock> {
        let shift = self.features.iter().find_map(|way| way.shift)?;
        Some(Clock { every: shift.every, first: shift.first })
    }

    /// How a direction carries bytes.
    pub fn service(&self, place: LinkSeed, up: bool) -> Service {
        let capacity = if up { &self.up } else { &self.down };
        capacity.service(&self.features[usize::from(up)], Direction { place, up })
    }

    /// The same for the bound: grants are there when they are needed.
    pub(crate) fn best_service(&self, place: LinkSeed, up: bool) -> Service {
        let capacity = if up { &self.up } else { &self.down };
        let features = Features { grant: None, ..self.features[usize::from(up)] };
        capacity.service(&features, Direction { place, up })
    }

    /// Packets that have left a queue of a direction and have not been sent.
    pub(crate) fn sent_at_once(&self, up: bool) -> u32 {
        self.features[usize::from(up)].aggregation.map_or(1, |aggregation| aggregation.most)
    }

    /// One way, from the mobile.
    pub fn up_delay(&self) -> &LinkDelay {
        self.up_delay.as_ref().unwrap_or(&self.delay)
    }

    /// Propagation both ways, of what is sent at `t`.
    pub fn round_trip_at(&self, t: Nanos) -> Nanos {
        self.delay.at(t) + self.up_delay().at(t)
    }

    /// The least propagation both ways.
    pub fn least_round_trip(&self) -> Nanos {
        self.delay.min() + self.up_delay().min()
    }

    /// The link in a notice: the rate between `from` and `to`, the delay at `to`.
    pub fn reported(&self, place: LinkSeed, from: Nanos, to: Nanos, delay_at: Nanos) -> Link {
        let rate = match (&self.down, self.service(place, false)) {
            (Capacity::Trace(trace), _) => trace.rate_between(from, to),
            (_, varying @ Service::Varying(_)) => {
                let bits = u128::from(varying.bytes_between(from, to)) * 8 * u128::from(SECOND);
                (bits / u128::from((to - from).max(1))) as u64
            }
            (_, constant) => constant.mean_rate(),
        };
        Link {
            rate_kbps: ((rate + 500) / 1000).clamp(1, u64::from(u32::MAX)) as u32,
            delay_us: (self.delay.at(delay_at) / 1000).min(u64::from(u32::MAX)) as u32,
        }
    }
}

/// A link's text in pieces, below it what the name at its head stands for, and so on. RATE/DELAY comes first, and what
/// the user wrote last.
fn layers<'a>(text: &'a str, names: &'a LinkNames) -> Vec<Vec<&'a str>> {
    let mut layers = vec![pieces(text)];
    while let Some(meaning) = names.meaning(layers[0][0]) {
        layers.insert(0, pieces(meaning));
    }
    layers
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

fn unknown(text: &str, names: &LinkNames) -> LinkError {
    let own = || names.own().iter().map(|(name, _)| name.as_str());
    let built_in = || PRESETS.iter().map(|(name, _)| *name).chain(TODAY.iter().map(|preset| preset.name));
    let all = || built_in().chain(own());
    LinkError::Unknown {
        text: text.to_string(),
        presets: format!(
            "{}; {} to {} also with -low or -high",
            all().collect::<Vec<_>>().join(", "),
            TODAY[0].name,
            TODAY[TODAY.len() - 1].name
        ),
        hint: match synonym(pieces(text)[0]) {
            Some(preset) => format!("; did you mean `{preset}`?"),
            None => did_you_mean(pieces(text)[0], all()),
        },
    }
}

/// The preset that is near to what somebody calls otherwise.
fn synonym(word: &str) -> Option<&'static str> {
    const OTHER_NAMES: [(&str, &str); 9] = [
        ("starlink", "leo"),
        ("satellite", "leo"),
        ("wifi", "wifi6"),
        ("wi-fi", "wifi6"),
        ("nr", "5g"),
        ("4g", "lte"),
        ("3g", "hsdpa"),
        ("2g", "egprs"),
        ("fiber", "fibre"),
    ];
    let word = word.to_lowercase();
    OTHER_NAMES.iter().find(|(other, _)| *other == word).map(|(_, preset)| *preset)
}

/// A rate such as `6400kbit`, in bit/s; positive, at most 100 Gbit/s.
pub fn parse_rate(text: &str) -> Option<u64> {
    quantity::rate(text).filter(|&rate| rate > 0 && rate <= 100_000_000_000)
}

/// A delay such as `9ms`, ns; positive, at most 10 s.
fn delay_of(text: &str) -> Option<Nanos> {
    quantity::time(text).filter(|&delay| delay > 0 && delay <= 10 * SECOND)
}

#[cfg(test)]
mod tests;
