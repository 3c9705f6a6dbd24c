//! A packet-level network engine: integer clock, event queue, packets, links, routes.
//!
//! The engine is generic in what a packet carries ([`Payload`]), in what stands at the ends of its links ([`Node`]) and
//! in who watches ([`Observer`]). It knows neither TCP nor handoffs. Rules of the engine: integer nanoseconds; ties
//! break by insertion order; no allocation per packet on the hot path; timers are lazy. Packets live in a slab. A link
//! keeps its packets in a ring and has one pending event, or two if its queue is managed. Everything is `Clone`, so a
//! run forks.

pub mod buffer;
mod events;
pub mod gamma;
mod handle;
mod link;
mod net;
mod random;
mod slab;
mod trace;

pub use buffer::{Buffer, Capacity, Overflow};
pub use gamma::GammaDelay;
pub use handle::{LinkId, NodeId, TimerId};
pub use link::loss::LossCause;
pub use link::queue::{Codepoint, Queue};
pub use link::{Delay, Link, LinkConfig, Passage, Rate, Service, delay, loss, queue, service};
pub use net::{Net, Node, Observer, Sim};
pub use slab::{PacketId, Slab};
pub use trace::{CapacityTrace, DelayTrace, TraceError};

/// Simulated time: whole nanoseconds since the start of the run.
pub type Nanos = u64;

/// Nanoseconds in one second.
pub const SECOND: Nanos = 1_000_000_000;

/// The part of a packet's content that the engine must know.
pub trait Payload: Clone {
    /// Size that links charge for, bytes.
    fn size(&self) -> u32;
    /// The flow that it belongs to, for queues that tell flows apart.
    fn flow(&self) -> u16;
    /// The ECN field of its IP header.
    #[inline]
    fn ecn(&self) -> Codepoint {
        Codepoint::NotEct
    }
    /// A queue has marked it.
    fn mark(&mut self) {}
    /// The content of a place that no packet has used yet, if every packet is to be [written](Self::write) there.
    #[inline]
    fn blank() -> Option<Self> {
        None
    }
    /// Overwrites `place`, where an earlier packet lay. Fields that a packet does not use need not be written.
    #[inline]
    fn write(self, place: &mut Self) {
        *place = self;
    }
}

#[cfg(test)]
impl Payload for () {
    fn size(&self) -> u32 {
        0
    }

    fn flow(&self) -> u16 {
        0
    }
}
