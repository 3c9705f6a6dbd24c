//! The command line as a user meets it: contract, determinism, files.

use std::path::Path;
use std::process::{Command, Output};

pub(super) fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

pub(super) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(super) const LINKS: [&str; 3] = ["compare", "6400kbit/9ms", "200kbit/300ms"];
pub(super) const SHORT: [&str; 2] = ["--at", "1s..3s/0.5s"];

pub(super) fn compare(more: &[&str]) -> Output {
    segue(&[&LINKS[..], &SHORT[..], more].concat())
}

/// Every field of the contract (docs/reference/results.md), in its order.
#[test]
fn json_keeps_the_contract() {
    let output = compare(&[
        "--both-ways",
        "--kind",
        "mbb,bbm",
        "--flows",
        "1,2",
        "--schemes",
        "sack,etcp",
        "--json",
        "-",
    ]);
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(document["version"], 1);
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    let text = stdout(&output);
    let line = text.lines().nth(1).expect("a row");
    let mut from = 0;
    for key in [
        "old",
        "new",
        "kind",
        "disconnect_s",
        "flows",
        "scheme",
        "stack",
        "notice",
        "definition",
        "seed",
        "settings",
        "packets",
        "points",
        "incomplete",
        "transfer_s",
        "q1",
        "median",
        "q3",
        "bound_s",
        "over_bound",
        "median",
        "p90",
        "timeouts",
        "spurious_timeouts",
        "spurious_timeout_fraction",
        "timeouts_in_disconnection",
        "fast_retransmits",
        "drops",
        "lost_in_disconnection",
        "retransmissions",
        "needless_retransmissions",
        "new_link_s",
        "useful",
        "needless",
        "idle_path",
        "idle_window",
        "idle_timer",
        "idle_other",
        "queue_delay_s",
        "median",
        "p95",
        "jain",
        "against_first",
        "ratio_median",
        "better",
        "worse",
    ] {
        let found =
            line[from..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("`{key}` after byte {from}"));
        from += found + 1;
    }
    assert_eq!(rows[0]["kind"], "mbb");
    assert_eq!(rows[0]["disconnect_s"], 0.0);
    assert_eq!(rows[4]["kind"], "bbm");
    assert_eq!(rows[4]["disconnect_s"], 1.0);
    assert_eq!(rows[8]["old"], "200kbit/300ms");
    assert_eq!(rows[0]["points"], 5);
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let run = |threads: &str, format: &str| {
        let output = compare(&[
            "--flows",
            "1,4",
            "--kind",
            "mbb,bbm",
            "--seeds",
            "2",
            "--threads",
            threads,
            format,
            "-",
        ]);
        assert!(output.status.success());
        stdout(&output)
    };
    for format in ["--json", "--csv", "--rows"] {
        let one = run("1", format);
        assert_eq!(one, run("2", format));
        assert_eq!(one, run("7", format));
    }
}

#[test]
fn seeds_pool_their_points() {
    let output = compare(&["--seeds", "3", "--json", "-"]);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(document["rows"][0]["points"], 15);
    assert_eq!(document["rows"][0]["seeds"], 3);
}

#[test]
fn rows_are_one_line_per_handoff_and_scheme() {
    let text = stdout(&compare(&["--origin=none", "--rows", "-"]));
    assert_eq!(text.lines().count(), 1 + 5 * 2);
    assert!(text.starts_with("old,new,kind,disconnect_s,flows,scheme,stack,seed,at_s,transfer_s,bound_s"));
}

#[test]
fn a_pipe_gets_neither_colour_nor_progress() {
    let output = compare(&[]);
    let text = stdout(&output);
    assert!(text.contains("etcp-v1") && !text.contains('\u{1b}'), "{text}");
    // Lines of a long run on a slow machine are all that may come here.
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains(['\u{1b}', '\r']), "{told}");
    assert!(
        told.lines().all(|line| line.starts_with("segue: ") && line.contains("10 simulated handoffs")),
        "{told}"
    );
}

/// A newcomer's first word is the program's name.
#[test]
fn the_name_alone_prints_a_page_and_help_explains_a_command() {
    let page = stdout(&segue(&[]));
    assert!(page.contains("segue compare wlan hsdpa") && page.lines().all(|line| line.len() <= 80), "{page}");
    let help = stdout(&segue(&["help", "compare"]));
    assert_eq!(help, stdout(&segue(&["compare", "--help"])));
    assert!(help.contains("Examples:\n  segue compare wlan hsdpa\n"), "{help}");
}

/// Errors are told all the same.
#[test]
fn quiet_leaves_result_and_errors() {
    let quiet = segue(&[&["--quiet"], &LINKS[..], &SHORT[..]].concat());
    assert!(quiet.status.success() && quiet.stderr.is_empty());
    assert_eq!(quiet.stdout, compare(&[]).stdout);
    let bad = segue(&["compare", "wlam", "wlan", "--quiet"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("did you mean `wlan`"));
}

/// A connection that is just being opened: its SYN is smaller than the packets of the bound.
#[test]
fn no_run_beats_the_bound_at_the_very_start() {
    for more in
        [["--stack", "rfc"], ["--set", "initial-window=1000"], ["--flows", "9"], ["--stack", "inet-reno"]]
    {
        for links in [["wlan", "egprs"], ["wlan", "200kbit/1ms"], ["egprs", "wlan"]] {
            let args = [
                "--packets",
                "1",
                "--at",
                "0s..0.02s/5ms",
                "--schemes",
                "sack,etcp-v1",
                "--origin=none",
                "--rows",
                "-",
            ];
            let output = segue(&[&["compare"][..], &links[..], &args[..], &more[..]].concat());
            for line in stdout(&output).lines().skip(1) {
                let field = |n: usize| line.split(',').nth(n).and_then(|word| word.parse::<f64>().ok());
                let (transfer, bound) = (field(9).unwrap_or(f64::INFINITY), field(10).expect("a bound"));
                assert!(transfer >= bound, "{line}");
            }
        }
    }
}

#[test]
fn needless_retransmissions_are_retransmissions() {
    let text = stdout(&segue(&[
        "compare",
        "egprs",
        "wlan",
        "--stack",
        "freebsd5-newreno",
        "--schemes",
        "sack,etcp-v1",
        "--origin=none",
        "--rows",
        "-",
    ]));
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|&word| word == name).expect("a column");
    let (all, needless) = (column("retransmissions"), column("needless_retransmissions"));
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let count = |n: usize| fields[n].parse::<u32>().expect("a count");
        assert!(count(needless) <= count(all), "{line}");
    }
}

#[test]
fn a_failed_run_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("a.json").display().to_string();
    let output = compare(&["--json", &json, "--csv", "/proc/nowhere/b.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
}

#[test]
fn files_and_pages_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let output = compare(&["--json", &path("a.json"), "--csv", &path("a.csv"), "--rows", &path("rows.csv")]);
    assert!(output.status.success() && stdout(&output).contains("x bound"), "the table is still printed");
    for name in ["a.json", "a.csv", "rows.csv"] {
        assert!(std::fs::metadata(path(name)).expect("written").len() > 100);
    }
    assert!(segue(&["man", "--out", &path("man")]).status.success());
    assert!(Path::new(&path("man/segue-compare.1")).exists());
    assert!(stdout(&segue(&["completions", "bash"])).contains("_segue"));
    let schemes = stdout(&segue(&["schemes"]));
    for word in ["etcp-v1", "ns2-sack1", "egprs", "initial-window"] {
        assert!(schemes.contains(word), "{word}");
    }
}

/// Every setting that is offered is accepted with its own default.
#[test]
fn defaults_can_be_set() {
    let text = stdout(&segue(&["schemes", "etcp-v1"]));
    assert!(text.contains("a1-in-bbm") && text.contains("significant-ratio"), "{text}");
    let plain = stdout(&compare(&["--schemes", "etcp-v1", "--origin=none", "--rows", "-"]));
    let set = stdout(&compare(&[
        "--schemes",
        "etcp-v1",
        "--set",
        "a1-in-bbm=on",
        "--set",
        "notice-delay=0s",
        "--origin=none",
        "--rows",
        "-",
    ]));
    assert_eq!(plain, set);
}

#[test]
fn notice_delay_and_loss_change_the_run_and_total_loss_is_plain_tcp() {
    let transfers = |more: &[&str]| {
        let text = stdout(&compare(&[&["--origin=none", "--rows", "-"][..], more].concat()));
        text.lines().map(|line| line.split(',').nth(9).unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    let instant = transfers(&["--schemes", "etcp"]);
    assert_ne!(instant, transfers(&["--schemes", "etcp", "--set", "notice-delay=304ms"]));
    let plain = transfers(&["--schemes", "sack"]);
    assert_ne!(instant, plain);
    assert_eq!(plain, transfers(&["--schemes", "etcp", "--notice", "in-band", "--notice-loss", "2"]));
}

#[test]
fn who_leaves_words_out_sees_an_example() {
    for (command, missing, example) in [
        ("compare", "<OLD> <NEW>", "segue compare wlan hsdpa"),
        ("trace", "--at <TIME>", "segue trace wlan hsdpa --at 5s --story"),
        ("repeat", "not provided: <", "segue repeat result.json"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let output = segue(&words);
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {line}");
        assert!(
            line.contains(missing) && line.trim_end().ends_with(&format!("; for example {example}")),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
