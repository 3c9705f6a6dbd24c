//! The words of a link after its first: `6400kbit/9ms,loss=1%,queue=codel`.

use super::error::LinkError;
use super::features::{Aggregation, Features, Grant, Loss, QueueWord, Tokens};
use super::{delay_of, parse_rate};
use segue_netsim::Nanos;
use segue_netsim::SECOND;
use segue_netsim::delay::{JitterShape, Order, Shift};
use segue_netsim::loss::gilbert_elliott::GilbertElliottConfig;
use segue_netsim::service::Changes;
use segue_words::{Choice, did_you_mean, nearest, quantity};

/// The words of any link, with their forms.
pub const WORDS: [(&str, &str); 12] = [
    ("loss", "loss=1%, loss=ge(0.5%,30%) or loss=ge(0.5%,30%)/1ms"),
    ("jitter", "jitter=5ms, which is jitter=normal(5ms), or jitter=pareto(5ms)"),
    ("reorder", "reorder=1% or reorder=all"),
    ("arq", "arq=10%/8ms"),
    ("vary", "vary=walk(30%) or vary=markov(20%,2%,10%)"),
    ("reconfigure", "reconfigure=15s@12s(80ms,10ms)"),
    ("queue", "queue=fq_codel, queue=100ms or queue=codel,50p"),
    ("shape", "shape=5mbit/64kB"),
    ("police", "police=5mbit/64kB"),
    ("aggregate", "aggregate=64/200us"),
    ("grant", "grant=10ms/4ms"),
    ("ecn", "ecn, with queue=codel and others that drop early"),
];
/// Most that an aggregate costs, ns: some of its 4 ms are left for packets.
const MOST_OVERHEAD: Nanos = 3_000_000;
/// Least time in which a channel may change once, ns.
const SHORTEST_SLOT: Nanos = 10_000;
/// Before a word: of the direction from the mobile alone.
const UP: &str = "up-";

/// A queue's length as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    Packets(u32),
    /// The packets that the link sends in so long.
    Time(Nanos),
    /// Bandwidth-delay products, in millionths.
    Products(u64),
}

/// The words of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Direction {
    pub features: Features,
    pub length: Option<Length>,
}

/// The words of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    pub down: Direction,
    pub up: Direction,
    /// Rate and delay from the mobile, where they are its own.
    pub up_rate: Option<u64>,
    pub up_delay: Option<Nanos>,
}

/// A link's text in pieces, at commas that stand in no brackets. The value of `up` and `delay-trace` may be a path.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut depth) = (0_usize, 0_usize);
    for (at, c) in text.char_indices() {
        let is_path = || {
            let key = text[begin..at].split_once('=').map_or("", |(key, _)| key);
            pieces.is_empty() || matches!(key, "up" | "delay-trace")
        };
        match c {
            '(' if !is_path() => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[begin..]);
    // A length after the name of a queue belongs to it: `queue=codel,50p`.
    let mut joined: Vec<&str> = Vec::new();
    let mut end = 0;
    for piece in pieces {
        let begins_at = end;
        end += piece.len() + 1;
        let after_queue = joined.last().is_some_and(|last| {
            last.strip_prefix(UP).unwrap_or(last).starts_with("queue=") && !last.contains(',')
        });
        match joined.last_mut() {
            Some(last)
                if after_queue && piece.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c)) =>
            {
                *last = &text[begins_at - last.len() - 1..begins_at + piece.len()];
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// Words that a value may begin with, by key.
const CALLS: [(&str, &[&str]); 4] = [
    ("loss", &["ge"]),
    ("jitter", &["normal", "pareto"]),
    ("reorder", &["all"]),
    ("vary", &["walk", "markov"]),
];

/// A fault in a word about `what`, for messages.
fn bad(link: &str, what: &'static str, word: &str, expected: &'static str) -> LinkError {
    let begins = word.split('(').next().unwrap_or_default();
    let calls = CALLS.iter().filter(|(key, _)| *key == what).flat_map(|(_, calls)| *calls).copied();
    let hint = match calls.clone().any(|call| call == begins) {
        true => String::new(),
        false => did_you_mean(begins, calls),
    };
    let (link, word) = (link.to_string(), word.to_string());
    LinkError::Quantity { link, what, word, expected: format!("{expected}{hint}") }
}

fn clash(link: &str, problem: impl Into<String>) -> LinkError {
    LinkError::Clash { link: link.to_string(), problem: problem.into() }
}

/// The values in the brackets of `name(...)`.
fn call<'a>(value: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let inner = value.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
    Some(inner.split(',').collect())
}

impl Words {
    /// Takes the words of a preset, and then those of a user.
    pub(super) fn read(&mut self, link: &str, words: &[&str], other: &[&str]) -> Result<(), LinkError> {
        let mut named: Vec<&str> = Vec::new();
        let mut up: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if named.contains(&key) {
                return Err(LinkError::Twice { link: link.to_string(), word: key.to_string() });
            }
            named.push(key);
            if key == "ecn" || key == "up-ecn" {
                if *word != key {
                    return Err(clash(link, format!("`{word}`: expected `{key}` without a value")));
                }
                self.up.features.ecn = true;
                self.down.features.ecn |= key == "ecn";
                continue;
            }
            let known = |key: &str| WORDS.iter().any(|(name, _)| *name == key);
            match key.strip_prefix(UP) {
                Some(name) if known(name) && !value.is_empty() => up.push((name, value)),
                None if key == "grant" && !value.is_empty() => self.up.read(link, key, value)?,
                None if known(key) && !value.is_empty() => {
                    self.down.read(link, key, value)?;
                    self.up.read(link, key, value)?;
                }
                None if key == "up" && other.is_empty() => self.read_up(link, value)?,
                _ => return Err(unknown(link, word, other)),
            }
        }
        for (key, value) in up {
            self.up.read(link, key, value)?;
        }
        Ok(())
    }

    /// `up=RATE` or `up=RATE/DELAY`.
    fn read_up(&mut self, link: &str, value: &str) -> Result<(), LinkError> {
        let (rate, delay) = value.split_once('/').map_or((value, None), |(rate, delay)| (rate, Some(delay)));
        let expected = "RATE or RATE/DELAY such as 5mbit or 5mbit/20ms, at most 100 Gbit/s and 10 s";
        self.up_rate = Some(parse_rate(rate).ok_or_else(|| bad(link, "rate in up=", rate, expected))?);
        if let Some(delay) = delay {
            self.up_delay = Some(delay_of(delay).ok_or_else(|| bad(link, "delay in up=", delay, expected))?);
        }
        Ok(())
    }

    /// Checks words against each other; `measured`: the rate is a trace's.
    pub(super) fn check(&self, link: &str, measured: bool) -> Result<(), LinkError> {
        for Direction { features, .. } in [&self.down, &self.up] {
            let changing = features.changes.is_some() || features.shift.is_some_and(|shift| shift.gap > 0);
            let takes_turns = features.aggregation.is_some() || features.grant.is_some();
            if measured && (changing || takes_turns || features.shaper.is_some()) {
                let problem = "`vary=`, `reconfigure=`, `shape=`, `aggregate=` and `grant=` are for links of a rate; \
                               expected none on a trace";
                return Err(clash(link, problem));
            }
            if takes_turns && (changing || features.shaper.is_some()) {
                let problem = "`aggregate=` and `grant=` need a constant rate; expected them without `vary=`, \
                               `reconfigure=` and `shape=`";
                return Err(clash(link, problem));
            }
            if features.aggregation.is_some() && features.grant.is_some() {
                let problem =
                    "`aggregate=` is of Wi-Fi and `grant=` of cellular links; expected one of the two";
                return Err(clash(link, problem));
            }
            if changing && features.shaper.is_some() {
                let problem =
                    "`shape=` needs a constant rate; expected it without `vary=` and `reconfigure=`";
                return Err(clash(link, problem));
            }
            if features.ecn && features.queue == QueueWord::DropTail {
                let problem =
                    "`ecn` marks where a queue would drop early; expected queue=codel, fq_codel, pie or red";
                return Err(clash(link, problem));
            }
            if features.order != Order::Kept && features.jitter.is_none() {
                return Err(clash(
                    link,
                    "`reorder=` without `jitter=`; expected both, such as jitter=5ms,reorder=1%",
                ));
            }
        }
        Ok(())
    }
}

/// A word as it is written, without what a user chooses.
fn written(name: &str) -> String {
    if name == "ecn" { name.to_string() } else { format!("{name}=") }
}

/// An unknown word; `other`: words that this link has besides.
fn unknown(link: &str, word: &str, other: &[&str]) -> LinkError {
    let key = word.split_once('=').map_or(word, |(key, _)| key);
    let other = if other.is_empty() { &["up"] } else { other };
    let all = || other.iter().copied().chain(WORDS.map(|(name, _)| name));
    LinkError::Option {
        link: link.to_string(),
        word: word.to_string(),
        expected: all().map(written).collect::<Vec<_>>().join(", "),
        hint: match WORDS.iter().find(|(name, _)| *name == key.strip_prefix(UP).unwrap_or(key)) {
            Some((_, form)) => format!("; such as {form}"),
            // `up-los=1%`: of one direction.
            None => match key.strip_prefix(UP) {
                Some(name) => {
                    let meant = nearest(name, WORDS.map(|(name, _)| name));
                    meant.map(|name| format!("; did you mean `{UP}{name}`?")).unwrap_or_default()
                }
                None => did_you_mean(key, all()),
            },
        },
    }
}

impl Direction {
    fn read(&mut self, link: &str, key: &str, value: &str) -> Result<(), LinkError> {
        let features = &mut self.features;
        match key {
            "loss" => features.loss = loss(link, value)?,
            "jitter" => features.jitter = jitter(link, value)?,
            "reorder" => features.order = order(link, value)?,
            "arq" => features.arq = Some(arq(link, value)?),
            "vary" => features.changes = Some(changes(link, value)?),
            "reconfigure" => features.shift = Some(shift(link, value)?),
            "shape" => features.shaper = Some(tokens(link, "shape", value)?),
            "aggregate" => features.aggregation = Some(aggregation(link, value)?),
            "grant" => features.grant = Some(grant(link, value)?),
            "police" => features.policer = Some(tokens(link, "police", value)?),
            _ => {
                let (queue, length) = queue(link, value)?;
                // A length alone leaves the discipline that a preset names.
                features.queue = queue.unwrap_or(features.queue);
                self.length = length.or(self.length.filter(|_| queue.is_none()));
            }
        }
        Ok(())
    }
}

fn loss(link: &str, value: &str) -> Result<Option<Loss>, LinkError> {
    let expected = "0% to less than 100% such as 1%, or ge(p,r) or ge(p,r,1-h,1-k) such as ge(0.5%,30%), or with a \
                    time to change such as ge(0.5%,30%)/1ms";
    let wrong = || bad(link, "loss", value, expected);
    let (chain, slot) = match value.strip_prefix("ge(").and_then(|_| value.split_once('/')) {
        Some((chain, slot)) => {
            let slot = quantity::time(slot).filter(|slot| (SHORTEST_SLOT..=SECOND).contains(slot));
            let expected = "a time of 10us to 1s after the slash, such as ge(0.5%,30%)/1ms";
            (chain, Some(slot.ok_or_else(|| bad(link, "loss", value, expected))?))
        }
        None => (value, None),
    };
    let Some(shares) = call(chain, "ge") else {
        let share = quantity::share(value).filter(|share| *share < 1_000_000).ok_or_else(wrong)?;
        return Ok((share > 0).then_some(Loss::Random(share)));
    };
    let shares: Option<Vec<u32>> = shares.into_iter().map(quantity::share).collect();
    let channel = match shares.ok_or_else(wrong)?[..] {
        [p, r] => GilbertElliottConfig::gilbert(p, r),
        [p, r, bad, good] => {
            GilbertElliottConfig { worsens: p, mends: r, lost_in_bad: bad, lost_in_good: good }
        }
        _ => return Err(wrong()),
    };
    let lasts = channel.worsens > 0 && channel.mends > 0;
    if !lasts || channel.lost_in_bad.min(channel.lost_in_good) == 1_000_000 {
        return Err(bad(
            link,
            "loss",
            value,
            "ge(p,r,...) with p and r above 0%, and some packet that gets through",
        ));
    }
    Ok(Some(slot.map_or(Loss::GilbertElliott(channel), |slot| Loss::Timed(channel, slot))))
}

fn jitter(link: &str, value: &str) -> Result<Option<(JitterShape, Nanos)>, LinkError> {
    let expected = "a time of at most 10 s such as 5ms, or normal(5ms) or pareto(5ms)";
    let (shape, size) = match (call(value, "normal").as_deref(), call(value, "pareto").as_deref()) {
        (Some([size]), _) => (JitterShape::Normal, *size),
        (_, Some([size])) => (JitterShape::Pareto, *size),
        _ => (JitterShape::Normal, value),
    };
    let size = quantity::time(size).filter(|size| *size <= 10 * SECOND);
    let size = size.ok_or_else(|| bad(link, "jitter", value, expected))?;
    Ok((size > 0).then_some((shape, size)))
}

fn order(link: &str, value: &str) -> Result<Order, LinkError> {
    if value == "all" {
        return Ok(Order::Free);
    }
    let share = quantity::share(value);
    let share = share.ok_or_else(|| bad(link, "reorder", value, "0% to 100% such as 1%, or `all`"))?;
    Ok(if share == 0 { Order::Kept } else { Order::Skips(share) })
}

fn arq(link: &str, value: &str) -> Result<(u32, Nanos), LinkError> {
    let parsed = value.split_once('/').and_then(|(share, wait)| {
        let share = quantity::share(share).filter(|share| *share < 1_000_000)?;
        Some((share, quantity::time(wait).filter(|wait| (1..=10 * SECOND).contains(wait))?))
    });
    parsed.ok_or_else(|| bad(link, "arq", value, "SHARE/TIME below 100% and at most 10 s, such as 10%/8ms"))
}

fn changes(link: &str, value: &str) -> Result<Changes, LinkError> {
    let expected =
        "walk(SHARE) such as walk(30%), or markov(RATE,p,r) such as markov(20%,2%,10%) with p and r above 0%";
    let shares =
        |name: &str| -> Option<Vec<u32>> { call(value, name)?.into_iter().map(quantity::share).collect() };
    match (shares("walk").as_deref(), shares("markov").as_deref()) {
        (Some(&[deviation]), _) => Ok(Changes::Walk { deviation }),
        (_, Some(&[bad, worsens, mends])) if bad > 0 && worsens > 0 && mends > 0 => {
            Ok(Changes::Markov { bad, worsens, mends })
        }
        _ => Err(bad(link, "vary", value, expected)),
    }
}

fn shift(link: &str, value: &str) -> Result<Shift, LinkError> {
    let time = |word: &str| quantity::time(word).filter(|time| *time <= 600 * SECOND);
    let parsed = value.split_once('@').and_then(|(every, rest)| {
        let (first, rest) = rest.split_once('(')?;
        let (gap, most) = rest.strip_suffix(')')?.split_once(',')?;
        Some(Shift { every: time(every)?, first: time(first)?, gap: time(gap)?, most: time(most)? })
    });
    // Gaps of ten minutes repeat, so that they must fit.
    let fits = |shift: &Shift| {
        let Shift { every, gap, most, .. } = *shift;
        every >= SECOND / 10
            && (600 * SECOND).is_multiple_of(every)
            && gap <= every / 2
            && most <= 10 * SECOND
    };
    let expected = "EVERY@FIRST(GAP,DELAY) such as 15s@12s(80ms,10ms), 600 s a multiple of EVERY, GAP at most half of it";
    parsed.filter(fits).ok_or_else(|| bad(link, "reconfigure", value, expected))
}

fn tokens(link: &str, what: &'static str, value: &str) -> Result<Tokens, LinkError> {
    let parsed = value.split_once('/').and_then(|(rate, burst)| {
        let burst = quantity::size(burst).filter(|burst| (1500..=1_000_000_000).contains(burst))?;
        Some(Tokens { rate: parse_rate(rate)?, burst: u32::try_from(burst).ok()? })
    });
    parsed.ok_or_else(|| bad(link, what, value, "RATE/BURST such as 5mbit/64kB, a burst of 1500B to 1GB"))
}

fn aggregation(link: &str, value: &str) -> Result<Aggregation, LinkError> {
    let parsed = value.split_once('/').and_then(|(most, overhead)| {
        let most = most.parse().ok().filter(|most| (1..=1024).contains(most))?;
        let overhead = quantity::time(overhead).filter(|overhead| *overhead <= MOST_OVERHEAD)?;
        Some(Aggregation { most, overhead })
    });
    let expected = "PACKETS/TIME, 1 to 1024 and at most 3ms, such as 64/200us";
    parsed.ok_or_else(|| bad(link, "aggregate", value, expected))
}

fn grant(link: &str, value: &str) -> Result<Grant, LinkError> {
    let time = |word: &str| quantity::time(word).filter(|time| *time <= SECOND);
    let parsed = value.split_once('/').and_then(|(cycle, answer)| {
        Some(Grant { cycle: time(cycle).filter(|cycle| *cycle > 0)?, answer: time(answer)? })
    });
    parsed.ok_or_else(|| bad(link, "grant", value, "CYCLE/ANSWER of at most 1 s, such as 10ms/4ms"))
}

fn queue(link: &str, value: &str) -> Result<(Option<QueueWord>, Option<Length>), LinkError> {
    let (name, written) = match value.split_once(',') {
        Some((name, length)) => (Some(name), Some(length)),
        None if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') => (None, Some(value)),
        None => (Some(value), None),
    };
    let queue = name.map(|name| {
        QueueWord::of(name).ok_or_else(|| LinkError::Queue {
            link: link.to_string(),
            word: name.to_string(),
            hint: did_you_mean(name, QueueWord::ALL.iter().map(|queue| queue.word())),
        })
    });
    let length = written.map(|written| {
        let expected =
            "1 to 10000000 packets, such as 100p, or a time such as 100ms, or products such as 2bdp";
        length(written).ok_or_else(|| bad(link, "queue", written, expected))
    });
    Ok((queue.transpose()?, length.transpose()?))
}

pub(super) fn length(written: &str) -> Option<Length> {
    if let Some(products) = written.strip_suffix("bdp") {
        let products = quantity::decimal(products, 1_000_000)?;
        return (1..=1_000_000_000).contains(&products).then_some(Length::Products(products));
    }
    if let Some(time) = quantity::time(written) {
        return (1..=600 * SECOND).contains(&time).then_some(Length::Time(time));
    }
    let packets = quantity::packets(written)?;
    (1..=10_000_000).contains(&packets).then_some(Length::Packets(packets))
}

impl Length {
    /// In packets of 1500 bytes, one at least. `round_trip`: propagation both ways.
    pub(super) fn packets(self, rate: u64, round_trip: Nanos) -> u32 {
        let sent = |time: u128| {
            let packet = 8 * u128::from(super::PACKET_BYTES) * u128::from(SECOND);
            ((u128::from(rate) * time + packet / 2) / packet).clamp(1, 10_000_000) as u32
        };
        match self {
            Self::Packets(packets) => packets,
            Self::Time(time) => sent(time.into()),
            Self::Products(products) => sent(u128::from(round_trip) * u128::from(products) / 1_000_000),
        }
    }
}
