//! The stack of Linux as a user meets it: congestion controls, HZ, warm-up, warnings, and every command on it.

use std::path::Path;
use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn printed(args: &[&str]) -> String {
    let output = segue(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// One line on standard error, exit status 2.
fn refused(args: &[&str]) -> String {
    let output = segue(args);
    let line = text(&output.stderr);
    assert!(output.status.code() == Some(2) && line.lines().count() == 1, "{args:?}: {line}");
    line
}

const COMPARE: [&str; 5] = ["compare", "6400kbit/9ms", "200kbit/300ms", "--at", "5s..6s/0.5s"];

fn compare(more: &[&str]) -> Vec<serde_json::Value> {
    let document = printed(&[&COMPARE[..], more, &["--json", "-"]].concat());
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    document["rows"].as_array().expect("rows").clone()
}

#[test]
fn cc_is_the_name_after_the_slash() {
    for control in ["cubic", "reno", "bbr", "bbr3", "leocc"] {
        let name = format!("linux-6.12/{control}");
        let option = compare(&["--stack", "linux-6.12", "--cc", control]);
        assert_eq!(option, compare(&["--stack", &name]), "{control}");
        assert_eq!(option[0]["stack"], *name);
    }
    let two = compare(&["--stack", "linux-6.12", "--schemes", "cubic,bbr,etcp-v1,tcp-ho"]);
    let stacks: Vec<_> = two.iter().map(|row| row["stack"].as_str().expect("a name")).collect();
    assert_eq!(stacks, ["linux-6.12/cubic", "linux-6.12/bbr", "linux-6.12/cubic", "linux-6.12/cubic"]);
    let regular = compare(&["--stack", "linux-6.12/bbr", "--schemes", "sack"]);
    assert_eq!(two[1]["transfer_s"], regular[0]["transfer_s"], "the scheme `bbr` is regular TCP with BBR");
    assert_ne!(two[0]["transfer_s"], two[1]["transfer_s"]);
}

/// The simulated part of both kernels is the same.
#[test]
fn linux_6_18_is_6_12_by_another_name() {
    for control in ["cubic", "bbr"] {
        let [new, old] = ["linux-6.18", "linux-6.12"].map(|stack| {
            let mut rows = compare(&["--stack", stack, "--cc", control, "--schemes", "sack"]);
            assert_eq!(rows[0]["stack"].take(), format!("{stack}/{control}"));
            rows
        });
        assert_eq!(new, old);
    }
}

/// Congestion control starts anew because of a notice, or because its window has failed its trial.
#[test]
fn a_story_gives_the_cause_of_what_the_programs_do() {
    let handoff = "trace 6400kbit/9ms 6400kbit/9ms --at 8.2s --kind bbm --disconnect 1s --stack linux-6.12 --schemes etcp \
         --notice-error rate=8x --story";
    let told = printed(&handoff.split(' ').collect::<Vec<_>>());
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "the window that the notice granted fails its trial, too much of it is lost: half of what arrives in a \
                round trip is left: cwnd ";
    let (_, after) = told.split_once(said).expect(&told);
    let (what, _) = after.split_once(" [trial: segue explain trial]").expect(after);
    assert!(what.ends_with("congestion control started anew"), "{what}");
}

/// With the round trips of the recovery HyStart ended slow start at 24 packets, and seven of these 21 took 4.0 to 5.6 s.
#[test]
fn hystart_does_not_end_slow_start_in_the_recovery_after_a_notice() {
    let handoffs = "compare 5g leo --kind bbm --disconnect 0.2s --stack linux-6.12 --notice in-band --schemes sack,etcp-v1 \
         --at 5s..8s/0.5s --seeds 3 --json -";
    let document = printed(&handoffs.split_whitespace().collect::<Vec<_>>());
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let time = &document["rows"][1]["transfer_s"];
    let [median, q3] = ["median", "q3"].map(|name| time[name].as_f64().expect("complete"));
    assert!(q3 < 2.0 * median, "{time}");
}

/// The event, the states around it, the story and the log say the same. The handoff comes in the first slow start.
#[test]
fn a_story_says_that_hystart_ended_slow_start() {
    let handoff = "trace 20mbit/30ms 6400kbit/60ms --at 0.3s --packets 500 --stack linux-6.12 --schemes sack";
    let of = |more: &str| printed(&format!("{handoff} {more}").split(' ').collect::<Vec<_>>());
    let document = of("--json -");
    let lines: Vec<serde_json::Value> =
        document.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [story, log] =
        ["--story", "--all"].map(|form| of(form).split_whitespace().collect::<Vec<_>>().join(" "));
    let is_state = |line: &&serde_json::Value| line["event"] == "state";
    let mut after_it = 0; // the handoff
    for (index, end) in lines.iter().enumerate().filter(|(_, line)| line["event"] == "hystart") {
        let before = lines[..index].iter().rfind(is_state).expect("a state");
        let after = lines[index..].iter().find(is_state).expect("a state");
        assert_eq!([&end["ssthresh_before"], &end["ssthresh"]], [&before["ssthresh"], &after["ssthresh"]]);
        if end["ns"].as_u64() < lines[0]["at_ns"].as_u64() {
            continue;
        }
        let why = if end["sign"] == "ack_train" { "ACK train" } else { "round trips rise" };
        let ssthresh = &end["ssthresh"];
        let text = format!(
            "slow start is over by HyStart ({why}): ssthresh no limit to {}",
            ssthresh.as_f64().expect("packets")
        );
        let cited = format!("{text} [tcp_cubic.c, hystart_update]");
        assert!(story.contains(&cited), "{cited}: {story}");
        assert!(log.contains(&text), "{text}");
        after_it += 1;
    }
    assert!(after_it > 0, "HyStart ends slow start after the handoff");
}

#[test]
fn words_that_do_not_fit_are_refused() {
    let of = |more: &[&str]| refused(&[&COMPARE[..], more].concat());
    let no_choice = of(&["--stack", "rfc", "--cc", "bbr"]);
    assert!(no_choice.contains("--cc: stack `rfc` has no choice of congestion control"), "{no_choice}");
    assert!(no_choice.contains("expected the stack linux-6.12 or linux-6.18"), "{no_choice}");
    let own = of(&["--cc", "cubic"]);
    assert!(own.contains("stack `ns2-sack1` has no choice of congestion control"), "{own}");
    let misspelt = of(&["--stack", "linux-6.12", "--cc", "cubik"]);
    assert!(misspelt.contains("`cubik`") && misspelt.contains("did you mean `cubic`?"), "{misspelt}");
    let scheme = of(&["--stack", "rfc", "--schemes", "sack,bbr"]);
    assert!(scheme.contains("stack `rfc` has no congestion control `bbr`"), "{scheme}");
    for (stack, hz) in [("linux-6.12", "0"), ("linux-6.12", "333"), ("linux-6.12", "10000")] {
        let line = of(&["--stack", stack, "--set", &format!("hz={hz}")]);
        assert!(line.contains(&format!("`{hz}`; expected 100, 250, 300 or 1000")), "{line}");
    }
    for time in ["-1s", "soon", "3600s"] {
        let line = of(&["--warm-up", time]);
        assert!(line.contains("time"), "{time}: {line}");
    }
}

#[test]
fn hz_is_a_setting_and_seeds_turn_the_wheel() {
    let outage = ["--stack", "linux-6.12", "--kind", "bbm", "--disconnect", "3s", "--schemes", "cubic"];
    let of = |more: &[&str]| compare(&[&outage[..], more].concat());
    let usual = of(&[]);
    let same = of(&["--set", "hz=250"]);
    assert_eq!(same[0]["settings"]["hz"], "250");
    assert_eq!(usual[0]["transfer_s"], same[0]["transfer_s"]);
    for hz in ["hz=100", "hz=300", "hz=1000"] {
        assert_ne!(
            of(&["--set", hz])[0]["transfer_s"],
            usual[0]["transfer_s"],
            "{hz}: timers wait for jiffies"
        );
    }
    assert_ne!(of(&["--seed", "2"])[0]["transfer_s"], usual[0]["transfer_s"]);
}

#[test]
fn a_warm_up_is_added_to_all_times() {
    let rows = |at, warm_up| {
        let words =
            ["compare", "wlan", "hsdpa", "--stack", "linux-6.12", "--schemes", "cubic,etcp-v1", "--at", at];
        printed(&[&words[..], &["--warm-up", warm_up, "--origin=none", "--rows", "-"]].concat())
    };
    assert_eq!(rows("0.5s..1.5s/0.5s", "5s"), rows("5.5s..6.5s/0.5s", "0s"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.toml");
    let scenario =
        "old = 'wlan'\nnew = 'hsdpa'\nstack = 'linux-6.12'\ncc = 'bbr'\nat = '1s..2s/0.5s'\nwarm_up = '5s'\n";
    std::fs::write(&path, scenario).expect("written");
    let of_file = printed(&["run", &path.display().to_string(), "--json", "-"]);
    let words =
        ["compare", "wlan", "hsdpa", "--stack", "linux-6.12/bbr", "--at", "6s..7s/0.5s", "--json", "-"];
    let rows = |text: &str| text.split("\"origin\"").next().map(str::to_string);
    assert_eq!(rows(&of_file), rows(&printed(&words)), "but for the words of the question");
}

/// A command of the introduction, with fewer handoffs.
#[test]
fn a_fast_link_is_as_fast_late_as_early() {
    let words = ["compare", "1gbit/10ms", "300mbit/30ms", "--stack", "linux-6.12", "--schemes", "cubic"];
    let at = ["--warm-up", "5s", "--at", "1s..11s/5s"];
    let table = printed(&[&words[..], &at].concat());
    assert!(table.contains("cubic") && table.contains("10000 Mbit/s"), "{table}");
}

/// In a queue of ten packets of 60 ms each, the first slow start ends in a recovery that lasts for seconds.
#[test]
fn handoffs_in_the_first_recovery_are_told() {
    let links = ["compare", "200kbit/300ms", "6400kbit/9ms", "--stack", "linux-6.12", "--schemes", "cubic"];
    let words = |at| [&links[..], &["--at", at]].concat();
    let told = |text: &str| {
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("fall into the connection's first recovery")
    };
    let early = words("0.5s..12s/0.5s");
    let table = printed(&early);
    assert!(told(&table) && table.contains("--warm-up"), "{table}");
    let late = printed(&[&early[..], &["--warm-up", "60s"]].concat());
    assert!(!told(&late), "{late}");
    // Data on standard output stays data.
    let data = segue(&[&early[..], &["--json", "-", "--progress", "never"]].concat());
    let warning = text(&data.stderr);
    assert!(
        told(&warning) && warning.starts_with("segue: warning: ") && warning.lines().count() == 1,
        "{warning}"
    );
    serde_json::from_slice::<serde_json::Value>(&data.stdout).expect("JSON");
}

#[test]
fn the_old_stack_warns_and_names_the_new_one() {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let warns = |text: String| {
        words(text).contains("stack `linux` is an old approximation; linux-6.12 is validated against")
    };
    assert!(warns(printed(&[&COMPARE[..], &["--stack", "linux"]].concat())));
    assert!(!warns(printed(&[&COMPARE[..], &["--stack", "linux-6.12"]].concat())));
    let trace = ["trace", "wlan", "hsdpa", "--at", "2s", "--schemes", "sack", "--story", "--stack"];
    assert!(warns(printed(&[&trace[..], &["linux"]].concat())));
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = |stack: &str| {
        let path = folder.path().join("s.toml");
        std::fs::write(&path, format!("old = 'wlan'\nnew = 'hsdpa'\nstack = '{stack}'\nat = '1s'\n"))
            .expect("written");
        text(&segue(&["sweep", &path.display().to_string(), "--list"]).stderr)
    };
    assert!(warns(sweep("linux")));
    assert_eq!(sweep("linux-6.12"), "");
}

#[test]
fn what_is_not_validated_against_a_kernel_is_listed_so() {
    for words in [
        &["schemes", "bbr3"][..],
        &["schemes", "linux-6.12/bbr3"],
        &["schemes", "linux-6.12/leocc"],
        &["compare", "--help"],
    ] {
        let said = printed(words).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("not validated against a kernel"), "{words:?}: {said}");
    }
}

/// Results of a congestion control that no released kernel has say so wherever they are shown.
#[test]
fn results_that_were_not_validated_against_a_kernel_say_so() {
    let says = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.to_lowercase().contains("stack `linux-6.12/bbr3` was not validated against a kernel")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html").display().to_string();
    let with = |schemes, more: &[&str]| {
        printed(&[&COMPARE[..], &["--stack", "linux-6.12", "--schemes", schemes], more].concat())
    };
    let document = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    for (schemes, is_unproven) in [("cubic,bbr3", true), ("cubic,bbr", false)] {
        assert_eq!(says(&with(schemes, &["--report", &page])), is_unproven, "the table of {schemes}");
        assert_eq!(
            says(&std::fs::read_to_string(&page).expect("a page")),
            is_unproven,
            "the page of {schemes}"
        );
        let notes = document(&with(schemes, &["--json", "-"]))["notes"].take();
        assert_eq!(says(&notes.to_string()), is_unproven, "{notes}");
        assert_eq!(notes.is_null(), !is_unproven);
        let (csv, rows) = (with(schemes, &["--csv", "-", "--origin"]), folder.path().join("rows.csv"));
        let noted = csv.lines().any(|line| line.starts_with("# notes: ") && says(line));
        assert_eq!((noted, csv.contains("# notes")), (is_unproven, is_unproven), "{csv}");
        with(schemes, &["--rows", &rows.display().to_string()]);
        let beside = std::fs::read_to_string(rows.with_extension("csv-metadata.json")).expect("metadata");
        assert_eq!(says(&document(&beside)["notes"][1].to_string()), is_unproven, "{beside}");
        assert_eq!(document(&beside)["notes"].as_array().map(Vec::len), Some(1 + usize::from(is_unproven)));
        let trace = ["trace", "wlan", "hsdpa", "--at", "2s", "--stack", "linux-6.12", "--schemes", schemes];
        assert_eq!(
            says(&printed(&[&trace[..], &["--story"]].concat())),
            is_unproven,
            "the story of {schemes}"
        );
        let lines = printed(&[&trace[..], &["--json", "-"]].concat());
        let run = lines.lines().rfind(|line| line.contains("\"event\":\"run\"")).expect("a run");
        assert_eq!(says(run), is_unproven, "{run}");
        printed(&[&trace[..], &["--report", &page]].concat());
        assert_eq!(says(&std::fs::read_to_string(&page).expect("a page")), is_unproven, "the handoff's page");
    }
    let beside = ["--neighbours", "1/bbr3"];
    assert!(says(&with("cubic", &beside)), "neighbours have it");
    let notes = document(&with("cubic", &[&beside[..], &["--json", "-"]].concat()))["notes"].take();
    assert!(says(&notes.to_string()), "{notes}");
    let drive = "stack = 'linux-6.12'\ncc = 'bbr3'\nschemes = ['sack']\nseeds = 1\n\
        [drive]\nlength = '40s'\nlinks = ['wlan', 'hsdpa']\n";
    assert!(says(&run_file(folder.path(), "drive.toml", drive, &["run", "--report", &page])));
    assert!(says(&std::fs::read_to_string(&page).expect("a page")), "the drive's page");
    let csv = run_file(folder.path(), "drive.toml", drive, &["run", "--csv", "-", "--origin"]);
    assert!(csv.lines().any(|line| line.starts_with("# notes: ") && says(line)), "{csv}");
    let drive = document(&run_file(folder.path(), "drive.toml", drive, &["run", "--json", "-"]));
    assert!(says(&drive["notes"].to_string()), "{drive}");
    let sweep = "old = 'wlan'\nnew = 'hsdpa'\nstack = 'linux-6.12'\ncc = 'bbr3'\nat = '1s'\n";
    let path = folder.path().join("sweep.toml");
    std::fs::write(&path, sweep).expect("written");
    assert!(says(&text(&segue(&["sweep", &path.display().to_string(), "--list"]).stderr)));
}

fn run_file(folder: &Path, name: &str, content: &str, command: &[&str]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("written");
    let path = path.display().to_string();
    printed(&[&[command[0], &path], &command[1..]].concat())
}

/// Trace, capture, sweep and drive.
#[test]
fn every_command_runs_on_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = |name: &str| folder.path().join(name).display().to_string();
    for cc in ["cubic", "bbr", "bbr3", "leocc"] {
        let captures = out(cc);
        let words = [
            "trace",
            "6400kbit/9ms",
            "200kbit/300ms",
            "--kind",
            "bbm",
            "--at",
            "8.2s",
            "--stack",
            "linux-6.12",
        ];
        let more = [
            "--cc",
            cc,
            "--schemes",
            "sack,etcp-v1,freeze,hn",
            "--pcap",
            &captures,
            "--report",
            &out("r.html"),
            "--story",
        ];
        let told = printed(&[&words[..], &more].concat());
        assert!(told.contains(&format!("etcp-v1 on linux-6.12/{cc}: ")), "{told}");
        let files = std::fs::read_dir(&captures).expect("a folder").count();
        assert_eq!(files, 4, "a capture per scheme");
    }
    let sweep = "old = 'wlan'\nnew = 'hsdpa'\nstack = 'linux-6.12'\ncc = ['cubic', 'bbr']\nat = '1s..2s/1s'\n\
        kind = 'bbm'\nschemes = ['sack', 'tcp-ho']\n";
    let swept = run_file(folder.path(), "sweep.toml", sweep, &["sweep", "--out", &out("s.parquet")]);
    assert!(swept.ends_with(": 8 rows\n"), "{swept}");
    let drive = "stack = 'linux-6.12'\ncc = 'bbr'\nschemes = ['sack', 'tcp-ho', 'etcp-v1']\nseeds = 1\n\
        [drive]\nlength = '40s'\nlinks = ['wlan', 'hsdpa']\n";
    let driven = run_file(folder.path(), "drive.toml", drive, &["run", "--json", "-"]);
    let driven: serde_json::Value = serde_json::from_str(&driven).expect("JSON");
    for row in driven["rows"].as_array().expect("rows") {
        assert_eq!(row["stack"], "linux-6.12/bbr");
        assert!(row["mobile_kbps"]["mean"].as_f64().expect("a rate") > 100.0, "{row}");
    }
}

/// After an outage over which the timer has backed off, a notice brings the flow back. It reports no SACK blocks
/// (mobile.md 1.1), so the kernel does not undo its timeouts. No head waits for a timer as long as the outage.
#[test]
fn a_notice_after_an_outage_brings_the_flow_back() {
    let row = |stack: &str| {
        let words = ["compare", "6400kbit/9ms", "6400kbit/9ms", "--kind", "bbm", "--disconnect", "10s"];
        let how =
            ["--at", "2s..4s/0.25s", "--notice", "in-band", "--schemes", "sack,etcp-v1", "--stack", stack];
        let document = printed(&[&words[..], &how, &["--json", "-"]].concat());
        let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        let [regular, noticed] = [0, 1].map(|row| document["rows"][row].clone());
        let median = |row: &serde_json::Value| row["transfer_s"]["median"].as_f64().expect("complete");
        assert!(median(&noticed) < 0.1 * median(&regular), "{stack}: {noticed} {regular}");
        noticed["over_bound"]["p90"].as_f64().expect("complete")
    };
    for stack in ["linux-6.12", "linux-6.18"] {
        let slowest = row(stack);
        assert!(slowest < 1.5, "{stack}: {slowest} times the bound");
    }
    row("linux-6.12/bbr");
}
