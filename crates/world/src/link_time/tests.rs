//! The classes as observed, against those of a look at the whole network after every event.

use super::{IdleTime, polled};
use crate::bench::Experiment;
use crate::handoff_run::{WarmRun, check_scheme};
use crate::neighbours::Neighbours;
use crate::record::LinkTime;
use crate::router_settings::Routers;
use crate::traffic::Traffic;
use crate::words::{Kind, Overlap, SoftWord};
use proptest::prelude::*;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::profile::{LINUX_6_12, NS2_NEWRENO, NS2_SACK1};

const MS: Nanos = 1_000_000;

/// Idle time from completion until the transfers end, but for 20 s at most: as observed, and as polled.
fn both(experiment: &Experiment, at: Nanos, scheme: &str) -> [LinkTime; 2] {
    let scheme = check_scheme(scheme, &[]).unwrap();
    let handoff = WarmRun::new(experiment.clone()).fork(at).complete();
    let completion = handoff.completion();
    let limit = completion + 20 * SECOND;
    let (mut sim, link_ids) = handoff.start(&scheme);
    let targets = handoff.targets();
    let idle = IdleTime::new(&sim, &link_ids, completion, targets);
    sim.net.observer.follow(idle);
    let mut time = LinkTime::default();
    let (mut from, mut notice_at) = (completion, handoff.notice_at(&scheme));
    while !sim.net.observer.recorder.as_ref().unwrap().is_done() {
        let next = sim.net.next_event().unwrap_or(limit).min(limit);
        let to = notice_at.map_or(next, |at| at.min(next));
        polled::account(&mut time, &sim, &link_ids, targets, [from, to]);
        from = to;
        if notice_at.take_if(|at| *at == to).is_some() {
            sim.run_until(to);
            handoff.notify_all(&mut sim, &scheme);
        } else if !sim.step(limit) {
            sim.run_until(limit);
            break;
        }
    }
    let mut idle = sim.net.observer.idle.take().unwrap();
    idle.clock(from);
    [idle.time(), time]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_observed_is_what_one_would_see(
        (old, new) in (50u32..4000, 50u32..4000),
        words in prop::sample::select(vec![
            "", ",loss=2%", ",queue=codel", ",queue=codel,loss=1%", ",jitter=5ms,reorder=2%,loss=1%", ",queue=5p",
        ]),
        kind in prop_oneof![
            Just(Kind::Mbb),
            (1u64..2_500).prop_map(|outage| Kind::Bbm(outage * MS)),
            (1u64..1_000, prop::sample::select(vec![SoftWord::Duplicate, SoftWord::Split]))
                .prop_map(|(length, way)| Kind::Soft(Overlap { length: length * MS, way })),
        ],
        upload: bool,
        (at, flows, seed) in (100u64..5_000, 1usize..=3, any::<u64>()),
        (holds, neighbours, delay) in (any::<bool>(), any::<bool>(), prop::sample::select(vec![0, 120 * MS])),
        rule in prop::sample::select(vec!["previous-fcfd", "new-lcfd"]),
        stack in prop::sample::select(vec![NS2_NEWRENO, NS2_SACK1, LINUX_6_12]),
        name in prop::sample::select(vec!["sack", "etcp-v1", "freeze", "mobile", "near", "rlci", "buffer-lcfd+phas"]),
    ) {
        let mut routers = Routers::default();
        let holds = holds && !upload && kind.disconnection() > 0;
        if holds {
            for (key, value) in [("router-buffer", rule), ("router-buffer-size", "20p")] {
                routers.set(key, value).unwrap().unwrap();
            }
        }
        let [old, new] = [(old, "30ms"), (new, "60ms")].map(|(rate, delay)| format!("{rate}kbit/{delay}{words}"));
        let neighbours = (neighbours && !holds && !upload && !name.starts_with("buffer"))
            .then_some(Neighbours::new(2, NS2_SACK1));
        let experiment = Experiment {
            kind,
            traffic: upload.then(|| Traffic { upload, ..Traffic::default() }),
            flows,
            notice_delay: delay,
            neighbours,
            packets: 50,
            routers,
            seed,
            ..Experiment::between(&old, &new, stack)
        };
        let [observed, seen] = both(&experiment, at * MS, name);
        prop_assert_eq!(observed, seen);
    }
}
