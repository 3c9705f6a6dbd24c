//! Notices of one mobile's flows at the agent's pace (docs/reference/near.md, 8.6).

use crate::support::*;
use segue_handoff::Occasion;
use segue_netsim::{Nanos, SECOND};
use segue_world::trace::{Event, Trace, What, trace};
use segue_world::{Experiment, Kind, NoticeMode};

fn handoff(kind: Kind, flows: usize, new: &str, at: Nanos) -> Trace {
    handoff_between(["2mbit/30ms", new], kind, flows, at)
}

fn handoff_between([old, new]: [&str; 2], kind: Kind, flows: usize, at: Nanos) -> Trace {
    handoff_with(&[], [old, new], kind, flows, at)
}

fn handoff_with(
    settings: &[(&str, &str)],
    [old, new]: [&str; 2],
    kind: Kind,
    flows: usize,
    at: Nanos,
) -> Trace {
    let near = scheme_with("near", &[&[("enact", "linux")], settings].concat());
    let e = Experiment {
        notice: NoticeMode::InBand { lost: 0 },
        kind,
        flows,
        stack: stack("linux-6.12"),
        ..experiment(old, new)
    };
    trace(&e, at, &[&near]).remove(0)
}

/// Flows whose ACKs have a notice, and when these leave, from `completion` on.
fn told(trace: &Trace, completion: Nanos) -> Vec<(Nanos, u16)> {
    let told = |event: &Event| match &event.what {
        What::Sent(packet) if !packet.data && !packet.segment.option.is_empty() => {
            (event.at >= completion).then_some((event.at, packet.flow))
        }
        _ => None,
    };
    trace.events.iter().filter_map(told).collect()
}

/// After a disconnection they are a packet of 800 kbit/s apart, 15 ms. Data come later, and two ACKs of each flow repeat it.
#[test]
fn flows_are_told_one_by_one_after_a_disconnection() {
    let completion = 4 * SECOND;
    let told = told(&handoff(Kind::Bbm(SECOND), 3, "800kbit/60ms", 3 * SECOND), completion);
    let expected: Vec<_> =
        (0..3).flat_map(|flow| [(completion + Nanos::from(flow) * 15 * MS, flow); 2]).collect();
    assert_eq!(told[..6], expected);
    let mut again: Vec<_> = told[6..].iter().map(|(_, flow)| *flow).collect();
    again.sort_unstable();
    assert_eq!(again, [0, 0, 1, 1, 2, 2]);
}

/// Without one two flows at a time, in four ACKs of 84 octets, which half of 800 kbit/s carries in 6.72 ms. Two of
/// a flow's own ACKs carry it before its turn, and two after it.
#[test]
fn flows_are_told_at_half_the_uplink_without_a_disconnection() {
    let completion = 5 * SECOND;
    let told = told(&handoff(Kind::Mbb, 8, "800kbit/60ms", completion), completion);
    let turn = |flow: u16| completion + Nanos::from(flow / 2) * 6_720_000;
    let mut own = 0;
    for flow in 0..8 {
        let of_flow = || told.iter().filter(|(_, of)| *of == flow).map(|(at, _)| *at);
        assert_eq!(of_flow().filter(|&at| at == turn(flow)).count(), 2, "{flow}");
        let before = of_flow().filter(|&at| at < turn(flow)).count();
        let after = of_flow().filter(|&at| at > turn(flow)).count();
        assert!(before <= 2 && after == 2, "{flow}: {:?}", of_flow().collect::<Vec<_>>());
        own += before;
    }
    assert!(own > 0, "eight flows of 2 Mbit/s have sent no ACK in 20 ms");
}

/// Type, number and kbit/s of the reports on a flow's ACKs from `since` on (docs/reference/wire.md).
fn reports_of(trace: &Trace, flow: u16, since: Nanos) -> Vec<(u8, u8, u32)> {
    let report = |event: &Event| match &event.what {
        What::Sent(packet) if packet.flow == flow && !packet.data && event.at >= since => {
            let octets: [u8; 12] = packet.segment.option.as_slice().try_into().ok()?;
            let rate = u32::from(u16::from_be_bytes([octets[8], octets[9]]));
            Some((octets[4] & 15, octets[5], (rate & 2047) << (rate >> 11)))
        }
        _ => None,
    };
    trace.events.iter().filter_map(report).collect()
}

fn is_notice(event: &Event) -> bool {
    matches!(&event.what, What::Decided { decision, .. } if matches!(decision.occasion, Occasion::Notice(_)))
}

/// Flows that answer a notice, each once.
fn heard(trace: &Trace) -> Vec<u16> {
    let heard = |event: &Event| match &event.what {
        What::Decided { flow, decision } if matches!(decision.occasion, Occasion::Notice(_)) => Some(*flow),
        _ => None,
    };
    let mut heard: Vec<_> = trace.events.iter().filter_map(heard).collect();
    heard.sort_unstable();
    heard
}

/// The uplink's queue holds five packets. In one burst, six ACKs of 32 would pass. Those of the old link's data go over
/// it, too, and one copy of a notice may be lost, but not both.
#[test]
fn each_of_sixteen_flows_is_told_over_a_queue_of_five() {
    let trace = handoff(Kind::Mbb, 16, "200kbit/100ms,up-queue=5", 3 * SECOND);
    assert_eq!(heard(&trace), (0..16).collect::<Vec<_>>());
}

/// A notice means nothing without a first report. In the first case the ACK that carried one first is lost, but its flow
/// has sent others. In the second one the first reports of two flows take the old link, and come after their notices.
#[test]
fn a_first_report_that_is_lost_or_late_costs_no_notice() {
    for (old, new, at) in
        [("400kbit/75ms", "6400kbit/75ms", 19_550 * MS), ("1600kbit/300ms", "1600kbit/37ms", 1550 * MS)]
    {
        let trace = handoff_between([old, new], Kind::Mbb, 8, at);
        assert_eq!(heard(&trace), (0..8).collect::<Vec<_>>(), "{old} -> {new}");
    }
}

/// The SYN of the last of eight flows has been lost time and again when the handoff completes. It comes two seconds
/// later. The flow has been one of the old link, and its own ACKs tell of both.
#[test]
fn a_flow_that_is_connecting_is_told_by_its_own_acks() {
    let trace = handoff_between(["200kbit/1ms", "6400kbit/1ms"], Kind::Mbb, 8, 13_550 * MS);
    assert_eq!(reports_of(&trace, 7, 0), [(1, 0, 200), (2, 1, 6400), (2, 1, 6400)]);
    assert_eq!(heard(&trace), (0..8).collect::<Vec<_>>());
    // Back on the old link since, it tells of that handoff alone.
    let back = handoff_between(["200kbit/1ms", "6400kbit/1ms"], Kind::PingPong(SECOND), 8, 13_550 * MS);
    assert_eq!(reports_of(&back, 7, 0), [(1, 0, 6400), (2, 2, 200), (2, 2, 200)]);
}

/// Nothing but the SYN has come to a flow whose first data are behind those of another, 300 ms away at 200 kbit/s. So it
/// has reported no link. The first report takes the place of a copy of the notice, and the flow's own ACKs repeat both.
/// Later it has been answered, and they repeat the notice alone.
#[test]
fn first_reports_go_ahead_of_a_notice() {
    let reports = |at: Nanos, kind: Kind| {
        let trace = handoff_between(["200kbit/300ms", "6400kbit/9ms"], kind, 2, at);
        let completion = at + if kind == Kind::Mbb { 0 } else { SECOND };
        (heard(&trace).len(), reports_of(&trace, 1, completion))
    };
    let (first, notice) = ((1, 0, 200), (2, 1, 6400));
    for kind in [Kind::Mbb, Kind::Bbm(SECOND)] {
        assert_eq!(reports(1550 * MS, kind), (2, vec![first, notice, first, notice, notice]), "{kind:?}");
        assert_eq!(reports(20 * SECOND, kind), (2, vec![notice; 4]), "{kind:?}");
    }
}

/// near.md, 8.13: half a round trip before it completes, 34 ms, the mobile announces a handoff without an outage. At
/// completion one more copy of the notice takes the old link.
#[test]
fn a_handoff_is_announced_over_the_old_link() {
    let completion = 5 * SECOND;
    let trace =
        handoff_with(&[("announce", "auto")], ["2mbit/30ms", "800kbit/60ms"], Kind::Mbb, 1, completion);
    let told = |at: Nanos| {
        let sent = trace.events.iter().filter(|event| event.at == at).filter_map(|event| match &event.what {
            What::Sent(packet) if !packet.data => packet.segment.option.as_slice().get(4..6),
            _ => None,
        });
        sent.map(|report| (report[0] & 15, report[1])).collect::<Vec<_>>()
    };
    assert_eq!(told(completion - 34 * MS), [(3, 1); 2]);
    assert_eq!(told(completion), [(2, 2); 3]);
    let heard: Vec<_> = trace.events.iter().filter(|event| is_notice(event)).map(|event| event.at).collect();
    assert_eq!(heard.len(), 1, "all copies are one notice");
    assert!((completion + 34 * MS..completion + 60 * MS).contains(&heard[0]), "over the old link: {heard:?}");
}
