//! A link: a drop-tail queue, a server and a propagation delay, in closed form.
//!
//! A FIFO server needs no event when a transmission ends: a packet that arrives at `t` leaves at
//! `max(t, last departure) + service`, which is known at once. So the only event of a link is
//! the delivery of its head, and the queue's length is a count of departures that lie ahead.

use crate::gamma::GammaDelay;
use crate::trace::OPPORTUNITY_BYTES;
use crate::{CapacityTrace, DelayTrace, Nanos, PacketId, SECOND};
use std::collections::VecDeque;

/// A constant rate.
#[derive(Clone, Debug)]
pub struct Rate {
    bits_per_s: u64,
    /// The last size asked for and its time: packets of a direction are mostly of one size.
    last: (u32, Nanos),
}

impl Rate {
    /// A rate in bit/s.
    pub fn new(bits_per_s: u64) -> Self {
        Self { bits_per_s, last: (0, 0) }
    }

    /// Serialisation time of `bytes`, rounded to the nearest nanosecond.
    #[inline]
    pub fn time(&mut self, bytes: u32) -> Nanos {
        if self.last.0 != bytes {
            let bits = u128::from(bytes) * 8;
            let rate = u128::from(self.bits_per_s);
            self.last = (bytes, ((bits * u128::from(SECOND) + rate / 2) / rate) as Nanos);
        }
        self.last.1
    }
}

/// How a link carries bytes.
#[derive(Clone, Debug)]
pub enum Service {
    /// A constant rate.
    Fixed(Rate),
    /// Measured delivery opportunities.
    Trace {
        /// The opportunities.
        trace: CapacityTrace,
        /// Next opportunity that has bytes to give.
        next: u64,
        /// Bytes left in it.
        left: u32,
    },
}

impl Service {
    /// A measured link.
    pub fn trace(trace: CapacityTrace) -> Self {
        Self::Trace { trace, next: 0, left: OPPORTUNITY_BYTES }
    }

    /// When a packet of `bytes` that reaches the server at `start` has left it.
    #[inline]
    pub fn departure(&mut self, start: Nanos, bytes: u32) -> Nanos {
        match self {
            Self::Fixed(rate) => start + rate.time(bytes),
            Self::Trace { trace, next, left } => {
                // Opportunities that passed while nothing waited are lost.
                if trace.time_of(*next) < start {
                    *next = trace.index_at(start);
                    *left = OPPORTUNITY_BYTES;
                }
                let mut need = bytes;
                while need > *left {
                    need -= *left;
                    *next += 1;
                    *left = OPPORTUNITY_BYTES;
                }
                *left -= need;
                let departure = trace.time_of(*next);
                if *left == 0 {
                    *next += 1;
                    *left = OPPORTUNITY_BYTES;
                }
                departure
            }
        }
    }

    /// Gives back the opportunities after `now`. What a withdrawn packet has taken of earlier ones is used up.
    fn rewind(&mut self, now: Nanos) {
        if let Self::Trace { trace, next, left } = self
            && trace.time_of(*next) > now
        {
            *next = trace.index_at(now + 1);
            *left = OPPORTUNITY_BYTES;
        }
    }
}

/// How long a link's signal is under way.
#[derive(Clone, Debug)]
pub enum Delay {
    /// Always the same.
    Fixed(Nanos),
    /// Measured; later packets never overtake earlier ones.
    Trace(DelayTrace),
    /// Random; later packets never overtake earlier ones.
    Gamma(GammaDelay),
}

/// What makes a link.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Rate or opportunities.
    pub service: Service,
    /// One-way propagation delay.
    pub delay: Delay,
    /// Most packets in the queue, the one being sent included; an arrival beyond is dropped.
    pub limit: Option<u32>,
}

/// One packet's way through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The packet.
    pub packet: PacketId,
    /// When it entered the queue.
    pub arrival: Nanos,
    /// When it came to the head of the queue and its transmission began.
    pub start: Nanos,
    /// When its last bit was sent.
    pub departure: Nanos,
    /// When it reaches the far end.
    pub delivery: Nanos,
}

/// What a link remembers of a packet: half a cache line, since a long link holds thousands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTransit {
    departure: Nanos,
    pub(crate) delivery: Nanos,
    /// Insertion number of its delivery event.
    pub(crate) order: u64,
    pub(crate) packet: PacketId,
    /// Time of its transmission, in ns; more than 4.2 s count as that.
    service: u32,
}

impl InTransit {
    /// When its transmission began.
    #[inline]
    pub(crate) fn start(&self) -> Nanos {
        self.departure - Nanos::from(self.service)
    }
}

/// A one-way link.
#[derive(Clone, Debug)]
pub struct Link {
    service: Service,
    delay: Delay,
    limit: u32,
    /// Packets in the queue and in flight, oldest first.
    ring: VecDeque<InTransit>,
    /// How many of them, from the front, are known to have departed.
    departed: usize,
    last_departure: Nanos,
    last_delivery: Nanos,
    /// What comes out after this instant is lost.
    cut_at: Option<Nanos>,
}

impl Link {
    pub(crate) fn new(config: LinkConfig) -> Self {
        Self {
            service: config.service,
            delay: config.delay,
            limit: config.limit.unwrap_or(u32::MAX),
            ring: VecDeque::new(),
            departed: 0,
            last_departure: 0,
            last_delivery: 0,
            cut_at: None,
        }
    }

    /// Packets in the queue at `now`, the one being sent included. A transmission that ends at
    /// `now` has ended.
    #[inline]
    pub fn queued(&mut self, now: Nanos) -> u32 {
        while self.ring.get(self.departed).is_some_and(|p| p.departure <= now) {
            self.departed += 1;
        }
        (self.ring.len() - self.departed) as u32
    }

    /// Whether the queue is full for an arrival at `now` that was put on its way at `sent`.
    ///
    /// Where a transmission ends at the same instant, the two are events at one time and happen in
    /// the order in which they were scheduled: each when its transmission began.
    #[inline]
    fn is_full(&mut self, now: Nanos, sent: Nanos) -> bool {
        let queued = self.queued(now);
        queued >= self.limit || (queued + 1 == self.limit && self.leaves_after(now, sent))
    }

    /// Whether a packet leaves at `now`, but after an arrival that was scheduled at `sent`.
    fn leaves_after(&self, now: Nanos, sent: Nanos) -> bool {
        let last = self.departed.checked_sub(1).and_then(|index| self.ring.get(index));
        last.is_some_and(|p| p.departure == now && p.start() >= sent)
    }

    /// Takes a packet in, or refuses it (`None`) because the queue is full. `sent`: when the
    /// transmission began that brought it here.
    #[inline(always)] // one caller, on the path of every packet
    pub(crate) fn enqueue(
        &mut self,
        packet: PacketId,
        bytes: u32,
        now: Nanos,
        order: u64,
        sent: Nanos,
    ) -> Option<Passage> {
        if self.limit != u32::MAX && self.is_full(now, sent) {
            return None;
        }
        let start = now.max(self.last_departure);
        let departure = self.service.departure(start, bytes);
        let delivery = match &mut self.delay {
            Delay::Fixed(delay) => departure + *delay,
            Delay::Trace(trace) => (departure + trace.at(departure)).max(self.last_delivery),
            Delay::Gamma(random) => (departure + random.draw()).max(self.last_delivery),
        };
        self.last_departure = departure;
        self.last_delivery = delivery;
        let service = u32::try_from(departure - start).unwrap_or(u32::MAX);
        self.ring.push_back(InTransit { departure, delivery, order, packet, service });
        Some(Passage { packet, arrival: now, start, departure, delivery })
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<InTransit> {
        self.departed = self.departed.saturating_sub(1);
        self.ring.pop_front()
    }

    /// Removes what has not departed by `now`, oldest first.
    pub(crate) fn withdraw(&mut self, now: Nanos) -> Vec<PacketId> {
        self.queued(now);
        let withdrawn: Vec<_> = self.ring.drain(self.departed..).map(|entry| entry.packet).collect();
        if !withdrawn.is_empty() {
            self.last_departure = self.last_departure.min(now);
            // What has been delivered already is no later than `now`, before any packet to come.
            self.last_delivery = self.ring.back().map_or(0, |last| last.delivery);
            self.service.rewind(now);
        }
        withdrawn
    }

    #[inline]
    pub(crate) fn head(&self) -> Option<&InTransit> {
        self.ring.front()
    }

    /// Packets in the queue and in flight, oldest first.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> {
        self.ring.iter().map(|entry| entry.packet)
    }

    /// Whether nothing is in the queue or in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// When the transmission of all that has entered so far is over.
    #[inline]
    pub fn busy_until(&self) -> Nanos {
        self.last_departure
    }

    /// From `at` on, whatever comes out of the link is lost.
    pub fn cut(&mut self, at: Nanos) {
        self.cut_at = Some(at);
    }

    /// Whether what comes out at `time` is lost.
    #[inline]
    pub fn is_cut(&self, time: Nanos) -> bool {
        self.cut_at.is_some_and(|at| time >= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slab;
    use proptest::prelude::*;

    fn link(service: Service, limit: Option<u32>) -> Link {
        Link::new(LinkConfig { service, delay: Delay::Fixed(1000), limit })
    }

    #[test]
    fn serialisation_of_the_bench() {
        // 1500 bytes at 6400 kbit/s take 1.875 ms, an ACK of 40 bytes at 200 kbit/s 1.6 ms.
        assert_eq!(Rate::new(6_400_000).time(1500), 1_875_000);
        assert_eq!(Rate::new(200_000).time(40), 1_600_000);
        assert_eq!(Rate::new(11_000_000).time(1500), 1_090_909);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_unused_ones_are_lost() {
        let trace = CapacityTrace::parse("1\n2\n3\n4\n5\n", 0).unwrap();
        let mut service = Service::trace(trace);
        let ms = 1_000_000;
        assert_eq!(service.departure(0, 40), ms);
        assert_eq!(service.departure(0, 1460), ms, "both fit into 1500 bytes");
        assert_eq!(service.departure(0, 1500), 2 * ms);
        assert_eq!(service.departure(2 * ms + 1, 40), 3 * ms);
        assert_eq!(service.departure(3 * ms, 1500), 4 * ms, "the rest of one, then the next");
        assert_eq!(service.departure(4 * ms + 1, 1500), 5 * ms, "what was left at 4 ms has passed");
    }

    /// A queue of one, whose packet was begun at 400 ns and leaves 1.5 ms later: an arrival at that
    /// very instant finds it full unless it was put on its way after the packet had been begun.
    #[test]
    fn at_a_tie_what_was_scheduled_first_happens_first() {
        for (sent, taken) in [(399, false), (400, false), (401, true)] {
            let mut slab = Slab::default();
            let mut link = link(Service::Fixed(Rate::new(8_000_000)), Some(1));
            assert!(link.enqueue(slab.insert(()), 1500, 400, 1, 0).is_some());
            let arrival = link.enqueue(slab.insert(()), 1500, 1_500_400, 2, sent);
            assert_eq!(arrival.is_some(), taken, "sent at {sent}");
        }
    }

    /// Three packets of 1.5 ms each: at 2 ms the first is under way, the second is being sent, the third waits.
    #[test]
    fn what_has_not_left_can_be_taken_back() {
        let mut slab = Slab::default();
        let mut link = link(Service::Fixed(Rate::new(8_000_000)), None);
        let packets = [(); 3].map(|()| slab.insert(()));
        for (order, &packet) in packets.iter().enumerate() {
            link.enqueue(packet, 1500, 0, order as u64, 0);
        }
        assert_eq!(link.withdraw(2_000_000), packets[1..]);
        assert_eq!(link.packets().collect::<Vec<_>>(), packets[..1]);
        assert_eq!((link.queued(2_000_000), link.busy_until()), (0, 2_000_000));
        let passage = link.enqueue(packets[1], 1500, 2_000_000, 3, 0).unwrap();
        assert_eq!(passage.departure, 3_500_000, "as if nothing had waited");
        link.pop();
        assert_eq!(link.withdraw(2_000_000), packets[1..2]);
        assert!(link.is_empty());
    }

    /// An opportunity each millisecond: the two that the withdrawn packets would have used at 2 and 3 ms are free again.
    #[test]
    fn what_is_taken_back_leaves_its_opportunities() {
        let mut slab = Slab::default();
        let trace = CapacityTrace::parse("1\n2\n3\n4\n5\n", 0).unwrap();
        let mut link = link(Service::trace(trace), None);
        let packets = [(); 3].map(|()| slab.insert(()));
        for (order, &packet) in packets.iter().enumerate() {
            link.enqueue(packet, 1500, 0, order as u64, 0);
        }
        assert_eq!(link.withdraw(1_500_000), packets[1..]);
        let passage = link.enqueue(packets[1], 1500, 1_600_000, 3, 0).unwrap();
        assert_eq!(passage.departure, 2_000_000);
        // Half of the opportunity at 3 ms is taken by a packet that leaves then, the other half by none.
        link.enqueue(packets[2], 750, 1_600_000, 4, 0);
        assert!(link.withdraw(3_000_000).is_empty());
        let passage = link.enqueue(slab.insert(()), 750, 3_000_000, 5, 0).unwrap();
        assert_eq!(passage.departure, 3_000_000);
    }

    /// 100 ms of delay until 10 ms, then 1 ms. The packet that would have left at 3 ms is taken back: one that leaves at
    /// 12 ms need not wait for it, and only keeps behind the first, if that is still under way.
    #[test]
    fn what_is_taken_back_holds_nothing_up() {
        for (first, delivery) in [(false, 13_000_000), (true, 101_000_000)] {
            let delay = Delay::Trace(DelayTrace::parse("100\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", 0).unwrap());
            let service = Service::Fixed(Rate::new(12_000_000));
            let mut link = Link::new(LinkConfig { service, delay, limit: None });
            let mut slab = Slab::default();
            if first {
                link.enqueue(slab.insert(()), 1500, 0, 1, 0);
            }
            link.enqueue(slab.insert(()), 1500, 2_000_000, 2, 0);
            assert_eq!(link.withdraw(2_500_000).len(), 1);
            let passage = link.enqueue(slab.insert(()), 1500, 11_000_000, 3, 0).unwrap();
            assert_eq!((passage.departure, passage.delivery), (12_000_000, delivery));
        }
    }

    proptest! {
        /// However the delays fall.
        #[test]
        fn random_delays_keep_the_order(gaps in proptest::collection::vec(0u64..2_000_000, 1..100), shape in 1u32..20, seed: u64) {
            let delay = Delay::Gamma(crate::GammaDelay::new(5_000_000, shape, seed));
            let service = Service::Fixed(Rate::new(1_000_000_000));
            let mut link = Link::new(LinkConfig { service, delay, limit: None });
            let mut slab = Slab::default();
            let (mut now, mut last) = (0, 0);
            for (order, gap) in gaps.into_iter().enumerate() {
                now += gap;
                let passage = link.enqueue(slab.insert(()), 1064, now, order as u64, now).unwrap();
                prop_assert!(passage.delivery >= last && passage.delivery >= passage.departure);
                last = passage.delivery;
            }
        }

        /// The closed form agrees with a queue simulated packet by packet: a packet is dropped
        /// exactly when `limit` packets are waiting or being sent.
        #[test]
        fn agrees_with_a_naive_queue(
            gaps in proptest::collection::vec((0u64..3000, 40u32..1500), 1..200),
            limit in 1u32..8,
        ) {
            let mut slab = Slab::default();
            let mut link = link(Service::Fixed(Rate::new(8_000_000)), Some(limit));
            let mut in_system: Vec<u64> = Vec::new(); // departures
            let (mut now, mut last) = (0, 0);
            for (order, (gap, bytes)) in gaps.into_iter().enumerate() {
                now += gap * 500;
                in_system.retain(|&departure| departure > now);
                let passage = link.enqueue(slab.insert(()), bytes, now, order as u64, now);
                if in_system.len() as u32 >= limit {
                    prop_assert!(passage.is_none());
                } else {
                    last = now.max(last) + u64::from(bytes) * 1000;
                    in_system.push(last);
                    let passage = passage.unwrap();
                    prop_assert_eq!(passage.departure, last);
                    prop_assert_eq!(passage.delivery, last + 1000);
                }
                while link.head().is_some_and(|head| head.delivery <= now) {
                    link.pop();
                }
            }
        }
    }
}
