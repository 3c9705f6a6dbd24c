//! Downloads of paper 002: from the ledger to samples, in a hand's breadth of time.

use segue_reproduce::ledger::{Measure, Stat};
use segue_reproduce::papers::papers;
use segue_reproduce::point_error::PointError;
use segue_reproduce::points::{OneDownload, Point};
use segue_reproduce::run::{Needs, run};
use std::collections::BTreeSet;

fn point(ms: u64) -> OneDownload {
    OneDownload { disconnect: ms * 1_000_000, access_ms: None }
}

#[test]
fn samples_of_downloads() {
    let papers = papers().unwrap_or_else(|error| panic!("{error}"));
    let paper = papers.iter().find(|paper| paper.id == "espi-2010-fmipv6").expect("the paper");
    let mut needs = Needs::default();
    let names = ["reno@1000kB", "hn@1000kB", "hn@100kB"].map(String::from);
    for ms in [250, 1500] {
        needs.points.insert(Point::Download(point(ms)), BTreeSet::from(names.clone()));
    }
    assert!(needs.downloads() && !needs.drives());
    assert_eq!(needs.runs(paper, 3), 2 * 3 * 3);
    let results = || run(paper, &needs, 3, None, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    use segue_reproduce::judge::Source;
    let (once, again) = (results(), results());
    let number = |name: &str, ms, of| {
        let sample = once.sample(&Point::Download(point(ms)), name).expect("a sample");
        assert_eq!(again.sample(&Point::Download(point(ms)), name), Some(sample), "equal input");
        assert_eq!(sample.values(of).len(), 3);
        sample.number(of, Stat::Mean).expect("the measure")
    };
    // Reno's timer has expired; enhanced TCP has sent what fits into PBS and no more.
    assert!(number("reno@1000kB", 1500, Measure::TimeoutsFromT) >= 1.0);
    assert_eq!(number("hn@1000kB", 1500, Measure::TimeoutsFromT), 0.0);
    assert!(number("hn@1000kB", 1500, Measure::Goodput) > number("reno@1000kB", 1500, Measure::Goodput));
    assert_eq!(number("hn@100kB", 1500, Measure::Injected), 62.0 * 1.024, "64 kB, quantised");
    assert!(number("reno@1000kB", 250, Measure::Injected) == 0.0);
    // Eq. 3: the gap of 100 kB is that of 1 MB and 900 kB more.
    let gaps = ["hn@100kB", "hn@1000kB"].map(|name| number(name, 1500, Measure::BufferGap));
    assert!((gaps[0] - gaps[1] - 900.0).abs() < 1e-9 && gaps[0] > 0.0, "{gaps:?}");
}

#[test]
fn words_that_mean_nothing() {
    let papers = papers().unwrap_or_else(|error| panic!("{error}"));
    let defaults = &papers.iter().find(|paper| paper.id == "espi-2010-fmipv6").expect("the paper").defaults;
    let plan = |point: &OneDownload, name: &str| point.plan(defaults, name, &[]).map(|_| ());
    assert!(plan(&point(0), "hn").is_ok() && plan(&point(0), "hn@32768kB").is_ok());
    for name in ["hn@0kB", "hn@32769kB", "hn@100", "hn@"] {
        let error = plan(&point(0), name).unwrap_err();
        assert!(error.to_string().contains("SCHEME@1kB to SCHEME@32768kB"), "{error}");
    }
    assert!(matches!(plan(&point(0), "hm@100kB"), Err(PointError::Request(_))));
    for access in ["20", "20/", "a/b", "20/5/5"] {
        let point = OneDownload { access_ms: Some(access.into()), ..point(0) };
        assert!(plan(&point, "hn").unwrap_err().to_string().contains("such as 20/5"), "{access}");
    }
    let bad = [("fmip-delay-shape".to_string(), "0".to_string())];
    assert!(point(0).plan(defaults, "hn", &bad).unwrap_err().to_string().contains("1 to 300"));
}
