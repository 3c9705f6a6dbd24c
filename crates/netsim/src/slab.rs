//! Packets under way, in one vector with a free list.

use crate::Payload;

/// Handle of a packet in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId(u32);

/// Storage of the packets under way.
#[derive(Clone, Debug)]
pub struct Slab<P> {
    items: Vec<P>,
    free: Vec<u32>,
}

impl<P> Default for Slab<P> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<P: Payload> Slab<P> {
    /// Stores a packet.
    #[inline(always)] // so that a packet is made where it will lie
    pub fn insert(&mut self, packet: P) -> PacketId {
        let index = match self.free.pop() {
            Some(index) => index,
            None if P::blank().is_none() => return self.push(packet),
            // A packet that is pushed has to lie elsewhere before.
            None => self.grow(),
        };
        packet.write(&mut self.items[index as usize]);
        PacketId(index)
    }

    /// A place that no packet has used yet.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        self.items.extend(P::blank());
        (self.items.len() - 1) as u32
    }

    /// Stores a packet that no earlier one has left a place for.
    #[cold]
    #[inline(never)]
    fn push(&mut self, packet: P) -> PacketId {
        self.items.push(packet);
        PacketId((self.items.len() - 1) as u32)
    }
}

impl<P> Slab<P> {
    /// Gives a packet's place back. The handle must not be used again.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id.0);
    }

    /// Number of packets under way.
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<P> std::ops::Index<PacketId> for Slab<P> {
    type Output = P;
    #[inline]
    fn index(&self, id: PacketId) -> &P {
        &self.items[id.0 as usize]
    }
}

impl<P> std::ops::IndexMut<PacketId> for Slab<P> {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut P {
        &mut self.items[id.0 as usize]
    }
}
