//! Links that lose, delay and reorder packets, whose queues are managed and whose rates change.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{LossCause, Nanos, SECOND};
use segue_tcp::StackProfile;
use segue_tcp::profile::{LINUX_6_12, NS2_SACK1, PROFILES};
use segue_world::trace::{Side, Trace, What};
use segue_world::{Definition, Experiment, Kind, NoticeMode, RunRecord, WarmRun};
use std::collections::BTreeMap;

/// Words of each kind, some of them none.
fn any_words() -> impl Strategy<Value = String> {
    let word = |words: &'static [&'static str]| prop::sample::select(words);
    let way = (
        word(&[
            "",
            ",loss=1%",
            ",loss=20%",
            ",loss=ge(0.5%,30%)",
            ",loss=ge(5%,10%,80%,1%)",
            ",loss=ge(10%,20%)/5ms",
        ]),
        word(&[
            "",
            ",jitter=5ms",
            ",jitter=pareto(20ms)",
            ",jitter=8ms,reorder=2%",
            ",jitter=30ms,reorder=all",
        ]),
        word(&[
            "",
            ",queue=codel",
            ",queue=fq_codel",
            ",queue=pie",
            ",queue=red",
            ",queue=2bdp",
            ",queue=fq_codel,20p",
        ]),
        word(&["", ",arq=10%/8ms"]),
        word(&[
            "",
            ",vary=walk(40%)",
            ",vary=markov(20%,2%,10%)",
            ",reconfigure=15s@12s(80ms,10ms)",
            ",shape=300kbit/6kB",
            ",aggregate=64/200us",
            ",aggregate=3/2ms",
            ",grant=10ms/4ms",
        ]),
        word(&["", ",police=500kbit/30kB"]),
        word(&["", ",up=100kbit", ",up=2mbit/7ms", ",up-loss=10%", ",up-queue=3p,up-jitter=40ms"]),
    );
    way.prop_map(|(loss, jitter, queue, arq, rate, police, up)| {
        format!("{loss}{jitter}{queue}{arq}{rate}{police}{up}")
    })
}

fn any_link() -> impl Strategy<Value = String> {
    (2.3f64..4.5, 1u32..=200, any_words())
        .prop_map(|(decade, delay, words)| format!("{}kbit/{delay}ms{words}", 10f64.powf(decade).round()))
}

fn any_experiment() -> impl Strategy<Value = Experiment> {
    let kind = prop_oneof![Just(Kind::Mbb), (100u64..=3000).prop_map(|outage| Kind::Bbm(outage * MS))];
    let notice = prop_oneof![Just(NoticeMode::Instant), Just(NoticeMode::InBand { lost: 0 })];
    let how = (kind, notice, 1usize..=3, any::<bool>(), 1u64..=3);
    (any_link(), any_link(), how, 0..PROFILES.len()).prop_map(|(old, new, how, stack)| {
        let (kind, notice, flows, after_ack, seed) = how;
        let definition = if after_ack { Definition::AfterAck } else { Definition::AfterHighest };
        let stack = PROFILES[stack];
        Experiment { kind, notice, flows, definition, seed, stack, ..experiment(&old, &new) }
    })
}

proptest! {
    #![proptest_config(cases(2))]

    /// No run beats its bounds, whatever the links do, and the new link's time adds up.
    #[test]
    fn no_scheme_beats_the_bound(experiment in any_experiment(), at in 100u64..=8_000) {
        let handoff = WarmRun::new(experiment.clone()).fork(at * MS).complete();
        for name in ["sack", "etcp-v1", "near", "etcp-a5"] {
            let record = handoff.run(&scheme(name));
            let Some(time) = record.transfer else { continue };
            prop_assert!(time >= record.bound, "{}: {} beats {}", name, time, record.bound);
            prop_assert!(time >= record.bound_told, "{}: {} beats {}, told", name, time, record.bound_told);
            prop_assert_eq!(record.link_time.total(), time, "{}: {:?}", name, record.link_time);
        }
    }

    /// A run that was forked from a longer one, or towards another link, is the run from the beginning.
    #[test]
    fn a_fork_meets_the_same_weather(experiment in any_experiment(), other in any_link()) {
        let run = |warm: &mut WarmRun, at| warm.fork(at * MS).complete().run(&scheme("etcp-v1"));
        let alone = run(&mut WarmRun::new(experiment.clone()), 3_000);
        let mut shared = WarmRun::new(experiment.clone());
        run(&mut shared, 1_000);
        prop_assert_eq!(&run(&mut shared, 3_000), &alone);
        let elsewhere = Experiment { new: link(&other), ..experiment.clone() };
        if elsewhere.shares_warm_up(&experiment) {
            let fork = WarmRun::new(elsewhere).fork(3_000 * MS).towards(&std::sync::Arc::new(experiment));
            prop_assert_eq!(&fork.complete().run(&scheme("etcp-v1")), &alone);
        }
    }
}

/// The trace of a handoff at 4 s between two such links.
fn traced(words: &str, stack: StackProfile, seed: u64) -> Trace {
    let text = format!("4mbit/20ms{words}");
    let experiment = Experiment { stack, seed, packets: 2000, ..experiment(&text, &text) };
    segue_world::trace::trace(&experiment, 4 * SECOND, &[&scheme("sack")]).remove(0)
}

/// Whether the link lost them: packets of a direction that have come to their end, in the order of their
/// transmissions.
fn fates(trace: &Trace, wanted: Side, data: bool) -> Vec<bool> {
    let mut lost = BTreeMap::new();
    let mut sent = Vec::new();
    for event in &trace.events {
        match &event.what {
            What::Queued { side, packet, delivery, .. }
                if *side == wanted && packet.data == data && *delivery < trace.end =>
            {
                sent.push((packet.flow, packet.copy, *delivery));
            }
            What::Lost { side, packet, cause: LossCause::Link } if *side == wanted && packet.data == data => {
                lost.insert((packet.flow, packet.copy, event.at), ());
            }
            _ => {}
        }
    }
    sent.iter().map(|packet| lost.contains_key(packet)).collect()
}

/// The k-th packet of a direction has the same fate with each sender. Links, directions and seeds differ.
#[test]
fn senders_meet_the_same_losses() {
    let words = ",loss=ge(3%,30%)";
    let [old, new] = [NS2_SACK1, LINUX_6_12].map(|stack| traced(words, stack, 3));
    let mut seen = Vec::new();
    for side in [Side::Old, Side::New] {
        let [one, two] = [&old, &new].map(|trace| fates(trace, side, true));
        let common = one.len().min(two.len());
        assert!(common > 150 && one[..common].contains(&true), "{common} packets");
        assert_eq!(one[..common], two[..common]);
        seen.push(one);
    }
    let differ = |one: &[bool], two: &[bool]| {
        let common = one.len().min(two.len());
        one[..common].contains(&true) && one[..common] != two[..common]
    };
    let other_seed = fates(&traced(words, NS2_SACK1, 4), Side::Old, true);
    assert!(differ(&seen[0], &seen[1]), "two links");
    assert!(differ(&seen[0], &other_seed), "two seeds");
    let acks = fates(&old, Side::Old, false);
    assert!(differ(&acks, &seen[0]), "two directions");
}

/// The delay added to a packet depends on the time at which it leaves alone.
#[test]
fn senders_meet_the_same_jitter() {
    let added = |stack: StackProfile| -> BTreeMap<Nanos, Nanos> {
        let trace = traced(",jitter=10ms,reorder=all", stack, 2);
        let queued = trace.events.iter().filter_map(|event| match &event.what {
            What::Queued { side: Side::Old, packet, departure, delivery, .. } if packet.data => {
                Some((departure / (10 * MS), delivery - departure - 20 * MS))
            }
            _ => None,
        });
        let mut slots = BTreeMap::new();
        for (slot, added) in queued {
            assert_eq!(*slots.entry(slot).or_insert(added), added, "one value for a slot");
        }
        slots
    };
    let [one, two] = [NS2_SACK1, LINUX_6_12].map(added);
    let common: Vec<_> = one.iter().filter(|(slot, _)| two.contains_key(slot)).collect();
    assert!(common.len() > 100, "{} slots", common.len());
    assert!(common.iter().all(|(slot, added)| two[slot] == **added));
}

/// Two directions with rates, delays and queues of their own: a byte takes 2 us down and 80 us up.
#[test]
fn directions_have_their_own_rates() {
    let text = "4mbit/20ms,up=100kbit/50ms,queue=12p,up-queue=400ms";
    let experiment = experiment(text, text);
    assert_eq!((experiment.old.queue, experiment.old.up_queue), (12, Some(3)));
    let trace = segue_world::trace::trace(&experiment, 2 * SECOND, &[&scheme("sack")]).remove(0);
    let mut counts = [0, 0];
    for event in &trace.events {
        let What::Queued { packet, start, departure, delivery, .. } = &event.what else { continue };
        if packet.segment.option.is_empty() && (packet.data || packet.segment.ack > 1) {
            let bytes = Nanos::from(packet.bytes);
            let expected = if packet.data { (2_000 * bytes, 20 * MS) } else { (80_000 * bytes, 50 * MS) };
            assert_eq!((departure - start, delivery - departure), expected, "{packet:?}");
            counts[usize::from(packet.data)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

/// A queue that marks loses nothing of senders that understand it, and holds the delay all the same. Others it drops as
/// if it did not mark.
#[test]
fn marks_stand_for_drops() {
    for queue in ["codel", "fq_codel", "pie", "red"] {
        let of = |word: &str, ecn: &str| {
            let mut stack = LINUX_6_12;
            stack.set("ecn", ecn).expect("a setting");
            let text = format!("4mbit/20ms,queue={queue}{word}");
            let e = Experiment { stack, packets: 2000, ..experiment("8mbit/20ms", &text) };
            run(&e, 3 * SECOND, &scheme("sack"))
        };
        let dropped = of("", "off");
        assert!(dropped.drops > 0 && dropped.retransmissions > 0, "{queue}");
        assert_eq!(of(",ecn", "off"), dropped, "{queue}");
        let marked = of(",ecn", "on");
        assert!(marked.drops < dropped.drops && marked.retransmissions < dropped.retransmissions, "{queue}");
        let longest = |record: &RunRecord| *record.queue_delays[200..].iter().max().expect("delays");
        assert!(longest(&marked) < 2 * longest(&dropped), "{queue}");
        assert!(marked.transfer.expect("an end") >= marked.bound);
    }
}
