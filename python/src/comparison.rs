//! `segue.compare` and `segue.run`.

use crate::failure::{exception_of_file, exception_of_links, ours};
use crate::table::Table;
use crate::watched::{Watch, watched};
use crate::words::{Count, Settings, Several, Time, Word, Words};
use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use segue::args::VERSION;
use segue::cli::Command;
use segue::drive::provenance;
use segue::run::{Question, folder_of_links, read};
use segue::{Failure, compare as command};
use segue_export::{Provenance, comparison_json, drive_json};
use segue_study::{Comparison as Compared, Plan};
use segue_tables::{comparison_arrow, drive_arrow, handoffs_arrow};
use std::path::{Path, PathBuf};

/// Result of `segue.compare` and `segue.run`: a table with one row per direction, kind, flow count and scheme (of a
/// drive: per drive and scheme). Its columns are those of the command line's `--csv` (docs/reference/results.md,
/// docs/guide/drives.md).
#[pyclass(frozen, module = "segue", extends = Table)]
pub struct Comparison {
    json: String,
    handoffs: Option<RecordBatch>,
}

impl Comparison {
    /// Paths of links start from `folder`.
    fn of(plan: &Plan, keep_handoffs: bool, folder: &Path, watch: &Watch) -> Result<(Table, Self), Failure> {
        let comparison = Compared::run(plan, keep_handoffs, &|more| watch.done(more));
        let handoffs = keep_handoffs.then(|| handoffs_arrow(&comparison)).transpose();
        let table = comparison_arrow(&comparison).map_err(Failure::ours)?;
        let provenance = Provenance::of_plan(VERSION, plan, folder).map_err(Failure::ours)?;
        let json = comparison_json(&comparison, Some(&provenance)).map_err(Failure::ours)?;
        Ok((Table::new(table), Self { json, handoffs: handoffs.map_err(Failure::ours)? }))
    }

    fn object(py: Python<'_>, (table, own): (Table, Self)) -> PyResult<Py<Self>> {
        Py::new(py, PyClassInitializer::from(table).add_subclass(own))
    }
}

#[pymethods]
impl Comparison {
    /// One row per handoff and scheme, with the columns of the command line's `--rows`.
    ///
    /// Errors: `ValueError` where they were not kept (`rows=False`) and for drives, whose handoffs come in a row.
    #[getter]
    fn rows(&self) -> PyResult<Table> {
        let kept = self.handoffs.clone().ok_or_else(|| {
            PyValueError::new_err(
                "no single handoffs here; expected a comparison of handoffs made with rows=True",
            )
        })?;
        Ok(Table::new(kept))
    }

    /// The text that the command line's `--json` writes, which `segue diff` and `segue repeat` read.
    fn to_json(&self) -> &str {
        &self.json
    }
}

/// Compares schemes over many handoffs between two links, as `segue compare` does, with the same words and defaults.
///
/// Parameters
///     old, new: links before and after: 'RATE/DELAY' such as '6400kbit/9ms', a preset ('egprs', 'hsdpa', 'wimax',
///         'wlan'), or measured, 'trace:PATH[,up=PATH][,start=300s][,delay=20ms|delay-trace=PATH][,queue=100p]'.
///     both_ways: also from new to old.
///     kind: 'mbb', 'bbm', 'soft' and 'ping-pong', one or a list; 'mbb' unless given.
///     disconnect: disconnection of break-before-make; '1s' unless given. Times are words with a unit, or seconds.
///     overlap, soft: how long both links carry in a soft handoff, '1s' unless given, and whether packets 'duplicate'
///         (unless given) or 'split'.
///     return_after: how long after its beginning a ping-pong is back; '1s' unless given.
///     address: 'keep' (unless given), or 'new': connections end with the handoff, and others begin.
///     flows: numbers of flows, one or a list; 1 unless given.
///     schemes: names (`segue schemes` lists them), the first being what the others are held against; 'sack' and
///         'etcp-v1' unless given.
///     at: handoff times, one or 'FIRST..LAST/STEP'; '0.1s..20s/0.1s' unless given.
///     warm_up: handoff times are counted from here, past the start of the connections; 0 unless given.
///     packets: packets of a transfer; 100 unless given.
///     definition: 'after-highest' (unless given) or 'after-ack'.
///     notice: 'instant' (unless given) or 'in-band', of which the first `notice_loss` copies are lost.
///     notice_error: how far notices may be wrong, drawn for each handoff: 'rate=2x,delay=30ms,late=100ms'.
///     neighbours: long downloads of others on each access link, such as '3' or '3 cubic'.
///     traffic: what the user does, measured by class, such as 'download,video,page'.
///     handoffs, every: several handoffs in a row and the time between their beginnings, such as 3 and '15s'.
///     stack: one stack for all schemes in place of their own.
///     cc: congestion control of a stack that has a choice, such as 'linux-6.12': 'cubic', 'reno', 'bbr', 'bbr3' or 'leocc'.
///     settings: settings of schemes and stacks by name.
///     seed, seeds: first seed and number of seeds, whose handoffs are pooled; 1 and 1 unless given.
///     threads: all cores unless given. The result does not depend on it.
///     rows: keep the single handoffs, some 200 bytes each.
///
/// Returns
///     Comparison: a row per direction, kind, flow count and scheme. Rates in bit/s, times in seconds; null is
///     infinite. docs/reference/measures.md defines each measure.
///
/// Raises
///     ValueError: what the command line would refuse, with its line.
///     TypeError: a value of another type.
///     OSError: a measured link's file cannot be read.
///     RuntimeError: a fault of Segue.
///
/// Source
///     The bench of L. Daniel and M. Kojo; sections 1 and 9 of docs/reference/algorithms.md.
#[pyfunction]
#[pyo3(signature = (old, new, *, both_ways=false, kind=None, disconnect=None, overlap=None, soft=None,
    return_after=None, address=None, flows=None, schemes=None, at=None, warm_up=None, packets=None, definition=None, notice=None, notice_loss=None, notice_error=None, neighbours=None,
    traffic=None, handoffs=None, every=None, stack=None, cc=None, settings=None, seed=None, seeds=None, threads=None,
    rows=true))]
#[allow(clippy::too_many_arguments, reason = "those of the command line, each by its name")]
pub fn compare(
    py: Python<'_>,
    old: Word,
    new: Word,
    both_ways: bool,
    kind: Option<Several<Word>>,
    disconnect: Option<Time>,
    overlap: Option<Time>,
    soft: Option<Word>,
    return_after: Option<Time>,
    address: Option<Word>,
    flows: Option<Several<Count>>,
    schemes: Option<Several<Word>>,
    at: Option<Time>,
    warm_up: Option<Time>,
    packets: Option<Count>,
    definition: Option<Word>,
    notice: Option<Word>,
    notice_loss: Option<Count>,
    notice_error: Option<Word>,
    neighbours: Option<Word>,
    traffic: Option<Word>,
    handoffs: Option<Count>,
    every: Option<Time>,
    stack: Option<Word>,
    cc: Option<Word>,
    settings: Option<Settings>,
    seed: Option<Count>,
    seeds: Option<Count>,
    threads: Option<Count>,
    rows: bool,
) -> PyResult<Py<Comparison>> {
    let mut words = Words::of(&["compare"]);
    words.switch("both-ways", both_ways).list("kind", kind.as_ref()).option("disconnect", disconnect);
    words.option("overlap", overlap).option("soft", soft).option("return", return_after);
    words.option("address", address);
    words.list("flows", flows.as_ref()).list("schemes", schemes.as_ref()).option("at", at);
    words.option("warm-up", warm_up);
    words.option("packets", packets).option("definition", definition).option("notice", notice);
    words.option("notice-loss", notice_loss).option("notice-error", notice_error);
    words.option("neighbours", neighbours).option("traffic", traffic);
    words.option("handoffs", handoffs).option("every", every);
    words.option("stack", stack).option("cc", cc);
    words.settings(settings.as_ref());
    words.option("seed", seed).option("seeds", seeds).option("threads", threads).rest(&[&old.0, &new.0]);
    let Command::Compare(args) = words.command()? else { return Err(ours("no comparison")) };
    let plan = command::plan(&args).map_err(|failure| exception_of_links(failure, [&old.0, &new.0]))?;
    let result = watched(py, args.threads, None, |watch| Comparison::of(&plan, rows, Path::new(""), watch))?;
    Comparison::object(py, result)
}

/// Runs a comparison that is written down as a file, as `segue run` does: handoffs (docs/guide/run.md) or drives
/// (docs/guide/drives.md).
///
/// Parameters
///     path: the file, TOML. The files that its `[output]` names are not written.
///     points: at most so many handoff times per seed, evenly spread; for drives at most so many seeds.
///     threads: all cores unless given. The result does not depend on it.
///     rows: keep the single handoffs, some 200 bytes each.
///
/// Returns
///     Comparison: its rows; those of drives are per drive and scheme.
///
/// Raises
///     FileNotFoundError, OSError: the file cannot be read.
///     ValueError: what the command line would refuse, with its line: file, line and column.
///     RuntimeError: a fault of Segue.
#[pyfunction]
#[pyo3(signature = (path, *, points=None, threads=None, rows=true))]
pub fn run(
    py: Python<'_>,
    path: PathBuf,
    points: Option<Count>,
    threads: Option<Count>,
    rows: bool,
) -> PyResult<Py<Comparison>> {
    let mut words = Words::of(&["run"]);
    words.option("points", points).option("threads", threads).file(&path);
    let Command::Run(args) = words.command()? else {
        return Err(ours("no run"));
    };
    let name = path.to_string_lossy();
    let asked = read(&name, args.points, &args.names).map_err(|failure| exception_of_file(failure, &path))?;
    let result = watched(py, args.threads, None, |watch| match &asked {
        Question::Handoffs { plan, .. } => Comparison::of(plan, rows, folder_of_links(&name), watch),
        Question::Drives { file, plan } => {
            let drives = plan.run(&|more| watch.done(more));
            let table = drive_arrow(&drives).map_err(Failure::ours)?;
            let provenance = provenance(VERSION, (&name, args.points), file, plan).map_err(Failure::ours)?;
            let json = drive_json(&drives, Some(&provenance)).map_err(Failure::ours)?;
            Ok((Table::new(table), Comparison { json, handoffs: None }))
        }
    })?;
    Comparison::object(py, result)
}
