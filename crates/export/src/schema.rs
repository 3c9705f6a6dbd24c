//! JSON schemas of results (draft 2020-12), for programs that read them. Measures come from the table of measures;
//! a test holds every schema against what is printed.

use segue_study::measure::{EachKind, MEASURES, Measure};
use segue_study::verdict::Verdict;
use segue_words::Choice;
use segue_world::SimulatedKind;
use serde_json::{Map, Value, json};

mod agent;
mod comparison;
mod lines;
mod live;
mod papers;

segue_words::choices! {
/// Outputs that have a schema.
pub enum OutputWord {
    /// `segue compare --json`, and `segue run --json` of a scenario.
    Compare = "compare",
    /// `segue run --json` of drives.
    Drive = "drive",
    /// `segue diff --json`.
    Diff = "diff",
    /// One line of `segue trace --json`.
    Trace = "trace",
    /// `segue lab run --json`.
    Lab = "lab",
    /// `segue lab drive --json`.
    LabDrive = "lab-drive",
    /// `segue lab cost --json`.
    LabCost = "lab-cost",
    /// `segue doctor --json`.
    Doctor = "doctor",
    /// `segue kernel status --json`.
    KernelStatus = "kernel-status",
    /// `segue agent status --json`.
    AgentStatus = "agent-status",
    /// One line of `segue agent run --log json`.
    AgentLog = "agent-log",
    /// `segue model tcp-ho --json`.
    ModelTcpHo = "model-tcp-ho",
    /// `segue model lcfd --json`.
    ModelLcfd = "model-lcfd",
    /// `segue reproduce --json`.
    Reproduce = "reproduce",
    /// One row of the Parquet file of `segue sweep`.
    Sweep = "sweep",
}
}

/// The schema of an output.
pub fn schema(of: OutputWord) -> Value {
    let mut schema = match of {
        OutputWord::Compare => comparison::document(comparison::row(), comparison::handoffs()),
        OutputWord::Drive => comparison::document(comparison::drive_row(), comparison::drives()),
        OutputWord::Diff => difference(),
        OutputWord::Trace => lines::line(),
        OutputWord::Lab => comparison::document(live::lab_row(), live::lab_question()),
        OutputWord::LabDrive => comparison::document(live::lab_drive_row(), live::lab_question()),
        OutputWord::LabCost => live::lab_cost(),
        OutputWord::Doctor => live::doctor(),
        OutputWord::KernelStatus => live::kernel_status(),
        OutputWord::AgentStatus => agent::status(),
        OutputWord::AgentLog => agent::log(),
        OutputWord::ModelTcpHo => papers::tcp_ho(),
        OutputWord::ModelLcfd => papers::lcfd(),
        OutputWord::Reproduce => papers::reproduce(),
        OutputWord::Sweep => papers::sweep(),
    };
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("Segue: {}", of.meaning().trim_end_matches('.').replace('`', "")));
    schema
}

/// The document of `segue diff`.
fn difference() -> Value {
    let changed = object([
        ("field", text("The field that describes the question.")),
        ("a", text("In A.")),
        ("b", text("In B.")),
    ]);
    let names: Vec<&str> = MEASURES.iter().map(|measure| measure.name).collect();
    let verdicts = Verdict::ALL.map(Verdict::words);
    let measured = object([
        ("measure", json!({ "enum": names })),
        ("a", may_be_null(number("In A; null is infinite."))),
        ("b", may_be_null(number("In B."))),
        ("ratio", may_be_null(number("B over A; null is infinite."))),
        ("noise", may_be_null(number("The largest difference that noise explains; null is unknown."))),
        ("verdict", json!({ "enum": verdicts })),
    ]);
    let pair = object([
        ("old", text("Link before.")),
        ("new", text("Link after.")),
        ("kind", words_of::<SimulatedKind>()),
        ("disconnect_s", number("Time without a link, s; 0 for mbb.")),
        ("flows", count("Flows to the mobile.")),
        ("scheme", text("Scheme.")),
        ("identical", boolean("Whether the two rows are equal in every field.")),
        ("question", list(changed)),
        ("measures", list(measured)),
    ]);
    let pair = with(pair, [("handoff", count("Which handoff of its run, from 1, if there are several."))]);
    object([
        ("version", json!({ "const": 1 })),
        ("identical", boolean("Whether the two results are equal in every field.")),
        ("pairs", list(pair)),
        ("only_in_a", list(comparison::row())),
        ("only_in_b", list(comparison::row())),
        ("origin", with_files("Digests of the two results, by their paths.")),
    ])
}

/// The origin of what no simulation made.
fn command() -> Value {
    object([
        ("program", text("Version of Segue, with the commit where it is known.")),
        ("command", text("The command line that asks the same.")),
    ])
}

/// The same with digests of what was read.
fn with_files(about: &str) -> Value {
    with(command(), [("files", named(text("SHA-256."), about))])
}

/// An object that has all of these fields, and no other.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_string(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The same, which may have these fields as well.
fn with<const N: usize>(mut object: Value, optional: [(&str, Value); N]) -> Value {
    for (name, schema) in optional {
        object["properties"][name] = schema;
    }
    object
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn number(about: &str) -> Value {
    json!({ "type": "number", "description": about })
}

fn count(about: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": about })
}

/// The words of a closed set.
fn words_of<T: Choice>() -> Value {
    json!({ "enum": T::ALL.iter().map(|choice| choice.word()).collect::<Vec<_>>() })
}

fn boolean(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

/// Values by names that differ from result to result.
fn named(of: Value, about: &str) -> Value {
    json!({ "type": "object", "additionalProperties": of, "description": about })
}

fn may_be_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"].take(), "null"]);
    schema
}

/// Fields of a row that hold measures.
fn measures(fields: &[(&str, &str)], measures: &[Measure]) -> Map<String, Value> {
    let mut schemas = Map::new();
    for (field, definition) in fields {
        let parts: Map<String, Value> = measures
            .iter()
            .filter_map(|measure| {
                let about = format!("{} ({})", measure.about("the first scheme"), measure.unit.words());
                let schema = match measure.kind {
                    EachKind::Count => count(&about),
                    EachKind::Seconds => number(&about),
                    EachKind::MaybeInfinite => may_be_null(number(&about)),
                };
                (measure.field == *field).then(|| (measure.name.to_string(), schema))
            })
            .collect();
        let schema = match parts.get(*field) {
            Some(schema) => schema.clone(),
            None => {
                let parts = parts
                    .into_iter()
                    .map(|(name, schema)| (name.rsplit('.').next().unwrap_or_default().to_string(), schema));
                let parts: Map<String, Value> = parts.collect();
                let required: Vec<&String> = parts.keys().collect();
                json!({ "type": "object", "required": required, "properties": parts, "additionalProperties": false })
            }
        };
        let mut schema = schema;
        schema["description"] = json!(definition.trim());
        schemas.insert((*field).to_string(), schema);
    }
    schemas
}
