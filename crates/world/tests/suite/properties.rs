//! Invariants of every handoff: random links, kinds, flows, times, schemes, stacks and notices.

use crate::support::*;
use proptest::prelude::*;
use segue_handoff::Scheme;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::profile::{KERNELS, PROFILES};
use segue_world::{Definition, Experiment, Kind, NoticeMode, RunRecord, WarmRun};

const SCHEMES: [&str; 20] = [
    "mobile",
    "mobile-resume",
    "mobile-window",
    "near",
    "freeze",
    "sack",
    "etcp",
    "etcp-a5",
    "etcp-v0",
    "etcp-v1",
    "etcp:a1",
    "etcp:a2",
    "etcp:a3",
    "etcp:a4",
    "etcp:a5",
    "etcp:fig1",
    "etcp:fig2",
    "etcp:fig3",
    "etcp:a1+a3",
    "etcp:a4+fig3",
];

/// Those that need a kernel's stack.
const ON_KERNELS: [&str; 6] = ["backoff-reset", "quic-reset", "careful-resume", "satcp", "leocc", "rtt-jump"];

/// Rates spread evenly over the decades, delays over the papers' range.
fn any_link() -> impl Strategy<Value = String> {
    (2.0f64..5.0, 1u32..=400)
        .prop_map(|(decade, delay)| format!("{}kbit/{delay}ms", 10f64.powf(decade).round()))
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Mbb), (100u64..=3000).prop_map(|outage| Kind::Bbm(outage * MS))]
}

fn any_notice() -> impl Strategy<Value = NoticeMode> {
    prop_oneof![
        3 => Just(NoticeMode::Instant),
        3 => (0u32..=2).prop_map(|lost| NoticeMode::InBand { lost }),
        1 => Just(NoticeMode::Withheld),
    ]
}

fn any_experiment() -> impl Strategy<Value = Experiment> {
    let how = (any_kind(), 1usize..=4, any_notice(), any::<bool>(), 1u64..=3, 1u32..=100);
    // Half of the runs on the papers' stack.
    let stack = prop_oneof![Just(0), 0..PROFILES.len()];
    (any_link(), any_link(), how, stack).prop_map(|(old, new, how, stack)| {
        let (kind, flows, notice, after_ack, seed, packets) = how;
        let definition = if after_ack { Definition::AfterAck } else { Definition::AfterHighest };
        let stack = PROFILES[stack];
        Experiment { kind, flows, notice, definition, seed, packets, stack, ..experiment(&old, &new) }
    })
}

/// How many copies of the notice a sender can hear.
fn copies(notice: NoticeMode) -> u32 {
    match notice {
        NoticeMode::InBand { lost } => 2u32.saturating_sub(lost),
        NoticeMode::Instant | NoticeMode::Withheld => 0,
    }
}

/// The twin's run of the same handoff, up to the end of the transfer.
fn twin(experiment: &Experiment, at: Nanos, name: &str) -> Twin {
    let twin = Twin::hand_over_with(experiment, at, &scheme(name));
    let copies = copies(experiment.notice);
    if !scheme(name).mobile().announces
        || name == "sack"
        || (copies == 0 && experiment.notice != NoticeMode::Instant)
    {
        return twin;
    }
    let twin = twin.equip(&scheme(name));
    if copies > 0 { twin.announce(copies) } else { twin.notify() }
}

/// The record of a handoff that is consistent in itself.
fn consistent(experiment: &Experiment, at: Nanos, name: &str, scheme: &Scheme) -> RunRecord {
    let handoff = WarmRun::new(experiment.clone()).fork(at).complete();
    let record = handoff.run(scheme);
    assert_eq!(record, handoff.run(scheme), "the same input, the same record");

    // Times.
    assert_eq!(record.at, at);
    assert_eq!(record.completion, at + experiment.kind.disconnection());
    let length = record.transfer.unwrap_or(400 * SECOND);
    let beaten = record.transfer.is_some_and(|time| time < record.bound);
    assert!(!beaten, "{name} beat the bound: {length} < {}", record.bound);
    let beaten = record.transfer.is_some_and(|time| time < record.bound_told);
    assert!(!beaten, "{name} beat the bound given the notice: {length} < {}", record.bound_told);
    assert!(record.bound_told >= record.bound, "who knows less is no faster");
    if experiment.notice == NoticeMode::Instant {
        assert_eq!(record.bound_told, record.bound);
    }
    assert_eq!(record.link_time.total(), length, "classes of link time: {:?}", record.link_time);
    let by_definition = match experiment.definition {
        Definition::AfterHighest => record.after_highest,
        Definition::AfterAck => record.after_ack,
    };
    assert_eq!(record.transfer, by_definition);
    if let Some(highest) = record.after_highest {
        assert!(record.after_ack.is_some_and(|ack| ack <= highest));
    }

    // Counts.
    let end = record.completion + length;
    let flows = experiment.flows;
    for timeout in &record.timeouts {
        assert!(usize::from(timeout.flow) < flows && at <= timeout.at && timeout.at <= end, "{timeout:?}");
    }
    for &(when, flow, _) in &record.fast_retransmits {
        assert!(usize::from(flow) < flows && at <= when && when <= end);
    }
    for drop in &record.data_drops {
        assert!(usize::from(drop.flow) < flows && record.completion <= drop.at && drop.at <= end);
    }
    assert_eq!(record.acknowledged.len(), flows);
    // After-ack counts from regular TCP's ACK at completion; who acts before that may be ahead of it then. A sender with
    // a schedule, that expects the handoff, or that acts from the start, may be ahead of regular TCP's highest packet, too.
    let rule = scheme.mobile();
    let acts_before = rule.window.is_some() || rule.foretells.is_some() || scheme.router().is_some();
    let knows = scheme.schedule().is_some() || rule.expects.is_some();
    let differs = scheme.attends() || (knows && experiment.notice != NoticeMode::Withheld);
    let counts_from_own = !differs && (experiment.definition == Definition::AfterHighest || !acts_before);
    if record.transfer.is_some() && counts_from_own {
        assert!(record.acknowledged.iter().all(|&packets| packets >= experiment.packets));
    }
    // Nobody waits longer than a full queue takes.
    let fixed = experiment.new.down.mean_rate();
    let slot = (12_000 * SECOND).div_ceil(fixed) + 1;
    assert!(record.queue_delays.iter().all(|&delay| delay <= u64::from(experiment.new.queue - 1) * slot));

    record
}

fn check(experiment: &Experiment, at: Nanos, name: &str) {
    let record = consistent(experiment, at, name, &scheme(name));
    let flows = experiment.flows;
    // The twin knows every event.
    let mut twin = twin(experiment, at, name);
    if record.transfer.is_none() {
        return;
    }
    assert_eq!(Some(twin.finish()), record.transfer);
    twin.agrees_with(&record);
    let ack_drops = twin.picked(|what| matches!(what, What::AckDropped { .. }).then_some(()));
    let ack_drops = ack_drops.iter().filter(|drop| drop.0 >= record.completion).count();
    assert_eq!(record.drops as usize, record.data_drops.len() + ack_drops, "drops are data and ACKs");
    for flow in 0..flows {
        assert_eq!(record.acknowledged[flow], twin.sender(flow).snd_una() - twin.una[flow]);
    }
    // A needless retransmission was sent since completion and brought nothing new.
    let sent = twin.sent.clone();
    let needless = twin.events().filter(|&(_, flow, what)| match what {
        What::Arrived { copy, again, new, .. } => again && !new && copy >= sent[usize::from(flow)],
        _ => false,
    });
    assert_eq!(record.needless_retransmissions as usize, needless.count());
    // The queueing delay of whatever entered the new link's queue was noted, in that order.
    let waits = twin.picked(|what| match what {
        What::Queued { waits } => Some(waits),
        _ => None,
    });
    assert_eq!(record.queue_delays, waits.iter().map(|&(.., waits)| waits).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_handoff_is_consistent(
        experiment in any_experiment(),
        at in 100u64..=12_000,
        name in prop::sample::select(SCHEMES.to_vec()),
    ) {
        check(&experiment, at * MS, name);
    }

    #[test]
    fn every_handoff_on_a_kernels_stack_is_consistent(
        experiment in any_experiment(),
        at in 100u64..=12_000,
        name in prop::sample::select(ON_KERNELS.to_vec()),
        stack in 0..KERNELS.len(),
    ) {
        let fit: Vec<_> = KERNELS.iter().filter(|stack| Scheme::needs(name).met_by(stack)).collect();
        consistent(&Experiment { stack: *fit[stack % fit.len()], ..experiment }, at * MS, name, &scheme(name));
    }

    /// near.md, 8.13: also where the announcement comes early, or too late.
    #[test]
    fn every_handoff_that_is_announced_is_consistent(
        experiment in any_experiment(),
        at in 1_000u64..=12_000,
        announce in prop::sample::select(vec!["auto", "0s", "7ms", "80ms", "1s"]),
        stack in 0..KERNELS.len(),
    ) {
        let near = scheme_with("near", &[("enact", "linux"), ("announce", announce)]);
        let stack = KERNELS[stack];
        let fit = Scheme::needs("near").met_by(&stack);
        let notice = NoticeMode::InBand { lost: experiment.seed as u32 - 1 };
        let e = Experiment { kind: Kind::Mbb, notice, stack, ..experiment };
        if fit {
            consistent(&e, at * MS, &format!("near, announce={announce}"), &near);
        }
    }
}

/// Found by the next test: all that is needed is on the old link, over which the mobile also announces its window. So the
/// last ACK is there before one over the new link can be.
#[test]
fn an_ack_over_the_old_link_beats_no_bound() {
    let experiment = Experiment {
        flows: 2,
        definition: Definition::AfterAck,
        ..experiment("93180kbit/143ms", "100kbit/228ms")
    };
    let handoff = WarmRun::new(experiment).fork(8_698 * MS).complete();
    let record = handoff.run(&scheme("mobile"));
    assert!(
        record.transfer.is_some_and(|time| time >= record.bound && time < 240 * MS),
        "{:?}",
        record.transfer
    );
}

proptest! {
    #![proptest_config(cases(12))]

    /// The papers' own ground, all schemes on one handoff.
    #[test]
    fn no_scheme_beats_the_bound(
        old in any_link(), new in any_link(), kind in any_kind(), flows in 1usize..=4,
        after_ack: bool, at in 100u64..=12_000,
    ) {
        let definition = if after_ack { Definition::AfterAck } else { Definition::AfterHighest };
        let experiment = Experiment { kind, flows, definition, ..experiment(&old, &new) };
        let in_band = Experiment { notice: NoticeMode::InBand { lost: 0 }, ..experiment.clone() };
        let handoff = WarmRun::new(experiment).fork(at * MS).complete();
        let told = WarmRun::new(in_band).fork(at * MS).complete();
        let bound = handoff.run(&scheme("sack")).bound;
        for name in SCHEMES {
            let record = handoff.run(&scheme(name));
            prop_assert_eq!(record.bound, bound, "one bound for all");
            prop_assert!(record.transfer.is_none_or(|time| time >= bound), "{} in {:?}", name, record.transfer);
            let record = told.run(&scheme(name));
            let (time, bound) = (record.transfer, record.bound_told);
            prop_assert!(time.is_none_or(|time| time >= bound), "{} in {:?}, told {}", name, time, bound);
        }
    }
}
