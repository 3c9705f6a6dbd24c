//! A sweep written down as a file: `segue sweep SWEEP.toml`. It is a family of scenarios: the keys are those of
//! scenario files, and more of them take lists. The types below are the format, and the JSON schema is made from
//! them; docs/guide/sweep.md explains it.

use crate::place::{FileError, Source};
use crate::scenario::{
    CountWord, LinkWords, OneOf, Scenario, ScenarioFile, SettingWord, Several, is_of_agent, of_agent,
    without_null,
};
use schemars::{JsonSchema, Schema};
use segue_study::request::Plan;
use segue_world::access::LinkNames;
use segue_world::{Address, Definition, NoticeWord, SimulatedKind, SoftWord};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// Very many handoffs between links, for `segue sweep`. Keys with a list vary: every combination is simulated, one
/// row for each handoff with each scheme.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(title = "Segue sweep")]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Title of the sweep.
    pub title: Option<String>,
    /// The link before: one, a list, or { rate = [...], delay = [...] } for every combination.
    pub old: Option<Several<LinkWords>>,
    /// The link after, in the same forms; rate or delay may be "same", that of the old link.
    pub new: Option<Several<LinkWords>>,
    /// In place of old and new: a list of [OLD, NEW].
    #[schemars(with = "Option<Vec<[String; 2]>>")]
    pub pairs: Option<Several<Vec<Spanned<String>>>>,
    /// After each pair of links also the way back; false unless given.
    #[schemars(with = "Option<bool>")]
    pub both_ways: Option<Spanned<bool>>,
    /// "mbb", "bbm", "soft", "ping-pong" or a list; "mbb" unless given.
    #[schemars(with = "Option<Several<OneOf<SimulatedKind>>>")]
    pub kind: Option<Several<SimulatedKind>>,
    /// How long break-before-make is without a link; "1s" unless given.
    pub disconnect: Option<Several<String>>,
    /// Flows that share the link; 1 unless given.
    pub flows: Option<Several<usize>>,
    /// Long downloads of other users on each access link: 3, "3 cubic" or a list; none unless given.
    #[schemars(with = "Option<Several<CountWord>>")]
    pub neighbours: Option<Several<SettingWord>>,
    /// Traffic of the user, measured by class, as in segue compare --traffic: "download,video,page" or a list.
    pub traffic: Option<Several<String>>,
    /// Handoffs in a row, each a row of its own: a number or a list; 1 unless given.
    #[schemars(with = "Option<Several<CountWord>>")]
    pub handoffs: Option<Several<SettingWord>>,
    /// From the beginning of a handoff to that of the next: "15s" or a list.
    pub every: Option<Several<String>>,
    /// How long both links carry in a soft handoff: "1s" or a list; "1s" unless given.
    pub overlap: Option<Several<String>>,
    /// Ways of packets meanwhile: one or a list; "duplicate" unless given.
    #[schemars(with = "Option<Several<OneOf<SoftWord>>>")]
    pub soft: Option<Several<String>>,
    /// How long after its beginning a ping-pong is back: "1s" or a list; "1s" unless given.
    #[serde(rename = "return")]
    pub return_after: Option<Several<String>>,
    /// Whether the mobile keeps its address, or connections end and begin anew: one or both; "keep" unless given.
    #[schemars(with = "Option<Several<OneOf<Address>>>")]
    pub address: Option<Several<String>>,
    /// Schemes; ["sack", "etcp-v1"] unless given.
    pub schemes: Option<Several<String>>,
    /// Stacks, each for all schemes; each scheme's own unless given.
    pub stack: Option<Several<String>>,
    /// Congestion controls of the stack, each for all schemes; the stack's own unless given.
    pub cc: Option<Several<String>>,
    /// Settings of schemes, stacks and the bench: a table, or a list of tables, each a variant of its own.
    pub settings: Option<Several<SettingsTable>>,
    /// How senders learn of the handoff; "instant" unless given.
    #[schemars(with = "Option<Several<OneOf<NoticeWord>>>")]
    pub notice: Option<Several<NoticeWord>>,
    /// The first so many of the two copies of an in-band notice are lost; 0 unless given.
    pub notice_loss: Option<Several<u32>>,
    /// Notices err, by a draw for each handoff: "rate=2x,delay=30ms,late=100ms" or a list; "rate=1x" is none.
    pub notice_error: Option<Several<String>>,
    /// End of a transfer time; "after-highest" unless given.
    #[schemars(with = "Option<Several<OneOf<Definition>>>")]
    pub definition: Option<Several<Definition>>,
    /// Packets of a transfer; 100 unless given.
    pub packets: Option<Several<u32>>,
    /// When the handoff begins: a time, FIRST..LAST/STEP, or a list of these; "0.1s..20s/0.1s" unless given.
    pub at: Option<Several<String>>,
    /// All times of `at` are counted from here, past the start of the connections; "0s" unless given.
    #[schemars(with = "Option<String>")]
    pub warm_up: Option<Spanned<String>>,
    /// Seed of start times and clock phases; 1 unless given.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Spanned<u64>>,
    /// Number of seeds, from the first one on; 1 unless given.
    #[schemars(with = "Option<u64>", range(min = 1, max = 100_000))]
    pub seeds: Option<Spanned<u64>>,
}

/// One variant of the settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SettingsTable(
    #[schemars(with = "BTreeMap<String, SettingWord>")] pub BTreeMap<Spanned<String>, Spanned<SettingWord>>,
);

/// The kind of file, for messages.
const SWEEP: &str = "a sweep in TOML (segue sweep --schema)";

/// The JSON schema of the format.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Sweep);
    without_null(&mut schema);
    schema
}

/// Most combinations of settings, stacks, controls, notices, definitions and lengths.
const MOST_VARIANTS: usize = 1000;
/// Most combinations of everything but scheme and handoff time: each is held in memory.
const MOST_SERIES: u64 = 100_000;
/// Most rows: each scheme has its own.
const MOST_ROWS: u64 = 1_000_000_000;

/// A sweep, and the text that it was read from.
#[derive(Clone, Debug)]
pub struct SweepFile {
    source: Source,
    /// Contents of the text.
    pub sweep: Sweep,
}

impl SweepFile {
    /// Reads a file. `names`: those that links have beside the presets'.
    pub fn read(path: &str, names: &LinkNames) -> Result<Self, FileError> {
        Self::from_source(Source::read(path, SWEEP)?.with(names))
    }

    /// Reads text; `path` is for messages, and the paths of traces start from its folder.
    pub fn parse(text: &str, path: &str) -> Result<Self, FileError> {
        Self::from_source(Source::of(path, text, SWEEP))
    }

    /// The same where links have these names, too.
    #[must_use]
    pub fn with(self, names: &LinkNames) -> Self {
        Self { source: self.source.with(names), ..self }
    }

    fn from_source(source: Source) -> Result<Self, FileError> {
        match toml::from_str(&source.text) {
            Ok(sweep) => Ok(Self { source, sweep }),
            Err(error) if toml::from_str::<Scenario>(&source.text).is_ok() => {
                let problem = "this is a scenario: a sweep has no such key; expected none, or segue run";
                Err(source.at(error.span().unwrap_or(0..0), problem.into()))
            }
            Err(_) if is_of_agent(&source.text) => Err(source.at(0..0, of_agent("a sweep"))),
            Err(error) => Err(source.of_toml(&error)),
        }
    }

    /// The plans that it asks for, checked. There is one for each combination of settings, stack, control, notice,
    /// definition and length, in this order, the last varying fastest.
    pub fn plans(&self) -> Result<Vec<Plan>, FileError> {
        let mut plans: Vec<Plan> = Vec::new();
        let (mut series, mut rows): (u64, u64) = (0, 0);
        for variant in self.variants()? {
            let mut plan = ScenarioFile::of(self.source.clone(), self.scenario(variant)).expand(None)?;
            if let Some(first) = plans.first() {
                // One copy of measured links.
                plan.request.pairs = first.request.pairs.clone();
            }
            let request = &plan.request;
            let lists = [request.pairs.len(), request.kinds.len(), request.flows.len()];
            let all = lists.into_iter().map(|length| length as u64).fold(request.seeds, u64::saturating_mul);
            series = series.saturating_add(all);
            let each = (request.at.len() as u64).saturating_mul(plan.schemes.len() as u64);
            let each = each.saturating_mul(u64::from(plan.series.handoffs));
            rows = rows.saturating_add(all.saturating_mul(each));
            let most = [(series, MOST_SERIES, "series"), (rows, MOST_ROWS, "rows")];
            if let Some((_, most, what)) = most.into_iter().find(|(wanted, most, _)| wanted > most) {
                let problem = format!("more than {most} {what}; expected fewer values, or several sweeps");
                return Err(self.source.at(0..0, problem));
            }
            plans.push(plan);
        }
        Ok(plans)
    }

    /// The scenario of one variant: what it has written stands where it stood.
    fn scenario(&self, variant: Scenario) -> Scenario {
        let sweep = &self.sweep;
        Scenario {
            title: sweep.title.clone(),
            old: sweep.old.clone(),
            new: sweep.new.clone(),
            pairs: sweep.pairs.clone(),
            both_ways: sweep.both_ways.clone(),
            kind: sweep.kind.clone(),
            disconnect: sweep.disconnect.clone(),
            flows: sweep.flows.clone(),
            schemes: sweep.schemes.clone(),
            at: sweep.at.clone(),
            warm_up: sweep.warm_up.clone(),
            seed: sweep.seed.clone(),
            seeds: sweep.seeds.clone(),
            ..variant
        }
    }

    /// The keys of which a scenario takes no list, in every combination; of the others only the sweep has values.
    fn variants(&self) -> Result<Vec<Scenario>, FileError> {
        let sweep = &self.sweep;
        let mut all = vec![Scenario::default()];
        let same_settings = |a: &SettingsTable, b: &SettingsTable| {
            let words = |table: &SettingsTable| -> Vec<_> {
                table.0.iter().map(|(key, word)| (key.get_ref().clone(), word.get_ref().clone())).collect()
            };
            words(a) == words(b)
        };
        macro_rules! vary {
            ($($key:literal: $field:ident,)+) => {$(
                self.vary(&mut all, $key, &sweep.$field, PartialEq::eq, |variant, word| {
                    variant.$field = Some(word.clone());
                })?;
            )+};
        }
        self.vary(&mut all, "settings", &sweep.settings, same_settings, |variant, settings| {
            variant.settings = settings.get_ref().0.clone();
        })?;
        vary! { "stack": stack, "cc": cc, }
        self.vary(&mut all, "notice", &sweep.notice, PartialEq::eq, |variant, notice| {
            variant.notice = Some(*notice.get_ref());
        })?;
        self.vary_losses(&mut all)?;
        vary! {
            "notice_error": notice_error,
            "neighbours": neighbours,
            "traffic": traffic,
            "handoffs": handoffs,
            "every": every,
            "overlap": overlap,
            "soft": soft,
            "return": return_after,
            "address": address,
        }
        self.vary(&mut all, "definition", &sweep.definition, PartialEq::eq, |variant, definition| {
            variant.definition = Some(*definition.get_ref());
        })?;
        vary! { "packets": packets, }
        Ok(all)
    }

    /// Each variant once for each value, if any is written.
    fn vary<T>(
        &self,
        all: &mut Vec<Scenario>,
        key: &str,
        values: &Option<Several<T>>,
        same: impl Fn(&T, &T) -> bool,
        set: impl Fn(&mut Scenario, &Spanned<T>),
    ) -> Result<(), FileError> {
        let Some(values) = values else { return Ok(()) };
        self.check_list(all.len(), key, values, same)?;
        let each = std::mem::take(all);
        for variant in each {
            for value in &values.values {
                let mut variant = variant.clone();
                set(&mut variant, value);
                all.push(variant);
            }
        }
        Ok(())
    }

    /// Losses concern in-band notices; each number of a list is a notice of its own.
    fn vary_losses(&self, all: &mut Vec<Scenario>) -> Result<(), FileError> {
        let Some(losses) = &self.sweep.notice_loss else { return Ok(()) };
        self.check_list(all.len(), "notice_loss", losses, PartialEq::eq)?;
        let in_band = |variant: &Scenario| variant.notice == Some(NoticeWord::InBand);
        if !all.iter().any(in_band) {
            let problem =
                "an instant notice is never lost; expected \"in-band\" in `notice` beside `notice_loss`";
            return Err(self.bad(losses.span.clone(), problem.into()));
        }
        let each = std::mem::take(all);
        for variant in each {
            if !in_band(&variant) {
                all.push(variant);
                continue;
            }
            let with = |loss: &Spanned<u32>| Scenario { notice_loss: Some(loss.clone()), ..variant.clone() };
            all.extend(losses.values.iter().map(with));
        }
        Ok(())
    }

    /// A list is not empty, has nothing twice, and does not make too many of `variants`.
    fn check_list<T>(
        &self,
        variants: usize,
        key: &str,
        list: &Several<T>,
        same: impl Fn(&T, &T) -> bool,
    ) -> Result<(), FileError> {
        let values = &list.values;
        if values.is_empty() {
            let problem = format!("{key}: the list is empty; expected at least one value");
            return Err(self.bad(list.span.clone(), problem));
        }
        if variants * values.len() > MOST_VARIANTS {
            let problem = format!(
                "{key}: more than {MOST_VARIANTS} combinations of settings, stacks, controls, notices, definitions and lengths; expected fewer values"
            );
            return Err(self.bad(list.span.clone(), problem));
        }
        for (index, value) in values.iter().enumerate() {
            if values[..index].iter().any(|other| same(other.get_ref(), value.get_ref())) {
                let problem = format!("{key}: the value is given twice; expected each once");
                return Err(self.bad(value.span(), problem));
            }
        }
        Ok(())
    }

    fn bad(&self, span: Range<usize>, problem: String) -> FileError {
        self.source.at(span, problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_study::bench_words::{BENCH_WORDS, BenchWord};
    use segue_world::{Definition, NoticeMode};

    const LINKS: &str = "old = 'wlan'\nnew = 'egprs'\n";

    fn plans(text: &str) -> Result<Vec<Plan>, String> {
        let file = SweepFile::parse(&format!("{LINKS}{text}"), "s.toml");
        file.and_then(|file| file.plans()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_scenario_says_a_sweep_says_too() {
        let scenario = ScenarioFile::parse(LINKS, "s.toml").unwrap().plan(None).unwrap().0;
        let [plan] = &plans("").unwrap()[..] else { panic!("one plan") };
        assert_eq!(format!("{plan:?}"), format!("{scenario:?}"));
    }

    #[test]
    fn each_word_of_the_bench_varies() {
        for BenchWord { key, file, .. } in BENCH_WORDS {
            let Some(file) = file else { continue };
            let read = SweepFile::parse(&format!("{file} = ['1', '2']"), "s.toml").unwrap();
            let variants = read.variants().unwrap();
            let words = variants.iter().map(|variant| variant.own_word(key).map(|(_, word)| word));
            assert_eq!(words.collect::<Vec<_>>(), [Some("1".into()), Some("2".into())], "{key}");
        }
    }

    #[test]
    fn lists_combine_with_the_last_varying_fastest() {
        let text = "stack = ['ns2-sack1', 'linux']\nnotice = ['instant', 'in-band']\nnotice_loss = [0, 2]\n\
            definition = ['after-ack', 'after-highest']\npackets = [10, 100]\n\
            [[settings]]\n[[settings]]\ninitial-window = 4\n";
        let plans = plans(text).unwrap();
        assert_eq!(plans.len(), 2 * 2 * 3 * 2 * 2);
        let words = |plan: &Plan| {
            let request = &plan.request;
            let stack = request.stack.clone().unwrap_or_default();
            (request.settings.len(), stack, request.notice, request.definition, request.packets)
        };
        let (sack, instant, ack) = ("ns2-sack1".to_string(), NoticeMode::Instant, Definition::AfterAck);
        assert_eq!(words(&plans[0]), (0, sack.clone(), instant, ack, 10));
        assert_eq!(words(&plans[1]), (0, sack.clone(), instant, ack, 100));
        assert_eq!(words(&plans[2]), (0, sack.clone(), instant, Definition::AfterHighest, 10));
        assert_eq!(words(&plans[4]), (0, sack.clone(), NoticeMode::InBand { lost: 0 }, ack, 10));
        assert_eq!(words(&plans[8]), (0, sack.clone(), NoticeMode::InBand { lost: 2 }, ack, 10));
        assert_eq!(words(&plans[12]), (0, "linux".to_string(), instant, ack, 10));
        assert_eq!(words(&plans[24]), (1, sack, instant, ack, 10));
    }

    #[test]
    fn bad_words_have_a_place_and_a_way_out() {
        for (text, place, words) in [
            ("stacks = 'linux'", "line 3, column 1", "did you mean `stack`?"),
            ("stack = ['linux', 'linx']", "line 3, column 19", "did you mean `linux`?"),
            ("stack = ['linux', 'linux']", "line 3, column 19", "twice"),
            ("packets = [100, 0]", "line 3, column 17", "1 to 1000000"),
            ("packets = []", "line 3, column 11", "the list is empty"),
            ("packets = 'many'", "line 3, column 11", "expected a whole number"),
            ("notice = ['instant', 'inband']", "line 3, column 22", "did you mean `in-band`?"),
            ("notice_loss = 1", "line 3, column 15", "expected \"in-band\" in `notice`"),
            ("notice = 'in-band'\nnotice_loss = [0, 3]", "line 4, column 19", "expected 0, 1 or 2"),
            ("definition = 'after'", "line 3, column 14", "after-highest"),
            ("[[settings]]\ninitial-windw = 4", "line 4, column 1", "did you mean `initial-window`?"),
            ("[[settings]]\n[[settings]]", "line 4, column 1", "twice"),
            ("at = '0.1s..2000s/2ms'\nseeds = 1000", "line 1, column 1", "1000000000 rows"),
        ] {
            let error = plans(text).expect_err(text);
            assert!(error.contains(place) && error.contains(words), "{text}: {error}");
        }
        let many: Vec<String> = (1..=1001).map(|packets| packets.to_string()).collect();
        let error = plans(&format!("packets = [{}]", many.join(","))).unwrap_err();
        assert!(error.contains("more than 1000 combinations"), "{error}");
        let error = plans("flows = [1, 2]\nseeds = 50_001").unwrap_err();
        assert!(error.contains("more than 100000 series"), "{error}");
        let error = SweepFile::parse("old =", "s.toml").unwrap_err().to_string();
        assert!(error.contains("s.toml, line 1, column 6"), "{error}");
        let error = SweepFile::read("nowhere.toml", &LinkNames::default()).unwrap_err().to_string();
        assert!(error.contains("there is no such file; expected a sweep in TOML"), "{error}");
    }
}
