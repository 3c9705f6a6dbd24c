//! Drop-tail with two events for each packet, where the closed form cannot serve: on links that change the order.

use super::{Discipline, Fifo, Waiting};
use crate::{Nanos, PacketId};

/// Drops an arrival that finds so many packets, the one being sent included.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: u32,
    fifo: Fifo,
    /// A packet is being sent that counts.
    sending: bool,
    /// Those that are being sent do not count.
    of_waiting: bool,
}

impl DropTail {
    /// An empty queue.
    pub fn new(limit: u32) -> Self {
        Self { limit, fifo: Fifo::default(), sending: false, of_waiting: false }
    }

    /// An empty queue before a line that sends several at once: its limit is that of packets that wait.
    pub fn of_waiting(limit: u32) -> Self {
        Self { of_waiting: true, ..Self::new(limit) }
    }
}

impl Discipline for DropTail {
    fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>) {
        if self.fifo.len() + usize::from(self.sending) >= self.limit as usize {
            dropped.push(packet.packet);
        } else {
            self.fifo.push(packet);
        }
    }

    /// Asked when the server is free.
    fn dequeue(&mut self, _now: Nanos, _dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        let head = self.fifo.pop();
        self.sending = head.is_some() && !self.of_waiting;
        head
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = PacketId> + '_> {
        Box::new(self.fifo.packets())
    }

    fn clear(&mut self) {
        self.fifo.clear();
        self.sending = false;
    }

    fn fork(&self) -> Box<dyn Discipline> {
        Box::new(self.clone())
    }
}
