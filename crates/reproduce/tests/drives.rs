//! A drive of the ledger is the drive of `segue run`, and comes out of the cache as it went in.

use segue_files::drive::{DriveFile, PaperDrive};
use segue_reproduce::cache::Cache;
use segue_reproduce::judge::Source;
use segue_reproduce::ledger::{ClassWord, Measure, Paper, Stat};
use segue_reproduce::points::{OneDrive, Point};
use segue_reproduce::run::{Needs, run};
use std::sync::atomic::{AtomicU64, Ordering};

const PAPER: &str = "
    id = 'p'
    number = '0'
    cite = 'c'
    [defaults]
    stack = 'freebsd5-newreno'
    schemes = { ho = 'tcp-ho' }
    [[reading]]
    set = 'receive-window=40'
    section = '-'
    why = 'a stack of its own'
    [[claim]]
    id = 'c'
    place = 'here'
    kind = 'result'
    check = 'sim'
    statement = 's'
    stated = 'n'
    drives = { of = 'wlan', wan_ms = 20, error_percent = 15, seed = 2, class = ['U-VH', 'D-VH'] }
    [[claim.expect]]
    op = 'value'
    scheme = 'ho'
    of = 'idle_after_link_up'
    stat = 'mean'
    is = { max = 10 }
";

const DRIVE: &str = "
    schemes = 'tcp-ho'
    stack = 'freebsd5-newreno'
    bandwidth_error = 0.15
    seeds = 2
    settings = { receive-window = 40 }
    [drive]
    of = 'wlan'
    seed = 2
    [wan]
    delay = '20ms'
";

#[test]
fn a_drive_of_the_ledger_is_one_of_segue_run() {
    let paper: Paper = toml::from_str(PAPER).expect("a paper");
    let mut needs = Needs::default();
    needs.add_claim(&paper, &paper.claims[0]);
    assert!(needs.drives());
    assert_eq!(
        (needs.runs(&paper, 200), needs.runs(&paper, 2)),
        (10, 2),
        "a drive is run once for all classes"
    );

    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::in_folder(folder.path());
    let count = AtomicU64::new(0);
    let done = |more| {
        count.fetch_add(more, Ordering::Relaxed);
    };
    let results = run(&paper, &needs, 2, Some(&cache), &done).expect("it runs");
    let again = run(&paper, &needs, 2, Some(&cache), &done).expect("it is kept");
    assert_eq!(count.into_inner(), 4);

    let file = DriveFile::parse(DRIVE, "drive.toml").expect("valid").expect("a drive");
    let row = &file.plan(None).expect("a plan").run(&|_| {})[0];
    let point = |class| {
        Point::Drive(OneDrive { drive: PaperDrive::Wlan, seed: 2, wan_ms: 20, error_percent: 15, class })
    };
    for results in [&results, &again] {
        let number = |class, measure| {
            results.sample(&point(class), "tcp-ho").expect("a sample").number(measure, Stat::Mean)
        };
        assert_eq!(number(None, Measure::MobileThroughput), Some(row.mobile_kbps.mean));
        assert_eq!(number(None, Measure::CrossThroughput), row.cross_kbps.map(|kbps| kbps.mean));
        for class in ClassWord::ALL {
            // Each seed has the same handoffs, so that the mean of means is that of all.
            let lost = number(Some(class), Measure::LostWithOldLink).expect("it occurs");
            assert!((lost - row.classes[class.class().name()].lost).abs() < 1e-9);
        }
        assert_eq!(
            number(Some(ClassWord::UVh), Measure::MobileThroughput),
            None,
            "of a drive, not of a class"
        );
    }
}
