//! Judged claims as JSON (docs/papers/reproduction.md).

use segue_export::{Origin, digest_of};
use segue_reproduce::papers::file_of;
use segue_reproduce::verdict::{Beside, Judged, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// In the summary: claims that rest on too few handoff times or seeds.
const NO_VERDICT_YET: &str = "no verdict yet";

/// A judged claim.
#[derive(Deserialize, Serialize)]
pub struct ClaimRow<'a> {
    id: &'a str,
    place: &'a str,
    kind: String,
    check: String,
    verdict: &'static str,
    /// It rests on too few handoff times or seeds for a verdict.
    few: bool,
    stated: &'a str,
    measured: &'a str,
    why: &'a str,
    /// The same on other benches.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    beside: Vec<BesideRow<'a>>,
}

/// A claim on another bench.
#[derive(Serialize)]
struct BesideRow<'a> {
    bench: &'a str,
    settings: &'a [String],
    verdict: &'static str,
    measured: &'a str,
}

impl<'a> From<&'a Judged<'a>> for ClaimRow<'a> {
    fn from(judged: &'a Judged<'a>) -> Self {
        let lower = |debug: String| debug.to_lowercase();
        Self {
            id: &judged.claim.id,
            place: &judged.claim.place,
            kind: lower(format!("{:?}", judged.claim.kind)),
            check: lower(format!("{:?}", judged.claim.check)),
            verdict: judged.verdict.words(),
            few: judged.few,
            stated: &judged.claim.stated,
            measured: &judged.measured,
            why: &judged.why,
            beside: judged.beside.iter().map(BesideRow::from).collect(),
        }
    }
}

impl<'a> From<&'a Beside<'a>> for BesideRow<'a> {
    fn from(beside: &'a Beside<'a>) -> Self {
        Self {
            bench: &beside.bench.name,
            settings: &beside.bench.set,
            verdict: beside.verdict.words(),
            measured: &beside.measured,
        }
    }
}

/// `{"version":1,"points":N,"claims":[{"id",..,"verdict",..}],"summary":{..}}`, one claim a line. The origin has the
/// digests of the papers' ledgers.
pub fn claims_json(judged: &[Judged], points: usize, origin: &Origin) -> Result<String, serde_json::Error> {
    let ids: BTreeSet<&str> = judged.iter().map(|judged| judged.paper.id.as_str()).collect();
    let files = ids.into_iter().filter_map(file_of);
    let files: BTreeMap<&str, String> =
        files.map(|(name, text)| (name, digest_of(text.as_bytes()))).collect();
    let mut origin = origin.json();
    origin["files"] = serde_json::to_value(files)?;
    let mut summary: BTreeMap<&'static str, usize> = Verdict::ALL.map(|verdict| (verdict.words(), 0)).into();
    for claim in judged {
        let word = claim.settled().map_or(NO_VERDICT_YET, Verdict::words);
        *summary.entry(word).or_default() += 1;
    }
    let row = |judged| serde_json::to_string(&ClaimRow::from(judged));
    let rows: Vec<String> = judged.iter().map(row).collect::<Result<_, _>>()?;
    let summary = serde_json::to_string(&summary)?;
    Ok(format!(
        "{{\"version\":1,\"points\":{points},\"claims\":[\n{}\n],\"summary\":{summary},\n\"origin\":{}}}\n",
        rows.join(",\n"),
        origin
    ))
}
