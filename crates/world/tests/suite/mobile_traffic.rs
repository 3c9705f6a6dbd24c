//! Schemes that act at the mobile (docs/reference/mobile.md, Freeze-TCP) beside applications and uploads. They act for
//! all that the mobile receives, and for its own data as the agent does.

use crate::support::{Lot, MS, cases, experiment, run, scheme, scheme_with, stack};
use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_world::traffic::{Application, Class};
use segue_world::{Experiment, Kind, Nanos, NoticeMode, RunRecord, SECOND, Traffic, WarmRun};

const OUTAGE: Nanos = 10 * SECOND;
const REQUEST: Application = Application::Request { bytes: 14_000, pause: 50 * MS };
const VIDEO: Application = Application::Video { rate: 300_000, fps: 30 };

fn traffic(download: bool, upload: bool, applications: &[Application]) -> Traffic {
    Traffic { download, upload, applications: applications.to_vec() }
}

fn with(traffic: Traffic, e: Experiment) -> Experiment {
    let flows = if traffic.has_bulk() { e.flows } else { 0 };
    Experiment { traffic: Some(traffic), flows, ..e }
}

fn outage(kind: Kind, stack_name: &str, traffic: Traffic) -> Experiment {
    let e = experiment("6400kbit/9ms", "6400kbit/9ms");
    with(traffic, Experiment { kind, stack: stack(stack_name), ..e })
}

fn stalled(record: &RunRecord, class: Class) -> Nanos {
    record.traffic.iter().find(|other| other.class == class).expect("the class is measured").stalled
}

/// The longest wait for a thing that was under way at T, or asked for later. Long transfers wait from completion on.
fn slowest(record: &RunRecord, class: Class) -> Nanos {
    let class = record.traffic.iter().find(|other| other.class == class).expect("the class is measured");
    class.times.iter().map(|time| time.unwrap_or(Nanos::MAX)).max().expect("something was asked for")
}

/// After ten seconds Linux's timer, which has doubled from 200 ms, expires 2.6 s later at the earliest. Messages and the
/// last ACKs of all connections have every sender go on within a few round trips of 26 ms. Stalls say less.
/// The last of a response's ten packets finds a queue of ten full now and then, since a frame came first. That happens
/// before the outage and seconds after it.
#[test]
fn all_that_the_mobile_receives_resumes() {
    for (download, applications) in [(true, &[REQUEST, VIDEO][..]), (false, &[REQUEST, VIDEO])] {
        let e = outage(Kind::Bbm(OUTAGE), "linux-6.12", traffic(download, false, applications));
        let [plain, helped] = ["cubic", "mobile-resume"].map(|name| run(&e, 5 * SECOND, &scheme(name)));
        for class in e.traffic.as_ref().expect("traffic").classes() {
            let (plain, helped) = (slowest(&plain, class), slowest(&helped, class));
            let outage = if class == Class::Download { 0 } else { OUTAGE };
            assert!(plain > outage + SECOND, "{class:?}: {plain}");
            assert!(helped < outage + SECOND, "{class:?}: {helped}");
        }
    }
}

/// The mobile's own senders need no packet: RFC 6069 from the host to itself has them try at once, where the stack takes
/// messages. A window of the mobile is none of theirs.
#[test]
fn what_the_mobile_sends_resumes() {
    let e = |stack| outage(Kind::Bbm(OUTAGE), stack, traffic(false, true, &[]));
    let of = |stack, name| run(&e(stack), 5 * SECOND, &scheme(name));
    let took = |record: &RunRecord| record.transfer.expect("complete");
    let (plain, helped) = (of("linux-6.12", "cubic"), of("linux-6.12", "mobile-resume"));
    assert!(took(&plain) > SECOND && took(&helped) < SECOND, "{} {}", took(&plain), took(&helped));
    assert_eq!(of("linux-6.12", "mobile"), helped);
    assert_eq!(of("linux-6.12", "mobile-window"), plain);
    assert_eq!(of("ns2-sack1", "mobile"), of("ns2-sack1", "sack"));
    // Beside downloads, too.
    let both = outage(Kind::Bbm(OUTAGE), "linux-6.12", traffic(true, true, &[VIDEO]));
    let [plain, helped] = ["cubic", "mobile"].map(|name| run(&both, 5 * SECOND, &scheme(name)));
    for class in [Class::Download, Class::Upload, Class::Video] {
        assert!(stalled(&helped, class) + SECOND < stalled(&plain, class), "{class:?}");
    }
}

/// Where nothing of what the mobile makes comes through and its stack takes no messages, all is plain TCP.
#[test]
fn lost_packets_leave_plain_tcp() {
    let e = outage(Kind::Bbm(3 * SECOND), "ns2-sack1", traffic(true, true, &[REQUEST, VIDEO]));
    let silent = scheme_with("mobile-resume", &[("alone-lost", "all")]);
    assert_eq!(run(&e, 5 * SECOND, &silent), run(&e, 5 * SECOND, &scheme("sack")));
}

/// Freeze-TCP closes the windows of all downloads before the break, so that no timer backs off. They go on as soon as
/// the window is open. 200 ms before it the link brings all that it holds, a round trip of 26 ms and the ten packets of
/// its queue. Uploads are not frozen.
#[test]
fn all_windows_close_before_a_break() {
    let gap = 3 * SECOND;
    let of = |traffic: Traffic, scheme: &Scheme| {
        run(&outage(Kind::Bbm(gap), "freebsd5-newreno", traffic), 5 * SECOND, scheme)
    };
    let (newreno, freeze) = (scheme("newreno"), scheme_with("freeze", &[("warn", "200ms")]));
    for (traffic, class) in [
        (traffic(true, false, &[]), Class::Download),
        (traffic(false, false, &[REQUEST]), Class::Request),
        (traffic(false, false, &[VIDEO]), Class::Video),
        (traffic(false, true, &[VIDEO]), Class::Video),
    ] {
        let plain = stalled(&of(traffic.clone(), &newreno), class);
        let frozen = stalled(&of(traffic, &freeze), class);
        assert!(frozen + 200 * MS >= gap && frozen < gap + 500 * MS, "{class:?}: {frozen}");
        assert!(plain > frozen + 500 * MS, "{class:?}: {plain}");
    }
    // Side by side with others they also stall for each other's sake; no timer of a download expires.
    let all = || traffic(true, true, &[REQUEST, VIDEO]);
    let (plain, frozen) = (of(all(), &newreno), of(all(), &freeze));
    assert!(frozen.timeouts.is_empty() && !plain.timeouts.is_empty());
    assert!(stalled(&frozen, Class::Download) < gap + 500 * MS);
    let upload = || traffic(false, true, &[]);
    assert_eq!(of(upload(), &freeze), of(upload(), &newreno));
}

/// Routers hold all that comes for the mobile while it has no link. A call sends until its window is full, and its
/// packets come as soon as the mobile is there, without a timeout. ACKs of uploads are held, too.
#[test]
fn routers_hold_what_comes_for_all() {
    let gap = SECOND;
    let of = |traffic: Traffic, name, stack_name| {
        run(&outage(Kind::Bbm(gap), stack_name, traffic), 5 * SECOND, &scheme(name))
    };
    for name in ["buffer-lcfd", "buffer-fcfd+phas", "buffer-lcfd+phas"] {
        let video = || traffic(false, false, &[VIDEO]);
        let (plain, held) = (of(video(), "newreno", "ns2-newreno"), of(video(), name, "ns2-newreno"));
        let (plain, held) = (stalled(&plain, Class::Video), stalled(&held, Class::Video));
        assert!(held + 100 * MS >= gap && held < gap + 100 * MS, "{name}: {held}");
        assert!(plain > held + 200 * MS, "{name}: {plain}");
        let upload = || traffic(false, true, &[]);
        let (plain, held) = (of(upload(), "newreno", "ns2-newreno"), of(upload(), name, "ns2-newreno"));
        assert_ne!(plain, held, "{name}: ACKs were held");
        let all = of(traffic(true, true, &[REQUEST, VIDEO]), name, "ns2-newreno");
        assert!(all.traffic.len() == 4 && all.transfer.is_some(), "{name}");
    }
}

/// A Handoff Notification stops every sender before the break, and has it go on after it: no timer expires meanwhile.
#[test]
fn all_senders_are_told_before_a_break() {
    for notice in [NoticeMode::Instant, NoticeMode::InBand { lost: 0 }] {
        let all = traffic(true, true, &[REQUEST, VIDEO]);
        let e = Experiment { notice, ..outage(Kind::Bbm(3 * SECOND), "ns2-newreno", all) };
        let [plain, told] = ["newreno", "hn"].map(|name| run(&e, 5 * SECOND, &scheme(name)));
        assert!(told.timeouts.iter().all(|timeout| timeout.at >= told.completion));
        assert!(plain.timeouts.iter().any(|timeout| timeout.at < plain.completion));
        for class in [Class::Download, Class::Upload, Class::Video] {
            assert!(stalled(&told, class) < stalled(&plain, class), "{notice:?} {class:?}");
        }
    }
}

/// Rates of links.
const KBPS: [u32; 7] = [200, 400, 1000, 2000, 6400, 20_000, 50_000];

/// At least one of all kinds but pages, which take long to come, and are drawn alike anyhow: a number from 1 to 15.
fn some_traffic(which: u64) -> Traffic {
    let applications = [VIDEO, REQUEST].into_iter().zip([1, 2]).filter(|(_, bit)| which & bit != 0);
    let applications: Vec<_> = applications.map(|(application, _)| application).collect();
    traffic(which & 4 != 0, which & 8 != 0, &applications)
}

/// Handoffs of a class.
const HANDOFFS: usize = 120;
/// Stalls of a packet's time are chance, as is a frame that comes before or after another's packets.
const NOISE: f64 = 0.1;

/// Over random handoffs and traffic three of four are no worse than with plain TCP. They are judged by the time of the
/// long transfers and by the stalls of each class. Single ones may be: whoever sends at another time meets another
/// queue. `same_link`: the mobile comes back to it, and so much is harm.
fn is_no_harm(names: &[&str], stack_name: &str, kind: impl Fn(&mut Lot) -> Kind, same_link: Option<f64>) {
    let mut lot = Lot(11);
    let mut all: Vec<[Vec<f64>; 2]> = vec![Default::default(); names.len()];
    for _ in 0..HANDOFFS {
        let (old, other, kind) = (lot.link(&KBPS), lot.link(&KBPS), kind(&mut lot));
        let new = if same_link.is_some() { old.clone() } else { other };
        let (traffic, at, flows) =
            (some_traffic(1 + lot.below(15)), 2000 + lot.below(6000), 1 + lot.below(3) as usize);
        let e = Experiment { kind, flows, stack: stack(stack_name), ..experiment(&old, &new) };
        let e = with(traffic, e);
        let schemes: Vec<Scheme> = names.iter().map(|name| scheme(name)).collect();
        let mut warm = WarmRun::new(e.clone());
        warm.follow(&schemes);
        let handoff = warm.fork(at * MS).complete();
        let seconds = |time: Nanos| time as f64 / 1e9;
        // Not done within 400 s
        let time = |record: &RunRecord| record.transfer.map_or(400.0, seconds);
        let plain = handoff.run(&scheme("sack"));
        for ([times, stalls], scheme) in all.iter_mut().zip(&schemes) {
            let record = handoff.run(scheme);
            times.push((time(&record) + NOISE) / (time(&plain) + NOISE));
            for class in &plain.traffic {
                let of = |record| seconds(stalled(record, class.class)) + NOISE;
                stalls.push(of(&record) / of(&plain));
            }
        }
    }
    for (name, measures) in names.iter().zip(&mut all) {
        for ratios in measures {
            ratios.sort_by(f64::total_cmp);
            let quartile = ratios[ratios.len() * 3 / 4];
            assert!(quartile <= same_link.unwrap_or(1.02), "{name} on {stack_name}: {ratios:.2?}");
        }
    }
}

#[test]
fn no_traffic_is_harmed_after_outages() {
    for stack_name in ["ns2-sack1", "rfc", "freebsd5-newreno", "linux-6.12", "linux-6.12/bbr"] {
        let kind = |lot: &mut Lot| Kind::Bbm((100 + lot.below(10_000)) * MS);
        is_no_harm(&["mobile", "mobile-window", "mobile-resume"], stack_name, kind, None);
    }
    // A frozen window is that of the old path: it fits where the link is the same. It is lost where the queue holds more
    // than comes within a round trip; 5 % are what a comparison calls worse.
    let kind = |lot: &mut Lot| Kind::Bbm((100 + lot.below(10_000)) * MS);
    is_no_harm(&["freeze"], "freebsd5-newreno", kind, Some(1.05));
}

#[test]
fn no_traffic_is_harmed_without_outages() {
    for stack_name in ["ns2-sack1", "rfc", "freebsd5-newreno", "linux-6.12", "linux-6.12/bbr"] {
        is_no_harm(&["mobile"], stack_name, |_| Kind::Mbb, None);
    }
}

proptest! {
    #![proptest_config(cases(4))]

    /// Schemes at the mobile or at routers beat no bound beside traffic, and lose no time of the new link.
    #[test]
    fn no_bound_is_beaten_beside_traffic(
        (old, new) in ((2.3f64..4.0, 1u32..300), (2.3f64..4.0, 1u32..300)),
        words in prop::sample::select(vec!["", ",loss=2%", ",jitter=5ms", ",queue=codel", ",up=100kbit"]),
        outage in prop::option::of(50u64..2_500),
        (at, flows, seed, packets, which) in (100u64..6_000, 1usize..=3, 1u64..1000, 1u32..120, 1u64..16),
        in_band in any::<bool>(),
        stack_name in prop::sample::select(vec!["ns2-sack1", "ns2-newreno", "freebsd5-newreno", "linux-6.12"]),
        name in prop::sample::select(vec!["mobile", "freeze", "hn", "buffer-lcfd", "buffer-fcfd+phas"]),
    ) {
        let [old, new] = [old, new].map(|(decade, delay): (f64, u32)| {
            format!("{}kbit/{delay}ms{words}", 10f64.powf(decade).round())
        });
        let e = experiment(&old, &new);
        let kind = outage.map_or(Kind::Mbb, |outage| Kind::Bbm(outage * MS));
        let traffic = some_traffic(which);
        let is_upward = traffic.upload && !traffic.download;
        let notice = if in_band && !is_upward { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant };
        let e = with(traffic, Experiment { kind, flows, seed, packets, notice, stack: stack(stack_name), ..e });
        let record = run(&e, at * MS, &scheme(name));
        let classes: Vec<Class> = record.traffic.iter().map(|class| class.class).collect();
        prop_assert_eq!(classes, e.traffic.as_ref().map(Traffic::classes).unwrap_or_default());
        if e.flows > 0 {
            let length = record.transfer.unwrap_or(400 * SECOND);
            prop_assert!(length >= record.bound, "{name} beat the bound: {length} < {}", record.bound);
            prop_assert!(length >= record.bound_told, "{name}: {length} < {}", record.bound_told);
            prop_assert_eq!(record.link_time.total(), length);
        }
    }
}
