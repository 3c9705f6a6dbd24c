//! The queue before a link: drop-tail in closed form, or a managed discipline that decides at dequeue.
//!
//! A discipline is one file here and one line below.

pub mod codel;
pub mod drop_tail;
mod ecn;
mod fifo;
pub mod fq_codel;
pub mod pie;
pub mod policer;
pub mod red;

pub use ecn::Codepoint;
pub use fifo::Fifo;

use crate::{Nanos, PacketId, SECOND};
use codel::Codel;
use fq_codel::FqCodel;
use std::any::Any;
use std::fmt::Debug;

/// Smallest of the usual drop-tail queues, packets.
const LEAST: u128 = 5;
/// Bits of a packet where a queue is counted in packets.
const PACKET_BITS: u128 = 8 * 1500;

/// Packets of an access link's usual drop-tail queue: `max(round(rate * 2 * delay / (8 * 1500)), 5)` (Daniel and Kojo).
/// `rate`: bit/s.
pub fn usual_limit(rate: u64, delay: Nanos) -> u32 {
    let packet = PACKET_BITS * u128::from(SECOND);
    let packets = (u128::from(rate) * 2 * u128::from(delay) + packet / 2) / packet;
    packets.clamp(LEAST, u128::from(u32::MAX)) as u32
}

/// Which packets wait before a link, and which are dropped.
#[derive(Clone, Debug)]
pub enum Queue {
    /// An arrival is dropped that finds so many packets, the one being sent included; `None`: none is. One event
    /// for each packet, its delivery.
    DropTail(Option<u32>),
    /// The discipline decides. Two events for each packet, departure and delivery, but one where nothing waits then.
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
    /// Whether it can be marked, or has been.
    pub ecn: Codepoint,
}

/// A queueing discipline. The packet being sent has left it. It needs no timer: its clock is that of the packets.
pub trait Discipline: Any + Debug + Send + Sync {
    /// A packet comes, at its `arrival`. Packets that are dropped for it, or it itself, go onto `dropped`.
    fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>);

    /// The packet to be sent at `now`. Packets that are dropped instead go onto `dropped`.
    fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting>;

    /// A packet comes, and the server is free: the packet to be sent at its `arrival`, as after [`Self::enqueue`] and
    /// [`Self::dequeue`]. `idle`: the server has asked in vain at that time, and this is told now, since nothing has
    /// waited.
    fn pass(&mut self, packet: Waiting, idle: Option<Nanos>, dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        if let Some(since) = idle {
            self.dequeue(since, dropped);
        }
        let now = packet.arrival;
        self.enqueue(packet, dropped);
        self.dequeue(now, dropped)
    }

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

/// A discipline as a link keeps it. Those of most use are known by name: they are asked for every packet, and so they
/// need no call.
#[derive(Clone, Debug)]
pub(super) enum AnyDiscipline {
    Codel(Codel),
    FqCodel(FqCodel),
    Other(Box<dyn Discipline>),
}

impl AnyDiscipline {
    pub(super) fn new(discipline: Box<dyn Discipline>) -> Self {
        let any: &dyn Any = &*discipline;
        if let Some(codel) = any.downcast_ref::<Codel>() {
            Self::Codel(codel.clone())
        } else if let Some(queues) = any.downcast_ref::<FqCodel>() {
            Self::FqCodel(queues.clone())
        } else {
            Self::Other(discipline)
        }
    }

    #[inline(always)] // on the path of every packet of a managed queue
    pub(super) fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>) {
        match self {
            Self::Codel(codel) => codel.enqueue(packet, dropped),
            Self::FqCodel(queues) => queues.enqueue(packet, dropped),
            Self::Other(other) => other.enqueue(packet, dropped),
        }
    }

    #[inline(always)] // on the path of every packet of a managed queue
    pub(super) fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        match self {
            Self::Codel(codel) => codel.dequeue(now, dropped),
            Self::FqCodel(queues) => queues.dequeue(now, dropped),
            Self::Other(other) => other.dequeue(now, dropped),
        }
    }

    #[inline(always)] // on the path of every packet of a managed queue
    pub(super) fn pass(
        &mut self,
        packet: Waiting,
        idle: Option<Nanos>,
        dropped: &mut Vec<PacketId>,
    ) -> Option<Waiting> {
        match self {
            Self::Codel(codel) => codel.pass(packet, idle, dropped),
            Self::FqCodel(queues) => queues.pass(packet, idle, dropped),
            Self::Other(other) => other.pass(packet, idle, dropped),
        }
    }

    /// The discipline, for those who rarely ask.
    pub(super) fn get(&self) -> &dyn Discipline {
        match self {
            Self::Codel(codel) => codel,
            Self::FqCodel(queues) => queues,
            Self::Other(other) => &**other,
        }
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self) -> &mut dyn Discipline {
        match self {
            Self::Codel(codel) => codel,
            Self::FqCodel(queues) => queues,
            Self::Other(other) => &mut **other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bandwidth_delay_products_and_five_at_least() {
        let limit = |kbps: u64, ms: u64| usual_limit(kbps * 1000, ms * 1_000_000);
        assert_eq!(limit(6400, 9), 10); // 9.6
        assert_eq!(limit(200, 300), 10);
        assert_eq!(limit(54_000, 2), 18);
        assert_eq!(limit(200, 9), 5); // 0.3
    }
}
