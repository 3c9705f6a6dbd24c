//! Every output is as its JSON schema says, and a schema refuses what it does not know.

#[cfg(feature = "live")]
mod agent;
mod validator;

use serde_json::Value;
use std::process::{Command, Output};
use validator::validate;

fn run(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(words).env("XDG_CONFIG_HOME", "/proc/nowhere").output().expect("segue starts")
}

fn printed(words: &[&str]) -> String {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The printed schema of an output.
fn schema(of: &str) -> Value {
    serde_json::from_str(&printed(&["schema", of])).expect("JSON")
}

/// Holds a result against a schema. A field that it does not know, or one that it misses, must be refused.
fn assert_is(of: &str, text: &str) {
    let schema = schema(of);
    let value: Value = serde_json::from_str(text).expect("JSON");
    if let Err(error) = validate(&schema, &value, "") {
        panic!("{of}: {error}");
    }
    let fields = value.as_object().expect("an object");
    let mut more = fields.clone();
    more.insert("unheard_of".into(), Value::Null);
    assert!(validate(&schema, &more.into(), "").is_err(), "{of}: a field too many");
    for field in
        ["version", "rows", "pairs", "scheme", "ns"].into_iter().filter(|field| fields.contains_key(*field))
    {
        let mut fewer = fields.clone();
        fewer.remove(field);
        assert!(validate(&schema, &fewer.into(), "").is_err(), "{of}: without {field}");
    }
}

const SHORT: [&str; 5] = ["compare", "wlan", "hsdpa", "--at", "1s..2s/1s"];

#[test]
fn comparisons_are_as_their_schema_says() {
    for more in [
        &["--kind", "mbb,bbm", "--both-ways", "--flows", "1,2"][..],
        &["--seeds", "2", "--notice", "in-band", "--notice-loss", "1", "--set", "a1-in-bbm=off"],
        &["--neighbours", "2", "--schemes", "sack"],
        &["--traffic", "both,request,page", "--schemes", "sack"],
        &["--handoffs", "2", "--every", "20s"],
        &["--stack", "linux-6.12", "--cc", "bbr", "--definition", "after-ack"],
    ] {
        assert_is("compare", &printed(&[&SHORT[..], more, &["--json", "-"]].concat()));
    }
    // Infinite times are null.
    let slow = ["compare", "2mbit/20ms", "2kbit/300ms", "--at", "1s", "--json", "-"];
    let text = printed(&slow);
    assert!(text.contains("\"median\":null"), "{text}");
    assert_is("compare", &text);
}

#[test]
fn a_measure_of_another_type_is_refused() {
    let schema = schema("compare");
    let mut value: Value =
        serde_json::from_str(&printed(&[&SHORT[..], &["--json", "-"]].concat())).expect("JSON");
    let whole = value["rows"][0].clone();
    for (field, wrong) in
        [("jain", Value::Null), ("timeouts", "1".into()), ("new_link_s", 1.into()), ("kind", "x".into())]
    {
        value["rows"][0] = whole.clone();
        value["rows"][0][field] = wrong;
        assert!(validate(&schema, &value, "").is_err(), "{field}");
    }
}

#[test]
fn differences_are_as_their_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    // The folder is new: it comes with the result.
    let (a, b) = (path("new/a.json"), path("new/b.json"));
    printed(&[&SHORT[..], &["--json", &a]].concat());
    printed(&[&SHORT[..], &["--json", &b, "--stack", "rfc", "--schemes", "sack,etcp"]].concat());
    assert_is("diff", &printed(&["diff", &a, &b, "--json", "-"]));
    let (a, b) = (path("series-a.json"), path("series-b.json"));
    let series = [&SHORT[..], &["--handoffs", "2", "--every", "20s"]].concat();
    printed(&[&series[..], &["--json", &a]].concat());
    printed(&[&series[..], &["--json", &b, "--stack", "rfc"]].concat());
    assert_is("diff", &printed(&["diff", &a, &b, "--json", "-"]));
}

#[test]
fn lines_of_traces_are_as_their_schema_says() {
    let mut seen = std::collections::BTreeMap::new();
    for words in [
        "6400kbit/9ms 200kbit/300ms --at 8.2s --schemes sack,etcp-v1",
        "wlan egprs --at 2s --kind bbm --disconnect 3s --schemes etcp-v1,mobile,freeze --notice-error rate=2x,late=10ms",
        "lte,loss=2% dsl --at 2s --schemes sack --stack linux-6.12",
        "wlan egprs --at 2s --schemes sack --stack rfc --notice in-band --flows 2",
    ] {
        let words: Vec<&str> = ["trace"].into_iter().chain(words.split(' ')).chain(["--json", "-"]).collect();
        let text = printed(&words);
        let schema = schema("trace");
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            let event = value["event"].as_str().expect("an event");
            let lines: &mut u32 = seen.entry(event.to_string()).or_default();
            *lines += 1;
            // There are tens of thousands of packets. Rare events are all looked at.
            if *lines > 500 && !lines.is_multiple_of(50) {
                continue;
            }
            if let Err(error) = validate(&schema, &value, "") {
                panic!("{line}: {error}");
            }
            if *lines == 1 {
                assert_is("trace", line);
            }
        }
    }
    let events = "run send receive queue drop lose timeout hystart decide help state counts";
    for event in events.split(' ') {
        assert!(seen.contains_key(event), "{event} among {seen:?}");
    }
}

#[test]
fn files_for_other_programs_say_where_they_come_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let words = ["trace", "wlan", "egprs", "--at", "2s", "--schemes", "sack"];
    let lines = printed(&[&words[..], &["--json", "-", "--qlog", &path, "--flent", &path]].concat());
    let run = lines.lines().rfind(|line| line.contains("\"event\":\"run\"")).expect("a run");
    let origin = serde_json::from_str::<Value>(run).expect("JSON")["origin"].take();
    assert!(
        origin["command"].as_str().is_some_and(|command| command.starts_with("segue trace wlan egprs")),
        "{run}"
    );
    let file = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.path().join(name)).expect("a file"))
            .expect("JSON")
    };
    assert_eq!((&file("sack.qlog")["origin"], &file("sack.flent")["metadata"]["SEGUE"]), (&origin, &origin));
}

#[cfg(feature = "files")]
#[test]
fn drives_are_as_their_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("d.toml");
    std::fs::write(&path, "[drive]\nof = 'wlan'\nlength = '60s'\n").expect("written");
    assert_is("drive", &printed(&["run", &path.display().to_string(), "--points", "1", "--json", "-"]));
}

#[cfg(feature = "papers")]
#[test]
fn models_and_verdicts_are_as_their_schemas_say() {
    assert_is("model-tcp-ho", &printed(&["model", "tcp-ho", "--json", "-"]));
    assert_is("model-tcp-ho", &printed(&["model", "tcp-ho", "--b", "58", "--c", "50", "--json", "-"]));
    assert_is("model-lcfd", &printed(&["model", "lcfd", "--figure", "5", "--json", "-"]));
    assert_is("model-lcfd", &printed(&["model", "lcfd", "--w-max", "20", "--json", "-"]));
    let claims =
        ["reproduce", "daniel-kojo-2009-multiflow", "fig4", "--check", "--points", "2", "--no-cache"];
    assert_is("reproduce", &printed(&[&claims[..], &["--json", "-"]].concat()));
}

#[cfg(feature = "live")]
#[test]
fn reports_about_a_machine_are_as_their_schema_says() {
    assert_is("doctor", &printed(&["doctor", "--json", "-"]));
}

#[cfg(feature = "tables")]
#[test]
fn columns_of_a_sweep_are_as_its_schema_says() {
    let schema = schema("sweep");
    let described: std::collections::BTreeSet<&str> =
        schema["required"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    let columns = segue_tables::handoff_schema();
    let columns: std::collections::BTreeSet<&str> =
        columns.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(described, columns);
}

#[test]
fn outputs_without_a_schema_are_refused() {
    let output = run(&["schema", "compere"]);
    let line = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2));
    assert!(line.contains("expected one of compare, drive, diff, trace, lab, "), "{line}");
    assert!(line.ends_with("did you mean `compare`?\n"), "{line}");
}

/// Lines of a CSV text that begin with `#`, and the others.
fn parted(text: &str) -> (Vec<&str>, Vec<&str>) {
    text.lines().partition(|line| line.starts_with('#'))
}

#[test]
fn csv_says_where_it_comes_from() {
    let plain = printed(&[&SHORT[..], &["--origin=none", "--csv", "-"]].concat());
    let text = printed(&[&SHORT[..], &["--csv", "-"]].concat());
    assert_eq!(
        text,
        printed(&[&SHORT[..], &["--csv", "-", "--origin"]].concat()),
        "on standard output it is usual"
    );
    let (head, rows) = parted(&text);
    assert_eq!(rows, plain.lines().collect::<Vec<_>>(), "the rows are the same");
    let json: Value = serde_json::from_str(&printed(&[&SHORT[..], &["--json", "-"]].concat())).expect("JSON");
    let value = |key: &str| head.iter().find_map(|line| line.strip_prefix(&format!("# {key}: "))).expect(key);
    assert_eq!(
        (value("program"), value("command")),
        (json["origin"]["program"].as_str().unwrap(), json["origin"]["command"].as_str().unwrap())
    );
    for key in ["question", "links", "files"] {
        assert_eq!(serde_json::from_str::<Value>(value(key)).expect("JSON"), json["origin"][key], "{key}");
    }
    let single = printed(&[&SHORT[..], &["--rows", "-", "--origin"]].concat());
    assert_eq!(parted(&single).0, head);
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(single.as_bytes());
    assert_eq!(reader.headers().expect("a header").get(0), Some("old"));
    assert_eq!(reader.records().count(), 4);
    let refused = run(&[&SHORT[..], &["--origin"]].concat());
    let line = String::from_utf8(refused.stderr).expect("UTF-8");
    assert!(
        refused.status.code() == Some(2) && line.contains("expected --csv or --rows beside it"),
        "{line}"
    );
}
