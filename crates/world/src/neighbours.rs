//! Users who share the access links, in numbers (docs/reference/bench.md). [`crate::bench`] builds their computers.

use segue_netsim::Nanos;
use segue_tcp::StackProfile;

/// They start within so much of time zero, at random.
pub const STARTS: Nanos = 100_000_000;
/// After completion, what they receive is counted for so long unless another time is asked for.
pub const COUNTED: Nanos = 2_000_000_000;

/// Those of one link; the other has as many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbours {
    /// Each has one long download.
    pub count: u16,
    /// TCP of both ends.
    pub stack: StackProfile,
    /// Their arrivals are counted for so long after completion.
    pub counted: Nanos,
}

impl Neighbours {
    /// So many, on such a stack.
    pub fn new(count: u16, stack: StackProfile) -> Self {
        Self { count, stack, counted: COUNTED }
    }
}

/// Bytes for the neighbours on the new link in the time after completion that is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Bytes.
    pub bytes: u64,
    /// The same if nobody hands over.
    pub undisturbed: u64,
    /// Bytes for the one that receives least; only where a time was asked for.
    pub least: Option<u64>,
}
