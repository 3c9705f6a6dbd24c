//! The stack `linux-6.12` beside the kernel's own TCP, packet by packet (`reference/linux/`).
//!
//! [`scenario`] says what is run, [`bench`] is the reference's network, [`log`] is what happened at the sender's host.
//! [`compare`] lays two of them side by side, and [`outcome`] is the table of handoffs. [`verdict`] is how far ours are
//! from it, [`draws`] what of that is chance.

pub mod bench;
pub mod compare;
pub mod draws;
pub mod log;
pub mod outcome;
pub mod scenario;
pub mod verdict;

use std::path::{Path, PathBuf};

/// The folder with the kernel's results.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/linux")
}
