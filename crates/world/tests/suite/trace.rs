//! A trace is the run itself: watching changes nothing, and the events tell what the record counts.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::profile::PROFILES;
use segue_tcp::receiver::Arrival;
use segue_world::trace::{Event, SenderState, Trace, What, trace, trace_since};
use segue_world::{Experiment, Kind, NoticeMode, RunRecord, WarmRun};
use std::collections::BTreeSet;

/// Measures taken from the events, without a look at the record.
#[derive(Debug, Default, PartialEq)]
struct Told {
    timeouts: Vec<(Nanos, u16, u32)>,
    fast_retransmits: Vec<(Nanos, u16, u32)>,
    drops: u32,
    lost: u32,
    retransmissions: u32,
    needless: u32,
    queue_delays: Vec<Nanos>,
    acknowledged: Vec<u32>,
    first_sent: Option<Nanos>,
    sent_while_draining: u32,
    senders_at: Vec<(u32, Nanos)>,
}

fn told(events: &[Event], at: Nanos, completion: Nanos, flows: usize) -> Told {
    let mut told = Told::default();
    let mut sent_since = BTreeSet::new();
    let (mut before, mut una) = (vec![0; flows], vec![0; flows]);
    let mut states: Vec<Option<SenderState>> = vec![None; flows];
    let mut sent_before = vec![0; flows];
    for event in events {
        let since = event.at >= completion;
        if let What::Sent(packet) = &event.what
            && packet.data
            && !packet.is_probe()
            && since
        {
            let flow = usize::from(packet.flow);
            told.first_sent.get_or_insert(event.at - completion);
            let una = states[flow].map_or(0, |state| state.snd_una);
            told.sent_while_draining += u32::from(una < sent_before[flow] && !packet.retransmission);
        }
        if let What::State { flow, state } = &event.what {
            let flow = usize::from(*flow);
            states[flow] = Some(*state);
            if event.at < at {
                told.senders_at.resize(flows, (0, 0));
                told.senders_at[flow] = (state.flight(), state.rto);
            }
            if !since {
                sent_before[flow] = state.snd_max;
            }
        }
        match &event.what {
            What::Timeout { flow, head, .. } if event.at >= at => {
                told.timeouts.push((event.at, *flow, *head))
            }
            What::FastRetransmit { flow, head, .. } if event.at >= at => {
                told.fast_retransmits.push((event.at, *flow, *head));
            }
            What::Dropped { .. } => told.drops += u32::from(since),
            What::Lost { .. } => told.lost += u32::from(event.at >= at),
            What::Sent(packet) if since && packet.retransmission => {
                told.retransmissions += 1;
                sent_since.insert((packet.flow, packet.copy));
            }
            What::Received { packet, arrival: Some(Arrival::Duplicate) } => {
                told.needless += u32::from(sent_since.contains(&(packet.flow, packet.copy)));
            }
            What::Queued { side: segue_world::trace::Side::New, packet, start, .. } if packet.data => {
                told.queue_delays.push(start - event.at);
            }
            What::State { flow, state } => {
                let now = if since { &mut una } else { &mut before };
                now[usize::from(*flow)] = state.snd_una;
            }
            _ => {}
        }
    }
    told.acknowledged = una.iter().zip(before).map(|(una, before)| una.saturating_sub(before)).collect();
    told
}

fn recorded(record: &RunRecord) -> Told {
    Told {
        timeouts: record.timeouts.iter().map(|t| (t.at, t.flow, t.head)).collect(),
        fast_retransmits: record.fast_retransmits.clone(),
        drops: record.drops,
        lost: record.lost_in_disconnection,
        retransmissions: record.retransmissions,
        needless: record.needless_retransmissions,
        queue_delays: record.queue_delays.clone(),
        acknowledged: record.acknowledged.clone(),
        first_sent: record.first_sent,
        sent_while_draining: record.sent_while_draining,
        senders_at: record.senders_at.iter().map(|sender| (sender.flight, sender.rto)).collect(),
    }
}

fn check(experiment: &Experiment, at: Nanos, names: &[&str]) -> Vec<Trace> {
    let schemes: Vec<_> = names.iter().map(|name| scheme(name)).collect();
    let traces = trace(experiment, at, &schemes.iter().collect::<Vec<_>>());
    let handoff = WarmRun::new(experiment.clone()).fork(at).complete();
    for (scheme, trace) in schemes.iter().zip(&traces) {
        assert_eq!(trace.record, handoff.run(scheme), "watching changes nothing");
        let times: Vec<Nanos> = trace.events.iter().map(|event| event.at).collect();
        assert!(times.is_sorted() && times.iter().all(|&at| at <= trace.end));
        let record = &trace.record;
        assert_eq!(told(&trace.events, at, record.completion, experiment.flows), recorded(record));
        assert_eq!(trace.end, record.completion + record.transfer.unwrap_or(400 * SECOND));
    }
    for since in [at.saturating_sub(300 * MS), at] {
        let late = trace_since(experiment, at, &schemes.iter().collect::<Vec<_>>(), since);
        for (full, late) in traces.iter().zip(&late) {
            keeps_what_is_needed(full, late, since);
        }
    }
    traces
}

/// `late` tells the same from `since` on, and of what was before each sender's last state and what still was in
/// an access link.
fn keeps_what_is_needed(full: &Trace, late: &Trace, since: Nanos) {
    assert_eq!((&full.record, full.end), (&late.record, late.end));
    let resent = |event: &&Event| matches!(&event.what, What::Sent(packet) if packet.retransmission);
    let count = |trace: &Trace| trace.resent_before as usize + trace.events.iter().filter(resent).count();
    assert_eq!(count(full), count(late));
    let (before, since_then): (Vec<&Event>, Vec<&Event>) =
        full.events.iter().partition(|event| event.at < since);
    let (early, later): (Vec<&Event>, Vec<&Event>) = late.events.iter().partition(|event| event.at < since);
    assert_eq!(format!("{since_then:?}"), format!("{later:?}"));
    let states = |events: &[&Event]| {
        let mut last = vec![None; full.experiment.flows];
        for event in events {
            if let What::State { flow, state } = &event.what {
                last[usize::from(*flow)] = Some((event.at, *state));
            }
        }
        last
    };
    assert_eq!(states(&before), states(&early));
    let waiting =
        |event: &&&Event| matches!(&event.what, What::Queued { departure, .. } if *departure >= since);
    let expected = before.iter().filter(waiting).count() + states(&early).iter().flatten().count();
    assert_eq!(expected, early.len(), "nothing else is kept");
}

/// No connection, nothing to report to: the mobile answers the SYN first.
#[test]
fn nobody_announces_before_the_syn() {
    let notice = NoticeMode::InBand { lost: 0 };
    let experiment = Experiment { notice, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    for at in [0, 100 * MS, 250 * MS] {
        let trace = trace(&experiment, at, &[&scheme("etcp")]).remove(0);
        let first = trace.events.iter().find_map(|event| match &event.what {
            What::Sent(packet) if !packet.data => Some(packet.segment),
            _ => None,
        });
        assert!(first.is_some_and(|ack| ack.ack > 0 && ack.syn), "{at}: {first:?}");
    }
}

#[test]
fn the_events_of_a_narrated_handoff() {
    // Figure 8 of the paper: 8.2 s, fast to slow.
    let traces = check(&experiment("6400kbit/9ms", "200kbit/300ms"), 8_200 * MS, &["sack", "etcp"]);
    let decisions = |trace: &Trace| {
        let decided = trace.events.iter().filter_map(|event| match &event.what {
            What::Decided { decision, .. } => Some(decision.rules.iter().map(|rule| rule.name)),
            _ => None,
        });
        decided.flatten().collect::<Vec<_>>()
    };
    assert_eq!(decisions(&traces[0]), [""; 0], "regular TCP hears nothing");
    let etcp = decisions(&traces[1]);
    // The paper: minrto rises to 552 ms, and returns with the first sample of the new path.
    assert_eq!(etcp, ["A1, case 1", "A1", "first sample"]);
    // Packet and state tell the same: what has been sent is outstanding.
    let mut last: Option<SenderState> = None;
    for event in &traces[0].events {
        match &event.what {
            What::State { state, .. } => last = Some(*state),
            What::Sent(packet) if packet.data && !packet.retransmission => {
                assert_eq!(last.map(|state| state.snd_una <= packet.segment.seq), Some(true));
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    #[test]
    fn any_trace_tells_what_its_record_counts(
        rates in (2.3f64..4.0, 2.3f64..4.0),
        delays in (1u32..300, 1u32..300),
        outage in proptest::option::of(50u64..3000),
        flows in 1usize..4,
        stack in 0..PROFILES.len(),
        in_band in any::<bool>(),
        at in 1u64..120,
    ) {
        let link = |rate: f64, delay| format!("{}kbit/{delay}ms", 10f64.powf(rate).round());
        let kind = outage.map_or(Kind::Mbb, |ms| Kind::Bbm(ms * MS));
        let notice = if in_band { NoticeMode::InBand { lost: 0 } } else { NoticeMode::Instant };
        let plain = experiment(&link(rates.0, delays.0), &link(rates.1, delays.1));
        let experiment = Experiment { kind, flows, notice, stack: PROFILES[stack], packets: 40, ..plain };
        check(&experiment, at * 100 * MS, &["sack", "etcp-v1", "freeze"]);
    }
}
