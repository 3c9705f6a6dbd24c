//! An access link, one direction: a drop-tail queue, a rate or measured capacity, and a one-way delay.
//!
//! First in, first out, so that a packet's way is known as soon as it arrives: it leaves at
//! `max(arrival, last departure) + serialisation` and is there a one-way delay later.

use super::Nanos;
use super::trace::{CapacityTrace, DelayTrace, OPPORTUNITY};
use std::collections::VecDeque;

/// Bytes of a packet where a queue is counted in packets.
const PACKET: u64 = 1500;

/// How fast a link carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Always the same, kbit/s (1000 bit), above 0.
    Rate(u32),
    /// Measured opportunities.
    Trace(CapacityTrace),
}

impl Capacity {
    /// Bytes of IP packets that it can carry within `[from, to)` of the laboratory's time.
    pub fn bytes_between(&self, from: Nanos, to: Nanos) -> u64 {
        match self {
            Self::Rate(kbps) => (u128::from(to - from) * u128::from(*kbps) / 8_000_000) as u64,
            Self::Trace(trace) => trace.bytes_between(from, to),
        }
    }

    /// Mean, kbit/s.
    pub fn mean_kbps(&self) -> u64 {
        match self {
            Self::Rate(kbps) => u64::from(*kbps),
            Self::Trace(trace) => trace.mean_kbps(),
        }
    }
}

/// One direction of an access link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneWay {
    /// Rate or opportunities.
    pub capacity: Capacity,
    /// One-way delay, us; of a measured delay what reports and round trips are reckoned with.
    pub delay_us: u32,
    /// A measured delay, in its place on the link.
    pub delays: Option<DelayTrace>,
    /// Most packets in the queue, the one being sent included; `None`: [`default_queue`].
    pub queue: Option<u32>,
}

impl OneWay {
    /// A link of constant rate (kbit/s) and delay (us), its queue as in [`default_queue`].
    pub fn constant(rate_kbps: u32, delay_us: u32) -> Self {
        Self { capacity: Capacity::Rate(rate_kbps), delay_us, delays: None, queue: None }
    }
}

/// `max(round(rate * 2 * delay / (8 * 1500)), 5)` packets, as on the simulator's bench (Daniel and Kojo).
pub fn default_queue(rate_kbps: u64, delay_us: u32) -> u32 {
    // kbit/s * us = 1e-3 bit.
    let bits = rate_kbps * 2 * u64::from(delay_us);
    let packet = 1000 * 8 * PACKET;
    u32::try_from((bits + packet / 2) / packet).unwrap_or(u32::MAX).max(5)
}

/// A packet's way through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its last bit has been sent.
    pub departure: Nanos,
    /// It is at the far end.
    pub delivery: Nanos,
}

/// A link at work.
#[derive(Debug)]
pub struct Server {
    capacity: Capacity,
    delay: Nanos,
    delays: Option<DelayTrace>,
    limit: usize,
    /// Departures of the packets in the queue.
    queue: VecDeque<Nanos>,
    last_departure: Nanos,
    last_delivery: Nanos,
    /// Next opportunity of a measured link, and what is left of it.
    opportunity: (u64, u32),
}

impl Server {
    /// An empty link.
    pub fn new(link: &OneWay) -> Self {
        let limit = link.queue.unwrap_or_else(|| default_queue(link.capacity.mean_kbps(), link.delay_us));
        let first = match &link.capacity {
            Capacity::Rate(_) => 0,
            Capacity::Trace(trace) => trace.count_before(0),
        };
        Self {
            capacity: link.capacity.clone(),
            delay: Nanos::from(link.delay_us) * 1000,
            delays: link.delays.clone(),
            limit: limit as usize,
            queue: VecDeque::with_capacity(limit.min(4096) as usize),
            last_departure: 0,
            last_delivery: 0,
            opportunity: (first, OPPORTUNITY),
        }
    }

    /// A packet of `bytes` arrives; `None`: the queue is full. Arrivals come in order of time.
    pub fn arrive(&mut self, now: Nanos, bytes: u32) -> Option<Passage> {
        // What departs at this very instant has left the queue.
        while self.queue.front().is_some_and(|&departure| departure <= now) {
            self.queue.pop_front();
        }
        if self.queue.len() >= self.limit {
            return None;
        }
        let departure = self.departure(now.max(self.last_departure), bytes);
        self.last_departure = departure;
        self.queue.push_back(departure);
        // Where a measured delay falls, packets do not overtake each other.
        let delay = self.delays.as_ref().map_or(self.delay, |delays| delays.at(departure));
        self.last_delivery = self.last_delivery.max(departure + delay);
        Some(Passage { departure, delivery: self.last_delivery })
    }

    /// What was in it is lost: the next packet finds an empty link.
    pub fn forget(&mut self) {
        self.queue.clear();
        (self.last_departure, self.last_delivery) = (0, 0);
    }

    fn departure(&mut self, start: Nanos, bytes: u32) -> Nanos {
        match &self.capacity {
            Capacity::Rate(kbps) => {
                let rate = u64::from(*kbps);
                start + (u64::from(bytes) * 8_000_000 + rate / 2) / rate
            }
            Capacity::Trace(trace) => {
                let (mut next, mut left) = self.opportunity;
                // Opportunities that passed while nothing waited are lost.
                if trace.time_of(next) < start {
                    (next, left) = (trace.count_before(start), OPPORTUNITY);
                }
                let mut need = bytes;
                while need > left {
                    need -= left;
                    (next, left) = (next + 1, OPPORTUNITY);
                }
                left -= need;
                let departure = trace.time_of(next);
                self.opportunity = if left == 0 { (next + 1, OPPORTUNITY) } else { (next, left) };
                departure
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn server(kbps: u32, delay_ms: u32, queue: Option<u32>) -> Server {
        Server::new(&OneWay { queue, ..OneWay::constant(kbps, delay_ms * 1000) })
    }

    #[test]
    fn packets_are_serialised_one_after_the_other() {
        let mut link = server(6000, 9, None); // 1500 bytes take 2 ms.
        assert_eq!(link.arrive(0, 1500), Some(Passage { departure: 2 * MS, delivery: 11 * MS }));
        assert_eq!(link.arrive(MS, 750), Some(Passage { departure: 3 * MS, delivery: 12 * MS }));
        // Idle in between.
        assert_eq!(link.arrive(10 * MS, 1500), Some(Passage { departure: 12 * MS, delivery: 21 * MS }));
    }

    #[test]
    fn the_queue_counts_the_packet_being_sent() {
        let mut link = server(6000, 9, Some(2));
        assert!(link.arrive(0, 1500).is_some());
        assert!(link.arrive(0, 1500).is_some());
        assert_eq!(link.arrive(2 * MS - 1, 1500), None);
        // The first has left: the second is being sent, and one may wait.
        assert_eq!(link.arrive(2 * MS, 1500).unwrap().departure, 6 * MS);
        assert_eq!(link.arrive(2 * MS, 40), None);
    }

    #[test]
    fn the_default_queue_is_the_bench_s() {
        assert_eq!(default_queue(6400, 9_000), 10); // 9.6
        assert_eq!(default_queue(200, 300_000), 10);
        assert_eq!(default_queue(54_000, 2_000), 18);
        assert_eq!(default_queue(200, 9_000), 5);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_unused_ones_are_lost() {
        let trace = CapacityTrace::new([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0).unwrap();
        let mut link = Server::new(&OneWay {
            capacity: Capacity::Trace(trace),
            queue: Some(3),
            ..OneWay::constant(1, 5000)
        });
        assert_eq!(link.arrive(0, 1000).unwrap().departure, MS);
        assert_eq!(link.arrive(0, 500).unwrap().departure, MS);
        assert_eq!(link.arrive(0, 100), Some(Passage { departure: 2 * MS, delivery: 7 * MS }));
        assert_eq!(link.arrive(0, 100), None);
        // What nobody used of 2 to 5 ms is gone.
        assert_eq!(link.arrive(5 * MS + 1, 2000).unwrap().departure, 7 * MS);
        assert_eq!(link.arrive(5 * MS + 1, 1000).unwrap().departure, 7 * MS);
        assert_eq!(link.arrive(5 * MS + 1, 1).unwrap().departure, 8 * MS);
    }

    #[test]
    fn a_measured_delay_does_not_reorder() {
        let delays = DelayTrace::new([30_000_000, 10_000_000, 10_000_000], 0).unwrap();
        let mut link = Server::new(&OneWay { delays: Some(delays), ..OneWay::constant(6000, 9000) });
        assert_eq!(link.arrive(6 * MS, 1500).unwrap().delivery, 38 * MS);
        assert_eq!(link.arrive(8 * MS, 1500).unwrap(), Passage { departure: 10 * MS, delivery: 38 * MS });
        assert_eq!(link.arrive(27 * MS, 1500).unwrap().delivery, 39 * MS);
    }

    #[test]
    fn capacity_of_a_rate() {
        assert_eq!(Capacity::Rate(6400).bytes_between(MS, 1001 * MS), 800_000);
    }
}
