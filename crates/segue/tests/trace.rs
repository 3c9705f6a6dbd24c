//! `segue trace` and the reports as a user meets them: contract, determinism, errors.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

fn segue(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(arguments).output().expect("segue starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The handoff of the paper's Figure 8.
const HANDOFF: [&str; 5] = ["trace", "6400kbit/9ms", "200kbit/300ms", "--at", "8.2s"];

fn trace(more: &[&str]) -> Output {
    segue(&[&HANDOFF[..], more].concat())
}

/// A long recovery is no silence, for packets leave two in a round trip. Its end says how long it was.
#[test]
fn the_end_of_a_long_recovery_says_what_it_took() {
    let words = "trace 5g lte --kind bbm --disconnect 0.5s --stack linux-6.12 --notice in-band --schemes tcp-ho --at 5.5s \
                 --seed 2 --story";
    let words: Vec<&str> = words.split_whitespace().collect();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_segue")).args(words).output().expect("segue");
    let story = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = story.lines().filter(|line| line.contains("fast recovery is over after ")).count();
    assert_eq!(told, 1, "{story}");
    assert!(story.contains(" packets sent again:"), "{story}");
}

/// The four longest silences are told one by one. A fifth is told as they are; of more it is said how many.
#[test]
fn many_silences_are_counted() {
    let silences = |seed: u32| {
        let words =
            ["trace", "leo,loss=20%", "lte,loss=20%", "--at", "3s", "--schemes", "sack", "--story", "--seed"];
        let story = text(&segue(&[&words[..], &[&seed.to_string()]].concat()).stdout);
        let one_by_one = story.lines().filter(|line| line.contains("nothing is sent until ")).count();
        let counted = story.lines().find(|line| line.contains("from here on nothing is sent "));
        (one_by_one, counted.map(str::to_string))
    };
    let all: Vec<_> = (1..=20).map(silences).collect();
    for (one_by_one, counted) in &all {
        let more = counted.as_deref().map(|line| line.split_once(" nothing is sent ").expect("more").1);
        let count: Option<u32> =
            more.and_then(|more| more.split_once(" more times, for at most ")?.0.parse().ok());
        match more {
            Some(more) => assert!(*one_by_one == 4 && count >= Some(2), "{more}"),
            None => assert!(*one_by_one <= 5),
        }
    }
    assert!(all.iter().any(|(one_by_one, _)| *one_by_one == 5) && all.iter().any(|(_, more)| more.is_some()));
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
    let notice = etcp.lines().find(|line| line.contains("receives the notice")).expect("a notice");
    for part in ["8.200000000  CN", "minrto 0.554 s, timer restarted", "A1, case 1 (2.1)"] {
        assert!(notice.contains(part), "{part}: {notice}");
    }
    let first = |text: &str| text.lines().nth(2).expect("an event").trim().to_string();
    assert!(first(&text).starts_with("8.200000000"), "from T on");
    let all = trace(&["--schemes", "sack", "--all"]);
    assert!(first(&self::text(&all.stdout)).starts_with("0.000000000"), "--all: from the start");
    let story = self::text(&trace(&["--schemes", "etcp", "--story"]).stdout);
    let words = words(&story);
    assert!(words.contains("[A1, case 1: segue explain 2.1]"), "{story}");
    let times = story.lines().filter(|line| line.split("  ").any(|word| word.trim().parse::<f64>().is_ok()));
    assert!((5..20).contains(&times.count()), "sentences: {story}");
    for line in story.lines() {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
    }
}

#[test]
fn json_on_standard_output_is_all_there_is() {
    let output = trace(&["--schemes", "sack,etcp-v1", "--json", "-"]);
    let lines: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let runs: Vec<_> = lines.iter().filter(|line| line["event"] == "run").collect();
    assert_eq!(runs.iter().map(|run| &run["scheme"]).collect::<Vec<_>>(), ["sack", "etcp-v1"]);
    assert_eq!(runs[0]["version"], 1);
    let origin = &runs[0]["origin"];
    let program = origin["program"].as_str().expect("a version");
    assert!(program.starts_with(env!("CARGO_PKG_VERSION")), "{program}");
    assert!(origin["links"].as_object().is_some_and(|links| links.len() == 2), "{origin}");
    assert_eq!(lines.iter().filter(|line| line["event"] == "counts").count(), 2);
    assert_eq!(output.stdout, trace(&["--schemes", "sack,etcp-v1", "--json", "-"]).stdout, "the same bytes");
}

/// The command that events hold asks for the same events, whatever was set.
#[test]
fn events_hold_the_command_that_tells_them_again() {
    for more in [
        "--schemes sack,etcp --notice in-band --notice-loss 1",
        "--schemes near --kind bbm --disconnect 300ms --flows 2 --stack linux-6.12 --cc bbr --set hz=250 --seed 3",
        "--kind soft --set overlap=500ms --packets 30 --definition after-ack",
    ] {
        let more: Vec<&str> = more.split(' ').collect();
        let told = text(&trace(&[&more[..], &["--json", "-"]].concat()).stdout);
        let run: serde_json::Value =
            serde_json::from_str(told.lines().next().expect("a line")).expect("JSON");
        // For a shell; no word has a blank.
        let command = run["origin"]["command"].as_str().expect("a command").replace('\'', "");
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--json", "-"]).collect();
        assert!(text(&segue(&words).stdout) == told, "{command}");
    }
}

#[test]
fn captures_and_report_go_where_they_are_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("deep/out");
    let report = out.join("why.html");
    let (out, report) = (out.to_str().expect("UTF-8"), report.to_str().expect("UTF-8"));
    let schemes = ["--schemes", "sack,etcp:a1+a3"];
    let make = || trace(&[&schemes[..], &["--pcap", out, "--report", report]].concat());
    let made = make();
    assert!(made.status.success());
    assert_eq!(text(&made.stderr), format!("segue: wrote {report}\nsegue: wrote 2 files into {out}\n"));
    let read = |name: &str| std::fs::read(Path::new(out).join(name)).expect("a file");
    let names = ["sack.pcapng", "etcp_a1+a3.pcapng", "why.html"];
    let first = names.map(read);
    assert!(first[0].starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]), "pcapng");
    let page = text(&first[2]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    let words = page.replace("</span> <span>", " ");
    assert!(
        words.contains("segue trace 6400kbit/9ms 200kbit/300ms --at 8.2s"),
        "the command that repeats it"
    );
    for foreign in ["src=", "href=\"http", "url(http", "@import", "<link rel=\"style"] {
        assert!(!page.contains(foreign), "{foreign}: not self-contained");
    }
    let again = trace(&[&schemes[..], &["--pcap", out, "--report", report, "--quiet"]].concat());
    assert!(again.status.success() && again.stderr.is_empty());
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
        let page = text(&output.stdout).replace("</span> <span>", " ");
        page.replace(&format!("--threads {threads}"), "--threads N")
    };
    assert_eq!(page("1"), page("2"));
}

/// A mistake is told in one line: the fault, its place, what was expected; exit status 2.
#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").expect("written");
    let (file, inside) = (file.to_str().expect("UTF-8"), format!("{}/out", file.display()));
    let new = format!("{}/new", folder.path().display());
    let sack = format!("{new}/sack.pcapng");
    let bad: [(&[&str], &[&str]); 18] = [
        (&["trace", "wlan", "egprs"], &["--at"]),
        (&["trace", "wlan", "egprs", "--at", "1s..2s/1s"], &["1s..2s/1s", "a number with unit"]),
        (&["trace", "wlan", "egprs", "--at", "4000s"], &["4000 s", "at most 3600 s"]),
        (
            &["trace", "wlan", "egprs", "--at", "1s", "--kind", "mbb,bbm"],
            &["mbb,bbm", "expected one of mbb, bbm"],
        ),
        (
            &["trace", "wlan", "egprs", "--at", "1s", "--flows", "1,2"],
            &["--flows", "expected one whole number"],
        ),
        (&["trace", "wlan", "egprs", "--at", "1s", "--schemes", "sak"], &["sak", "did you mean `sack`"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--pcap", file], &["--pcap", file, "folder"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--pcap", &inside], &["--pcap", "out", "folder"]),
        (
            &["trace", "wlan", "egprs", "--at", "1s", "--report", folder.path().to_str().expect("UTF-8")],
            &["directory"],
        ),
        (&["trace", "wlan", "egprs", "--at", "1s", "--json", "-", "--report", "-"], &["--json, --report"]),
        (&["trace", "wlan", "egprs", "--at", "-1s"], &["--at", "-1s", "below zero"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--pcap", ""], &["--pcap ``", "no folder"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--pcap", "-"], &["--pcap -", "expected a folder"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--json", ""], &["cannot write ``: it names no file"]),
        (&["trace", "wlan", "egprs", "--at", "1s", "--report", ""], &["cannot write ``: it names no file"]),
        (
            &["trace", "wlan", "egprs", "--at", "1s", "--pcap", &new, "--json", "/proc/nowhere/x"],
            &["/proc/nowhere/x"],
        ),
        (
            &["trace", "wlan", "egprs", "--at", "1s", "--pcap", &new, "--report", &sack],
            &["one file twice", "--pcap"],
        ),
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
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is made in vain");
}

/// No capture takes another's place, nor a report or events a capture's.
#[test]
fn every_scheme_has_a_capture_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let listed = text(&segue(&["schemes"]).stdout);
    let known = ["sack", "newreno", "reno", "etcp"];
    let mut names: Vec<&str> = listed
        .lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        // A row that wraps goes on further in.
        .filter_map(|line| line.strip_prefix(' ')?.split(' ').next())
        .filter(|word| known.iter().any(|family| word.starts_with(family)))
        .collect();
    names.extend(["etcp:a1+a3", "etcp:a3+a1"]);
    assert!(names.contains(&"etcp-a5") && names.contains(&"etcp:a5"), "{names:?}");
    let links = ["trace", "200kbit/100ms", "100kbit/100ms", "--at", "1s", "--packets", "5"];
    let schemes = names.join(",");
    assert!(
        segue(&[&links[..], &["--schemes", &schemes, "--pcap", out, "--story"]].concat()).status.success()
    );
    assert_eq!(std::fs::read_dir(out).expect("a folder").count(), names.len());
    let (capture, json) = (
        format!("{out}/sack.pcapng"),
        format!("{out}/../{}/sack.pcapng", folder.path().file_name().expect("a name").display()),
    );
    let before = std::fs::read(&capture).expect("a capture");
    let output = segue(&[&links[..], &["--schemes", "sack", "--pcap", out, "--json", &json]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--json, --report, --pcap name one file twice"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(std::fs::read(&capture).expect("a capture"), before);
}

/// A signal leaves nothing half-written, whatever is on its way.
#[cfg(unix)]
#[test]
fn an_interrupted_trace_leaves_nothing() {
    for wait in [5, 10, 20, 40, 150, 400] {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().to_str().expect("UTF-8");
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(["trace", "wlan", "egprs", "--at", "20s", "--story", "--pcap", out])
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("segue starts");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        child.wait().expect("it ends");
        for entry in std::fs::read_dir(out).expect("a folder") {
            let name = entry.expect("an entry").file_name();
            assert!(name.to_string_lossy().ends_with(".pcapng"), "after {wait} ms: {name:?}");
        }
    }
}

/// Neither story nor log depends on how much is kept.
#[test]
fn long_before_the_handoff_nothing_is_needed() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("x");
    let json = json.to_str().expect("UTF-8");
    let schemes = ["--schemes", "sack,etcp-a5"];
    let printed = |more: &[&str]| text(&trace(&[&schemes, more].concat()).stdout);
    assert_eq!(printed(&["--story"]), printed(&["--story", "--json", json]));
    let since = |log: &str| -> Vec<String> {
        let time = |line: &str| line.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        let rows = log.lines().filter(|line| time(line).is_some_and(|time| time >= 8.2));
        rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let short = since(&printed(&[]));
    assert!(short.len() > 100, "{short:?}");
    assert_eq!(short, since(&printed(&["--all"])));
}

/// On the stack of today's RFCs SACK, and not a third duplicate ACK, tells of a loss.
#[test]
fn a_story_says_what_led_to_a_fast_retransmit() {
    let story = |more: &[&str]| words(&text(&trace(&[&["--story"], more].concat()).stdout));
    let rfc = story(&["--schemes", "sack", "--stack", "rfc"]);
    assert!(
        rfc.contains("by SACK, after 2 duplicate ACKs: fast retransmit of packet 4135 [RFC 6675, 5"),
        "{rfc}"
    );
    let ns2 = story(&["--schemes", "etcp"]);
    assert!(ns2.contains("3 duplicate ACKs: fast retransmit of packet 4072 [RFC 5681, 3.2"), "{ns2}");
    let lost = story(&["--schemes", "sack,etcp", "--notice", "in-band", "--notice-loss", "2"]);
    assert_eq!(lost.matches("the notice is lost").count(), 1, "regular TCP has none: {lost}");
    let fast = words(&text(
        &segue(&["trace", "200mbit/2ms", "egprs", "--at", "1s", "--schemes", "sack", "--story"]).stdout,
    ));
    assert!(fast.contains("wired hops of 2000 Mbit/s instead of 100, for the fast access link"), "{fast}");
}

/// A page has a size whatever it tells.
#[test]
fn reports_stay_below_three_megabytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let path = file.to_str().expect("UTF-8");
    let pages: [&[&str]; 4] = [
        &["trace", "wlan", "egprs", "--at", "2s", "--flows", "200"],
        &["trace", "1gbit/1ms", "500mbit/1ms", "--at", "0.3s", "--packets", "30000"],
        &["compare", "wlan", "egprs", "--flows", "150", "--at", "1s..2s/1s"],
        &[
            "compare",
            "egprs",
            "hsdpa",
            "--both-ways",
            "--kind",
            "mbb,bbm",
            "--flows",
            "1,2,3,4,5,6,8,10,12",
            "--at",
            "1s..4s/1s",
            "--schemes",
            "sack,etcp,etcp-a5,etcp-v0,etcp-v1",
        ],
    ];
    for arguments in pages {
        assert!(segue(&[arguments, &["--report", path]].concat()).status.success(), "{arguments:?}");
        let page = std::fs::read_to_string(&file).expect("a page");
        assert!(page.len() < 3_000_000, "{arguments:?}: {} bytes", page.len());
        let heading = "<h2 id=\"one-handoff-";
        let blocks = page.matches(heading).count();
        assert_eq!(blocks > 0, arguments[0] == "compare", "{arguments:?}: {blocks} blocks");
        if blocks > 30 {
            for block in page.split(heading).skip(1) {
                assert!(
                    block.contains("time-sequence") || block.contains("Time-sequence"),
                    "a block without a picture"
                );
            }
        }
    }
}

/// Each stack meets the handoff in a state of its own: page and table say so and judge nothing.
#[test]
fn schemes_on_different_stacks_are_not_judged() {
    let compared = ["compare", "6400kbit/9ms", "200kbit/300ms", "--at", "1s..3s/1s", "--schemes"];
    let page = |schemes: &str| text(&segue(&[&compared[..], &[schemes, "--report", "-"]].concat()).stdout);
    let own = page("sack,newreno");
    assert!(own.contains(
        "Schemes on different TCPs (ns2-sack1, freebsd5-newreno), each with its own target and bound"
    ));
    assert!(!own.contains("class=\"better\"") && !own.contains("class=\"worse\""));
    assert_eq!(own.matches("newreno, bound: ").count(), 2, "a bound for each bar, wide and narrow");
    let same = page("sack,etcp-v1");
    assert!(same.contains("class=\"better\"") && !same.contains("etcp-v1, bound: "));
    let traced = trace(&["--schemes", "sack,newreno", "--story"]);
    let told = text(&traced.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(told.matches("; schemes on different TCPs, each with its own target").count(), 2, "{told}");
}

/// A link that takes seconds for a packet is not silent between two; what is not done is not drawn as if it were.
#[test]
fn a_very_slow_link_is_neither_silent_nor_done() {
    let links = ["trace", "1kbit/20ms", "2kbit/30ms", "--at", "5s"];
    let story = text(&segue(&[&links[..], &["--story"]].concat()).stdout);
    assert!(story.matches("nothing is sent until").count() <= 8, "{story}");
    assert!(story.contains("given up: the transfer is not done"), "{story}");
    let page = text(&segue(&[&links[..], &["--report", "-"]].concat()).stdout);
    assert!(page.contains(">not done</text>") && !page.contains(">400.0 s</text>"));
}

/// A user who asks for files alone gets files alone.
#[test]
fn a_log_comes_where_nothing_else_is_asked_for_or_with_its_word() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("why.html").display().to_string();
    let captures = folder.path().join("captures").display().to_string();
    let files = ["--report", &page, "--pcap", &captures];
    assert_eq!(text(&trace(&files).stdout), "");
    assert!(folder.path().join("why.html").exists() && folder.path().join("captures/sack.pcapng").exists());
    let log = text(&trace(&[]).stdout);
    assert!(log.contains("the handoff: the new link takes over"), "{log}");
    for word in ["--all", "--story"] {
        let told = text(&trace(&[word]).stdout);
        assert_eq!(text(&trace(&[&files[..], &[word]].concat()).stdout), told, "{word}");
        assert!(told.lines().count() > 20, "{word}: {told}");
    }
}

/// A packet that PAWS refuses was never received, so a timeout of it is not spurious (`tcp_validate_incoming`).
#[test]
fn what_the_mobile_refuses_counts_as_lost() {
    let handoff = ["trace", "hsdpa", "wlan", "--at", "5s", "--stack", "linux-6.12", "--schemes", "sack"];
    let output = segue(&[&handoff[..], &["--json", "-"]].concat());
    let (mut received, mut refused, mut timeouts) = (BTreeSet::new(), BTreeSet::new(), 0);
    for line in text(&output.stdout).lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        match event["event"].as_str().expect("a word") {
            "receive" if event["refused"] == true => {
                assert!(!received.contains(&event["seq"].as_u64().expect("a number")), "{line}");
                refused.insert(event["copy"].as_u64().expect("a number"));
            }
            "receive" if event["duplicate"].is_null() => received.extend(event["seq"].as_u64()),
            "timeout" if event["ns"].as_u64() > Some(5_000_000_000) => {
                assert!(refused.contains(&event["copy"].as_u64().expect("a number")), "{line}");
                assert_eq!(event["spurious"], false, "{line}");
                timeouts += 1;
            }
            _ => {}
        }
    }
    assert!(timeouts > 3 && refused.len() >= timeouts, "{timeouts}, {refused:?}");
    let story = words(&text(&segue(&[&handoff[..], &["--story"]].concat()).stdout));
    assert!(story.contains("data packets are refused by the mobile: older time stamps (PAWS)"), "{story}");
    let log = text(&segue(&handoff).stdout);
    assert!(log.contains("and refuses it: the time stamp is too old (PAWS)"), "{log}");
}
