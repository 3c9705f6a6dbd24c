//! The measures that the simulator has in common with a laboratory, against the traces of the same handoffs.

use crate::support::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::profile::{LINUX, NS2_SACK1};
use segue_world::trace::{What, trace};
use segue_world::{Experiment, Kind, NoticeMode, WarmRun};

const AFTER: [Nanos; 3] = [SECOND, 5 * SECOND, 10 * SECOND];

/// Packets at the mobile by `until`, each once, counted from what reached it.
fn received(events: &[segue_world::trace::Event], flow: u16, until: Nanos) -> u64 {
    let mut seqs: Vec<u32> = Vec::new();
    for event in events.iter().filter(|event| event.at < until) {
        if let What::Received { packet, .. } = &event.what
            && packet.data
            && packet.flow == flow
            && !packet.is_probe()
        {
            seqs.push(packet.segment.seq);
        }
    }
    seqs.sort_unstable();
    seqs.dedup();
    seqs.len() as u64
}

/// The numbers are those of the packets themselves, whatever the stack, the notice and the kind of handoff.
#[test]
fn the_measures_are_those_of_the_trace() {
    let bulk = |e: Experiment| Experiment { packets: 20_000, ..e };
    let in_band = NoticeMode::InBand { lost: 0 };
    let cases = [
        Experiment {
            kind: Kind::Bbm(3 * SECOND),
            stack: LINUX,
            notice: in_band,
            ..experiment("6400kbit/9ms", "6400kbit/9ms")
        },
        Experiment { stack: LINUX, notice: in_band, flows: 3, ..experiment("6400kbit/75ms", "800kbit/75ms") },
        Experiment {
            kind: Kind::Bbm(SECOND),
            stack: NS2_SACK1,
            ..experiment("200kbit/100ms", "6400kbit/100ms")
        },
    ];
    for e in cases.map(bulk) {
        for scheme in [scheme("sack"), scheme_with("etcp-v1", &[("enact", "linux")]), scheme("etcp-v1")] {
            let at = 4 * SECOND;
            let found = WarmRun::new(e.clone()).fork(at).complete().after_link_up(&scheme, &AFTER);
            let told = trace(&e, at, &[&scheme]).remove(0);
            let up = told.record.completion;
            assert!(told.end > up + AFTER[2], "the transfer is long enough");
            let sent = told.events.iter().filter(|event| event.at >= up && event.at < up + AFTER[2]);
            let sent = sent.filter_map(|event| match &event.what {
                What::Sent(packet) if packet.data && !packet.is_probe() => {
                    Some((event.at, packet.retransmission))
                }
                _ => None,
            });
            let sent: Vec<_> = sent.collect();
            assert_eq!(found.first_sent, sent.first().map(|(at, _)| at - up));
            assert_eq!(found.retransmissions as usize, sent.iter().filter(|(_, again)| *again).count());
            let delivered = AFTER.map(|after| {
                let by =
                    |time| (0..e.flows as u16).map(|flow| received(&told.events, flow, time)).sum::<u64>();
                (by(up + after) - by(up)) * u64::from(e.stack.mss)
            });
            assert_eq!(found.delivered, delivered, "{scheme:?}");
            assert!(delivered[2] > 0);
        }
    }
}

/// The purpose of a notice, on the stack that the laboratory's results are held against. After an outage that Linux's
/// timer has backed off over, a sender that hears sends within a round trip. It uses the link at once.
#[test]
fn after_an_outage_the_notice_brings_the_flow_back() {
    let e = Experiment {
        kind: Kind::Bbm(10 * SECOND),
        stack: LINUX,
        notice: NoticeMode::InBand { lost: 0 },
        ..experiment("6400kbit/9ms", "6400kbit/9ms")
    };
    let handoff = WarmRun::new(e).fork(3 * SECOND).complete();
    let deaf = handoff.after_link_up(&scheme("sack"), &AFTER);
    let hearing = handoff.after_link_up(&scheme_with("etcp-v1", &[("enact", "linux")]), &AFTER);
    // the notice's way, its transmission, and the wired hops
    assert!(hearing.first_sent.is_some_and(|at| at < 15 * MS), "{hearing:?}");
    assert!(deaf.first_sent.is_some_and(|at| at > 500 * MS), "{deaf:?}");
    // 6400 kbit/s are 800 kB in a second, headers included
    assert!(hearing.delivered[0] > 400_000, "{hearing:?}");
    assert!(hearing.delivered[0] > 5 * deaf.delivered[0]);
}
