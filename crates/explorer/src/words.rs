//! A question in words that run without the page: command lines and a scenario file. Default values are left out.

use crate::question::{Question, USUAL_SCHEMES, in_seconds};
use crate::refusal::Refusal;
use segue_study::Request;
use segue_study::bench_words::NOTICE_ERROR;
use segue_study::request::PACKETS;
use segue_world::{Definition, Kind, NoticeMode, NoticeWord, SimulatedKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// `segue compare` with the same answer.
pub fn compare_command(question: &Question, folder: &Path) -> String {
    let mut words = command("compare", &question.plan.request);
    if let Some(times) = &question.times {
        words.extend(["--at".into(), times.clone()]);
    }
    in_folder(folder, &question.plan.request, shell_words::join(words))
}

/// `segue trace` of the handoff.
pub fn trace_command(question: &Question, folder: &Path) -> String {
    let mut words = command("trace", &question.plan.request);
    words.extend(
        question
            .plan
            .request
            .at
            .first()
            .map(|at| ["--at".to_string(), in_seconds(*at)])
            .into_iter()
            .flatten(),
    );
    in_folder(folder, &question.plan.request, shell_words::join(words))
}

/// Conditions that are not usual. A heading must say them beside links, kind, flows and TCP.
pub fn conditions(request: &Request) -> Vec<String> {
    let mut conditions = Vec::new();
    if let NoticeMode::InBand { lost } = request.notice {
        let lost = ["", ", its first copy lost", ", both its copies lost"][lost.min(2) as usize];
        conditions.push(format!("notice in band{lost}"));
    }
    let error = request.settings.iter().find(|(key, _)| key == NOTICE_ERROR);
    conditions.extend(error.map(|(_, error)| format!("notices err by {error}")));
    if request.packets != PACKETS {
        conditions.push(format!("{} packets", request.packets));
    }
    if request.definition == Definition::AfterAck {
        conditions.push("counted from the cumulative ACK".into());
    }
    if request.seed != 1 {
        conditions.push(format!("seed {}", request.seed));
    }
    conditions
}

/// Words that both commands share.
fn command(name: &str, request: &Request) -> Vec<String> {
    let mut words = vec!["segue".to_string(), name.to_string()];
    for (old, new) in &request.pairs {
        words.extend([old.text.clone(), new.text.clone()]);
    }
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    if kind(request) != SimulatedKind::Mbb {
        option("kind", kind(request).to_string());
    }
    if let Some(disconnect) = disconnection(request).filter(|time| time != USUAL_DISCONNECTION) {
        option("disconnect", disconnect);
    }
    for (key, value) in &request.settings {
        option(key, value.clone());
    }
    if request.flows != [1] {
        option("flows", request.flows.iter().map(usize::to_string).collect());
    }
    if request.schemes.join(",") != USUAL_SCHEMES {
        option("schemes", request.schemes.join(","));
    }
    if let NoticeMode::InBand { lost } = request.notice {
        option("notice", NoticeWord::InBand.to_string());
        if lost > 0 {
            option("notice-loss", lost.to_string());
        }
    }
    if request.packets != PACKETS {
        option("packets", request.packets.to_string());
    }
    if request.definition == Definition::AfterAck {
        option("definition", Definition::AfterAck.to_string());
    }
    if let Some(stack) = &request.stack {
        option("stack", stack.clone());
    }
    if let Some(cc) = &request.cc {
        option("cc", cc.clone());
    }
    if request.seed != 1 {
        option("seed", request.seed.to_string());
    }
    words
}

/// The command where a question names traces: their paths start from the folder.
fn in_folder(folder: &Path, request: &Request, command: String) -> String {
    let measured = request.pairs.iter().any(|(old, new)| !old.files.is_empty() || !new.files.is_empty());
    match measured {
        true => format!("cd {} && {command}", shell_words::quote(&folder.to_string_lossy())),
        false => command,
    }
}

/// Disconnection of `bbm` unless given.
const USUAL_DISCONNECTION: &str = "1s";

/// How long there is no link, if there is such a time.
fn disconnection(request: &Request) -> Option<String> {
    request.kinds.iter().find_map(|kind| match kind {
        Kind::Bbm(time) => Some(in_seconds(*time)),
        Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => None,
    })
}

/// The kind of the handoffs.
fn kind(request: &Request) -> SimulatedKind {
    request.kinds.first().map_or(SimulatedKind::Mbb, |kind| kind.simulated())
}

/// The keys of docs/guide/run.md.
#[derive(Serialize)]
struct Scenario<'a> {
    old: &'a str,
    new: &'a str,
    kind: SimulatedKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    disconnect: Option<String>,
    /// Those of kinds, `address`, `traffic`, `neighbours`, `notice_error`, `handoffs` and `every`.
    #[serde(flatten)]
    settings: BTreeMap<String, &'a str>,
    flows: usize,
    schemes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cc: Option<&'a str>,
    notice: NoticeWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_loss: Option<u32>,
    definition: Definition,
    packets: u32,
    at: Vec<String>,
    seed: u64,
}

/// The scenario file of `segue run`.
pub fn scenario(question: &Question) -> Result<String, Refusal> {
    let request = &question.plan.request;
    let Some((old, new)) = request.pairs.first() else { return Ok(String::new()) };
    let disconnect = disconnection(request);
    let (notice, lost) = match request.notice {
        NoticeMode::InBand { lost } => (NoticeWord::InBand, lost),
        NoticeMode::Instant | NoticeMode::Withheld => (NoticeWord::Instant, 0),
    };
    let scenario = Scenario {
        old: &old.text,
        new: &new.text,
        kind: kind(request),
        disconnect,
        settings: request
            .settings
            .iter()
            // Keys of files have no dashes.
            .map(|(key, value)| (key.replace('-', "_"), value.as_str()))
            .collect(),
        flows: request.flows.first().copied().unwrap_or(1),
        schemes: &request.schemes,
        stack: request.stack.as_deref(),
        cc: request.cc.as_deref(),
        notice,
        notice_loss: (lost > 0).then_some(lost),
        definition: request.definition,
        packets: request.packets,
        at: vec![question.times.clone().unwrap_or_else(|| crate::question::USUAL_TIMES.into())],
        seed: request.seed,
    };
    let text = toml::to_string(&scenario).map_err(Refusal::ours)?;
    Ok(format!("# segue run SCENARIO.toml\n{text}"))
}
