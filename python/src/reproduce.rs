//! `segue.reproduce`.

use crate::failure::{exception, of_file, ours};
use crate::table::Table;
use crate::watched::watched;
use crate::words::{Count, Settings, Word, Words};
use pyo3::prelude::*;
use segue::cli::Command;
use segue::{Failure, outputs, reproduce as command};
use segue_gallery::{ClaimRow, claims_json};
use segue_tables::records_arrow;
use std::path::PathBuf;
use std::sync::Arc;

/// Result of `segue.reproduce`: a table with one row per claim and its verdict (docs/papers/reproduction.md).
#[pyclass(frozen, module = "segue", extends = Table)]
pub struct Claims {
    json: String,
}

#[pymethods]
impl Claims {
    /// The very text that the command line's `--json` writes.
    fn to_json(&self) -> &str {
        &self.json
    }
}

/// Judges what the papers state and redraws their figures, as `segue reproduce` does.
///
/// Parameters
///     paper: only this one; all unless given.
///     figure: only this figure of it, and the claims that it supports.
///     out: folder for figures, their numbers and the gallery; nothing is drawn unless given (`--check`).
///     points: handoff times of each bar, and most seeds of a drive; 200 unless given, which verdicts are meant for.
///     settings: other readings, beside those of the ledger.
///     cache: take what an earlier run has kept, and keep what is new.
///     threads: all cores unless given. The result does not depend on it.
///
/// Returns
///     Claims: id, place in the paper, kind, check, verdict, what is stated, what was measured, and why.
///
/// Raises
///     ValueError: what the command line would refuse, with its line.
///     OSError: `out` cannot be made.
///     RuntimeError: a fault of Segue.
///
/// Source
///     The five papers of docs/reference/algorithms.md.
#[pyfunction]
#[pyo3(signature = (paper=None, figure=None, *, out=None, points=None, settings=None, cache=true, threads=None))]
#[allow(clippy::too_many_arguments, reason = "those of the command line, each by its name")]
pub fn reproduce(
    py: Python<'_>,
    paper: Option<Word>,
    figure: Option<Word>,
    out: Option<PathBuf>,
    points: Option<Count>,
    settings: Option<Settings>,
    cache: bool,
    threads: Option<Count>,
) -> PyResult<Py<Claims>> {
    let mut words = Words::of(&["reproduce"]);
    words.switch("check", out.is_none()).option("out", out.as_ref().map(|out| out.to_string_lossy()));
    words.option("points", points).settings(settings.as_ref()).switch("no-cache", !cache);
    let names: Vec<&str> = paper.iter().chain(&figure).map(|word| word.0.as_str()).collect();
    let Command::Reproduce(args) = words.option("threads", threads).rest(&names).command()? else {
        return Err(ours("no reproduction"));
    };
    let papers = command::read_papers(&args).map_err(exception)?;
    if let Some(out) = &out {
        std::fs::create_dir_all(out).map_err(|error| of_file(&error, out))?;
    }
    let origin = outputs::origin(words.as_slice());
    let (table, json) = watched(py, args.threads, None, |watch| {
        let begin = |_, _: &str| -> command::Done {
            let watch = Arc::clone(watch);
            Box::new(move |more| watch.done(more))
        };
        let judged = command::judge(&papers, &args, &origin, &begin)?;
        let json = claims_json(&judged, args.points.into(), &origin).map_err(Failure::ours)?;
        Ok((records_arrow(judged.iter().map(ClaimRow::from)).map_err(Failure::ours)?, json))
    })?;
    Py::new(py, PyClassInitializer::from(Table::new(table)).add_subclass(Claims { json }))
}
