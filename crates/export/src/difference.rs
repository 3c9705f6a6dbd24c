//! The JSON document of `segue diff` (docs/guide/diff.md).

use crate::Origin;
use segue_study::difference::{Changed, Pair};
use segue_study::verdict::Measured;
use segue_study::{Difference, Row};
use serde::Serialize;
use std::collections::BTreeMap;

/// A [`Pair`]: what makes its rows belong together, and how they differ.
#[derive(Serialize)]
struct PairDocument<'a> {
    old: &'a str,
    new: &'a str,
    kind: &'a str,
    disconnect_s: f64,
    flows: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    handoff: Option<u32>,
    scheme: &'a str,
    identical: bool,
    question: &'a [Changed],
    measures: &'a [Measured],
}

impl<'a> From<&'a Pair> for PairDocument<'a> {
    fn from(pair: &'a Pair) -> Self {
        let row = &pair.a;
        Self {
            old: &row.old,
            new: &row.new,
            kind: &row.kind,
            disconnect_s: row.disconnect_s,
            flows: row.flows,
            handoff: row.handoff,
            scheme: &row.scheme,
            identical: pair.identical(),
            question: &pair.question,
            measures: &pair.measures,
        }
    }
}

/// A difference as JSON text, one pair or row a line, with a final line feed. `files`: the digests of the two results, by
/// their paths.
pub fn difference_json(
    difference: &Difference,
    origin: &Origin,
    files: &BTreeMap<String, String>,
) -> Result<String, serde_json::Error> {
    let mut origin = origin.json();
    origin["files"] = serde_json::to_value(files)?;
    let pairs = lines(difference.pairs.iter().map(PairDocument::from))?;
    let rows = |rows: &[Row]| lines(rows.iter());
    Ok(format!(
        "{{\"version\":1,\"identical\":{},\"pairs\":[{pairs}],\"only_in_a\":[{}],\"only_in_b\":[{}],\n\"origin\":{}}}\n",
        difference.identical(),
        rows(&difference.only_in_a)?,
        rows(&difference.only_in_b)?,
        origin,
    ))
}

/// The items of a list, each on a line of its own.
fn lines<T: Serialize>(items: impl Iterator<Item = T>) -> Result<String, serde_json::Error> {
    let items: Result<Vec<String>, _> = items.map(|item| serde_json::to_string(&item)).collect();
    let items = items?;
    Ok(if items.is_empty() { String::new() } else { format!("\n{}\n", items.join(",\n")) })
}
