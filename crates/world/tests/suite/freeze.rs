//! Freeze-TCP on the bench (algorithms.md, 4.5): the mobile closes its window before a break that it foresees and
//! opens it on completion.

use crate::support::*;
use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_netsim::{Nanos, SECOND};
use segue_world::drive::mobility::{Drive, Stay};
use segue_world::drive::record::DriveRecord;
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::trace::{SenderState, What, trace};
use segue_world::{AccessLink, Experiment, Kind, NoticeMode, Routers, WarmRun};
use std::sync::Arc;

const OUTAGE: Nanos = 3 * SECOND;

/// The handoff of Wu, Chan and Ananda that gains most: WCDMA to a WLAN.
fn upwards() -> Experiment {
    Experiment {
        kind: Kind::Bbm(OUTAGE),
        stack: stack("freebsd5-newreno"),
        ..experiment("200kbit/150ms", "7mbit/10ms")
    }
}

/// The ACK that opens the window: 40 bytes and the time stamps.
const ACK: u64 = 52;

/// From the mobile to the sender over the new link: the last hop, 7 Mbit/s and 10 ms, two wired hops of 2 ms.
fn way_of_the_ack() -> Nanos {
    let sent_at = |rate: u64| (ACK * 8 * SECOND + rate / 2) / rate;
    sent_at(500_000_000) + sent_at(7_000_000) + 10 * MS + 2 * (sent_at(100_000_000) + 2 * MS)
}

/// A round trip of 308 ms, the five packets of the queue and one more of 60 ms each, and the ACK.
const IN_TIME: &str = "680ms";

/// The window closes a path's round trip and what its queue holds ahead. Everything that was sent has arrived when the
/// link goes. The sender goes on as it was the very instant at which the opening is heard.
#[test]
fn foreseen_in_time_it_costs_nothing_but_the_outage() {
    let freeze = scheme_with("freeze", &[("warn", IN_TIME)]);
    for at in (20..=120).map(|tenths| tenths * 100 * MS) {
        let Ok([trace]) = <[_; 1]>::try_from(trace(&upwards(), at, &[&freeze])) else { panic!("one scheme") };
        let (completion, resumes) = (at + OUTAGE, at + OUTAGE + way_of_the_ack());
        let mut at_break: Option<SenderState> = None;
        let mut first_sent = None;
        for event in &trace.events {
            match &event.what {
                What::Lost { packet, .. } => {
                    assert!(!packet.data || packet.is_probe(), "lost at {}: {packet:?}", event.at);
                }
                What::State { state, .. } if event.at < at => at_break = Some(*state),
                What::State { state, .. } if event.at < resumes => {
                    let before = at_break.expect("it has sent before");
                    let window =
                        |state: &SenderState| (state.cwnd, state.ssthresh, state.srtt, state.snd_max);
                    assert_eq!(window(state), window(&before), "frozen at {}", event.at);
                }
                What::Sent(packet) if packet.data && !packet.is_probe() && event.at >= at => {
                    first_sent.get_or_insert(event.at);
                }
                _ => {}
            }
        }
        assert_eq!(first_sent, Some(resumes), "handoff at {at}, completed at {completion}");
        assert!(trace.record.timeouts.is_empty());
        assert_eq!(trace.record.first_sent, Some(way_of_the_ack()));
    }
}

/// Foreseen one round trip ahead, as by default, or later. Packets that still waited before the old link are lost and
/// sent again, but no timer expires and no window is cut.
#[test]
fn foreseen_late_it_costs_packets_and_no_timeout() {
    let lost = |warn: &str| {
        let freeze = scheme_with("freeze", &[("warn", warn)]);
        let record = run(&upwards(), 2 * SECOND, &freeze);
        assert!(record.timeouts.is_empty(), "{warn}");
        assert_eq!(record.first_sent, Some(way_of_the_ack()), "{warn}");
        (record.lost_in_disconnection, record.transfer.expect("it ends"))
    };
    assert!(lost("rtt").0 > lost(IN_TIME).0);
    assert!(lost("170ms").0 >= lost("rtt").0);
    let regular = run(&upwards(), 2 * SECOND, &scheme("newreno"));
    assert_eq!(regular.timeouts.len(), 2);
    assert!(Some(lost("rtt").1) < regular.transfer);
}

/// Not foreseen, or closed too late to be heard, it is regular TCP up to completion; the marks are the same.
#[test]
fn not_foreseen_it_is_regular_tcp_until_completion() {
    let unforeseen = [("missed", "1"), ("warn", "0"), ("warn", "150ms")].map(|setting| {
        let schemes = [&scheme("newreno"), &scheme_with("freeze", &[setting])];
        let traces = trace(&upwards(), 5 * SECOND, &schemes);
        let sent = |of: usize| {
            let events = traces[of].events.iter().filter(|event| event.at < traces[of].record.completion);
            let sent = events.filter_map(|event| match &event.what {
                What::Sent(packet) if packet.data => Some((event.at, packet.segment)),
                _ => None,
            });
            sent.collect::<Vec<_>>()
        };
        assert_eq!(sent(0), sent(1), "{setting:?}");
        let [regular, freeze] = [0, 1].map(|of| &traces[of].record);
        assert_eq!((regular.bound, regular.timeouts.len()), (freeze.bound, 2), "{setting:?}");
        assert_eq!(traces[0].targets, traces[1].targets);
        assert!(freeze.first_sent <= Some(way_of_the_ack()), "the duplicates wake it");
        freeze.transfer
    });
    assert!(unforeseen.iter().all(Option::is_some));
}

/// Nothing breaks, so nothing closes.
#[test]
fn a_make_before_break_handoff_is_left_alone() {
    let e = Experiment { kind: Kind::Mbb, ..upwards() };
    for at in [2, 5, 8] {
        let handoff = WarmRun::new(e.clone()).fork(at * SECOND).complete();
        assert_eq!(handoff.run(&scheme("freeze")), handoff.run(&scheme("newreno")));
    }
}

/// No copy of the opening: the next probe finds the window open.
#[test]
fn without_an_opening_a_probe_finds_the_window_open() {
    let freeze = scheme_with("freeze", &[("reopen-acks", "0")]);
    let record = run(&upwards(), 5 * SECOND, &freeze);
    assert!(record.transfer.is_some_and(|time| time < 10 * SECOND), "{:?}", record.transfer);
}

// ---------------------------------------------------------------------------------- drives

/// A cell: attached ms, ms without a link before the next, kbit/s, ms, packets.
type Cell = (u64, u64, u64, u64, u32);

/// Through the cells, and on in the last one for `last`.
fn through(cells: &[Cell], last: Nanos, cross: usize, scheme: &Scheme, stack_name: &str) -> DriveRecord {
    let (mut from, mut stays) = (0, Vec::new());
    for (index, &(stay, gap, rate, delay, queue)) in cells.iter().enumerate() {
        let length = if index + 1 == cells.len() { last } else { stay * MS };
        let link = AccessLink::fixed(rate * 1000, delay * MS, queue);
        stays.push(Stay { network: 0, from, until: from + length, link });
        from += length + gap * MS;
    }
    let length = stays.last().expect("a cell").until;
    let e = DriveExperiment {
        drive: Arc::new(Drive::new(length, vec!["cells".into()], stays).expect("a drive")),
        flows: 1,
        cross,
        web: None,
        wan: WideArea { rate: 10_000_000, delay: 10 * MS, queue: 20 },
        stack: stack(stack_name),
        notice: NoticeMode::InBand { lost: 0 },
        bandwidth_error: 0.0,

        routers: Routers::default(),
        seed: 1,
    };
    e.run(scheme)
}

/// A sender hears of the last cell when its timer expires or its next probe is answered. It matters not what has become
/// of the closing and the opening. That takes 64 s at most with FreeBSD's back-off, and a round trip through a full
/// queue.
const LONGEST_WAIT: Nanos = 66 * SECOND;

fn goes_on(cells: &[Cell], cross: usize, scheme: &Scheme, stack: &str) -> Result<(), TestCaseError> {
    let early = through(cells, MS, cross, scheme, stack);
    let late = through(cells, LONGEST_WAIT + 10 * SECOND, cross, scheme, stack);
    let idle = late.handoffs.last().map(|handoff| handoff.idle);
    prop_assert!(
        idle.is_none_or(|idle| idle.is_some_and(|idle| idle <= LONGEST_WAIT)),
        "it waits for {idle:?}"
    );
    prop_assert!(late.mobile_bytes[0] > early.mobile_bytes[0], "nothing comes: {:?}", late.mobile_bytes);
    Ok(())
}

proptest! {
    #![proptest_config(cases(3))]

    /// The window closes early, late, or not at all. The opening is lost with a cell of a few ms. There is no time
    /// between two cells. Queues are so short that the window closes in fast recovery, outages so long that it closes
    /// in RTO recovery.
    #[test]
    fn no_drive_deadlocks(
        cells in proptest::collection::vec(
            (
                prop_oneof![1u64..40, 40u64..600, 600u64..8_000],
                prop_oneof![2 => Just(0u64), 1 => 1u64..300, 3 => 300u64..5_000],
                100u64..10_000, 1u64..200, 3u32..30,
            ),
            1..7,
        ),
        warn in prop_oneof![
            2 => Just("rtt".to_string()),
            2 => (0u64..100).prop_map(|ms| format!("{ms}ms")),
            2 => (100u64..6_000).prop_map(|ms| format!("{ms}ms")),
        ],
        missed in 0u32..4,
        reopen_acks in prop_oneof![1 => Just(0u32), 3 => Just(3), 1 => 1u32..6],
        cross in 0usize..3,
        stack in proptest::sample::select(vec!["freebsd5-newreno", "freebsd5-newreno", "ns2-sack1", "rfc"]),
    ) {
        let settings =
            [("warn", warn), ("missed", missed.to_string()), ("reopen-acks", reopen_acks.to_string())];
        let settings = settings.each_ref().map(|(key, value)| (*key, value.as_str()));
        goes_on(&cells, cross, &scheme_with("freeze", &settings), stack)?;
    }
}
