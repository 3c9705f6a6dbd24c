//! Losses and managed queues in a network: events, causes, forks.

use proptest::prelude::*;
use segue_netsim::delay::{Jitter, JitterShape, Order, Varied};
use segue_netsim::loss::random::RandomLoss;
use segue_netsim::loss::{LossCause, LossModel};
use segue_netsim::queue::codel::{Codel, CodelConfig};
use segue_netsim::{
    Delay, LinkConfig, LinkId, Nanos, Net, Node, NodeId, Observer, PacketId, Passage, Payload, Rate, Service,
    Sim, TimerId,
};

const MS: Nanos = 1_000_000;

/// The packet with this number.
#[derive(Clone, Debug)]
struct Numbered {
    number: usize,
    bytes: u32,
}

impl Payload for Numbered {
    fn size(&self) -> u32 {
        self.bytes
    }

    fn flow(&self) -> u16 {
        0
    }
}

/// Takes packets out of the network.
#[derive(Clone, Debug, Default)]
struct Sink {
    arrivals: Vec<(Nanos, usize)>,
}

impl<O: Observer<Numbered>> Node<Numbered, O> for Sink {
    fn on_packet(&mut self, net: &mut Net<Numbered, O>, _: LinkId, packet: PacketId) {
        self.arrivals.push((net.now(), net.packets[packet].number));
        net.packets.remove(packet);
    }

    fn on_timer(&mut self, _: &mut Net<Numbered, O>, timer: TimerId) {
        panic!("there is no {timer:?}");
    }
}

#[derive(Clone, Debug, Default)]
struct Diary {
    /// Number, arrival, start, departure, delivery.
    passages: Vec<(usize, [Nanos; 4])>,
    losses: Vec<(Nanos, usize, LossCause)>,
    withdrawn: Vec<usize>,
}

impl Diary {
    fn lost(&self, by: LossCause) -> Vec<usize> {
        self.losses.iter().filter(|(.., cause)| *cause == by).map(|(_, number, _)| *number).collect()
    }
}

impl Observer<Numbered> for Diary {
    fn accepted(&mut self, _: LinkId, passage: &Passage, packet: &Numbered) {
        let &Passage { arrival, start, departure, delivery, .. } = passage;
        self.passages.push((packet.number, [arrival, start, departure, delivery]));
    }

    fn lost(&mut self, now: Nanos, _: LinkId, packet: &Numbered, cause: LossCause) {
        self.losses.push((now, packet.number, cause));
    }

    fn withdrawn(&mut self, _: LinkId, packet: &Numbered) {
        self.withdrawn.push(packet.number);
    }

    fn overflowed(&mut self, _: Nanos, at: NodeId, _: &Numbered) {
        panic!("{at:?} has no buffer");
    }
}

type Bench = Sim<Sink, Numbered, Diary>;

/// One link to a sink.
fn bench(config: LinkConfig) -> (Bench, LinkId) {
    let mut net = Net::new(Diary::default());
    let link = net.add_link(NodeId(0), config);
    (Sim { net, nodes: vec![Sink::default()] }, link)
}

/// Sends packets of these sizes at these times.
fn send(sim: &mut Bench, link: LinkId, arrivals: &[(Nanos, u32)]) {
    for (number, &(at, bytes)) in arrivals.iter().enumerate() {
        sim.run_until(at);
        sim.net.originate(link, Numbered { number, bytes });
    }
}

/// 1 us for each byte.
fn slow() -> Service {
    Service::Fixed(Rate::new(8_000_000))
}

/// CoDel that drops nothing but an arrival beyond `limit` waiting packets: a drop-tail queue with two events.
fn plain(limit: u32) -> Codel {
    Codel::new(CodelConfig { target: Nanos::MAX, limit, ..CodelConfig::default() })
}

proptest! {
    /// A managed queue that drops at its tail does what the closed form does: same passages, same losses.
    #[test]
    fn two_events_agree_with_the_closed_form(
        gaps in proptest::collection::vec((0u64..3, 40u32..1500), 1..200),
        limit in 2u32..8,
        delay in 0u64..5_000_000,
        per_million in prop::sample::select(vec![0, 200_000]),
    ) {
        // No arrival and departure fall together: the k-th arrival is k ns after a whole us.
        let mut at = 0;
        let arrivals: Vec<_> = gaps.iter().enumerate().map(|(k, &(gap, bytes))| {
            at += gap * 500_000;
            (at + k as u64, bytes)
        }).collect();
        let base = || LinkConfig::new(slow(), Delay::Fixed(delay)).lossy(RandomLoss::new(per_million, 1, 0));
        let [closed, managed] = [base().drop_tail(limit), base().managed(plain(limit - 1))].map(|config| {
            let (mut sim, link) = bench(config);
            send(&mut sim, link, &arrivals);
            sim.run_until(10_000 * MS);
            assert!(sim.net.packets.is_empty() && sim.net.link(link).is_empty());
            (sim.net.observer, sim.nodes.remove(0).arrivals)
        });
        prop_assert_eq!(closed.0.passages, managed.0.passages);
        let sorted = |mut losses: Vec<(Nanos, usize, LossCause)>| {
            losses.sort_by_key(|loss| loss.1);
            losses
        };
        prop_assert_eq!(sorted(closed.0.losses), sorted(managed.0.losses));
        prop_assert_eq!(closed.1, managed.1);
    }

    /// A withdrawal from a managed queue gives back what has not left, a fork goes on as the original, and each packet
    /// has one end.
    #[test]
    fn managed_packets_have_one_end(
        gaps in proptest::collection::vec((0u64..3, 40u32..1500), 1..100),
        withdrawal in 0u64..100,
    ) {
        let mut at = 0;
        let arrivals: Vec<_> = gaps.iter().map(|&(gap, bytes)| {
            at += gap * 500_000;
            (at, bytes)
        }).collect();
        let codel = Codel::new(CodelConfig { target: MS, interval: 5 * MS, mtu: 40, limit: 20, ecn: false });
        let lossy = RandomLoss::new(100_000, 1, 0);
        let (mut sim, link) = bench(LinkConfig::new(slow(), Delay::Fixed(3 * MS)).managed(codel).lossy(lossy));
        send(&mut sim, link, &arrivals);
        sim.run_until(at + withdrawal * MS);
        let mut fork = sim.clone();
        let taken_back = sim.net.withdraw(link);
        let now = sim.net.now();
        let left = |numbers: &[(usize, [Nanos; 4])]| numbers.iter().filter(|(_, times)| times[2] <= now).count();
        let before = sim.net.observer.passages.clone();
        for packet in taken_back {
            sim.net.packets.remove(packet);
        }
        sim.run_until(10_000 * MS);
        fork.run_until(10_000 * MS);
        prop_assert!(sim.net.packets.is_empty() && fork.net.packets.is_empty());
        for sim in [&sim, &fork] {
            let diary = &sim.net.observer;
            let mut ends: Vec<usize> = sim.nodes[0].arrivals.iter().map(|arrival| arrival.1).collect();
            ends.extend(diary.losses.iter().map(|loss| loss.1));
            ends.extend(&diary.withdrawn);
            ends.sort_unstable();
            prop_assert_eq!(ends, (0..arrivals.len()).collect::<Vec<_>>());
        }
        let on_link = sim.nodes[0].arrivals.len() + sim.net.observer.lost(LossCause::Link).len();
        prop_assert_eq!(on_link, left(&before));
    }
}

/// 3 ms, and up to some 20 ms more: later packets overtake earlier ones.
fn unordered(seed: u64) -> Delay {
    let jitter = Jitter::new(JitterShape::Normal, 8 * MS, seed, 1);
    Delay::Varied(Box::new(Varied::new(Delay::Fixed(3 * MS), Order::Free, seed, 2).jitter(jitter)))
}

proptest! {
    /// On a link that does not keep the order each packet comes out when its passage says. Packets that a withdrawal
    /// takes back do not. Chance decides in the order of the transmissions, and a fork goes on as the original.
    #[test]
    fn overtaking_packets_come_at_their_times(
        gaps in proptest::collection::vec((0u64..3, 40u32..1500), 1..100),
        withdrawal in 0u64..60,
        limit in 1u32..20,
        seed: u64,
    ) {
        let mut at = 0;
        let arrivals: Vec<_> = gaps.iter().map(|&(gap, bytes)| {
            at += gap * 500_000;
            (at, bytes)
        }).collect();
        let lossy = RandomLoss::new(200_000, seed, 0);
        let config = LinkConfig::new(slow(), unordered(seed)).drop_tail(limit).lossy(lossy.clone());
        let (mut sim, link) = bench(config);
        send(&mut sim, link, &arrivals);
        sim.run_until(at + withdrawal * MS / 2);
        let foretold: Vec<_> =
            sim.net.link(link).fates().map(|(id, arrives)| (sim.net.packets[id].number, arrives)).collect();
        let mut fork = sim.clone();
        fork.run_until(10_000 * MS);
        let came: Vec<usize> = fork.nodes[0].arrivals.iter().map(|arrival| arrival.1).collect();
        // Packets that wait may still be lost.
        let sent: Vec<usize> = sim.net.observer.passages.iter().map(|passage| passage.0).collect();
        for (number, arrives) in foretold {
            prop_assert!(!sent.contains(&number) || came.contains(&number) == arrives, "{}", number);
        }
        for packet in sim.net.withdraw(link) {
            sim.net.packets.remove(packet);
        }
        sim.run_until(10_000 * MS);
        prop_assert!(sim.net.packets.is_empty() && fork.net.packets.is_empty());
        for sim in [&sim, &fork] {
            let diary = &sim.net.observer;
            let mut model = lossy.clone();
            let mut expected: Vec<(Nanos, usize)> = diary.passages.iter().filter_map(|&(number, times)| {
                let lost = model.loses(0);
                (!lost && !diary.withdrawn.contains(&number)).then_some((times[3], number))
            }).collect();
            expected.sort_unstable();
            let mut came = sim.nodes[0].arrivals.clone();
            prop_assert!(came.is_sorted_by_key(|arrival| arrival.0));
            came.sort_unstable();
            prop_assert_eq!(came, expected);
        }
    }
}

/// Which packets are lost depends on their number on the link alone, and each is transmitted first.
#[test]
fn random_losses_do_not_depend_on_the_sender() {
    let run = |gap: Nanos, bytes: u32, model: RandomLoss| {
        let (mut sim, link) = bench(LinkConfig::new(slow(), Delay::Fixed(MS)).lossy(model));
        let arrivals: Vec<_> = (0..500).map(|k| (k * gap, bytes)).collect();
        send(&mut sim, link, &arrivals);
        sim.run_until(10_000 * MS);
        let Diary { losses, passages, .. } = &sim.net.observer;
        assert_eq!(losses.len() + sim.nodes[0].arrivals.len(), 500);
        for &(at, number, cause) in losses {
            assert_eq!((passages[number].1[3], LossCause::Link), (at, cause), "lost where it would come out");
        }
        sim.net.observer.lost(LossCause::Link)
    };
    let mut model = RandomLoss::new(50_000, 9, 4);
    let reference = run(MS, 1500, model.clone());
    let drawn: Vec<usize> = (0..500).filter(|_| model.loses(0)).collect();
    assert_eq!(reference, drawn);
    assert!(!reference.is_empty());
    assert_eq!(reference, run(0, 40, RandomLoss::new(50_000, 9, 4)));
    assert_ne!(reference, run(MS, 1500, RandomLoss::new(50_000, 9, 5)));
}

/// A link tells the fate of each packet before it comes out.
#[test]
fn fates_come_true() {
    let lossy = RandomLoss::new(300_000, 2, 0);
    let (mut sim, link) = bench(LinkConfig::new(slow(), Delay::Fixed(300 * MS)).lossy(lossy));
    send(&mut sim, link, &[(0, 1500); 200]);
    let number = |sim: &Bench, id| sim.net.packets[id].number;
    let fates: Vec<_> = sim.net.link(link).fates().map(|(id, arrives)| (number(&sim, id), arrives)).collect();
    sim.run_until(1_000 * MS);
    let arrived: Vec<usize> = sim.nodes[0].arrivals.iter().map(|arrival| arrival.1).collect();
    assert_eq!(fates.iter().filter(|fate| fate.1).map(|fate| fate.0).collect::<Vec<_>>(), arrived);
    assert_eq!(fates.len(), 200);
}

/// A queue of one, whose packet leaves at 1.5 ms: that is over for what comes from outside at this very instant. A
/// packet of the network finds the queue full, since it counts as put on its way when the last event began, at 0.
#[test]
fn a_packet_from_outside_comes_after_the_transmission_that_ends() {
    for (outside, taken) in [(true, 2), (false, 1)] {
        let (mut sim, link) = bench(LinkConfig::new(slow(), Delay::Fixed(MS)).drop_tail(1));
        send(&mut sim, link, &[(0, 1500)]);
        sim.run_until(1_500_000);
        let packet = Numbered { number: 1, bytes: 1500 };
        match outside {
            true => sim.net.inject(link, packet),
            false => sim.net.originate(link, packet),
        }
        assert_eq!(sim.net.observer.passages.len(), taken);
    }
}

/// Packets that come out of a cut link are lost in the disconnection, even if the link loses packets of its own.
#[test]
fn a_cut_link_loses_by_disconnection() {
    let lossy = RandomLoss::new(500_000, 1, 0);
    let (mut sim, link) = bench(LinkConfig::new(slow(), Delay::Fixed(MS)).lossy(lossy));
    send(&mut sim, link, &[(0, 1000); 100]);
    // Packet k comes out at k + 2 ms.
    sim.net.cut(link, 52 * MS);
    sim.run_until(1_000 * MS);
    assert_eq!(sim.net.observer.lost(LossCause::Disconnection), (50..100).collect::<Vec<_>>());
    assert_eq!(sim.net.observer.lost(LossCause::Link).len() + sim.nodes[0].arrivals.len(), 50);
}

/// A line that is replaced loses what waits and what is in flight; the new one begins idle.
#[test]
fn a_replaced_managed_link_begins_anew() {
    let config = || LinkConfig::new(slow(), Delay::Fixed(MS)).managed(plain(100));
    let (mut sim, link) = bench(config());
    send(&mut sim, link, &[(0, 1000); 10]);
    // Packet 0 is in flight, 1 is being sent, the others wait.
    sim.run_until(3 * MS / 2);
    sim.net.replace_link(link, config());
    assert_eq!(sim.net.observer.lost(LossCause::Disconnection), (0..10).collect::<Vec<_>>());
    sim.net.originate(link, Numbered { number: 10, bytes: 1000 });
    sim.run_until(1_000 * MS);
    assert_eq!(sim.nodes[0].arrivals, [(7 * MS / 2, 10)]);
}

/// 40 packets at once and then one each millisecond, the time of a transmission. All but the first wait 40 ms, and
/// CoDel drops when its control law says (RFC 8289): see the unit test for the times. The one after 469 ms is due at
/// 506.79.
#[test]
fn codel_drops_from_a_standing_queue() {
    let codel = Codel::new(CodelConfig::default());
    let service = Service::Fixed(Rate::new(12_000_000));
    let (mut sim, link) = bench(LinkConfig::new(service, Delay::Fixed(MS)).managed(codel));
    let arrivals: Vec<_> = (0..40).map(|_| 0).chain(1..=500).map(|ms| (ms * MS, 1500)).collect();
    send(&mut sim, link, &arrivals);
    sim.run_until(1_000 * MS);
    let losses = sim.net.observer.losses.iter().map(|&(at, _, cause)| (at / MS, cause));
    let expected = [105, 205, 276, 334, 384, 429, 469, 507].map(|ms| (ms, LossCause::Queue));
    assert_eq!(losses.collect::<Vec<_>>(), expected);
}
