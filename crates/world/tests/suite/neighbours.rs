//! Users who share the access links.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;
use segue_tcp::profile::{LINUX_6_12, NS2_SACK1, PROFILES, RFC};
use segue_world::trace::{What, trace};
use segue_world::{Experiment, Kind, Neighbours, NoticeMode, WarmRun};
use std::sync::Arc;

fn beside(count: u16, stack: StackProfile, e: Experiment) -> Experiment {
    Experiment { neighbours: Some(Neighbours::new(count, stack)), ..e }
}

/// Bytes of data in full packets that a link brings in two seconds; one more packet may have begun before.
fn capacity(rate: u64, stack: &StackProfile) -> u64 {
    (2 * rate / 8 / u64::from(stack.data_bytes()) + 1) * u64::from(stack.mss)
}

/// Without a handoff, long downloads fill their link, and no more than that. A handoff to it leaves them less.
#[test]
fn neighbours_fill_their_link_and_share_it() {
    for stack in [NS2_SACK1, RFC, LINUX_6_12] {
        let e = Experiment { flows: 2, stack, packets: 2000, ..experiment("2mbit/20ms", "8mbit/30ms") };
        let record = run(&beside(2, stack, e), 10 * SECOND, &scheme("sack"));
        let received = record.neighbours.expect("neighbours");
        let most = capacity(8_000_000, &stack);
        assert!(received.undisturbed <= most, "{received:?} of {most}");
        assert!(received.undisturbed > most * 9 / 10, "{}: {received:?} of {most}", stack.name);
        assert!(received.bytes < received.undisturbed, "{}: {received:?}", stack.name);
    }
}

/// The mobile's transfer takes longer beside others, who are on the link while it is; they are on the old link, too.
#[test]
fn a_shared_link_is_slower() {
    let alone = Experiment { packets: 4000, ..experiment("4mbit/20ms", "4mbit/30ms") };
    for kind in [Kind::Mbb, Kind::Bbm(SECOND)] {
        let alone = Experiment { kind, ..alone.clone() };
        let shared = beside(3, NS2_SACK1, alone.clone());
        let [one, two] = [&alone, &shared].map(|e| run(e, 8 * SECOND, &scheme("sack")));
        assert!(two.transfer > one.transfer.map(|time| 2 * time), "{:?} {:?}", one.transfer, two.transfer);
        assert_eq!((one.link_time.neighbours, one.neighbours), (0, None));
        assert!(2 * two.link_time.neighbours > two.transfer.expect("done"), "{:?}", two.link_time);
        let flights = [one, two].map(|record| record.senders_at[0].flight);
        assert!(flights[1] < flights[0], "{flights:?} packets under way on the old link");
    }
}

/// Nothing that neighbours send, hear or lose is told of the mobile's flows.
#[test]
fn a_trace_is_the_mobiles_alone() {
    let e = Experiment { flows: 2, packets: 300, ..experiment("2mbit/20ms", "1mbit/30ms") };
    let e = beside(3, LINUX_6_12, e);
    let traced = trace(&e, 5 * SECOND, &[&scheme("etcp-v1")]).remove(0);
    assert_eq!(traced.record, run(&e, 5 * SECOND, &scheme("etcp-v1")), "watching changes nothing");
    let mut dropped = 0;
    for event in &traced.events {
        let flow = match &event.what {
            What::Sent(packet)
            | What::Received { packet, .. }
            | What::Queued { packet, .. }
            | What::Lost { packet, .. }
            | What::Overflowed { packet, .. } => packet.flow,
            What::Dropped { packet, .. } => {
                dropped += u32::from(event.at >= traced.record.completion);
                packet.flow
            }
            What::Timeout { flow, .. }
            | What::FastRetransmit { flow, .. }
            | What::HyStart { flow, .. }
            | What::Decided { flow, .. }
            | What::Acted { flow, .. }
            | What::State { flow, .. } => *flow,
        };
        assert!(flow < 2, "{:?}", event.what);
    }
    assert_eq!(dropped, traced.record.drops);
    let waits = traced.record.queue_delays.iter().max().expect("packets");
    assert!(*waits > 12 * MS, "one packet of a neighbour's is ahead at least");
}

/// Those on the old link go on when the mobile has left it: what they do does not touch the mobile. Their starts depend
/// on the seed.
#[test]
fn another_seed_has_other_starts() {
    let e = beside(2, NS2_SACK1, experiment("2mbit/20ms", "1mbit/30ms"));
    let received = |seed| {
        let e = Experiment { seed, ..e.clone() };
        run(&e, 3 * SECOND, &scheme("sack")).neighbours.expect("neighbours").undisturbed
    };
    let seeds: Vec<u64> = (1..6).map(received).collect();
    assert_eq!(received(3), seeds[2]);
    assert!(seeds.iter().any(|other| *other != seeds[0]), "{seeds:?}");
}

/// The new link carries neighbours from the start, so that a warm-up serves that link alone.
#[test]
fn warm_ups_are_shared_towards_one_link_only() {
    let first = beside(2, NS2_SACK1, experiment("2mbit/20ms", "1mbit/30ms"));
    let other = Arc::new(Experiment { kind: Kind::Bbm(SECOND), ..first.clone() });
    assert!(first.shares_warm_up(&other));
    assert!(!first.shares_warm_up(&Experiment { new: link("2mbit/30ms"), ..first.clone() }));
    assert!(!first.shares_warm_up(&Experiment { neighbours: None, ..first.clone() }));
    let at = 4 * SECOND;
    let shared = WarmRun::new(first).fork(at).towards(&other).complete();
    for name in ["sack", "etcp-v1"] {
        assert_eq!(shared.run(&scheme(name)), run(&other, at, &scheme(name)));
    }
}

const QUEUES: [&str; 5] =
    ["", ",queue=codel", ",queue=fq_codel", ",loss=ge(1%,30%)", ",jitter=5ms,queue=pie"];

proptest! {
    #![proptest_config(cases(4))]

    /// No sender beats the bounds, whoever shares the links, and every instant of the new link has its class.
    #[test]
    fn neighbours_leave_bounds_and_conserve_packets(
        rates in (200u32..8000, 200u32..8000), delays in (1u32..200, 1u32..200),
        queues in (0..QUEUES.len(), 0..QUEUES.len()), stacks in (0..PROFILES.len(), 0..PROFILES.len()),
        users in 1u16..5, flows in 1usize..3, outage in prop::option::of(100u64..2000), in_band: bool,
        at in 100u64..=6_000, seed in 1u64..4, error in 0u64..200,
    ) {
        let e = Experiment {
            kind: outage.map_or(Kind::Mbb, |outage| Kind::Bbm(outage * MS)),
            notice: if in_band { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant },
            notice_error: format!("rate=2x,late={error}ms").parse().expect("words"),
            seed,
            flows,
            stack: PROFILES[stacks.0],
            packets: 60,
            ..experiment(
                &format!("{}kbit/{}ms{}", rates.0, delays.0, QUEUES[queues.0]),
                &format!("{}kbit/{}ms{}", rates.1, delays.1, QUEUES[queues.1]),
            )
        };
        let handoff = WarmRun::new(beside(users, PROFILES[stacks.1], e)).fork(at * MS).complete();
        let plain = handoff.run(&scheme("sack"));
        for name in ["sack", "etcp-v1", "etcp:a1+a3", "near", "freeze"] {
            let record = handoff.run(&scheme(name));
            prop_assert_eq!(record.bound, plain.bound);
            let time = record.transfer;
            prop_assert!(time.is_none_or(|time| time >= record.bound), "{} in {:?} < {}", name, time, record.bound);
            let told = record.bound_told;
            prop_assert!(time.is_none_or(|time| time >= told), "{} in {:?}, told {}", name, time, told);
            prop_assert!(told >= record.bound);
            let length: Nanos = time.unwrap_or(400 * SECOND);
            prop_assert_eq!(record.link_time.total(), length, "{:?}", record.link_time);
            let undisturbed = |record: &segue_world::RunRecord| record.neighbours.map(|all| all.undisturbed);
            prop_assert_eq!(undisturbed(&record), undisturbed(&plain));
        }
    }
}
