//! The queue before a link: drop-tail in closed form, or a managed discipline that decides at dequeue.
//!
//! A discipline is one file here and one line below.

pub mod codel;
mod fifo;

pub use fifo::Fifo;

use crate::{Nanos, PacketId};
use std::fmt::Debug;

/// Which packets wait before a link, and which are dropped.
#[derive(Clone, Debug)]
pub enum Queue {
    /// An arrival is dropped that finds so many packets, the one being sent included; `None`: none is. One event
    /// for each packet, its delivery.
    DropTail(Option<u32>),
    /// The discipline decides. Two events for each packet, departure and delivery.
    Managed(Box<dyn Discipline>),
}

/// A packet that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The packet.
    pub packet: PacketId,
    /// Bytes that links charge for it.
    pub bytes: u32,
    /// The flow that it belongs to.
    pub flow: u16,
    /// When it came.
    pub arrival: Nanos,
}

/// A queueing discipline. The packet being sent has left it. It needs no timer: its clock is that of the packets.
pub trait Discipline: Debug + Send + Sync {
    /// A packet comes, at its `arrival`. Packets that are dropped for it, or it itself, go onto `dropped`.
    fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>);

    /// The packet to be sent at `now`. Packets that are dropped instead go onto `dropped`.
    fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting>;

    /// Packets that wait, oldest first.
    fn waiting(&self) -> Box<dyn Iterator<Item = PacketId> + '_>;

    /// All that waits has been taken back.
    fn clear(&mut self);

    /// A copy in the same state, since a run forks.
    fn fork(&self) -> Box<dyn Discipline>;
}

impl Clone for Box<dyn Discipline> {
    fn clone(&self) -> Self {
        self.fork()
    }
}
