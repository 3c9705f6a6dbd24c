//! The 24 scenarios of continuous integration and the seven narrated handoffs, against ns-2.

use segue_fidelity::{narrated, reference, reference_folder, verdict};
use std::collections::BTreeSet;

#[test]
fn subset_of_the_reference() {
    let folder = reference_folder();
    let mut reference = reference::read(&folder, "summary.csv", Some("spread.csv")).unwrap();
    assert_eq!(reference.summaries.len(), 236);
    reference.summaries = reference::subset(&reference.summaries);
    assert_eq!(reference.summaries.len(), 24);
    let kinds: BTreeSet<_> = reference.summaries.iter().map(|(s, _)| (s.kind_name(), s.flows)).collect();
    assert_eq!(kinds.len(), 6, "both kinds with 1, 2 and 4 flows each: {kinds:?}");

    let comparisons = verdict::compare(&reference.summaries, 100).unwrap();
    let missed: Vec<_> = verdict::judge(&comparisons, &reference).into_iter().filter(|t| !t.met).collect();
    assert!(missed.is_empty(), "{missed:#?}");

    // Handoff by handoff: 90 % agree within 1 ms; equal instants fall either way in ns-2.
    let agreement = verdict::agreement(&comparisons, &reference::handoffs(&folder).unwrap());
    assert_eq!(agreement.all, 24 * 200);
    assert!(agreement.differences.len() * 10 <= agreement.all, "{} differ", agreement.differences.len());
}

#[test]
fn narrated_handoffs() {
    let handoffs = narrated::read(&reference_folder()).unwrap();
    assert_eq!(handoffs.len(), 7);
    for handoff in &handoffs {
        let found = narrated::differences(&narrated::ours(handoff).unwrap(), &handoff.story);
        assert!(found.is_empty(), "{}: {found:#?}", handoff.name);
    }
}
