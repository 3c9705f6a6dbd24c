//! Linux's sender and receiver against the real kernel's packets: reference/linux, made with Linux 6.12.117.

mod bench;

use std::path::PathBuf;

use bench::{Bench, MS, Scenario, Sent};
use segue_tcp::Nanos;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::LINUX_6_12;

/// The narrated runs give times to 1 us; netem adds 3 or 4 ns on the way.
const TOLERANCE: Nanos = 2_000;

fn reference(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/linux").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A number of the files.
fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is a number"))
}

fn seconds(word: &str) -> Nanos {
    (number::<f64>(word) * 1e9).round() as Nanos
}

/// The scenario of a run, and the packets that the kernel sent.
fn narrated(name: &str) -> (Scenario, Vec<Sent>) {
    let text = reference(&format!("{name}.txt"));
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().expect("a scenario").split(' ').collect();
    let chain = |k: usize| (number(head[k]), number(head[k + 1]), number(head[k + 2]));
    let scenario = Scenario {
        control: CcName::named(head[6]).expect("a control"),
        flows: number(head[7]),
        old: chain(0),
        new: chain(3),
        outage: (head[8] == "bbm").then(|| seconds(head[9])),
        at: seconds(head[10]),
    };
    let (mut at, mut sent) = (0, Vec::new());
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        at += number::<Nanos>(words[0]) * 1_000;
        let (first, last) = words[1].split_once('-').unwrap_or((words[1], words[1]));
        for seq in number(first)..=number(last) {
            sent.push(Sent { at, seq, again: words.len() > 2 });
        }
    }
    (scenario, sent)
}

/// How many packets a run sends as the kernel did, and how many those are in all.
fn alike(name: &str) -> (usize, usize) {
    let (scenario, theirs) = narrated(name);
    let mut bench = Bench::new(scenario, &LINUX_6_12);
    let end = theirs.last().expect("packets").at + MS;
    bench.run(end, u32::MAX / 2);
    let ours = &bench.flows[0].sent;
    let same =
        |(a, b): &(&Sent, &Sent)| a.seq == b.seq && a.again == b.again && a.at.abs_diff(b.at) <= TOLERANCE;
    (ours.iter().zip(&theirs).take_while(same).count(), theirs.len())
}

/// Every packet of the whole run, the same at the same time.
fn assert_identical(name: &str) {
    let (same, all) = alike(name);
    assert_eq!(same, all, "{name}: packets sent as by the kernel");
}

#[test]
fn cubic_to_a_slow_path_make_before_break() {
    assert_identical("cubic1-6400_9-200_300-mbb0-T8.2");
}

#[test]
fn cubic_to_a_slow_path_after_an_outage_of_1_s() {
    assert_identical("cubic1-6400_9-200_300-bbm1-T8.2");
}

#[test]
fn cubic_to_a_fast_path_make_before_break() {
    assert_identical("cubic1-200_300-6400_9-mbb0-T8.2");
}

#[test]
fn cubic_to_a_fast_path_after_an_outage_of_10_s() {
    assert_identical("cubic1-200_300-6400_9-bbm10-T8.2");
}

#[test]
fn cubic_between_middling_paths_after_an_outage_of_1_s() {
    assert_identical("cubic1-1600_75-400_150-bbm1-T8.9");
}

#[test]
fn reno_to_a_slow_path_make_before_break() {
    assert_identical("reno1-6400_9-200_300-mbb0-T8.2");
}

#[test]
fn reno_between_middling_paths_after_an_outage_of_3_s() {
    assert_identical("reno1-400_150-1600_75-bbm3-T8.9");
}

/// The kernel merges SACKed packets in its send buffer, which frees memory that is not counted here: 3.8 s after the
/// handoff the application fills the buffer somewhat later, and the packet with PSH, which is acknowledged at once, is
/// another one.
#[test]
fn cubic_to_a_like_path_until_the_send_buffer_differs() {
    let (same, all) = alike("cubic1-6400_9-6400_9-bbm0.5-T8.2");
    assert_eq!((same, all), (6211, 9613));
}

/// Handoff times of the table.
const TIMES: [u64; 24] = [
    500, 1300, 2200, 3000, 3900, 4700, 5600, 6400, 7300, 8200, 8900, 9800, 10_700, 11_500, 12_400, 13_200,
    14_100, 15_000, 15_800, 16_600, 17_500, 18_300, 19_200, 20_000,
];

/// Median of A over the handoff times, ours and the kernel's, s.
fn medians(
    control: CcName,
    old: (u64, u64, usize),
    new: (u64, u64, usize),
    outage: Option<u64>,
) -> (f64, f64) {
    let outage = outage.map(|ms| ms * MS);
    let mut ours: Vec<f64> = TIMES
        .iter()
        .map(|&at| {
            let scenario = Scenario { control, flows: 1, old, new, outage, at: at * MS };
            let mut bench = Bench::new(scenario, &LINUX_6_12);
            bench.run(bench.completion() + 150_000 * MS, 100);
            let flow = &bench.flows[0];
            let done = flow.una.iter().find(|una| una.1 >= flow.hi + 100).expect("it recovers");
            (done.0 - bench.completion()) as f64 / 1e9
        })
        .collect();
    ours.sort_by(f64::total_cmp);
    let kind = if outage.is_some() { "bbm" } else { "mbb" };
    let outage = outage.unwrap_or(0) / MS / 1000;
    let row = format!(
        "6.12.117-uml,{},1,{},{},{},{},{kind},{outage},24,",
        control.name(),
        old.0,
        old.1,
        new.0,
        new.1
    );
    let table = reference("summary.csv");
    let line = table.lines().find(|line| line.starts_with(&row)).expect(&row);
    let theirs = number(line.split(',').nth(11).expect("A_med"));
    ((ours[11] + ours[12]) / 2.0, theirs)
}

/// Within 5 %.
fn assert_near((ours, theirs): (f64, f64)) {
    assert!((ours - theirs).abs() < 0.05 * theirs, "{ours} s is not {theirs} s");
}

#[test]
fn medians_of_cubic() {
    assert_near(medians(CcName::Cubic, (6400, 9, 10), (200, 300, 10), None));
    assert_near(medians(CcName::Cubic, (200, 300, 10), (6400, 9, 10), Some(1000)));
}

#[test]
fn medians_of_reno() {
    assert_near(medians(CcName::Reno, (6400, 9, 10), (200, 300, 10), Some(1000)));
    assert_near(medians(CcName::Reno, (200, 300, 10), (6400, 9, 10), None));
}
