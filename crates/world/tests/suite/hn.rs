//! Handoff Notification on the standard bench and in drives (algorithms.md, 5.2 and 5.3): forks, silence, loss of
//! notifications, buffers.

use crate::support::*;
use proptest::prelude::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::profile::INET_RENO;
use segue_world::drive::mobility::{Drive, Stay};
use segue_world::drive::run::{DriveExperiment, WideArea};
use segue_world::record::RunRecord;
use segue_world::trace::{What, trace};
use segue_world::{AccessLink, Experiment, Kind, NoticeMode, Routers, WarmRun};
use std::sync::Arc;

fn routers(settings: &[(&str, &str)]) -> Routers {
    let mut routers = Routers::default();
    for (key, value) in settings {
        routers.set(key, value).expect("a setting of routers").unwrap_or_else(|error| panic!("{error}"));
    }
    routers
}

fn bench(disconnection: Nanos) -> Experiment {
    let kind = Kind::Bbm(disconnection);
    Experiment { kind, stack: INET_RENO, ..experiment("54mbit/5ms", "54mbit/20ms") }
}

/// V is of the time before the handoff: the run that is kept behind must have measured it, too.
#[test]
fn forked_and_unforked_runs_are_the_same() {
    for notice in [NoticeMode::Instant, NoticeMode::InBand { lost: 0 }] {
        for flows in [1, 3] {
            let e = Experiment { notice, flows, ..bench(500 * MS) };
            let schemes = ["reno", "hn", "freeze"].map(scheme);
            let mut warm = WarmRun::new(e.clone());
            warm.follow(&schemes);
            for at in [50, 700, 1500, 4300, 7777].map(|ms| ms * MS) {
                let shared = warm.fork(at).complete();
                for scheme in &schemes {
                    assert_eq!(shared.run(scheme), run(&e, at, scheme), "{scheme:?} at {at}");
                }
            }
        }
    }
}

/// Nobody tells: the stack, on the same routers.
#[test]
fn withheld_it_is_its_stack() {
    for (flows, buffer) in [(1, "new-lcfd"), (2, "new-lcfd"), (1, "off")] {
        let e = Experiment {
            notice: NoticeMode::Withheld,
            flows,
            routers: routers(&[("router-buffer", buffer)]),
            ..bench(500 * MS)
        };
        for at in [300, 2100, 5000].map(|ms| ms * MS) {
            assert_eq!(run(&e, at, &scheme("hn")), run(&e, at, &scheme("reno")), "at {at}");
        }
    }
}

/// A make-before-break handoff has nothing to tell, and no buffer.
#[test]
fn make_before_break_is_regular() {
    let e = Experiment { kind: Kind::Mbb, ..bench(0) };
    for at in [300, 2100, 5000].map(|ms| ms * MS) {
        assert_eq!(run(&e, at, &scheme("hn")), run(&e, at, &scheme("reno")), "at {at}");
    }
}

/// Both copies lost, of Start and of Finish: regular TCP but for two ACKs; one lost: as none.
#[test]
fn lost_copies() {
    let at = 3 * SECOND;
    let with = |lost| {
        let notice = NoticeMode::InBand { lost };
        let e = Experiment { notice, routers: routers(&[("router-buffer", "new-lcfd")]), ..bench(500 * MS) };
        (run(&e, at, &scheme("hn")), run(&e, at, &scheme("reno")))
    };
    let (deaf, reno) = with(2);
    assert_eq!(deaf, reno);
    let ((none, _), (one, _)) = (with(0), with(1));
    assert_eq!((none.timeouts.len(), one.timeouts.len()), (0, 0));
    assert!(none.transfer < reno.transfer && one.transfer < reno.transfer);
}

/// 5.2, step 5: packets that are held leave at the rate of the link, in FIFO order. None is dropped in the queue of a
/// slow one.
#[test]
fn a_slow_link_drops_nothing_of_what_was_held() {
    let e = Experiment {
        stack: INET_RENO,
        kind: Kind::Bbm(500 * MS),
        routers: routers(&[("router-buffer-size", "1000kB")]),
        ..experiment("2mbit/20ms", "200kbit/50ms")
    };
    let told = trace(&e, 3 * SECOND, &[&scheme("hn")]).pop().unwrap();
    assert_eq!((told.record.buffer_drops, told.record.drops), (0, 0));
    let data = told.events.iter().filter(|event| event.at >= told.record.completion);
    let came: Vec<u32> = data
        .filter_map(|event| match &event.what {
            What::Received { packet, .. } if packet.data => Some(packet.segment.seq),
            _ => None,
        })
        .collect();
    assert!(came.len() > 100 && came.windows(2).all(|pair| pair[0] < pair[1]), "{} in order", came.len());
}

/// Every packet reaches the mobile once, the window of before is there afterwards, and no timer has expired.
#[test]
fn nothing_is_lost_where_there_is_room() {
    let e = Experiment { routers: routers(&[("router-buffer-size", "1000kB")]), ..bench(500 * MS) };
    for at in [2000, 2750, 3500].map(|ms| ms * MS) {
        let record = run(&e, at, &scheme("hn"));
        assert_eq!(
            (record.buffer_drops, record.retransmissions, record.timeouts.len()),
            (0, 0, 0),
            "at {at}"
        );
    }
}

proptest! {
    #![proptest_config(cases(4))]

    /// Any links, any outage, any buffer, any hint: the run ends, and never before the bound; or a flow was shut out.
    #[test]
    fn never_better_than_possible(
        (old_rate, new_rate) in (100u32..20_000, 100u32..20_000),
        (old_delay, new_delay) in (1u32..200, 1u32..200),
        (outage, size, hint) in (1u64..3000, 1u32..500, 0u32..400),
        (flows, lost, at) in (1usize..=3, 0u32..=2, 100u64..8000),
    ) {
        let links = [(old_rate, old_delay), (new_rate, new_delay)].map(|(r, d)| format!("{r}kbit/{d}ms"));
        let e = Experiment {
            stack: INET_RENO,
            kind: Kind::Bbm(outage * MS),
            flows,
            notice: NoticeMode::InBand { lost },
            routers: routers(&[
                ("router-buffer-size", &format!("{size}kB")),
                ("handoff-hint", &format!("{hint}ms")),
            ]),
            ..experiment(&links[0], &links[1])
        };
        let record = run(&e, at * MS, &scheme("hn"));
        match record.transfer {
            Some(time) => prop_assert!(time >= record.bound, "{time} < {}", record.bound),
            None => prop_assert!(flows > 1 && is_shut_out(&record), "it does not end: {:?}", record.timeouts),
        }
    }
}

/// Between any two timeouts of the flow that never comes to its end the full queue has dropped some of its packets.
/// A flow that keeps a drop-tail queue full without a loss of its own does that to another for ever.
fn is_shut_out(record: &RunRecord) -> bool {
    let Some(last) = record.timeouts.last() else { return false };
    let own: Vec<_> = record.timeouts.iter().filter(|timeout| timeout.flow == last.flow).collect();
    let mut others =
        record.acknowledged.iter().enumerate().filter(|(flow, _)| *flow != usize::from(last.flow));
    others.any(|(_, packets)| *packets > 1000)
        && own.len() > 5
        && own.windows(2).all(|pair| {
            record
                .data_drops
                .iter()
                .any(|drop| drop.flow == last.flow && pair[0].at < drop.at && drop.at < pair[1].at)
        })
}

/// A case that the property found: pipe and queue hold 64 packets, the other flow's window, which is at its end and
/// loses nothing. Where they hold more, both end.
#[test]
fn a_flow_can_be_shut_out() {
    let run = |new| {
        let e = Experiment {
            stack: INET_RENO,
            kind: Kind::Bbm(MS),
            flows: 2,
            notice: NoticeMode::InBand { lost: 0 },
            routers: routers(&[("router-buffer-size", "1kB"), ("handoff-hint", "36ms")]),
            ..experiment("4929kbit/35ms", new)
        };
        run(&e, 730 * MS, &scheme("hn"))
    };
    let (shut_out, wide) = (run("12932kbit/10ms"), run("16000kbit/10ms"));
    assert!(shut_out.transfer.is_none() && is_shut_out(&shut_out));
    assert!(wide.transfer.is_some_and(|time| time < 10 * SECOND), "{:?}", wide.transfer);
}

fn drive() -> Arc<Drive> {
    let stay = |from: u64, until: u64, rate| Stay {
        network: 0,
        from: from * SECOND,
        until: until * SECOND,
        link: AccessLink::fixed(rate, 20 * MS, 20),
    };
    let stays = vec![stay(0, 20, 7_000_000), stay(21, 40, 3_500_000), stay(42, 60, 7_000_000)];
    Arc::new(Drive::new(62 * SECOND, vec!["cell".into()], stays).unwrap())
}

/// In a drive: every handoff is told before it, and ended after it; what the router held is not lost with the old link.
#[test]
fn in_a_drive() {
    let e = DriveExperiment {
        drive: drive(),
        flows: 1,
        cross: 0,
        web: None,
        wan: WideArea { rate: 10_000_000, delay: 50 * MS, queue: 200 },
        stack: INET_RENO,
        notice: NoticeMode::InBand { lost: 0 },
        bandwidth_error: 0.0,
        routers: Default::default(),
        seed: 1,
    };
    let (hn, reno) = (e.run(&scheme("hn")), e.run(&scheme("reno")));
    assert_eq!(hn.handoffs.len(), 2);
    // Two copies of HO Start and of HO Finish for each handoff, of which one counts.
    assert_eq!((hn.notices.sent, hn.notices.accepted, hn.notices.refused), (8, 4, 0));
    let lost = |record: &segue_world::drive::record::DriveRecord| -> u32 {
        record.handoffs.iter().map(|h| h.lost).sum()
    };
    assert!(lost(&hn) < lost(&reno), "{} < {}", lost(&hn), lost(&reno));
    // 5.3: what was under way at HO Start is not counted, so that the buffer overflows by a flight at most.
    assert!(hn.handoffs.iter().all(|handoff| handoff.buffer_drops <= 64), "{:?}", hn.handoffs);
    assert!(reno.handoffs.iter().all(|handoff| handoff.buffer_drops == 0));
    let withheld = DriveExperiment { notice: NoticeMode::Withheld, ..e };
    assert_eq!(withheld.run(&scheme("hn")).mobile_bytes, withheld.run(&scheme("reno")).mobile_bytes);
}
