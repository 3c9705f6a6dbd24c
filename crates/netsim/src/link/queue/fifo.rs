//! First in, first out: the list of packets that disciplines build on.

use super::Waiting;
use crate::PacketId;
use std::collections::VecDeque;

/// Packets that wait, oldest first, and their bytes.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl Fifo {
    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, packet: Waiting) {
        self.bytes += u64::from(packet.bytes);
        self.waiting.push_back(packet);
    }

    /// The packet that came first.
    #[inline]
    pub fn first(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// Removes the packet that came first.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The packets, oldest first.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> {
        self.waiting.iter().map(|waiting| waiting.packet)
    }

    /// Removes all packets.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }
}
