//! The ledger's files, built into the program.

use crate::ledger::Paper;

/// File name and text of each paper.
const FILES: [(&str, &str); 5] = [
    (
        "papers/daniel-kojo-2008-crosslayer.toml",
        include_str!("../../../papers/daniel-kojo-2008-crosslayer.toml"),
    ),
    (
        "papers/daniel-kojo-2009-multiflow.toml",
        include_str!("../../../papers/daniel-kojo-2009-multiflow.toml"),
    ),
    ("papers/chou-shin-2004-lcfd.toml", include_str!("../../../papers/chou-shin-2004-lcfd.toml")),
    ("papers/espi-2010-fmipv6.toml", include_str!("../../../papers/espi-2010-fmipv6.toml")),
    ("papers/wu-2009-tcp-ho.toml", include_str!("../../../papers/wu-2009-tcp-ho.toml")),
];

/// A file of the ledger does not fit its schema.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct LedgerError {
    /// The file.
    pub file: &'static str,
    /// The fault and its place.
    pub problem: toml::de::Error,
}

/// All papers, in order.
pub fn papers() -> Result<Vec<Paper>, LedgerError> {
    let read = |&(file, text): &(&'static str, &str)| {
        toml::from_str(text).map_err(|problem| LedgerError { file, problem })
    };
    FILES.iter().map(read).collect()
}

/// File name and text of this paper's ledger: its links, handoff times, seeds and settings.
pub fn file_of(id: &str) -> Option<(&'static str, &'static str)> {
    FILES.into_iter().find(|(name, _)| {
        name.strip_prefix("papers/").and_then(|name| name.strip_suffix(".toml")) == Some(id)
    })
}

/// All that verdicts depend on beside the program: part of the key of cached results.
pub fn text() -> String {
    FILES.iter().map(|(_, text)| *text).collect()
}
