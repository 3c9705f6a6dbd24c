//! Last come, first dropped (Chou and Shin 2004, section III-A; algorithms.md, 6.1): on overflow the arrival goes, as in
//! the drop-tail queue of a link. What comes out begins with the packet that the receiver waits for.

use super::{DropPolicy, Victim};

/// The policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lcfd;

impl DropPolicy for Lcfd {
    fn victim(&self) -> Victim {
        Victim::Arrival
    }
}
