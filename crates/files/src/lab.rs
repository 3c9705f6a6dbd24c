//! A laboratory's plan written down as a file: `segue lab run PLAN.toml`. The types below are the format;
//! docs/guide/lab.md explains it.

use crate::FileError;
use crate::place::{PLAN, Source};
use crate::scenario::{SettingWord, Several};
use segue_handoff::Scheme;
use segue_study::lab_drive::LabDrive;
use segue_study::lab_plan::{Conditions, LabPlan, LabSender, LabSenderKind, NOISE, WIRED};
use segue_study::times::time;
use segue_words::lab::{self, Dead, Family, Gateway, Load, Program};
use segue_words::quantity;
use segue_world::access::LinkNames;
use segue_world::{AccessLink, Kind, KindWord, Nanos, SECOND};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::Spanned;

/// A laboratory of real senders over one change of links.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LabWords {
    /// Stands above table and page.
    pub title: Option<String>,
    /// The link before.
    pub old: Spanned<String>,
    /// The link after.
    pub new: Spanned<String>,
    /// "mbb" or "bbm"; "bbm" unless given.
    pub kind: Option<Spanned<KindWord>>,
    /// How long break-before-make is without a link: one time or a list; "1s" unless given.
    pub disconnect: Option<Several<String>>,
    /// "both" or "down-first": which direction of the old link goes first; "both" unless given.
    pub dead: Option<Spanned<Dead>>,
    /// Share of the mobile's ICMP messages that are lost; 0 unless given.
    pub lost_icmp: Option<Spanned<f64>>,
    /// Share of the mobile's packets that are lost after link-up, until the server sends data; 0 unless given.
    pub lost_messages: Option<Spanned<f64>>,
    /// "none" or "nat", a NAT and a stateful firewall before the server; "none" unless given.
    pub gateway: Option<Spanned<Gateway>>,
    /// Whether agents may tell servers a smaller MTU (`mtu` of the agent's table `others`); true unless given.
    pub agent_mtu: Option<Spanned<bool>>,
    /// How long before a make-before-break handoff the mobile announces it to senders with notices. "0s": it does not,
    /// but a copy of the notice goes over the old link. Neither unless given.
    pub announce: Option<Spanned<String>>,
    /// Flows that share the link; 1 unless given.
    pub flows: Option<Spanned<u32>>,
    /// Senders, the first of which the others are held against; ["cubic", "etcp-v1"] unless given.
    pub senders: Option<Several<String>>,
    /// Settings of their schemes.
    #[serde(default)]
    pub settings: BTreeMap<Spanned<String>, Spanned<SettingWord>>,
    /// Runs of each sender; 5 unless given.
    pub runs: Option<Spanned<u32>>,
    /// From the start of the flows to the second in which the handoff comes. Unless given it is 5 s, and the time of
    /// 100 packets and ten round trips more.
    pub warm_up: Option<Spanned<String>>,
    /// From link-up to the end of a run; "10s" unless given.
    pub observe: Option<Spanned<String>>,
    /// One-way delay between server and access router; "4ms", that of the simulator's bench, unless given.
    pub wired: Option<Spanned<String>>,
    /// By how much delays of the simulated links change, as those of the laboratory do; "0.05ms" unless given.
    pub noise: Option<Spanned<String>>,
    /// "iperf3" or "nginx", of one handoff also "thin", of a drive also "page", "ssh" and "ssh-idle"; "iperf3" unless
    /// given.
    pub program: Option<Spanned<ProgramWord>>,
    /// 4 or 6; 4 unless given.
    pub ip: Option<Spanned<u32>>,
    /// Queue of both links and directions, packets; that of the bench unless given.
    pub queue: Option<Spanned<u32>>,
    /// Seed of what is random; 1 unless given.
    pub seed: Option<Spanned<u64>>,
    /// The rate that notices tell, as a multiple of the new link's; 1 unless given.
    pub told_rate: Option<Spanned<f64>>,
    /// Stays of a drive at the old link, the new one, the old one, ...
    pub stays: Option<Several<String>>,
    /// Time before each handoff at which the mobile's window closes, with senders +freeze; "150ms" unless given.
    pub freeze_before: Option<Spanned<String>>,
    /// Size of the file in a drive with nginx; "20MB" unless given. With "page", that of all its files; "2MB".
    pub bytes: Option<Spanned<String>>,
}

/// Programs that move the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramWord {
    /// iperf3.
    #[default]
    Iperf3,
    /// nginx and curl.
    Nginx,
    /// 200 octets each 100 ms.
    Thin,
    /// nginx and curl, which fetches many small files.
    Page,
    /// A session in which somebody types.
    Ssh,
    /// A session in which the server alone says something.
    #[serde(rename = "ssh-idle")]
    SshIdle,
}

/// A plan, and the text that it was read from.
#[derive(Clone, Debug)]
pub struct LabFile {
    source: Source,
    /// Contents of the text.
    pub words: LabWords,
}

impl LabFile {
    /// Reads a file. `names`: those that links have beside the presets'.
    pub fn read(path: &str, names: &LinkNames) -> Result<Self, FileError> {
        Self::from_source(Source::read(path, PLAN)?.with(names))
    }

    /// Reads text; `path` is for messages, and the paths of traces start from its folder.
    pub fn parse(text: &str, path: &str) -> Result<Self, FileError> {
        Self::from_source(Source::of(path, text, PLAN))
    }

    fn from_source(source: Source) -> Result<Self, FileError> {
        let words = toml::from_str(&source.text).map_err(|error| source.of_toml(&error))?;
        Ok(Self { source, words })
    }

    /// The plan of one handoff, checked; `runs` in place of the file's, if given.
    pub fn plan(&self, runs: Option<u32>) -> Result<LabPlan, FileError> {
        let words = &self.words;
        let of_drives = |span, what: &str| {
            Err(self.source.at(span, format!("{what} is of drives; expected `segue lab drive`")))
        };
        match (&words.program, &words.stays, &words.bytes) {
            (_, Some(stays), _) => of_drives(stays.span.clone(), "`stays`"),
            (.., Some(bytes)) => of_drives(bytes.span(), "`bytes`"),
            (Some(word), ..) if *word.get_ref() == ProgramWord::Ssh => of_drives(word.span(), "`ssh`"),
            (Some(word), ..) if *word.get_ref() == ProgramWord::SshIdle => {
                of_drives(word.span(), "`ssh-idle`")
            }
            (Some(word), ..) if *word.get_ref() == ProgramWord::Page => of_drives(word.span(), "`page`"),
            _ => {
                let mut plan = self.common(runs)?;
                plan.freeze_before = self.freeze_before(&plan, plan.warm_up)?;
                plan.conditions.announce = self.announce(&plan)?;
                Ok(plan)
            }
        }
    }

    /// The plan of a drive, checked; `runs` in place of the file's, if given.
    pub fn drive(&self, runs: Option<u32>) -> Result<LabDrive, FileError> {
        let words = &self.words;
        for (word, name) in [(&words.warm_up, "warm-up"), (&words.observe, "observe")] {
            if let Some(word) = word {
                return Err(
                    self.at(word, format!("{name} is of `segue lab run`; expected `stays` in its place"))
                );
            }
        }
        let program = words.program.as_ref().map_or(ProgramWord::Iperf3, |word| *word.get_ref());
        let octets = |unless_given| {
            let Some(word) = &words.bytes else { return Ok(unless_given) };
            let problem = || format!("bytes `{}`: expected a size as 20MB, 1kB to 10GB", word.get_ref());
            let size = quantity::size(word.get_ref()).filter(|octets| lab::FILE.contains(octets));
            size.ok_or_else(|| self.at(word, problem()))
        };
        let load = match (program, &words.bytes) {
            (ProgramWord::Nginx, _) => Load::File(octets(FILE)?),
            (ProgramWord::Page, _) => Load::Page(octets(PAGE)?),
            (_, Some(word)) => {
                let problem = "`bytes` is of nginx; expected program = \"nginx\" or \"page\" beside it";
                return Err(self.at(word, problem.into()));
            }
            (ProgramWord::Iperf3, None) => Load::Bulk,
            (ProgramWord::Ssh, None) => Load::Typing,
            (ProgramWord::SshIdle, None) => Load::Watching,
            (ProgramWord::Thin, None) => return Err(self.of_one_handoff(&words.program, "thin")),
        };
        for (word, name) in [(&words.lost_icmp, "lost-icmp"), (&words.lost_messages, "lost-messages")] {
            if word.is_some() {
                return Err(self.of_one_handoff(word, name));
            }
        }
        if words.agent_mtu.is_some() {
            return Err(self.of_one_handoff(&words.agent_mtu, "agent-mtu"));
        }
        if words.announce.is_some() {
            return Err(self.of_one_handoff(&words.announce, "announce"));
        }
        if words.noise.is_some() {
            // A drive is not simulated.
            return Err(self.of_one_handoff(&words.noise, "noise"));
        }
        if words.gateway.is_some() {
            return Err(self.of_one_handoff(&words.gateway, "gateway"));
        }
        if words.dead.is_some() {
            return Err(self.of_one_handoff(&words.dead, "dead"));
        }
        let (mut plan, stays) = (self.common(runs)?, self.stays()?);
        plan.freeze_before = self.freeze_before(&plan, stays.iter().copied().min().unwrap_or(0))?;
        Ok(LabDrive { plan, stays, load })
    }

    /// The factor of the rate that notices and agents report: some sender must have one.
    fn told_rate(&self, senders: &[LabSender]) -> Result<f64, FileError> {
        match &self.words.told_rate {
            Some(word) if !senders.iter().any(|sender| sender.hears() || sender.has_agent()) => {
                let problem = "`told-rate` is of senders with notices or an agent, such as etcp-v1 or cubic+agent; \
                               expected one of them";
                Err(self.at(word, problem.into()))
            }
            word => self.number("told-rate", word, 1.0, lab::TOLD_RATE),
        }
    }

    /// How long before a handoff the mobile announces it: without a break, and to a sender that hears notices.
    fn announce(&self, plan: &LabPlan) -> Result<Option<Nanos>, FileError> {
        let Some(word) = &self.words.announce else { return Ok(None) };
        if plan.kinds != [Kind::Mbb] {
            let problem = "`announce` is for make-before-break; expected kind = \"mbb\" beside it";
            return Err(self.at(word, problem.into()));
        }
        if !plan.senders.iter().any(LabSender::hears) {
            let problem = "`announce` is of senders with notices, such as etcp-v1; expected one of them";
            return Err(self.at(word, problem.into()));
        }
        self.time("announce", &self.words.announce, 0, 0..=plan.warm_up).map(Some)
    }

    /// How long before a handoff the windows of senders that freeze close: at most so long.
    fn freeze_before(&self, plan: &LabPlan, most: Nanos) -> Result<Nanos, FileError> {
        let freezes = plan.senders.iter().any(LabSender::freezes);
        match &self.words.freeze_before {
            Some(word) if !freezes => {
                let problem = "`freeze-before` is of senders such as cubic+freeze; expected one of them";
                Err(self.at(word, problem.into()))
            }
            None if freezes && FREEZE_BEFORE > most => {
                let [usual, most] = [FREEZE_BEFORE, most].map(|time| time as f64 / SECOND as f64);
                let span = self.words.senders.as_ref().map_or(0..0, |senders| senders.span.clone());
                let problem =
                    format!("windows close {usual} s before; expected `freeze-before`, {most} s at most");
                Err(self.source.at(span, problem))
            }
            word => self.time("freeze-before", word, FREEZE_BEFORE, SECOND / 1000..=most),
        }
    }

    fn of_one_handoff<T>(&self, word: &Option<Spanned<T>>, name: &str) -> FileError {
        let span = word.as_ref().map_or(0..0, Spanned::span);
        self.source.at(span, format!("`{name}` is of one handoff; expected `segue lab run`"))
    }

    fn stays(&self) -> Result<Vec<Nanos>, FileError> {
        let Some(words) = &self.words.stays else {
            let end = self.source.text.len();
            let problem =
                "missing key `stays`; expected the times at the old link, the new one, the old one, ...";
            return Err(self.source.at(end..end, problem.into()));
        };
        if words.values.len() < 2 {
            let problem =
                "stays: expected two times or more, between each two of which is a handoff".to_string();
            return Err(self.source.at(words.span.clone(), problem));
        }
        words.values.iter().map(|word| self.time("stays", &Some(word.clone()), 0, lab::STAY)).collect()
    }

    fn common(&self, runs: Option<u32>) -> Result<LabPlan, FileError> {
        let words = &self.words;
        let observe = self.time("observe", &words.observe, 10 * SECOND, lab::OBSERVE)?;
        let wired = self.time("wired", &words.wired, WIRED, lab::WIRED)?;
        let (old, new) = (self.link(&words.old)?, self.link(&words.new)?);
        let warm_up = self.time("warm-up", &words.warm_up, filling(&old, wired), lab::WARM_UP)?;
        let senders = self.senders()?;
        Ok(LabPlan {
            title: words.title.clone(),
            old,
            new,
            kinds: self.kinds()?,
            flows: self.number("flows", &words.flows, 1, lab::FLOWS)? as usize,
            told_rate: self.told_rate(&senders)?,
            senders,
            runs: match runs {
                Some(runs) => runs,
                None => self.number("runs", &words.runs, 5, lab::RUNS)?,
            },
            warm_up,
            observe,
            wired,
            noise: self.time("noise", &words.noise, NOISE, lab::NOISE)?,
            program: match words.program.as_ref().map(Spanned::get_ref) {
                Some(ProgramWord::Nginx) => Program::Nginx,
                Some(ProgramWord::Thin) => Program::Thin,
                Some(ProgramWord::Iperf3 | ProgramWord::Page | ProgramWord::Ssh | ProgramWord::SshIdle)
                | None => Program::Iperf3,
            },
            ip: match &words.ip {
                None => Family::default(),
                Some(version) => match version.get_ref() {
                    4 => Family::Ipv4,
                    6 => Family::Ipv6,
                    other => return Err(self.at(version, format!("ip {other}: expected 4 or 6"))),
                },
            },
            seed: self.number("seed", &words.seed, 1, 0..=u64::MAX >> 1)?,
            freeze_before: FREEZE_BEFORE,
            conditions: self.conditions()?,
        })
    }

    fn at<T>(&self, word: &Spanned<T>, problem: String) -> FileError {
        self.source.at(word.span(), problem)
    }

    fn number<T: Copy + PartialOrd + std::fmt::Display>(
        &self,
        key: &str,
        word: &Option<Spanned<T>>,
        unless_given: T,
        range: RangeInclusive<T>,
    ) -> Result<T, FileError> {
        let Some(word) = word else { return Ok(unless_given) };
        let number = *word.get_ref();
        match range.contains(&number) {
            true => Ok(number),
            false => {
                let problem =
                    format!("{key} {number} is out of range; expected {} to {}", range.start(), range.end());
                Err(self.at(word, problem))
            }
        }
    }

    fn time(
        &self,
        key: &str,
        word: &Option<Spanned<String>>,
        unless_given: Nanos,
        range: RangeInclusive<Nanos>,
    ) -> Result<Nanos, FileError> {
        let Some(word) = word else { return Ok(unless_given) };
        let length = time(word.get_ref()).map_err(|problem| self.at(word, problem))?;
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        match range.contains(&length) {
            true => Ok(length),
            false => {
                let (least, most) = (seconds(*range.start()), seconds(*range.end()));
                let problem =
                    format!("{key} {} is out of range; expected {least} s to {most} s", word.get_ref());
                Err(self.at(word, problem))
            }
        }
    }

    fn link(&self, word: &Spanned<String>) -> Result<AccessLink, FileError> {
        let mut link = self.source.link(word)?;
        if self.words.queue.is_some() {
            link.queue = self.number("queue", &self.words.queue, 1, 1..=100_000)?;
        }
        Ok(link)
    }

    fn kinds(&self) -> Result<Vec<Kind>, FileError> {
        let kind = self.words.kind.as_ref().map_or(KindWord::Bbm, |kind| *kind.get_ref());
        let Some(disconnect) = &self.words.disconnect else {
            return Ok(vec![if kind == KindWord::Mbb { Kind::Mbb } else { Kind::Bbm(SECOND) }]);
        };
        let fail = |problem: &str| Err(self.source.at(disconnect.span.clone(), problem.into()));
        if kind == KindWord::Mbb {
            return fail("`disconnect` is for break-before-make; expected kind = \"bbm\" beside it");
        }
        if disconnect.values.is_empty() {
            return fail("disconnect: the list is empty; expected at least one time");
        }
        let mut kinds = Vec::new();
        for word in &disconnect.values {
            let length = self.time("disconnect", &Some(word.clone()), SECOND, lab::DISCONNECT)?;
            if kinds.contains(&Kind::Bbm(length)) {
                return Err(self.at(word, format!("`{}` is given twice; expected each once", word.get_ref())));
            }
            kinds.push(Kind::Bbm(length));
        }
        Ok(kinds)
    }

    fn conditions(&self) -> Result<Conditions, FileError> {
        let words = &self.words;
        let mbb = words.kind.as_ref().is_some_and(|kind| *kind.get_ref() == KindWord::Mbb);
        if let Some(word) = words.dead.as_ref().filter(|word| mbb && *word.get_ref() == Dead::DownFirst) {
            let problem = "`dead` is for break-before-make; expected kind = \"bbm\" beside it";
            return Err(self.at(word, problem.into()));
        }
        let six = words.ip.as_ref().is_some_and(|ip| *ip.get_ref() == 6);
        if let Some(word) = words.gateway.as_ref().filter(|word| six && *word.get_ref() == Gateway::Nat) {
            return Err(self.at(word, "a NAT of IPv6; expected ip = 4 beside it".into()));
        }
        Ok(Conditions {
            dead: words.dead.as_ref().map_or_else(Dead::default, |word| *word.get_ref()),
            gateway: words.gateway.as_ref().map_or_else(Gateway::default, |word| *word.get_ref()),
            agent_mtu: words.agent_mtu.as_ref().is_none_or(|word| *word.get_ref()),
            // Where there is one handoff alone.
            announce: None,
            lost_icmp: self.number("lost-icmp", &words.lost_icmp, 0.0, lab::LOST)?,
            lost_messages: self.number("lost-messages", &words.lost_messages, 0.0, lab::LOST)?,
        })
    }

    fn senders(&self) -> Result<Vec<LabSender>, FileError> {
        let unwritten = || Several::unwritten(["cubic", "etcp-v1"].map(String::from));
        let words = self.words.senders.clone().unwrap_or_else(unwritten);
        if words.values.is_empty() {
            let problem = "senders: the list is empty; expected at least one".to_string();
            return Err(self.source.at(words.span, problem));
        }
        let mut senders: Vec<LabSender> = Vec::new();
        for word in &words.values {
            let name = word.get_ref();
            if senders.iter().any(|other| other.name == *name) {
                return Err(self.at(word, format!("`{name}` is given twice; expected each sender once")));
            }
            senders.push(LabSender::named(name).map_err(|problem| self.at(word, problem))?);
        }
        for (key, value) in &self.words.settings {
            let mut known = false;
            for sender in &mut senders {
                let LabSenderKind::Scheme { name, .. } = &sender.kind else { continue };
                let has = |setting: &segue_handoff::SettingInfo| setting.name == key.get_ref();
                // The laboratory's kernel enacts as it does, and the simulator beside it alike.
                if key.get_ref() == "enact" || !Scheme::settings_of(name).iter().any(has) {
                    continue;
                }
                known = true;
                sender.settings.push((key.get_ref().clone(), value.get_ref().0.clone()));
                let made = Scheme::build(name, &sender.settings);
                made.map_err(|error| self.at(value, error.to_string()))?;
            }
            if !known {
                let problem = format!(
                    "unknown setting `{}`; none of the senders has it; expected one that segue schemes NAME lists",
                    key.get_ref()
                );
                return Err(self.at(key, problem));
            }
        }
        Ok(senders)
    }
}

/// How long before a handoff Freeze-TCP closes the window unless it is given: what is in flight over a full queue needs
/// it (docs/guide/receiver.md).
const FREEZE_BEFORE: Nanos = 150_000_000;
/// Octets that a download has unless they are given.
const FILE: u64 = 20_000_000;
/// Octets that a page has unless they are given: about as many as the median page of today.
const PAGE: u64 = 2_000_000;

/// Long enough for a flow to fill the link.
fn filling(old: &AccessLink, wired: Nanos) -> Nanos {
    let packets = 100 * 8 * 1500 * SECOND / old.down.mean_rate().max(1);
    5 * SECOND + packets + 10 * (old.least_round_trip() + 2 * wired)
}

#[cfg(test)]
mod tests;
