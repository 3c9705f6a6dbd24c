//! Drives with cross traffic and the web give the same rows on any number of threads.

use rayon::ThreadPoolBuilder;
use segue_files::DriveFile;
use std::sync::atomic::{AtomicU64, Ordering};

/// Two schemes that tell and one that closes its window, four seeds, two wide areas, errors of the bandwidth.
const SCENARIO: &str = r#"
schemes = ["newreno", "tcp-ho", "freeze"]
seeds = 4
bandwidth_error = 0.15

[drive]
of = "wlan"
length = "120s"
seed = 3

[wan]
delay = ["10ms", "50ms"]

[traffic]
flows = 2
cross = 1
web = 10
"#;

#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let file = DriveFile::parse(SCENARIO, "threads.toml").expect("a scenario").expect("of a drive");
    let plan = file.plan(None).expect("a plan");
    let on = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let done = AtomicU64::new(0);
        let rows = pool.install(|| {
            plan.run(&|more| {
                done.fetch_add(more, Ordering::Relaxed);
            })
        });
        assert_eq!(done.into_inner(), plan.drives());
        rows
    };
    let alone = on(1);
    assert_eq!(alone.len(), 6);
    assert!(alone.iter().all(|row| row.web.is_some_and(|web| web.objects > 0.0)));
    for threads in [2, 4] {
        let rows = on(threads);
        assert_eq!(rows, alone, "{threads} threads");
        let json = |rows| serde_json::to_string(rows).expect("rows");
        assert_eq!(json(&rows), json(&alone), "to the byte");
    }
}
