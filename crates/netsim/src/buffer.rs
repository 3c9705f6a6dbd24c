//! A router's buffer for one mobile: it holds what cannot be sent while the mobile is between two links
//! (Chou and Shin 2004, section II; algorithms.md, 6.1).
//!
//! Unlike a link's queue, a buffer has no server: its packets leave when its router is told to send them.

use crate::PacketId;
use std::collections::VecDeque;

/// Which packet goes when a buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The arrival: last come, first dropped, LCFD (Chou and Shin 2004, section III-A; algorithms.md, 6.1). The packet
    /// that the receiver waits for comes out first.
    DropTail,
    /// The head: first come, first dropped, FCFD (Krishnamurthi and others 2001, as Chou and Shin describe it, section
    /// II-A; algorithms.md, 6.1). A gap comes out first, which the receiver reports by duplicate ACKs.
    DropHead,
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
            let oldest = match self.overflow {
                Overflow::DropHead => self.pop(),
                Overflow::DropTail => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slab;
    use proptest::prelude::*;

    /// Sends packets 0, 1, ... of these sizes to a buffer: which were dropped, in order, and which are held.
    fn fill(capacity: Capacity, overflow: Overflow, sizes: &[u32]) -> (Vec<usize>, Vec<usize>) {
        let mut slab = Slab::default();
        let ids: Vec<PacketId> = sizes.iter().map(|_| slab.insert(())).collect();
        let number = |id: PacketId| ids.iter().position(|other| *other == id).unwrap();
        let mut buffer = Buffer::new(capacity, overflow);
        let mut dropped = Vec::new();
        for (id, &size) in ids.iter().zip(sizes) {
            buffer.hold(*id, size, |victim| dropped.push(number(victim)));
        }
        let held: Vec<usize> = buffer.packets().map(number).collect();
        assert_eq!(buffer.len(), held.len());
        assert_eq!(buffer.bytes(), held.iter().map(|&k| u64::from(sizes[k])).sum::<u64>());
        (dropped, held)
    }

    /// Chou and Shin, section V-A: a window of 40 in a buffer of 32.
    #[test]
    fn drop_head_loses_the_oldest_and_drop_tail_the_latest() {
        let window = [1500; 40];
        let (dropped, held) = fill(Capacity::Packets(32), Overflow::DropHead, &window);
        assert_eq!((dropped, held), ((0..8).collect(), (8..40).collect()));
        let (dropped, held) = fill(Capacity::Packets(32), Overflow::DropTail, &window);
        assert_eq!((dropped, held), ((32..40).collect(), (0..32).collect()));
    }

    /// In bytes, several small packets may have to go for a large one; one beyond the capacity never fits.
    #[test]
    fn capacity_in_bytes() {
        let sizes = [600, 600, 600, 1500, 1501];
        let (dropped, held) = fill(Capacity::Bytes(1800), Overflow::DropHead, &sizes[..4]);
        assert_eq!((dropped, held), (vec![0, 1, 2], vec![3]));
        let (dropped, held) = fill(Capacity::Bytes(1800), Overflow::DropTail, &sizes[..4]);
        assert_eq!((dropped, held), (vec![3], vec![0, 1, 2]));
        let (dropped, held) = fill(Capacity::Bytes(1500), Overflow::DropHead, &sizes[3..]);
        assert_eq!((dropped, held), (vec![0, 1], vec![]));
    }

    proptest! {
        /// Each packet that comes is held or dropped, once; those held keep their order and fit.
        #[test]
        fn packets_are_conserved(
            sizes in proptest::collection::vec(40u32..=1500, 0..60),
            packets in proptest::option::of(0u32..20),
            bytes in 0u64..20_000,
            drop_head: bool,
        ) {
            let capacity = packets.map_or(Capacity::Bytes(bytes), Capacity::Packets);
            let overflow = if drop_head { Overflow::DropHead } else { Overflow::DropTail };
            let (dropped, held) = fill(capacity, overflow, &sizes);
            prop_assert!(held.windows(2).all(|pair| pair[0] < pair[1]));
            match capacity {
                Capacity::Packets(most) => prop_assert!(held.len() <= most as usize),
                Capacity::Bytes(most) => {
                    prop_assert!(held.iter().map(|&k| u64::from(sizes[k])).sum::<u64>() <= most);
                }
            }
            let mut all: Vec<usize> = dropped.into_iter().chain(held).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..sizes.len()).collect::<Vec<_>>());
        }
    }
}
