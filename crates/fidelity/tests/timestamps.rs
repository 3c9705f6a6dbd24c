//! `ns2-sack1` with `time-stamps=on` beside ns-2 with `timestamps_` (`reference/ns2/timestamps.csv`).

use segue_fidelity::measure::{handoffs_of, quartiles};
use segue_fidelity::{reference, reference_folder};

/// Both programs are rounded to milliseconds.
const SAME: f64 = 0.001;

#[test]
fn quartiles_with_time_stamps_are_those_of_ns2() {
    let reference = reference::read(&reference_folder(), "timestamps.csv", None).unwrap();
    let (mut one_flow, mut medians) = (0, 0);
    for (scenario, ns2) in &reference.summaries {
        let mut experiment = scenario.experiment(100).unwrap();
        experiment.stack.set("time-stamps", "on").unwrap();
        let ours = quartiles(handoffs_of(experiment).unwrap().iter().map(|handoff| handoff.a).collect());
        if scenario.flows == 1 {
            for (ours, ns2) in [(ours.q1, ns2.a.q1), (ours.median, ns2.a.median), (ours.q3, ns2.a.q3)] {
                assert!((ours - ns2).abs() <= SAME, "{scenario}: {ours}, ns-2 {ns2}");
            }
            one_flow += 1;
        }
        assert!((ours.median / ns2.a.median - 1.0).abs() <= 0.05, "{scenario}: {ours:?}, ns-2 {:?}", ns2.a);
        medians += 1;
    }
    assert_eq!((one_flow, medians), (4, 12));
}
