//! A policer (`act_police`, single rate): drops an arrival for which its bucket has no tokens; the rest goes to the
//! queue.

use super::{Discipline, Waiting};
use crate::service::Bucket;
use crate::{Nanos, PacketId};

/// A bucket before a queue.
#[derive(Clone, Debug)]
pub struct Policer {
    bucket: Bucket,
    queue: Box<dyn Discipline>,
}

impl Policer {
    /// A policer in front of `queue`, which gets the packets that conform.
    pub fn new(bucket: Bucket, queue: Box<dyn Discipline>) -> Self {
        Self { bucket, queue }
    }
}

impl Discipline for Policer {
    fn enqueue(&mut self, packet: Waiting, dropped: &mut Vec<PacketId>) {
        if self.bucket.ready(packet.arrival, packet.bytes) > packet.arrival {
            dropped.push(packet.packet);
        } else {
            self.bucket.take(packet.arrival, packet.bytes);
            self.queue.enqueue(packet, dropped);
        }
    }

    fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        self.queue.dequeue(now, dropped)
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = PacketId> + '_> {
        self.queue.waiting()
    }

    fn clear(&mut self) {
        self.queue.clear();
    }

    fn fork(&self) -> Box<dyn Discipline> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Codepoint;
    use super::*;
    use crate::Slab;
    use crate::queue::drop_tail::DropTail;

    /// 64 kB and 5 Mbit/s against 20 Mbit/s: 15 Mbit/s empty the bucket in 34.1 ms, then 3 of 4 packets are dropped.
    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let bucket = Bucket::new(5_000_000, 64_000);
        let mut policer = Policer::new(bucket, Box::new(DropTail::new(1_000_000)));
        let mut slab = Slab::default();
        let mut dropped = Vec::new();
        let mut first = None;
        for number in 0..10_000 {
            let arrival = number * 600_000;
            let waiting =
                Waiting { packet: slab.insert(()), bytes: 1500, flow: 0, arrival, ecn: Codepoint::NotEct };
            policer.enqueue(waiting, &mut dropped);
            first = first.or((!dropped.is_empty()).then_some(arrival));
        }
        // The last packets that pass leave a rest: the first drop comes within two packets of 34.1 ms.
        assert!(first.unwrap().abs_diff(34_133_333) <= 1_200_000, "{first:?}");
        let share = dropped.len() as f64 / (10_000.0 - 57.0);
        assert!((share - 0.75).abs() < 0.002, "{share}");
    }
}
