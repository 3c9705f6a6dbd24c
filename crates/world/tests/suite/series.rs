//! Several handoffs in one run: to the new link, back, and so on.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;
use segue_tcp::profile::{LINUX_6_12, PROFILES};
use segue_world::{
    Experiment, Kind, NoticeMode, Overlap, Routers, RunRecord, Series, SoftWord, Traffic, WarmRun,
};

fn series(e: &Experiment, at: Nanos, name: &str, handoffs: u32, every: Nanos) -> Vec<RunRecord> {
    let scheme = scheme(name);
    let mut warm = WarmRun::new(e.clone());
    warm.follow([&scheme]);
    warm.fork(at).complete().run_series(&scheme, Series { handoffs, every }, &|| ())
}

const NAMES: [&str; 10] = [
    "sack",
    "etcp-v1",
    "etcp",
    "tcp-ho",
    "freeze",
    "mobile",
    "newreno",
    "near",
    "buffer-fcfd+phas",
    "buffer-lcfd",
];

/// The routers hold packets by this rule, whoever sends.
fn held(rule: &str, more: &[(&str, &str)]) -> Routers {
    let mut routers = Routers::default();
    for (key, value) in [("router-buffer", rule)].iter().chain(more) {
        routers.set(key, value).expect("a setting").expect("a value");
    }
    routers
}

/// Later events change nothing of the first handoff, whose transfer has ended, nor do more handoffs change those
/// before them.
#[test]
fn earlier_handoffs_are_what_they_are_without_later_ones() {
    let soft = |way| Kind::Soft(Overlap { length: 400 * MS, way });
    let both = [soft(SoftWord::Duplicate), soft(SoftWord::Split), Kind::PingPong(300 * MS)];
    for kind in [Kind::Mbb, Kind::Bbm(700 * MS)].into_iter().chain(both) {
        for name in NAMES {
            let e = Experiment { kind, flows: 2, ..experiment("6400kbit/9ms", "1600kbit/75ms") };
            let three = series(&e, 3 * SECOND, name, 3, 30 * SECOND);
            assert_eq!(three.len(), 3);
            assert_eq!(three[0], run(&e, 3 * SECOND, &scheme(name)), "{name}");
            assert_eq!(three[..2], series(&e, 3 * SECOND, name, 2, 30 * SECOND), "{name}");
        }
    }
}

/// A regular sender fills a link of a queue as long as its bandwidth-delay product. So the last handoff brings it to
/// the link of the first, where the next 100 packets take what the link needs for them.
#[test]
fn the_mobile_goes_to_and_fro() {
    let e = Experiment { flows: 1, ..experiment("8mbit/10ms", "400kbit/10ms") };
    let records = series(&e, 5 * SECOND, "sack", 4, 40 * SECOND);
    let packet = 8 * u64::from(e.stack.data_bytes()) * SECOND;
    for (index, record) in records.iter().enumerate() {
        let rate = if index % 2 == 0 { 400_000 } else { 8_000_000 };
        assert_eq!(record.at, (5 + 40 * index as u64) * SECOND);
        assert_eq!(record.completion, record.at);
        let transfer = record.transfer.expect("an end");
        // By the bound the new link carries 100 packets; the slow one takes 20 times as long.
        assert!(transfer >= 100 * packet / rate, "{index}: {transfer}");
        assert!(rate == 400_000 || transfer < 100 * packet / 400_000, "{index}: {transfer}");
        assert_eq!(record.link_time.total(), transfer);
    }
}

/// A transfer that has not ended when the next handoff begins is incomplete. The last one has its time.
#[test]
fn the_next_handoff_ends_the_record() {
    let e = experiment("6400kbit/9ms", "200kbit/300ms");
    let [first, second] = &series(&e, 3 * SECOND, "sack", 2, SECOND)[..] else { panic!("two handoffs") };
    assert_eq!((first.transfer, first.link_time.total()), (None, SECOND));
    assert!(second.transfer.is_some());
}

/// A scheme that reads a schedule acts for the next handoff when its flag rises, not before. A transfer that is done by
/// then is complete.
#[test]
fn a_schedule_ends_the_record_when_the_flag_rises() {
    let e = Experiment { stack: LINUX_6_12, ..experiment("8mbit/10ms", "6400kbit/9ms") };
    let [first, _] = &series(&e, 3 * SECOND, "satcp", 2, 1500 * MS)[..] else { panic!("two handoffs") };
    let alone = run(&e, 3 * SECOND, &scheme("satcp"));
    // It takes more than the half second in which a schedule that errs most might want the flag.
    assert!(alone.transfer.is_some_and(|took| (100 * MS..SECOND).contains(&took)), "{:?}", alone.transfer);
    assert_eq!(first.transfer, alone.transfer);
}

/// The mobile is back on a slow link that still carries what was sent before it left: that time counts as useful.
#[test]
fn what_the_link_still_carries_is_accounted_for() {
    let e = Experiment { packets: 40, flows: 2, ..experiment("5054kbit/192ms", "200kbit/1ms") };
    for record in series(&e, 4384 * MS, "sack", 4, 2100 * MS) {
        if let Some(transfer) = record.transfer {
            assert_eq!(record.link_time.total(), transfer);
        }
    }
}

/// A late notice of the first handoff is told before what is done for the second.
#[test]
fn a_late_notice_is_still_told() {
    let late = Experiment { notice_delay: 900 * MS, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let never = Experiment { notice: NoticeMode::Withheld, ..late.clone() };
    let [told, untold] = [late, never].map(|e| series(&e, 3 * SECOND, "etcp-v1", 2, SECOND));
    assert_eq!(told[0].transfer, untold[0].transfer);
    assert_ne!(told[1].senders_at, untold[1].senders_at);
}

/// Each link has random numbers of its own, and new ones when it is laid anew.
#[test]
fn weather_does_not_come_again() {
    let link_ids = |kind: Kind| {
        let mut e = Experiment { kind, ..experiment("2mbit/20ms", "1mbit/30ms") };
        let mut link_ids = Vec::new();
        for _ in 0..4 {
            link_ids.push((e.old.text.clone(), e.link_seed(0).link, e.link_seed(1).link));
            e = e.following();
        }
        link_ids
    };
    let [a, b] = ["2mbit/20ms", "1mbit/30ms"].map(String::from);
    let of = |links: [(u64, u64); 4]| -> Vec<_> {
        links.iter().enumerate().map(|(n, &(old, new))| ([&a, &b][n % 2].clone(), old, new)).collect()
    };
    // Make-before-break: the links stay. Break-before-make: the mobile comes back to a link that was laid anew.
    assert_eq!(link_ids(Kind::Mbb), of([(1, 2), (2, 1), (1, 2), (2, 1)]));
    assert_eq!(link_ids(Kind::Bbm(SECOND)), of([(1, 2), (2, 3), (3, 4), (4, 5)]));
    assert_eq!(link_ids(Kind::Soft(Overlap::default())), link_ids(Kind::Mbb));
    // Each ping-pong goes from the same link to the same other.
    let again = (a.clone(), 1, 2);
    assert_eq!(link_ids(Kind::PingPong(SECOND)), [&again, &again, &again, &again].map(Clone::clone));
}

/// An overlap that ends when it begins leaves handoffs that are make-before-break, to and fro.
#[test]
fn soft_handoffs_without_time_for_it_are_make_before_break() {
    for way in [SoftWord::Duplicate, SoftWord::Split] {
        for name in ["sack", "etcp-v1", "near", "mobile"] {
            let e = |kind| Experiment { kind, flows: 2, ..experiment("6400kbit/9ms", "1600kbit/75ms") };
            let smooth = series(&e(Kind::Mbb), 4_321 * MS + 7, name, 4, 3 * SECOND);
            let over =
                series(&e(Kind::Soft(Overlap { length: 1, way })), 4_321 * MS + 7, name, 4, 3 * SECOND);
            for (over, smooth) in over.into_iter().zip(smooth) {
                assert!(over.bound <= smooth.bound, "{name}, {way}: {} {}", over.bound, smooth.bound);
                let RunRecord { bound, bound_told, .. } = smooth;
                assert_eq!(RunRecord { bound, bound_told, ..over }, smooth, "{name}, {way}");
            }
        }
    }
}

/// Nothing is lost, so that with a copy over each link nothing is sent again, whichever way the mobile goes. Copies of
/// an earlier overlap that come late are no duplicates either.
#[test]
fn copies_of_all_overlaps_are_told_apart() {
    let stack = StackProfile { receive_window: 8, ..StackProfile::named("ns2-sack1").expect("a stack") };
    let kind = Kind::Soft(Overlap { length: SECOND, way: SoftWord::Duplicate });
    let e = Experiment { kind, stack, packets: 400, ..experiment("2mbit/20ms", "2mbit/30ms") };
    for every in [1_010 * MS, 4 * SECOND] {
        for record in series(&e, 2 * SECOND, "sack", 5, every) {
            let sent_again = (record.retransmissions, record.timeouts.len(), record.drops);
            assert_eq!(sent_again, (0, 0, 0), "at {}", record.at);
        }
    }
}

/// Each ping-pong of a run brings the mobile to the slow link for its stay, and back. When no packets are left from
/// before, the link's own time is what the mobile is there.
#[test]
fn each_ping_pong_begins_at_the_same_link() {
    let kind = Kind::PingPong(2 * SECOND);
    let e = Experiment { kind, packets: 2_000, ..experiment("8mbit/10ms", "400kbit/10ms") };
    let records = series(&e, 5 * SECOND, "sack", 3, 30 * SECOND);
    for record in &records {
        let transfer = record.transfer.expect("an end");
        // 2000 packets take 3 s of the fast link, and 60 s of the slow one.
        assert!((3 * SECOND..15 * SECOND).contains(&transfer), "{transfer}");
        assert_eq!(record.link_time.total(), transfer);
        assert!(record.link_time.useful < 3 * SECOND, "{:?}", record.link_time);
    }
}

/// With a window of 8 packets, and room for all, a sender never has more under way than links and buffers take. Only packets
/// on the air at each break are lost; with a hint in time not even that. The outage is shorter than the RTO.
/// So after every handoff, to and fro, routers with buffers leave nothing to send again but what was on the air.
#[test]
fn routers_hold_packets_at_every_handoff() {
    let mut stack =
        StackProfile { receive_window: 8, ..StackProfile::named("ns2-newreno").expect("a stack") };
    stack.rto.min = 2 * SECOND;
    let kind = Kind::Bbm(300 * MS);
    let bare = Experiment { kind, stack, packets: 100, ..experiment("2mbit/20ms", "2mbit/30ms") };
    let lost = |routers: Routers| -> Vec<u32> {
        let records = series(&Experiment { routers, ..bare.clone() }, 3 * SECOND, "newreno", 5, 4 * SECOND);
        for record in &records {
            assert_eq!((record.buffer_drops, record.drops), (0, 0), "at {}", record.at);
            assert!(record.transfer.is_some_and(|transfer| transfer >= record.bound), "at {}", record.at);
        }
        records.iter().map(|record| record.lost_in_disconnection).collect()
    };
    let bare = lost(Routers::default());
    assert!(bare.iter().all(|&packets| packets > 0), "{bare:?}");
    for overflow in ["fcfd", "lcfd"] {
        let previous = lost(held(&format!("previous-{overflow}"), &[]));
        // A packet takes 6 ms, so that a window is on the air for the most part.
        assert!(previous.iter().sum::<u32>() < bare.iter().sum(), "{previous:?} {bare:?}");
        let new = lost(held(&format!("new-{overflow}"), &[("handoff-hint", "200ms")]));
        assert_eq!(new, [0; 5], "{overflow}");
    }
}

/// The new router holds all in time, so that nothing is lost. Yet the mobile leaves the slow link before its router
/// has sent what it held: a window of 40 packets takes 2.4 s there. They follow the mobile.
#[test]
fn what_a_router_still_holds_follows_the_mobile() {
    let mut stack =
        StackProfile { receive_window: 40, ..StackProfile::named("ns2-newreno").expect("a stack") };
    stack.rto.min = 100 * SECOND;
    let routers = held("new-lcfd", &[("handoff-hint", "300ms")]);
    let kind = Kind::Bbm(100 * MS);
    let links = experiment("2mbit/20ms,queue=100p", "200kbit/20ms,queue=100p");
    let e = Experiment { kind, stack, packets: 400, routers, ..links };
    let records = series(&e, 3 * SECOND, "newreno", 6, SECOND);
    for record in &records {
        let RunRecord { lost_in_disconnection, buffer_drops, retransmissions, .. } = record;
        assert_eq!((lost_in_disconnection, buffer_drops, retransmissions), (&0, &0, &0), "at {}", record.at);
        assert!(record.timeouts.is_empty(), "at {}", record.at);
    }
    assert!(records.last().is_some_and(|last| last.transfer.is_some()));
}

/// Routers that hold packets do so for the first handoff as if there were no other.
#[test]
fn the_first_handoff_with_buffers_is_what_it_is_alone() {
    for rule in ["previous-fcfd", "previous-lcfd", "new-fcfd", "new-lcfd"] {
        for name in ["sack", "etcp-v1", "freeze", "mobile"] {
            let kind = Kind::Bbm(700 * MS);
            let routers = held(rule, &[]);
            let e = Experiment { kind, flows: 2, routers, ..experiment("6400kbit/9ms", "1600kbit/75ms") };
            let three = series(&e, 3 * SECOND, name, 3, 30 * SECOND);
            assert_eq!(three[0], run(&e, 3 * SECOND, &scheme(name)), "{rule} {name}");
            assert_eq!(three[..2], series(&e, 3 * SECOND, name, 2, 30 * SECOND), "{rule} {name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No sender beats the bounds, and the new link's time adds up, however soon the mobile comes back.
    #[test]
    fn bounds_hold_for_every_handoff(
        rates in (200_u64..8000, 200_u64..8000), delays in (1_u64..200, 1_u64..200), flows in 1_usize..4,
        outage in prop_oneof![Just(0), 10..2000_u64], other in 0..6_u8, every in 2100_u64..9000, at in 200_u64..6000,
        name in prop::sample::select(&NAMES[..]), stack in 0..PROFILES.len(), in_band in any::<bool>(),
        upload in any::<bool>(),
        words in prop::sample::select(vec!["", ",loss=1%", ",jitter=8ms", ",queue=fq_codel"]),
        rule in prop::sample::select(vec!["off", "previous-fcfd", "previous-lcfd", "new-fcfd", "new-lcfd"]),
        (room, hint, tunnel) in (1_u32..60, 0_u32..1500, prop::sample::select(vec!["100mbit/2ms", "300kbit/40ms"])),
    ) {
        let soft = |way| Kind::Soft(Overlap { length: outage * MS, way });
        let kind = match (outage, other) {
            (0, _) => Kind::Mbb,
            (_, 0) => soft(SoftWord::Duplicate),
            (_, 1) => soft(SoftWord::Split),
            (_, 2) => Kind::PingPong(outage * MS),
            _ => Kind::Bbm(outage * MS),
        };
        let upload = other % 2 == 0 && upload;
        let in_band = in_band && !upload;
        let traffic = upload.then(|| Traffic { upload, ..Traffic::default() });
        let every = if outage == 0 { every - 2050 } else { every };
        let notice = if in_band { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant };
        let [old, new] = [(rates.0, delays.0), (rates.1, delays.1)]
            .map(|(rate, delay)| format!("{rate}kbit/{delay}ms{words}"));
        let stack = PROFILES[stack];
        let (room, hint) = (format!("{room}p"), format!("{hint}ms"));
        let routers = held(rule, &[("router-buffer-size", &room), ("handoff-hint", &hint), ("tunnel", tunnel)]);
        let e = Experiment { kind, flows, notice, stack, traffic, packets: 40, routers, ..experiment(&old, &new) };
        for (index, record) in series(&e, at * MS, name, 4, every * MS).iter().enumerate() {
            prop_assert_eq!(record.at, (at + every * index as u64) * MS);
            prop_assert!(record.bound <= record.bound_told);
            if let Some(transfer) = record.transfer {
                prop_assert!(transfer >= record.bound, "{}: {} < {}", index, transfer, record.bound);
                prop_assert_eq!(record.link_time.total(), transfer, "{}", index);
            }
        }
    }
}
