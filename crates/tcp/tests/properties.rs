//! Invariants of every stack, whatever the path, the receiver and an adviser do.

use crate::pair::{Change, Fate, MS, Pair, Plan};
use proptest::prelude::*;
use proptest::sample::select;
use segue_tcp::advice::MinRto;
use segue_tcp::profile::{PROFILES, RFC};
use segue_tcp::{Advice, Advisor, Nanos, StackProfile, View};

/// Says nothing, but wants to hear everything.
#[derive(Clone, Debug)]
struct Silent;

impl Advisor for Silent {
    fn listening(&self) -> bool {
        true
    }
}

/// Gives the next of these at every event, whatever the event is; silent when they are used up.
#[derive(Clone, Debug)]
struct Script(std::vec::IntoIter<Advice>);

impl Script {
    fn say(&mut self) -> Advice {
        self.0.next().unwrap_or_default()
    }
}

impl Advisor for Script {
    fn listening(&self) -> bool {
        true
    }
    fn on_new_ack(&mut self, _: &View) -> Advice {
        self.say()
    }
    fn on_dup_ack(&mut self, _: &View) -> Advice {
        self.say()
    }
    fn on_fast_retransmit(&mut self, _: &View) -> Advice {
        self.say()
    }
    fn on_timeout(&mut self, _: &View) -> Advice {
        self.say()
    }
    fn on_rtt_sample(&mut self, _: &View, _: u32, _: Nanos) -> Advice {
        self.say()
    }
}

fn profiles() -> impl Strategy<Value = StackProfile> {
    select(PROFILES.to_vec())
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        4 => Just(Fate::Lose),
        1 => (0..300u64).prop_map(Fate::Twice),
        1 => (1..400u64).prop_map(Fate::Late),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (1..600u64, 10..60_000u64).prop_map(|(delay, per_packet)| Change::Path(delay, per_packet)),
        1 => (1..3_000u64).prop_map(Change::Blackout),
        1 => Just(Change::Notice),
        1 => select(vec![0, 1, 2, 7, 64]).prop_map(Change::Window),
    ]
}

/// A path that loses, doubles, delays and changes for a while; in the end it is calm and the
/// receiver's window open.
fn plans() -> impl Strategy<Value = Plan> {
    let fates = || prop::collection::vec(fate(), 0..250);
    let changes = prop::collection::vec((0..12_000u64, change()), 0..6);
    (fates(), fates(), changes, 1..300u32, 0..10_000u64).prop_map(
        |(data, acks, mut changes, packets, clock_phase_us)| {
            changes.push((12_000, Change::Window(1_000)));
            Plan { data, acks, changes, packets, clock_phase_us }
        },
    )
}

fn windows() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![6 => Just(None), 1 => (0..1_024u32).prop_map(Some), 1 => (0..100_000u32).prop_map(Some)]
}

fn advice() -> impl Strategy<Value = Advice> {
    let floor = prop_oneof![
        6 => Just(None),
        1 => Just(Some(MinRto::Own)),
        1 => (0..4_000u64).prop_map(|ms| Some(MinRto::AtLeast(ms * MS))),
    ];
    // Each switch is on in one of four.
    let switches = prop::collection::vec(prop::bool::weighted(0.25), 13);
    (windows(), windows(), floor, switches).prop_map(|(cwnd, ssthresh, min_rto, on)| {
        #[allow(clippy::needless_update)] // what is added to `Advice` later
        Advice {
            cwnd,
            ssthresh,
            min_rto,
            retransmit_head: on[0],
            rearm_timer: on[1],
            clear_backoff: on[2],
            reinit_rtt: on[3],
            keep_window: on[4],
            keep_cwnd: on[5],
            keep_ssthresh: on[6],
            hold_holes: on[7],
            send_new: on[8],
            resume_recovery: on[9],
            ignore_sample: on[10],
            room_for_one: on[12],
            ..Advice::default()
        }
    })
}

fn calm(packets: u32) -> Plan {
    Plan { packets, ..Plan::default() }
}

#[test]
fn every_profile_runs_a_whole_transfer() {
    for profile in &PROFILES {
        let mut pair = Pair::new(profile, calm(2_000), ());
        let end = pair.run();
        assert_eq!(pair.sender.counters().retransmissions, 0, "{}", profile.name);
        assert_eq!(pair.log.len(), 2_001, "{}", profile.name);
        assert!(end < 40_000 * MS, "{} took {} ms", profile.name, end / MS);
    }
}

#[test]
fn every_profile_repairs_a_hole_without_a_timeout() {
    for profile in &PROFILES {
        let mut plan = calm(400);
        plan.data = vec![Fate::Deliver; 100];
        plan.data[60] = Fate::Lose;
        let mut pair = Pair::new(profile, plan, ());
        pair.run();
        let counters = pair.sender.counters();
        assert_eq!(
            (counters.timeouts, counters.fast_retransmits, counters.retransmissions),
            (0, 1, 1),
            "{}",
            profile.name
        );
    }
}

/// RFC 7323, section 4: with time stamps SRTT is the path's round trip.
#[test]
fn time_stamps_measure_the_round_trip() {
    let mut pair = Pair::new(&RFC, calm(1), ());
    pair.run();
    // 50 ms and 2 ms there, 50 ms back; the data packet waits 200 ms for its delayed ACK.
    assert_eq!(pair.acks[0].1.timestamps.map(|t| t.echo), Some(1), "zero would mean none");
    let first = 101 * MS; // the clock of 1 ms reads one at the start
    let second = 302 * MS;
    assert_eq!(pair.sender.timing().0, Some(first + (second - first) / 8));
}

/// Cases are cheap. `PROPTEST_CASES` asks for more of them.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: 2 * usual.cases, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    /// Delivered once and in order, and everything that [`Pair`] checks after each event.
    #[test]
    fn any_path_delivers(profile in profiles(), plan in plans()) {
        Pair::new(&profile, plan, ()).run();
    }

    /// A scheme that hears of everything and says nothing leaves plain TCP.
    #[test]
    fn a_silent_adviser_changes_nothing(profile in profiles(), plan in plans()) {
        let mut plain = Pair::new(&profile, plan.clone(), ());
        let mut advised = Pair::new(&profile, plan, Silent);
        prop_assert_eq!(plain.run(), advised.run());
        prop_assert_eq!(plain.log, advised.log);
        prop_assert_eq!(plain.acks, advised.acks);
    }

    /// No sequence of advice, at whatever events and times, breaks delivery.
    #[test]
    fn no_advice_breaks_delivery(
        profile in profiles(),
        mut plan in plans(),
        answers in prop::collection::vec(advice(), 0..150),
        calls in prop::collection::vec((0..12_000u64, advice()), 0..12),
    ) {
        plan.changes.extend(calls.into_iter().map(|(at, advice)| (at, Change::Advise(advice))));
        Pair::new(&profile, plan, Script(answers.into_iter())).run();
    }
}
