//! From the words of a file to a checked plan.

use super::{FileError, ScenarioFile};
use segue_study::bench_words::{BENCH_WORDS, BenchWord};
use segue_study::request::{PACKETS, Plan, Request, RequestError};
use segue_study::times::{Times, time};
use segue_world::{Definition, Kind, Nanos, NoticeMode, NoticeWord, SECOND, SimulatedKind};
use std::ops::Range;
use toml::Spanned;

/// A word of the file that the request's own checks may refuse.
struct Place {
    key: &'static str,
    /// As the checks quote it; empty for the whole value of the key.
    word: String,
    span: Range<usize>,
}

/// Where the words stand; of one key the whole value comes first.
#[derive(Default)]
struct Places(Vec<Place>);

impl Places {
    fn note(&mut self, key: &'static str, word: impl ToString, span: Range<usize>) {
        self.0.push(Place { key, word: word.to_string(), span });
    }

    /// The last place of the first of the words that stands under the key, else the value of the key.
    fn of(&self, key: &str, words: &[&str]) -> Range<usize> {
        let of_key = || self.0.iter().filter(|place| place.key == key);
        let word = |word: &&str| of_key().rev().find(|place| place.word == *word);
        words.iter().find_map(word).or_else(|| of_key().next()).map_or(0..0, |place| place.span.clone())
    }
}

/// Most blocks of a table: what is simulated for each is held until the end.
const MOST_BLOCKS: usize = 20_000;

impl ScenarioFile {
    /// The plan, with at most `points` handoff times a seed.
    pub(crate) fn expand(&self, points: Option<usize>) -> Result<Plan, FileError> {
        let scenario = &self.scenario;
        let mut places = Places::default();
        let Times(at) = self.times(&mut places)?.thinned(points.unwrap_or(usize::MAX));
        if let Some(flows) = &scenario.flows {
            places.note("flows", "", flows.span.clone());
            flows.values.iter().for_each(|count| places.note("flows", count.get_ref(), count.span()));
        }
        if let Some(schemes) = &scenario.schemes {
            places.note("schemes", "", schemes.span.clone());
            for name in &schemes.values {
                places.note("schemes", name.get_ref(), name.span());
            }
        }
        for (key, value) in &scenario.settings {
            places.note("settings", key.get_ref(), key.span());
            places.note("value", key.get_ref(), value.span());
        }
        for (key, span) in [
            ("stack", scenario.stack.as_ref().map(Spanned::span)),
            ("cc", scenario.cc.as_ref().map(Spanned::span)),
            ("packets", scenario.packets.as_ref().map(Spanned::span)),
            ("seed", scenario.seed.as_ref().map(Spanned::span)),
            ("seeds", scenario.seeds.as_ref().map(Spanned::span)),
        ] {
            if let Some(span) = span {
                places.note(key, "", span);
            }
        }
        let number = |written: &Option<Spanned<u64>>| written.as_ref().map_or(1, |number| *number.get_ref());
        let request = Request {
            pairs: self.pairs()?,
            kinds: self.kinds(&mut places)?,
            flows: scenario.flows.as_ref().map_or(vec![1], |flows| flows.iter().copied().collect()),
            schemes: match &scenario.schemes {
                Some(schemes) => schemes.iter().cloned().collect(),
                None => ["sack", "etcp-v1"].map(String::from).to_vec(),
            },
            at,
            packets: scenario.packets.as_ref().map_or(PACKETS, |packets| *packets.get_ref()),
            definition: scenario.definition.unwrap_or(Definition::AfterHighest),
            notice: self.notice()?,
            stack: scenario.stack.as_ref().map(|stack| stack.get_ref().clone()),
            cc: scenario.cc.as_ref().map(|cc| cc.get_ref().clone()),
            settings: self.settings(&mut places)?,
            seed: number(&scenario.seed),
            seeds: number(&scenario.seeds),
        };
        request.plan().map_err(|error| self.refused(&places, &error))
    }

    /// The settings, and what has a key of its own besides.
    fn settings(&self, places: &mut Places) -> Result<Vec<(String, String)>, FileError> {
        let scenario = &self.scenario;
        let mut settings = Vec::new();
        for (key, value) in &scenario.settings {
            settings.push((key.get_ref().clone(), value.get_ref().0.clone()));
            if let Some(own) = BenchWord::named(key.get_ref()).and_then(|word| word.file) {
                places.note(own, "", value.span());
            }
        }
        for BenchWord { key: setting, file, .. } in BENCH_WORDS {
            let Some((key, (span, words))) = file.zip(scenario.own_word(setting)) else { continue };
            if settings.iter().any(|(other, _)| other == setting) {
                let problem = format!("`{key}` stands in `settings`, too; expected it once");
                return Err(self.source.at(span, problem));
            }
            places.note(key, "", span);
            settings.push((setting.to_string(), words));
        }
        Ok(settings)
    }

    /// Refuses more blocks than the memory holds.
    pub(super) fn check_blocks(&self, plan: &Plan) -> Result<(), FileError> {
        let request = &plan.request;
        let blocks = request.pairs.len() * request.kinds.len() * request.flows.len();
        let blocks = blocks * plan.series.handoffs as usize;
        if blocks > MOST_BLOCKS {
            let problem = format!(
                "links, kinds and flows make {blocks} combinations, more than {MOST_BLOCKS}; expected fewer values"
            );
            return Err(self.source.at(0..0, problem));
        }
        Ok(())
    }

    fn times(&self, places: &mut Places) -> Result<Times, FileError> {
        let warm_up = match &self.scenario.warm_up {
            None => 0,
            Some(word) => time(word.get_ref()).map_err(|problem| self.source.at(word.span(), problem))?,
        };
        Ok(self.times_as_written(places)?.after(warm_up))
    }

    fn times_as_written(&self, places: &mut Places) -> Result<Times, FileError> {
        let Some(at) = &self.scenario.at else {
            return Times::parse("0.1s..20s/0.1s").map_err(|problem| self.source.at(0..0, problem));
        };
        places.note("at", "", at.span.clone());
        let mut all = Vec::new();
        for word in &at.values {
            let Times(times) =
                Times::parse(word.get_ref()).map_err(|problem| self.source.at(word.span(), problem))?;
            all.extend(times);
        }
        Ok(Times(all))
    }

    /// Kinds in order; break-before-make once for each length of the disconnection.
    fn kinds(&self, places: &mut Places) -> Result<Vec<Kind>, FileError> {
        let lengths = self.disconnections(places)?;
        let Some(words) = &self.scenario.kind else {
            return self.without_break(vec![Kind::Mbb]);
        };
        self.filled("kind", words)?;
        let mut kinds = Vec::new();
        for word in &words.values {
            let more = match word.get_ref() {
                SimulatedKind::Bbm => lengths.iter().map(|&length| Kind::Bbm(length)).collect(),
                other => vec![other.with(SECOND)],
            };
            if more.iter().any(|kind| kinds.contains(kind)) {
                let problem = "the kind is given twice; expected each once".into();
                return Err(self.source.at(word.span(), problem));
            }
            kinds.extend(more);
        }
        self.without_break(kinds)
    }

    /// A disconnection that no handoff would have is a mistake, not a detail.
    fn without_break(&self, kinds: Vec<Kind>) -> Result<Vec<Kind>, FileError> {
        match &self.scenario.disconnect {
            Some(disconnect) if !kinds.iter().any(|kind| kind.breaks()) => {
                let problem = "`disconnect` is for break-before-make; expected `bbm` in `kind`".into();
                Err(self.source.at(disconnect.span.clone(), problem))
            }
            _ => Ok(kinds),
        }
    }

    fn disconnections(&self, places: &mut Places) -> Result<Vec<Nanos>, FileError> {
        let Some(disconnect) = &self.scenario.disconnect else {
            return Ok(vec![SECOND]);
        };
        self.filled("disconnect", disconnect)?;
        places.note("disconnect", "", disconnect.span.clone());
        let mut lengths = Vec::new();
        for word in &disconnect.values {
            let length = time(word.get_ref()).map_err(|problem| self.source.at(word.span(), problem))?;
            if lengths.contains(&length) {
                let problem = format!("`{}` is given twice; expected each once", word.get_ref());
                return Err(self.source.at(word.span(), problem));
            }
            places.note("disconnect", format!("{} s", length as f64 / SECOND as f64), word.span());
            lengths.push(length);
        }
        Ok(lengths)
    }

    fn notice(&self) -> Result<NoticeMode, FileError> {
        let scenario = &self.scenario;
        let lost = scenario.notice_loss.as_ref().map_or(0, |lost| *lost.get_ref());
        let fail = |problem: &str| {
            let span = scenario.notice_loss.as_ref().map_or(0..0, Spanned::span);
            Err(self.source.at(span, problem.into()))
        };
        match scenario.notice.unwrap_or(NoticeWord::Instant) {
            _ if lost > 2 => fail("there are two copies of a notice; expected 0, 1 or 2"),
            NoticeWord::Instant if lost > 0 => {
                fail("an instant notice is never lost; expected notice = \"in-band\" beside `notice_loss`")
            }
            NoticeWord::Instant => Ok(NoticeMode::Instant),
            NoticeWord::InBand => Ok(NoticeMode::InBand { lost }),
        }
    }

    /// The request's own objection, at the words that it is about and by the keys of the file.
    fn refused(&self, places: &Places, error: &RequestError) -> FileError {
        let (key, problem) = match error {
            RequestError::Range { what, value, expected } => {
                let key = key_of(what);
                (key, format!("{key} {value} is out of range; expected {expected}"))
            }
            RequestError::List { what, problem } => (key_of(what), format!("{}: {problem}", key_of(what))),
            RequestError::Stack { .. } => ("stack", error.to_string()),
            RequestError::Control { .. } => ("cc", error.to_string()),
            RequestError::Setting { .. } => ("settings", error.to_string()),
            RequestError::Value { .. } => ("value", error.to_string()),
            RequestError::Scheme(segue_handoff::SchemeError::Setting { .. }) => ("value", error.to_string()),
            RequestError::Scheme(_) => ("schemes", error.to_string()),
        };
        let quoted: Vec<&str> = match error {
            RequestError::Range { value, .. } => vec![value],
            // Every second part is in quotes.
            _ => problem.split('`').skip(1).step_by(2).collect(),
        };
        let span = places.of(key, &quoted);
        self.source.at(span, problem)
    }
}

/// The file's key for what the command line calls by an option.
fn key_of(option: &str) -> &str {
    match option {
        "--set" => "settings",
        "handoff time" => "at",
        option => {
            let option = option.trim_start_matches("--");
            BenchWord::named(option).and_then(|word| word.file).unwrap_or(option)
        }
    }
}
