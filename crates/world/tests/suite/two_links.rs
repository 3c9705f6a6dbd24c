//! Handoffs in which both links carry new packets: soft ones, and those with a return.

use crate::support::*;
use proptest::prelude::*;
use segue_handoff::Occasion;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;
use segue_tcp::profile::PROFILES;
use segue_world::trace::{Side, Trace, What, trace};
use segue_world::traffic::Application;
use segue_world::{Definition, Experiment, Kind, NoticeMode, Overlap, RunRecord, SoftWord, Traffic, WarmRun};

fn soft(length: Nanos, way: SoftWord) -> Kind {
    Kind::Soft(Overlap { length, way })
}

/// Packets of data that access links took in: which link, when, which transmission.
fn taken(trace: &Trace) -> Vec<(Side, Nanos, u32)> {
    let queued = trace.events.iter().filter_map(|event| match &event.what {
        What::Queued { side, packet, .. } if packet.data => Some((*side, event.at, packet.copy)),
        _ => None,
    });
    queued.collect()
}

fn traced(e: &Experiment, at: Nanos, name: &str) -> Trace {
    trace(e, at, &[&scheme(name)]).remove(0)
}

/// A stack whose window no queue here overflows.
fn narrow() -> StackProfile {
    StackProfile { receive_window: 8, ..StackProfile::named("ns2-sack1").expect("a stack") }
}

/// An overlap that ends when it begins leaves a make-before-break handoff, whatever becomes of packets.
#[test]
fn without_time_for_it_a_soft_handoff_is_make_before_break() {
    for way in [SoftWord::Duplicate, SoftWord::Split] {
        for (old, new) in [("6400kbit/9ms", "200kbit/300ms"), ("400kbit/100ms", "8mbit/10ms")] {
            for name in ["sack", "etcp-v1", "near", "mobile"] {
                let e = |kind| Experiment { kind, flows: 2, ..experiment(old, new) };
                let smooth = run(&e(Kind::Mbb), 4_321 * MS + 7, &scheme(name));
                let over = run(&e(soft(1, way)), 4_321 * MS + 7, &scheme(name));
                // The bound grants the old link the two packets that pass the router meanwhile.
                let packet = 1500 * 8 * SECOND / e(Kind::Mbb).new.down.mean_rate();
                assert!((smooth.bound - 2 * packet..=smooth.bound).contains(&over.bound));
                let bounds = (smooth.bound, smooth.bound_told);
                let over = RunRecord { bound: bounds.0, bound_told: bounds.1, ..over };
                assert_eq!(over, smooth, "{name}, {way}");
            }
        }
    }
}

/// A return after the transfer changes nothing of it.
#[test]
fn a_late_return_is_none() {
    for name in ["sack", "etcp-v1", "near", "mobile"] {
        let e = |kind| Experiment { kind, ..experiment("6400kbit/9ms", "1mbit/30ms") };
        let stays = run(&e(Kind::Mbb), 3 * SECOND, &scheme(name));
        let returns = run(&e(Kind::PingPong(200 * SECOND)), 3 * SECOND, &scheme(name));
        assert!(stays.transfer.expect("an end") < 100 * SECOND);
        assert_eq!(returns, stays, "{name}");
    }
}

/// Each packet goes over both links as long as both carry, over the new one alone after that, and over the old one
/// alone before. The receiver sees one copy: nobody takes the other for a retransmission.
#[test]
fn packets_are_duplicated_while_both_links_carry() {
    let at = 2 * SECOND;
    let kind = soft(SECOND, SoftWord::Duplicate);
    let e = Experiment { kind, stack: narrow(), packets: 400, ..experiment("2mbit/20ms", "2mbit/30ms") };
    let trace = traced(&e, at, "sack");
    let (mut twice, mut after) = (0, 0);
    for &(side, time, copy) in &taken(&trace) {
        let other = |wanted| taken(&trace).iter().any(|&(side, _, number)| (side, number) == (wanted, copy));
        match side {
            // Packets that R had sent its way by then still come.
            Side::Old if time < at + 2 * MS => {}
            Side::Old => {
                assert!(time <= at + SECOND + 3 * MS && other(Side::New));
                twice += 1;
            }
            Side::New => after += u32::from(!other(Side::Old)),
        }
    }
    assert!(twice > 50 && after > 50, "{twice} twice, {after} once");
    assert_eq!((trace.record.retransmissions, trace.record.timeouts.len(), trace.record.drops), (0, 0, 0));
    // The old link is the faster: from T to the end of the overlap all copies of the new one come second.
    assert!(trace.record.link_time.needless > 100 * MS, "{:?}", trace.record.link_time);
}

/// A packet that one link loses comes by the other: with a copy on each nothing is sent again.
#[test]
fn a_copy_makes_good_the_loss_of_the_other() {
    let lossy = "2mbit/20ms,loss=20%";
    let again = |kind| {
        let e = Experiment { kind, stack: narrow(), packets: 200, ..experiment("2mbit/30ms", lossy) };
        run(&e, 2 * SECOND, &scheme("sack")).retransmissions
    };
    assert_eq!(again(soft(300 * SECOND, SoftWord::Duplicate)), 0);
    assert!(again(Kind::Mbb) > 10);
}

/// Split, links of 1 and 3 Mbit/s carry a quarter and three quarters of the bytes. The n-th packet leaves each as if it
/// had its rate, so that the counts differ from that by less than one packet.
#[test]
fn packets_are_split_by_the_rates() {
    let at = 2 * SECOND;
    let e = Experiment {
        kind: soft(300 * SECOND, SoftWord::Split),
        stack: narrow(),
        packets: 400,
        ..experiment("1mbit/20ms", "3mbit/20ms")
    };
    let trace = traced(&e, at, "sack");
    let since = taken(&trace).into_iter().filter(|&(_, time, _)| time > at + 3 * MS);
    let (old, new): (Vec<_>, Vec<_>) = since.partition(|&(side, ..)| side == Side::Old);
    assert!(new.len() > 200 && new.len().abs_diff(3 * old.len()) <= 6, "{} and {}", old.len(), new.len());
    assert!(new.iter().all(|(_, _, copy)| old.iter().all(|(_, _, other)| copy != other)));
}

/// A mobile that comes back after 800 ms uses the new link for so long, and is told of twice.
#[test]
fn a_mobile_comes_back() {
    let (at, stay) = (3 * SECOND, 800 * MS);
    for notice in [NoticeMode::Instant, NoticeMode::InBand { lost: 0 }] {
        let e = Experiment {
            kind: Kind::PingPong(stay),
            notice,
            packets: 600,
            ..experiment("2mbit/20ms", "1mbit/50ms")
        };
        let trace = traced(&e, at, "etcp-v1");
        for (side, time, _) in taken(&trace) {
            let (left, back) = (at + 3 * MS, at + stay + 3 * MS);
            match side {
                Side::Old => assert!(time < left || time > at + stay, "{time}"),
                Side::New => assert!(time > at && time < back, "{time}"),
            }
        }
        let told = trace.events.iter().filter_map(|event| match &event.what {
            What::Decided { decision, .. } => match &decision.occasion {
                Occasion::Notice(notice) => Some((event.at, notice.new_link.rate_kbps)),
                _ => None,
            },
            _ => None,
        });
        let told: Vec<_> = told.collect();
        let [(first, 1000), (second, 2000)] = told[..] else { panic!("{told:?}") };
        assert!((at..at + stay).contains(&first) && second >= at + stay);
        assert_eq!(trace.record.link_time.total(), trace.record.transfer.expect("an end"));
    }
}

/// Nothing is under way at the start. Two links of 1 Mbit/s take 12 ms for a packet, so that 50 rounds bring 99
/// packets. They take 4 ms to the links, 600 ms, 10 ms, 24 us on the last hop. The ACK of 40 bytes takes 0.64 us,
/// 320 us, 10 ms and twice 2.0032 ms.
#[test]
fn two_links_halve_the_bound() {
    let bound =
        |kind, old| run(&Experiment { kind, ..experiment(old, "1mbit/10ms") }, 0, &scheme("sack")).bound;
    let way_back = 640 + 320_000 + 10 * MS + 2 * 2_003_200;
    let by = |carried: Nanos| 4 * MS + carried + 10 * MS + 24_000 + way_back;
    assert_eq!(bound(Kind::Mbb, "1mbit/10ms"), by(99 * 12 * MS));
    for way in [SoftWord::Duplicate, SoftWord::Split] {
        assert_eq!(bound(soft(300 * SECOND, way), "1mbit/10ms"), by(50 * 12 * MS));
    }
    // Back after 240 ms. By then the new link has sent 19 packets. A packet is on its way to it for 2.24 ms at most,
    // and 5 can wait beside the one that is being sent. So it brings 25. The old link, 2 ms later, brings the other 74,
    // one each 2.4 ms. Their ACK goes over the old link.
    let back = bound(Kind::PingPong(240 * MS), "5mbit/10ms");
    assert_eq!(back, 242 * MS + 74 * 2_400_000 + 10 * MS + 24_000 + 640 + 64_000 + 10 * MS + 2 * 2_003_200);
}

/// Where the two ways part, a router sends an ACK over the link that carries by then. It is not the one that carried
/// when the server sent it. The packet takes 12 ms, 10 ms and twice 2.12 ms, and is at the server after 26.24 ms. Its
/// ACK is at the router 2.0032 ms later, after the return at 27 ms. On the old link it takes 2.0032 ms, 64 us and
/// 10 ms, and 640 ns on the last hop.
#[test]
fn an_ack_goes_back_over_the_link_that_carries_when_it_is_at_the_router() {
    let traffic = Some(Traffic { upload: true, ..Traffic::default() });
    let e = Experiment {
        kind: Kind::PingPong(27 * MS),
        traffic: traffic.clone(),
        packets: 2, // the first is the SYN's number
        ..experiment("5mbit/10ms", "1mbit/10ms")
    };
    let bound = run(&e, 0, &scheme("sack")).bound;
    assert_eq!(bound, 26_240_000 + 2 * 2_003_200 + 64_000 + 10 * MS + 640);

    // A run that does this.
    let e = Experiment {
        kind: Kind::PingPong(32 * MS),
        traffic,
        flows: 2,
        definition: Definition::AfterAck,
        stack: StackProfile::named("ns2-newreno").expect("a stack"),
        ..experiment("42366kbit/129ms", "200kbit/146ms")
    };
    let record = run(&e, 2_487 * MS, &scheme("sack"));
    let transfer = record.transfer.expect("an end");
    assert!(transfer >= record.bound, "{transfer} beats {}", record.bound);
}

/// Words of links, most of them none.
fn any_link() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "",
        "",
        "",
        ",loss=2%",
        ",queue=codel",
        ",queue=fq_codel,20p",
        ",queue=pie",
        ",jitter=8ms,reorder=2%",
        ",arq=10%/8ms",
        ",vary=walk(40%)",
        ",shape=300kbit/6kB",
        ",police=500kbit/30kB",
        ",up=100kbit",
        ",queue=3p",
        ",aggregate=16/200us",
        ",grant=10ms/4ms",
        ",queue=1000p",
    ]);
    (2.3f64..4.7, 1u32..=250, words)
        .prop_map(|(decade, delay, words)| format!("{}kbit/{delay}ms{words}", 10f64.powf(decade).round()))
}

fn any_kind() -> impl Strategy<Value = Kind> {
    let way = prop_oneof![Just(SoftWord::Duplicate), Just(SoftWord::Split)];
    prop_oneof![
        (1u64..=3000, way).prop_map(|(length, way)| soft(length * MS, way)),
        (1u64..=3000).prop_map(|stay| Kind::PingPong(stay * MS)),
    ]
}

/// Downloads; the same beside others; uploads.
fn any_traffic() -> impl Strategy<Value = Option<Traffic>> {
    let beside = Traffic {
        download: true,
        upload: true,
        applications: vec![Application::Video { rate: 500_000, fps: 30 }],
    };
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(beside)),
        1 => Just(Some(Traffic { upload: true, ..Traffic::default() })),
    ]
}

fn any_experiment() -> impl Strategy<Value = Experiment> {
    let notice = prop_oneof![
        2 => (0u64..400).prop_map(|delay| (NoticeMode::Instant, delay * MS)),
        1 => Just((NoticeMode::InBand { lost: 0 }, 0)),
    ];
    let how = (any_kind(), notice, any_traffic(), 1usize..=3, any::<bool>(), 1u64..=3);
    (any_link(), any_link(), how, 0..PROFILES.len()).prop_map(|(old, new, how, stack)| {
        let (kind, (notice, notice_delay), traffic, flows, after_ack, seed) = how;
        let upward = traffic.as_ref().is_some_and(Traffic::is_upward);
        let notice = if upward { NoticeMode::Instant } else { notice };
        let definition = if after_ack { Definition::AfterAck } else { Definition::AfterHighest };
        let notice_delay = if notice == NoticeMode::Instant { notice_delay } else { 0 };
        let stack = PROFILES[stack];
        Experiment {
            kind,
            notice,
            notice_delay,
            traffic,
            flows,
            definition,
            seed,
            stack,
            ..experiment(&old, &new)
        }
    })
}

proptest! {
    #![proptest_config(cases(2))]

    /// No run beats its bounds, and the new link's time adds up.
    #[test]
    fn no_scheme_beats_the_bound(experiment in any_experiment(), at in 200u64..=8_000) {
        let handoff = WarmRun::new(experiment.clone()).fork(at * MS).complete();
        let upward = experiment.traffic.as_ref().is_some_and(|traffic| traffic.upload);
        // The mobile's own schemes act where it receives.
        let at_mobile = if upward { &[][..] } else { &["mobile", "mobile-window"] };
        for name in ["sack", "etcp-v1", "tcp-ho"].iter().chain(at_mobile) {
            let record = handoff.run(&scheme(name));
            let Some(time) = record.transfer else { continue };
            prop_assert!(time >= record.bound, "{}: {} beats {}", name, time, record.bound);
            prop_assert!(time >= record.bound_told, "{}: {} beats {}, told", name, time, record.bound_told);
            prop_assert_eq!(record.link_time.total(), time, "{}: {:?}", name, record.link_time);
        }
    }

    /// A run that was forked is the run from the beginning.
    #[test]
    fn a_fork_is_the_run(experiment in any_experiment()) {
        let run = |warm: &mut WarmRun, at| warm.fork(at * MS).complete().run(&scheme("etcp-v1"));
        let alone = run(&mut WarmRun::new(experiment.clone()), 3_000);
        let mut shared = WarmRun::new(experiment.clone());
        run(&mut shared, 1_000);
        prop_assert_eq!(&run(&mut shared, 3_000), &alone);
    }
}

/// A mobile tells bounded windows by the link that it has left, in ACKs of what that link brings (mobile.md, 2.7).
#[test]
fn acks_by_the_link_that_was_left_beat_no_bound() {
    for (old, new) in [("100mbit/4ms", "5mbit/280ms"), ("5mbit/280ms", "100mbit/4ms")] {
        for (stay, at) in [(1_000, 300), (1_000, 10_200), (30, 2_000), (290, 5_000), (600, 5_000)] {
            let definition = Definition::AfterAck;
            let e = Experiment { kind: Kind::PingPong(stay * MS), definition, ..experiment(old, new) };
            for name in ["mobile", "mobile-window", "sack"] {
                let record = run(&e, at * MS, &scheme(name));
                let time = record.transfer.expect("an end");
                assert!(time >= record.bound, "{old} {stay} {at} {name}: {time} beats {}", record.bound);
                assert!(time >= record.bound_told, "{old} {stay} {at} {name}: {time}, told");
            }
        }
    }
}

/// A second copy that came over the new link has taken its time, in both directions of data.
#[test]
fn second_copies_take_their_time() {
    for upload in [false, true] {
        let traffic = Some(Traffic { upload, download: !upload, ..Traffic::default() });
        let e = Experiment {
            kind: soft(15 * MS, SoftWord::Duplicate),
            traffic,
            ..experiment("2218kbit/1ms", "200kbit/1ms")
        };
        let record = run(&e, 200 * MS, &scheme("sack"));
        assert_eq!(record.link_time.total(), record.transfer.expect("an end"));
        assert!(record.link_time.needless > 0);
    }
}
