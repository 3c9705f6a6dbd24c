//! Traffic of the mobile's user during handoffs: uploads, applications, and the measures of each class.

use crate::support::{MS, cases, experiment, link, run, scheme};
use proptest::prelude::*;
use segue_tcp::StackProfile;
use segue_tcp::profile::PROFILES;
use segue_world::neighbours::COUNTED;
use segue_world::traffic::{Application, Class, ClassRecord};
use segue_world::{
    Definition, Experiment, Kind, Nanos, Neighbours, NoticeMode, RunRecord, SECOND, Series, Traffic, WarmRun,
};

fn downloads() -> Traffic {
    Traffic { download: true, ..Traffic::default() }
}

fn uploads() -> Traffic {
    Traffic { upload: true, ..Traffic::default() }
}

fn with(traffic: Traffic, e: Experiment) -> Experiment {
    let flows = if traffic.has_bulk() { e.flows } else { 0 };
    Experiment { traffic: Some(traffic), flows, ..e }
}

fn class(record: &RunRecord, class: Class) -> &ClassRecord {
    record.traffic.iter().find(|other| other.class == class).expect("the class is measured")
}

/// Time of a full packet of ns2-sack1 at so many kbit/s.
fn packet(kbps: u64) -> Nanos {
    1500 * 8 * MS / kbps
}

/// Measuring changes nothing.
#[test]
fn a_measured_download_is_the_same_download() {
    for kind in [Kind::Mbb, Kind::Bbm(700 * MS)] {
        let plain = Experiment { kind, flows: 2, ..experiment("2mbit/20ms", "1mbit/50ms") };
        let unmeasured = run(&plain, 3 * SECOND, &scheme("etcp-v1"));
        let mut measured = run(&with(downloads(), plain), 3 * SECOND, &scheme("etcp-v1"));
        let [download] = &std::mem::take(&mut measured.traffic)[..] else { panic!("one class") };
        // Link time tells nothing of others, who are not there.
        assert_eq!(measured, unmeasured);
        assert_eq!(download.times, [measured.transfer]);
        // The least that a packet can take: two wired hops, the link, the last hop.
        assert!(download.delays.quantile(0.0).expect("packets") >= 0.054);
        if let Kind::Bbm(gap) = kind {
            assert!(download.stalled >= gap, "{}", download.stalled);
        }
    }
}

/// The way up is the way down with its ends exchanged. On an idle link a window of one packet needs a round trip of
/// both links' delays and all hops for each.
#[test]
fn an_upload_takes_the_round_trips_that_physics_needs() {
    let slow = "4mbit/20ms,up=400kbit/30ms";
    let mut stack = StackProfile::named("ns2-sack1").unwrap();
    stack.receive_window = 1;
    let e = Experiment {
        definition: Definition::AfterAck,
        packets: 3,
        stack,
        ..with(uploads(), experiment(slow, slow))
    };
    let record = run(&e, 5 * SECOND, &scheme("sack"));
    // Per packet: 30 ms at 400 kbit/s and 30 ms up, 4 ms wired each way, and 100 ms of a delayed ACK. The ACK takes
    // 20 ms and 80 us down. The other hops take the rest.
    let wired = 2 * (1500 * 8 * 10 + 40 * 8 * 10);
    let last = (1500 + 40) * 8 * 2;
    let round = packet(400) + 30 * MS + 2 * 4 * MS + 100 * MS + 20 * MS + 40 * 8 * MS / 4000 + wired + last;
    let took = record.transfer.expect("complete");
    // Part of the first round trip had passed at completion.
    assert!(took > 2 * round && took <= 3 * round, "{took} {round}");
    assert_eq!(class(&record, Class::Upload).times, [Some(took)]);
    assert_eq!(record.link_time.total(), took);
    // Three packets carried 40 bytes of acknowledgement each the other way: the link carried data for three of them.
    assert!(record.link_time.useful >= 2 * packet(400) && record.link_time.useful <= 3 * packet(400));
}

/// The bound for uploads by hand: at time zero nothing has been sent. The SYN is for nothing, 99 packets go over the
/// new link from then on. The last has two wired hops behind it, and its ACK comes down.
#[test]
fn the_bound_of_an_upload_is_the_time_of_its_packets() {
    let e = Experiment {
        definition: Definition::AfterAck,
        ..with(uploads(), experiment("6400kbit/9ms", "10mbit/7ms,up=800kbit/40ms"))
    };
    let record = run(&e, 0, &scheme("etcp-v1"));
    let ack = 40 * 8 * MS / 10_000 + 7 * MS + 2 * (2 * MS + 40 * 80) + 40 * 16;
    let bound = 99 * packet(800) + 40 * MS + 2 * (2 * MS + 1500 * 80) + ack;
    assert_eq!(record.bound, bound);
    assert!(record.transfer.is_some_and(|took| took >= bound));
}

/// A call on links with room for it. While there is no link nothing comes, and what was made then comes late. A frame
/// is late if it waits for more than 100 ms beyond its time.
#[test]
fn an_outage_makes_frames_late() {
    let video = Application::Video { rate: 500_000, fps: 25 };
    let call = || Traffic { applications: vec![video], ..Traffic::default() };
    let of = |kind| {
        let e = Experiment { kind, ..experiment("10mbit/20ms", "10mbit/20ms") };
        run(&with(call(), e), 5 * SECOND, &scheme("sack"))
    };
    let smooth = of(Kind::Mbb);
    let frames = class(&smooth, Class::Video);
    assert_eq!((frames.late, frames.stalled), (0, 0));
    // 25 frames a second for 10 s, and the one or two on their way at T.
    assert!((250..=252).contains(&frames.times.len()), "{}", frames.times.len());
    // 2500 bytes are two packets: 24 ms of delays and hops, 1.2 ms each on the link.
    assert!(frames.times.iter().flatten().all(|&time| time >= 24 * MS + 2 * packet(10_000)));
    assert!(frames.times.iter().flatten().all(|&time| time <= 30 * MS));

    let broken = of(Kind::Bbm(SECOND));
    let frames = class(&broken, Class::Video);
    // Those of the first 900 ms without a link, and on regular TCP some after it.
    assert!(frames.late >= 22, "{}", frames.late);
    assert!(frames.stalled >= SECOND, "{}", frames.stalled);
    assert!(broken.transfer.is_some_and(|time| time >= 24 * MS), "{:?}", broken.transfer);
    let notified = {
        let e = Experiment { kind: Kind::Bbm(SECOND), ..experiment("10mbit/20ms", "10mbit/20ms") };
        run(&with(call(), e), 5 * SECOND, &scheme("etcp-v1"))
    };
    // Its sender does not wait for a timer. It needs a round trip, in which frames come late.
    assert!(class(&notified, Class::Video).late <= frames.late);
    assert!(class(&notified, Class::Video).stalled <= SECOND + 200 * MS);
}

/// Responses follow each other by their round trips and pauses.
#[test]
fn responses_wait_for_each_other() {
    let request = Application::Request { bytes: 1460, pause: 100 * MS };
    let traffic = Traffic { applications: vec![request], ..Traffic::default() };
    let record = run(&with(traffic, experiment("10mbit/20ms", "10mbit/20ms")), 5 * SECOND, &scheme("sack"));
    let responses = class(&record, Class::Request);
    // One packet of 1500 bytes: 24 ms, 1.2 ms on the link, and the other hops. ACKs need the same way back, and may
    // be delayed by up to 200 ms.
    let one = 24 * MS + packet(10_000);
    assert!(responses.times.iter().all(|time| time.is_some_and(|time| time >= one && time < one + MS)));
    let (least, most) = (10_000 / (100 + 50 + 201), 10_000 / (100 + 49) + 1);
    assert!((least..=most).contains(&(responses.times.len() as u64)), "{}", responses.times.len());
    assert_eq!(responses.late, 0);
}

/// Uploads beside downloads: both are measured, and neither beats what its own direction needs.
#[test]
fn both_directions_are_measured() {
    let both = Traffic { upload: true, ..downloads() };
    let page = Traffic { applications: vec![Application::Page], ..both.clone() };
    for traffic in [both, page] {
        let e = Experiment { kind: Kind::Bbm(SECOND), ..experiment("4mbit/20ms", "2mbit/30ms,up=500kbit") };
        let record = run(&with(traffic.clone(), e), 4 * SECOND, &scheme("etcp-v1"));
        assert_eq!(record.traffic.iter().map(|class| class.class).collect::<Vec<_>>(), traffic.classes());
        let [Some(upload)] = class(&record, Class::Upload).times[..] else { panic!("one upload") };
        assert!(upload >= 100 * packet(500), "{upload}");
        assert_eq!(class(&record, Class::Download).times, [record.transfer]);
        assert!(record.transfer.is_some_and(|took| took >= record.bound));
        assert_eq!(Some(record.link_time.total()), record.transfer);
    }
}

/// Two neighbours on each link, beside every class of the user's traffic. A long download then has a third of its link
/// or less, and a call's packets wait behind others. The neighbours are those of a mobile that does nothing else.
#[test]
fn neighbours_share_the_link_with_every_class() {
    let video = Application::Video { rate: 300_000, fps: 30 };
    let all = Traffic { upload: true, applications: vec![video], ..downloads() };
    let e = with(all.clone(), experiment("4mbit/20ms", "2mbit/30ms"));
    let two = Neighbours { count: 2, stack: e.stack, counted: COUNTED };
    let beside = Experiment { neighbours: Some(two), ..e.clone() };
    let (alone, shared) = (run(&e, 2 * SECOND, &scheme("sack")), run(&beside, 2 * SECOND, &scheme("sack")));
    assert_eq!(shared.traffic.iter().map(|class| class.class).collect::<Vec<_>>(), all.classes());
    assert!(alone.neighbours.is_none());
    assert!(shared.neighbours.as_ref().is_some_and(|all| all.bytes > 0 && all.undisturbed > 0));
    assert!(shared.transfer > alone.transfer && shared.transfer.is_some_and(|took| took >= shared.bound));
    let wait = |record: &RunRecord| class(record, Class::Video).delays.quantile(0.5).expect("packets");
    assert!(wait(&shared) > wait(&alone), "{} {}", wait(&shared), wait(&alone));
    assert_eq!(Some(shared.link_time.total()), shared.transfer);
    assert!(shared.link_time.neighbours > 0);
    let mut warm = WarmRun::new(beside.clone());
    warm.fork(SECOND).complete().run(&scheme("etcp-v1"));
    assert_eq!(warm.fork(2 * SECOND).complete().run(&scheme("sack")), shared, "forks repeat");
}

/// Three handoffs, four seconds apart, then ten that count. Every frame of the call is counted once, by the handoff
/// that was the last when it was made. Each outage is a stall of its own handoff.
#[test]
fn handoffs_in_a_row_share_out_the_time() {
    let gap = 700 * MS;
    let video = Application::Video { rate: 300_000, fps: 25 };
    let traffic = Traffic { download: true, upload: true, applications: vec![video] };
    let e = with(traffic, Experiment { kind: Kind::Bbm(gap), ..experiment("10mbit/20ms", "8mbit/25ms") });
    let series = Series { handoffs: 3, every: 4 * SECOND };
    let handoff = WarmRun::new(e.clone()).fork(5 * SECOND).complete();
    for name in ["sack", "etcp-v1", "mobile", "freeze"] {
        let records = handoff.run_series(&scheme(name), series, &|| ());
        let frames = |record: &RunRecord| class(record, Class::Video).times.len();
        // Frames under way at T are the first handoff's.
        let queued = frames(&records[0]) as i64 - 100;
        assert!((-1..=25).contains(&queued), "{name}: {queued}");
        assert!((99..=101).contains(&frames(&records[1])), "{name}: {}", frames(&records[1]));
        let last = frames(&records[2]) as i64;
        assert!((last - 25 * 107 / 10).abs() <= 1, "{name}: {last}");
        for record in &records {
            for class in &record.traffic {
                assert!(class.stalled + 300 * MS >= gap, "{name} {:?}: {}", class.class, class.stalled);
            }
            assert_eq!(class(record, Class::Download).times, [record.transfer], "{name}");
            assert_eq!(class(record, Class::Upload).times.len(), 1, "{name}");
        }
        assert_eq!(handoff.run_series(&scheme(name), series, &|| ()), records, "{name} repeats");
    }
}

/// Measuring changes nothing, in a row neither; the last of them is followed until all has come.
#[test]
fn measured_handoffs_in_a_row_are_the_same_handoffs() {
    let series = Series { handoffs: 4, every: 3 * SECOND };
    for kind in [Kind::Mbb, Kind::Bbm(700 * MS)] {
        let plain = Experiment { kind, flows: 2, ..experiment("2mbit/20ms", "1mbit/50ms") };
        let of = |e: &Experiment| {
            WarmRun::new(e.clone()).fork(3 * SECOND).complete().run_series(&scheme("etcp-v1"), series, &|| ())
        };
        let (unmeasured, mut measured) = (of(&plain), of(&with(downloads(), plain.clone())));
        for record in &mut measured {
            let [download] = &std::mem::take(&mut record.traffic)[..] else { panic!("one class") };
            assert_eq!(download.times, [record.transfer]);
        }
        assert_eq!(measured, unmeasured);
    }
}

/// Without long transfers a handoff is over when every application goes on, for each handoff by itself.
#[test]
fn applications_go_on_after_each_of_several_handoffs() {
    let request = Application::Request { bytes: 1460, pause: 100 * MS };
    let traffic = Traffic { applications: vec![request], ..Traffic::default() };
    let e = with(traffic, experiment("10mbit/20ms", "10mbit/20ms"));
    let series = Series { handoffs: 3, every: 2 * SECOND };
    let handoff = WarmRun::new(e).fork(5 * SECOND).complete();
    for record in handoff.run_series(&scheme("sack"), series, &|| ()) {
        // A response takes 25 ms; the next is asked for a pause, a delayed ACK and a round trip later.
        assert!(record.transfer.is_some_and(|time| time <= 400 * MS), "{:?}", record.transfer);
        assert!(
            class(&record, Class::Request).times.iter().all(|time| time.is_some_and(|time| time < 100 * MS))
        );
    }
}

#[test]
fn seeds_and_forks_repeat() {
    let all = Traffic {
        download: true,
        upload: true,
        applications: vec![
            Application::Page,
            Application::Video { rate: 300_000, fps: 30 },
            Application::Request { bytes: 14_000, pause: 200 * MS },
        ],
    };
    let e = with(all, Experiment { flows: 2, ..experiment("4mbit/20ms", "2mbit/30ms") });
    let mut warm = WarmRun::new(e.clone());
    let first = warm.fork(2 * SECOND).complete().run(&scheme("etcp-v1"));
    let second = warm.fork(3 * SECOND).complete();
    assert_eq!(run(&e, 2 * SECOND, &scheme("etcp-v1")), first);
    assert_eq!(run(&e, 3 * SECOND, &scheme("sack")), second.run(&scheme("sack")));
    let other = run(&Experiment { seed: 2, ..e }, 2 * SECOND, &scheme("etcp-v1"));
    assert_ne!(other.traffic, first.traffic, "other pages, other starts");
}

proptest! {
    #![proptest_config(cases(4))]

    /// No sender at the mobile beats the bound, nor does the time of the new link get lost.
    #[test]
    fn no_upload_beats_its_bound(
        (old, new) in ((2.0f64..4.0, 1u32..300), (2.0f64..4.0, 1u32..300)),
        (up, words) in (50u32..5000, prop::sample::select(vec!["", ",loss=2%", ",jitter=5ms", ",queue=codel", ",arq=10%/8ms"])),
        outage in prop::option::of(50u64..2_500),
        (at, flows, seed, packets) in (100u64..6_000, 1usize..=3, 1u64..1000, 1u32..120),
        (instant, after_ack) in (any::<bool>(), any::<bool>()),
        (stack, users) in (0..PROFILES.len(), 0u16..3),
        name in prop::sample::select(vec!["sack", "etcp-v1", "etcp", "tcp-ho"]),
    ) {
        let [old, new] = [old, new].map(|(decade, delay): (f64, u32)| {
            format!("{}kbit/{delay}ms,up={up}kbit{words}", 10f64.powf(decade).round())
        });
        let e = Experiment {
            old: link(&old),
            new: link(&new),
            kind: outage.map_or(Kind::Mbb, |outage| Kind::Bbm(outage * MS)),
            flows,
            seed,
            packets,
            stack: PROFILES[stack],
            neighbours: (users > 0).then_some(Neighbours { count: users, stack: PROFILES[stack], counted: COUNTED }),
            notice: if instant { NoticeMode::Instant } else { NoticeMode::Withheld },
            definition: if after_ack { Definition::AfterAck } else { Definition::AfterHighest },
            ..with(uploads(), experiment("wlan", "wlan"))
        };
        let record = run(&e, at * MS, &scheme(name));
        let length = record.transfer.unwrap_or(400 * SECOND);
        prop_assert!(length >= record.bound, "{name} beat the bound: {length} < {}", record.bound);
        prop_assert!(length >= record.bound_told, "{name} beat the bound told: {length} < {}", record.bound_told);
        prop_assert!(record.bound_told >= record.bound);
        prop_assert_eq!(record.link_time.total(), length);
        let [upload] = &record.traffic[..] else { panic!("one class") };
        prop_assert_eq!(&upload.times, &vec![record.transfer]);
    }
}
