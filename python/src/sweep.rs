//! Parts of `segue.sweep`: any process may compute them, and they are kept in a folder (docs/guide/sweep.md).

use crate::failure::{exception, ours};
use crate::watched::{Progress, watched};
use crate::words::{Count, Words};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use segue::Failure;
use segue::cli::Command;
use segue_sweep::{Plan, Shard, Store};
use segue_tables::{batch_from_bytes, batch_to_bytes, is_handoff_schema};
use std::ops::ControlFlow;
use std::sync::{PoisonError, RwLock};

/// A sweep, split into parts that share nothing.
#[pyclass(frozen, module = "segue._segue")]
pub struct SweepPlan {
    plan: Plan,
    text: String,
    path: String,
}

#[pymethods]
impl SweepPlan {
    /// Reads a sweep; `path` is for messages, and the paths of measured links start from its folder.
    ///
    /// Errors: `ValueError` with the command line's line.
    #[new]
    fn new(py: Python<'_>, text: &str, path: &str) -> PyResult<Self> {
        let read = || Plan::read(text, path, &segue::own_links()?).map_err(Failure::user);
        let plan = py.detach(read).map_err(exception)?;
        Ok(Self { plan, text: text.to_string(), path: path.to_string() })
    }

    /// The text that was read.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Where it was read from.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// Mark that all parts share and no other sweep, version or measured link has.
    #[getter]
    fn fingerprint(&self) -> &str {
        self.plan.fingerprint()
    }

    /// Number of handoffs of all parts, each scheme's counted: the rows of the file.
    #[getter]
    fn handoffs(&self) -> u64 {
        self.plan.handoffs()
    }

    /// Those of a part.
    fn handoffs_of(&self, part: usize) -> PyResult<u64> {
        self.known(part).map(|part| self.plan.handoffs_of(part))
    }

    /// How long a part takes, in no unit.
    fn weight(&self, part: usize) -> PyResult<u64> {
        self.known(part).map(|part| self.plan.weight(part))
    }

    /// Computes a part on this thread, without Python's lock: a stream of Arrow's IPC format.
    fn part<'py>(&self, py: Python<'py>, part: usize) -> PyResult<Bound<'py, PyBytes>> {
        let part = self.known(part)?;
        let compute = || {
            let batch = self.plan.run(part, &|_| ControlFlow::Continue(()));
            batch.map(|batch| batch_to_bytes(&batch)).transpose()
        };
        let bytes = py.detach(compute).map_err(ours)?.ok_or_else(|| ours("the part was broken off"))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl SweepPlan {
    fn known(&self, part: usize) -> PyResult<usize> {
        match self.plan.parts() {
            parts if part < parts => Ok(part),
            parts => Err(PyIndexError::new_err(format!("no part {part}; expected one below {parts}"))),
        }
    }
}

/// Where the parts of a sweep are kept until its file is made.
#[pyclass(frozen, module = "segue._segue")]
pub struct SweepStore {
    plan: Py<SweepPlan>,
    /// Until the file is made; any thread keeps parts.
    store: RwLock<Option<Store>>,
}

#[pymethods]
impl SweepStore {
    /// Opens the parts of the file `out`; what an earlier run has left counts.
    ///
    /// Errors: `ValueError` with the command line's line.
    #[new]
    fn new(py: Python<'_>, plan: Py<SweepPlan>, out: &str) -> PyResult<Self> {
        let of = plan.get();
        let open = || segue::sweep::store(&of.plan, &of.path, Shard::WHOLE, out);
        let store = py.detach(open).map_err(exception)?;
        Ok(Self { plan, store: RwLock::new(Some(store)) })
    }

    /// The parts that have to be computed, ascending.
    fn missing(&self) -> PyResult<Vec<usize>> {
        self.with(|store| Ok(store.missing()))
    }

    /// Computes them on threads of this process; `progress` hears how many rows of how many are finished.
    #[pyo3(signature = (*, threads=None, progress=None))]
    fn run(&self, py: Python<'_>, threads: Option<Count>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let plan = &self.plan.get().plan;
        let mut words = Words::of(&["sweep"]);
        // Only the number of threads is read there.
        let words = words.option("threads", threads).option("out", Some("-")).rest(&[&self.plan.get().path]);
        let Command::Sweep(args) = words.command()? else { return Err(ours("no sweep")) };
        let before = self.with(|store| Ok(store.kept().map(|part| plan.handoffs_of(part)).sum()))?;
        let progress = progress.map(|call| Progress { call, before, all: plan.handoffs() });
        watched(py, args.threads, progress.as_ref(), |watch| {
            let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
            let store = store.as_ref().ok_or_else(|| Failure::ours(MADE))?;
            segue_sweep::run(plan, store, &|more| watch.done(more)).map_err(Failure::ours)
        })
    }

    /// Keeps a part that another process has computed.
    ///
    /// Errors: `ValueError` for bytes that are not this part; `RuntimeError` where it cannot be written.
    fn keep(&self, py: Python<'_>, part: usize, bytes: &[u8]) -> PyResult<()> {
        let rows = self.plan.get().known(part).map(|part| self.plan.get().plan.handoffs_of(part))?;
        let wrong = |problem: &str| {
            PyValueError::new_err(format!("part {part}: {problem}; expected what SweepPlan.part gives"))
        };
        py.detach(|| {
            let batch = batch_from_bytes(bytes).map_err(|error| wrong(&error.to_string()))?;
            if !is_handoff_schema(batch.schema().fields()) || batch.num_rows() as u64 != rows {
                return Err(wrong("other columns, or another number of rows"));
            }
            self.with(|store| store.keep(part, &batch).map_err(ours))
        })
    }

    /// Makes the file of the parts, removes them, and gives the number of its rows.
    ///
    /// Errors: `RuntimeError` where it cannot be written; the parts stay.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| match self.store.write().unwrap_or_else(PoisonError::into_inner).take() {
            Some(store) => store.finish().map_err(ours),
            None => Err(ours(MADE)),
        })
    }
}

/// The store is gone.
const MADE: &str = "the file of this sweep is made";

impl SweepStore {
    fn with<R>(&self, work: impl FnOnce(&Store) -> PyResult<R>) -> PyResult<R> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        work(store.as_ref().ok_or_else(|| ours(MADE))?)
    }
}
