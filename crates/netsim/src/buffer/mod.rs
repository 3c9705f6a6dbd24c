//! A router's buffer for one mobile: it holds what cannot be sent while the mobile is between two links
//! (Chou and Shin 2004, section II; algorithms.md, 6.1).
//!
//! A link's own queue is in closed form and knows when each of its packets leaves; nobody knows that of a buffer,
//! which waits for a word. What goes when it is full is a [`DropPolicy`]: [`fcfd`] or [`lcfd`], a file each.

pub mod fcfd;
pub mod lcfd;
#[cfg(test)]
mod tests;

use crate::PacketId;
use fcfd::Fcfd;
use lcfd::Lcfd;
use std::collections::VecDeque;

/// Which packet goes when a queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The one at the head, which came first.
    Oldest,
    /// The one that has just come.
    Arrival,
}

/// What a queue does when it is full.
pub trait DropPolicy {
    /// Which packet makes way.
    fn victim(&self) -> Victim;
}

/// The policies that a buffer can have, dispatched statically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// First come, first dropped.
    Fcfd(Fcfd),
    /// Last come, first dropped.
    Lcfd(Lcfd),
}

impl Overflow {
    /// First come, first dropped.
    pub const FCFD: Self = Self::Fcfd(Fcfd);
    /// Last come, first dropped.
    pub const LCFD: Self = Self::Lcfd(Lcfd);
}

impl DropPolicy for Overflow {
    fn victim(&self) -> Victim {
        match self {
            Self::Fcfd(policy) => policy.victim(),
            Self::Lcfd(policy) => policy.victim(),
        }
    }
}

/// How much a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// So many packets of any size.
    Packets(u32),
    /// So many bytes, as links charge them.
    Bytes(u64),
}

/// Packets of one mobile that wait, oldest first.
#[derive(Clone, Debug)]
pub struct Buffer {
    capacity: Capacity,
    overflow: Overflow,
    /// Each with the bytes that links charge for it.
    held: VecDeque<(PacketId, u32)>,
    bytes: u64,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(capacity: Capacity, overflow: Overflow) -> Self {
        Self { capacity, overflow, held: VecDeque::new(), bytes: 0 }
    }

    /// Takes `packet` of `bytes` in; `dropped` hears what goes for want of room, which may be the packet itself.
    pub fn hold(&mut self, packet: PacketId, bytes: u32, mut dropped: impl FnMut(PacketId)) {
        while !self.has_room_for(bytes) {
            let oldest = match self.overflow.victim() {
                Victim::Oldest => self.pop(),
                Victim::Arrival => None,
            };
            // A packet that is larger than the whole buffer finds no room in an empty one either.
            match oldest {
                Some(oldest) => dropped(oldest),
                None => return dropped(packet),
            }
        }
        self.held.push_back((packet, bytes));
        self.bytes += u64::from(bytes);
    }

    fn has_room_for(&self, bytes: u32) -> bool {
        match self.capacity {
            Capacity::Packets(most) => self.held.len() < most as usize,
            Capacity::Bytes(most) => self.bytes + u64::from(bytes) <= most,
        }
    }

    /// The packet that came first, which leaves.
    pub fn pop(&mut self) -> Option<PacketId> {
        let (packet, bytes) = self.held.pop_front()?;
        self.bytes -= u64::from(bytes);
        Some(packet)
    }

    /// Packets held.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Bytes held, as links charge them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets held, oldest first.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> {
        self.held.iter().map(|(packet, _)| *packet)
    }
}
