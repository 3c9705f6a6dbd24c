//! Tools that tests with laboratories share.

#![allow(dead_code, reason = "each test file uses its part")]

use segue_lab::access_link::AccessLink;
use std::sync::{Mutex, PoisonError};

/// Runs `test`, one at a time, for each looks for what is left of this process. Its thread is an ordinary one, as
/// hosts are set up by; the laboratory itself gives links and programs their rank.
pub fn in_laboratory(test: impl Fn()) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    test();
}

/// The same both ways.
pub fn link(kbps: u32, delay_ms: u32, queue: Option<u32>) -> AccessLink {
    AccessLink::constant(kbps, delay_ms * 1000, queue)
}
