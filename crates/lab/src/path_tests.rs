//! The path, on hand-made times.

use super::Nanos;
use super::link::{Capacity, OneWay};
use super::path::{AccessLink, Direction, Fate, Path, Sink, Switch, Which};
use super::trace::CapacityTrace;

const MS: Nanos = 1_000_000;

#[derive(Default)]
struct Seen {
    ended: Vec<(u32, Fate)>,
    queued: Vec<(u32, Which)>,
}

impl Sink<u32> for Seen {
    fn queued(&mut self, packet: &u32, link: Which, _arrival: Nanos, _departure: Nanos) {
        self.queued.push((*packet, link));
    }
    fn ended(&mut self, _direction: Direction, packet: u32, fate: Fate) {
        self.ended.push((packet, fate));
    }
}

fn link(kbps: u32, delay_ms: u32, queue: u32) -> AccessLink {
    let way = OneWay { queue: Some(queue), ..OneWay::constant(kbps, delay_ms * 1000) };
    AccessLink { down: way.clone(), up: way }
}

/// Enters packets at their times (ms) in order and runs to `until`.
fn run(path: &mut Path<u32>, packets: &[(u64, Direction, u32)], until: u64) -> Seen {
    let mut seen = Seen::default();
    for &(at, direction, packet) in packets {
        path.advance(at * MS, &mut seen);
        path.enter(direction, at * MS, packet, 1500, &mut seen);
    }
    path.advance(until * MS, &mut seen);
    seen
}

#[test]
fn directions_do_not_share_a_link() {
    let old = link(6000, 10, 2);
    let mut path = Path::new(&old, &old, 0);
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
    let mut path = Path::new(&link(1200, 100, 9), &link(12_000, 5, 9), 0); // 10 ms, then 1 ms a packet
    path.schedule(Switch { down: 50 * MS, up: 50 * MS, breaks: false });
    let packets = [(0, Direction::Down, 1), (45, Direction::Down, 2), (51, Direction::Down, 3)];
    let seen = run(&mut path, &packets, 300);
    assert_eq!(
        seen.ended,
        [(3, Fate::Delivered(57 * MS)), (1, Fate::Delivered(110 * MS)), (2, Fate::Delivered(155 * MS))]
    );
    assert_eq!(seen.queued, [(1, Which::Old), (2, Which::Old), (3, Which::New)]);
}

#[test]
fn break_before_make_loses_both_ways_until_the_new_link_is_up() {
    let mut path = Path::new(&link(1200, 40, 9), &link(12_000, 5, 9), 0);
    path.schedule(Switch { down: 50 * MS, up: 150 * MS, breaks: true });
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
fn a_link_that_flaps_loses_what_is_on_it_each_time_and_begins_empty() {
    let mut path = Path::new(&link(1200, 15, 2), &link(12_000, 5, 9), 0); // 10 ms, then 1 ms a packet
    for down in [50, 100, 150] {
        path.schedule(Switch { down: down * MS, up: (down + 20) * MS, breaks: true });
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
    let mut path = Path::new(&link(1200, 40, 9), &link(12_000, 5, 9), 4000);
    path.schedule(Switch { down: 52 * MS, up: 70 * MS, breaks: true });
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
            (3, Fate::Disconnected(54 * MS + 120_000)),
            (1, Fate::Delivered(54 * MS + 120_000)),
            (4, Fate::Delivered(76 * MS + 120_000)),
        ]
    );
}

#[test]
fn a_measured_link_carries_at_its_opportunities() {
    let trace = CapacityTrace::new([10, 20, 100], 0).unwrap();
    let way = OneWay { capacity: Capacity::Trace(trace), delay_us: 7000, delays: None, queue: Some(9) };
    let old = AccessLink { down: way.clone(), up: way };
    let mut path = Path::new(&old, &old, 0);
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

#[test]
fn what_is_under_way_at_the_end_is_told() {
    let old = link(1200, 40, 9);
    let mut path = Path::new(&old, &old, 4000);
    let mut seen =
        run(&mut path, &[(0, Direction::Down, 1), (9, Direction::Down, 2), (0, Direction::Up, 3)], 10);
    path.stop(&mut seen);
    assert_eq!(seen.ended, [(2, Fate::UnderWay), (1, Fate::UnderWay), (3, Fate::UnderWay)]);
}
