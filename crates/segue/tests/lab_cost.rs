//! `segue lab cost`.
#![cfg(feature = "live")]

use serde_json::Value;
use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

#[test]
fn mistakes_are_the_user_s_and_take_one_line() {
    let cases: [(&[&str], &str); 7] = [
        (&["--runs", "1"], "expected 2 to 1000"),
        (&["--seconds", "0"], "expected seconds, 0.1 to 600"),
        (&["--senders", "cubic"], "`cubic` is the kernel's own; expected one of ours"),
        (&["--senders", "etcp-v9"], "did you mean `etcp-v"),
        (&["--senders", "etcp-v1,etcp-v1"], "`etcp-v1` is given twice"),
        (&["--connections", "0"], "expected 1 to 100000"),
        (&["--json", "/proc/nowhere/at/all.json"], "cannot write /proc/nowhere/at/all.json"),
    ];
    for (args, part) in cases {
        let output = segue(&[&["lab", "cost"], args].concat());
        let line = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(line.contains(part) && line.lines().count() == 1, "{args:?}: {line}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line}");
    }
}

#[test]
#[ignore = "needs lab"]
fn two_short_pairs_are_measured() {
    short_pairs();
}

/// A sender costs less than half of the throughput and of the connections.
#[test]
#[ignore = "a measurement: make measure"]
fn what_a_sender_costs_is_bounded() {
    let rows = short_pairs();
    for measure in ["throughput", "throughput_by_processor", "connections", "connections_by_processor"] {
        // Other programs of this machine may be in the way of a run, so the best ones are compared.
        let best = |row: &Value| {
            let runs = row[measure]["runs"].as_array().expect("runs");
            runs.iter().filter_map(Value::as_f64).fold(0.0, f64::max)
        };
        for row in &rows {
            assert!(best(row) > 0.5 * best(&rows[0]), "{measure}: {row} beside {}", rows[0]);
        }
    }
}

/// The rows of a short measurement, which are whole.
fn short_pairs() -> Vec<Value> {
    let args = "lab cost --runs 2 --seconds 0.5 --connections 400 --senders unaware --json -";
    let output = segue(&args.split(' ').collect::<Vec<_>>());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&document["version"], &document["seconds"]), (&1.into(), &0.5.into()));
    let rows = document["rows"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|row| (&row["scheme"], &row["mobile_attached"])).collect();
    let expected = [("cubic", false), ("cubic", true), ("unaware", true)];
    assert!(
        names.iter().zip(expected).all(|((name, mobile), (n, m))| **name == n && **mobile == m)
            && names.len() == 3,
        "{names:?}"
    );
    for row in rows {
        let measures = [
            ("throughput", "bits_per_second"),
            ("throughput_by_processor", "bits_per_processor_second"),
            ("connections", "per_second"),
            ("connections_by_processor", "per_processor_second"),
        ];
        for (measure, value) in measures {
            let measure = &row[measure];
            let mean = measure[value].as_f64().expect("a mean");
            assert!(mean > 0.0, "{row}");
            let runs: Vec<f64> =
                measure["runs"].as_array().expect("runs").iter().filter_map(Value::as_f64).collect();
            assert!(runs.len() == 2 && ((runs[0] + runs[1]) / 2.0 - mean).abs() < 1e-6 * mean, "{row}");
            let ratio = &measure["ratio_to_cubic"];
            let [low, mean, high] = ["low", "mean", "high"].map(|key| ratio[key].as_f64().expect(key));
            assert!(low <= mean && mean <= high, "{row}");
        }
        assert_eq!(row["memory"]["connections"], 400);
    }
    // Nobody negotiates with plain cubic; with the sender's programs every connection did, or the command had failed.
    let connections = rows[2]["connections"]["runs"].as_array().expect("runs");
    let least: f64 = connections.iter().filter_map(Value::as_f64).map(|rate| rate * 0.5).sum();
    assert_eq!((&rows[0]["negotiated"], &rows[1]["negotiated"]), (&0.into(), &0.into()));
    assert!(rows[2]["negotiated"].as_f64().expect("a number") >= least, "{}", rows[2]);
    // Storage of a connection is charged to its socket.
    let charged = |row: usize, end: &str| rows[row]["memory"]["charged_octets"][end].as_f64();
    if let (Some(without), Some(with)) = (charged(0, "server"), charged(2, "server")) {
        assert!(without == 0.0 && with > 100.0 && with < 10_000.0, "{without} {with}");
        assert!(charged(2, "mobile").is_some_and(|octets| octets > 0.0));
    }
    rows.clone()
}
