//! The workshop's measuring tools, no part of the product. `fidelity` tells how near Segue's `sack` comes to the real
//! ns-2, and `speed` how fast both are over the same hops.
//!
//! * [`table`] reads the reference tables, [`scenario`] is what a line of them stands for.
//! * [`reference`] is what ns-2 measured there, [`measure`] what we measure. [`verdict`] is how far that is from the
//!   targets.
//! * [`narrated`] has the handoffs told event by event, [`weather`] links that lose packets and queues that drop early.
//! * [`race`] has the speed runs.

pub mod kernel;
pub mod measure;
pub mod narrated;
pub mod race;
pub mod reference;
pub mod same_weather;
pub mod scenario;
pub mod table;
pub mod verdict;
pub mod weather;

use std::path::{Path, PathBuf};

/// Errors of the tools.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        problem: String,
    },
    /// A file's content is not what it should be.
    #[error("{path}, line {line}: {problem}")]
    Content {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// The fault.
        problem: String,
    },
    /// A scenario's link is none.
    #[error(transparent)]
    Link(#[from] segue_world::LinkError),
    /// The scheme `sack` is missing.
    #[error("{0}")]
    Scheme(String),
    /// The two cells cannot be simulated.
    #[error(transparent)]
    Cells(#[from] segue_world::drive::cells::CellsError),
    /// ns-2 is missing or failed.
    #[error("{0}")]
    Ns2(String),
}

impl Error {
    pub(crate) fn file(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::File { path: path.to_path_buf(), problem: problem.to_string() }
    }
}

/// The folder with ns-2's results.
pub fn reference_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/ns2")
}
