//! When the server of a managed queue asks for a packet, and that no more events happen than are needed.

use proptest::prelude::*;
use segue_netsim::loss::LossCause;
use segue_netsim::queue::{Discipline, Waiting};
use segue_netsim::{
    Delay, LinkConfig, LinkId, Nanos, Net, Node, NodeId, Observer, PacketId, Passage, Payload, Rate, Service,
    Sim, TimerId,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const US: Nanos = 1_000;

/// So many bytes.
#[derive(Clone, Debug)]
struct Sized(u32);

impl Payload for Sized {
    fn size(&self) -> u32 {
        self.0
    }

    fn flow(&self) -> u16 {
        0
    }
}

/// A request to a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    /// To take a packet.
    Takes(Nanos),
    /// For a packet, and has one.
    Gives(Nanos),
    /// For a packet in vain.
    Nothing(Nanos),
}

/// A queue that writes down what it is asked.
#[derive(Clone, Debug, Default)]
struct Diary {
    waiting: VecDeque<Waiting>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Diary {
    fn note(&self, asked: Asked) {
        self.asked.lock().unwrap().push(asked);
    }
}

impl Discipline for Diary {
    fn enqueue(&mut self, packet: Waiting, _dropped: &mut Vec<PacketId>) {
        self.note(Asked::Takes(packet.arrival));
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Nanos, _dropped: &mut Vec<PacketId>) -> Option<Waiting> {
        let head = self.waiting.pop_front();
        self.note(if head.is_some() { Asked::Gives(now) } else { Asked::Nothing(now) });
        head
    }

    fn waiting(&self) -> Box<dyn Iterator<Item = PacketId> + '_> {
        Box::new(self.waiting.iter().map(|waiting| waiting.packet))
    }

    fn clear(&mut self) {
        self.waiting.clear();
    }

    fn fork(&self) -> Box<dyn Discipline> {
        Box::new(self.clone())
    }
}

/// Sends on what comes, or takes it out of the network.
#[derive(Clone, Debug)]
struct End(Option<LinkId>);

impl<O: Observer<Sized>> Node<Sized, O> for End {
    fn on_packet(&mut self, net: &mut Net<Sized, O>, _: LinkId, packet: PacketId) {
        match self.0 {
            Some(out) => net.send(out, packet),
            None => net.packets.remove(packet),
        }
    }

    fn on_timer(&mut self, _: &mut Net<Sized, O>, _: TimerId) {}
}

/// Counts the instants at which something happens.
#[derive(Clone, Debug, Default)]
struct Count(u32);

impl Observer<Sized> for Count {
    fn clock(&mut self, _: Nanos) {
        self.0 += 1;
    }

    fn accepted(&mut self, _: LinkId, _: &Passage, _: &Sized) {}
    fn lost(&mut self, _: Nanos, _: LinkId, _: &Sized, _: LossCause) {}
    fn withdrawn(&mut self, _: LinkId, _: &Sized) {}
    fn overflowed(&mut self, _: Nanos, _: NodeId, _: &Sized) {}
}

/// 1 us for each byte.
fn slow(delay: Nanos) -> LinkConfig {
    LinkConfig::new(Service::Fixed(Rate::new(8_000_000)), Delay::Fixed(delay))
}

/// The requests of a server that looks at its queue at each arrival and whenever a transmission has ended. An arrival
/// at the very end of one comes first.
fn by_hand(arrivals: &[(Nanos, u32)]) -> Vec<Asked> {
    let (mut asked, mut waiting, mut sends_until) = (Vec::new(), VecDeque::new(), None);
    let next = |now: Nanos, waiting: &mut VecDeque<u32>, asked: &mut Vec<Asked>| {
        let head = waiting.pop_front();
        asked.push(if head.is_some() { Asked::Gives(now) } else { Asked::Nothing(now) });
        head.map(|bytes| now + Nanos::from(bytes) * US)
    };
    for &(at, bytes) in arrivals {
        while let Some(end) = sends_until.filter(|&end| end < at) {
            sends_until = next(end, &mut waiting, &mut asked);
        }
        asked.push(Asked::Takes(at));
        waiting.push_back(bytes);
        if sends_until.is_none() {
            sends_until = next(at, &mut waiting, &mut asked);
        }
    }
    while let Some(end) = sends_until {
        sends_until = next(end, &mut waiting, &mut asked);
    }
    asked
}

proptest! {
    /// The queue is asked what it would be if each end of a transmission were an event. The last question of all, in
    /// vain, comes when somebody needs its answer.
    #[test]
    fn each_end_of_a_transmission_is_a_question(
        gaps in proptest::collection::vec((0u64..6, 1u32..4), 1..60),
        withdraws: bool,
    ) {
        let queue = Diary::default();
        let asked = queue.asked.clone();
        let mut net = Net::new(());
        let link = net.add_link(NodeId(0), slow(7 * US).managed(queue));
        let mut sim = Sim { net, nodes: vec![End(None)] };
        let mut at = 0;
        let arrivals: Vec<_> = gaps.iter().map(|&(gap, halves)| {
            at += gap * 500 * US;
            (at, 500 * halves)
        }).collect();
        for &(at, bytes) in &arrivals {
            sim.run_until(at);
            sim.net.originate(link, Sized(bytes));
        }
        sim.run_until(1_000_000 * US);
        let mut expected = by_hand(&arrivals);
        if withdraws {
            prop_assert!(sim.net.withdraw(link).is_empty());
        } else {
            expected.truncate(asked.lock().unwrap().len().max(expected.len() - 1));
        }
        prop_assert_eq!(&*asked.lock().unwrap(), &expected);
    }
}

/// Packets that come over another link at the very instant at which the one before them has been sent. The two events
/// at one time happen in the order in which they were scheduled. A transmission of 1000 bytes takes 1 ms here. Over the
/// first link packets take 2 ms, so that each is under way before the transmission of the one before it begins. Or they
/// take 0.5 ms, and a packet comes on its way later.
#[test]
fn at_a_tie_what_was_scheduled_first_happens_first() {
    let asked = |first: LinkConfig| {
        let queue = Diary::default();
        let asked = queue.asked.clone();
        let mut net = Net::new(Count::default());
        let before = net.add_link(NodeId(0), first);
        let managed = net.add_link(NodeId(1), slow(9 * US).managed(queue));
        let mut sim = Sim { net, nodes: vec![End(Some(managed)), End(None)] };
        for k in 0..3 {
            sim.run_until(k * 1_000 * US);
            sim.net.originate(before, Sized(1000));
        }
        sim.run_until(100_000 * US);
        let asked = asked.lock().unwrap().clone();
        (asked, sim.net.observer.0)
    };
    use Asked::{Gives, Nothing, Takes};
    let ms = |ms: [Nanos; 3]| ms.map(|ms| ms * 1_000 * US);
    let [a, b, c] = ms([2, 3, 4]);
    let (waits, with_waits) = asked(slow(1_000 * US));
    assert_eq!(waits, [Takes(a), Gives(a), Takes(b), Gives(b), Takes(c), Gives(c)]);
    let fast = LinkConfig::new(Service::Fixed(Rate::new(16_000_000)), Delay::Fixed(0));
    let [a, b, c] = [500 * US, 1_500 * US, 2_500 * US];
    let (passes, without) = asked(fast);
    assert_eq!(passes, [Takes(a), Gives(a), Nothing(b), Takes(b), Gives(b), Nothing(c), Takes(c), Gives(c)]);
    // Six deliveries each; where packets wait, two ends of transmissions. `run_until` tells four times of its end.
    assert_eq!((with_waits, without), (6 + 2 + 4, 6 + 4));
}
