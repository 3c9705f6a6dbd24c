//! The path, on hand-made times.

use super::access_link::AccessLink;
use super::path::{Content, Direction, Fate, Path, Sink, Switch, Which};
use super::{MS, Nanos};
use segue_netsim::loss::LossModel;
use segue_netsim::queue::codel::{Codel, CodelConfig};
use segue_netsim::queue::fq_codel::{FqCodel, FqCodelConfig};
use segue_netsim::{CapacityTrace, Codepoint, Delay, DelayTrace, LinkConfig, Service};

#[derive(Clone, Default)]
struct Seen {
    ended: Vec<(usize, Fate)>,
    queued: Vec<(usize, Which)>,
    marked: Vec<usize>,
    /// Arrivals at an access link, and departures.
    times: Vec<(Nanos, Nanos)>,
}

impl Sink for Seen {
    fn queued(&mut self, packet: usize, link: Which, arrival: Nanos, departure: Nanos) {
        self.queued.push((packet, link));
        self.times.push((arrival, departure));
    }
    fn marked(&mut self, packet: usize) {
        self.marked.push(packet);
    }
    fn ended(&mut self, _direction: Direction, packet: usize, fate: Fate) {
        self.ended.push((packet, fate));
    }
}

fn link(kbps: u32, delay_ms: u32, queue: u32) -> AccessLink {
    AccessLink::constant(kbps, delay_ms * 1000, Some(queue))
}

/// Enters packets at their times (ms) in order and runs to `until`.
fn run(path: &mut Path<Seen>, packets: &[(u64, Direction, usize)], until: u64) -> Seen {
    for &(at, direction, packet) in packets {
        path.advance(at * MS);
        path.enter(direction, packet, 1500);
    }
    path.advance(until * MS);
    path.sink().clone()
}

fn path(old: &AccessLink, new: &AccessLink, wired: Nanos) -> Path<Seen> {
    Path::new(old, new, wired, Seen::default())
}

/// Packets to the mobile over one link alone: when each (ns, bytes) ends, in their order.
fn fates(down: LinkConfig, packets: &[(Nanos, u32)]) -> Vec<Fate> {
    let link = AccessLink { up: down.clone(), down };
    let mut path = path(&link, &link, 0);
    for (number, &(at, bytes)) in packets.iter().enumerate() {
        path.advance(at);
        path.enter(Direction::Down, number, bytes);
    }
    path.advance(1000 * MS);
    let mut ended = path.sink().ended.clone();
    ended.sort_by_key(|&(packet, _)| packet);
    ended.into_iter().map(|(_, fate)| fate).collect()
}

fn delivered(ms: impl IntoIterator<Item = u64>) -> Vec<Fate> {
    ms.into_iter().map(|ms| Fate::Delivered(ms * MS)).collect()
}

#[test]
fn packets_are_serialised_one_after_the_other() {
    // 1500 bytes take 2 ms; the link is idle from 3 to 10 ms.
    let packets = [(0, 1500), (MS, 750), (10 * MS, 1500)];
    assert_eq!(fates(link(6000, 9, 5).down, &packets), delivered([11, 12, 21]));
}

#[test]
fn the_queue_counts_the_packet_being_sent() {
    let packets = [(0, 1500), (0, 1500), (2 * MS - 1, 1500), (2 * MS, 1500), (2 * MS, 40)];
    let fates = fates(link(6000, 9, 2).down, &packets);
    // At 2 ms the first has left: the second is being sent, and one may wait.
    assert_eq!(fates[..2], delivered([11, 13]));
    assert_eq!(fates[2..], [Fate::Dropped(2 * MS - 1), Fate::Delivered(15 * MS), Fate::Dropped(2 * MS)]);
}

#[test]
fn small_packets_share_an_opportunity_and_unused_ones_are_lost() {
    let trace = CapacityTrace::parse("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", 0).unwrap();
    let down = LinkConfig::new(Service::trace(trace), Delay::Fixed(5 * MS)).drop_tail(3);
    let early = [(0, 1000), (0, 500), (0, 100), (0, 100)];
    // Nobody uses those of 3 to 5 ms.
    let late = [(5 * MS + 1, 2000), (5 * MS + 1, 1000), (5 * MS + 1, 1)];
    let fates = fates(down, &[&early[..], &late].concat());
    assert_eq!(fates[..3], delivered([6, 6, 7]));
    assert_eq!(fates[3], Fate::Dropped(0));
    assert_eq!(fates[4..], delivered([12, 12, 13]));
}

#[test]
fn a_measured_delay_does_not_reorder() {
    let delay = Delay::Trace(DelayTrace::parse("30\n10\n10\n", 0).unwrap());
    let down = LinkConfig { delay, ..link(6000, 9, 5).down };
    // They leave at 8, 10 and 29 ms.
    assert_eq!(fates(down, &[(6 * MS, 1500), (8 * MS, 1500), (27 * MS, 1500)]), delivered([38, 38, 39]));
}

#[test]
fn a_link_that_loses_packets_says_so() {
    #[derive(Clone, Debug)]
    struct Early;
    impl LossModel for Early {
        fn loses(&mut self, departure: Nanos) -> bool {
            departure < 3 * MS
        }
        fn fork(&self) -> Box<dyn LossModel> {
            Box::new(self.clone())
        }
    }
    let fates = fates(link(6000, 9, 5).down.lossy(Early), &[(0, 1500), (0, 1500)]);
    assert_eq!(fates, [Fate::Lost(11 * MS), Fate::Delivered(13 * MS)]);
}

#[test]
fn directions_do_not_share_a_link() {
    let old = link(6000, 10, 2);
    let mut path = path(&old, &old, 0);
    let packets =
        [(0, Direction::Down, 1), (0, Direction::Up, 2), (0, Direction::Down, 3), (0, Direction::Down, 4)];
    let mut seen = run(&mut path, &packets, 100);
    seen.ended.sort_by_key(|&(packet, _)| packet);
    assert_eq!(
        seen.ended,
        [
            (1, Fate::Delivered(12 * MS)),
            (2, Fate::Delivered(12 * MS)),
            (3, Fate::Delivered(14 * MS)),
            (4, Fate::Dropped(0))
        ]
    );
    assert_eq!(path.next_due(), None);
}

#[test]
fn make_before_break_still_delivers_the_old_link_and_may_reorder() {
    let mut path = path(&link(1200, 100, 9), &link(12_000, 5, 9), 0); // 10 ms, then 1 ms a packet
    path.schedule(Switch::new(50 * MS, 50 * MS, false));
    let packets = [(0, Direction::Down, 1), (45, Direction::Down, 2), (51, Direction::Down, 3)];
    let seen = run(&mut path, &packets, 300);
    assert_eq!(
        seen.ended,
        [(3, Fate::Delivered(57 * MS)), (1, Fate::Delivered(110 * MS)), (2, Fate::Delivered(155 * MS))]
    );
    assert_eq!(seen.queued, [(1, Which::Old), (2, Which::Old), (3, Which::New)]);
    assert_eq!(seen.times, [(0, 10), (45, 55), (51, 52)].map(|(from, to)| (from * MS, to * MS)));
}

/// 1200 kbit/s: 10 ms a packet, 12 Mbit/s: 1 ms.
#[test]
fn what_leaves_by_the_device_that_was_left_without_a_break_takes_its_link() {
    let entered = |breaks: bool| {
        let mut path = path(&link(1200, 5, 9), &link(12_000, 100, 9), 0);
        path.schedule(Switch::new(50 * MS, 50 * MS, breaks));
        path.schedule(Switch::new(500 * MS, 500 * MS, true));
        let all = [(10, Which::New), (60, Which::Old), (70, Which::New), (600, Which::New)];
        for (number, (at, by)) in all.into_iter().enumerate() {
            path.advance(at * MS);
            path.enter_by(Some(by), Direction::Up, number, 1500);
        }
        // The server's packets have one way.
        path.enter_by(Some(Which::New), Direction::Down, 4, 1500);
        path.advance(1000 * MS);
        path.sink().queued.clone()
    };
    use Which::{New, Old};
    assert_eq!(entered(false), [(0, Old), (1, Old), (2, New), (3, Old), (4, Old)]);
    assert_eq!(entered(true), [(0, Old), (1, New), (2, New), (3, Old), (4, Old)]);
}

#[test]
fn break_before_make_loses_both_ways_until_the_new_link_is_up() {
    let mut path = path(&link(1200, 40, 9), &link(12_000, 5, 9), 0);
    path.schedule(Switch::new(50 * MS, 150 * MS, true));
    let packets = [
        (0, Direction::Down, 1),   // out of the old link at T exactly: delivered
        (1, Direction::Down, 2),   // out at 60: lost
        (30, Direction::Up, 3),    // lost
        (60, Direction::Up, 4),    // no link
        (149, Direction::Down, 5), // no link
        (150, Direction::Down, 6), // link up
    ];
    let seen = run(&mut path, &packets, 300);
    assert_eq!(
        seen.ended,
        [
            (1, Fate::Delivered(50 * MS)),
            (2, Fate::Disconnected(50 * MS)),
            (3, Fate::Disconnected(50 * MS)),
            (4, Fate::Disconnected(60 * MS)),
            (5, Fate::Disconnected(149 * MS)),
            (6, Fate::Delivered(156 * MS)),
        ]
    );
}

#[test]
fn an_uplink_may_outlive_the_downlink() {
    let mut path = path(&link(1200, 40, 9), &link(12_000, 5, 9), 0);
    path.schedule(Switch { uplink_down: 90 * MS, ..Switch::new(50 * MS, 150 * MS, true) });
    let packets = [
        (1, Direction::Down, 1),   // out at 51: lost
        (39, Direction::Up, 2),    // out at 89: delivered
        (41, Direction::Up, 3),    // out at 91: lost
        (60, Direction::Down, 4),  // no link
        (91, Direction::Up, 5),    // no link any more
        (150, Direction::Down, 6), // link up, both ways
        (150, Direction::Up, 7),
    ];
    let seen = run(&mut path, &packets, 300);
    assert_eq!(
        seen.ended,
        [
            (1, Fate::Disconnected(50 * MS)),
            (4, Fate::Disconnected(60 * MS)),
            (2, Fate::Delivered(89 * MS)),
            (3, Fate::Disconnected(90 * MS)),
            (5, Fate::Disconnected(91 * MS)),
            (6, Fate::Delivered(156 * MS)),
            (7, Fate::Delivered(156 * MS)),
        ]
    );
    assert_eq!(path.next_due(), None);
}

#[test]
fn a_link_that_flaps_loses_what_is_on_it_each_time_and_begins_empty() {
    let mut path = path(&link(1200, 15, 2), &link(12_000, 5, 9), 0); // 10 ms, then 1 ms a packet
    for down in [50, 100, 150] {
        path.schedule(Switch::new(down * MS, (down + 20) * MS, true));
    }
    let packets = [
        (10, Direction::Down, 1),  // old, delivered at 35
        (40, Direction::Down, 2),  // lost at 50 in the link's queue ...
        (45, Direction::Down, 3),  // ... with the one behind it
        (80, Direction::Down, 4),  // new, delivered at 86
        (99, Direction::Down, 5),  // lost at 100
        (120, Direction::Down, 6), // old again, and empty: delivered at 145
        (121, Direction::Down, 7), // lost at 150
        (160, Direction::Down, 8), // no link
        (170, Direction::Down, 9), // new again
    ];
    let seen = run(&mut path, &packets, 500);
    assert_eq!(
        seen.ended,
        [
            (1, Fate::Delivered(35 * MS)),
            (2, Fate::Disconnected(50 * MS)),
            (3, Fate::Disconnected(50 * MS)),
            (4, Fate::Delivered(86 * MS)),
            (5, Fate::Disconnected(100 * MS)),
            (6, Fate::Delivered(145 * MS)),
            (7, Fate::Disconnected(150 * MS)),
            (8, Fate::Disconnected(160 * MS)),
            (9, Fate::Delivered(176 * MS)),
        ]
    );
    assert_eq!(path.next_due(), None);
}

#[test]
fn the_wired_part_lies_on_the_server_s_side() {
    // 1500 bytes take 0.12 ms at 100 Mbit/s, 10 ms at the old link.
    let mut path = path(&link(1200, 40, 9), &link(12_000, 5, 9), 4 * MS);
    path.schedule(Switch::new(52 * MS, 70 * MS, true));
    let packets = [
        (0, Direction::Up, 1),    // out of the link at 50, on the wire at T: safe
        (0, Direction::Down, 2),  // in the link at 4.12, out at 54.12: lost
        (50, Direction::Down, 3), // reaches the link's place while there is none
        (66, Direction::Down, 4), // reaches it at 70.12: carried
    ];
    let seen = run(&mut path, &packets, 300);
    assert_eq!(
        seen.ended,
        [
            (2, Fate::Disconnected(52 * MS)),
            // Both were put on their wires at 50, in this order.
            (1, Fate::Delivered(54 * MS + 120_000)),
            (3, Fate::Disconnected(54 * MS + 120_000)),
            (4, Fate::Delivered(76 * MS + 120_000)),
        ]
    );
}

#[test]
fn a_measured_link_carries_at_its_opportunities() {
    let trace = CapacityTrace::parse("10\n20\n100\n", 0).unwrap();
    let way = LinkConfig::new(Service::trace(trace), Delay::Fixed(7 * MS)).drop_tail(9);
    let old = AccessLink { down: way.clone(), up: way };
    let mut path = path(&old, &old, 0);
    let packets = [
        (0, Direction::Down, 1),
        (15, Direction::Down, 2),
        (15, Direction::Down, 3),
        (16, Direction::Down, 4),
    ];
    let seen = run(&mut path, &packets, 300);
    assert_eq!(
        seen.ended.iter().map(|&(_, fate)| fate).collect::<Vec<_>>(),
        [17, 27, 107, 117].map(|ms| Fate::Delivered(ms * MS))
    );
}

/// Full packets of 10 ms each that come at once, by flow, over one link alone; all that happened within a second.
fn at_once(way: LinkConfig, flows: &[u16], ecn: Codepoint) -> Seen {
    let old = AccessLink { down: way.clone(), up: way };
    let mut path = path(&old, &old, 0);
    for (number, &flow) in flows.iter().enumerate() {
        path.enter(Direction::Down, number, Content { bytes: 1500, flow, ecn });
    }
    path.advance(1000 * MS);
    path.sink().clone()
}

fn slow() -> LinkConfig {
    let AccessLink { down, .. } = link(1200, 1, 100);
    down
}

/// A turn has 1514 bytes: two packets of the first flow, the second one on credit, and then the other flow.
#[test]
fn a_queue_tells_flows_apart() {
    let way = slow().managed(FqCodel::new(FqCodelConfig::default()));
    let seen = at_once(way, &[1, 1, 1, 1, 1, 2], Codepoint::NotEct);
    let order: Vec<usize> = seen.ended.iter().map(|&(packet, _)| packet).collect();
    assert_eq!(order, [0, 1, 5, 2, 3, 4]);
}

/// Packet k leaves at 10k ms. CoDel acts 100 ms after the first that waited, and 100 ms after that.
#[test]
fn a_queue_marks_what_understands_marks() {
    let way = || slow().managed(Codel::new(CodelConfig { ecn: true, ..CodelConfig::default() }));
    let seen = at_once(way(), &[0; 30], Codepoint::Ect);
    assert_eq!(seen.marked, [11, 21]);
    assert!(seen.ended.iter().all(|(_, fate)| matches!(fate, Fate::Delivered(_))));
    let seen = at_once(way(), &[0; 30], Codepoint::NotEct);
    assert!(
        seen.marked.is_empty() && seen.ended.contains(&(11, Fate::Dropped(110 * MS))),
        "{:?}",
        seen.ended
    );
}

#[test]
fn what_is_under_way_at_the_end_is_told() {
    let old = link(1200, 40, 9);
    let mut path = path(&old, &old, 4 * MS);
    run(&mut path, &[(0, Direction::Down, 1), (0, Direction::Up, 3), (9, Direction::Down, 2)], 10);
    path.stop();
    assert_eq!(path.sink().ended, [(2, Fate::UnderWay), (1, Fate::UnderWay), (3, Fate::UnderWay)]);
}
