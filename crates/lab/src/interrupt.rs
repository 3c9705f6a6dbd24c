//! SIGINT and SIGTERM end runs in order, so that they can clean up. Without a run they do what they always do.

use super::Error;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

struct State {
    /// No run: the signals' default action.
    idle: Arc<AtomicBool>,
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
            return Err(Error::Fault("the handlers of SIGINT and SIGTERM cannot be installed".into()));
        }
        let mut runs = state.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *runs == 0 {
            state.asked.store(false, Ordering::Release);
            state.idle.store(false, Ordering::Release);
        }
        *runs += 1;
        Ok(Self(()))
    }
}

impl State {
    fn install() -> Self {
        let (idle, asked) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let installed = [SIGINT, SIGTERM].iter().all(|&signal| {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&idle)).is_ok()
                && signal_hook::flag::register(signal, Arc::clone(&asked)).is_ok()
        });
        Self { idle, asked, runs: Mutex::new(0), installed }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(state) = STATE.get() {
            let mut runs = state.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *runs -= 1;
            if *runs == 0 {
                state.idle.store(true, Ordering::Release);
            }
        }
    }
}

/// Whether a signal came.
///
/// # Errors
/// [`Error::Interrupted`] if so.
pub fn check() -> Result<(), Error> {
    match STATE.get() {
        Some(state) if state.asked.load(Ordering::Acquire) => Err(Error::Interrupted),
        _ => Ok(()),
    }
}
