//! Words of users: in any case, hostile, or without a part in the result.

use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn case_and_blanks_are_forgiven() {
    let rows = |args: &[&str]| {
        let rest = ["--seeds", "1", "--packets", "20", "--json", "-"];
        let output = segue(&[args, &rest].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        document["rows"].clone()
    };
    for (plain, meant) in [
        (
            "compare|wlan|egprs|--schemes|sack,etcp-v1|--kind|mbb,bbm|--flows|1,2|--disconnect|1s,2s",
            "compare|WLAN|Egprs|--schemes|SACK, Etcp-V1|--kind|MBB, bbm|--flows|1, 2|--disconnect|1s, 2s",
        ),
        (
            "compare|2mbit/10ms,queue=50p|wlan|--notice|in-band|--stack|rfc|--definition|after-ack",
            "compare|2Mbit/10ms, queue=50p|wlan |--notice|In-Band|--stack|RFC|--definition| After-Ack",
        ),
        (
            "compare|wlan|egprs|--notice-error|rate=2x,late=1ms",
            "compare|wlan|egprs|--notice-error|rate=2x, late=1ms",
        ),
    ] {
        let [plain, meant] = [plain, meant].map(|line| line.split('|').collect::<Vec<_>>());
        assert_eq!(rows(&plain), rows(&meant), "{meant:?}");
    }
}

/// A file has the words of the command line, in any case as well.
#[test]
fn files_are_forgiven_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("A.down"), "1\n2\n3\n").expect("written");
    let file = folder.path().join("file.toml").display().to_string();
    let rows = |text: &str| {
        std::fs::write(&file, text).expect("written");
        let output = segue(&["run", &file, "--json", "-"]);
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        document["rows"].clone()
    };
    let plain = rows(
        "old = 'wlan'\nnew = '2mbit/10ms,queue=50p'\nkind = 'bbm'\nschemes = ['sack', 'etcp-v1']\nat = '2s'\n\
         stack = 'ns2-sack1'\nnotice_error = 'rate=2x,late=1ms'\n[settings]\ntime-stamps = 'on'\n",
    );
    let meant = rows(
        "old = 'WLAN'\nnew = '2Mbit/10ms, Queue=50p'\nkind = 'BBM'\nschemes = ['SACK', \"Etcp-V1\"]\nat = '2s'\n\
         stack = 'NS2-Sack1'\nnotice_error = 'rate=2x, Late=1ms'\n[settings]\ntime-stamps = 'On'\n",
    );
    assert_eq!(plain, meant);
    let traces = ["trace:A.down", "TRACE:A.down, Start=0s"]
        .map(|old| rows(&format!("old = '{old}'\nnew = 'wlan'\nat = '2s'\n"))[0]["transfer_s"].clone());
    assert_eq!(traces[0], traces[1]);
}

#[test]
fn names_are_forgiven_their_case() {
    for (plain, meant) in [
        ("schemes etcp-v1", "schemes Etcp-V1"),
        ("schemes linux-6.12", "schemes LINUX-6.12"),
        ("explain etcp-v1", "explain Etcp-V1"),
        ("explain router-buffer", "explain Router-Buffer"),
        ("explain vs first", "explain VS First"),
    ] {
        let [plain, meant] = [plain, meant].map(|line| stdout(&segue(&line.split(' ').collect::<Vec<_>>())));
        assert_eq!(plain, meant);
    }
    // A word of the glossary, and a scheme.
    let both = stdout(&segue(&["explain", "SACK"]));
    assert!(both.starts_with("Word SACK") && both.contains("Scheme sack: regular TCP"), "{both}");
}

#[test]
fn a_page_is_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html").display().to_string();
    let page = |more: &[&str]| {
        let asked = ["compare", "wlan", "egprs", "--at", "2s..4s/1s", "--report", &file];
        stdout(&segue(&[&asked[..], more].concat()));
        std::fs::read_to_string(&file).expect("a page")
    };
    let plain = page(&[]);
    assert!(plain.contains("<span>--report</span>") && !plain.contains("--threads"));
    assert!(plain == page(&["--threads", "1"]) && plain == page(&["--threads=3", "--quiet"]));
}

#[test]
fn hostile_words_are_quoted_harmlessly() {
    let long = "x".repeat(100_000);
    for word in ["x\ny", "\u{1b}[31mred", "wlan\u{202e}nalw", &long] {
        for args in [["compare", word, "wlan"], ["schemes", word, ""]] {
            let args: Vec<&str> = args.into_iter().filter(|arg| !arg.is_empty()).collect();
            let output = segue(&args);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(message.len() < 2_000 && !message.contains(['\u{1b}', '\u{202e}']), "{message}");
            assert!(!message.contains(&long[..101]), "{message}");
        }
    }
}
