//! Links by hand: ties, withdrawals, order, and the closed form against a naive queue.

use super::*;
use crate::{CapacityTrace, DelayTrace, Slab};
use proptest::prelude::*;

fn link(service: Service, limit: Option<u32>) -> Link {
    let config = LinkConfig::new(service, Delay::Fixed(1000));
    Link::new(LinkConfig { queue: Queue::DropTail(limit), ..config })
}

/// A queue of one, whose packet was begun at 400 ns and leaves 1.5 ms later. An arrival at that very instant finds it
/// full unless it was put on its way after the packet had been begun.
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
    assert_eq!(link.withdraw(2_000_000, Event::start_of(2_000_000)), packets[1..]);
    assert_eq!(link.packets().collect::<Vec<_>>(), packets[..1]);
    assert_eq!((link.queued(2_000_000), link.busy_until()), (0, 2_000_000));
    let passage = link.enqueue(packets[1], 1500, 2_000_000, 3, 0).unwrap();
    assert_eq!(passage.departure, 3_500_000, "as if nothing had waited");
    link.pop();
    assert_eq!(link.withdraw(2_000_000, Event::start_of(2_000_000)), packets[1..2]);
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
    assert_eq!(link.withdraw(1_500_000, Event::start_of(1_500_000)), packets[1..]);
    let passage = link.enqueue(packets[1], 1500, 1_600_000, 3, 0).unwrap();
    assert_eq!(passage.departure, 2_000_000);
    // Half of the opportunity at 3 ms is taken by a packet that leaves then, the other half by none.
    link.enqueue(packets[2], 750, 1_600_000, 4, 0);
    assert!(link.withdraw(3_000_000, Event::start_of(3_000_000)).is_empty());
    let passage = link.enqueue(slab.insert(()), 750, 3_000_000, 5, 0).unwrap();
    assert_eq!(passage.departure, 3_000_000);
}

/// 100 ms of delay until 10 ms, then 1 ms. The packet that would have left at 3 ms is taken back. One that leaves at
/// 12 ms need not wait for it, and only keeps behind the first, if that is still under way.
#[test]
fn what_is_taken_back_holds_nothing_up() {
    for (first, delivery) in [(false, 13_000_000), (true, 101_000_000)] {
        let delay = Delay::Trace(DelayTrace::parse("100\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", 0).unwrap());
        let service = Service::Fixed(Rate::new(12_000_000));
        let mut link = Link::new(LinkConfig::new(service, delay));
        let mut slab = Slab::default();
        if first {
            link.enqueue(slab.insert(()), 1500, 0, 1, 0);
        }
        link.enqueue(slab.insert(()), 1500, 2_000_000, 2, 0);
        assert_eq!(link.withdraw(2_500_000, Event::start_of(2_500_000)).len(), 1);
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
        let mut link = Link::new(LinkConfig::new(service, delay));
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
