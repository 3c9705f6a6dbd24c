//! `segue run` as a user meets it: the examples, the same bytes as `compare`, outputs, errors.

mod drives;

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn segue_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).current_dir(folder).output().expect("segue starts")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A folder with a scenario in `s.toml`.
fn folder_with(scenario: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.toml"), scenario).expect("written");
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("listed");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const SHORT: &str = "old = '6400kbit/9ms'\nnew = '200kbit/300ms'\nat = '1s..3s/1s'\n";

/// Every example, from another folder, with few handoffs; those with few of their own as they stand. Only one of the
/// four delays of the drives' wide-area network is run.
#[test]
fn examples_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = root().join("examples");
    // A laboratory's plans are read in `crates/study/src/lab_file.rs`, the agent's file in `crates/agent`, sweeps in
    // `sweep.rs`.
    let others = |name: &str| {
        name == "agent.toml" || ["lab-", "sweep-", "near-"].iter().any(|what| name.starts_with(what))
    };
    let of_run = |name: &String| name.ends_with(".toml") && !others(name);
    let scenarios: Vec<String> = files(&examples).into_iter().filter(of_run).collect();
    let (drives, scenarios): (Vec<_>, Vec<_>) =
        scenarios.into_iter().partition(|name| name.starts_with("drive"));
    assert!(scenarios.len() >= 3 && drives.len() >= 2);
    for name in drives {
        let whole = std::fs::read_to_string(examples.join(&name)).expect("an example");
        // An hour is the length of the paper's drives.
        let one = whole
            .replace("\ndelay = [\"10ms\", \"20ms\", \"50ms\", \"100ms\"]\n", "\ndelay = \"20ms\"\n")
            .replace("\nof = \"wcdma+wlan\"\n", "\nof = \"wcdma+wlan\"\nlength = \"300s\"\n");
        std::fs::write(folder.path().join(&name), one).expect("written");
        let path = folder.path().join(&name).display().to_string();
        let output =
            segue_in(folder.path(), &["run", &path, "--points", "1", "--json", "j.json", "--csv", "c.csv"]);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let told = text(&output.stdout);
        assert!(told.contains("kbit/s") && told.contains("etcp-v1"), "{name}: {told}");
        let json = std::fs::read_to_string(folder.path().join("j.json")).expect("JSON");
        let rows: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let rows = rows["rows"].as_array().expect("rows");
        let csv = std::fs::read_to_string(folder.path().join("c.csv")).expect("CSV");
        assert_eq!(csv.lines().count(), 1 + rows.len(), "{name}");
        for row in rows {
            assert!(row["mobile_kbps"]["mean"].as_f64().is_some_and(|rate| rate > 1.0), "{name}: {row}");
        }
    }
    for name in scenarios {
        let path = examples.join(&name).display().to_string();
        let size: &[&str] = if name.starts_with("figure") { &["--points", "3"] } else { &[] };
        let output = segue_in(folder.path(), &[&["run", &path, "--svg", "chart.svg"][..], size].concat());
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let told = text(&output.stdout);
        assert!(told.contains("vs first") && told.contains("sack"), "{name}: {told}");
        let chart = std::fs::read_to_string(folder.path().join("chart.svg")).expect("a chart");
        assert!(chart.starts_with("<svg") && chart.contains("--segue-hue-blue:"), "{name}");
    }
}

/// The ablations of docs/papers/ablations.md, and the tables of docs/reference/rivals.md, each with few handoffs.
#[test]
fn scenarios_of_pages_run() {
    let folder = tempfile::tempdir().expect("a folder");
    for (examples, least, page) in
        [("ablations", 6, "docs/papers/ablations.md"), ("rivals", 1, "docs/reference/rivals.md")]
    {
        let examples = root().join("examples").join(examples);
        let scenarios = files(&examples);
        assert!(scenarios.len() >= least);
        let document = std::fs::read_to_string(root().join(page)).expect("the document");
        for name in scenarios {
            let path = examples.join(&name).display().to_string();
            let output = segue_in(folder.path(), &["run", &path, "--points", "2"]);
            assert!(output.status.success(), "{name}: {}", text(&output.stderr));
            let stem = name.trim_end_matches(".toml");
            assert!(document.contains(stem), "{page} does not speak of {name}");
        }
    }
}

/// The table "senders and buffers" of docs/reference/schemes.md: its files ask the same of four buffers, and Handoff
/// Notification keeps the buffer that it brings.
#[test]
fn senders_and_buffers_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let buffers = root().join("examples/buffers");
    let document = std::fs::read_to_string(root().join("docs/reference/schemes.md")).expect("the document");
    let mut answers = BTreeMap::new();
    for name in files(&buffers) {
        let stem = name.trim_end_matches(".toml").to_string();
        let path = buffers.join(&name);
        let asked = std::fs::read_to_string(&path).expect("a scenario").replace(&stem, "BUFFER");
        assert!(
            document.contains(&format!("`{stem}`")),
            "docs/reference/schemes.md does not speak of {name}"
        );
        let path = path.display().to_string();
        let output = segue_in(folder.path(), &["run", &path, "--points", "4", "--json", "j.json"]);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let json = std::fs::read_to_string(folder.path().join("j.json")).expect("JSON");
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let rows = json["rows"].as_array().expect("rows").clone();
        assert_eq!(rows.len(), 2 * 2 * 5, "{name}: two ways, two disconnections, five senders");
        answers.insert(stem, (asked, rows));
    }
    assert_eq!(answers.len(), 4);
    let times = |rows: &[serde_json::Value], hn: bool| -> Vec<String> {
        let of = rows.iter().filter(|row| (row["scheme"] == "hn") == hn);
        of.map(|row| row["transfer_s"].to_string()).collect()
    };
    let (first, none) = &answers["off"];
    for (stem, (asked, rows)) in answers.iter().filter(|(stem, _)| *stem != "off") {
        assert_eq!(asked, first, "{stem}.toml asks something else");
        assert_eq!(times(rows, true), times(none, true), "{stem}: hn");
        assert_ne!(times(rows, false), times(none, false), "{stem}: a buffer that changes nothing");
    }
}

/// The promise of docs/guide/trace.md: below 3 MB, whatever is asked.
#[test]
fn a_page_of_very_many_blocks_stays_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = |unit: &str| (1..=40).map(|n| format!("'{}{unit}'", 10 * n)).collect::<Vec<_>>().join(", ");
    let text =
        format!("at = '0.5s'\nnew = 'egprs'\n[old]\nrate = [{}]\ndelay = [{}]\n", list("0kbit"), list("ms"));
    std::fs::write(folder.path().join("many.toml"), text).expect("written");
    let output = segue_in(folder.path(), &["run", "many.toml", "--report", "many.html"]);
    assert!(output.status.success(), "{}", self::text(&output.stderr));
    let page = std::fs::read_to_string(folder.path().join("many.html")).expect("a page");
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert!(page.contains("more tables would make this page too large"), "it says so");
}

/// Figure 17a: two rates with six delays each, and the two rates as series of one chart.
#[test]
fn the_figure_has_a_point_for_each_pair() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = root().join("examples/figure-17a.toml").display().to_string();
    let args = ["run", &path, "--points", "2", "--origin=none", "--csv", "-", "--svg", "f.svg"];
    let rows = text(&segue_in(folder.path(), &args).stdout);
    assert_eq!(rows.lines().count(), 1 + 2 * 6 * 2);
    assert!(rows.contains("6400kbit/18ms,6400kbit/300ms,mbb") && !rows.contains("1600kbit/18ms,6400kbit"));
    let chart = std::fs::read_to_string(folder.path().join("f.svg")).expect("a chart");
    for words in
        ["sack, 1600 kbit/s", "etcp, 6400 kbit/s", "one-way delay of the old link, ms (log)", ">150<"]
    {
        assert!(chart.contains(words), "{words}");
    }
    assert_eq!(chart.matches(" bound: ").count(), 12, "each pair has its own bound");
}

#[test]
fn the_schema_in_docs_is_current() {
    let made = text(&segue_in(&root(), &["run", "--schema"]).stdout);
    let kept =
        std::fs::read_to_string(root().join("docs/reference/scenario.schema.json")).expect("the schema");
    assert!(made == kept, "make it again: segue run --schema > docs/reference/scenario.schema.json");
    let made = text(&segue_in(&root(), &["run", "--drive-schema"]).stdout);
    let kept = std::fs::read_to_string(root().join("docs/reference/drive.schema.json")).expect("the schema");
    assert!(made == kept, "make it again: segue run --drive-schema > docs/reference/drive.schema.json");
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let folder = folder_with(&format!(
        "{}kind = ['mbb', 'bbm']\nflows = [1, 3]\nseeds = 2\nboth_ways = true\ntitle = 'x'",
        SHORT
    ));
    for format in ["--json", "--csv", "--rows", "--svg"] {
        let run =
            |threads| segue_in(folder.path(), &["run", "s.toml", "--threads", threads, format, "-"]).stdout;
        let one = run("1");
        assert!(one.len() > 1000);
        assert!(one == run("2") && one == run("7"), "{format}");
    }
}

#[test]
fn outputs_of_the_file_go_to_the_current_folder_and_the_command_line_overrides() {
    let outputs =
        "[output]\njson = 'a.json'\ncsv = 'a.csv'\nrows = 'rows.csv'\nreport = 'new/a.html'\nsvg = 'a.svg'";
    let scenario = folder_with(&format!("title = 'Some <title>'\n{SHORT}{outputs}"));
    let path = scenario.path().join("s.toml").display().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let output = segue_in(folder.path(), &["run", &path, "--json", "b.json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("Some <title>\n\n6400kbit"), "the table is still printed");
    let beside = ["a.csv-metadata.json", "rows.csv-metadata.json"];
    assert_eq!(
        files(folder.path()),
        ["a.csv", beside[0], "a.svg", "b.json", "new", "rows.csv", beside[1]],
        "a table says beside it where it comes from"
    );
    assert_eq!(files(scenario.path()), ["s.toml"]);
    let page = std::fs::read_to_string(folder.path().join("new/a.html")).expect("a page");
    assert!(
        page.contains("<h1>Some &lt;title&gt;</h1>") && page.contains("6400kbit/9ms"),
        "{}",
        &page[..300]
    );
    let chart = std::fs::read_to_string(folder.path().join("a.svg")).expect("a chart");
    assert!(chart.contains("Some &lt;title&gt;") && chart.ends_with("</svg>\n"));
}

#[test]
fn columns_are_those_asked_for() {
    let folder = folder_with(&format!("{SHORT}columns = ['bound', 'jain', 'queue_delay']"));
    let table = text(&segue_in(folder.path(), &["run", "s.toml"]).stdout);
    let words = |line: usize| table.lines().nth(line).expect("a line").split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(1), ["scheme", "bound", "Jain", "queue"]);
    assert_eq!(words(2).len(), 4);
    let wide = text(&segue_in(folder.path(), &["run", "s.toml", "--wide"]).stdout);
    let head = wide.lines().find(|line| line.starts_with("scheme ")).expect("a table");
    assert!(
        head.contains("needless") && !head.contains("Jain"),
        "the command line goes before the file: {head}"
    );
}

/// Options and a scenario, and a part of the one line that must be said.
#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let bad: [(&str, &str, &str); 11] = [
        (
            "",
            "old = 'wlan'\nnew = 'egprs'\nschemes = ['sack', 'etpc']",
            "s.toml, line 3, column 20: unknown scheme",
        ),
        ("", "old = 'wlan'\nnew = 'egprs'\nschems = 'sack'", "line 3, column 1: unknown key `schems`"),
        (
            "",
            "old = 'wlan'\nnew = 'egprs'\n[output]\njson = '/proc/no/a.json'",
            "line 4, column 8: cannot write /proc/no/a.json",
        ),
        ("", "old = 'wlan'\nnew = 'egprs'\n[output]\njson = '-'\ncsv = '-'", "at most one -"),
        ("", "old = 'wlan'\nnew = 'egprs'\n[output]\njson = 'a'\ncsv = './a'", "one file twice"),
        ("", "old = 'w\\nx'\nnew = 'egprs'", "unknown link"),
        ("", "\u{feff}old = 3", "expected a link"),
        ("--json /proc/no/a.json", SHORT, "cannot write /proc/no/a.json"),
        ("--points 0", SHORT, "--points"),
        ("--threads 0", SHORT, "expected 1 to 1024"),
        ("--schema", SHORT, "--schema"),
    ];
    for (options, scenario, part) in bad {
        let folder = folder_with(scenario);
        let args: Vec<&str> = ["run", "s.toml"].into_iter().chain(options.split_whitespace()).collect();
        let output = segue_in(folder.path(), &args);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{scenario}: {message}");
        assert_eq!(message.lines().count(), 1, "{scenario}: {message}");
        assert!(message.contains(part), "{scenario}: {message}");
        assert!(output.stdout.is_empty() && files(folder.path()) == ["s.toml"], "{scenario}");
    }
    let folder = folder_with(SHORT);
    for (args, part) in [(&["run"][..], "SCENARIO"), (&["run", "no.toml"], "cannot read no.toml")] {
        let output = segue_in(folder.path(), args);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
}

/// A comparison, written as options and as a file.
#[derive(Clone, Debug)]
struct Question {
    links: [&'static str; 2],
    both_ways: bool,
    bbm: Option<&'static str>,
    flows: Vec<usize>,
    schemes: &'static [&'static str],
    at: &'static str,
    packets: u32,
    after_ack: bool,
    lost: Option<u32>,
    stack: Option<&'static str>,
    window: Option<u32>,
    seed: u64,
    seeds: u64,
}

impl Question {
    fn options(&self) -> Vec<String> {
        let flows: Vec<String> = self.flows.iter().map(usize::to_string).collect();
        let mut words: Vec<String> = vec!["compare".into()];
        words.extend(self.links.map(String::from));
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        option("flows", flows.join(","));
        option("schemes", self.schemes.join(","));
        option("at", self.at.into());
        option("packets", self.packets.to_string());
        option("seed", self.seed.to_string());
        option("seeds", self.seeds.to_string());
        if let Some(length) = self.bbm {
            option("kind", "mbb,bbm".into());
            option("disconnect", length.into());
        }
        if self.after_ack {
            option("definition", "after-ack".into());
        }
        if let Some(lost) = self.lost {
            option("notice", "in-band".into());
            option("notice-loss", lost.to_string());
        }
        if let Some(stack) = self.stack {
            option("stack", stack.into());
        }
        if let Some(window) = self.window {
            option("set", format!("initial-window={window}"));
        }
        if self.both_ways {
            words.push("--both-ways".into());
        }
        words
    }

    fn scenario(&self) -> String {
        let mut lines = vec![
            format!("old = '{}'\nnew = '{}'", self.links[0], self.links[1]),
            format!("both_ways = {}\nflows = {:?}\nschemes = {:?}", self.both_ways, self.flows, self.schemes),
            format!("at = '{}'\npackets = {}", self.at, self.packets),
            format!("seed = {}\nseeds = {}", self.seed, self.seeds),
        ];
        lines.extend(self.bbm.map(|length| format!("kind = ['mbb', 'bbm']\ndisconnect = '{length}'")));
        lines.extend(self.after_ack.then(|| "definition = 'after-ack'".into()));
        lines.extend(self.lost.map(|lost| format!("notice = 'in-band'\nnotice_loss = {lost}")));
        lines.extend(self.stack.map(|stack| format!("stack = '{stack}'")));
        lines.extend(self.window.map(|window| format!("[settings]\ninitial-window = {window}")));
        lines.join("\n")
    }
}

prop_compose! {
    fn question()(
        links in prop::sample::select(vec![
            ["wlan", "egprs"], ["6400kbit/9ms", "200kbit/300ms"], ["hsdpa", "wimax"], ["1600kbit/37ms", "wlan"],
        ]),
        both_ways in any::<bool>(),
        bbm in prop::option::of(prop::sample::select(vec!["1s", "250ms"])),
        flows in prop::sample::subsequence(vec![1usize, 2, 5], 1..3),
        schemes in prop::sample::select(vec![&["sack"][..], &["sack", "etcp"], &["etcp-v0", "etcp:a1+a3", "sack"]]),
        at in prop::sample::select(vec!["2s", "0.5s..2.5s/1s"]),
        packets in 1u32..120,
        after_ack in any::<bool>(),
        lost in prop::option::of(0u32..3),
        stack in prop::option::of(prop::sample::select(vec!["rfc", "ns2-sack1"])),
        window in prop::option::of(1u32..8),
        seed in 1u64..4,
        seeds in 1u64..3,
    ) -> Question {
        Question { links, both_ways, bbm, flows, schemes, at, packets, after_ack, lost, stack, window, seed, seeds }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 10,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_file_that_spells_out_a_comparison_gives_its_bytes(question in question()) {
        let folder = folder_with(&question.scenario());
        for format in ["--json", "--rows"] {
            let mut options = question.options();
            options.extend([format.into(), "-".into()]);
            let compared = segue_in(folder.path(), &options.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert!(compared.status.success(), "{}", text(&compared.stderr));
            let ran = segue_in(folder.path(), &["run", "s.toml", format, "-"]);
            prop_assert!(ran.status.success(), "{}", text(&ran.stderr));
            prop_assert_eq!(text(&compared.stdout), text(&ran.stdout));
        }
    }
}

/// A scenario is not replaced by its own result.
#[test]
fn a_result_does_not_replace_its_scenario() {
    for scenario in [SHORT, "[drive]\nof = 'wlan'\n"] {
        let folder = folder_with(scenario);
        let output = segue_in(folder.path(), &["run", "s.toml", "--csv", "./s.toml"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains("which was read"), "{}", text(&output.stderr));
        assert_eq!(std::fs::read_to_string(folder.path().join("s.toml")).expect("kept"), scenario);
    }
}

/// Nor is a measured link.
#[test]
fn a_result_does_not_replace_a_measured_link() {
    let folder = folder_with("old = 'trace:slow'\nnew = 'wlan'\n");
    let trace = "10\n20\n100\n";
    for name in ["slow", "up", "delay"] {
        std::fs::write(folder.path().join(name), trace).expect("written");
    }
    let drive = "[drive]\nlinks = ['trace:slow', 'wlan']\nstay = '5s'\nlength = '10s'\n";
    std::fs::write(folder.path().join("d.toml"), drive).expect("written");
    for words in [
        "compare trace:slow wlan --json slow",
        "compare wlan trace:slow,up=up --csv ./up",
        "compare trace:slow,delay-trace=delay wlan --rows delay",
        "trace trace:slow wlan --at 1s --json slow",
        "run s.toml --json slow",
        "run d.toml --json slow",
    ] {
        let args: Vec<&str> = words.split(' ').collect();
        let output = segue_in(folder.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("which was read"), "{words}: {}", text(&output.stderr));
    }
    for name in ["slow", "up", "delay"] {
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).expect("kept"), trace);
    }
}
