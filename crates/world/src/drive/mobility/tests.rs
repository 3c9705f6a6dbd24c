use super::*;
use crate::access::LinkNames;
use crate::random::tests::assert_distributed;
use proptest::prelude::*;
use std::path::Path;

const MS: Nanos = 1_000_000;

fn mobility(text: &str) -> Mobility {
    match text {
        "wcdma" => Mobility::wcdma(),
        "wlan" => Mobility::wlan(),
        _ => Mobility::wcdma_wlan(),
    }
}

/// Long drives, so that the cut at the end weighs little.
fn long_drives(model: &str) -> Vec<Drive> {
    let model = mobility(model).lasting(20_000 * SECOND).unwrap();
    (1..=20).map(|seed| model.drive(seed)).collect()
}

/// Whether a count of `n` lies within four standard deviations of a binomial distribution.
fn assert_share(count: usize, n: usize, share: f64) {
    let (count, n) = (count as f64, n as f64);
    let deviation = (n * share * (1.0 - share)).sqrt();
    assert!((count - n * share).abs() <= 4.0 * deviation, "{count} of {n}, expected {share}");
}

// Generated drives.

#[test]
fn every_generated_drive_is_valid() {
    for model in ["wcdma", "wlan", "both"].map(mobility) {
        for seed in 0..300 {
            let drive = model.drive(seed);
            assert_eq!(Drive::new(drive.length, drive.networks.clone(), drive.stays.clone()), Ok(drive));
        }
    }
}

#[test]
fn papers_lengths() {
    let minutes = ["wcdma", "wlan", "both"].map(|model| mobility(model).drive(1).length / SECOND / 60);
    assert_eq!(minutes, [30, 15, 20]);
}

#[test]
fn a_seed_makes_the_same_drive() {
    let model = Mobility::wcdma_wlan();
    for seed in 0..50 {
        assert_eq!(model.drive(seed), model.drive(seed));
        assert_ne!(model.drive(seed).stays, model.drive(seed + 1).stays);
    }
}

/// A seed's drive never changes: recorded results depend on it.
#[test]
fn drives_are_fixed_for_ever() {
    let mut written = Vec::new();
    Mobility::wcdma_wlan().lasting(60 * SECOND).unwrap().drive(1).write(&mut written).unwrap();
    let expected = concat!(
        "from_s,until_s,link,queue,network\n",
        "0,9.343318021,200kbit/150ms,20,WCDMA\n",
        "14.343318021,15.830543357,7mbit/10ms,20,WLAN\n",
        "20.830543357,27.028084849,200kbit/150ms,20,WCDMA\n",
        "30.028084849,53.550981481,200kbit/150ms,20,WCDMA\n",
        "56.550981481,60,200kbit/150ms,20,WCDMA\n",
    );
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

#[test]
fn attached_times_are_exponential() {
    for (model, means) in [("wcdma", vec![50.0]), ("wlan", vec![12.0]), ("both", vec![20.0, 8.0])] {
        for (network, mean) in means.into_iter().enumerate() {
            let times: Vec<f64> = long_drives(model)
                .iter()
                // All but the last, which the end of the drive cuts.
                .flat_map(|drive| drive.stays[..drive.stays.len() - 1].to_vec())
                .filter(|stay| stay.network == network)
                .map(|stay| (stay.until - stay.from) as f64 / SECOND as f64)
                .collect();
            let found = times.iter().sum::<f64>() / times.len() as f64;
            assert!((found / mean - 1.0).abs() < 4.0 / (times.len() as f64).sqrt(), "{model}: {found}");
            assert_distributed(times, |x| 1.0 - (-x / mean).exp());
        }
    }
}

#[test]
fn transitions_are_those_of_table_2() {
    let mut counts = [[0_usize; 2]; 2];
    for drive in long_drives("both") {
        for pair in drive.stays.windows(2) {
            let (from, to) = (pair[0].network, pair[1].network);
            counts[from][to] += 1;
            let disconnection = [[3, 5], [5, 10]][from][to] * SECOND;
            assert_eq!(pair[1].from - pair[0].until, disconnection);
        }
    }
    for (row, shares) in counts.iter().zip([[0.33, 0.67], [0.9, 0.1]]) {
        assert_share(row[0], row[0] + row[1], shares[0]);
    }
    // In the long run 0.9 / (0.9 + 0.67) of the stays are in WCDMA; neighbours are not independent.
    let stays = counts.iter().flatten().sum::<usize>() as f64;
    let wcdma = counts[0].iter().sum::<usize>() as f64 / stays;
    assert!((wcdma - 0.9 / 1.57).abs() < 0.01, "{wcdma}");
}

#[test]
fn disconnections_of_single_networks() {
    for (model, disconnection) in [("wcdma", 3), ("wlan", 10)] {
        for pair in long_drives(model).iter().flat_map(|drive| drive.stays.windows(2)) {
            assert_eq!(pair[1].from - pair[0].until, disconnection * SECOND);
        }
    }
}

#[test]
fn cells_are_crowded_or_empty() {
    let drives = long_drives("wlan");
    let mut counts = std::collections::BTreeMap::new();
    for stay in drives.iter().flat_map(|drive| &drive.stays) {
        *counts.entry((stay.link.text.as_str(), stay.link.queue)).or_insert(0) += 1;
        assert_eq!(stay.link.delay.min(), 10 * MS);
    }
    let all = counts.values().sum();
    let cells = ["7mbit/10ms", "3500kbit/10ms", "777778bit/10ms", "700kbit/10ms"];
    for link in cells {
        assert_share(counts.remove(&(link, 20)).unwrap(), all, 0.25);
    }
    assert!(counts.is_empty(), "{counts:?}");
    assert!(Mobility::wcdma().drive(1).stays.iter().all(|stay| stay.link.text == "200kbit/150ms"));
}

#[test]
fn fixed_attached_times() {
    let network = Network { dwelling: Dwelling::Fixed, ..network("a") };
    let drive = Mobility::new(100 * SECOND, vec![network], vec![vec![to(1.0, 5)]]).unwrap().drive(3);
    let spans: Vec<_> = drive.stays.iter().map(|stay| (stay.from / SECOND, stay.until / SECOND)).collect();
    assert_eq!(spans, [(0, 20), (25, 45), (50, 70), (75, 95)]);
}

// Bad models.

fn network(name: &str) -> Network {
    Network {
        name: name.into(),
        channel_rate: 1_000_000,
        delay: 10 * MS,
        queue: 20,
        attached: 20 * SECOND,
        dwelling: Dwelling::default(),
        load: vec![Load { users: 1..=2, probability: 1.0 }],
    }
}

fn to(probability: f64, disconnection_s: u64) -> Transition {
    Transition { probability, disconnection: disconnection_s * SECOND }
}

#[test]
fn bad_networks_are_refused() {
    let message =
        |network| Mobility::new(SECOND, vec![network], vec![vec![to(1.0, 0)]]).unwrap_err().to_string();
    let a = || network("a");
    let load = |users, probability| vec![Load { users, probability }];
    #[expect(clippy::reversed_empty_ranges)]
    let backwards = 3..=2;
    for (network, words) in [
        (Network { channel_rate: 0, ..a() }, "network `a`: the channel rate is 0 bit/s; expected 1 to"),
        (Network { delay: 0, ..a() }, "network `a`: the delay is 0 s; expected more than 0, at most 10 s"),
        (Network { queue: 0, ..a() }, "network `a`: the queue is 0 packets; expected at least 1"),
        (Network { attached: 0, ..a() }, "the mean attached time is 0 s; expected 0.1 to 100000 s"),
        (Network { load: load(0..=1, 1.0), ..a() }, "the number of users is 0 to 1; expected a range from 1"),
        (Network { load: load(backwards, 1.0), ..a() }, "the number of users is 3 to 2; expected a range"),
        (Network { channel_rate: 1, ..a() }, "the number of users is 1 to 2; expected at least 1 bit/s"),
        (
            Network { load: load(1..=2, 0.4), ..a() },
            "users of network `a`: the probabilities sum to 0.4; exp",
        ),
        (Network { load: vec![], ..a() }, "users of network `a`: the probabilities sum to"),
        (
            Network { load: load(1..=2, -0.5), ..a() },
            "users of network `a`: probability -0.5; expected 0 to 1",
        ),
    ] {
        let message = message(network);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn bad_transitions_are_refused() {
    let two = || vec![network("a"), network("b")];
    let message =
        |networks, transitions| Mobility::new(SECOND, networks, transitions).unwrap_err().to_string();
    let back = || vec![to(1.0, 3), to(0.0, 3)];
    for (row, words) in [
        (vec![to(0.33, 3), to(0.66, 5)], "transitions from `a`: the probabilities sum to 0.99; expected 1"),
        (vec![to(1.5, 3), to(-0.5, 5)], "transitions from `a`: probability 1.5; expected 0 to 1"),
        (vec![to(f64::NAN, 3), to(0.5, 5)], "transitions from `a`: probability NaN; expected 0 to 1"),
        (vec![to(0.5, 3), to(0.5, 61)], "from `a` to `b`: a disconnection of 61 s; expected 0 to 60 s"),
        (vec![to(1.0, 3)], "transitions from `a`: 1; expected one for each of 2 networks"),
        (vec![to(1.0, 3), to(0.0, 5)], "network `b` is never reached from `a`, where drives begin"),
    ] {
        let message = message(two(), vec![row, back()]);
        assert!(message.contains(words), "{message}");
    }
    assert!(message(two(), vec![]).contains("transitions: 0; expected one for each of 2 networks"));
    assert!(message(vec![], vec![]).contains("without networks"));
    let same = vec![network("a"), network("a")];
    assert!(message(same, vec![back(), back()]).contains("two networks are called `a`"));
    let lasting = |length| Mobility::wlan().lasting(length).unwrap_err().to_string();
    assert_eq!(lasting(0), "a drive of 0 s; expected more than 0, at most 100000 s");
    assert!(lasting(100_001 * SECOND).contains("a drive of 100001 s"));
}

// Drives as data.

/// Stays in one network between these seconds.
fn drive(length: u64, spans: &[(u64, u64)]) -> Result<Drive, DriveError> {
    let link = AccessLink::fixed(200_000, 150 * MS, 20);
    let stay =
        |&(from, until)| Stay { network: 0, from: from * SECOND, until: until * SECOND, link: link.clone() };
    Drive::new(length * SECOND, vec!["a".into()], spans.iter().map(stay).collect())
}

#[test]
fn gaps_may_be_nothing_or_long() {
    assert!(drive(100, &[(0, 50), (50, 100)]).is_ok());
    assert!(drive(1_000, &[(0, 50), (500, 1_000)]).is_ok());
    // The end counts as the beginning of a handoff for a minute, or as long as any before.
    assert!(drive(110, &[(0, 50)]).is_ok());
    assert!(drive(1_000, &[(0, 50), (500, 600)]).is_ok());
}

#[test]
fn bad_drives_are_refused() {
    for (length, spans, words) in [
        (100, vec![], "a drive without stays; expected at least one"),
        (0, vec![(0, 50)], "a drive of 0 s; expected more than 0"),
        (100, vec![(1, 50)], "stay 1: it begins at 1 s; expected 0"),
        (100, vec![(0, 50), (60, 60)], "stay 2: it ends at 60 s; expected more than its beginning, 60 s"),
        (
            100,
            vec![(0, 50), (49, 60)],
            "stay 2: it begins at 49 s, before the one above has ended; expected 50 s or later",
        ),
        (
            100,
            vec![(0, 101)],
            "stay 1: it ends at 101 s, after the drive; expected at most the drive's 100 s",
        ),
        (
            1_000,
            vec![(0, 50), (60, 100)],
            "no coverage from 100 s to the end at 1000 s, longer than any disconnection before and than 60 s",
        ),
    ] {
        let message = drive(length, &spans).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    let mut unknown = drive(100, &[(0, 100)]).unwrap();
    unknown.stays[0].network = 1;
    let message = Drive::new(unknown.length, unknown.networks, unknown.stays).unwrap_err().to_string();
    assert_eq!(message, "stay 1: network 1 of 1; expected a number below 1");
}

#[test]
fn measured_links_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        (
            name.to_string(),
            AccessLink::parse_in(&format!("trace:{name}"), folder.path(), &LinkNames::default()).unwrap(),
        )
    };
    let links = [link("umts", "50\n100\n"), link("lte", "1\n2\n3\n")];
    let turns = |links: &[_], attached: &[_]| Drive::of_traces(100 * SECOND, links, attached, 2 * SECOND);
    let drive = turns(&links, &[30 * SECOND, 20 * SECOND]).unwrap();
    let stays: Vec<_> =
        drive.stays.iter().map(|stay| (stay.network, stay.from / SECOND, stay.until / SECOND)).collect();
    assert_eq!(stays, [(0, 0, 30), (1, 32, 52), (0, 54, 84), (1, 86, 100)]);
    assert_eq!(drive.networks, ["umts", "lte"]);
    assert_eq!(drive.class(0, 50 * MS), Some(Class::UVh));
    assert_eq!(drive.class(1, 50 * MS), Some(Class::DVh));
    assert_eq!(drive.class(3, 50 * MS), None);
    let message = |result: Result<Drive, DriveError>| result.unwrap_err().to_string();
    assert!(
        message(turns(&links[..1], &[SECOND])).contains("links: 1, attached times: 1; expected at least two")
    );
    assert!(message(turns(&links, &[])).contains("links: 2, attached times: 0"));
    assert!(
        message(turns(&links, &[SECOND, 1]))
            .contains("an attached time of 0.000000001 s; expected at least 0.1 s")
    );
}

// Classes.

#[test]
fn classes_are_the_papers() {
    let link = |rate_kbps, delay_us| Link { rate_kbps, delay_us };
    let wcdma = link(200, 150_000);
    let [one, two, nine, ten] = [7_000, 3_500, 778, 700].map(|rate| link(rate, 10_000));
    for wan_ms in [10, 20, 50, 100] {
        let class = |old, new| Class::of(old, new, wan_ms * MS);
        assert_eq!(class(wcdma, wcdma), Class::LHh);
        for empty in [one, two] {
            assert_eq!((class(empty, one), class(empty, two)), (Class::HHh, Class::HHh));
            for smaller in [nine, ten] {
                assert_eq!((class(smaller, empty), class(empty, smaller)), (Class::UVh, Class::DVh));
            }
        }
        // At 10 ms an empty cell of two users has 11.7 packets and WCDMA 5.3.
        assert_eq!((class(wcdma, two), class(two, wcdma)), (Class::UVh, Class::DVh));
        let crowded = if wan_ms == 100 { Class::HHh } else { Class::LHh };
        assert_eq!((class(nine, ten), class(ten, nine)), (crowded, crowded));
    }
}

/// "L-HH dominates the WCDMA mobile scenario" (5.2.1), "H-HH, U-VH and D-VH dominate" that of WLAN
/// (5.2.2), and all four occur in that of both (5.2.3).
#[test]
fn classes_dominate_where_the_paper_says() {
    let shares = |model: &str, wan_ms: u64| {
        let mut counts = [0_usize; 4];
        for drive in long_drives(model) {
            for index in 0..drive.stays.len() - 1 {
                counts[drive.class(index, wan_ms * MS).unwrap() as usize] += 1;
            }
        }
        let all = counts.iter().sum::<usize>() as f64;
        counts.map(|count| count as f64 / all)
    };
    for wan_ms in [10, 20, 50, 100] {
        assert_eq!(shares("wcdma", wan_ms), [1.0, 0.0, 0.0, 0.0]);
        assert!(shares("wlan", wan_ms)[0] < 0.3, "{wan_ms}");
        assert!(shares("both", wan_ms).iter().all(|share| *share > 0.01), "{wan_ms}");
    }
}

#[test]
fn classes_have_the_papers_names() {
    let names = [Class::LHh, Class::HHh, Class::UVh, Class::DVh].map(Class::name);
    assert_eq!(names, ["L-HH", "H-HH", "U-VH", "D-VH"]);
}

// Files.

fn read(text: &str) -> Result<Drive, RecordedError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lte.down"), "1\n2\n3\n").unwrap();
    let path = folder.path().join("drive.csv");
    std::fs::write(&path, text).unwrap();
    Drive::read(&path, &LinkNames::default())
}

#[test]
fn generated_drives_survive_writing() {
    for seed in 0..20 {
        let drive = Mobility::wcdma_wlan().drive(seed);
        let mut written = Vec::new();
        drive.write(&mut written).unwrap();
        let read = read(std::str::from_utf8(&written).unwrap()).unwrap();
        assert_eq!(read, drive, "seed {seed}");
    }
}

#[test]
fn recorded_drives_are_read() {
    let drive = read(concat!(
        "\u{feff}link, from_s ,until_s,queue,network\r\n",
        "200kbit/150ms,0,48.5,20,3G\r\n",
        "\r\n",
        "\"trace:lte.down,delay=30ms\",51.5,60.000000001,,\r\n",
        "none,60.000000001,62,,\r\n",
        "egprs,62,70,,3G\r\n",
        "none,70,75,,\r\n",
    ))
    .unwrap();
    assert_eq!(drive.length, 75 * SECOND);
    assert_eq!(drive.networks, ["3G", "trace:lte.down,delay=30ms"]);
    let stays: Vec<_> = drive.stays.iter().map(|s| (s.network, s.from, s.until, s.link.queue)).collect();
    let lte = (1, 51_500 * MS, 60 * SECOND + 1, 60);
    assert_eq!(stays, [(0, 0, 48_500 * MS, 20), lte, (0, 62 * SECOND, 70 * SECOND, 10)]);
}

#[test]
fn bad_files_are_refused_with_line_and_column() {
    let message = |text: &str| read(text).unwrap_err().to_string();
    for (text, words) in [
        ("", "drive.csv, line 1: nothing in it; expected columns from_s, until_s, link, queue, network"),
        ("from_s,until_s\n", "line 1: no column `link`; expected from_s"),
        ("from_s,until_s,link,colour\n", "line 1: unknown column `colour`; expected from_s"),
        ("from_s,from_s,until_s,link\n", "line 1: column `from_s` is given twice; expected it once"),
        ("from_s,until_s,link\n", "line 1: a drive without stays; expected at least one"),
        ("from_s,until_s,link\n0,10,none\n", "line 2: a drive without stays"),
        ("from_s,until_s,link\n0,10\n", "line 2: 2 values; expected 3, as in the first line"),
        (
            "from_s,until_s,link\n0,10,wlan\n\n1e3,20,wlan\n",
            "line 4, column from_s: bad time `1e3`; expected s",
        ),
        ("from_s,until_s,link\r\n0,10,wlan\r\n\r\n\r\n1,x,wlan\r\n", "line 5, column until_s: bad time `x`"),
        ("\n\nfrom_s,until_s,link\n0,x,wlan\n", "line 4, column until_s: bad time `x`"),
        ("from_s,until_s,link\n0,10,\"wlan\n\"\n1,x,wlan\n", "line 4, column until_s: bad time `x`"),
        ("from_s,until_s,link\n0,\"1\n\u{1b}2\",wlan\n", "bad time `1\\u{a}\\u{1b}2`; expected seconds"),
        ("from_s,until_s,link\n0,-1,wlan\n", "line 2, column until_s: bad time `-1`; expected seconds, 0 to"),
        ("from_s,until_s,link\n0,10,wlam\n", "line 2, column link: unknown link `wlam`; expected RATE/DELAY"),
        ("from_s,until_s,link\n0,10,trace:none.down\n", "column link: link `trace:none.down`: cannot read"),
        ("from_s,until_s,link,queue\n0,10,wlan,0\n", "line 2, column queue: bad queue `0`; expected 1 to"),
        ("from_s,until_s,link\n5,10,wlan\n", "line 2, column from_s: it begins at 5 s; expected 0"),
        ("from_s,until_s,link\n0,5,none\n5,10,wlan\n", "line 3, column from_s: it begins at 5 s; expected 0"),
        (
            "from_s,until_s,link\n0,10,wlan\n8,20,wlan\n",
            "line 3, column from_s: it begins at 8 s, before the one",
        ),
        (
            "from_s,until_s,link\n0,10,wlan\n8,20,none\n",
            "line 3, column from_s: it begins at 8 s, before the one",
        ),
        (
            "from_s,until_s,link\n0,10,wlan\n20,20,wlan\n",
            "line 3, column until_s: it ends at 20 s; expected more",
        ),
        (
            "from_s,until_s,link\n0,9,wlan\n9,99,none\n",
            "line 3, column until_s: no coverage from 9 s to the end at 99",
        ),
    ] {
        let message = message(text);
        assert!(message.contains(words), "{message}\nfor {text}");
    }
    let missing =
        Drive::read(Path::new("/nowhere/drive.csv"), &LinkNames::default()).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /nowhere/drive.csv: "), "{missing}");
}

proptest! {
    #[test]
    fn any_drive_survives_writing(
        spans in prop::collection::vec((0..9 * SECOND, 1..100 * SECOND, 1..5_000_000_u64, 1..9_u32), 1..20),
        rest in 0..60 * SECOND,
    ) {
        let (mut stays, mut end) = (Vec::new(), 0);
        for (gap, time, rate, queue) in spans {
            let from = if stays.is_empty() { 0 } else { end + gap };
            end = from + time;
            let link = AccessLink::fixed(rate, rate + gap, queue);
            stays.push(Stay { network: 0, from, until: end, link });
        }
        let drive = Drive::new(end + rest, vec!["a, \"b\"".into()], stays).unwrap();
        let mut written = Vec::new();
        drive.write(&mut written).unwrap();
        prop_assert_eq!(read(std::str::from_utf8(&written).unwrap()).unwrap(), drive);
    }

    #[test]
    fn no_file_breaks_the_reader(rows in "([0-9.]{0,4},){2}(wlan|none|\"|x)(,|\n|\r\n){0,3}") {
        let _ = read(&format!("from_s,until_s,link\n{rows}{rows}"));
        let _ = read(&rows);
    }
}
