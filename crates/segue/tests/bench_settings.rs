//! Settings of the bench that papers leave open, as a user meets them: queues, starts, whose packets count, time stamps.

use segue_study::bench_words::{BENCH_WORDS, BenchWord};
use serde_json::Value;
use std::process::{Command, Output};

fn segue(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(words.split(' ')).output().expect("segue starts")
}

/// Median of each row.
fn medians(words: &str) -> Vec<Value> {
    let output = segue(&format!("compare {words} --at 2s..8s/2s --schemes sack,etcp-v1 --json -"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    result["rows"].as_array().expect("rows").iter().map(|row| row["transfer_s"]["median"].clone()).collect()
}

const LINKS: &str = "6400kbit/9ms 200kbit/300ms";

/// The setting does what the words of the links do, and leaves alone a link that has words of its own.
#[test]
fn a_queue_rule_is_that_of_the_links_words() {
    let plain = medians(LINKS);
    for rule in ["2bdp", "50p"] {
        let by_words = medians(&format!("6400kbit/9ms,queue={rule} 200kbit/300ms,queue={rule}"));
        assert_eq!(medians(&format!("{LINKS} --set link-queue={rule}")), by_words, "{rule}");
        assert_ne!(by_words, plain, "{rule}");
    }
    let own = "6400kbit/9ms,queue=10p 200kbit/300ms";
    let by_words = medians(&format!("{own},queue=50p"));
    assert_eq!(medians(&format!("{own} --set link-queue=50p")), by_words);
}

/// Four flows that bring 100 packets in all bring 25 each; three bring 34 each.
#[test]
fn packets_in_all_are_shared() {
    for (flows, share) in [(4, 25), (3, 34)] {
        let in_all = medians(&format!("{LINKS} --flows {flows} --set target=in-all"));
        assert_eq!(in_all, medians(&format!("{LINKS} --flows {flows} --packets {share}")));
    }
    assert_eq!(
        medians(&format!("{LINKS} --flows 4 --set target=per-flow")),
        medians(&format!("{LINKS} --flows 4"))
    );
}

#[test]
fn starts_and_time_stamps_are_as_they_were_unless_set() {
    let plain = medians(&format!("{LINKS} --flows 4"));
    for (same, setting) in
        [(true, "starts=1ms"), (false, "starts=500ms"), (true, "time-stamps=off"), (false, "time-stamps=on")]
    {
        assert_eq!(medians(&format!("{LINKS} --flows 4 --set {setting}")) == plain, same, "{setting}");
    }
}

/// One table has the settings of the bench. Those with a key in files have it everywhere.
#[cfg(feature = "tables")]
#[test]
fn every_word_of_the_table_can_be_written_everywhere() {
    let json = |words: &str| serde_json::from_slice::<Value>(&segue(words).stdout).expect("JSON");
    let (scenario, sweep) = (json("run --schema"), json("sweep --schema"));
    let help = String::from_utf8(segue("compare --help").stdout).expect("UTF-8");
    let stub = include_str!("../../../python/segue/_segue.pyi");
    let python =
        stub.split("def compare(").nth(1).and_then(|rest| rest.split(')').next()).expect("parameters");
    for BenchWord { key, file, .. } in BENCH_WORDS {
        let Some(file) = file else { continue };
        assert!(help.contains(&format!("--{key} <")), "compare has no --{key}");
        for schema in [&scenario, &sweep] {
            assert!(schema["properties"][file].is_object(), "{}: no {file}", schema["title"]);
        }
        // `return` is a word of Python itself.
        let parameter = if file == "return" { "return_after" } else { file };
        assert!(python.contains(&format!("\n    {parameter}: ")), "segue.compare has no {parameter}");
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    for (setting, said) in [
        ("link-queue=2x", "setting `link-queue`: bad value `2x`; expected a length such as 2bdp, 50p"),
        ("starts=200s", "setting `starts`: bad value `200s`; expected a time up to 100s"),
        ("target=all", "setting `target`: bad value `all`; expected per-flow or in-all"),
        ("time-stamps=yes", "setting `time-stamps`: bad value `yes`; expected on or off, on a stack of ns-2"),
        ("link-queues=2bdp", "did you mean `link-queue`?"),
    ] {
        let output = segue(&format!("compare {LINKS} --set {setting}"));
        let error = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
    let named = "6400kbit/9ms,queue=10p 200kbit/300ms,queue=codel";
    let output = segue(&format!("compare {named} --set link-queue=2bdp"));
    let error = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(
        output.status.code() == Some(2)
            && error.contains("--set link-queue: every link names a queue of its own; expected one that"),
        "{error}"
    );
    let output = segue(&format!("compare {LINKS} --stack rfc --set time-stamps=on"));
    let error = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(
        output.status.code() == Some(2) && error.contains("`time-stamps` has no meaning on rfc"),
        "{error}"
    );
}
