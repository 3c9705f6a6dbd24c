//! `segue trace` and the reports as a user meets them: contract, determinism, errors.

use std::path::Path;
use std::process::{Command, Output};

fn segue(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(arguments).output().expect("segue starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The handoff of the paper's Figure 8.
const HANDOFF: [&str; 5] = ["trace", "6400kbit/9ms", "200kbit/300ms", "--at", "8.2s"];

fn trace(more: &[&str]) -> Output {
    segue(&[&HANDOFF[..], more].concat())
}

#[test]
fn events_say_when_who_what_in_which_state_by_which_rule() {
    let output = trace(&["--schemes", "sack,etcp"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let text = text(&output.stdout);
    let (sack, etcp) = text.split_once("\netcp on ns2-sack1: ").expect("a block per scheme");
    // ns-2 tells the same of it: reference/ns2/examples.txt.
    let timeout = sack.lines().find(|line| line.contains("timeout of")).expect("a timeout");
    for part in ["8.410403328  CN", "timeout of 4043 (spurious", "cwnd 1 ssthresh 11", "RFC 6298"] {
        assert!(timeout.contains(part), "{part}: {timeout}");
    }
    assert!(sack.contains("8.518563328  new link  drops 4051: queue full"), "{sack}");
    let notice = etcp.lines().find(|line| line.contains("hears the notice")).expect("a notice");
    for part in ["8.200000000  CN", "minrto 0.554 s, timer restarted", "A1, case 1 (2.1)"] {
        assert!(notice.contains(part), "{part}: {notice}");
    }
    let first = |text: &str| text.lines().nth(2).expect("an event").trim().to_string();
    assert!(first(&text).starts_with("8.200000000"), "from T on");
    let all = trace(&["--schemes", "sack", "--all"]);
    assert!(first(&self::text(&all.stdout)).starts_with("0.000000000"), "--all: from the start");
    let story = self::text(&trace(&["--schemes", "etcp", "--story"]).stdout);
    assert!(story.lines().count() < 25 && story.contains("[A1, case 1: algorithms.md 2.1]"), "{story}");
}

#[test]
fn json_on_standard_output_is_all_there_is() {
    let output = trace(&["--schemes", "sack,etcp-v1", "--json", "-"]);
    let lines: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let runs: Vec<_> = lines.iter().filter(|line| line["event"] == "run").collect();
    assert_eq!(runs.iter().map(|run| &run["scheme"]).collect::<Vec<_>>(), ["sack", "etcp-v1"]);
    assert_eq!(runs[0]["version"], 1);
    assert_eq!(lines.iter().filter(|line| line["event"] == "counts").count(), 2);
    assert_eq!(output.stdout, trace(&["--schemes", "sack,etcp-v1", "--json", "-"]).stdout, "the same bytes");
}

#[test]
fn captures_and_report_go_where_they_are_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("deep/out");
    let report = out.join("why.html");
    let (out, report) = (out.to_str().expect("UTF-8"), report.to_str().expect("UTF-8"));
    let schemes = ["--schemes", "sack,etcp:a1+a3"];
    let make = || trace(&[&schemes[..], &["--pcap", out, "--report", report]].concat());
    assert!(make().status.success());
    let read = |name: &str| std::fs::read(Path::new(out).join(name)).expect("a file");
    let names = ["sack.pcapng", "etcp-a1+a3.pcapng", "why.html"];
    let first = names.map(read);
    assert!(first[0].starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]), "pcapng");
    let page = text(&first[2]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("segue trace 6400kbit/9ms 200kbit/300ms --at 8.2s"), "the command that repeats it");
    for foreign in ["src=", "href=\"http", "url(http", "@import", "<link rel=\"style"] {
        assert!(!page.contains(foreign), "{foreign}: not self-contained");
    }
    assert!(make().status.success());
    assert!(first == names.map(read), "the same bytes");
    assert_eq!(std::fs::read_dir(out).expect("a folder").count(), 3, "nothing else is left");
}

/// But for the command it repeats.
#[test]
fn a_report_does_not_depend_on_the_number_of_threads() {
    let links = ["compare", "egprs", "wlan", "--both-ways", "--flows", "1,2", "--at", "1s..8s/0.5s"];
    let page = |threads: &str| {
        let output = segue(&[&links[..], &["--report", "-", "--threads", threads]].concat());
        assert!(output.status.success());
        text(&output.stdout).replace(&format!("--threads {threads}"), "--threads N")
    };
    assert_eq!(page("1"), page("2"));
}

/// What was wrong, where, what was expected; exit status 2.
#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").expect("written");
    let (file, inside) = (file.to_str().expect("UTF-8"), format!("{}/out", file.display()));
    let bad: [(&[&str], &[&str]); 11] = [
        (&["trace", "wlan", "egprs"], &["--at"]),
        (&["trace", "wlan", "egprs", "--at", "1s..2s/1s"], &["1s..2s/1s", "a number with unit"]),
        (&["trace", "wlan", "egprs", "--at", "4000s"], &["4000 s", "at most 3600 s"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--kind", "mbb,bbm"], &["mbb,bbm", "possible values"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--flows", "1,2"], &["--flows", "whole number"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--schemes", "sak"], &["sak", "did you mean `sack`"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--pcap", file], &["--pcap", file, "folder"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--pcap", &inside], &["--pcap", "out", "folder"]),
        (
            &["trace", "wlan", "egprs", "--at", "1s", "--report", folder.path().to_str().expect("UTF-8")],
            &["directory"],
        ),
        (&["trace", "wlan", "egprs", "--at", "1s", "--json", "-", "--report", "-"], &["--json, --report"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--all", "--story"], &["--all", "--story"]),
    ];
    for (arguments, parts) in bad {
        let output = segue(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(error.lines().count(), 1, "{error}");
        for part in parts {
            assert!(error.contains(part), "{arguments:?}: {part}: {error}");
        }
    }
}
