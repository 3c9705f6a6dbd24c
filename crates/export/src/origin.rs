//! Where a result comes from.

/// The command and the program that made a result.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The command line that makes it again.
    pub command: String,
    /// Version of Segue.
    pub version: &'static str,
}
