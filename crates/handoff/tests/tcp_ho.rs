//! TCP-HO between the notice on the wire and the sender: copies, loss, order, silence.

use segue_handoff::{Announcer, Listener, LoggedScheme, News, Occasion, Scheme};
use segue_policy::Link;
use segue_tcp::profile::FREEBSD5_NEWRENO;
use segue_tcp::segment::{CarriedOption, SackList, Timestamps};
use segue_tcp::{Advisor, Nanos, Segment, Sender};

const MS: Nanos = 1_000_000;
const OLD: Link = Link { rate_kbps: 200, delay_us: 150_000 };
const NEW: Link = Link { rate_kbps: 7000, delay_us: 10_000 };

fn scheme(name: &str) -> Scheme {
    Scheme::build(name, &[]).unwrap()
}

fn ack(next: u32, echo_ms: u64) -> Segment {
    Segment {
        seq: 1,
        ack: next,
        window: 1000,
        payload: 0,
        syn: false,
        push: false,
        has_ack: true,
        detail: Default::default(),
        ecn: Default::default(),
        sack: SackList::default(),
        timestamps: Some(Timestamps { value: 1, echo: (echo_ms / 10) as u32 }),
        option: CarriedOption::default(),
    }
}

fn drain(sender: &mut Sender<LoggedScheme>, now: Nanos) -> Vec<u32> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|sent| sent.segment.seq).collect()
}

/// A sender that has measured 90 ms and whose window of three has timed out once.
fn timed_out(name: &str) -> (Sender<LoggedScheme>, Nanos) {
    let mut sender = Sender::new(&FREEBSD5_NEWRENO, 0, LoggedScheme::new(scheme(name)));
    sender.advisor().keep_log();
    sender.open(1000);
    drain(&mut sender, 0);
    sender.on_segment(100 * MS, &ack(1, 10));
    drain(&mut sender, 100 * MS);
    let expiry = sender.deadline().unwrap();
    assert!(sender.on_timer(expiry));
    drain(&mut sender, expiry);
    (sender, expiry)
}

/// The mobile's two copies of one notice, behind the report of the old link; what the sender sends on each.
fn deliver(sender: &mut Sender<LoggedScheme>, now: Nanos, copies: usize) -> Vec<Vec<u32>> {
    let (mut mobile, mut ear) = (Announcer::new(7), Listener::new(7));
    ear.hear(mobile.first_report(OLD).as_slice(), 1, false);
    let option = mobile.completed(NEW);
    let mut sent = Vec::new();
    for _ in 0..copies {
        if let Some(News::Notice(notice)) = ear.hear(option.as_slice(), 1, true) {
            let view = sender.view();
            let advice = sender.advisor().on_notice(&view, &notice);
            sender.enact(now, &advice);
        }
        sent.push(drain(sender, now));
    }
    sent
}

/// Both copies, or either: the head goes once.
#[test]
fn one_copy_is_as_good_as_two() {
    let (mut both, now) = timed_out("tcp-ho");
    let (mut one, _) = timed_out("tcp-ho");
    assert_eq!(deliver(&mut both, now + 500 * MS, 2), [vec![1], vec![]]);
    assert_eq!(deliver(&mut one, now + 500 * MS, 1), [vec![1]]);
    assert_eq!((both.view(), both.deadline()), (one.view(), one.deadline()));
    // 7000 kbit/s * 90 ms / 1500 bytes = 52.5
    assert_eq!((both.view().cwnd, both.view().ssthresh), (256, 52 * 256 + 128));
}

/// A copy that is overtaken by a timeout is no second notice: its number has been heard.
#[test]
fn a_copy_that_comes_after_the_next_timeout_is_refused() {
    let (mut sender, now) = timed_out("tcp-ho");
    let (mut mobile, mut ear) = (Announcer::new(7), Listener::new(7));
    ear.hear(mobile.first_report(OLD).as_slice(), 1, false);
    let option = mobile.completed(NEW);
    let Some(News::Notice(notice)) = ear.hear(option.as_slice(), 1, true) else { panic!("no notice") };
    let view = sender.view();
    let advice = sender.advisor().on_notice(&view, &notice);
    sender.enact(now, &advice);
    drain(&mut sender, now);
    let expiry = sender.deadline().unwrap();
    assert!(sender.on_timer(expiry) && !sender.advisor().listening());
    assert_eq!(ear.hear(option.as_slice(), 1, true), None);
    // An older notice that arrives behind a newer one is as good as a copy.
    let (third, fourth) = (mobile.completed(OLD), mobile.completed(NEW));
    assert!(ear.hear(fourth.as_slice(), 1, true).is_some());
    assert_eq!(ear.hear(third.as_slice(), 1, true), None);
}

/// Both copies lost: regular TCP, which is not even asked.
#[test]
fn without_a_notice_nobody_is_asked() {
    for name in ["tcp-ho", "tcp-ho-immediate", "tcp-ho-aggressive"] {
        let (mut with, now) = timed_out(name);
        let (mut without, _) = timed_out("newreno");
        assert!(!with.advisor().listening());
        assert_eq!(deliver(&mut with, now, 0), Vec::<Vec<u32>>::new());
        for sender in [&mut with, &mut without] {
            sender.on_segment(now + 100 * MS, &ack(4, now / MS));
        }
        assert_eq!(drain(&mut with, now + 100 * MS), drain(&mut without, now + 100 * MS));
        assert_eq!((with.view(), with.deadline()), (without.view(), without.deadline()));
        assert!(with.advisor().take_log().is_empty());
    }
}

/// Decisions in `segue trace`: the notice with its rules, each sample with its own, then silence until congestion
/// judges the report.
#[test]
fn decisions_name_their_rules() {
    let (mut sender, now) = timed_out("tcp-ho");
    deliver(&mut sender, now, 1);
    for next in 2..=7 {
        sender.on_segment(now + 100 * MS, &ack(next, now / MS));
        drain(&mut sender, now + 100 * MS);
    }
    let log = sender.advisor().take_log();
    let names: Vec<Vec<&str>> =
        log.iter().map(|decision| decision.rules.iter().map(|rule| rule.name).collect()).collect();
    let sample = vec!["HO_ADJUST"];
    let last = vec!["HO_ADJUST", "NORMAL"];
    assert_eq!(names, [vec!["resume", "HO_ADJUST"], sample.clone(), sample.clone(), sample, last]);
    assert!(matches!(log[0].occasion, Occasion::Notice(_)));
    assert!(log[1..].iter().all(|decision| matches!(decision.occasion, Occasion::RttSample(_))));
    assert!(sender.advisor().listening());
    let expiry = sender.deadline().expect("data is under way");
    sender.on_timer(expiry);
    let judged = sender.advisor().take_log();
    assert_eq!(judged.iter().map(|decision| decision.rules[0].name).collect::<Vec<_>>(), ["trial"]);
    assert!(!sender.advisor().listening());
}

#[test]
fn settings_are_those_of_the_header() {
    let names: Vec<_> = Scheme::settings_of("tcp-ho").iter().map(|info| info.name).collect();
    assert_eq!(
        names,
        ["guard", "burst-after", "trial", "samples", "mean", "min-window", "packet-bytes", "enact"]
    );
    let build = |key: &str, value: &str| {
        let error = Scheme::build("tcp-ho-aggressive", &[(key.into(), value.into())]).unwrap_err();
        error.to_string()
    };
    assert!(build("gard", "on").contains("did you mean `guard`?"));
    assert!(build("guard", "maybe").contains("expected on or off"));
    assert!(build("enact", "linus").contains("expected paper or linux"));
    for name in ["tcp-ho", "tcp-ho-immediate", "tcp-ho-aggressive", "freeze"] {
        let entry = Scheme::entry_of(name).unwrap();
        assert_eq!((entry.name, entry.stack), (name, FREEBSD5_NEWRENO.name));
    }
}
