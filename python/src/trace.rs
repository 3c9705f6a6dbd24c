//! `segue.trace`.

use crate::failure::{exception_of_links, of_file, ours};
use crate::table::Table;
use crate::watched::watched;
use crate::words::{Count, Settings, Several, Time, Word, Words};
use pyo3::prelude::*;
use segue::args::VERSION;
use segue::cli::Command;
use segue::screen::COLUMNS;
use segue::{Failure, events, trace as command};
use segue_capture::{SNAPLEN, capture};
use segue_export::{Provenance, trace_lines};
use segue_study::explain::{SchemeTrace, explain, several_stacks};
use segue_tables::events_arrow;
use std::path::{Path, PathBuf};

/// Result of `segue.trace`: a table with one row per event and scheme, from the first SYN on (docs/guide/trace.md).
#[pyclass(frozen, module = "segue", extends = Table)]
pub struct Trace {
    told: Vec<SchemeTrace>,
    origin: Provenance,
}

#[pymethods]
impl Trace {
    /// The events in words, scheme by scheme, as `segue trace --story` prints them.
    #[getter]
    fn story(&self) -> String {
        let several = several_stacks(&self.told);
        self.told.iter().map(|told| events::story(told, several, COLUMNS)).collect()
    }

    /// The very text that the command line's `--json` writes: one event a line.
    fn to_json(&self) -> PyResult<String> {
        let lines = self.told.iter().map(|told| trace_lines(told, Some(&self.origin)));
        lines.collect::<Result<_, _>>().map_err(ours)
    }

    /// Writes a capture per scheme into a folder, which is made if need be, and gives their paths
    /// (docs/guide/captures.md).
    ///
    /// Errors: `OSError` where it cannot be written.
    fn pcapng(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        py.detach(|| {
            std::fs::create_dir_all(&folder).map_err(|error| of_file(&error, &folder))?;
            let write = |told: &SchemeTrace| {
                let path = folder.join(segue_export::file_name(&told.scheme, "pcapng"));
                let bytes = capture(&told.scheme, &told.trace, SNAPLEN).map_err(ours)?;
                let output = segue_export::Output::open(&path.to_string_lossy());
                output
                    .and_then(|output| output.finish(bytes))
                    .map_err(|error| of_file(&error.problem, &path))?;
                Ok(path)
            };
            self.told.iter().map(write).collect()
        })
    }
}

/// One handoff, packet by packet, as `segue trace` tells it, with the same words and defaults.
///
/// Parameters
///     old, new, schemes, disconnect, overlap, soft, return_after, address, packets, definition, notice, notice_loss, notice_error, neighbours, stack, cc,
///         settings, seed: as in `compare`.
///     at: when the handoff begins, a word with a unit or seconds.
///     kind: 'mbb' (unless given), 'bbm', 'soft' or 'ping-pong'.
///     flows: number of flows; 1 unless given.
///
/// Returns
///     Trace: a row per event and scheme. `ns` is the simulated time in nanoseconds, windows are in packets; columns
///     that an event does not have are null. docs/guide/trace.md names the events.
///
/// Raises
///     ValueError, TypeError, OSError, RuntimeError: as in `compare`.
///
/// Source
///     The bench of L. Daniel and M. Kojo; sections 1 and 9 of docs/reference/algorithms.md.
#[pyfunction]
#[pyo3(signature = (old, new, *, at, kind=None, disconnect=None, overlap=None, soft=None, return_after=None, address=None, flows=None, schemes=None, packets=None,
    definition=None, notice=None, notice_loss=None, notice_error=None, neighbours=None, stack=None, cc=None,
    settings=None, seed=None))]
#[allow(clippy::too_many_arguments, reason = "those of the command line, each by its name")]
pub fn trace(
    py: Python<'_>,
    old: Word,
    new: Word,
    at: Time,
    kind: Option<Word>,
    disconnect: Option<Time>,
    overlap: Option<Time>,
    soft: Option<Word>,
    return_after: Option<Time>,
    address: Option<Word>,
    flows: Option<Count>,
    schemes: Option<Several<Word>>,
    packets: Option<Count>,
    definition: Option<Word>,
    notice: Option<Word>,
    notice_loss: Option<Count>,
    notice_error: Option<Word>,
    neighbours: Option<Word>,
    stack: Option<Word>,
    cc: Option<Word>,
    settings: Option<Settings>,
    seed: Option<Count>,
) -> PyResult<Py<Trace>> {
    let mut words = Words::of(&["trace"]);
    words.option("at", Some(at)).option("kind", kind).option("disconnect", disconnect).option("flows", flows);
    words.option("overlap", overlap).option("soft", soft).option("return", return_after);
    words.option("address", address);
    words.list("schemes", schemes.as_ref()).option("packets", packets).option("definition", definition);
    words.option("notice", notice).option("notice-loss", notice_loss).option("notice-error", notice_error);
    words.option("neighbours", neighbours);
    words.option("stack", stack).option("cc", cc);
    words.settings(settings.as_ref()).option("seed", seed).rest(&[&old.0, &new.0]);
    let Command::Trace(args) = words.command()? else { return Err(ours("no trace")) };
    let plan = command::plan(&args).map_err(|failure| exception_of_links(failure, [&old.0, &new.0]))?;
    let moment = command::moment(&args);
    let (table, told, origin) = watched(py, Some(1), None, |_| {
        let origin = Provenance::of_trace(VERSION, &plan, moment, Path::new("")).map_err(Failure::ours)?;
        let told = explain(&plan, moment);
        Ok((events_arrow(&told).map_err(Failure::ours)?, told, origin))
    })?;
    Py::new(py, PyClassInitializer::from(Table::new(table)).add_subclass(Trace { told, origin }))
}
