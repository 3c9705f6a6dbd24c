//! The agent's configuration: TOML, read with serde; mistakes are reported with line and column.

use super::Error;
use super::estimate::Rule;
use super::event::Kind;
use super::netlink::MAIN_TABLE;
use super::quantity::{rate_kbps, time_us};
use super::settings::{Config, Gap, Others, OwnTreated, Place, Receivers, Settings, Treated};
use super::socket;
use ipnet::IpNet;
use segue_kernel::host;
use segue_kernel::mobile::Way;
use segue_kernel::receiver;
use segue_kernel::sender::Policy;
use segue_policy::Link;
use segue_words::text;
use serde::Deserialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// The configuration that holds without a file, and an example of one.
pub const EXAMPLE: &str = include_str!("../../../examples/agent.toml");
/// The file that is read unless another is named, if it is there.
pub const PLACE: &str = "/etc/segue/agent.toml";
/// Largest file, MiB.
const LARGEST_MIB: u64 = 1;
/// The kind of file, for messages.
const EXPECTED: &str = "TOML as in examples/agent.toml";
/// Unless the file says otherwise.
const OTHERS: Treated = Treated { resume: true, window: true, freeze: 500_000_000, mtu: true };
/// The longest break before which windows may be closed, us.
const LONGEST_FREEZE: u32 = 60_000_000;
/// Most entries of a list.
const MOST: usize = 64;

/// The file's keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    watch: Option<Spanned<Vec<Spanned<String>>>>,
    cgroup: Option<Spanned<PathBuf>>,
    control: Option<Spanned<PathBuf>>,
    group: Option<Spanned<GroupWord>>,
    pin: Option<Spanned<PathBuf>>,
    copies: Option<Spanned<i64>>,
    way: Option<WayWord>,
    interval: Option<Spanned<String>>,
    limit: Option<Spanned<String>>,
    station_share: Option<Spanned<i64>>,
    table: Option<Spanned<i64>>,
    uploads: Option<Spanned<String>>,
    freeze_before: Option<Spanned<String>>,
    phas: Option<Spanned<Vec<Spanned<String>>>>,
    phas_for: Option<Spanned<String>>,
    others: Option<OthersWords>,
    #[serde(default)]
    gaps: Vec<Spanned<GapWords>>,
    #[serde(default)]
    link: Vec<Spanned<LinkWords>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OthersWords {
    scope: Option<ScopeWord>,
    resume: Option<bool>,
    window: Option<bool>,
    freeze: Option<Spanned<String>>,
    mtu: Option<bool>,
    #[serde(default)]
    prefix: Vec<Spanned<PrefixWords>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScopeWord {
    Host,
    Forwarded,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefixWords {
    to: Spanned<String>,
    resume: Option<bool>,
    window: Option<bool>,
    freeze: Option<Spanned<String>>,
    mtu: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkWords {
    device: Option<Spanned<String>>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    rate: Spanned<String>,
    up: Option<Spanned<String>>,
    delay: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GapWords {
    device: Spanned<String>,
    at: Spanned<String>,
    length: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the name or the number of a group")]
enum GroupWord {
    Number(u32),
    Name(String),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WayWord {
    Auto,
    /// The word of 0.1 was `poke`.
    #[serde(alias = "poke")]
    Trigger,
    Crafted,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or says what it must not.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = text::read(path, LARGEST_MIB);
        let text = text.map_err(|problem| Error::Unreadable { path: name.clone(), problem })?;
        Self::parse(&text, &name)
    }

    /// The file at its usual place, or what holds without one.
    ///
    /// # Errors
    /// As of [`Config::read`].
    pub fn usual() -> Result<Self, Error> {
        let place = Path::new(PLACE);
        if place.exists() { Self::read(place) } else { Self::parse(EXAMPLE, "the built-in configuration") }
    }

    /// Reads a file's text; `name` is for messages.
    ///
    /// # Errors
    /// It says what it must not.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let source = Source { text, name };
        let written: Written = toml::from_str(text).map_err(|error| {
            let end = text.len();
            let span = error.span().unwrap_or(end..end);
            let problem = match text.get(span.clone()) {
                Some(key) if error.message() == "duplicate key" => {
                    format!("duplicate key `{key}`; expected it once")
                }
                _ => text::plain(error.message(), EXPECTED),
            };
            source.at(span, &problem)
        })?;
        source.config(written)
    }
}

/// A prefix of hosts; `or`: what else was expected.
fn prefix(word: &str, or: &str) -> Result<IpNet, String> {
    let net: IpNet =
        word.parse().map_err(|_| format!("is no prefix; expected {or}one such as 192.0.2.0/24"))?;
    if net.trunc() != net {
        return Err(format!("has bits beyond its length; expected {}", net.trunc()));
    }
    Ok(net)
}

struct Source<'a> {
    text: &'a str,
    name: &'a str,
}

impl Source<'_> {
    fn at(&self, span: Range<usize>, problem: &str) -> Error {
        let (line, column) = text::place(self.text, span.start);
        Error::Config { path: self.name.to_owned(), line, column, problem: problem.to_owned() }
    }

    fn config(&self, written: Written) -> Result<Config, Error> {
        let settings = Settings {
            watch: self.watch(&written)?,
            copies: self.number("copies", &written.copies, 2, 1..=8)?,
            way: match written.way {
                None | Some(WayWord::Auto) => Way::Auto,
                Some(WayWord::Trigger) => Way::Trigger,
                Some(WayWord::Crafted) => Way::Crafted,
            },
            interval: self.time("interval", &written.interval, 1_000_000, 100_000..=60_000_000)?,
            limit: self.time("limit", &written.limit, 1_000_000, 10_000..=60_000_000)?,
            station_share: self.number("station-share", &written.station_share, 60, 1..=100)?,
            rules: self.rules(&written)?,
            inherits: false,
        };
        let absolute = |what: &str, path: &Option<Spanned<PathBuf>>| match path {
            Some(path) if !path.get_ref().is_absolute() => {
                Err(self.at(path.span(), &format!("{what}: expected a path that begins with /")))
            }
            path => Ok(path.as_ref().map(|path| path.get_ref().clone())),
        };
        let pin = absolute("pin", &written.pin)?;
        let place = absolute("control", &written.control)?;
        if let (Some(place), Some(word)) = (&place, &written.control) {
            socket::check_place(place)
                .map_err(|problem| self.at(word.span(), &format!("control: {problem}")))?;
        }
        let cgroup_place = written.cgroup.as_ref().map(|word| {
            let (line, column) = text::place(self.text, word.span().start);
            Place { path: self.name.to_owned(), line, column }
        });
        Ok(Config {
            cgroup_place,
            cgroup: absolute("cgroup", &written.cgroup)?,
            control: place.unwrap_or_else(|| socket::PLACE.into()),
            group: written
                .group
                .as_ref()
                .map(|group| match group.get_ref() {
                    GroupWord::Number(number) => Ok(socket::Group::numbered(*number)),
                    GroupWord::Name(name) => {
                        socket::Group::named(name).map_err(|error| self.at(group.span(), &error.to_string()))
                    }
                })
                .transpose()?,
            pin: pin.or_else(|| host::bpffs().map(|root| root.join("segue").join("agent"))),
            table: self.number("table", &written.table, MAIN_TABLE, 1..=u32::MAX)?,
            uploads: self.uploads(&written.uploads)?,
            receivers: self.receivers(&written)?,
            others: self.others(&written)?,
            settings,
        })
    }

    fn watch(&self, written: &Written) -> Result<Vec<IpNet>, Error> {
        let everywhere = || ["0.0.0.0/0", "::/0"].map(|net| net.parse().expect("a prefix"));
        let Some(words) = &written.watch else { return Ok(everywhere().to_vec()) };
        if words.get_ref().is_empty() || words.get_ref().len() > MOST {
            return Err(self.at(words.span(), &format!("watch: expected 1 to {MOST} prefixes")));
        }
        let mut all: Vec<IpNet> = Vec::new();
        for word in words.get_ref() {
            let fail = |problem: &str| {
                let word = word.get_ref();
                self.at(words.span(), &format!("watch: `{word}` {problem}"))
            };
            let nets = match word.get_ref().as_str() {
                "default" => everywhere().to_vec(),
                net => vec![prefix(net, "\"default\" or ").map_err(|problem| fail(&problem))?],
            };
            for net in nets {
                // Each connection would be told twice.
                if let Some(other) = all.iter().find(|other| other.contains(&net) || net.contains(*other)) {
                    return Err(fail(&format!("overlaps {other}; expected prefixes apart from each other")));
                }
                all.push(net);
            }
        }
        Ok(all)
    }

    fn others(&self, written: &Written) -> Result<Others, Error> {
        let Some(words) = &written.others else {
            return Ok(Others { all: OTHERS, prefixes: Vec::new(), forwarded: false });
        };
        if words.prefix.len() > MOST {
            return Err(self.at(words.prefix[MOST].span(), &format!("prefix: expected at most {MOST}")));
        }
        let mut prefixes: Vec<(IpNet, OwnTreated)> = Vec::new();
        for words in &words.prefix {
            let PrefixWords { to, resume, window, freeze, mtu } = words.get_ref();
            let fail = |problem: &str| self.at(to.span(), &format!("to: `{}` {problem}", to.get_ref()));
            let net = prefix(to.get_ref(), "").map_err(|problem| fail(&problem))?;
            if prefixes.iter().any(|(other, _)| *other == net) {
                return Err(fail("stands twice; expected each prefix once"));
            }
            if resume.is_none() && window.is_none() && freeze.is_none() && mtu.is_none() {
                return Err(fail("is treated as all others; expected `resume`, `window`, `freeze` or `mtu`"));
            }
            let freeze = freeze.as_ref().map(|_| self.freeze(freeze)).transpose()?;
            prefixes.push((net, OwnTreated { resume: *resume, window: *window, freeze, mtu: *mtu }));
        }
        let all = Treated {
            resume: words.resume.unwrap_or(OTHERS.resume),
            window: words.window.unwrap_or(OTHERS.window),
            freeze: self.freeze(&words.freeze)?,
            mtu: words.mtu.unwrap_or(OTHERS.mtu),
        };
        let forwarded = matches!(words.scope, Some(ScopeWord::Forwarded));
        Ok(Others { all, prefixes, forwarded })
    }

    /// The longest foreseen break before which windows are closed, ns.
    fn freeze(&self, word: &Option<Spanned<String>>) -> Result<u64, Error> {
        let unless_given = u32::try_from(OTHERS.freeze / 1000).unwrap_or(u32::MAX);
        self.time("freeze", word, unless_given, 0..=LONGEST_FREEZE)
    }

    fn uploads(&self, word: &Option<Spanned<String>>) -> Result<Option<Policy>, Error> {
        let name = word.as_ref().map_or("etcp-v1", |word| word.get_ref().as_str());
        if name == "off" {
            return Ok(None);
        }
        Policy::named(name, &[]).map(Some).map_err(|problem| {
            let span = word.as_ref().map_or(0..0, Spanned::span);
            self.at(span, &format!("uploads: {problem}; expected one of them, or off"))
        })
    }

    fn receivers(&self, written: &Written) -> Result<Receivers, Error> {
        let duration = |ns| Duration::from_nanos(ns);
        let before = duration(self.time("freeze-before", &written.freeze_before, 150_000, 0..=60_000_000)?);
        if written.gaps.len() > MOST {
            return Err(self.at(written.gaps[MOST].span(), &format!("gaps: expected at most {MOST}")));
        }
        let mut gaps: Vec<Gap> = Vec::new();
        for words in &written.gaps {
            let GapWords { device, at, length } = words.get_ref();
            let fail = |problem: String| self.at(at.span(), &problem);
            let gap = Gap {
                device: self.device(device, false)?,
                at: at.get_ref().parse().map_err(|problem: receiver::Error| fail(problem.to_string()))?,
                length: duration(self.time("length", length, 100_000, 0..=60_000_000)?),
            };
            gap.announced(before).map_err(|problem| fail(problem.to_string()))?;
            if gaps.iter().any(|other| other.device == gap.device) {
                let problem = format!("`{}` has gaps already; expected each device once", gap.device);
                return Err(self.at(device.span(), &problem));
            }
            gaps.push(gap);
        }
        if let Some(word) = written.freeze_before.as_ref().filter(|_| gaps.is_empty()) {
            return Err(self.at(word.span(), "freeze-before: no gaps are announced; expected [[gaps]]"));
        }
        let mut phas = Vec::new();
        for word in written.phas.as_ref().map_or(&[][..], |words| words.get_ref().as_slice()) {
            let name = self.device(word, false)?;
            if phas.contains(&name) {
                return Err(
                    self.at(word.span(), &format!("`{name}` stands twice; expected each device once"))
                );
            }
            phas.push(name);
        }
        if let Some(word) = written.phas_for.as_ref().filter(|_| phas.is_empty()) {
            return Err(self.at(word.span(), "phas-for: no device holds back; expected phas = [\"DEVICE\"]"));
        }
        let hold_for = duration(self.time("phas-for", &written.phas_for, 2_000_000, 10_000..=300_000_000)?);
        Ok(Receivers { freeze_before: before, gaps, phas, hold_for })
    }

    /// A device's name; `pattern`: it may end with *.
    fn device(&self, word: &Spanned<String>, pattern: bool) -> Result<String, Error> {
        let text = word.get_ref();
        let name = if pattern { text.strip_suffix('*').unwrap_or(text) } else { text };
        // IFNAMSIZ
        let fits = name.len() <= 15 && !name.contains(['*', '/']) && !name.contains(char::is_whitespace);
        if fits && !text.is_empty() {
            return Ok(text.clone());
        }
        let example = if pattern { "wlan0 or wwan*" } else { "wlan0" };
        Err(self.at(word.span(), &format!("`{text}` is no device; expected a name such as {example}")))
    }

    fn rules(&self, written: &Written) -> Result<Vec<Rule>, Error> {
        if written.link.len() > MOST {
            return Err(self.at(written.link[MOST].span(), &format!("link: expected at most {MOST}")));
        }
        let rule = |words: &Spanned<LinkWords>| {
            let words = words.get_ref();
            let rate = |word: &Spanned<String>| {
                rate_kbps(word.get_ref()).map_err(|problem| self.at(word.span(), &problem))
            };
            let delay = &words.delay;
            let down = rate(&words.rate)?;
            Ok(Rule {
                device: words.device.as_ref().map(|device| self.device(device, true)).transpose()?,
                kind: words.kind,
                link: Link {
                    rate_kbps: down,
                    delay_us: time_us(delay.get_ref()).map_err(|problem| self.at(delay.span(), &problem))?,
                },
                up_kbps: words.up.as_ref().map_or(Ok(down), rate)?,
            })
        };
        written.link.iter().map(rule).collect()
    }

    fn number<T: Copy + PartialOrd + TryFrom<i64> + std::fmt::Display>(
        &self,
        key: &str,
        word: &Option<Spanned<i64>>,
        unless_given: T,
        range: std::ops::RangeInclusive<T>,
    ) -> Result<T, Error> {
        let Some(word) = word else { return Ok(unless_given) };
        if let Some(number) = T::try_from(*word.get_ref()).ok().filter(|number| range.contains(number)) {
            return Ok(number);
        }
        let (number, least, most) = (word.get_ref(), range.start(), range.end());
        Err(self.at(word.span(), &format!("{key} {number} is out of range; expected {least} to {most}")))
    }

    /// In ns; bounds in us.
    fn time(
        &self,
        key: &str,
        word: &Option<Spanned<String>>,
        unless_given: u32,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u64, Error> {
        let Some(word) = word else { return Ok(u64::from(unless_given) * 1000) };
        let time =
            time_us(word.get_ref()).map_err(|problem| self.at(word.span(), &format!("{key}: {problem}")))?;
        if range.contains(&time) {
            return Ok(u64::from(time) * 1000);
        }
        let (least, most) = (range.start() / 1000, range.end() / 1000);
        let problem = format!("{key} {} is out of range; expected {least}ms to {most}ms", word.get_ref());
        Err(self.at(word.span(), &problem))
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
