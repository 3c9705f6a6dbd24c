//! Events and facts of one handoff, out of its packets.

use crate::ledger::{EventWord, Fact};
use segue_study::explain::SchemeTrace;
use segue_world::trace::{SenderState, What};
use segue_world::{Nanos, SECOND};

fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// Times in s at which an event happened from T on, in order.
pub fn times(told: &SchemeTrace, event: EventWord) -> Vec<f64> {
    let record = &told.trace.record;
    match event {
        EventWord::Timeout => record.timeouts.iter().map(|timeout| seconds(timeout.at)).collect(),
        EventWord::SpuriousTimeout => {
            let spurious = record.timeouts.iter().filter(|timeout| timeout.spurious);
            spurious.map(|timeout| seconds(timeout.at)).collect()
        }
        // The papers also tell of one shortly before the handoff.
        EventWord::FastRetransmit => {
            let all = told.trace.events.iter().filter(|e| matches!(e.what, What::FastRetransmit { .. }));
            all.map(|event| seconds(event.at)).collect()
        }
        EventWord::FirstRetransmission => first(told, record.at, |what| match what {
            What::Sent(packet) => packet.retransmission,
            _ => false,
        }),
        EventWord::FirstAckOfNewPath => {
            let sent_before = state_at(told, record.completion).map_or(0, |state| state.snd_max);
            first(told, record.completion, |what| match what {
                What::Received { packet, .. } => !packet.data && packet.segment.ack > sent_before,
                _ => false,
            })
        }
    }
}

fn first(told: &SchemeTrace, from: Nanos, is: impl Fn(&What) -> bool) -> Vec<f64> {
    let event = told.trace.events.iter().find(|event| event.at >= from && is(&event.what));
    event.map(|event| seconds(event.at)).into_iter().collect()
}

/// The sender of flow 0 as it stood at `at`, before what happens then.
fn state_at(told: &SchemeTrace, at: Nanos) -> Option<SenderState> {
    states(told).take_while(|(when, _)| *when < at).last().map(|(_, state)| state)
}

fn states(told: &SchemeTrace) -> impl Iterator<Item = (Nanos, SenderState)> {
    told.trace.events.iter().filter_map(|event| match &event.what {
        What::State { flow: 0, state } => Some((event.at, *state)),
        _ => None,
    })
}

/// The first state of flow 0 after the event at `at`.
fn state_after(told: &SchemeTrace, at: Nanos, is: impl Fn(&What) -> bool) -> Option<SenderState> {
    let mut events = told.trace.events.iter().skip_while(|event| event.at < at || !is(&event.what));
    events.find_map(|event| match &event.what {
        What::State { flow: 0, state } => Some(*state),
        _ => None,
    })
}

fn packets(window: u32) -> f64 {
    f64::from(window) / 256.0
}

/// A fact of flow 0, where it can be told.
pub fn fact(told: &SchemeTrace, fact: Fact) -> Option<f64> {
    let trace = &told.trace;
    let record = &trace.record;
    let data_drops = || {
        trace.events.iter().filter_map(|event| match &event.what {
            What::Dropped { packet, .. } if packet.data => Some((event.at, packet.segment.seq)),
            _ => None,
        })
    };
    let timeout = |index: usize| {
        let timeout = record.timeouts.get(index)?;
        state_after(told, timeout.at, |what| matches!(what, What::Timeout { .. }))
    };
    let fast = || {
        let (at, ..) = record.fast_retransmits.first()?;
        state_after(told, *at, |what| matches!(what, What::FastRetransmit { .. }))
    };
    let count = |number: usize| Some(number as f64);
    match fact {
        Fact::FirstLostPacket => {
            data_drops().find(|(at, _)| *at >= record.at).map(|(_, packet)| f64::from(packet))
        }
        Fact::DataLostInDisconnection => count(
            trace
                .events
                .iter()
                .filter(|e| matches!(&e.what, What::Lost { packet, .. } if packet.data))
                .count(),
        ),
        Fact::RecoveryTime => recovery_time(told),
        Fact::AckDelay => ack_delay(told),
        Fact::FlightAtT => record.senders_at.first().map(|sender| f64::from(sender.flight)),
        Fact::FlightAtFastRetransmit => {
            let (at, ..) = record.fast_retransmits.first()?;
            state_at(told, *at).map(|state| f64::from(state.flight()))
        }
        Fact::RtoAtT => record.senders_at.first().map(|sender| seconds(sender.rto)),
        Fact::SsthreshAfterFirstTimeout => timeout(0).map(|state| packets(state.ssthresh)),
        Fact::SsthreshAfterSecondTimeout => timeout(1).map(|state| packets(state.ssthresh)),
        Fact::SsthreshAfterFastRetransmit => fast().map(|state| packets(state.ssthresh)),
        Fact::SsthreshAtEnd => states(told).last().map(|(_, state)| packets(state.ssthresh)),
        Fact::NoticeLatency => {
            let heard = trace.events.iter().find(|event| match &event.what {
                What::Decided { decision, .. } => {
                    matches!(decision.occasion, segue_handoff::Occasion::Notice(_))
                }
                _ => false,
            });
            heard.map(|event| seconds(event.at - record.completion))
        }
        Fact::Unused => record.first_sent.map(seconds),
        Fact::OvershootTime => data_drops().next().map(|(at, _)| seconds(at)),
        Fact::OvershootLosses => {
            let first = data_drops().next()?.0;
            count(data_drops().filter(|(at, _)| *at < first + 2 * SECOND).count())
        }
        Fact::DataDrops => count(record.data_drops.len()),
        Fact::LongestBurst => Some(f64::from(longest_burst(told))),
        Fact::WindowReduced => {
            let reduced = trace.events.iter().any(|event| match &event.what {
                What::Decided { decision, .. } => {
                    decision.rules.iter().any(|rule| ["A2", "A5"].contains(&rule.name))
                }
                _ => false,
            });
            Some(f64::from(u8::from(reduced)))
        }
        Fact::Timeouts => count(record.timeouts.len()),
        Fact::SpuriousTimeouts => count(record.timeouts.iter().filter(|t| t.spurious).count()),
        Fact::ResentUntilNextTimeout => {
            let from = record.timeouts.first()?.at;
            let until = record.timeouts.get(1).map_or(Nanos::MAX, |timeout| timeout.at);
            let resent = trace.events.iter().filter(|event| match &event.what {
                What::Sent(packet) => packet.retransmission && (from..until).contains(&event.at),
                _ => false,
            });
            count(resent.count())
        }
        Fact::NeedlessRetransmissions => Some(f64::from(record.needless_retransmissions)),
    }
}

/// Time from the last transmission of a packet before its timer expires until it is acknowledged, s; of the first
/// such packet from T on.
fn ack_delay(told: &SchemeTrace) -> Option<f64> {
    let mut since = told.trace.events.iter().filter(|event| event.at >= told.trace.record.at);
    let (head, copy) = since.find_map(|event| match &event.what {
        What::Timeout { flow: 0, head, copy } => Some((*head, *copy)),
        _ => None,
    })?;
    let sent = told.trace.events.iter().find(|event| match &event.what {
        What::Sent(packet) => packet.data && packet.flow == 0 && packet.copy == copy,
        _ => false,
    })?;
    let acknowledged = states(told).find(|(at, state)| *at >= sent.at && state.snd_una > head)?.0;
    Some(seconds(acknowledged - sent.at))
}

/// From the first repair until what was outstanding then is acknowledged, s.
fn recovery_time(told: &SchemeTrace) -> Option<f64> {
    let record = &told.trace.record;
    let fast = record.fast_retransmits.first().map(|f| f.0);
    let timeout = record.timeouts.first().map(|t| t.at);
    let begun = [fast, timeout].into_iter().flatten().min()?;
    let outstanding = state_at(told, begun)?.snd_max;
    let over = states(told).find(|(at, state)| *at >= begun && state.snd_una >= outstanding)?.0;
    Some(seconds(over - begun))
}

/// Data packets sent at one instant from completion on, most.
fn longest_burst(told: &SchemeTrace) -> u32 {
    let mut longest = 0;
    let mut run = (0, 0);
    for event in &told.trace.events {
        if let What::Sent(packet) = &event.what
            && packet.data
            && event.at >= told.trace.record.completion
        {
            run = if run.0 == event.at { (event.at, run.1 + 1) } else { (event.at, 1) };
            longest = longest.max(run.1);
        }
    }
    longest
}
