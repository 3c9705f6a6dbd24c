//! Notices of one mobile's flows, one after the other (docs/reference/near.md, 8.6).

use crate::support::*;
use segue_handoff::Scheme;
use segue_netsim::{Nanos, SECOND};
use segue_world::trace::{What, trace};
use segue_world::{Experiment, Kind, NoticeMode};

/// After a disconnection they are a packet of 800 kbit/s apart, 15 ms. Without one all leave at once.
#[test]
fn flows_are_told_one_by_one_after_a_disconnection() {
    let near = Scheme::build("near", &[("enact".into(), "linux".into())]).expect("a scheme");
    for (kind, completion, apart) in [(Kind::Bbm(SECOND), 4 * SECOND, 15 * MS), (Kind::Mbb, 3 * SECOND, 0)] {
        let e = Experiment {
            notice: NoticeMode::InBand { lost: 0 },
            kind,
            flows: 3,
            stack: stack("linux-6.12"),
            ..experiment("2mbit/30ms", "800kbit/60ms")
        };
        let trace = trace(&e, 3 * SECOND, &[&near]).remove(0);
        let told: Vec<_> = trace
            .events
            .iter()
            .filter_map(|event| match &event.what {
                What::Sent(packet) if !packet.data && !packet.segment.option.is_empty() => {
                    (event.at >= completion).then_some((event.at, packet.flow))
                }
                _ => None,
            })
            .collect();
        let first = told[0].1;
        let expected: Vec<_> =
            (0..3).flat_map(|flow| [(completion + Nanos::from(flow) * apart, first + flow); 2]).collect();
        assert_eq!(told, expected, "{kind:?}");
    }
}
