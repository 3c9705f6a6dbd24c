//! A comparison ends early where nobody wants it any more, and is the same as ever where somebody does.

use segue_study::{Comparison, ScenarioFile};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn what_is_no_longer_wanted_ends_and_what_is_wanted_is_whole() {
    let text = "old = \"6400kbit/9ms\"\nnew = \"200kbit/300ms\"\nat = \"1s..10s/0.1s\"";
    let file = ScenarioFile::parse(text, "wanted.toml").expect("a scenario");
    let (plan, _) = file.plan(None).expect("a plan");
    let rows = |comparison: &Comparison| comparison.rows().cloned().collect::<Vec<_>>();
    let whole = Comparison::run_while(&plan, true, &|| true).expect("wanted to the end");
    assert_eq!(rows(&whole), rows(&Comparison::run(&plan, false, &|_| {})));
    assert_eq!(whole.groups[0].handoffs.len(), 2 * 91);
    for after in [0, 1, 70, 100] {
        let asked = AtomicU32::new(0);
        let wanted = || asked.fetch_add(1, Ordering::Relaxed) < after;
        assert!(Comparison::run_while(&plan, true, &wanted).is_none(), "after {after}");
        // Nothing more is simulated: of 91 forks and 91 runs that ask, few did.
        assert!(asked.load(Ordering::Relaxed) < after + 70, "after {after}: {asked:?}");
    }
}
