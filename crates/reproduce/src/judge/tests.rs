//! Each operation on hand-made data: a case that holds, and one that must not.

use super::*;
use crate::ledger::{ClassWord, Paper};
use crate::points::{Handoffs, OneDrive};
use crate::verdict::{Verdict, verdict};
use segue_files::drive::PaperDrive;
use segue_world::KindWord;
use std::collections::BTreeMap;

/// Samples by links and scheme.
struct Made(BTreeMap<(String, String), Sample>);

impl Source for Made {
    fn sample(&self, point: &Point, scheme: &str) -> Option<&Sample> {
        self.0.get(&(point.links()?.to_string(), scheme.to_string()))
    }

    fn trace(&self, _single: &Single, _scheme: &str) -> Option<&SchemeTrace> {
        None
    }
}

const LINKS: [&str; 4] = ["800/9 200/9", "800/18 200/9", "800/37 200/9", "800/75 200/9"];

/// Transfer times and drops at each of the links.
fn made(schemes: &[(&str, [f64; 4])]) -> Made {
    let mut all = BTreeMap::new();
    for (scheme, values) in schemes {
        for (links, value) in LINKS.iter().zip(values) {
            let mut sample = Sample::default();
            // Quartiles 0.9, 1 and 1.4 times the median.
            for share in [0.9, 1.0, 1.4] {
                sample.add(Measure::Transfer, value * share);
            }
            sample.add(Measure::Drops, *value);
            sample.add(Measure::Drops, 0.0);
            all.insert((links.to_string(), scheme.to_string()), sample);
        }
    }
    Made(all)
}

fn paper(expect: &str, points: &str) -> Paper {
    let links: Vec<String> = LINKS.iter().map(|links| format!("{links:?}")).collect();
    let text = format!(
        "id = 'p'\nnumber = '0'\ncite = 'c'\n[defaults]\npackets = 100\ndisconnect_s = 0.5\n\
         schemes = {{ regular = 'sack', etcp = 'etcp' }}\n\
         [[claim]]\nid = 'c'\nplace = 'here'\nkind = 'result'\ncheck = 'sim'\nstatement = 's'\nstated = 'n'\n\
         points = {{ kind = 'mbb', links = [{}]{points} }}\n[[claim.expect]]\n{expect}\n",
        links.join(", ")
    );
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Regular TCP takes 10, 20, 40, 80 s; the enhanced one as given.
fn judged(expect: &str, etcp: [f64; 4]) -> Outcome {
    let paper = paper(expect, "");
    let source = made(&[("sack", [10.0, 20.0, 40.0, 80.0]), ("etcp", etcp)]);
    judge(&paper.claims[0], &paper.defaults, &source).expect("judged").remove(0)
}

fn holds(expect: &str, etcp: [f64; 4]) -> bool {
    judged(expect, etcp).holds
}

const HALF: [f64; 4] = [5.0, 10.0, 20.0, 40.0];

#[test]
fn reductions() {
    let reduction = |is: &str, at: &str| {
        format!("op = 'reduction'\nscheme = 'etcp'\nagainst = 'regular'\nat = '{at}'\nis = {{ {is} }}")
    };
    assert_eq!(judged(&reduction("about = 50", "each"), HALF).measured, "50.0, 50.0, 50.0, 50.0 %");
    assert!(holds(&reduction("about = 40", "each"), HALF), "ten points");
    assert!(!holds(&reduction("about = 39", "each"), HALF));
    assert!(!holds(&reduction("about = 55, within = 4", "each"), HALF), "the text's own tolerance");
    assert!(holds(&reduction("min = 20, max = 47.5", "each"), HALF), "2.5 points at an end");
    assert!(!holds(&reduction("min = 20, max = 47", "each"), HALF));
    assert!(!holds(&reduction("min = 50.1", "each"), HALF), "`more than` has no tolerance");
    let mixed = [10.0, 10.0, 40.0, 40.0];
    assert!(!holds(&reduction("min = 40", "each"), mixed) && holds(&reduction("min = 40", "some"), mixed));
    assert!(!holds(&reduction("min = 40", "most"), mixed), "half is not most");
    assert!(holds(&reduction("about = 50", "largest"), mixed));
    assert!(!holds(&reduction("about = 80", "largest"), mixed));
    let increase = reduction("about = -10", "each");
    assert!(holds(&increase, [11.0, 22.0, 44.0, 88.0]) && !holds(&increase, [13.0, 22.0, 44.0, 88.0]));
}

#[test]
fn values_and_ratios() {
    let value = "op = 'value'\nscheme = 'etcp'\nof = 'drops'\nstat = 'share'\nis = { min = 0.5 }";
    assert!(holds(value, HALF) && !holds(value, [0.0, 10.0, 20.0, 40.0]));
    let about =
        "op = 'value'\nscheme = 'etcp'\nof = 'drops'\nstat = 'mean'\nat = 'some'\nis = { about = 10 }";
    assert!(holds(about, [16.0, 0.0, 0.0, 0.0]) && !holds(about, [14.0, 0.0, 0.0, 0.0]), "25 %");
    let ratio = "op = 'ratio'\nover = { scheme = 'regular', stat = 'q3' }\n\
                 under = { scheme = 'regular' }\nis = { min = 1.19, max = 1.21 }";
    assert!(holds(ratio, HALF), "type 7: 1.2");
    assert!(!holds(&ratio.replace("1.19", "1.205"), HALF));
}

#[test]
fn orders_and_likeness() {
    let order = "op = 'order'\nlow_to_high = ['etcp', 'regular']";
    assert!(holds(order, HALF));
    assert!(holds(order, [10.2, 20.4, 40.8, 81.6]), "2 % slack");
    assert!(!holds(order, [10.3, 10.0, 20.0, 40.0]));
    let tie = "op = 'order'\nlow_to_high = [['etcp', 'regular']]";
    assert!(holds(tie, [10.9, 20.0, 37.0, 80.0]) && !holds(tie, HALF));
    let similar = "op = 'similar'\nscheme = 'etcp'\nagainst = 'regular'\npercent = 5";
    assert!(holds(similar, [10.5, 19.0, 40.0, 80.0]) && !holds(similar, [10.6, 20.0, 40.0, 80.0]));
    assert!(holds(&similar.replace("\npercent = 5", ""), [11.0, 18.0, 40.0, 80.0]), "10 % unless said");
}

#[test]
fn contrasts() {
    let contrast = format!(
        "op = 'contrast'\nscheme = 'etcp'\nlow = {{ links = '{}' }}\nhigh = {{ links = '{}' }}",
        LINKS[0], LINKS[3]
    );
    assert!(holds(&contrast, HALF) && !holds(&contrast, [41.0, 1.0, 1.0, 40.0]));
    assert!(holds(&format!("{contrast}\nslack_percent = 10"), [44.0, 1.0, 1.0, 40.0]));
    let means = format!(
        "op = 'contrast'\nscheme = 'etcp'\nlow = {{ links = ['{}', '{}'] }}\nhigh = {{ links = '{}' }}",
        LINKS[0], LINKS[1], LINKS[2]
    );
    assert!(holds(&means, [30.0, 2.0, 16.0, 0.0]), "by means");
    assert!(!holds(&means, [30.0, 4.0, 16.0, 0.0]));
    let nowhere = contrast.replace(LINKS[0], "1/1 1/1");
    let paper = paper(&nowhere, "");
    assert!(judge(&paper.claims[0], &paper.defaults, &made(&[("etcp", HALF)])).is_none());
}

#[test]
fn trends() {
    let trend = |direction: &str| format!("op = 'trend'\nscheme = 'etcp'\ndirection = '{direction}'");
    let (rising, falling) = ([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]);
    assert!(holds(&trend("increasing"), rising) && !holds(&trend("increasing"), [1.0, 4.0, 2.0, 3.0]));
    assert!(holds(&trend("increasing"), [1.0, 3.0, 2.0, 4.0]), "an exchange of neighbours: 0.8");
    assert!(holds(&trend("decreasing"), falling) && !holds(&trend("decreasing"), rising));
    assert!(holds(&trend("non-increasing"), [4.0, 4.05, 2.0, 2.0]));
    assert!(!holds(&trend("non-increasing"), [4.0, 4.1, 2.0, 2.0]));
    assert!(holds(&trend("flat"), [4.0, 5.0, 4.5, 4.1]) && !holds(&trend("flat"), [4.0, 5.1, 4.0, 4.0]));
    assert!(holds(&trend("varies"), rising) && !holds(&trend("varies"), [4.0, 5.0, 4.0, 4.0]));
    let peak = format!("{}\npeak = '{}'", trend("peak"), LINKS[1]);
    assert!(holds(&peak, [1.0, 5.0, 4.0, 5.1]) && !holds(&peak, [1.0, 5.0, 4.0, 5.2]));
    let against = format!("{}\nagainst = 'regular'", trend("increasing"));
    assert!(holds(&against, [9.0, 16.0, 28.0, 40.0]), "of the reduction: 10, 20, 30, 50 %");
}

#[test]
fn the_order_of_points_for_every_length() {
    let expect = "op = 'insensitive'\nschemes = ['regular', 'etcp']";
    let paper = paper(expect, ", packets = [50, 100]");
    // The source does not look at P: the orders are the same.
    let source = made(&[("sack", [10.0, 20.0, 40.0, 80.0]), ("etcp", HALF)]);
    assert!(judge(&paper.claims[0], &paper.defaults, &source).expect("judged")[0].holds);
    struct Turned(Made);
    impl Source for Turned {
        fn sample(&self, point: &Point, scheme: &str) -> Option<&Sample> {
            let Point::Handoffs(point) = point else { return None };
            let index = LINKS.iter().position(|links| *links == point.links)?;
            let links = if point.packets == 50 { LINKS[3 - index] } else { LINKS[index] };
            self.0.sample(&Point::Handoffs(Handoffs { links: links.into(), ..point.clone() }), scheme)
        }
        fn trace(&self, _: &Single, _: &str) -> Option<&SchemeTrace> {
            None
        }
    }
    assert!(!judge(&paper.claims[0], &paper.defaults, &Turned(source)).expect("judged")[0].holds);
}

#[test]
fn infinite_times_are_no_gain() {
    let reduction = "op = 'reduction'\nscheme = 'etcp'\nagainst = 'regular'\nis = { min = 10 }";
    let never = f64::INFINITY;
    assert!(!holds(reduction, [never, 1.0, 1.0, 1.0]));
    assert_eq!(judged(reduction, [never, 1.0, 1.0, 1.0]).measured, "-inf, 95.0, 97.5, 98.8 %");
}

/// A wrong number must come out: by ours, and by ns-2 where it is about regular TCP alone.
#[test]
fn a_claim_with_a_wrong_number_differs() {
    let right = paper("op = 'reduction'\nscheme = 'etcp'\nagainst = 'regular'\nis = { about = 50 }", "");
    let wrong = paper("op = 'reduction'\nscheme = 'etcp'\nagainst = 'regular'\nis = { about = 75 }", "");
    let regular = paper("op = 'trend'\nscheme = 'regular'\ndirection = 'decreasing'", "");
    let ours = made(&[("sack", [80.0, 40.0, 20.0, 10.0]), ("etcp", [40.0, 20.0, 10.0, 5.0])]);
    let (nothing, ns2) = (made(&[]), made(&[("sack", [10.0, 20.0, 40.0, 80.0])]));
    let of = |paper: &Paper, ns2: &Made| verdict(paper, &paper.claims[0], &ours, ns2).verdict;
    assert_eq!(of(&right, &nothing), Verdict::Holds);
    assert_eq!(of(&wrong, &nothing), Verdict::Differs);
    assert_eq!(of(&regular, &nothing), Verdict::Holds);
    assert_eq!(of(&regular, &ns2), Verdict::RefutedByNs2);
    let mut missing = right.clone();
    missing.claims[0].cannot = Some("no number".into());
    assert_eq!(of(&missing, &nothing), Verdict::CannotBeJudged);
    assert_eq!(
        missing.claims[0].points.as_ref().expect("points").all(&missing.defaults)[0].kind,
        KindWord::Mbb
    );
}

/// The bound is half of ns-2's regular TCP at each of four points: 50 % are possible, 65 % are not, whatever the sender.
#[test]
fn no_sender_reaches_more_than_the_bound_leaves() {
    let mut ours = made(&[("sack", [80.0; 4]), ("etcp", [70.0; 4])]);
    for sample in ours.0.values_mut() {
        sample.add(Measure::Bound, 50.0);
    }
    let ns2 = made(&[("sack", [100.0; 4])]);
    let of = |is: &str, at: &str, ns2: &Made| {
        let text =
            format!("op = 'reduction'\nscheme = 'etcp'\nagainst = 'regular'\nat = '{at}'\nis = {{ {is} }}");
        let paper = paper(&text, "");
        verdict(&paper, &paper.claims[0], &ours, ns2).verdict
    };
    assert_eq!(of("about = 65", "each", &ns2), Verdict::BeyondTheBound);
    assert_eq!(of("min = 51", "some", &ns2), Verdict::BeyondTheBound);
    assert_eq!(of("about = 60", "each", &ns2), Verdict::Differs, "ten points are within the tolerance");
    assert_eq!(of("min = 50", "each", &ns2), Verdict::Differs);
    assert_eq!(of("max = 5", "each", &ns2), Verdict::Differs, "less gain is always possible");
    assert_eq!(of("about = 65", "each", &made(&[])), Verdict::Differs, "ns-2 has not run it");
    // Regular TCP takes at most twice as long as another sender.
    for (is, verdict_of) in [("about = 2.6", Verdict::Differs), ("about = 2.7", Verdict::BeyondTheBound)] {
        let text = "op = 'ratio'\nover = { scheme = 'regular' }\nunder = { scheme = 'etcp' }";
        let paper = paper(&format!("{text}\nis = {{ {is} }}"), "");
        assert_eq!(verdict(&paper, &paper.claims[0], &ours, &ns2).verdict, verdict_of, "{is}");
    }
}

/// Samples of every drive of two senders: kbit/s, of which the median is 0.9 times the mean.
struct Driven(BTreeMap<(OneDrive, String), Sample>);

impl Source for Driven {
    fn sample(&self, point: &Point, scheme: &str) -> Option<&Sample> {
        let Point::Drive(drive) = point else { return None };
        self.0.get(&(*drive, scheme.to_string()))
    }

    fn trace(&self, _: &Single, _: &str) -> Option<&SchemeTrace> {
        None
    }
}

/// Whether an expectation is true in this case. TCP-HO has 5 % more than NewReno, WLAN five times as much as WCDMA.
/// Each WAN delay has less than the one before, and U-VH twice as much as the other classes. `None` if it cannot be
/// judged.
fn driven(drives: &str, expect: &str) -> Option<bool> {
    let text = format!(
        "id = 'p'\nnumber = '0'\ncite = 'c'\n[defaults]\nschemes = {{ tcp = 'newreno', ho = 'tcp-ho' }}\n\
         [[claim]]\nid = 'c'\nplace = 'here'\nkind = 'result'\ncheck = 'sim'\nstatement = 's'\nstated = 'n'\n\
         drives = {{ {drives} }}\n[[claim.expect]]\n{expect}\nof = 'mobile_throughput'\nstat = 'mean'\n"
    );
    let paper: Paper = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut made = BTreeMap::new();
    for drive in paper.claims[0].drives.as_ref().expect("drives").all() {
        let of_drive = if drive.drive == PaperDrive::Wlan { 500.0 } else { 100.0 };
        let of_class = match drive.class {
            Some(ClassWord::DVh) => continue,
            Some(ClassWord::UVh) => 2.0,
            _ => 1.0,
        };
        for (scheme, gain) in [("newreno", 1.0), ("tcp-ho", 1.05)] {
            let mean = of_drive * of_class * gain * (1.0 - f64::from(drive.wan_ms) / 1000.0);
            let mut sample = Sample::default();
            for share in [0.8, 0.9, 1.3] {
                sample.add(Measure::MobileThroughput, mean * share);
            }
            made.insert((drive, scheme.to_string()), sample);
        }
    }
    Some(judge(&paper.claims[0], &paper.defaults, &Driven(made))?[0].holds)
}

#[test]
fn drives_are_judged_like_handoffs() {
    let both = "of = ['wcdma', 'wlan'], wan_ms = [10, 20]";
    let order = |low: &str, high: &str| format!("op = 'order'\nlow_to_high = ['{low}', '{high}']");
    assert_eq!(driven(both, &order("tcp", "ho")), Some(true));
    assert_eq!(driven(both, &order("ho", "tcp")), Some(false), "5 % are beyond the slack");
    assert_eq!(driven(both, "op = 'similar'\nscheme = 'ho'\nagainst = 'tcp'"), Some(true));
    let value = |min: u32| format!("op = 'value'\nscheme = 'tcp'\nis = {{ min = {min} }}");
    assert_eq!(driven(both, &value(98)), Some(true), "the mean, not the median");
    assert_eq!(driven(both, &value(99)), Some(false));
    let flat = "op = 'trend'\nscheme = 'ho'\ndirection = 'flat'";
    assert_eq!(driven("of = 'wlan', wan_ms = [10, 20, 50, 100]", flat), Some(true));
    assert_eq!(driven(both, flat), Some(false));
}

#[test]
fn drives_and_classes_are_parts() {
    let contrast = |low: &str, high: &str, slack: &str| {
        format!("op = 'contrast'\nscheme = 'tcp'\nlow = {{ {low} }}\nhigh = {{ {high} }}{slack}")
    };
    let both = "of = ['wcdma', 'wlan'], wan_ms = [10, 20]";
    assert_eq!(driven(both, &contrast("drive = 'wcdma'", "drive = 'wlan'", "")), Some(true));
    assert_eq!(driven(both, &contrast("drive = 'wlan'", "drive = 'wcdma'", "")), Some(false));
    let factor = |percent: u32| format!("\nslack_percent = {percent}");
    assert_eq!(driven(both, &contrast("drive = 'wlan'", "drive = 'wcdma'", &factor(401))), Some(true));
    assert_eq!(driven(both, &contrast("drive = 'wlan'", "drive = 'wcdma'", &factor(399))), Some(false));
    let classes = "of = 'wlan', wan_ms = [10, 20], class = ['H-HH', 'U-VH', 'D-VH']";
    assert_eq!(driven(classes, &contrast("class = 'H-HH'", "class = 'U-VH'", "")), Some(true));
    assert_eq!(driven(classes, &contrast("class = 'U-VH'", "class = 'H-HH'", "")), Some(false));
    assert_eq!(driven(classes, &contrast("class = 'L-HH'", "class = 'U-VH'", "")), None, "not among them");
    assert_eq!(driven(classes, &contrast("class = 'D-VH'", "class = 'U-VH'", "")), None, "none occurred");
}

/// Goodputs of a download at each delay, with one sender.
struct Downloaded(BTreeMap<Point, Sample>);

impl Source for Downloaded {
    fn sample(&self, point: &Point, _: &str) -> Option<&Sample> {
        self.0.get(point)
    }

    fn trace(&self, _: &Single, _: &str) -> Option<&SchemeTrace> {
        None
    }
}

/// Whether goodputs at 0, 0.5, 1, 1.5 and 2 s fall faster beyond 1 s than up to it.
fn steeper(from_s: f64, goodputs: [f64; 5]) -> Option<bool> {
    let text = format!(
        "id = 'p'\nnumber = '0'\ncite = 'c'\n[defaults]\nschemes = {{ reno = 'reno@100kB' }}\n\
         [[claim]]\nid = 'c'\nplace = 'here'\nkind = 'result'\ncheck = 'sim'\nstatement = 's'\nstated = 'n'\n\
         downloads = {{ disconnect_s = [0, 0.5, 1.0, 1.5, 2.0] }}\n\
         [[claim.expect]]\nop = 'steeper'\nscheme = 'reno'\nof = 'goodput'\nstat = 'mean'\nfrom_s = {from_s:?}\n"
    );
    let paper: Paper = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let points = paper.claims[0].all_points(&paper.defaults);
    let samples = points.into_iter().zip(goodputs).map(|(point, goodput)| {
        let mut sample = Sample::default();
        sample.add(Measure::Goodput, goodput);
        (point, sample)
    });
    Some(judge(&paper.claims[0], &paper.defaults, &Downloaded(samples.collect()))?[0].holds)
}

#[test]
fn a_knee_is_a_steeper_fall() {
    assert_eq!(steeper(1.0, [10.0, 9.5, 9.0, 7.0, 5.0]), Some(true));
    assert_eq!(steeper(1.0, [10.0, 8.0, 6.0, 5.0, 4.0]), Some(false), "it falls more slowly");
    assert_eq!(steeper(1.0, [10.0, 9.0, 8.0, 7.0, 6.0]), Some(false), "a straight line");
    assert_eq!(steeper(1.0, [10.0, 11.0, 12.0, 12.0, 13.0]), Some(false), "it rises, if more slowly");
    assert_eq!(steeper(0.75, [10.0, 9.5, 9.0, 7.0, 5.0]), None, "not one of the points");
}
