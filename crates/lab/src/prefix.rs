//! How the names begin of what laboratories make: cgroups, folders, pins.

/// Prefix of every laboratory.
pub(super) const PREFIX: &str = "segue-lab-";

/// Prefix of this process's laboratories.
pub(super) fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}
