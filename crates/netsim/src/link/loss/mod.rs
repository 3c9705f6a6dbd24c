//! Losses on a link: it transmits a packet, which does not come out.
//!
//! A loss model is one file here and one line below. A link owns its model, so each direction has a stream of its own.

pub mod gilbert_elliott;
pub mod random;
pub mod timed;

use crate::Nanos;
use std::fmt::Debug;

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// In the queue before a link: it was full, or its discipline dropped the packet.
    Queue,
    /// On a link, which was up.
    Link,
    /// On a link that had been cut.
    Disconnection,
}

/// Which of the packets that a link has transmitted do not come out.
pub trait LossModel: Debug + Send + Sync {
    /// Whether the next packet is lost, whose transmission ends at `departure`. Asked once for each packet, in the
    /// order of the transmissions, when its transmission is booked. One that a router takes back has had its draw.
    fn loses(&mut self, departure: Nanos) -> bool;

    /// Whether losses depend on when a packet leaves, and not on how many have left before it.
    fn goes_by_time(&self) -> bool {
        false
    }

    /// A copy in the same state, since a run forks.
    fn fork(&self) -> Box<dyn LossModel>;
}

impl Clone for Box<dyn LossModel> {
    fn clone(&self) -> Self {
        self.fork()
    }
}
