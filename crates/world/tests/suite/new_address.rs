//! Handoffs to another address: connections end, and the mobile opens others.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::profile::{KERNELS, PROFILES};
use segue_world::trace::{Side, Trace, What, trace};
use segue_world::{Address, Definition, Experiment, Kind, NoticeMode, RunRecord};

fn anew(old: &str, new: &str) -> Experiment {
    Experiment { address: Address::New, ..experiment(old, new) }
}

fn traced(e: &Experiment, at: Nanos, name: &str) -> Trace {
    trace(e, at, &[&scheme(name)]).remove(0)
}

/// When the sender sends data from `from` on, and its packets' numbers; SYN is none.
fn data_sent(trace: &Trace, from: Nanos) -> Vec<(Nanos, u32)> {
    let sent = trace.events.iter().filter_map(|event| match &event.what {
        What::Sent(packet) if packet.data && packet.segment.seq > 0 && event.at >= from => {
            Some((event.at, packet.segment.seq))
        }
        _ => None,
    });
    sent.collect()
}

/// From end to end over idle links. Two wired hops have 100 Mbit/s and 2 ms, the access link 8 Mbit/s and 20 ms, the
/// last hop 500 Mbit/s.
fn one_way(bytes: Nanos) -> Nanos {
    let bits = 8 * bytes;
    2 * (bits * 10 + 2 * MS) + bits * 125 + 20 * MS + bits * 2
}

/// SYN, SYN-ACK and ACK of 40 bytes each take 24.04704 ms. So data comes from the 72.14112th ms on, and where the
/// receiver delays its ACK by 100 ms, so much later. The sender begins as it did at the start, and brings what the
/// receiver lacks.
#[test]
fn data_comes_after_a_handshake() {
    assert_eq!(one_way(40), ms(24.04704));
    let link = "8mbit/20ms";
    for (kind, completion) in [(Kind::Mbb, 3 * SECOND), (Kind::Bbm(500 * MS), 3 * SECOND + 500 * MS)] {
        let e = Experiment { kind, ..anew(link, link) };
        let trace = traced(&e, 3 * SECOND, "sack");
        let sent = data_sent(&trace, completion + 1);
        // ns-2's receiver delays the ACK of a SYN as any other.
        assert_eq!(sent[0], (completion + 3 * one_way(40) + 100 * MS, 1), "{kind:?}");

        let burst = |sent: &[(Nanos, u32)]| sent.iter().take_while(|one| one.0 == sent[0].0).count();
        assert_eq!(burst(&sent), burst(&data_sent(&trace, 0)), "the first window");
        let before: Vec<_> = data_sent(&trace, 0).into_iter().filter(|&(at, _)| at <= completion).collect();
        let highest = before.iter().map(|one| one.1).max().expect("data");
        let received = trace.events.iter().filter_map(|event| match &event.what {
            What::Received { packet, .. } if packet.data && event.at <= completion => {
                Some(packet.segment.seq)
            }
            _ => None,
        });
        // Nothing is lost before that: all up to the highest has come in order.
        let has = received.max().expect("data");
        assert!(has < highest);
        assert_eq!(trace.targets, [highest - has + e.packets + 1], "{kind:?}");
        let last = sent.iter().map(|one| one.1).max().expect("data");
        assert!(last + 1 >= trace.targets[0]);
        assert_eq!(trace.record.timeouts_after().count(), 0, "{kind:?}");
    }
}

/// Packets under way of the connections that ended go the old way, and nobody answers.
#[test]
fn old_packets_stay_on_the_old_link() {
    let at = 3 * SECOND;
    let trace = traced(&anew("1mbit/50ms", "8mbit/20ms"), at, "sack");
    let own = |event: &&segue_world::trace::Event| event.at > at;
    for event in trace.events.iter().filter(own) {
        match &event.what {
            What::Queued { side, .. } => assert_eq!(*side, Side::New, "at {}", event.at),
            What::Received { packet, .. } => assert!(event.at >= at + 2 * one_way(40), "{packet:?}"),
            _ => {}
        }
    }
    // 8 Mbit/s bring 100 packets in some 150 ms, and the old link's queue had held the rest for longer.
    assert!(trace.record.transfer.expect("an end") < 2 * SECOND);
}

/// A connection that begins after the handoff hears of none: schemes that answer notices are one.
#[test]
fn all_schemes_are_alike() {
    for notice in [NoticeMode::Instant, NoticeMode::InBand { lost: 0 }] {
        let e =
            Experiment { notice, notice_delay: 200 * MS, flows: 2, ..anew("1mbit/50ms", "400kbit/100ms") };
        let plain = run(&e, 3 * SECOND, &scheme("sack"));
        assert_eq!(plain.bound, plain.bound_told);
        for name in ["etcp-v1", "near", "etcp:a1", "mobile", "freeze"] {
            assert_eq!(run(&e, 3 * SECOND, &scheme(name)), plain, "{name}");
        }
    }
}

/// Without a queue before it, a first packet meets the bound but for what the handshake's options weigh.
#[test]
fn a_single_packet_is_as_early_as_the_bound_allows() {
    let e = Experiment { definition: Definition::AfterAck, packets: 1, ..anew("8mbit/20ms", "8mbit/20ms") };
    let record = run(&e, 3 * SECOND, &scheme("sack"));
    let transfer = record.transfer.expect("an end");
    assert!(record.bound <= transfer && record.bound >= 3 * one_way(40), "{} and {transfer}", record.bound);
}

/// The mobile's SYN is lost with four of five packets, and is sent again: after 1 s, 2 s, 4 s, ...
#[test]
fn a_lost_syn_is_sent_again() {
    let e = |seed| Experiment { seed, packets: 1, ..anew("8mbit/20ms", "8mbit/20ms,loss=80%") };
    let (mut again, at) = (0, 3 * SECOND);
    for seed in 1..=8 {
        let trace = traced(&e(seed), at, "sack");
        let mut sent = trace.events.iter().filter_map(|event| match &event.what {
            What::Sent(packet) if packet.data && event.at > at => Some((event.at - at, packet.segment.seq)),
            _ => None,
        });
        let (heard, first) = sent.next().expect("an answer");
        assert_eq!(first, 0);
        let lost = (0..6).find(|&lost| heard == ((1 << lost) - 1) * SECOND + one_way(40));
        again += lost.unwrap_or_else(|| panic!("seed {seed}: {heard}"));
    }
    assert!(again > 5, "{again}");
}

fn any_link() -> impl Strategy<Value = String> {
    (2.0f64..5.0, 1u32..=400, prop_oneof![Just(""), Just(",loss=5%"), Just(",queue=fq_codel")])
        .prop_map(|(decade, delay, feature)| format!("{}kbit/{delay}ms{feature}", 10f64.powf(decade).round()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Transfers end where nothing is lost at random and 200 s would do, no earlier than the bound, and the link's time is accounted for.
    #[test]
    fn no_transfer_beats_the_bound(
        (old, new) in (any_link(), any_link()),
        outage in prop_oneof![Just(None), (100u64..=3000).prop_map(Some)],
        (flows, packets, seed, after_ack) in (1usize..=4, 1u32..=60, 1u64..=3, any::<bool>()),
        stack in 0..PROFILES.len() + KERNELS.len(),
        at in 0u64..=12_000,
    ) {
        let kind = outage.map_or(Kind::Mbb, |outage| Kind::Bbm(outage * MS));
        let definition = if after_ack { Definition::AfterAck } else { Definition::AfterHighest };
        let stack = *PROFILES.iter().chain(&KERNELS).nth(stack).expect("a stack");
        let e = Experiment { kind, flows, packets, seed, definition, stack, ..anew(&old, &new) };
        let RunRecord { transfer, bound, link_time, .. } = run(&e, at * MS, &scheme("sack"));
        let Some(transfer) = transfer else {
            // A run lasts 400 s: a fast old link may leave a slow one more, and timers back off.
            prop_assert!(new.contains("loss") || bound > 200 * SECOND, "{bound}");
            return Ok(());
        };
        prop_assert!(transfer >= bound, "{transfer} < {bound}");
        prop_assert_eq!(link_time.total(), transfer);
    }
}
