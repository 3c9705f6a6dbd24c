//! The command line as a user meets it: contract, determinism, errors.

use std::path::Path;
use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

const LINKS: [&str; 3] = ["compare", "6400kbit/9ms", "200kbit/300ms"];
const SHORT: [&str; 2] = ["--at", "1s..3s/0.5s"];

fn compare(more: &[&str]) -> Output {
    segue(&[&LINKS[..], &SHORT[..], more].concat())
}

/// Every field of the contract (docs/reference/results.md), in its order.
#[test]
fn json_keeps_the_contract() {
    let output = compare(&[
        "--both-ways",
        "--kind",
        "mbb,bbm",
        "--flows",
        "1,2",
        "--schemes",
        "sack,etcp",
        "--json",
        "-",
    ]);
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(document["version"], 1);
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    let text = stdout(&output);
    let line = text.lines().nth(1).expect("a row");
    let mut from = 0;
    for key in [
        "old",
        "new",
        "kind",
        "disconnect_s",
        "flows",
        "scheme",
        "stack",
        "notice",
        "definition",
        "seed",
        "settings",
        "packets",
        "points",
        "incomplete",
        "transfer_s",
        "q1",
        "median",
        "q3",
        "bound_s",
        "over_bound",
        "median",
        "p90",
        "timeouts",
        "spurious_timeouts",
        "spurious_timeout_fraction",
        "timeouts_in_disconnection",
        "fast_retransmits",
        "drops",
        "lost_in_disconnection",
        "retransmissions",
        "needless_retransmissions",
        "new_link_s",
        "useful",
        "needless",
        "idle_path",
        "idle_window",
        "idle_timer",
        "idle_other",
        "queue_delay_s",
        "median",
        "p95",
        "jain",
        "against_first",
        "ratio_median",
        "better",
        "worse",
    ] {
        let found =
            line[from..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("`{key}` after byte {from}"));
        from += found + 1;
    }
    assert_eq!(rows[0]["kind"], "mbb");
    assert_eq!(rows[0]["disconnect_s"], 0.0);
    assert_eq!(rows[4]["kind"], "bbm");
    assert_eq!(rows[4]["disconnect_s"], 1.0);
    assert_eq!(rows[8]["old"], "200kbit/300ms");
    assert_eq!(rows[0]["points"], 5);
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let run = |threads: &str, format: &str| {
        let output = compare(&[
            "--flows",
            "1,4",
            "--kind",
            "mbb,bbm",
            "--seeds",
            "2",
            "--threads",
            threads,
            format,
            "-",
        ]);
        assert!(output.status.success());
        stdout(&output)
    };
    for format in ["--json", "--csv", "--rows"] {
        let one = run("1", format);
        assert_eq!(one, run("2", format));
        assert_eq!(one, run("7", format));
    }
}

#[test]
fn seeds_pool_their_points() {
    let output = compare(&["--seeds", "3", "--json", "-"]);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(document["rows"][0]["points"], 15);
    assert_eq!(document["rows"][0]["seeds"], 3);
}

#[test]
fn rows_are_one_line_per_handoff_and_scheme() {
    let text = stdout(&compare(&["--origin=none", "--rows", "-"]));
    assert_eq!(text.lines().count(), 1 + 5 * 2);
    assert!(text.starts_with("old,new,kind,disconnect_s,flows,scheme,stack,seed,at_s,transfer_s,bound_s"));
}

#[test]
fn a_pipe_gets_neither_colour_nor_progress() {
    let output = compare(&[]);
    let text = stdout(&output);
    assert!(text.contains("etcp-v1") && !text.contains('\u{1b}'), "{text}");
    // Lines of a long run on a slow machine are all that may come here.
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains(['\u{1b}', '\r']), "{told}");
    assert!(
        told.lines().all(|line| line.starts_with("segue: ") && line.contains("10 simulated handoffs")),
        "{told}"
    );
}

/// A line that a terminal of 80 columns shows as it is.
fn assert_fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
    }
}

#[test]
fn the_table_fits_80_columns() {
    let text = stdout(&compare(&["--kind", "mbb,bbm", "--flows", "1,4"]));
    assert_fits(&text);
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("scheme ")).collect();
    assert_eq!(heads, [heads[0]; 4], "columns stand below each other in all blocks");
    let names: Vec<&str> = heads[0].split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    assert_eq!(names, ["scheme", "median", "x bound", "p90", "RTO", "spur", "vs first", "new link"]);
    for line in text.lines().filter(|line| line.starts_with("sack ")) {
        assert_eq!(line.split_whitespace().count(), 8, "a row is one line: {line}");
    }
    // Names so long that columns give way, headings with warnings, no flow of much the same width.
    for schemes in ["sack,etcp:a1+a2+a3+a4+a5", "sack,newreno,buffer-lcfd+phas", "sack,tcp-ho-aggressive"] {
        assert_fits(&stdout(&compare(&["--schemes", schemes, "--kind", "bbm"])));
    }
    let text =
        stdout(&segue(&["compare", "200mbit/2ms", "1kbit/900ms", "--at", "1s", "--schemes", "sack,hn"]));
    assert_fits(&text);
    assert!(text.contains("wired hops raised to 2000 Mbit/s"), "{text}");
}

/// Each column of the table is explained below it.
#[test]
fn wide_shows_the_other_columns() {
    let text = stdout(&compare(&["--wide"]));
    let head = text.lines().find(|line| line.starts_with("scheme ")).expect("a table");
    let columns = [
        "Q1", "median", "Q3", "x bound", "p90", "RTO", "spur", "FR", "drops", "rexmit", "needless",
        "vs first",
    ];
    let mut from = 0;
    for column in columns.iter().chain(&["new link"]) {
        from += head[from..].find(column).unwrap_or_else(|| panic!("`{column}` after {from}: {head}"));
        assert_eq!(
            text.lines().filter(|line| line.starts_with(&format!("{column} "))).count(),
            1,
            "{column}"
        );
    }
    assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
}

/// Two tables that differ by a setting differ in their headings. Blanks between two words of a heading do not count.
#[test]
fn headings_name_settings() {
    let with = ["--set", "reinit-rto-us=0", "--set", "link-queue=2bdp", "--columns", "vs  first,median"];
    let text = stdout(&compare(&with));
    assert_fits(&text);
    let (heading, table) = text.split_once("\nscheme ").expect("a table");
    let heading = heading.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(heading.contains("; reinit-rto-us=0; link-queue=2bdp; bound "), "{heading}");
    assert!(table.trim_start().starts_with("vs first  median\n"), "{text}");
    assert!(!stdout(&compare(&[])).contains("; reinit-rto-us"));
    // A setting with an option of its own is told in words, once.
    let text = stdout(&compare(&["--neighbours", "1", "--notice-error", "rate=2x"]));
    let heading = text.split_once("\nscheme ").expect("a table").0.replace('\n', " ");
    assert!(
        heading.contains("1 neighbour on each link") && heading.contains("; notice errs by rate=2x"),
        "{heading}"
    );
    assert!(!heading.contains("neighbours=") && !heading.contains("notice-error="), "{heading}");
}

/// Numbers in the table are those of the rows.
#[test]
fn the_table_shows_the_rows() {
    let rows: serde_json::Value = serde_json::from_str(&stdout(&compare(&["--json", "-"]))).expect("JSON");
    let text = stdout(&compare(&[]));
    for row in rows["rows"].as_array().expect("rows") {
        let scheme = row["scheme"].as_str().expect("a name");
        let line = text.lines().find(|line| line.starts_with(&format!("{scheme} "))).expect("a row");
        let shown: Vec<f64> =
            line.split_whitespace().skip(1).take(6).map(|n| n.parse().expect("a number")).collect();
        let told = [
            &row["transfer_s"]["median"],
            &row["over_bound"]["median"],
            &row["over_bound"]["p90"],
            &row["timeouts"],
            &row["spurious_timeouts"],
            &row["against_first"]["ratio_median"],
        ];
        for (shown, told) in shown.iter().zip(told) {
            assert!((shown - told.as_f64().expect("a number")).abs() <= 0.005, "{line}: {told}");
        }
    }
}

#[test]
fn colour_is_a_choice() {
    let coloured = |args: &[&str]| stdout(&compare(args)).contains('\u{1b}');
    assert!(coloured(&["--color", "always"]) && coloured(&["--color=always"]));
    assert!(!coloured(&["--color", "never"]) && !coloured(&["--color", "auto"]));
    for place in [&["--color", "always", "--help"][..], &["--help", "--color=always"]] {
        assert!(stdout(&segue(place)).contains('\u{1b}'), "{place:?}");
    }
    assert!(!stdout(&segue(&["--help"])).contains('\u{1b}'));
    let plain = stdout(&compare(&[]));
    let painted = stdout(&compare(&["--color", "always"]));
    let mut bare = painted.clone();
    for code in ["0", "1", "31", "32"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(bare, plain, "nothing but colour differs");
}

#[test]
fn the_environment_may_ask_for_a_width() {
    let widest = |columns: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        let output = command.args(LINKS).args(SHORT).arg("--wide").env("COLUMNS", columns).output();
        let text = stdout(&output.expect("segue starts"));
        text.lines().map(|line| line.chars().count()).max()
    };
    assert!(widest("200") > widest("70"));
    assert_eq!(widest("wide"), widest("80"), "no number");
}

/// A newcomer's first word is the program's name.
#[test]
fn the_name_alone_prints_a_page_and_help_explains_a_command() {
    let page = stdout(&segue(&[]));
    assert!(page.contains("segue compare wlan hsdpa") && page.lines().all(|line| line.len() <= 80), "{page}");
    let help = stdout(&segue(&["help", "compare"]));
    assert_eq!(help, stdout(&segue(&["compare", "--help"])));
    assert!(help.contains("Examples:\n  segue compare wlan hsdpa\n"), "{help}");
}

/// Errors are told all the same.
#[test]
fn quiet_leaves_result_and_errors() {
    let quiet = segue(&[&["--quiet"], &LINKS[..], &SHORT[..]].concat());
    assert!(quiet.status.success() && quiet.stderr.is_empty());
    assert_eq!(quiet.stdout, compare(&[]).stdout);
    let bad = segue(&["compare", "wlam", "wlan", "--quiet"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("did you mean `wlan`"));
}

/// Each mistake, and a part of the one line that must be said about it.
#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let bad = [
        ("compare wlam wlan", "did you mean `wlan`"),
        ("compare 6400kbit 200kbit/300ms", "expected RATE/DELAY"),
        ("compare 0kbit/9ms wlan", "bad rate `0kbit`"),
        ("compare -5kbit/9ms wlan", "'-5' found; expected a link, RATE/DELAY, with a rate above 0"),
        ("trace wlan -0.5kbit/9ms --at 5s", "'-0' found; expected a link, RATE/DELAY, with a rate above 0"),
        ("compare 6400kbit/-9ms wlan", "bad delay `-9ms`"),
        ("compare 6400parsec/9ms wlan", "bad rate `6400parsec`"),
        ("compare nankbit/9ms wlan", "bad rate `nankbit`"),
        ("compare 1e99kbit/9ms wlan", "bad rate `1e99kbit`"),
        ("compare trace: wlan", "cannot read"),
        ("compare trace:/nowhere/x wlan", "cannot read /nowhere/x"),
        ("compare trace:/dev/null wlan", "trace is empty"),
        ("compare trace:/dev/null,queue=-1 wlan", "bad queue `-1`"),
        ("compare trace:/dev/null,delay=1ms,delay=2ms wlan", "`delay=` is given twice"),
        ("compare wlan", "<NEW>"),
        ("comparison wlan", "--help lists the commands"),
        ("comapre wlan egprs", "did you mean `compare`"),
        ("compare wlan egprs --schemes sak", "did you mean `sack`"),
        ("compare wlan egprs --schemes etcp:a9", "a9"),
        ("compare wlan egprs --schemes sack,sack", "twice"),
        ("compare wlan egprs --schemes ,", "unknown scheme"),
        ("compare wlan egprs --stack rcf", "did you mean `rfc`"),
        ("compare wlan egprs --kind mbx", "did you mean `mbb`"),
        ("compare wlan egprs --kind mbb,bbm,mbb", "--kind: `mbb` is given twice"),
        ("compare wlan egprs --flows 0", "1 to 1000"),
        ("compare wlan egprs --flows -1", "whole numbers"),
        ("compare wlan egprs --packets -1", "invalid value '-1' for '--packets <P>'"),
        ("compare wlan egprs --seed -1", "invalid value '-1' for '--seed <SEED>'"),
        ("compare wlan egprs --flows two", "whole numbers"),
        ("compare wlan egprs --at 20s..1s/1s", "comes after the last"),
        ("compare wlan egprs --at 4000s", "at most 3600 s"),
        ("compare wlan egprs --packets 0", "1 to 1000000"),
        ("compare wlan egprs --disconnect 0s --kind bbm", "above 0"),
        ("compare wlan egprs --disconnect 2s", "expected --kind bbm"),
        ("compare wlan egprs --disconnect 1s --kind mbb", "expected --kind bbm"),
        ("trace wlan egprs --at 5s --disconnect 2s", "expected --kind bbm"),
        ("compare wlan egprs --kind bbm --disconnect 2s,2s", "--disconnect: 2 s is given twice"),
        (
            "compare wlan egprs --kind bbm --disconnect 2s,",
            "'--disconnect <TIME,...>' has an empty value; expected one or more, with a comma between two",
        ),
        (
            "compare wlan egprs --at 0.0001us",
            "`0.0001us` is below the resolution; expected 0s, or 1ns or more",
        ),
        (
            "compare wlan egprs --notice-error late=0.0001us",
            "bad late `0.0001us`; expected 0s, or 1ns or more",
        ),
        ("compare wlan egprs --set notice-delay=0.1ns", "expected 0s, or 1ns or more"),
        (
            "compare wlan trace:/proc/nowhere",
            "link `trace:/proc/nowhere`: cannot read /proc/nowhere: there is no such file; expected a file in mahimahi's",
        ),
        ("compare wlan egprs --json /proc/nowhere/x.json", "cannot write /proc/nowhere/x.json: "),
        ("man --out /proc/nowhere", "cannot write manual pages to /proc/nowhere: "),
        (
            "schemes linux-6.12/bbr2",
            "stack `linux-6.12` has no congestion control `bbr2`; expected one of cubic, reno, bbr, bbr3, leocc; did you mean",
        ),
        ("schemes rfc/bbr", "stack `rfc` has no choice of congestion control; expected rfc alone"),
        ("schemes linux-6.21", "unknown scheme or stack `linux-6.21`; did you mean `linux-6.1"),
        ("trace wlan egprs --at 5s --kind bbm --disconnect 1s,2s", "expected one time"),
        (
            "compare --shcemes sack,etcp wlan hsdpa",
            "unexpected argument '--shcemes' found; did you mean `--schemes`?",
        ),
        (
            "compare wlan --shcemes sack,etcp hsdpa",
            "unexpected argument '--shcemes' found; did you mean `--schemes`?",
        ),
        (
            "compare wlan hsdpa --shcemes sack,etcp",
            "unexpected argument '--shcemes' found; did you mean `--schemes`?",
        ),
        (
            "compare wlan hsdpa --neighbours 3 cubic",
            "unexpected argument 'cubic' found; expected no further word (a value with blanks needs quotes)",
        ),
        ("trace --ta 5s wlan hsdpa", "unexpected argument '--ta' found"),
        ("compare --verbose wlan hsdpa", "unexpected argument '--verbose' found"),
        ("compare -v wlan hsdpa", "unexpected argument '-v' found"),
        ("compare wlan egprs --set a1-in-bbm=perhaps", "expected on or off"),
        ("compare wlan egprs --set a1-in-bbm=on --set a1-in-bbm=off", "--set: `a1-in-bbm` is given twice"),
        ("trace wlan egprs --at 5s --story --json -", "expected a file for that, or no --story"),
        ("trace wlan egprs --at 5s --all --json -", "expected a file for that, or no --all"),
        ("compare wlan egprs --set a1-in-bb=on", "did you mean `a1-in-bbm`"),
        ("compare wlan egprs --set initial-window=x", "1 to 1000 packets"),
        ("compare wlan egprs --set novalue", "KEY=VALUE"),
        ("compare wlan egprs --stack linux-6.12 --set rto-tick-ms=10", "no meaning on linux-6.12/cubic"),
        (
            "compare wlan egprs --set hz=1000",
            "no meaning on ns2-sack1; expected a stack such as linux-6.12/cubic",
        ),
        ("compare wlan egprs --stack linux-6.12/cubic --cc bbr", "beside the stack `linux-6.12/cubic`"),
        ("compare leo 5g --schemes satcp --cc bbr", "`satcp` does not run on `linux-6.12/bbr` with bbr"),
        (
            "compare leo 5g --schemes rtt-jump --set detector=hmm --set jump-factor=4",
            "jump-factor has no meaning with detector=hmm",
        ),
        ("man --out=", "expected a folder"),
        ("compare wlan egprs --notice-loss 1", "in-band"),
        ("compare wlan egprs --notice in-band --notice-loss 3", "expected 0 to 2"),
        ("compare wlan egprs --seeds 0", "1 to 100000"),
        ("compare wlan egprs --threads 0", "expected 1 to 1024"),
        ("compare wlan egprs --json - --csv -", "at most one -"),
        ("compare wlan egprs --json /proc/nowhere/a.json", "cannot write /proc/nowhere/a.json"),
        ("compare wlan egprs --seed 18446744073709551615", "2^64"),
        ("compare wlan egprs --seed 18446744073709551613 --seeds 5", "2^64"),
        ("compare wlan egprs --flows 1,1", "twice"),
        ("compare wlan egprs --json same.json --rows ./same.json", "one file twice"),
        ("compare wlan egprs --stack RFD", "did you mean `rfc`"),
        ("compare wlan egprs --set foo=1", "segue schemes NAME lists"),
        ("compare wlan egprs --notice in-band --set notice-delay=1s", "instant notices"),
        ("compare wlan egprs --color blue", "expected one of auto, always, never"),
        ("compare wlan egprs --threads -1", "invalid value '-1' for '--threads <N>': expected 1 to 1024"),
        (
            "compare wlan egprs --notice-loss -1",
            "invalid value '-1' for '--notice-loss <K>': expected 0 to 2",
        ),
        ("run a.toml --points -1", "invalid value '-1' for '--points <N>': expected 1 to 4294967295"),
        (
            "compare wlan egprs --schemes cubic --cc bbr",
            "--cc: `bbr` reaches no scheme: each is a congestion",
        ),
        (
            "compare wlan egprs --set router-buffer=new-lcfd",
            "`router-buffer` has nothing to act on; expected --kind",
        ),
        (
            "compare wlan egprs --kind bbm --set tunnel=1mbit/1ms",
            "`tunnel` has nothing to act on; expected router-",
        ),
        (
            "trace-links leo --out /proc/nowhere/leo",
            "--out /proc/nowhere/leo: cannot write /proc/nowhere/leo.down: there is no such folder; expected names in a",
        ),
        ("schemes sak", "did you mean `sack`"),
        ("reproduce Daniel-Kojo-2009-Multiflow fig99", "unknown figure `fig99`"),
        ("completions basch", "did you mean `bash`"),
        ("compare wlan hsdpa --columns mediam", "did you mean `median`"),
        ("compare wlan hsdpa --columns q1,q1", "`q1` is given twice"),
        ("compare wlan hsdpa --columns q1 --wide", "cannot be used with '--wide'"),
        ("explain A99", "nothing is called `A99`"),
    ];
    for (line, part) in bad {
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = segue(&args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert_eq!(message.lines().count(), 1, "{line}: {message}");
        assert!(message.contains(part), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

/// Words in capitals, and blanks after commas, mean the same.
/// Where a name is all that is asked for.
/// A page prints the command that makes it again, of which the threads are no part.
#[test]
fn bad_traces_name_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    for (name, text, part) in [
        ("unsorted", "5\n3\n", "line 2"),
        ("words", "1\ntwo\n", "line 2: `two`"),
        ("zero", "0\n0\n", "lasts 0 ms"),
    ] {
        let link = format!("trace:{}", write(name, text));
        let output = segue(&["compare", &link, "wlan"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(message.contains(part) && message.contains(name), "{message}");
    }
}

/// A connection that is just being opened: its SYN is smaller than the packets of the bound.
#[test]
fn no_run_beats_the_bound_at_the_very_start() {
    for more in
        [["--stack", "rfc"], ["--set", "initial-window=1000"], ["--flows", "9"], ["--stack", "inet-reno"]]
    {
        for links in [["wlan", "egprs"], ["wlan", "200kbit/1ms"], ["egprs", "wlan"]] {
            let args = [
                "--packets",
                "1",
                "--at",
                "0s..0.02s/5ms",
                "--schemes",
                "sack,etcp-v1",
                "--origin=none",
                "--rows",
                "-",
            ];
            let output = segue(&[&["compare"][..], &links[..], &args[..], &more[..]].concat());
            for line in stdout(&output).lines().skip(1) {
                let field = |n: usize| line.split(',').nth(n).and_then(|word| word.parse::<f64>().ok());
                let (transfer, bound) = (field(9).unwrap_or(f64::INFINITY), field(10).expect("a bound"));
                assert!(transfer >= bound, "{line}");
            }
        }
    }
}

#[test]
fn needless_retransmissions_are_retransmissions() {
    let text = stdout(&segue(&[
        "compare",
        "egprs",
        "wlan",
        "--stack",
        "freebsd5-newreno",
        "--schemes",
        "sack,etcp-v1",
        "--origin=none",
        "--rows",
        "-",
    ]));
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|&word| word == name).expect("a column");
    let (all, needless) = (column("retransmissions"), column("needless_retransmissions"));
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let count = |n: usize| fields[n].parse::<u32>().expect("a count");
        assert!(count(needless) <= count(all), "{line}");
    }
}

#[test]
fn a_failed_run_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("a.json").display().to_string();
    let output = compare(&["--json", &json, "--csv", "/proc/nowhere/b.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
}

#[test]
fn files_and_pages_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let output = compare(&["--json", &path("a.json"), "--csv", &path("a.csv"), "--rows", &path("rows.csv")]);
    assert!(output.status.success() && stdout(&output).contains("x bound"), "the table is still printed");
    for name in ["a.json", "a.csv", "rows.csv"] {
        assert!(std::fs::metadata(path(name)).expect("written").len() > 100);
    }
    assert!(segue(&["man", "--out", &path("man")]).status.success());
    assert!(Path::new(&path("man/segue-compare.1")).exists());
    assert!(stdout(&segue(&["completions", "bash"])).contains("_segue"));
    let schemes = stdout(&segue(&["schemes"]));
    for word in ["etcp-v1", "ns2-sack1", "egprs", "initial-window"] {
        assert!(schemes.contains(word), "{word}");
    }
}

/// Every setting that is offered is accepted with its own default.
#[test]
fn defaults_can_be_set() {
    let text = stdout(&segue(&["schemes", "etcp-v1"]));
    assert!(text.contains("a1-in-bbm") && text.contains("significant-ratio"), "{text}");
    let plain = stdout(&compare(&["--schemes", "etcp-v1", "--origin=none", "--rows", "-"]));
    let set = stdout(&compare(&[
        "--schemes",
        "etcp-v1",
        "--set",
        "a1-in-bbm=on",
        "--set",
        "notice-delay=0s",
        "--origin=none",
        "--rows",
        "-",
    ]));
    assert_eq!(plain, set);
}

#[test]
fn notice_delay_and_loss_change_the_run_and_total_loss_is_plain_tcp() {
    let transfers = |more: &[&str]| {
        let text = stdout(&compare(&[&["--origin=none", "--rows", "-"][..], more].concat()));
        text.lines().map(|line| line.split(',').nth(9).unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    let instant = transfers(&["--schemes", "etcp"]);
    assert_ne!(instant, transfers(&["--schemes", "etcp", "--set", "notice-delay=304ms"]));
    let plain = transfers(&["--schemes", "sack"]);
    assert_ne!(instant, plain);
    assert_eq!(plain, transfers(&["--schemes", "etcp", "--notice", "in-band", "--notice-loss", "2"]));
}

#[test]
fn who_leaves_words_out_sees_an_example() {
    for (command, missing, example) in [
        ("compare", "<OLD> <NEW>", "segue compare wlan hsdpa"),
        ("trace", "--at <TIME>", "segue trace wlan hsdpa --at 5s --story"),
        ("repeat", "not provided: <", "segue repeat result.json"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let output = segue(&words);
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {line}");
        assert!(
            line.contains(missing) && line.trim_end().ends_with(&format!("; for example {example}")),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
