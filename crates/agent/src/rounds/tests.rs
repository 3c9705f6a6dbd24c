//! Scripts of events, and what is to be done at each.

mod properties;

use super::*;
use crate::estimate::{Rule, Source};
use crate::event::{Device, Kind, Route};
use segue_kernel::mobile::Way;
use segue_mobile::notices::Pace;
use segue_mobile::resume::ACK_OCTETS;
use segue_policy::Link;
use std::net::IpAddr;

const SECOND: u64 = 1000 * MS;
const WIFI: u32 = 2;
const WWAN: u32 = 3;

fn settings() -> Settings {
    let rule = |device: &str, rate_kbps, up_kbps| Rule {
        device: Some(device.into()),
        kind: None,
        link: Link { rate_kbps, delay_us: 1000 },
        up_kbps,
    };
    Settings {
        watch: vec!["0.0.0.0/0".parse().expect("a prefix")],
        copies: 2,
        way: Way::Auto,
        interval: SECOND,
        limit: SECOND,
        rules: vec![rule("wlan0", 54_000, 54_000), rule("wwan0", 2000, 1000)],
        station_share: 60,
        inherits: false,
    }
}

fn device(index: u32, alive: bool) -> Event {
    let (name, kind) = if index == WIFI { ("wlan0", Kind::Wifi) } else { ("wwan0", Kind::Wwan) };
    Event::Device(Device { index, name: name.into(), alive, carriers: 1, kind })
}

fn route(device: u32, present: bool) -> Event {
    let gateway = Some(IpAddr::from([10, 0, device as u8, 1]));
    let route = Route { to: "0.0.0.0/0".parse().expect("a prefix"), metric: 100, device, gateway };
    Event::Route { route, present }
}

/// Rounds over a host whose default route leads over this device.
fn over(index: u32) -> Rounds {
    let mut rounds = Rounds::new(settings());
    rounds.on_events(0, &[device(WIFI, true), device(WWAN, true), route(index, true)]);
    let first = if index == WIFI { 54_000 } else { 2000 };
    assert_eq!(next_order(&mut rounds, 0), Some(Order::First(Link { rate_kbps: first, delay_us: 1000 })));
    assert_eq!(next_order(&mut rounds, 0), None);
    assert_eq!(rounds.deadline(), None);
    rounds
}

/// The next order, apart from those about windows and about outages that nobody has seen.
fn next_order(rounds: &mut Rounds, now: u64) -> Option<Order> {
    std::iter::from_fn(|| rounds.next(now)).find(|order| !matches!(order, Order::Moved(_) | Order::Doubt(_)))
}

fn pass(triggered: u32, unpaid: u32) -> Pass {
    Pass { triggered, unpaid, marked: unpaid, ..Pass::default() }
}

fn begun(order: Option<Order>) -> (Link, ReportType, Duration) {
    match order {
        Some(Order::Begin(notice, scope, _)) => {
            assert!(scope[0].notified && scope[0].bits == 0, "{scope:?}");
            (notice.link, notice.kind, notice.since)
        }
        other => panic!("no round begins: {other:?}"),
    }
}

fn done(order: Option<Order>) -> Round {
    match order {
        Some(Order::Done(round)) => round,
        other => panic!("no round ends: {other:?}"),
    }
}

#[test]
fn a_moved_route_is_told_at_once() {
    let mut rounds = over(WIFI);
    let at = 10 * SECOND;
    rounds.on_events(at, &[route(WIFI, false), route(WWAN, true)]);
    let (link, kind, since) = begun(next_order(&mut rounds, at));
    assert_eq!((link.rate_kbps, kind), (2000, ReportType::Completed));
    assert_eq!(since, Duration::from_secs(8), "who was busy shortly before");
    // 1 Mbit/s up, half of it for notices of 2 * 84 octets: 372 a second, four ACKs at a time
    assert_eq!(next_order(&mut rounds, at), Some(Order::Pass(2)));
    rounds.on_pass(at + MS, &pass(5, 0));
    let round = done(next_order(&mut rounds, at + MS));
    assert_eq!((round.cause, round.triggered, round.device.as_str()), (Cause::Moved, 5, "wwan0"));
    assert_eq!((round.waited_ns, round.took_ns, round.superseded), (0, MS, false));
    assert_eq!(round.estimate.map(|estimate| estimate.source), Some(Source::Rule));
    assert_eq!((next_order(&mut rounds, at + MS), rounds.deadline()), (None, None));
}

/// A notice over both links may be there sooner, but not over one that carries nothing.
#[test]
fn an_old_link_that_still_carries_has_the_notice_too() {
    let also = |events: &[Event]| {
        let mut rounds = over(WIFI);
        rounds.on_events(SECOND, events);
        match next_order(&mut rounds, SECOND) {
            Some(Order::Begin(notice, ..)) => notice.also,
            other => panic!("no round begins: {other:?}"),
        }
    };
    let moved = [route(WIFI, false), route(WWAN, true)];
    assert_eq!(also(&moved), Some(WIFI));
    assert_eq!(also(&[device(WIFI, false), moved[0].clone(), moved[1].clone()]), None);
    assert_eq!(also(&[Event::Roamed(WIFI)]), None);
}

/// Uplinks: 54 Mbit/s over Wi-Fi, 1 Mbit/s over the modem.
fn own(order: Option<Order>) -> Option<(u32, u32, u32)> {
    match order {
        Some(Order::Begin(_, _, own)) => {
            own.map(|own| (own.old_link.rate_kbps, own.new_link.rate_kbps, own.disconnected))
        }
        other => panic!("no round begins: {other:?}"),
    }
}

#[test]
fn own_flows_are_told_of_both_uplinks_and_whether_there_was_none() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    assert_eq!(own(next_order(&mut rounds, SECOND)), Some((54_000, 1000, 0)));
    // There and back, with nothing in between.
    rounds.on_events(20 * SECOND, &[device(WWAN, false)]);
    rounds.on_events(21 * SECOND, &[route(WWAN, false), route(WIFI, true)]);
    let order = std::iter::from_fn(|| next_order(&mut rounds, 21 * SECOND))
        .find(|order| matches!(order, Order::Begin(..)));
    assert_eq!(own(order), Some((1000, 54_000, 1)));
    // A handoff that is only foreseen changes nothing, and nothing is forgotten.
    let link = Link { rate_kbps: 5000, delay_us: 1000 };
    rounds.on_foreseen(40 * SECOND, "wlan0", Told { link, up_kbps: 4000 }).expect("a device");
    let order = std::iter::from_fn(|| next_order(&mut rounds, 40 * SECOND))
        .find(|order| matches!(order, Order::Begin(..)));
    assert_eq!(own(order), None);
    rounds.on_told(60 * SECOND, "wlan0", Told { link, up_kbps: 4000 }).expect("a device");
    let order = std::iter::from_fn(|| next_order(&mut rounds, 60 * SECOND))
        .find(|order| matches!(order, Order::Begin(..)));
    assert_eq!(own(order), Some((54_000, 4000, 0)));
}

/// Windows may be too wide: of both links the device and what it carries towards this host.
#[test]
fn a_completed_handoff_is_told_with_both_links() {
    let mut rounds = over(WIFI);
    let mut moved = |events: &[Event], at| {
        rounds.on_events(at, events);
        let all = std::iter::from_fn(|| match rounds.next(at) {
            Some(Order::Pass(_)) => {
                rounds.on_pass(at, &pass(1, 0));
                Some(None)
            }
            Some(Order::Moved(moved)) => Some(Some(moved)),
            order => order.map(|_| None),
        });
        all.flatten().collect::<Vec<_>>()
    };
    let link = |rate_kbps| Link { rate_kbps, delay_us: 1000 };
    let [wifi, wwan] = [link(54_000), link(2000)];
    let watch = settings().watch[0];
    let there = Moved {
        watch,
        devices: [WIFI, WWAN],
        links: [wifi, wwan],
        until: 10 * SECOND,
        disconnected: false,
        also: Some(WIFI),
    };
    assert_eq!(moved(&[route(WIFI, false), route(WWAN, true)], 10 * SECOND), [there]);
    assert_eq!(moved(&[device(WWAN, false)], 20 * SECOND), [], "no link");
    let back = Moved {
        watch,
        devices: [WWAN, WIFI],
        links: [wwan, wifi],
        until: 20 * SECOND,
        disconnected: true,
        also: None,
    };
    assert_eq!(moved(&[route(WWAN, false), route(WIFI, true)], 25 * SECOND), [back]);
}

/// After an outage, and only then: connections with peers that have not negotiated.
#[test]
fn connections_may_wait_after_an_outage() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    begun(next_order(&mut rounds, SECOND));
    assert_eq!(next_order(&mut rounds, SECOND), Some(Order::Pass(2)), "nothing was lost");
    rounds.on_pass(SECOND, &pass(1, 0));
    done(next_order(&mut rounds, SECOND));
    rounds.on_events(20 * SECOND, &[device(WWAN, false)]);
    let watch = settings().watch[0];
    assert_eq!(rounds.broken().collect::<Vec<_>>(), [(watch, 20 * SECOND)]);
    rounds.on_events(25 * SECOND, &[route(WWAN, false), route(WIFI, true)]);
    assert_eq!(rounds.broken().count(), 0);
    begun(next_order(&mut rounds, 25 * SECOND));
    // The settings of WWAN and Wi-Fi.
    let links = Some([2000, 54_000].map(|rate_kbps| Link { rate_kbps, delay_us: 1000 }));
    let pace = Pace::over(54_000, settings().copies.into()).after_outage(54_000);
    let (length, since) = (5 * SECOND, 18 * SECOND);
    let outage = Outage { watch, length, since, delay_us: 1000, up_kbps: 54_000, links, pace };
    assert_eq!(next_order(&mut rounds, 25 * SECOND), Some(Order::Resume(outage)));
    rounds.on_helped(3);
    assert!(matches!(next_order(&mut rounds, 25 * SECOND), Some(Order::Pass(_))));
    rounds.on_pass(25 * SECOND, &pass(0, 0));
    assert_eq!(done(next_order(&mut rounds, 25 * SECOND)).helped, 3);
}

/// A handoff may have lost packets that nobody knows of: what was heard within two seconds before it may have stopped then.
/// A handoff that is only foreseen has lost none.
#[test]
fn connections_may_wait_after_a_handoff_without_a_known_outage() {
    let doubts = |event: fn(&mut Rounds)| {
        let mut rounds = over(WIFI);
        event(&mut rounds);
        let mut orders = std::iter::from_fn(|| rounds.next(10 * SECOND)).take(9);
        orders.find_map(|order| match order {
            Order::Doubt(Outage { length, since, .. }) => Some((length, since)),
            Order::Resume(outage) => panic!("there was none: {outage:?}"),
            _ => None,
        })
    };
    let roamed = |rounds: &mut Rounds| rounds.on_events(10 * SECOND, &[Event::Roamed(WIFI)]);
    let link = Link { rate_kbps: 5000, delay_us: 1000 };
    let told = |rounds: &mut Rounds| {
        let link = Link { rate_kbps: 5000, delay_us: 1000 };
        rounds.on_told(10 * SECOND, "wlan0", Told { link, up_kbps: 4000 }).map(drop).expect("a device");
    };
    assert_eq!([doubts(roamed), doubts(told)], [Some((2 * SECOND, 8 * SECOND)); 2]);
    let mut rounds = over(WIFI);
    rounds.on_foreseen(10 * SECOND, "wlan0", Told { link, up_kbps: 4000 }).expect("a device");
    let mut orders = std::iter::from_fn(|| rounds.next(10 * SECOND)).take(9);
    assert!(!orders.any(|order| matches!(order, Order::Doubt(_))));
}

/// 54 Mbit/s: a packet's time is 0.22 ms, and a pass waits a millisecond. Then 20 at a time.
#[test]
fn after_an_outage_the_first_connections_are_told_one_by_one() {
    let mut rounds = over(WWAN);
    rounds.on_events(SECOND, &[device(WWAN, false)]);
    rounds.on_events(5 * SECOND, &[route(WWAN, false), route(WIFI, true)]);
    begun(next_order(&mut rounds, 5 * SECOND));
    assert!(matches!(next_order(&mut rounds, 5 * SECOND), Some(Order::Resume(_))));
    for told in 0..18u32 {
        let now = 5 * SECOND + u64::from(told) * MS;
        let budget = if told < 16 { 1 } else { 20 };
        assert_eq!(next_order(&mut rounds, now), Some(Order::Pass(budget)), "{told}");
        rounds.on_pass(now, &pass(budget, 100));
        assert_eq!(next_order(&mut rounds, now), None, "{told}");
        assert_eq!(rounds.deadline(), Some(now + MS), "{told}");
    }
}

/// Packets that the old device still had to carry are gone, although another way was there at once.
#[test]
fn a_handoff_from_a_device_that_has_died_is_one_after_an_outage() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true), device(WIFI, false)]);
    assert_eq!(own(next_order(&mut rounds, SECOND)), Some((54_000, 1000, 1)));
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true), Event::DeviceGone(WIFI)]);
    assert_eq!(own(next_order(&mut rounds, SECOND)), Some((54_000, 1000, 1)));
}

#[test]
fn after_an_outage_those_count_who_were_busy_when_it_began() {
    let mut rounds = over(WIFI);
    rounds.on_events(10 * SECOND, &[device(WIFI, false)]);
    assert_eq!(
        (next_order(&mut rounds, 10 * SECOND), rounds.deadline()),
        (None, None),
        "there is nobody to tell"
    );
    rounds.on_events(40 * SECOND, &[device(WIFI, true)]);
    let (link, _, since) = begun(next_order(&mut rounds, 40 * SECOND));
    assert_eq!((link.rate_kbps, since), (54_000, Duration::from_secs(8)));
    next_order(&mut rounds, 40 * SECOND);
    rounds.on_pass(40 * SECOND, &pass(1, 0));
    assert_eq!(done(next_order(&mut rounds, 40 * SECOND)).cause, Cause::Returned);
}

#[test]
fn a_route_that_is_gone_for_a_moment_is_a_handoff_of_two_steps() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false)]);
    assert_eq!(next_order(&mut rounds, SECOND), None);
    rounds.on_events(SECOND + MS, &[route(WWAN, true)]);
    assert_eq!(begun(next_order(&mut rounds, SECOND + MS)).0.rate_kbps, 2000);
}

#[test]
fn what_changes_nothing_is_no_handoff() {
    let mut rounds = over(WIFI);
    let neighbour =
        Event::Neighbour { device: WIFI, address: [10, 0, 2, 1].into(), hardware: vec![2, 0, 0, 0, 0, 1] };
    let other = Event::Address { device: WWAN, address: [192, 0, 2, 1].into(), present: true };
    rounds.on_events(SECOND, &[device(WIFI, true), neighbour, other, route(WIFI, true), device(WWAN, false)]);
    assert_eq!((next_order(&mut rounds, SECOND), rounds.deadline()), (None, None));
}

/// The kernel tells of it with a delay of up to a second, and then only that there is a carrier again.
#[test]
fn a_carrier_that_was_lost_for_a_moment_is_a_handoff() {
    let mut rounds = over(WIFI);
    let Event::Device(before) = device(WIFI, true) else { unreachable!() };
    rounds.on_events(SECOND, &[Event::Device(Device { carriers: 2, ..before })]);
    begun(next_order(&mut rounds, SECOND));
    next_order(&mut rounds, SECOND);
    rounds.on_pass(SECOND, &pass(1, 0));
    assert_eq!(done(next_order(&mut rounds, SECOND)).cause, Cause::Returned);
}

#[test]
fn roaming_is_a_handoff() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[Event::Roamed(WIFI)]);
    assert_eq!(begun(next_order(&mut rounds, SECOND)).0.rate_kbps, 54_000);
}

#[test]
fn many_connections_are_told_at_half_the_uplink() {
    let mut rounds = over(WWAN);
    let at = 10 * SECOND;
    rounds.on_events(at, &[route(WWAN, false), route(WIFI, true)]);
    begun(next_order(&mut rounds, at));
    let (mut left, mut now, mut passes) = (1000u32, at, 0);
    let round = loop {
        match next_order(&mut rounds, now) {
            Some(Order::Pass(budget)) => {
                passes += 1;
                let told = budget.min(left);
                left -= told;
                rounds.on_pass(now, &pass(told, left));
            }
            Some(Order::Done(round)) => break round,
            Some(other) => panic!("{other:?}"),
            None => now = rounds.deadline().expect("it goes on"),
        }
    };
    assert_eq!((round.triggered, round.waiting, left), (1000, 0, 0));
    // 54 Mbit/s: 1000 * 2 * 84 octets at 27 Mbit/s are 49.8 ms
    let took = (now - at) / MS;
    assert!((40..=60).contains(&took), "{took} ms, {passes} passes");
    let bits = 1000 * 2 * ACK_OCTETS * 8;
    assert!(bits * 1000 / (took + 5) <= 27_000_000, "no more than half of the uplink");
}

#[test]
fn who_has_not_been_told_in_time_waits_for_its_next_ack() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    begun(next_order(&mut rounds, SECOND));
    let mut now = SECOND;
    let mut left = 100_000;
    let round = loop {
        match next_order(&mut rounds, now) {
            Some(Order::Pass(budget)) => {
                left -= budget;
                rounds.on_pass(now, &pass(budget, left));
            }
            Some(Order::Done(round)) => break round,
            Some(other) => panic!("{other:?}"),
            None => now = rounds.deadline().expect("it goes on"),
        }
    };
    assert_eq!(round.took_ns, SECOND);
    assert_eq!(round.waiting, 100_000 - round.triggered);
    // 1 Mbit/s up: 500 kbit/s are 372 notices of 168 octets a second
    assert!((330..=380).contains(&round.triggered), "{}", round.triggered);
}

#[test]
fn a_route_that_flaps_is_told_twice_at_once_and_then_once_a_second() {
    let mut rounds = over(WIFI);
    let (mut told, mut current) = (Vec::new(), WIFI);
    for step in 0..100u64 {
        let now = SECOND + step * 100 * MS;
        let next = if current == WIFI { WWAN } else { WIFI };
        rounds.on_events(now, &[route(current, false), route(next, true)]);
        current = next;
        let mut instant = now;
        while instant < now + 100 * MS {
            match next_order(&mut rounds, instant) {
                Some(Order::Begin(notice, ..)) => {
                    let expected = if current == WIFI { 54_000 } else { 2000 };
                    assert_eq!(notice.link.rate_kbps, expected, "the link of now");
                    told.push(instant);
                }
                Some(Order::Pass(_)) => rounds.on_pass(instant, &pass(1, 0)),
                Some(_) => {}
                None => match rounds.deadline() {
                    Some(due) => instant = due.max(instant + 1),
                    None => break,
                },
            }
        }
    }
    assert_eq!(told[1] - told[0], 100 * MS);
    assert!(told[2..].windows(2).all(|two| two[1] - two[0] >= SECOND), "{told:?}");
    assert!((10..=12).contains(&told.len()), "{}", told.len());
}

#[test]
fn a_newer_handoff_ends_the_round_of_the_one_before() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    begun(next_order(&mut rounds, SECOND));
    assert!(matches!(next_order(&mut rounds, SECOND), Some(Order::Pass(_))));
    rounds.on_pass(SECOND, &pass(8, 500));
    rounds.on_events(SECOND + MS, &[route(WWAN, false), route(WIFI, true)]);
    let before = done(next_order(&mut rounds, SECOND + MS));
    assert!(before.superseded && before.waiting == 500);
    assert_eq!(begun(next_order(&mut rounds, SECOND + MS)).0.rate_kbps, 54_000);
}

#[test]
fn nothing_is_sent_into_a_link_that_has_broken() {
    let mut rounds = over(WIFI);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    begun(next_order(&mut rounds, SECOND));
    next_order(&mut rounds, SECOND);
    rounds.on_pass(SECOND, &pass(8, 500));
    rounds.on_events(SECOND + MS, &[device(WWAN, false)]);
    assert!(done(next_order(&mut rounds, SECOND + MS)).superseded);
    assert_eq!((next_order(&mut rounds, SECOND + 100 * MS), rounds.deadline()), (None, None));
}

#[test]
fn a_link_told_by_hand_is_told_now_or_once_it_is_used() {
    let mut rounds = over(WIFI);
    let told = Told { link: Link { rate_kbps: 777, delay_us: 5 }, up_kbps: 100 };
    assert_eq!(rounds.on_told(SECOND, "wwan0", told), Ok(vec![]));
    assert_eq!(next_order(&mut rounds, SECOND), None);
    rounds.on_events(2 * SECOND, &[route(WIFI, false), route(WWAN, true)]);
    assert_eq!(begun(next_order(&mut rounds, 2 * SECOND)).0, told.link);
    next_order(&mut rounds, 2 * SECOND);
    rounds.on_pass(2 * SECOND, &pass(1, 0));
    done(next_order(&mut rounds, 2 * SECOND));
    let more = Told { link: Link { rate_kbps: 888, delay_us: 5 }, up_kbps: 100 };
    let number = rounds.on_told(10 * SECOND, "wwan0", more).expect("a device")[0];
    assert_eq!(begun(next_order(&mut rounds, 10 * SECOND)).0, more.link);
    next_order(&mut rounds, 10 * SECOND);
    rounds.on_pass(10 * SECOND, &pass(1, 0));
    assert_eq!(done(next_order(&mut rounds, 10 * SECOND)).number, number);
    // It is forgotten when the path leaves the device.
    for (at, from, to) in [(20, WWAN, WIFI), (30, WIFI, WWAN)] {
        rounds.on_events(at * SECOND, &[route(from, false), route(to, true)]);
    }
    assert_eq!(begun(next_order(&mut rounds, 30 * SECOND)).0.rate_kbps, 2000);
    let names = rounds.on_told(0, "eth7", told).expect_err("no such device");
    assert_eq!(names, ["wlan0", "wwan0"]);
}

#[test]
fn a_handoff_that_is_foreseen_is_told_over_the_present_link() {
    let mut rounds = over(WIFI);
    let told = Told { link: Link { rate_kbps: 2000, delay_us: 5 }, up_kbps: 1 };
    assert_eq!(rounds.on_foreseen(SECOND, "wwan0", told), Ok(vec![1]));
    let (link, kind, _) = begun(next_order(&mut rounds, SECOND));
    assert_eq!((link, kind), (told.link, ReportType::Expected));
    // The pace is that of the present uplink: in 1 ms 54 Mbit/s carry 40 ACKs, if they have half of it.
    assert_eq!(next_order(&mut rounds, SECOND), Some(Order::Pass(20)));
}

#[test]
fn an_announcement_waits_for_a_handoff_that_is_being_told() {
    let mut rounds = over(WIFI);
    let told = Told { link: Link { rate_kbps: 777, delay_us: 5 }, up_kbps: 1 };
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    begun(next_order(&mut rounds, SECOND));
    next_order(&mut rounds, SECOND);
    rounds.on_pass(SECOND, &pass(8, 500));
    let number = rounds.on_foreseen(SECOND + MS, "wlan0", told).expect("a device")[0];
    let at = rounds.deadline().expect("a pass");
    assert!(matches!(next_order(&mut rounds, at), Some(Order::Pass(_))), "it goes on");
    rounds.on_pass(at, &pass(500, 0));
    let round = done(next_order(&mut rounds, at));
    assert_eq!((round.cause, round.superseded), (Cause::Moved, false));
    let at = rounds.deadline().expect("the announcement");
    assert_eq!(begun(next_order(&mut rounds, at)).1, ReportType::Expected);
    next_order(&mut rounds, at);
    rounds.on_pass(at, &pass(1, 0));
    assert_eq!(done(next_order(&mut rounds, at)).number, number);
}

#[test]
fn an_announcement_does_not_replace_a_handoff_that_waits() {
    let mut rounds = over(WIFI);
    let told = Told { link: Link { rate_kbps: 777, delay_us: 5 }, up_kbps: 1 };
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    let number = rounds.on_foreseen(SECOND, "wlan0", told).expect("a device")[0];
    let announced = done(next_order(&mut rounds, SECOND));
    assert!(announced.superseded && announced.number == number && announced.cause == Cause::Foreseen);
    assert_eq!(begun(next_order(&mut rounds, SECOND)).1, ReportType::Completed);
}

#[test]
fn a_link_of_which_nothing_is_known_is_not_told() {
    let mut rounds = Rounds::new(Settings { rules: Vec::new(), ..settings() });
    rounds.on_events(0, &[device(WIFI, true), device(WWAN, true), route(WIFI, true)]);
    assert_eq!(next_order(&mut rounds, 0), None);
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true)]);
    let round = done(next_order(&mut rounds, SECOND));
    assert_eq!((round.estimate, round.triggered), (None, 0));
    assert_eq!(next_order(&mut rounds, SECOND), None);
}

#[test]
fn after_sleep_and_after_a_killed_agent_peers_are_told_though_nothing_moved() {
    let mut rounds = over(WIFI);
    rounds.on_resume(SECOND);
    assert_eq!(begun(next_order(&mut rounds, SECOND)).0.rate_kbps, 54_000);
    let mut rounds = Rounds::new(Settings { inherits: true, ..settings() });
    rounds.on_events(0, &[device(WIFI, true), route(WIFI, true)]);
    assert_eq!(begun(next_order(&mut rounds, 0)).0.rate_kbps, 54_000);
    next_order(&mut rounds, 0);
    rounds.on_pass(0, &pass(1, 0));
    assert_eq!(done(next_order(&mut rounds, 0)).cause, Cause::Restarted);
}

#[test]
fn prefixes_are_told_one_after_the_other() {
    let mut rounds = Rounds::new(Settings {
        watch: ["0.0.0.0/0", "::/0"].map(|net| net.parse().expect("a prefix")).to_vec(),
        ..settings()
    });
    let six = |device, present| Event::Route {
        route: Route { to: "::/0".parse().expect("a prefix"), metric: 1, device, gateway: None },
        present,
    };
    rounds.on_events(0, &[device(WIFI, true), device(WWAN, true), route(WIFI, true), six(WIFI, true)]);
    while next_order(&mut rounds, 0).is_some() {}
    rounds.on_events(SECOND, &[route(WIFI, false), route(WWAN, true), six(WIFI, false), six(WWAN, true)]);
    let mut seen = Vec::new();
    while let Some(order) = next_order(&mut rounds, SECOND) {
        match order {
            Order::Begin(_, scope, _) => seen.push(scope[0].address.is_ipv4()),
            Order::Pass(_) => rounds.on_pass(SECOND, &pass(1, 0)),
            _ => {}
        }
    }
    assert_eq!(seen, [true, false]);
}

/// Octets that a device has received are counted once, however many prefixes lead over it.
#[test]
fn a_device_of_several_prefixes_is_one_device() {
    let nets =
        ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"].map(|net| net.parse().expect("a prefix"));
    let mut rounds = Rounds::new(Settings { watch: nets.to_vec(), ..settings() });
    let over = [WWAN, WIFI, WWAN];
    let routes = nets.into_iter().zip(over).map(|(to, device)| Event::Route {
        route: Route { to, metric: 0, device, gateway: None },
        present: true,
    });
    rounds.on_events(0, &[device(WIFI, true), device(WWAN, true)]);
    rounds.on_events(0, &routes.collect::<Vec<_>>());
    assert_eq!(rounds.devices().into_iter().collect::<Vec<_>>(), [WIFI, WWAN]);
}
