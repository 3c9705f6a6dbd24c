//! `segue diff` as a user meets it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn diff(a: &Path, b: &Path, more: &[&str]) -> String {
    let output = segue(&[&["diff", &a.display().to_string(), &b.display().to_string()], more].concat());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    stdout(&output)
}

/// Results in a folder of their own.
struct Results(tempfile::TempDir);

impl Results {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A short comparison between two links.
    fn compare(&self, name: &str, more: &[&str]) -> std::path::PathBuf {
        let path = self.0.path().join(name);
        let links = ["compare", "6400kbit/9ms", "200kbit/300ms", "--at", "1s..10s/0.5s", "--json"];
        let output = segue(&[&links[..], &[&path.display().to_string()], more].concat());
        assert!(output.status.success(), "{output:?}");
        path
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }
}

/// Results of other commands are told as such.
#[test]
fn results_of_drives_and_of_the_laboratory_are_named() {
    let results = Results::new();
    let of = |question: &str, command: &str| {
        format!(
            "{{\"version\": 1, \"rows\": [{{\"scheme\": null}}], \"origin\": {{\"program\": \"segue 0\", \
             \"command\": {command}, \"question\": {question}, \"links\": {{}}}}}}"
        )
    };
    for (question, command, told) in [
        ("{\"lab\": {\"file\": \"p.toml\"}}", "null", "`segue lab run p.toml`"),
        (
            "{\"lab\": {\"file\": \"p.toml\"}}",
            "\"segue lab run p.toml --runs 2\"",
            "`segue lab run p.toml --runs 2`",
        ),
        ("{\"drives\": {\"file\": \"d.toml\"}}", "null", "`segue run d.toml`"),
    ] {
        let file = results.write("other.json", of(question, command)).display().to_string();
        let refused = segue(&["diff", &file, &file]);
        let said = String::from_utf8(refused.stderr.clone()).expect("UTF-8");
        assert_eq!(refused.status.code(), Some(2), "{said}");
        let expected = format!(": the output of {told}; expected a result of segue compare --json\n");
        assert!(said.ends_with(&expected), "{said}");
    }
}

#[test]
fn a_result_is_identical_to_itself_and_to_its_repetition() {
    let results = Results::new();
    let (a, b) = (results.compare("a.json", &["--both-ways"]), results.compare("b.json", &["--both-ways"]));
    for other in [&a, &b] {
        let text = diff(&a, other, &[]);
        assert!(text.ends_with("identical: 4 rows, equal in every field\n"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }
    let all = diff(&a, &b, &["--all"]);
    assert!(
        all.contains("identical: 4 rows") && !all.contains("noise unknown") && !all.contains("Not listed")
    );
    assert_eq!(all.lines().filter(|line| line.ends_with(" equal")).count(), 4 * 31, "{all}");
}

#[test]
fn another_stack_is_named_and_found_beyond_noise() {
    let results = Results::new();
    let (a, b) = (results.compare("a.json", &[]), results.compare("b.json", &["--stack", "rfc"]));
    let text = diff(&a, &b, &[]);
    assert!(text.contains("stack: ns2-sack1 | rfc (all)"), "{text}");
    let listed: Vec<&str> = text.lines().filter(|line| line.ends_with("beyond noise")).collect();
    assert!(listed.iter().any(|line| line.contains("sack     transfer_s.median")), "{text}");
    assert!(!text.contains('\u{1b}') && text.contains("Not listed: ") && text.contains("McGill"), "{text}");
}

#[test]
fn a_setting_concerns_its_scheme_alone() {
    let results = Results::new();
    let bbm = ["--kind", "bbm"];
    let a = results.compare("a.json", &bbm);
    let b = results.compare("b.json", &[&bbm[..], &["--set", "reinit-rto-us=3s"]].concat());
    let text = diff(&a, &b, &[]);
    assert!(text.contains("settings: none | reinit-rto-us=3s (1 of 2)"), "{text}");
    assert!(text.contains("Identical, that is equal in every field: 1 of 2"), "{text}");
    for line in text.lines().filter(|line| line.ends_with("noise")) {
        assert!(line.contains("etcp-v1"), "{line}");
    }
}

#[test]
fn another_seed_of_one_flow_stays_within_noise() {
    let results = Results::new();
    let (a, b) = (results.compare("a.json", &[]), results.compare("b.json", &["--seed", "2"]));
    let text = diff(&a, &b, &[]);
    assert!(
        text.contains("seed: 1 | 2 (all)") && text.contains("No measure differs beyond noise."),
        "{text}"
    );
    assert!(!text.contains("identical"), "{text}");
    let all = diff(&a, &b, &["--all"]);
    assert!(all.contains("within noise") && !all.contains("Not listed"), "{all}");
}

#[test]
fn one_handoff_says_nothing_about_noise() {
    let results = Results::new();
    let one = ["--at", "3s"];
    let path = |name: &str| results.0.path().join(name);
    for (name, stack) in [("a.json", "ns2-sack1"), ("b.json", "rfc")] {
        let json = path(name).display().to_string();
        let links = ["compare", "6400kbit/9ms", "200kbit/300ms", "--stack", stack, "--json", &json];
        assert!(segue(&[&links[..], &one].concat()).status.success());
    }
    let text = diff(&path("a.json"), &path("b.json"), &[]);
    assert!(text.contains("noise unknown") && !text.contains("beyond noise\n"), "{text}");
}

#[test]
fn rows_of_one_file_alone_are_listed() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack,etcp"]);
    let b = results.compare("b.json", &["--schemes", "sack", "--flows", "1,2"]);
    let text = diff(&a, &b, &[]);
    assert!(
        text.contains("Only in A: 1 row\n  6400kbit/9ms -> 200kbit/300ms, mbb, 1 flow, etcp (stack"),
        "{text}"
    );
    assert!(
        text.contains("Only in B: 1 row\n  6400kbit/9ms -> 200kbit/300ms, mbb, 2 flows, sack ("),
        "{text}"
    );
    let none = diff(&results.compare("c.json", &["--kind", "bbm"]), &b, &[]);
    assert!(none.contains("No row of A has a counterpart in B."), "{none}");
}

#[test]
fn json_keeps_the_contract() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack,etcp"]);
    let b = results.compare("b.json", &["--schemes", "sack,etcp-a5", "--seed", "2"]);
    let document: serde_json::Value = serde_json::from_str(&diff(&a, &b, &["--json", "-"])).expect("JSON");
    assert_eq!((&document["version"], &document["identical"]), (&1.into(), &false.into()));
    let pair = &document["pairs"][0];
    assert_eq!(document["pairs"].as_array().expect("pairs").len(), 1);
    let keys: Vec<&String> = pair.as_object().expect("a pair").keys().collect();
    for key in ["old", "new", "kind", "disconnect_s", "flows", "scheme", "identical", "question", "measures"]
    {
        assert!(keys.contains(&&key.to_string()), "{key} in {keys:?}");
    }
    assert_eq!(pair["question"], serde_json::json!([{"field": "seed", "a": "1", "b": "2"}]));
    let measures = pair["measures"].as_array().expect("measures");
    assert_eq!((measures.len(), &measures[0]["measure"]), (31, &"transfer_s.median".into()));
    for measure in measures {
        for key in ["measure", "a", "b", "ratio", "noise", "verdict"] {
            assert!(measure.get(key).is_some(), "{key} in {measure}");
        }
    }
    assert_eq!(document["only_in_a"][0]["scheme"], "etcp");
    assert_eq!(document["only_in_b"][0]["scheme"], "etcp-a5");
    assert!(document["only_in_b"][0]["transfer_s"]["median"].is_number(), "the row as it stands in the file");
}

/// A change of any field of a row is told: as another question, another row or a measure.
#[test]
fn no_field_changes_unseen() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack"]);
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&a).expect("read")).expect("JSON");
    let mut places = Vec::new();
    for (key, value) in document["rows"][0].as_object().expect("a row") {
        match value.as_object() {
            Some(inner) if key != "settings" => {
                places.extend(inner.keys().map(|inner| format!("/rows/0/{key}/{inner}")));
            }
            _ => places.push(format!("/rows/0/{key}")),
        }
    }
    assert!(places.len() > 40, "{places:?}");
    for place in places {
        let mut changed = document.clone();
        let value = changed.pointer_mut(&place).expect("a field");
        *value = match &*value {
            serde_json::Value::Number(n) if n.is_u64() => (n.as_u64().expect("whole") + 1).into(),
            serde_json::Value::Number(n) => (n.as_f64().expect("a number") + 0.001).into(),
            serde_json::Value::String(word) => format!("{word}x").into(),
            _ => serde_json::json!({"a3-cwnd": "2"}),
        };
        let b = results.write("b.json", changed.to_string());
        let text = diff(&a, &b, &["--json", "-"]);
        let seen: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let some = |list: &serde_json::Value| list.as_array().is_some_and(|list| !list.is_empty());
        let told = some(&seen["only_in_a"])
            || some(&seen["pairs"][0]["question"])
            || seen["pairs"][0]["measures"]
                .as_array()
                .expect("measures")
                .iter()
                .any(|m| m["verdict"] != "equal");
        assert!(told && seen["identical"] == false, "{place}: {text}");
    }
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A change of the program: even a difference within noise is listed.
#[test]
fn the_same_question_with_another_answer_is_listed_however_small() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack"]);
    let mut document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&a).expect("read")).expect("JSON");
    let packets = document["rows"][0]["retransmissions"].as_f64().expect("a number");
    document["rows"][0]["retransmissions"] = (packets + 0.0001).into();
    let text = diff(&a, &results.write("b.json", document.to_string()), &[]);
    assert!(text.contains("Same question, another answer: all."), "{text}");
    assert!(text.contains("retransmissions") && text.contains("within noise"), "{text}");
    assert!(in_one_line(&text).contains("Their origins are the same"), "{text}");
    document.as_object_mut().expect("an object").remove("origin");
    let text = diff(&a, &results.write("c.json", document.to_string()), &[]);
    assert!(in_one_line(&text).contains("something that rows do not hold: --at"), "{text}");
}

/// A pipe can be read once only.
#[test]
fn results_may_come_through_pipes() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack"]);
    let diff =
        format!("exec '{}' diff /dev/fd/3 - --json - 3<&0 <'{}'", env!("CARGO_BIN_EXE_segue"), a.display());
    let output = Command::new("sh")
        .args(["-c", &format!("cat '{}' | {{ {diff}; }}", a.display())])
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["identical"], true);
    let files = document["origin"]["files"].as_object().expect("digests");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["/dev/fd/3", "standard input"]);
    assert_eq!(files["/dev/fd/3"], files["standard input"]);
}

/// Rows do not have their handoff times, but origins do.
#[test]
fn other_handoff_times_are_named() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack"]);
    let b = results.0.path().join("b.json");
    let words = [
        "compare",
        "6400kbit/9ms",
        "200kbit/300ms",
        "--schemes",
        "sack",
        "--at",
        "1.2s..10.2s/0.5s",
        "--json",
    ];
    assert!(segue(&[&words[..], &[&b.display().to_string()]].concat()).status.success());
    let text = diff(&a, &b, &[]);
    let told = "Same question, another answer: all. Their origins differ in: at.";
    assert!(in_one_line(&text).contains(told), "{text}");
}

/// Each mistake, and a part of the one line that must be said about it.
#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let results = Results::new();
    let good = results.compare("good.json", &["--schemes", "sack"]).display().to_string();
    let bad = |name: &str, text: &[u8]| results.write(name, text).display().to_string();
    let long = format!("{{\"version\":\"{}\"}}", "x\n".repeat(10_000).replace('\n', "\\n"));
    let cases: Vec<(Vec<&str>, String, &str)> = vec![
        (vec!["-", "-"], String::new(), "at most one -"),
        (vec![&good], String::new(), "<B>"),
        (vec![&good, "/nowhere/b.json"], String::new(), "cannot read /nowhere/b.json: there is no such file"),
        (vec![&good, "/"], String::new(), "is a directory"),
        (vec![&good], bad("cut.json", b"{\"version\":1,\n\"rows\":[{"), "cut.json, line 2, column"),
        (vec![&good], bad("empty.json", b""), "not JSON"),
        (vec![&good], bad("rows.csv", b"old,new\n"), "line 1, column 1: not JSON"),
        (vec![&good], bad("binary", b"\x00\xff\xfe"), "not JSON"),
        (
            vec![&good],
            bad("v2.json", b"{\"version\":2,\"rows\":[]}"),
            "version 2 of the contract; expected version 1",
        ),
        (vec![&good], bad("long.json", long.as_bytes()), "expected version 1"),
        (vec![&good], bad("none.json", b"{\"version\":1,\"rows\":[]}"), "no rows"),
        (vec![&good], bad("else.json", b"{\"name\":\"segue\"}"), "not a comparison: missing field `version`"),
        (vec![&good], bad("list.json", b"[]"), "not a comparison"),
        (
            vec![&good],
            bad("half.json", b"{\"version\":1,\"rows\":[{\"old\":1}]}"),
            "found the number 1 in place of text",
        ),
        (
            vec![&good, &good, "--json", "/proc/nowhere/x.json"],
            String::new(),
            "cannot write /proc/nowhere/x.json",
        ),
        (vec![&good, &good, "--json", &good], String::new(), "names one of the two results"),
        (vec![&good, &good, "--al"], String::new(), "did you mean `--all`"),
    ];
    for (mut args, last, part) in cases {
        if !last.is_empty() {
            args.push(&last);
        }
        let output = segue(&[&["diff"], &args[..]].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
        assert!(message.contains(part) && message.len() < 2_000, "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    // A difference of a difference is none.
    let own = results.0.path().join("own.json").display().to_string();
    assert!(segue(&["diff", &good, &good, "--json", &own]).status.success());
    let output = segue(&["diff", &good, &own]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains("the output of `segue diff "), "{message}");
}

#[test]
fn either_result_may_come_from_standard_input() {
    let results = Results::new();
    let a = results.compare("a.json", &["--schemes", "sack"]);
    let text = std::fs::read(&a).expect("read");
    let path = a.display().to_string();
    for args in [["diff", "-", &path], ["diff", &path, "-"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("segue starts");
        child.stdin.take().expect("a pipe").write_all(&text).expect("written");
        let mut out = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("read");
        assert!(child.wait().expect("ends").success());
        assert!(out.contains("standard input, 1 row\n") && out.contains("identical: 1 row,"), "{out}");
    }
}

/// A reader that has gone is no failure.
#[test]
fn nobody_reads_on() {
    let results = Results::new();
    let (a, b) = (results.compare("a.json", &[]), results.compare("b.json", &["--seed", "2"]));
    for more in [&["--all"][..], &["--json", "-"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .arg("diff")
            .args([&a, &b])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("segue starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}
