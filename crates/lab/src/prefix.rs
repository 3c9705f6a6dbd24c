//! How the names begin of what laboratories make: cgroups, folders, pins.

/// Of every laboratory's.
pub(super) const PREFIX: &str = "segue-lab-";

/// Of this process's.
pub(super) fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}
