//! Long runs beside Python: without its lock, on threads of their own, and ended by Ctrl-C.

use crate::failure::{exception, ours};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use segue::Failure;
use segue_study::stop::{stop, stoppable};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often signals are looked for, and progress is told.
const WATCH: Duration = Duration::from_millis(50);

/// State that a run shows, and signals that it hears.
#[derive(Debug, Default)]
pub struct Watch {
    finished: AtomicU64,
    ended: AtomicBool,
}

impl Watch {
    /// So many more runs are finished; unwinds if the whole is to end.
    pub fn done(&self, more: u64) {
        if self.ended.load(Ordering::Relaxed) {
            stop();
        }
        self.finished.fetch_add(more, Ordering::Relaxed);
    }
}

/// A function that is called with the number of runs that are finished, and the number of all.
pub struct Progress {
    /// The function.
    pub call: Py<PyAny>,
    /// Finished earlier.
    pub before: u64,
    /// Runs in all.
    pub all: u64,
}

impl Progress {
    /// Tells it, unless it knows.
    fn tell(&self, py: Python<'_>, finished: u64, told: &mut Option<u64>) -> PyResult<()> {
        if told.replace(finished) != Some(finished) {
            self.call.call1(py, (self.before + finished, self.all))?;
        }
        Ok(())
    }
}

/// Runs `work` on so many threads, all cores unless given. They end with it: none is left for a process that forks.
///
/// Errors: those of `work`; what a handler of signals or `progress` raises, `KeyboardInterrupt` above all, once the
/// handoffs that are being simulated are finished.
pub fn watched<R: Send>(
    py: Python<'_>,
    threads: Option<u16>,
    progress: Option<&Progress>,
    work: impl FnOnce(&Arc<Watch>) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build().map_err(ours)?;
    let watch = Arc::new(Watch::default());
    py.detach(|| {
        thread::scope(|scope| {
            let (end, ends) = channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped at the end, however it comes.
                let _end = end;
                stoppable(|| pool.install(|| work(&watch)))
            });
            let mut told = None;
            let mut look = || {
                Python::attach(|py| {
                    py.check_signals()?;
                    let finished = watch.finished.load(Ordering::Relaxed);
                    progress.map_or(Ok(()), |progress| progress.tell(py, finished, &mut told))
                })
            };
            let mut raised = None;
            while raised.is_none() && ends.recv_timeout(WATCH) == Err(RecvTimeoutError::Timeout) {
                raised = look().err();
            }
            watch.ended.store(raised.is_some(), Ordering::Relaxed);
            let result = worker.join();
            let raised = raised.or_else(|| look().err());
            match (raised, result) {
                (Some(raised), _) => Err(raised),
                (None, Ok(Ok(result))) => result.map_err(exception),
                (None, Ok(Err(stopped))) => Err(ours(stopped)),
                (None, Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    })
}
