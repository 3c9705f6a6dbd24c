//! A comparison written down as a file: `segue run SCENARIO.toml`. The types below are the format, and the JSON
//! schema is made from them; docs/guide/run.md explains it.
//!
//! [`written`] has values that may be written in more than one way, and [`expand`] turns a file into a [`Plan`].
//! `place` says where in the file something is wrong.

mod expand;
mod links;
mod shown;
#[cfg(test)]
mod tests;
mod written;

pub use written::{Grid, LinkWords, SettingWord, Several};

use crate::lab::LabFile;
use crate::place::SCENARIO;
use crate::place::{FileError, Source};
use crate::sweep::Sweep;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use segue_study::bench_words::{
    ADDRESS, EVERY, HANDOFFS, NEIGHBOURS, NOTICE_ERROR, OVERLAP, RETURN, SOFT, TRAFFIC,
};
use segue_study::measure::Column;
use segue_study::parameter::Parameter;
use segue_study::presentation::{Chart, Presentation, Scale};
use segue_study::request::Plan;
use segue_world::access::LinkNames;
use segue_world::{Address, Definition, NoticeWord, SimulatedKind, SoftWord};
use serde::Deserialize;
use shown::{ColumnWord, ScaleWord};
pub use shown::{CountWord, OneOf};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// A comparison of schemes over handoffs between links, for `segue run`. Links, kinds, disconnections and flows may be lists: every combination of them is simulated.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[schemars(title = "Segue scenario")]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Stands above table, page and chart.
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
    /// How long break-before-make is without a link: one time or a list; "1s" unless given.
    pub disconnect: Option<Several<String>>,
    /// Flows that share the link: one number or a list; 1 unless given.
    pub flows: Option<Several<usize>>,
    /// Long downloads of other users on each access link, as in segue compare --neighbours: 3 or "3 cubic".
    #[schemars(with = "Option<CountWord>")]
    pub neighbours: Option<Spanned<SettingWord>>,
    /// Traffic of the user, measured by class, as in segue compare --traffic: "download,video,page".
    #[schemars(with = "Option<String>")]
    pub traffic: Option<Spanned<String>>,
    /// Handoffs in a row, each counted for itself, as in segue compare --handoffs; 1 unless given.
    #[schemars(with = "Option<CountWord>")]
    pub handoffs: Option<Spanned<SettingWord>>,
    /// From the beginning of a handoff to that of the next: "15s".
    #[schemars(with = "Option<String>")]
    pub every: Option<Spanned<String>>,
    /// How long both links carry in a soft handoff; "1s" unless given.
    #[schemars(with = "Option<String>")]
    pub overlap: Option<Spanned<String>>,
    /// Ways of packets meanwhile; "duplicate" unless given.
    #[schemars(with = "Option<OneOf<SoftWord>>")]
    pub soft: Option<Spanned<String>>,
    /// How long after its beginning a ping-pong is back; "1s" unless given.
    #[serde(rename = "return")]
    #[schemars(with = "Option<String>")]
    pub return_after: Option<Spanned<String>>,
    /// Whether the mobile keeps its address, or connections end and begin anew; "keep" unless given.
    #[schemars(with = "Option<OneOf<Address>>")]
    pub address: Option<Spanned<String>>,
    /// Schemes, the first of which the others are held against; ["sack", "etcp-v1"] unless given.
    pub schemes: Option<Several<String>>,
    /// One stack for all schemes; each scheme's own unless given.
    #[schemars(with = "Option<String>")]
    pub stack: Option<Spanned<String>>,
    /// Congestion control of a stack that has a choice, such as linux-6.12; the stack's own unless given.
    #[schemars(with = "Option<String>")]
    pub cc: Option<Spanned<String>>,
    /// Settings of schemes, stacks and the bench.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, SettingWord>")]
    pub settings: BTreeMap<Spanned<String>, Spanned<SettingWord>>,
    /// How senders learn of the handoff; "instant" unless given.
    #[schemars(with = "Option<OneOf<NoticeWord>>")]
    pub notice: Option<NoticeWord>,
    /// The first so many of the two copies of an in-band notice are lost; 0 unless given.
    #[schemars(with = "Option<u32>", range(max = 2))]
    pub notice_loss: Option<Spanned<u32>>,
    /// Notices err, by a draw for each handoff, as in segue compare --notice-error: "rate=2x,delay=30ms,late=100ms".
    #[schemars(with = "Option<String>")]
    pub notice_error: Option<Spanned<String>>,
    /// End of a transfer time; "after-highest" unless given.
    #[schemars(with = "Option<OneOf<Definition>>")]
    pub definition: Option<Definition>,
    /// Packets of a transfer; 100 unless given.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1_000_000))]
    pub packets: Option<Spanned<u32>>,
    /// When the handoff begins: a time, FIRST..LAST/STEP, or a list of these; "0.1s..20s/0.1s" unless given.
    pub at: Option<Several<String>>,
    /// All times of `at` are counted from here, past the start of the connections; "0s" unless given.
    #[schemars(with = "Option<String>")]
    pub warm_up: Option<Spanned<String>>,
    /// Seed of start times and clock phases; 1 unless given.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Spanned<u64>>,
    /// Number of seeds, from the first one on, whose handoffs are pooled; 1 unless given.
    #[schemars(with = "Option<u64>", range(min = 1, max = 100_000))]
    pub seeds: Option<Spanned<u64>>,
    /// Columns of the table, in order; those of segue compare unless given.
    #[schemars(with = "Option<Several<ColumnWord>>")]
    pub columns: Option<Several<Column>>,
    /// The chart of quartiles.
    #[serde(default)]
    pub chart: ChartWords,
    /// Where results go.
    #[serde(default)]
    pub output: OutputWords,
}

impl Scenario {
    /// The word under the own key of this setting of the bench, and its place.
    pub(crate) fn own_word(&self, setting: &str) -> Option<(Range<usize>, String)> {
        let text = |words: &Spanned<String>| (words.span(), words.get_ref().clone());
        let number = |words: &Spanned<SettingWord>| (words.span(), words.get_ref().0.clone());
        match setting {
            NOTICE_ERROR => self.notice_error.as_ref().map(text),
            NEIGHBOURS => self.neighbours.as_ref().map(number),
            TRAFFIC => self.traffic.as_ref().map(text),
            HANDOFFS => self.handoffs.as_ref().map(number),
            EVERY => self.every.as_ref().map(text),
            OVERLAP => self.overlap.as_ref().map(text),
            SOFT => self.soft.as_ref().map(text),
            RETURN => self.return_after.as_ref().map(text),
            ADDRESS => self.address.as_ref().map(text),
            _ => None,
        }
    }
}

/// The axes of the chart.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChartWords {
    /// The horizontal axis; unless given, the one parameter that varies, else "blocks".
    #[schemars(with = "Option<AcrossWord>")]
    pub across: Option<Spanned<AcrossWord>>,
    /// How it lies there; "linear" unless given.
    #[schemars(with = "Option<ScaleWord>")]
    pub horizontal: Option<Spanned<Scale>>,
    /// How transfer times lie on the vertical axis; chosen by their range unless given.
    #[schemars(with = "Option<ScaleWord>")]
    pub vertical: Option<Scale>,
}

/// Choices for the horizontal axis of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcrossWord {
    /// The blocks of the table, by name.
    Blocks,
    /// Rate of the old link.
    OldRate,
    /// One-way delay of the old link.
    OldDelay,
    /// Rate of the new link.
    NewRate,
    /// One-way delay of the new link.
    NewDelay,
    /// Length of the disconnection; 0 for make-before-break.
    Disconnect,
    /// Number of flows.
    Flows,
}

impl AcrossWord {
    fn parameter(self) -> Option<Parameter> {
        match self {
            Self::Blocks => None,
            Self::OldRate => Some(Parameter::OldRate),
            Self::OldDelay => Some(Parameter::OldDelay),
            Self::NewRate => Some(Parameter::NewRate),
            Self::NewDelay => Some(Parameter::NewDelay),
            Self::Disconnect => Some(Parameter::Disconnect),
            Self::Flows => Some(Parameter::Flows),
        }
    }
}

/// Where one result goes.
pub type OutputWord = Spanned<String>;

/// Files to write, from the current folder on; "-" is standard output. The command line overrides each.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputWords {
    /// The rows as JSON.
    #[schemars(with = "Option<String>")]
    pub json: Option<OutputWord>,
    /// The rows as CSV.
    #[schemars(with = "Option<String>")]
    pub csv: Option<OutputWord>,
    /// One CSV line per handoff and scheme.
    #[schemars(with = "Option<String>")]
    pub rows: Option<OutputWord>,
    /// One page that explains the comparison, HTML.
    #[schemars(with = "Option<String>")]
    pub report: Option<OutputWord>,
    /// The chart of quartiles, SVG.
    #[schemars(with = "Option<String>")]
    pub svg: Option<OutputWord>,
}

/// The JSON schema of the format.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Scenario);
    without_null(&mut schema);
    schema
}

/// TOML has no null: a key without a value is left out.
pub(crate) fn without_null(schema: &mut Schema) {
    if let Some(serde_json::Value::Array(types)) = schema.get_mut("type") {
        types.retain(|word| word != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            schema.insert("type".into(), one);
        }
    }
    if let Some(serde_json::Value::Array(forms)) = schema.get_mut("anyOf") {
        forms.retain(|form| form.get("type").is_none_or(|word| word != "null"));
        if let [serde_json::Value::Object(one)] = &forms[..] {
            let one = one.clone();
            schema.remove("anyOf");
            one.into_iter().for_each(|(key, value)| {
                schema.insert(key, value);
            });
        }
    }
    transform_subschemas(&mut without_null, schema);
}

/// Tables and keys that only the agent's configuration has (docs/guide/agent.md).
pub(crate) const OF_AGENT: [&str; 17] = [
    "cgroup",
    "control",
    "copies",
    "gaps",
    "group",
    "interval",
    "limit",
    "link",
    "others",
    "phas",
    "phas-for",
    "pin",
    "station-share",
    "table",
    "uploads",
    "watch",
    "way",
];

/// Whether a text has one of these, and no links and no drive.
pub(crate) fn is_of_agent(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).is_ok_and(|table| {
        let has = |key: &&str| table.contains_key(*key);
        OF_AGENT.iter().any(has) && !["old", "pairs", "drive"].iter().any(has)
    })
}

/// The problem of such a file where this was expected.
pub(crate) fn of_agent(expected: &str) -> String {
    format!("this is a configuration of the agent; expected {expected}, or segue agent run --config FILE")
}

/// A scenario, and the text that it was read from.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    source: Source,
    /// Contents of the text.
    pub scenario: Scenario,
}

impl ScenarioFile {
    /// Reads a file. `names`: those that links have beside the presets'.
    pub fn read(path: &str, names: &LinkNames) -> Result<Self, FileError> {
        Self::from_source(Source::read(path, SCENARIO)?.with(names))
    }

    /// Reads text; `path` is for messages, and the paths of traces start from its folder.
    pub fn parse(text: &str, path: &str) -> Result<Self, FileError> {
        Self::from_source(Source::of(path, text, SCENARIO))
    }

    fn from_source(source: Source) -> Result<Self, FileError> {
        match toml::from_str(&source.text) {
            Ok(scenario) => Ok(Self { source, scenario }),
            Err(_) if LabFile::parse(&source.text, &source.path).is_ok() => {
                let problem =
                    "this is a laboratory's plan; expected a scenario, or segue lab run".to_string();
                Err(source.at(0..0, problem))
            }
            Err(_) if is_of_agent(&source.text) => Err(source.at(0..0, of_agent("a scenario"))),
            Err(error) if toml::from_str::<Sweep>(&source.text).is_ok() => {
                let problem =
                    "this is a sweep: a scenario takes one value here; expected one, or segue sweep";
                Err(source.at(error.span().unwrap_or(0..0), problem.into()))
            }
            Err(error) => Err(source.of_toml(&error)),
        }
    }

    /// A scenario that is part of a file of another kind.
    pub(crate) fn of(source: Source, scenario: Scenario) -> Self {
        Self { source, scenario }
    }

    /// The plan that it asks for, checked, with at most `points` handoff times a seed, and how it is to be shown.
    pub fn plan(&self, points: Option<usize>) -> Result<(Plan, Presentation), FileError> {
        let plan = self.expand(points)?;
        self.check_blocks(&plan)?;
        let chart = self.chart(&plan)?;
        let columns = match &self.scenario.columns {
            None => Column::USUAL.to_vec(),
            Some(columns) => {
                self.filled("columns", columns)?;
                let words = &columns.values;
                let doubled = |index: &usize| {
                    words[..*index].iter().any(|word| word.get_ref() == words[*index].get_ref())
                };
                if let Some(index) = (0..words.len()).find(doubled) {
                    let word = words[index].get_ref().word();
                    let problem = format!("columns: `{word}` is given twice; expected each once");
                    return Err(self.source.at(words[index].span(), problem));
                }
                columns.iter().copied().collect()
            }
        };
        Ok((plan, Presentation { title: self.scenario.title.clone(), columns, chart }))
    }

    /// A problem with an output that the file names.
    pub fn bad_output(&self, output: &OutputWord, problem: impl std::fmt::Display) -> FileError {
        self.source.at(output.span(), problem.to_string())
    }

    fn chart(&self, plan: &Plan) -> Result<Chart, FileError> {
        let words = &self.scenario.chart;
        let groups = plan.groups();
        let experiments: Vec<_> = groups.iter().map(|seeds| &seeds[0].experiments[0]).collect();
        let across = match &words.across {
            None => Parameter::only_varying(&experiments),
            Some(word) => word.get_ref().parameter(),
        };
        let horizontal = words.horizontal.as_ref().map_or(Scale::Linear, |scale| *scale.get_ref());
        let log = words.horizontal.as_ref().filter(|scale| *scale.get_ref() == Scale::Log);
        if let Some(parameter) = across {
            for experiment in experiments {
                match (parameter.of(experiment), &words.across, log) {
                    (None, Some(word), _) => {
                        let problem = format!(
                            "{} -> {} has no one {}; expected `blocks`, `disconnect` or `flows`",
                            experiment.old.text,
                            experiment.new.text,
                            parameter.label()
                        );
                        return Err(self.source.at(word.span(), problem));
                    }
                    (Some(value), _, Some(log)) if value <= 0.0 => {
                        let problem =
                            format!("{}: a log axis has no {value}; expected `linear`", parameter.label());
                        return Err(self.source.at(log.span(), problem));
                    }
                    _ => {}
                }
            }
        } else if let Some(log) = log {
            let problem =
                "the blocks of the table are no numbers; expected `linear`, or a parameter in `across`";
            return Err(self.source.at(log.span(), problem.into()));
        }
        Ok(Chart { across, horizontal, vertical: words.vertical })
    }
}
