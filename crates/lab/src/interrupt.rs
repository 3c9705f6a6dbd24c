//! SIGINT, SIGTERM and SIGHUP end runs in order, so that they can clean up. Without a run they do what they always do,
//! and so does one that comes [`IMPATIENT`] after the first.

use super::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// One Ctrl-C may be several signals: a terminal and `timeout` signal a process and its group. Only a later one is
/// another.
const IMPATIENT: Duration = Duration::from_secs(1);

struct State {
    /// The signals have their default action: there is no run, or one was asked to end some time ago.
    default_action: Arc<AtomicBool>,
    /// A signal came.
    asked: Arc<AtomicBool>,
    runs: Mutex<usize>,
    /// All handlers are in place.
    installed: bool,
}

static STATE: OnceLock<State> = OnceLock::new();

/// While it lives, signals wait for the run.
pub struct Guard(());

impl Guard {
    /// From now on.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub fn new() -> Result<Self, Error> {
        let state = STATE.get_or_init(State::install);
        if !state.installed {
            return Err(Error::Fault(
                "the handlers of SIGINT, SIGTERM and SIGHUP cannot be installed".into(),
            ));
        }
        let mut runs = state.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *runs == 0 {
            state.asked.store(false, Ordering::Release);
            state.default_action.store(false, Ordering::Release);
        }
        *runs += 1;
        Ok(Self(()))
    }
}

impl State {
    fn install() -> Self {
        let (default_action, asked) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let installed = || -> std::io::Result<()> {
            let (woken, waker) = UnixStream::pair()?;
            let hangup = (!ignores_hangups()?).then_some(SIGHUP);
            for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
                signal_hook::flag::register_conditional_default(signal, Arc::clone(&default_action))?;
                signal_hook::flag::register(signal, Arc::clone(&asked))?;
                signal_hook::low_level::pipe::register(signal, waker.try_clone()?)?;
            }
            let (default_action, asked) = (Arc::clone(&default_action), Arc::clone(&asked));
            let body = move || grow_impatient(woken, &asked, &default_action);
            std::thread::Builder::new().name("segue-signals".into()).spawn(body).map(drop)
        };
        let installed = installed().is_ok();
        Self { default_action, asked, runs: Mutex::new(0), installed }
    }
}

/// Whether this process was started to outlive its terminal, as nohup(1) does it. Bit 0 of the mask is signal 1, SIGHUP.
fn ignores_hangups() -> std::io::Result<bool> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    let mask = u64::from_str_radix(mask.trim(), 16).map_err(std::io::Error::other)?;
    Ok(mask & 1 << (SIGHUP - 1) != 0)
}

/// After each signal, unless a new run has begun meanwhile, gives the signals their default action back.
fn grow_impatient(mut woken: UnixStream, asked: &AtomicBool, default_action: &AtomicBool) {
    while woken.read_exact(&mut [0]).is_ok() {
        std::thread::sleep(IMPATIENT);
        default_action.fetch_or(asked.load(Ordering::Acquire), Ordering::AcqRel);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(state) = STATE.get() {
            let mut runs = state.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *runs -= 1;
            if *runs == 0 {
                state.default_action.store(true, Ordering::Release);
            }
        }
    }
}

/// Whether a signal came. All that waits for more than a moment asks.
///
/// # Errors
/// [`Error::Interrupted`] if so.
pub fn check() -> Result<(), Error> {
    match STATE.get() {
        Some(state) if state.asked.load(Ordering::Acquire) => Err(Error::Interrupted),
        _ => Ok(()),
    }
}

/// Asks `over` `every` so often, for `limit` at most; `None`: it was not over by then.
///
/// # Errors
/// A signal, or the fault of `over`.
pub fn wait<T>(
    limit: Duration,
    every: Duration,
    mut over: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<Option<T>, Error> {
    let until = Instant::now() + limit;
    loop {
        check()?;
        if let Some(it) = over()? {
            return Ok(Some(it));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        std::thread::sleep(left.min(every));
    }
}

#[cfg(test)]
mod tests;
