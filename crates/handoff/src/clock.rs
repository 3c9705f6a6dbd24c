//! The clock of a link that is laid anew at regular times, such as a satellite's each 15 s.

use segue_tcp::Nanos;

/// Reconfigurations of a link: each `every` ns, one of them at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// ns, above 0.
    pub every: Nanos,
    /// ns since the beginning of the run.
    pub first: Nanos,
}
