//! CoDel, FQ-CoDel, PIE and RED over 60 s, held against `reference/aqm/aqm.py`. That has the sources' pseudocode and no
//! line of this engine. All drops and all departures are compared, to the nanosecond, by sums of their times and numbers.

use segue_netsim::loss::LossCause;
use segue_netsim::queue::codel::{Codel, CodelConfig};
use segue_netsim::queue::fq_codel::{FqCodel, FqCodelConfig};
use segue_netsim::queue::pie::{Pie, PieConfig};
use segue_netsim::queue::red::{Red, RedConfig};
use segue_netsim::{
    Delay, LinkConfig, LinkId, Nanos, Net, Node, NodeId, Observer, PacketId, Passage, Payload, Rate, SECOND,
    Service, Sim, TimerId,
};

#[derive(Clone, Debug)]
struct Packet {
    number: u64,
    bytes: u32,
    flow: u16,
}

impl Payload for Packet {
    fn size(&self) -> u32 {
        self.bytes
    }

    fn flow(&self) -> u16 {
        self.flow
    }
}

#[derive(Clone, Debug)]
struct Sink;

impl<O: Observer<Packet>> Node<Packet, O> for Sink {
    fn on_packet(&mut self, net: &mut Net<Packet, O>, _: LinkId, packet: PacketId) {
        net.packets.remove(packet);
    }

    fn on_timer(&mut self, _: &mut Net<Packet, O>, timer: TimerId) {
        panic!("there is no {timer:?}");
    }
}

/// Drops (time, number) and departures (time, number).
#[derive(Clone, Debug, Default)]
struct Diary {
    drops: Vec<(Nanos, u64)>,
    departures: Vec<(Nanos, u64)>,
}

impl Observer<Packet> for Diary {
    fn accepted(&mut self, _: LinkId, passage: &Passage, packet: &Packet) {
        self.departures.push((passage.departure, packet.number));
    }

    fn lost(&mut self, now: Nanos, _: LinkId, packet: &Packet, cause: LossCause) {
        assert_eq!(cause, LossCause::Queue);
        self.drops.push((now, packet.number));
    }

    fn withdrawn(&mut self, _: LinkId, packet: &Packet) {
        panic!("nobody takes back {packet:?}");
    }

    fn overflowed(&mut self, _: Nanos, at: NodeId, _: &Packet) {
        panic!("{at:?} has no buffer");
    }
}

/// Packets of (period in ns, bytes, from, until, flow) each, as `arrivals` of the script has them.
fn arrivals(sources: &[(Nanos, u32, Nanos, Nanos, u16)]) -> Vec<(Nanos, u32, u16)> {
    let mut all = Vec::new();
    for (index, &(period, bytes, from, until, flow)) in sources.iter().enumerate() {
        let times = (0..).map(|k| from + k * period).take_while(|time| *time < until);
        all.extend(
            times
                .zip(0_u64..)
                .map(|(time, k)| (time + (k * 7919) % 997 + 1000 * index as Nanos + 1, bytes, flow)),
        );
    }
    all.sort_unstable();
    all
}

/// The script's output: number of drops, sums of their times and numbers, departures, the last, their weighed
/// numbers.
fn digest(config: LinkConfig, arrivals: &[(Nanos, u32, u16)]) -> [u64; 6] {
    let mut net = Net::new(Diary::default());
    let link = net.add_link(NodeId(0), config);
    let mut sim = Sim { net, nodes: vec![Sink] };
    for (number, &(at, bytes, flow)) in arrivals.iter().enumerate() {
        sim.run_until(at);
        sim.net.originate(link, Packet { number: number as u64, bytes, flow });
    }
    sim.run_until(100 * SECOND);
    let Diary { drops, departures } = &sim.net.observer;
    let sum = |values: &mut dyn Iterator<Item = u64>| values.sum::<u64>();
    [
        drops.len() as u64,
        sum(&mut drops.iter().map(|drop| drop.0)),
        sum(&mut drops.iter().map(|drop| drop.1)),
        departures.len() as u64,
        departures.last().map_or(0, |departure| departure.0),
        sum(&mut (1..).zip(departures).map(|(place, departure)| place * departure.1)),
    ]
}

fn link() -> LinkConfig {
    LinkConfig::new(Service::Fixed(Rate::new(10_000_000)), Delay::Fixed(1_000_000))
}

/// 12 Mbit/s, then half of that, then 12 Mbit/s again.
fn greedy() -> Vec<(Nanos, u32, u16)> {
    arrivals(&[
        (1_000_000, 1500, 0, 20 * SECOND, 0),
        (2_000_000, 1500, 20 * SECOND, 35 * SECOND, 0),
        (1_000_000, 1500, 35 * SECOND, 60 * SECOND, 0),
    ])
}

#[test]
fn pie_is_that_of_the_rfc() {
    let pie = Pie::new(PieConfig { limit: 100_000, ..PieConfig::default() }, 1, 0);
    let expected = [7484, 231_399_605_074_107, 200_184_571, 45_016, 60_005_602_001, 35_259_678_809_782];
    assert_eq!(digest(link().managed(pie), &greedy()), expected);
}

#[test]
fn red_is_that_of_its_authors() {
    let red = Red::new(RedConfig::for_rate(10_000_000, 1500), 1, 0);
    let expected = [7474, 230_772_475_068_852, 199_632_426, 45_026, 60_017_602_001, 35_282_961_104_341];
    assert_eq!(digest(link().managed(red), &greedy()), expected);
}

#[test]
fn codel_is_that_of_the_rfc() {
    let codel = Codel::new(CodelConfig { limit: 100_000, ..CodelConfig::default() });
    let expected = [7426, 233_764_023_077_426, 201_872_419, 45_074, 60_038_002_001, 35_287_545_257_071];
    assert_eq!(digest(link().managed(codel), &greedy()), expected);
}

#[test]
fn fq_codel_is_that_of_the_rfc() {
    let codel = CodelConfig { limit: 100_000, ..CodelConfig::default() };
    let queue = FqCodel::new(FqCodelConfig { codel, ..FqCodelConfig::default() });
    let mixed = arrivals(&[
        (1_100_000, 1500, 0, 60 * SECOND, 0),
        (7_000_000, 300, 0, 60 * SECOND, 1),
        (2_500_000, 900, 10 * SECOND, 40 * SECOND, 2),
    ]);
    let expected = [13_429, 383_219_332_573_429, 487_278_501, 61_689, 60_037_680_001, 96_571_164_638_550];
    assert_eq!(digest(link().managed(queue), &mixed), expected);
}

/// 24, 48 and at last 12 Mbit/s, and a sparse flow: more than CoDel takes away, so that the limits decide.
fn flood() -> Vec<(Nanos, u32, u16)> {
    arrivals(&[
        (500_000, 1500, 0, 30 * SECOND, 0),
        (500_000, 1500, 5 * SECOND, 30 * SECOND, 1),
        (20_000_000, 300, 0, 60 * SECOND, 2),
        (1_000_000, 1500, 40 * SECOND, 60 * SECOND, 3),
    ])
}

/// 10,240 packets of all flows together: batches from the head of the fattest (RFC 8290, 4.1.3; `fq_codel_drop`).
#[test]
fn a_full_fq_codel_drops_as_linux_does() {
    let expected =
        [87_257, 1_794_119_006_392_160, 5_336_540_071, 45_743, 60_139_602_656, 107_218_592_848_772];
    assert_eq!(digest(link().managed(FqCodel::new(FqCodelConfig::default())), &flood()), expected);
}

/// 1000 packets, and an arrival beyond is dropped (`codel_qdisc_enqueue`).
#[test]
fn a_full_codel_drops_as_linux_does() {
    let one = flood().into_iter().map(|(at, bytes, _)| (at, bytes, 0)).collect::<Vec<_>>();
    let expected = [89_642, 1_621_166_005_526_107, 5_381_962_581, 43_358, 60_145_602_656, 98_517_872_171_788];
    assert_eq!(digest(link().managed(Codel::new(CodelConfig::default())), &one), expected);
}
