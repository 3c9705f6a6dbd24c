//! A receiver that closes its window before an outage and opens it after it (algorithms.md, 4.5), too early, too late
//! or not at all. Nothing deadlocks, and foreseen in time it costs no packet.

use crate::pair::{Change, Fate, MS, Pair, Plan};
use proptest::prelude::*;
use segue_tcp::profile::{FREEBSD5_NEWRENO, PROFILES};
use segue_tcp::{Sender, StackProfile};

/// The link goes at 1000 ms and comes back 2000 ms later.
const BREAK: u64 = 1_000;
const BACK: u64 = 3_000;

/// Twenty packets of 2 ms fit into the round trip of 102 ms, so none queues for long.
fn bsd() -> StackProfile {
    StackProfile { receive_window: 20, ..FREEBSD5_NEWRENO }
}

/// One outage in a transfer of 1000 packets; the window closes at `closes` and is opened by three ACKs at
/// each of `opens`.
fn outage(profile: &StackProfile, closes: Option<u64>, opens: &[u64]) -> (u64, Sender<()>) {
    let mut changes = vec![(BREAK, Change::Blackout(BACK - BREAK))];
    changes.extend(closes.map(|at| (at, Change::Window(0))));
    for &at in opens {
        changes.extend([(at, Change::Window(20)); 3]);
    }
    let mut pair = Pair::new(profile, Plan { packets: 1_000, changes, ..Plan::default() }, ());
    let end = pair.run() / MS;
    (end, pair.sender)
}

/// More than a round trip ahead everything has arrived when the link goes. The sender goes on in the very instant at
/// which the first ACK reaches it, with the window of before.
#[test]
fn foreseen_in_time_it_costs_no_packet() {
    let (end, sender) = outage(&bsd(), Some(BREAK - 200), &[BACK]);
    let counters = sender.counters();
    assert_eq!((counters.timeouts, counters.retransmissions, counters.fast_retransmits), (0, 0, 0));
    let undisturbed = {
        let mut pair = Pair::new(&bsd(), Plan { packets: 1_000, ..Plan::default() }, ());
        pair.run() / MS
    };
    // Closed for 2200 ms; the ACK waits behind nothing.
    assert!(end.abs_diff(undisturbed + BACK - BREAK + 200) <= 2 * 102, "{end} after {undisturbed}");
}

/// The last ACK of the old path closes the window, and what is under way then is lost.
#[test]
fn foreseen_late_it_costs_what_was_under_way_and_no_timeout() {
    let (_, sender) = outage(&bsd(), Some(BREAK - 10), &[BACK]);
    let counters = sender.counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 0));
    assert!((1..=20).contains(&counters.retransmissions), "{counters:?}");
}

/// The ACK that closes the window is lost itself, or none does: regular TCP.
#[test]
fn not_foreseen_it_is_an_outage_like_any_other() {
    let (_, never) = outage(&bsd(), None, &[BACK]);
    let (_, lost) = outage(&bsd(), Some(BREAK + 10), &[BACK]);
    assert!(never.counters().timeouts > 0 && lost.counters().timeouts > 0);
}

/// The ACKs that open the window meet a link that is not there yet: a probe finds it open.
#[test]
fn a_probe_recovers_what_the_opening_acks_do_not() {
    for closes in [BREAK - 200, BREAK - 10] {
        let (end, sender) = outage(&bsd(), Some(closes), &[BACK - 500]);
        assert_eq!(sender.counters().timeouts, 0);
        assert!(end > BACK, "the window was open before");
    }
}

/// The window opens before its closing has been heard, or is opened again and again.
#[test]
fn openings_before_the_closing_and_after_each_other_do_no_harm() {
    for opens in [&[BREAK - 199, BACK][..], &[BACK, BACK + 1, BACK + 60, BACK + 400]] {
        outage(&bsd(), Some(BREAK - 200), opens);
        outage(&bsd(), Some(BREAK - 10), opens);
    }
}

/// Other stacks retransmit into the closed window as RFC 9293, 3.8.6.1, has it, and get through, too.
#[test]
fn every_stack_survives_it() {
    for profile in PROFILES {
        for closes in [None, Some(BREAK - 200), Some(BREAK - 10), Some(BREAK + 10)] {
            outage(&profile, closes, &[BACK]);
            outage(&profile, closes, &[BACK - 500]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whenever the window closes and opens, whatever becomes of data and ACKs.
    #[test]
    fn no_freeze_deadlocks(
        closes in prop::collection::vec(0u64..3_000, 1..4),
        opens in 0u64..4_000,
        dark in prop::option::of((0u64..3_000, 1u64..3_000)),
        lost in prop::collection::vec(prop::bool::weighted(0.2), 0..300),
        late in prop::collection::vec(prop::option::weighted(0.1, 1u64..500), 0..300),
    ) {
        let mut changes: Vec<_> = closes.iter().map(|&at| (at, Change::Window(0))).collect();
        let opens = closes.iter().max().copied().unwrap_or(0) + opens;
        changes.extend([(opens, Change::Window(20)); 3]);
        changes.extend(dark.map(|(at, length)| (at, Change::Blackout(length))));
        let data = lost.iter().map(|&lost| if lost { Fate::Lose } else { Fate::Deliver }).collect();
        let acks = late.iter().map(|late| late.map_or(Fate::Deliver, Fate::Late)).collect();
        let plan = Plan { data, acks, changes, packets: 300, clock_phase_us: 0 };
        Pair::new(&FREEBSD5_NEWRENO, plan, ()).run();
    }
}
