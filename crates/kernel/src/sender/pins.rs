//! The folder of pins of an attached sender: its names, and whether a sender is there.

use super::Error;
use std::path::Path;

pub(super) const CONGESTION_CONTROL: &str = "congestion_control";
pub(super) const HEAR: &str = "hear";
pub(super) const FLOWS: &str = "flows";
pub(super) const LET_GO: &str = "let_go";
pub(super) const ABOUT: &str = "about";
pub(super) const COUNTERS: &str = "counters";

/// In the order of removing. First nobody joins any more. The pin that lets connections go stays to the end, so that
/// another detach can do what a killed one has not. Pinning goes the other way round.
pub(super) const ALL: [&str; 6] = [HEAR, CONGESTION_CONTROL, FLOWS, ABOUT, COUNTERS, LET_GO];

/// Whether it is a folder with nothing in it.
pub(super) fn is_empty(pin: &Path) -> bool {
    std::fs::read_dir(pin).is_ok_and(|mut all| all.next().is_none())
}

/// Whether something of ours is pinned there.
pub(super) fn check_some(pin: &Path) -> Result<(), Error> {
    if ALL.iter().any(|name| pin.join(name).exists()) {
        return Ok(());
    }
    Err(Error::User(format!(
        "no sender is attached at {}: `segue kernel attach` makes this folder",
        pin.display()
    )))
}

/// Whether a whole sender is pinned there.
pub(super) fn check(pin: &Path) -> Result<(), Error> {
    check_some(pin)?;
    match ALL.iter().find(|name| !pin.join(name).exists()) {
        None => Ok(()),
        Some(name) => Err(Error::User(format!(
            "{}: {name} is missing, an attach or a detach was cut short; `segue kernel detach` removes the rest",
            pin.display()
        ))),
    }
}
