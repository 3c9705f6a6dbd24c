//! Notices that err: told once wrong and late, whatever hears it.

use crate::support::*;
use proptest::prelude::*;
use segue_handoff::{Announcer, Link, Listener, News, Occasion};
use segue_netsim::{Nanos, SECOND};
use segue_world::notice_error::Told;
use segue_world::trace::{Trace, What, trace};
use segue_world::{Experiment, Kind, NoticeError, NoticeMode, WarmRun};

fn error(words: &str) -> NoticeError {
    words.parse().expect("an error of notices")
}

fn told(e: &Experiment, at: Nanos) -> Told {
    trace(e, at, &[&scheme("sack")]).remove(0).told.expect("a notice that errs")
}

/// The links of each notice that some sender answered.
fn answered(trace: &Trace) -> Vec<(Nanos, Link, Link)> {
    let notice = |event: &segue_world::trace::Event| match &event.what {
        What::Decided { decision, .. } => match decision.occasion {
            Occasion::Notice(notice) => Some((event.at, notice.old_link, notice.new_link)),
            _ => None,
        },
        _ => None,
    };
    trace.events.iter().filter_map(notice).collect()
}

/// All that hear an instant notice are told the same, at the same time: the new link wrong, the old one as it is.
#[test]
fn all_schemes_are_told_the_same() {
    let e = Experiment {
        notice_error: error("rate=4x,delay=30ms,late=100ms"),
        flows: 2,
        ..experiment("2mbit/30ms", "800kbit/60ms")
    };
    let mut seen = Vec::new();
    for at in [3 * SECOND, 4 * SECOND] {
        let Told { new_link, late } = told(&e, at);
        assert_ne!(new_link, Link { rate_kbps: 800, delay_us: 60_000 });
        assert!((200..=3200).contains(&new_link.rate_kbps) && (30_000..=90_000).contains(&new_link.delay_us));
        assert!(0 < late && late <= 100 * MS);
        let old_link = Link { rate_kbps: 2000, delay_us: 30_000 };
        let schemes = ["etcp", "etcp-v1", "tcp-ho"].map(scheme);
        for trace in trace(&e, at, &schemes.each_ref()) {
            assert_eq!(answered(&trace), vec![(at + late, old_link, new_link); 2]);
        }
        seen.push((new_link, late));
    }
    assert_ne!(seen[0], seen[1], "each handoff has draws of its own");
}

/// In band the mobile sends both copies so much later than at completion, and they carry what is told.
#[test]
fn late_notices_in_band_leave_the_mobile_late() {
    let e = Experiment {
        notice: NoticeMode::InBand { lost: 0 },
        notice_error: error("rate=4x,delay=30ms,late=100ms"),
        kind: Kind::Bbm(SECOND),
        ..experiment("2mbit/30ms", "800kbit/60ms")
    };
    let Told { new_link, late } = told(&e, 3 * SECOND);
    let trace = trace(&e, 3 * SECOND, &[&scheme("etcp-v1")]).remove(0);
    let mut listener = Listener::new(1);
    let mut heard = Vec::new();
    let mut sent = Vec::new();
    for event in &trace.events {
        let What::Sent(packet) = &event.what else { continue };
        if packet.data || packet.segment.option.is_empty() || packet.segment.syn {
            continue;
        }
        let option = packet.segment.option;
        if event.at >= trace.record.at {
            sent.push((event.at, option));
        }
        if let Some(News::Notice(notice)) = listener.listen(option.as_slice(), 1, true) {
            heard.push(notice.new_link);
        }
    }
    // An option has eleven bits of the rate and tenths of ms.
    let mut announcer = Announcer::new(1);
    announcer.first_report(Link { rate_kbps: 2000, delay_us: 30_000 });
    let option = announcer.completed(new_link);
    assert_eq!(sent, vec![(4 * SECOND + late, option); 2]);
    assert_eq!(heard.len(), 1);
    assert_eq!(answered(&trace).iter().map(|notice| notice.2).collect::<Vec<_>>(), heard);
}

/// A notice that is late alone is one with that delay; without any error nothing changes.
#[test]
fn lateness_is_a_delay() {
    let plain = experiment("6400kbit/9ms", "200kbit/300ms");
    let late = Experiment { notice_error: error("late=300ms"), ..plain.clone() };
    let none = Experiment { notice_error: error("rate=1x,delay=0ms"), ..plain.clone() };
    for at in [800 * MS, 8200 * MS] {
        let delayed = Experiment { notice_delay: told(&late, at).late, ..plain.clone() };
        for name in ["sack", "etcp-v1", "near"] {
            let scheme = scheme(name);
            assert_eq!(run(&late, at, &scheme), run(&delayed, at, &scheme));
            assert_eq!(run(&none, at, &scheme), run(&plain, at, &scheme));
        }
    }
}

/// A sender that is told less than half of the rate takes longer, and the bound stays.
#[test]
fn a_rate_that_is_told_too_low_costs_time() {
    let plain = experiment("200kbit/100ms", "6400kbit/50ms");
    let wrong = Experiment { notice_error: error("rate=8x"), ..plain.clone() };
    let too_low = |&at: &Nanos| told(&wrong, at).new_link.rate_kbps < 3200;
    let times: Vec<Nanos> = (20..60).map(|tenths| tenths * 100 * MS).filter(too_low).take(5).collect();
    assert_eq!(times.len(), 5);
    for at in times {
        let [right, wrong] = [&plain, &wrong].map(|e| run(e, at, &scheme("near")));
        assert_eq!(right.bound, wrong.bound);
        assert!(right.transfer < wrong.transfer, "{right:?}, {wrong:?}");
    }
}

fn any_words() -> impl Strategy<Value = String> {
    (1000u64..=100_000, 0u64..=200, 0u64..=2000)
        .prop_map(|(rate, delay, late)| format!("rate={}x,delay={delay}ms,late={late}ms", rate as f64 / 1e3))
}

proptest! {
    #![proptest_config(cases(4))]

    /// No sender beats the bounds, whatever is told, whenever, and all have the same ones.
    #[test]
    fn wrong_notices_leave_the_bounds(
        words in any_words(), rates in (100u32..8000, 100u32..8000), delays in (1u32..300, 1u32..300),
        outage in prop::option::of(100u64..2000), in_band: bool, at in 100u64..=8_000, seed in 1u64..4,
    ) {
        let e = Experiment {
            kind: outage.map_or(Kind::Mbb, |outage| Kind::Bbm(outage * MS)),
            notice: if in_band { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant },
            notice_error: error(&words),
            seed,
            flows: 2,
            ..experiment(&format!("{}kbit/{}ms", rates.0, delays.0), &format!("{}kbit/{}ms", rates.1, delays.1))
        };
        let handoff = WarmRun::new(e).fork(at * MS).complete();
        let bounds = handoff.run(&scheme("sack"));
        for name in ["sack", "etcp-v1", "etcp:a1+a3", "near", "tcp-ho"] {
            let record = handoff.run(&scheme(name));
            prop_assert_eq!((record.bound, record.bound_told), (bounds.bound, bounds.bound_told));
            let time = record.transfer;
            prop_assert!(time.is_none_or(|time| time >= record.bound_told), "{} in {:?}", name, time);
        }
    }
}
