//! Drives written down as a file: `segue run DRIVE.toml` with a `[drive]`. The types of `written.rs` are the format, and
//! the JSON schema is made from them; docs/guide/drives.md explains it.

mod networks;
mod written;

use crate::FileError;
use crate::place::{SCENARIO, Source};
use crate::scenario::without_null;
use schemars::Schema;
use segue_study::RequestError;
use segue_study::drive::{DriveBlock, DrivePlan};
use segue_study::planned::{StackWords, check_control, check_key, planned};
use segue_study::router_words::{check_routers, routers};
use segue_words::quantity;
use segue_world::access::{LinkNames, parse_rate};
use segue_world::drive::mobility::Drive;
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::drive::web::Surge;
use segue_world::{AccessLink, Nanos, NoticeMode, NoticeWord, Routers, SECOND};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
pub use written::{
    DriveScenario, DriveWords, MoveWords, NetworkWords, PaperDrive, TrafficWords, UsersWords, WanWords,
};

/// The JSON schema of the format.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(DriveScenario);
    without_null(&mut schema);
    schema
}

/// A drive scenario, and the text that it was read from.
#[derive(Clone, Debug)]
pub struct DriveFile {
    source: Source,
    /// Contents of the text.
    pub scenario: DriveScenario,
}

/// Most blocks of a table: what is simulated for each is held until the end.
const MOST_BLOCKS: usize = 1_000;

/// Longest time that a file may name.
const LONGEST: Nanos = 24 * 3600 * SECOND;

impl DriveFile {
    /// Reads a file; `None` if it has no `[drive]`. `names`: those that links have beside the presets'.
    pub fn read(path: &str, names: &LinkNames) -> Result<Option<Self>, FileError> {
        Self::from_source(Source::read(path, SCENARIO)?.with(names))
    }

    /// Reads text; `path` is for messages, and files named in it start from its folder.
    pub fn parse(text: &str, path: &str) -> Result<Option<Self>, FileError> {
        Self::from_source(Source::of(path, text, SCENARIO))
    }

    fn from_source(source: Source) -> Result<Option<Self>, FileError> {
        // A file that is no TOML tells by its header.
        let drive = match toml::from_str::<toml::Table>(&source.text) {
            Ok(table) => table.contains_key("drive"),
            Err(_) => source.text.lines().any(|line| line.trim_start().starts_with("[drive]")),
        };
        if !drive {
            return Ok(None);
        }
        let scenario = toml::from_str(&source.text).map_err(|error| source.of_toml(&error))?;
        Ok(Some(Self { source, scenario }))
    }

    /// The recorded drive that it names, from its own folder on.
    pub fn recorded(&self) -> Option<PathBuf> {
        let file = self.scenario.drive.get_ref().file.as_ref()?;
        Some(self.folder().join(file.get_ref()))
    }

    fn folder(&self) -> &Path {
        Path::new(&self.source.path).parent().unwrap_or(Path::new(""))
    }

    /// A problem with an output that the file names.
    pub fn bad_output(&self, output: &Spanned<String>, problem: impl std::fmt::Display) -> FileError {
        self.source.at(output.span(), problem.to_string())
    }

    /// The plan that it asks for, checked, with at most `seeds` seeds.
    pub fn plan(&self, seeds: Option<u64>) -> Result<DrivePlan, FileError> {
        let scenario = &self.scenario;
        let names: Vec<String> = match &scenario.schemes {
            Some(schemes) if schemes.values.is_empty() => {
                return Err(
                    self.bad(schemes.span.clone(), "schemes: the list is empty; expected at least one")
                );
            }
            Some(schemes) => schemes.iter().cloned().collect(),
            None => ["newreno", "tcp-ho"].map(String::from).to_vec(),
        };
        let mut settings = Vec::new();
        for (key, value) in &scenario.settings {
            check_key(key.get_ref(), &names, &[]).map_err(|error| self.bad(key.span(), error))?;
            settings.push((key.get_ref().clone(), value.get_ref().0.clone()));
        }
        let word = |word: &Option<Spanned<String>>| word.as_ref().map(Spanned::span);
        let asked = StackWords {
            stack: scenario.stack.as_ref().map(|stack| stack.get_ref().as_str()),
            cc: scenario.cc.as_ref().map(|cc| cc.get_ref().as_str()),
        };
        let place = |error: &RequestError| {
            let schemes = scenario.schemes.as_ref().map(|schemes| schemes.span.clone());
            let place = match error {
                RequestError::Stack { .. } => word(&scenario.stack),
                RequestError::Control { .. } | RequestError::List { what: "--cc", .. } => word(&scenario.cc),
                _ => schemes,
            };
            place.unwrap_or(0..0)
        };
        let of_routers = routers(&settings).map_err(|error| {
            let place = scenario.settings.keys().find(|key| error.names(key.get_ref()));
            self.bad(place.map_or(0..0, Spanned::span), error)
        })?;
        let (schemes, _) = planned(&names, asked, &settings)
            .map_err(|error| self.bad(place(&error), error.to_string().trim_start_matches("--")))?;
        check_control(&names, asked.cc)
            .map_err(|error| self.bad(place(&error), error.to_string().trim_start_matches("--")))?;
        check_routers(&settings, true, NoticeMode::Instant, &schemes, &of_routers).map_err(|error| {
            let problem = error.to_string();
            let place =
                scenario.settings.keys().find(|key| problem.contains(&format!("`{}`", key.get_ref())));
            self.bad(place.map_or(0..0, Spanned::span), problem.trim_start_matches("--set: "))
        })?;

        let number = |written: &Option<Spanned<u64>>, or| written.as_ref().map_or(or, |n| *n.get_ref());
        let count = number(&scenario.seeds, 10);
        if !(1..=1000).contains(&count) {
            let span = scenario.seeds.as_ref().map_or(0..0, Spanned::span);
            return Err(self.bad(span, format!("seeds: {count} is out of range; expected 1 to 1000")));
        }
        let seed = number(&scenario.seed, 1);
        if seed.checked_add(count).is_none() {
            let span = scenario.seed.as_ref().map_or(0..0, Spanned::span);
            return Err(self.bad(span, "seed and seeds must add up to less than 2^64"));
        }
        let seeds = seeds.map_or(count, |most| count.min(most.max(1)));
        Ok(DrivePlan {
            title: scenario.title.clone(),
            blocks: self.blocks(&schemes[0], of_routers)?,
            schemes,
            seed,
            seeds,
        })
    }

    fn bad(&self, span: std::ops::Range<usize>, problem: impl std::fmt::Display) -> FileError {
        self.source.at(span, problem.to_string())
    }

    fn blocks(
        &self,
        first: &segue_study::planned::PlannedScheme,
        routers: Routers,
    ) -> Result<Vec<DriveBlock>, FileError> {
        let scenario = &self.scenario;
        let wan = self.wide_areas()?;
        let (flows, cross, web) = self.traffic()?;
        let errors: Vec<f64> = match &scenario.bandwidth_error {
            None => vec![0.0],
            Some(errors) if errors.values.is_empty() => {
                return Err(self
                    .bad(errors.span.clone(), "bandwidth_error: the list is empty; expected at least one"));
            }
            Some(errors) => {
                for error in &errors.values {
                    if !(0.0..1.0).contains(error.get_ref()) {
                        let problem = format!(
                            "bandwidth_error: {} is out of range; expected a share from 0 to below 1",
                            error.get_ref()
                        );
                        return Err(self.bad(error.span(), problem));
                    }
                }
                errors.iter().copied().collect()
            }
        };
        let drives = self.drives()?;
        let count = drives.len() * wan.len() * errors.len();
        if count > MOST_BLOCKS {
            let problem = format!(
                "drives, wan.delay and bandwidth_error make {count} combinations, more than {MOST_BLOCKS}; expected fewer values"
            );
            return Err(self.bad(scenario.drive.span(), problem));
        }
        let mut blocks = Vec::new();
        for (name, drive) in drives {
            for &wan in &wan {
                for &bandwidth_error in &errors {
                    let experiment = DriveExperiment {
                        drive: drive.clone(),
                        flows,
                        cross,
                        web: web.clone(),
                        wan,
                        stack: first.stack,
                        notice: self.notice()?,
                        bandwidth_error,
                        routers,
                        seed: 1,
                    };
                    blocks.push(DriveBlock { name: name.clone(), experiment });
                }
            }
        }
        Ok(blocks)
    }

    fn notice(&self) -> Result<NoticeMode, FileError> {
        let lost = self.scenario.notice_loss.as_ref().map_or(0, |lost| *lost.get_ref());
        let span = || self.scenario.notice_loss.as_ref().map_or(0..0, Spanned::span);
        match self.scenario.notice {
            Some(NoticeWord::Instant) if lost > 0 => {
                Err(self.bad(span(), "notice_loss is for notices in band; expected notice = \"in-band\""))
            }
            Some(NoticeWord::Instant) => Ok(NoticeMode::Instant),
            _ if lost > 2 => Err(self.bad(span(), format!("notice_loss: {lost} copies; expected 0 to 2"))),
            _ => Ok(NoticeMode::InBand { lost }),
        }
    }

    fn time(&self, what: &str, word: &Spanned<String>) -> Result<Nanos, FileError> {
        quantity::time(word.get_ref()).filter(|&time| time <= LONGEST).ok_or_else(|| {
            let problem =
                format!("{what}: bad time `{}`; expected one such as 20s, at most a day", word.get_ref());
            self.bad(word.span(), problem)
        })
    }

    fn wide_areas(&self) -> Result<Vec<WideArea>, FileError> {
        let words = &self.scenario.wan;
        let rate = match &words.rate {
            None => 10_000_000,
            Some(word) => parse_rate(word.get_ref()).ok_or_else(|| {
                let problem = format!("wan.rate: bad rate `{}`; expected one such as 10mbit", word.get_ref());
                self.bad(word.span(), problem)
            })?,
        };
        let queue = words.queue.as_ref().map_or(20, |queue| *queue.get_ref());
        if queue == 0 {
            let span = words.queue.as_ref().map_or(0..0, Spanned::span);
            return Err(self.bad(span, "wan.queue: 0 packets; expected at least 1"));
        }
        let delays = match &words.delay {
            None => vec![10_000_000],
            Some(delays) if delays.values.is_empty() => {
                return Err(
                    self.bad(delays.span.clone(), "wan.delay: the list is empty; expected at least one")
                );
            }
            Some(delays) => {
                delays.values.iter().map(|word| self.time("wan.delay", word)).collect::<Result<_, _>>()?
            }
        };
        Ok(delays.into_iter().map(|delay| WideArea { rate, delay, queue }).collect())
    }

    fn traffic(&self) -> Result<(usize, usize, Option<Surge>), FileError> {
        let words = &self.scenario.traffic;
        let within = |what: &str, word: &Option<Spanned<usize>>, or: usize, least: usize| match word {
            Some(word) if !(least..=100).contains(word.get_ref()) => {
                let problem =
                    format!("traffic.{what}: {} is out of range; expected {least} to 100", word.get_ref());
                Err(self.bad(word.span(), problem))
            }
            word => Ok(word.as_ref().map_or(or, |word| *word.get_ref())),
        };
        let users = match &words.web {
            Some(word) if *word.get_ref() > 100 => {
                let problem = format!("traffic.web: {} users; expected 0 to 100", word.get_ref());
                return Err(self.bad(word.span(), problem));
            }
            word => word.as_ref().map_or(10, |word| *word.get_ref()),
        };
        let web = (users > 0).then(|| Surge { users, ..Surge::default() });
        Ok((within("flows", &words.flows, 1, 1)?, within("cross", &words.cross, 1, 0)?, web))
    }

    fn drives(&self) -> Result<Vec<(String, Arc<Drive>)>, FileError> {
        let words = self.scenario.drive.get_ref();
        let whole = self.scenario.drive.span();
        let seed = words.seed.unwrap_or(1);
        let folder = self.folder();
        let ways =
            [words.of.is_some(), !words.network.is_empty(), words.file.is_some(), words.links.is_some()];
        if ways.iter().filter(|&&way| way).count() != 1 {
            let problem = "drive: expected exactly one of `of`, `network`, `file` and `links`";
            return Err(self.bad(whole, problem));
        }
        let own = !words.network.is_empty();
        let links = words.links.is_some();
        for (key, given, fits) in [
            ("length", words.length.is_some(), words.file.is_none()),
            ("move", !words.moves.is_empty(), own),
            ("stay", words.stay.is_some(), links),
            ("disconnect", words.disconnect.is_some(), links),
            ("seed", words.seed.is_some(), own || words.of.is_some()),
        ] {
            if given && !fits {
                let problem = format!(
                    "drive.{key}: this drive has none; expected it with another of `of`, `network`, `file` and `links`"
                );
                return Err(self.bad(whole, problem));
            }
        }
        if let Some(of) = &words.of {
            if of.values.is_empty() {
                return Err(self.bad(of.span.clone(), "drive.of: the list is empty; expected at least one"));
            }
            if let Some(twice) =
                (1..of.values.len()).find(|&i| of.iter().take(i).any(|other| other == of.values[i].get_ref()))
            {
                let twice = &of.values[twice];
                let problem =
                    format!("drive.of: `{}` is given twice; expected it once", twice.get_ref().name());
                return Err(self.bad(twice.span(), problem));
            }
            let drive = |of: &PaperDrive| {
                let mobility = match &words.length {
                    Some(length) => {
                        let lasting = of.mobility().lasting(self.time("drive.length", length)?);
                        lasting.map_err(|error| self.bad(length.span(), error))?
                    }
                    None => of.mobility(),
                };
                Ok((of.name().to_string(), Arc::new(mobility.drive(seed))))
            };
            return of.iter().map(drive).collect();
        }
        if let Some(file) = &words.file {
            let drive = Drive::read(&folder.join(file.get_ref()), &self.source.names)
                .map_err(|e| self.bad(file.span(), e))?;
            return Ok(vec![(file.get_ref().clone(), Arc::new(drive))]);
        }
        let length = match &words.length {
            Some(length) => self.time("drive.length", length)?,
            None => return Err(self.bad(whole, "drive: `length` is missing; expected a time such as 1800s")),
        };
        if let Some(links) = &words.links {
            let parsed: Result<Vec<AccessLink>, _> =
                links.values.iter().map(|link| self.source.link(link)).collect();
            let or = |word: &Option<Spanned<String>>, what, or: Nanos| {
                word.as_ref().map_or(Ok(or), |word| self.time(what, word))
            };
            let stay = or(&words.stay, "drive.stay", 10 * SECOND)?;
            let gap = or(&words.disconnect, "drive.disconnect", SECOND)?;
            let named: Vec<_> = links.iter().cloned().zip(parsed?).collect();
            let drive = Drive::of_traces(length, &named, &[stay], gap);
            let drive = drive.map_err(|error| self.bad(links.span.clone(), error))?;
            return Ok(vec![("links".into(), Arc::new(drive))]);
        }
        let mobility = self.mobility(words, length)?;
        Ok(vec![("networks".into(), Arc::new(mobility.drive(seed)))])
    }
}
