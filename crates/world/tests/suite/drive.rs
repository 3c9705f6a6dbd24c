//! Whole drives: what must be true of every one.

use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_tcp::StackProfile;
use segue_world::drive::mobility::{Drive, Mobility, Stay};
use segue_world::drive::record::DriveRecord;
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::drive::web::Surge;
use segue_world::{AccessLink, Nanos, NoticeMode, Routers, SECOND};
use std::sync::Arc;

const MS: Nanos = 1_000_000;

fn scheme(name: &str) -> Scheme {
    Scheme::build(name, &[]).expect("a scheme")
}

/// `(from, until, kbit/s, delay in ms)` each.
fn drive(length: Nanos, stays: &[(Nanos, Nanos, u64, u64)]) -> Arc<Drive> {
    let stays = stays.iter().map(|&(from, until, rate, delay)| Stay {
        network: 0,
        from,
        until,
        link: AccessLink::fixed(rate * 1000, delay * MS, 20),
    });
    Arc::new(Drive::new(length, vec!["cells".into()], stays.collect()).expect("a drive"))
}

fn experiment(drive: Arc<Drive>) -> DriveExperiment {
    DriveExperiment {
        drive,
        flows: 1,
        cross: 0,
        web: None,
        wan: WideArea { rate: 10_000_000, delay: 10 * MS, queue: 20 },
        stack: StackProfile::named("freebsd5-newreno").expect("a stack"),
        notice: NoticeMode::InBand { lost: 0 },
        bandwidth_error: 0.0,

        routers: Routers::default(),
        seed: 1,
    }
}

fn kbps(bytes: &[u64], record: &DriveRecord) -> f64 {
    bytes.iter().sum::<u64>() as f64 * 8.0 / 1000.0 / (record.length as f64 / SECOND as f64)
}

/// The course has the data that the record counts, and data beyond a hole at the end at most. Nothing comes while there
/// is no link: one stall covers all of it. To look at it changes nothing.
#[test]
fn a_course_has_all_data_and_a_stall_for_each_gap() {
    let gap = (20 * SECOND, 23 * SECOND);
    let e = experiment(drive(60 * SECOND, &[(0, gap.0, 1000, 20), (gap.1, 60 * SECOND, 1000, 20)]));
    let (record, course) = (e.run(&scheme("newreno")), e.course(&scheme("newreno"), 60));
    assert_eq!((course.bin, course.packets.len()), (SECOND, 60));
    let came =
        course.packets.iter().map(|&packets| u64::from(packets)).sum::<u64>() * u64::from(course.payload);
    let counted = record.mobile_bytes[0];
    assert!(came >= counted && came <= counted + 60 * u64::from(course.payload), "{came}, counted {counted}");
    let covering = course.stalls.iter().filter(|(from, until)| *from <= gap.0 + SECOND && *until >= gap.1);
    assert_eq!(covering.count(), 1, "{:?}", course.stalls);
    assert_eq!(course.packets[21..23], [0, 0], "from 21 s to 23 s");
    assert_eq!(e.run(&scheme("newreno")), record);
}

/// One cell of 1 Mbit/s without handoffs. 1448 of 1500 bytes are data, so 965 kbit/s at most, and a flow alone comes
/// within 3 % of that in two minutes.
#[test]
fn a_parked_mobile_fills_its_link() {
    let e = experiment(drive(120 * SECOND, &[(0, 120 * SECOND, 1000, 20)]));
    let record = e.run(&scheme("newreno"));
    let rate = kbps(&record.mobile_bytes, &record);
    assert!((936.0..=965.4).contains(&rate), "{rate}");
    assert!(record.handoffs.is_empty() && record.cross_bytes.is_empty() && record.web.is_empty());
}

/// The old link is gone at 10 s, the new one is up at 13 s. Data under way is lost, nothing comes in between, and the
/// flow goes on.
#[test]
fn a_handoff_loses_what_is_on_the_old_link() {
    let e =
        experiment(drive(30 * SECOND, &[(0, 10 * SECOND, 2000, 20), (13 * SECOND, 30 * SECOND, 2000, 20)]));
    let record = e.run(&scheme("newreno"));
    let [handoff] = &record.handoffs[..] else { panic!("{:?}", record.handoffs) };
    assert_eq!((handoff.down, handoff.up), (10 * SECOND, 13 * SECOND));
    // BDP of 2 Mbit/s and 60 ms is 10 packets; beyond it up to 20 wait.
    assert!((10..=35).contains(&handoff.lost), "{}", handoff.lost);
    assert!(record.timeouts >= 2, "three seconds outlast an RTO of 0.4 s twice");
    let idle = handoff.idle.expect("it goes on");
    assert!(idle > 0, "regular TCP waits for its timer");
    let rate = kbps(&record.mobile_bytes, &record);
    assert!((1000.0..2000.0 * 27.0 / 30.0).contains(&rate), "{rate}");
}

/// Section 4.2 of the paper: two copies, of which the server takes one; the report of the first link is no notice.
#[test]
fn the_mobile_tells_twice() {
    let stays = [(0, 10 * SECOND, 200, 150), (13 * SECOND, 30 * SECOND, 2000, 20)];
    let e =
        DriveExperiment { notice: NoticeMode::InBand { lost: 0 }, ..experiment(drive(30 * SECOND, &stays)) };
    let notices = e.run(&scheme("tcp-ho")).notices;
    assert_eq!((notices.sent, notices.accepted, notices.repeated, notices.refused), (2, 1, 1, 0));
}

/// A scheme that is told nothing leaves everything as it is without it.
#[test]
fn a_notice_withheld_is_regular_tcp() {
    let e = DriveExperiment {
        notice: NoticeMode::Withheld,
        cross: 1,
        web: Some(Surge::default()),
        ..experiment(Arc::new(Mobility::wlan().drive(3)))
    };
    assert_eq!(e.run(&scheme("etcp-v1")), e.run(&scheme("newreno")));
}

#[test]
fn a_drive_repeats_to_the_byte_and_seeds_differ() {
    let e = DriveExperiment {
        cross: 1,
        web: Some(Surge::default()),
        ..experiment(Arc::new(Mobility::wlan().drive(1)))
    };
    let again = |seed| DriveExperiment { seed, ..e.clone() }.run(&scheme("etcp-v1"));
    assert_eq!(again(1), again(1));
    assert_ne!(again(1), again(2));
}

/// Both flows share a wide area of 10 Mbit/s. Together they cannot have more, and the cross traffic, whose end does not
/// move, has most of it.
#[test]
fn cross_traffic_and_web_share_the_wide_area() {
    let alone = experiment(Arc::new(Mobility::wcdma().drive(1)));
    let e = DriveExperiment { cross: 1, web: Some(Surge::default()), ..alone.clone() };
    let record = e.run(&scheme("newreno"));
    let total = kbps(&record.mobile_bytes, &record) + kbps(&record.cross_bytes, &record);
    assert!(total < 9_654.0, "{total}");
    assert!(kbps(&record.cross_bytes, &record) > 5_000.0);
    assert!(record.wan_drops > 0 && !record.web.is_empty());
    assert!(record.web.iter().all(|object| object.done > object.opened && object.bytes > 0));
    let quiet = alone.run(&scheme("newreno"));
    assert!(quiet.mobile_bytes[0] > record.mobile_bytes[0]);
}

/// Reported bandwidths lie within the error, on both sides, and repeat.
#[test]
fn the_reported_bandwidth_errs_within_its_bounds() {
    let drive = Arc::new(Mobility::wcdma().drive(5));
    let e = DriveExperiment { bandwidth_error: 0.15, ..experiment(drive.clone()) };
    let errors: Vec<f64> = (0..drive.stays.len())
        .map(|index| {
            let said = e.reported_link(index, drive.stays[index].from).rate_kbps;
            assert_eq!(said, e.reported_link(index, drive.stays[index].from).rate_kbps);
            f64::from(said) / 200.0 - 1.0
        })
        .collect();
    assert!(errors.iter().all(|error| error.abs() <= 0.1501), "{errors:?}");
    assert!(errors.iter().any(|error| *error > 0.05) && errors.iter().any(|error| *error < -0.05));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 6))]

    /// Any drive through any links with any scheme ends, and brings no more than its links can carry.
    #[test]
    fn any_drive_ends_within_its_links(
        cells in proptest::collection::vec((500u64..8_000, 0u64..6_000, 100u64..20_000, 1u64..200), 1..8),
        name in proptest::sample::select(vec!["newreno", "sack", "etcp", "etcp-v1"]),
        flows in 1usize..3,
        lost in 0u32..3,
    ) {
        let mut from = 0;
        let mut stays = Vec::new();
        for (stay, gap, rate, delay) in cells {
            stays.push((from, from + stay * MS, rate, delay));
            from += (stay + gap) * MS;
        }
        let length = stays.last().expect("one").1;
        let carried: u64 = stays.iter().map(|(from, until, rate, _)| (until - from) / MS * rate / 8).sum();
        let e = DriveExperiment {
            flows,
            cross: 1,
            notice: NoticeMode::InBand { lost },
            stack: StackProfile::named(if name == "newreno" { "freebsd5-newreno" } else { "ns2-sack1" }).expect("a stack"),
            ..experiment(drive(length, &stays))
        };
        let record = e.run(&scheme(name));
        // A packet per cell may have been under way across the boundary of what is counted.
        prop_assert!(record.mobile_bytes.iter().sum::<u64>() <= carried + 1500 * stays.len() as u64);
        prop_assert_eq!(record.handoffs.len(), stays.len() - 1);
        prop_assert_eq!(record.notices.refused, 0);
    }
}

/// The ACK that carries the notice acknowledges what came before the break, whose own ACKs were lost. TCP-HO's guard
/// asks of the time before that ACK. With three seconds without a link a timeout always comes first, and what is resent
/// at once is there a round trip after link-up. Regular TCP waits for its timer.
#[test]
fn the_ack_that_tells_does_not_refuse_its_own_notice() {
    let idle = |name: &str| {
        let mut sum = 0;
        for tenths in 0..20 {
            let down = 8 * SECOND + tenths * SECOND / 10;
            let stays = [(0, down, 200, 150), (down + 3 * SECOND, 30 * SECOND, 7000, 10)];
            let record = experiment(drive(30 * SECOND, &stays)).run(&scheme(name));
            sum += record.handoffs[0].idle.expect("it goes on");
        }
        sum / 20
    };
    // ACK over the new link and the wide area, data over the wide area: 30 ms and serialisation.
    assert!(idle("tcp-ho") < 35 * MS, "{}", idle("tcp-ho"));
    assert!(idle("newreno") > 500 * MS, "{}", idle("newreno"));
}

/// Ten seconds without a link, 39 times: the time stamp that comes with a notice is of before the break. As an RTT
/// sample it would make an RTO of 30 s. The next drop that no duplicate ACKs mend would then silence the flow for
/// several stays.
#[test]
fn the_ack_that_tells_is_no_round_trip() {
    let stays: Vec<_> =
        (0..40).map(|i| (i * 22 * SECOND, i * 22 * SECOND + 12 * SECOND, 7_000, 10)).collect();
    let e = DriveExperiment { cross: 1, ..experiment(drive(40 * 22 * SECOND - 10 * SECOND, &stays)) };
    let idle = |sample: &str| {
        let mut e = e.clone();
        e.stack.set("notice-sample", sample).expect("a setting");
        let record = e.run(&scheme("tcp-ho"));
        record.handoffs.iter().map(|handoff| handoff.idle.unwrap_or(12 * SECOND)).collect::<Vec<_>>()
    };
    // A round trip is 40 ms, the wide area's queue takes 24 ms. A head that it drops goes again after an RTO of 0.23 s
    // plus what of the round trip varies.
    let without = idle("off");
    assert!(without.iter().all(|&idle| idle < SECOND / 2), "{without:?}");
    assert!(idle("on").iter().any(|&idle| idle > SECOND));
}

/// Three cells with three seconds between them. With a buffer at the router nothing but what was on the air is lost, at
/// either router. A buffer of one packet drops the rest. One that never has anything to hold changes nothing.
#[test]
fn a_router_with_a_buffer_keeps_what_comes_meanwhile() {
    let stays = [(0, 10, 1000, 20), (13, 30, 1000, 20), (33, 50, 1000, 20)];
    let stays = stays.map(|(from, until, rate, delay)| (from * SECOND, until * SECOND, rate, delay));
    let set = |settings: &[(&str, &str)]| {
        let mut routers = Routers::default();
        for (key, value) in settings {
            routers.set(key, value).expect("a setting").expect("a value");
        }
        DriveExperiment { routers, ..experiment(drive(50 * SECOND, &stays)) }
    };
    let counts = |record: &DriveRecord| -> (u32, u32) {
        let sum =
            |of: fn(&segue_world::drive::record::DriveHandoff) -> u32| record.handoffs.iter().map(of).sum();
        (sum(|handoff| handoff.lost), sum(|handoff| handoff.buffer_drops))
    };
    let bare = set(&[]).run(&scheme("newreno"));
    let (lost, dropped) = counts(&bare);
    assert!(lost >= 20 && dropped == 0, "{lost} {dropped}");
    for rule in ["previous-lcfd", "previous-fcfd", "new-lcfd", "new-fcfd"] {
        let kept = set(&[("router-buffer", rule)]).run(&scheme("newreno"));
        let (on_air, dropped) = counts(&kept);
        assert!(on_air < lost && dropped == 0, "{rule}: {on_air} of {lost}");
        assert!(kept.retransmissions < bare.retransmissions, "{rule}");
        let small = set(&[("router-buffer", rule), ("router-buffer-size", "1p")]).run(&scheme("newreno"));
        assert!(counts(&small).1 > 0, "{rule}");
    }
    // The scheme brings its rule along.
    let brought = set(&[]).run(&scheme("buffer-lcfd"));
    assert_eq!(brought, set(&[("router-buffer", "previous-lcfd")]).run(&scheme("newreno")));
    let filtered = set(&[]).run(&scheme("buffer-lcfd+phas"));
    assert!(filtered.retransmissions <= brought.retransmissions);
}

/// As many users as [`Surge`] takes, each with a timer at either end.
#[test]
fn ten_thousand_users_have_their_timers() {
    let web = Some(Surge { users: 10_000, ..Surge::default() });
    let e = DriveExperiment { web, ..experiment(drive(3 * SECOND, &[(0, 3 * SECOND, 2000, 20)])) };
    assert!(!e.run(&scheme("newreno")).web.is_empty());
}
