//! `--set enact=linux` and the stack `linux` on the command line.

use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn rows(more: &[&str]) -> serde_json::Value {
    let outage = ["compare", "6400kbit/9ms", "200kbit/300ms", "--kind", "bbm", "--disconnect", "3s"];
    let shown =
        ["--at", "2s..4s/0.5s", "--schemes", "sack,etcp-v1,tcp-ho", "--stack", "linux", "--json", "-"];
    let output = segue(&[&outage[..], &shown[..], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// All but the settings that are shown.
fn without_settings(mut document: serde_json::Value) -> serde_json::Value {
    for row in document["rows"].as_array_mut().expect("rows") {
        row["settings"].take();
    }
    document
}

#[test]
fn paper_is_what_there_is_without_the_setting() {
    let (plain, paper, linux) = (rows(&[]), rows(&["--set", "enact=paper"]), rows(&["--set", "enact=linux"]));
    assert_eq!(linux["rows"][1]["settings"]["enact"], "linux");
    assert_eq!(linux["rows"][0]["settings"], serde_json::json!({}), "regular TCP has no such setting");
    let [plain, paper, linux] = [plain, paper, linux].map(without_settings);
    assert_eq!(plain["rows"], paper["rows"]);
    assert_eq!(plain["rows"][0], linux["rows"][0], "regular TCP is the same");
    for row in [1, 2] {
        assert_ne!(plain["rows"][row], linux["rows"][row]);
    }
}

/// After an outage over which the timer has backed off a notice brings the flow back, whoever enacts it.
#[test]
fn a_notice_helps_on_linux_too() {
    let outage = ["compare", "6400kbit/9ms", "6400kbit/9ms", "--kind", "bbm", "--disconnect", "10s"];
    let how = ["--at", "2s..4s/0.5s", "--notice", "in-band", "--stack", "linux", "--json", "-"];
    for enact in ["enact=paper", "enact=linux"] {
        let schemes = ["--schemes", "sack,etcp-v1,tcp-ho", "--set", enact];
        let output = segue(&[&outage[..], &how[..], &schemes[..]].concat());
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let median = |row: usize| document["rows"][row]["transfer_s"]["median"].as_f64().expect("complete");
        for row in [1, 2] {
            assert!(median(row) < 0.3 * median(0), "{enact}: {} {}", median(row), median(0));
        }
    }
}

#[test]
fn words_are_checked_and_listed() {
    let bad = segue(&["compare", "6400kbit/9ms", "200kbit/300ms", "--set", "enact=linus"]);
    let line = String::from_utf8_lossy(&bad.stderr);
    assert!(bad.status.code() == Some(2) && line.contains("expected paper or linux"), "{line}");
    let scheme = segue(&["schemes", "etcp-v1"]);
    assert!(String::from_utf8_lossy(&scheme.stdout).contains("enact"));
    let stack = segue(&["schemes", "linux"]);
    let text = String::from_utf8_lossy(&stack.stdout);
    for lacks in ["CUBIC", "RACK-TLP", "PRR", "F-RTO", "pacing", "HyStart"] {
        assert!(text.contains(lacks), "{lacks}: {text}");
    }
}
