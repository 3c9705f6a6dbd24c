//! First come, first dropped (Krishnamurthi and others, "Buffer management for smooth handoffs in IPv6", 2001, as
//! Chou and Shin 2004 describe it, section II-A; algorithms.md, 6.1): on overflow the head of the buffer goes and the
//! arrival is appended. What comes out begins with a gap, which the receiver tells of by duplicate ACKs.

use super::{DropPolicy, Victim};

/// The policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fcfd;

impl DropPolicy for Fcfd {
    fn victim(&self) -> Victim {
        Victim::Oldest
    }
}
