//! Query strings: their words and limits. [`schema`](crate::schema) describes them to programs.

use crate::refusal::{Refusal, quoted};
use crate::traces::Traces;
use segue_study::bench_words::{ADDRESS, BENCH_WORDS, EVERY, HANDOFFS, OVERLAP, RETURN, SOFT};
use segue_study::request::PACKETS;
use segue_study::{Plan, Request, RequestError, Times};
use segue_tcp::StackProfile;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::stack_names;
use segue_words::quantity::{self, TIME};
use segue_words::{Choice, did_you_mean, forgiven};
use segue_world::access::{LinkDelay, PRESETS, QueueWord, TODAY};
use segue_world::{
    AccessLink, Address, Kind, LinkError, Nanos, NoticeMode, NoticeWord, SECOND, SimulatedKind, SoftWord,
};
use std::path::Path;

/// Longest query string, bytes.
pub const LONGEST_QUERY: usize = 4096;
/// Rates of links, bit/s.
pub const RATES: [u64; 2] = [16_000, 2_000_000_000];
/// The old link of a handoff at one of [`USUAL_TIMES`] has at most this rate.
pub const FAST: u64 = 100_000_000;
/// One-way delays of links.
pub const DELAYS: [Nanos; 2] = [1_000_000, SECOND];
/// Largest queue of a link, packets: its BDP of a round trip.
pub const LARGEST_QUEUE: u32 = 8_000;
/// Most letters of a link.
const LONGEST_LINK: usize = 200;
/// Disconnections.
pub const DISCONNECTIONS: [Nanos; 2] = [1_000_000, 60 * SECOND];
/// Most flows.
pub const MOST_FLOWS: usize = 8;
/// Most other users on each link.
pub const MOST_NEIGHBOURS: u64 = 20;
/// Most schemes.
pub const MOST_SCHEMES: usize = 8;
/// Most handoffs of a run.
pub const MOST_IN_A_RUN: u64 = 10;
/// Times between two of them.
pub const BETWEEN: [Nanos; 2] = [10_000_000, 60 * SECOND];
/// Most packets of a transfer.
pub const MOST_PACKETS: u32 = 1_000;
/// Most handoff times of a comparison.
pub const MOST_POINTS: usize = 200;
/// Latest handoff time.
pub const LATEST: Nanos = 60 * SECOND;
/// Handoff times unless given.
pub const USUAL_TIMES: &str = "0.1s..20s/0.1s";
/// The same on a faster old link: as many times, before which fewer packets are sent.
pub const FAST_TIMES: &str = "0.025s..5s/0.025s";
/// The same beside neighbours, who begin in the first 0.1 s.
const FAST_TIMES_OF_NEIGHBOURS: &str = "0.1s..5s/0.025s";
/// The handoff that the page draws unless it is told another: one of [`USUAL_TIMES`].
pub const USUAL_DRAWN: &str = "8.2s";
/// The same on a faster old link: one of [`FAST_TIMES`], as far into them.
const FAST_DRAWN: &str = "2.05s";
/// Schemes unless given.
pub const USUAL_SCHEMES: &str = "sack,etcp-v1";

/// The page's keys beside those of a comparison: when it wants to have what is done by then, and which handoff it
/// draws beside.
const WITHIN: &str = "within";
const DRAWN: &str = "drawn";
/// The word for the handoff that is [drawn](Question::usually_drawn) unless the user has chosen one.
const USUAL: &str = "usual";

/// Answers that can be asked for, over the handoffs of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// All of them.
    Compare,
    /// All of them for the page, which may ask for some of them [sooner](WITHIN).
    Page,
    /// One of them.
    Trace,
    /// The packets of one of them with one scheme.
    Capture,
}

impl Endpoint {
    /// Whether it is about one handoff.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Trace | Self::Capture)
    }
}

/// Every key, and whether it concerns one handoff as well as many.
pub const KEYS: [(&str, bool); 24] = [
    ("old", true),
    ("new", true),
    ("kind", true),
    ("disconnect", true),
    ("overlap", true),
    ("soft", true),
    ("return", true),
    ("address", true),
    ("flows", true),
    ("schemes", true),
    ("notice", true),
    ("notice-loss", true),
    ("notice-error", true),
    ("packets", true),
    ("definition", true),
    ("stack", true),
    ("cc", true),
    ("traffic", true),
    ("neighbours", true),
    ("seed", true),
    ("at", true),
    ("handoffs", false),
    ("every", false),
    ("points", false),
];

/// Keys whose words are forgiven their case and blanks after commas. Links have their own rule.
const FORGIVEN: [&str; 11] = [
    "kind",
    "soft",
    "address",
    "schemes",
    "notice",
    "notice-error",
    "definition",
    "stack",
    "cc",
    "traffic",
    "neighbours",
];

/// All words of a choice.
pub fn words_of<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|choice| choice.word()).collect()
}

/// The congestion controls of stacks that have a choice.
pub fn controls() -> Vec<&'static str> {
    CcName::ALL.iter().map(|control| control.name()).collect()
}

fn unknown(key: &str, word: &str, known: &[&str]) -> Refusal {
    Refusal::bad(format!(
        "unknown {key} {}; expected one of {}{}",
        quoted(word),
        known.join(", "),
        did_you_mean(word, known.iter().copied())
    ))
}

/// A question, checked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The plan to run.
    pub plan: Plan,
    /// The handoff times as they were written, unless they are the usual ones.
    pub times: Option<String>,
    /// The handoff that the page draws unless it is told another.
    pub usually_drawn: &'static str,
    /// The question of the handoff that the page draws beside the comparison, if it does.
    pub drawn: Option<Result<Box<Question>, Refusal>>,
    /// Handoff times before some were left out.
    pub all_points: usize,
    /// When the page wants to have what is done by then; if never, it wants the whole.
    pub within: Option<Nanos>,
    /// The same for all query strings that ask the same.
    pub name: String,
}

/// The words of a query string, each key once.
struct Words(Vec<(String, String)>);

impl Words {
    fn of(query: &str, endpoint: Endpoint) -> Result<Self, Refusal> {
        if query.len() > LONGEST_QUERY {
            return Err(Refusal::bad(format!(
                "the query has {} bytes; expected at most {LONGEST_QUERY}",
                query.len()
            )));
        }
        let own = [WITHIN, DRAWN].into_iter().filter(|_| endpoint == Endpoint::Page);
        let of_this = |single: bool| single || !endpoint.is_single();
        let keys = || KEYS.iter().filter(|(_, single)| of_this(*single)).map(|key| key.0).chain(own.clone());
        let mut words: Vec<(String, String)> = Vec::new();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            if !keys().any(|known| known == key) {
                return Err(Refusal::bad(format!(
                    "unknown key {}; expected one of {}{}",
                    quoted(&key),
                    keys().collect::<Vec<_>>().join(", "),
                    did_you_mean(&key, keys())
                )));
            }
            if words.iter().any(|(other, _)| *other == key) {
                return Err(Refusal::bad(format!("`{key}` is given twice; expected it once")));
            }
            let value = if FORGIVEN.contains(&&*key) { forgiven(&value) } else { value.into_owned() };
            words.push((key.into_owned(), value));
        }
        Ok(Self(words))
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| &**value)
    }

    /// The words of one handoff, that at `at`.
    fn of_handoff(&self, at: Nanos) -> Self {
        let single = |key: &str| key != "at" && KEYS.iter().any(|(known, single)| *known == key && *single);
        let words = self.0.iter().filter(|(key, _)| single(key)).cloned();
        Self(words.chain([("at".to_string(), in_seconds(at))]).collect())
    }

    fn needed(&self, key: &str, example: &str) -> Result<&str, Refusal> {
        self.get(key).ok_or_else(|| Refusal::bad(format!("`{key}` is missing; expected {example}")))
    }

    /// One of the words of `T`; the first unless given.
    fn choice<T: Choice>(&self, key: &str) -> Result<T, Refusal> {
        let Some(word) = self.get(key) else { return Ok(T::ALL[0]) };
        T::of(word).ok_or_else(|| unknown(key, word, &words_of::<T>()))
    }

    fn number(&self, key: &str, usual: u64, range: [u64; 2]) -> Result<u64, Refusal> {
        self.get(key).map_or(Ok(usual), |word| Self::within(key, word, range))
    }

    /// As many neighbours as an answer in time has room for; all else about them is for the bench to say.
    fn neighbours(&self) -> Result<(), Refusal> {
        let count = self.get("neighbours").and_then(|word| word.split_whitespace().next());
        let digits = |word: &&str| word.trim_start_matches(['-', '+']).bytes().all(|b| b.is_ascii_digit());
        let count = count.filter(digits);
        count.map_or(Ok(()), |word| Self::within("neighbours", word, [1, MOST_NEIGHBOURS]).map(drop))
    }

    /// The number that a word is.
    fn within(key: &str, word: &str, [least, most]: [u64; 2]) -> Result<u64, Refusal> {
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        // Digits that are no u64 are more than it holds.
        let number = digits.then(|| word.parse::<u64>().unwrap_or(u64::MAX));
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            let nearest = if number.is_some_and(|number| number > most) { most } else { least };
            Refusal::bad(format!(
                "bad {key} {}; expected a whole number from {least} to {most}; the nearest is {nearest}",
                quoted(word)
            ))
        })
    }

    fn link(&self, key: &str, traces: &Traces) -> Result<AccessLink, Refusal> {
        let text = self.needed(key, "a link such as 6400kbit/9ms")?;
        let shown = quoted(text);
        if text.len() > LONGEST_LINK {
            return Err(Refusal::bad(format!(
                "{key}: unknown link {shown}; expected RATE/DELAY such as 6400kbit/9ms"
            )));
        }
        if text.starts_with("trace:") {
            let link = traces.link(text).map_err(|problem| Refusal::bad(format!("{key}: {problem}")))?;
            return limited(key, link);
        }
        let link = AccessLink::parse_forgiving(text, Path::new(""), traces.own()).map_err(|error| {
            Refusal::bad(match error {
                // Without the measured links, of which the message of all commands tells.
                LinkError::Unknown { presets, hint, .. } => format!(
                    "{key}: unknown link {shown}; expected RATE/DELAY such as 6400kbit/9ms, or one of {presets}{hint}"
                ),
                error => format!("{key}: {error}"),
            })
        })?;
        limited(key, link)
    }

    fn time(&self, key: &str, usual: Nanos, [least, most]: [Nanos; 2]) -> Result<Nanos, Refusal> {
        let Some(word) = self.get(key) else { return Ok(usual) };
        let range = format!("{} to {}", in_seconds(least), in_seconds(most));
        match quantity::time(word) {
            None => Err(Refusal::bad(format!("bad {key} {}; expected {TIME}, {range}", quoted(word)))),
            Some(time) if !(least..=most).contains(&time) => Err(Refusal::bad(format!(
                "{key} {} is out of range; expected {range}; the nearest is {}",
                quoted(word),
                in_seconds(time.clamp(least, most))
            ))),
            Some(time) => Ok(time),
        }
    }

    fn times(&self, usual: &str) -> Result<Times, Refusal> {
        let word = self.get("at").unwrap_or(usual);
        let fail = |problem: String| Refusal::bad(format!("at {}: {problem}", quoted(word)));
        let Times(times) = Times::parse(word).map_err(fail)?;
        if times.len() > MOST_POINTS {
            return Err(fail(format!(
                "{} handoff times are too many; expected at most {MOST_POINTS}",
                times.len()
            )));
        }
        if times.last().is_some_and(|last| *last > LATEST) {
            return Err(fail(format!("out of range; expected at most {}", in_seconds(LATEST))));
        }
        Ok(Times(times))
    }
}

/// The link, if it is within the limits; of a measured one its mean rates.
fn limited(key: &str, link: AccessLink) -> Result<AccessLink, Refusal> {
    let shown = quoted(&link.text);
    let range = |what: &str, least: &str, most: &str, nearest: &str| {
        Err(Refusal::bad(format!(
            "{key}: the {what} of {shown} is out of range; expected {least} to {most}; the nearest is {nearest}"
        )))
    };
    let delays = [Some(&link.delay), link.up_delay.as_ref()].into_iter().flatten();
    let delays: Vec<Nanos> = delays
        .filter_map(|delay| match delay {
            LinkDelay::Fixed(delay) => Some(*delay),
            LinkDelay::Trace(_) => None,
        })
        .collect();
    let rates = [link.down.mean_rate(), link.up.mean_rate()];
    if rates.iter().any(|rate| *rate < RATES[0]) {
        return range("rate", "16kbit", "2gbit", "16kbit");
    }
    if rates.iter().any(|rate| *rate > RATES[1]) {
        return range("rate", "16kbit", "2gbit", "2gbit");
    }
    if delays.iter().any(|delay| *delay < DELAYS[0]) {
        return range("delay", "1ms", "1s", "1ms");
    }
    if delays.iter().any(|delay| *delay > DELAYS[1]) {
        return range("delay", "1ms", "1s", "1s");
    }
    if link.queue > LARGEST_QUEUE && link.features[0].queue == QueueWord::DropTail {
        return Err(Refusal::bad(format!(
            "{key}: {} of {shown} is {} packets; expected at most {LARGEST_QUEUE}: {}",
            if link.names_queue() { "the queue" } else { "the bandwidth-delay product" },
            link.queue,
            if link.names_queue() { "a shorter one" } else { "less rate or less delay" }
        )));
    }
    Ok(link)
}

/// Presets within the limits: those of 2009, and those of today with their usual variant.
pub fn presets() -> Vec<(&'static str, &'static str)> {
    let today = TODAY.iter().map(|preset| (preset.name, preset.links[1]));
    let named = PRESETS.into_iter().chain(today);
    let within = |name: &str| AccessLink::parse(name).is_ok_and(|link| limited("old", link).is_ok());
    named.filter(|(name, _)| within(name)).collect()
}

/// Links that the user has named, within the limits, and what they stand for: rate, delay and words.
pub fn own_links(traces: &Traces) -> Vec<(String, String)> {
    let known = presets();
    let names = traces.own();
    let within = |link: &str| {
        AccessLink::parse_in(link, traces.folder(), names).is_ok_and(|link| limited("old", link).is_ok())
    };
    let own = names.own().iter().filter(|(name, _)| within(name));
    own.map(|(name, link)| {
        let (base, words) = link.split_at(link.find(',').unwrap_or(link.len()));
        let meaning = known.iter().find(|(preset, _)| preset.eq_ignore_ascii_case(base.trim()));
        (name.clone(), format!("{}{words}", meaning.map_or(base, |(_, link)| link)))
    })
    .collect()
}

/// A time as all commands read it.
pub fn in_seconds(time: Nanos) -> String {
    format!("{}s", time as f64 / SECOND as f64)
}

impl Question {
    /// Reads and checks a query string.
    pub fn parse(query: &str, endpoint: Endpoint, traces: &Traces) -> Result<Self, Refusal> {
        Self::of(&Words::of(query, endpoint)?, endpoint, traces)
    }

    fn of(words: &Words, endpoint: Endpoint, traces: &Traces) -> Result<Self, Refusal> {
        let (old, new) = (words.link("old", traces)?, words.link("new", traces)?);
        let (usual, usually_drawn) = match old.down.mean_rate() > FAST {
            true if words.get("neighbours").is_some() => (FAST_TIMES_OF_NEIGHBOURS, FAST_DRAWN),
            true => (FAST_TIMES, FAST_DRAWN),
            false => (USUAL_TIMES, USUAL_DRAWN),
        };
        let disconnect = words.time("disconnect", SECOND, DISCONNECTIONS)?;
        let kind = words.choice::<SimulatedKind>("kind")?.with(disconnect);
        // Words of other kinds are checked and left out, as the disconnection is.
        words.time(OVERLAP, SECOND, DISCONNECTIONS)?;
        words.time(RETURN, SECOND, DISCONNECTIONS)?;
        words.choice::<SoftWord>(SOFT)?;
        words.choice::<Address>(ADDRESS)?;
        let of_another_kind = |key| match key {
            OVERLAP | SOFT => !matches!(kind, Kind::Soft(_)),
            RETURN => !matches!(kind, Kind::PingPong(_)),
            _ => false,
        };
        words.number(HANDOFFS, 1, [1, MOST_IN_A_RUN])?;
        words.neighbours()?;
        words.time(EVERY, SECOND, BETWEEN)?;
        let known = BENCH_WORDS.iter().map(|word| word.key).filter(|&key| !of_another_kind(key));
        let settings = known.filter_map(|key| Some((key.to_string(), words.get(key)?.to_string())));
        let lost = words.number("notice-loss", 0, [0, 2])? as u32;
        let notice = match (words.choice("notice")?, lost) {
            (NoticeWord::Instant, 0) => NoticeMode::Instant,
            (NoticeWord::Instant, _) => {
                return Err(Refusal::bad(
                    "notice-loss: an instant notice is never lost; expected 0, or `in-band` as notice".into(),
                ));
            }
            (NoticeWord::InBand, lost) => NoticeMode::InBand { lost },
        };
        let definition = words.choice("definition")?;
        let stack = words.get("stack").map(|word| match StackProfile::named(word) {
            Some(_) => Ok(word.to_string()),
            None => Err(unknown("stack", word, &stack_names())),
        });
        let stack = stack.transpose()?;
        let cc = words.get("cc").map(|word| match CcName::named(word) {
            Some(_) => Ok(word.to_string()),
            None => Err(unknown("cc", word, &controls())),
        });
        let cc = cc.transpose()?;
        let times = match endpoint {
            Endpoint::Compare | Endpoint::Page => words.times(usual)?,
            Endpoint::Trace | Endpoint::Capture => {
                words.needed("at", "a time such as 8.2s")?;
                Times(vec![words.time("at", 0, [0, LATEST])?])
            }
        };
        let all_points = times.0.len();
        let within = words.get(WITHIN).map(|_| words.time(WITHIN, 0, [0, LATEST])).transpose()?;
        let drawn = match words.get(DRAWN) {
            None => None,
            Some(USUAL) => quantity::time(usually_drawn),
            Some(_) => Some(words.time(DRAWN, 0, [0, LATEST])?),
        };
        let drawn = drawn.map(|at| Self::of(&words.of_handoff(at), Endpoint::Trace, traces).map(Box::new));
        let points = words.number("points", MOST_POINTS as u64, [1, MOST_POINTS as u64])?;
        let Times(at) = times.thinned(points as usize);
        let request = Request {
            pairs: vec![(old, new)],
            kinds: vec![kind],
            flows: vec![words.number("flows", 1, [1, MOST_FLOWS as u64])? as usize],
            schemes: schemes(words.get("schemes").unwrap_or(USUAL_SCHEMES), endpoint)?,
            at,
            packets: words.number("packets", u64::from(PACKETS), [1, u64::from(MOST_PACKETS)])? as u32,
            definition,
            notice,
            stack,
            cc,
            settings: settings.collect(),
            seed: words.number("seed", 1, [0, u64::from(u32::MAX)])?,
            seeds: 1,
        };
        let times =
            Some(words.get("at").unwrap_or(usual)).filter(|word| *word != USUAL_TIMES).map(String::from);
        let plan = request.plan().map_err(refused)?;
        if endpoint.is_single() && plan.traffic.as_ref().is_some_and(|traffic| !traffic.download) {
            return Err(Refusal::bad(
                "traffic: one handoff is drawn of downloads; expected download among the traffic".into(),
            ));
        }
        // Answers depend on nothing else. Links are what they are written: traces do not change.
        let links: Vec<[&str; 2]> =
            plan.request.pairs.iter().map(|(old, new)| [&*old.text, &*new.text]).collect();
        let name = format!("{links:?} {:?} {times:?} {all_points}", without_links(&plan.request));
        Ok(Self { plan, times, usually_drawn, drawn, all_points, within, name })
    }
}

fn without_links(request: &Request) -> Request {
    Request {
        pairs: Vec::new(),
        kinds: request.kinds.clone(),
        flows: request.flows.clone(),
        schemes: request.schemes.clone(),
        at: request.at.clone(),
        stack: request.stack.clone(),
        cc: request.cc.clone(),
        settings: request.settings.clone(),
        ..*request
    }
}

fn schemes(list: &str, endpoint: Endpoint) -> Result<Vec<String>, Refusal> {
    let names: Vec<String> = list.split(',').map(String::from).collect();
    let most = if endpoint == Endpoint::Capture { 1 } else { MOST_SCHEMES };
    if names.len() > most {
        return Err(Refusal::bad(match endpoint {
            Endpoint::Capture => format!("schemes: expected one for a capture, not {}", names.len()),
            _ => format!("schemes: {} are too many; expected at most {most}", names.len()),
        }));
    }
    match names.iter().find(|name| name.len() > 40) {
        Some(long) => Err(Refusal::bad(format!("unknown scheme {}; segue schemes lists all", quoted(long)))),
        None => Ok(names),
    }
}

/// The request's own objection, without the dashes of the command line's options.
fn refused(error: RequestError) -> Refusal {
    // Keys of questions have no dashes.
    Refusal::bad(error.to_string().trim_start_matches("--").replace(" --", " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_world::access::LinkNames;

    /// The third is too fast for the page.
    #[test]
    fn links_of_the_user_are_offered_with_their_numbers() {
        let own = [("car", "lte,loss=0.5%"), ("far", "3gbit/5ms"), ("home", "80mbit/5ms")];
        let own = own.map(|(name, link)| (name.to_string(), link.to_string())).to_vec();
        let links = own_links(&Traces::none().with(LinkNames::of(own).expect("names")));
        let (_, lte) = presets().into_iter().find(|(name, _)| *name == "lte").expect("a preset");
        let expected = [("car", format!("{lte},loss=0.5%")), ("home", "80mbit/5ms".to_string())];
        assert_eq!(links, expected.map(|(name, link)| (name.to_string(), link)));
    }

    #[test]
    fn the_handoff_that_is_drawn_is_one_of_the_times() {
        for query in ["old=wlan&new=lte", "old=wifi6&new=leo", "old=wifi6&new=leo&neighbours=2"] {
            let question = Question::parse(query, Endpoint::Page, &Traces::none()).expect("a question");
            let drawn = quantity::time(question.usually_drawn).expect("a time");
            assert!(question.plan.request.at.contains(&drawn), "{query}: {}", question.usually_drawn);
        }
    }

    #[test]
    fn queries_have_every_option_of_the_bench() {
        for word in BENCH_WORDS.iter().filter(|word| word.file.is_some()) {
            assert!(KEYS.iter().any(|(key, _)| *key == word.key), "{}", word.key);
        }
    }
}
