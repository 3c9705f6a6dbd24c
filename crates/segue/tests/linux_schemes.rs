//! Whole comparisons on the stack of Linux: every scheme, with cubic and with bbr, each way to hear of a handoff.

use std::process::{Command, Output};

/// All names of schemes, but for those of congestion controls.
const SCHEMES: &str = "sack,freeze,hn,etcp,etcp-a5,etcp-v0,etcp-v1,tcp-ho,tcp-ho-immediate,tcp-ho-aggressive,rlci,\
    buffer-fcfd,buffer-fcfd+phas,buffer-lcfd,buffer-lcfd+phas,mobile,mobile-resume,mobile-window,near";

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

fn printed(args: &[&str]) -> String {
    let output = segue(args);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {told}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn refused(args: &[&str]) -> String {
    let output = segue(args);
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && line.lines().count() == 1, "{args:?}: {line}");
    line
}

/// A handoff of one scheme.
struct Row {
    cells: Vec<(String, String)>,
}

impl Row {
    fn text(&self, column: &str) -> &str {
        let cell = self.cells.iter().find(|(name, _)| name == column);
        &cell.unwrap_or_else(|| panic!("no column {column}")).1
    }

    fn number(&self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{column} of {}: `{text}`", self.text("scheme")))
    }

    /// All but the name.
    fn outcome(&self) -> Vec<&str> {
        self.cells.iter().filter(|(name, _)| name != "scheme").map(|(_, value)| &**value).collect()
    }
}

fn rows(args: &[&str]) -> Vec<Row> {
    let table = printed(&[args, &["--origin=none", "--rows", "-"]].concat());
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let row = |line: &str| {
        let values: Vec<&str> = line.split(',').collect();
        assert_eq!(values.len(), names.len(), "{line}");
        let cells = names.iter().zip(values).map(|(name, value)| (name.to_string(), value.to_string()));
        Row { cells: cells.collect() }
    };
    lines.map(row).collect()
}

fn of<'a>(rows: &'a [Row], scheme: &str) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.text("scheme") == scheme).collect()
}

/// Times of the handoffs, and how many there are.
const AT: [&str; 2] = ["--at", "5s..11s/2s"];
const POINTS: usize = 4;
const TO_SLOW: [&str; 3] = ["compare", "6400kbit/9ms", "200kbit/300ms"];
const TO_FAST: [&str; 3] = ["compare", "200kbit/300ms", "6400kbit/9ms"];
const EQUAL: [&str; 3] = ["compare", "6400kbit/9ms", "6400kbit/9ms"];

/// Every transfer is completed, and none before the bound.
#[test]
fn no_scheme_is_faster_than_the_bound() {
    for links in [TO_SLOW, TO_FAST, EQUAL] {
        for cc in ["cubic", "bbr"] {
            for more in [&["--notice", "instant"][..], &["--notice", "in-band"]] {
                let kinds = ["--kind", "mbb,bbm", "--disconnect", "0.3s,3s"];
                let stack = ["--stack", "linux-6.12", "--cc", cc, "--schemes", SCHEMES];
                let rows = rows(&[&links[..], &kinds, &stack, &AT, more].concat());
                assert_eq!(rows.len(), 3 * POINTS * SCHEMES.split(',').count());
                for row in &rows {
                    let (transfer, bound) = (row.number("transfer_s"), row.number("bound_s"));
                    let label = format!("{links:?} {} {cc} {more:?}: {transfer} {bound}", row.text("scheme"));
                    assert!(bound > 0.0 && transfer >= bound, "{label}");
                }
            }
        }
    }
}

/// Schemes that act on a disconnection alone are regular TCP where there is none.
#[test]
fn without_a_disconnection_nothing_happens() {
    let schemes = "sack,freeze,hn,buffer-fcfd,buffer-fcfd+phas,buffer-lcfd,buffer-lcfd+phas,mobile-resume";
    for links in [TO_SLOW, TO_FAST] {
        for cc in ["cubic", "bbr"] {
            let stack = ["--kind", "mbb", "--stack", "linux-6.12", "--cc", cc, "--schemes", schemes];
            let rows = rows(&[&links[..], &stack, &AT].concat());
            let regular: Vec<_> = of(&rows, "sack").iter().map(|row| row.outcome()).collect();
            assert_eq!(regular.len(), POINTS);
            for scheme in schemes.split(',') {
                let found: Vec<_> = of(&rows, scheme).iter().map(|row| row.outcome()).collect();
                assert_eq!(found, regular, "{scheme} {cc}");
            }
        }
    }
}

/// After an outage over which the timer has backed off, these come before regular TCP in every handoff.
#[test]
fn after_an_outage_schemes_come_before_the_timer() {
    for cc in ["cubic", "bbr"] {
        let schemes = ["sack", "etcp-v1", "hn", "mobile"];
        let kind = ["--kind", "bbm", "--disconnect", "3s", "--stack", "linux-6.12", "--cc", cc, "--schemes"];
        let rows = rows(&[&EQUAL[..], &kind, &[&schemes.join(",")], &AT].concat());
        let regular = of(&rows, "sack");
        assert!(regular.iter().all(|row| row.number("timeouts_in_disconnection") >= 2.0), "{cc}");
        for scheme in &schemes[1..] {
            for (row, regular) in of(&rows, scheme).iter().zip(&regular) {
                let [took, timer] = [row, regular].map(|row| row.number("transfer_s"));
                assert!(took < timer, "{scheme} {cc} at {} s: {took} {timer}", row.text("at_s"));
            }
        }
    }
}

/// A result says the same on any number of threads, and again from its own file.
#[test]
fn results_repeat() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("c.json").display().to_string();
    let kinds = ["--kind", "mbb,bbm", "--flows", "1,2", "--schemes", SCHEMES];
    for cc in ["cubic", "bbr"] {
        let asked = [&TO_SLOW[..], &kinds, &AT, &["--stack", "linux-6.12", "--cc", cc]].concat();
        let [one, three] =
            ["1", "3"].map(|n| printed(&[&asked[..], &["--threads", n, "--json", "-"]].concat()));
        assert_eq!(one, three, "{cc}");
        printed(&[&asked[..], &["--json", &file]].concat());
        let told = printed(&["repeat", &file]);
        assert!(told.starts_with("the same: ") && told.contains("equal in every field"), "{told}");
    }
}

/// Schemes whose decisions a kernel's programs make are enacted as these can, unless somebody says otherwise; others
/// have no such setting.
#[test]
fn programs_enact_unless_told_otherwise() {
    let document = |more: &[&str]| -> serde_json::Value {
        let asked = [&TO_SLOW[..], &["--kind", "bbm", "--stack", "linux-6.12", "--schemes", SCHEMES], &AT];
        let text = printed(&[&asked.concat()[..], more, &["--json", "-"]].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let enacted = |document: &serde_json::Value| -> Vec<(String, Option<String>)> {
        let row = |row: &serde_json::Value| {
            let text = |value: &serde_json::Value| value.as_str().map(str::to_string);
            (text(&row["scheme"]).expect("a name"), text(&row["settings"]["enact"]))
        };
        document["rows"].as_array().expect("rows").iter().map(row).collect()
    };
    let (by_programs, on_paper) = (document(&[]), document(&["--set", "enact=paper"]));
    for (who, rows) in [("linux", &by_programs), ("paper", &on_paper)] {
        for (scheme, found) in enacted(rows) {
            let decides = ["etcp", "tcp-ho", "rlci", "near"].iter().any(|family| scheme.starts_with(family));
            assert_eq!(found.as_deref(), decides.then_some(who), "{scheme}");
        }
    }
    let spelt_out = document(&["--set", "enact=linux"]);
    assert_eq!(by_programs["rows"], spelt_out["rows"]);
}

/// A story names the rules of the kernel, and no other stack's.
#[test]
fn stories_cite_the_kernel() {
    let story = |stack: &[&str]| {
        let handoff =
            ["trace", "6400kbit/9ms", "200kbit/300ms", "--kind", "bbm", "--at", "9s", "--schemes", "sack"];
        let told = printed(&[&handoff[..], &["--story"], stack].concat());
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for cc in ["cubic", "bbr"] {
        let told = story(&["--stack", "linux-6.12", "--cc", cc]);
        assert!(told.contains("is sent again [RFC 6298, 5.4 to 5.6; tcp_retransmit_timer]"), "{told}");
        assert!(told.contains("by RACK, after "), "{told}");
        assert!(told.contains("[RFC 8985, 6.2; tcp_rack_detect_loss]"), "{told}");
        assert!(
            told.contains("RTO recovery is over") && told.contains("[RFC 5682; tcp_process_loss]"),
            "{told}"
        );
        assert!(!told.contains("segue explain 1]") && !told.contains("RFC 6675"), "{told}");
    }
    let rfc = story(&["--stack", "rfc"]);
    assert!(rfc.contains("[RFC 6298, 5.4 to 5.6; segue explain 1]") && !rfc.contains("RACK"), "{rfc}");
}

/// The kernel takes back the timeout in the instant of the notice. Packets that it held lost are under way again, and the
/// window that the notice asked for stands beside them. The story tells both, in this order.
#[test]
fn a_story_tells_of_an_undo() {
    let words = "trace 6400kbit/9ms 6400kbit/9ms --at 9s --kind bbm --disconnect 10s --notice in-band --stack linux-6.12 \
         --packets 500 --schemes sack,etcp-v1 --story";
    let told = printed(&words.split_whitespace().collect::<Vec<_>>());
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = |part: &str| told.find(part).unwrap_or_else(|| panic!("{part}: {told}"));
    let parts = [
        "etcp-v1 on linux-6.12/cubic",
        "cwnd 1 to 11, ssthresh 16 to 11",
        "the kernel takes back the timeout (undo): no packet counts as lost any more, cwnd 11 to 32, ssthresh 11 to 18: \
         the 11 of the notice beside 21 under way [RFC 5682; tcp_undo_cwnd_reduction]",
        "RTO recovery is over: FlightSize 32, cwnd 32, ssthresh 18",
        "the kernel has given back the ssthresh of the old path",
    ];
    assert!(parts.map(&place).is_sorted(), "{told}");
    // Nobody has told regular TCP anything.
    let (sack, _) = told.split_at(place(parts[0]));
    assert!(
        sack.contains("the kernel takes back the timeout (undo)") && !sack.contains("of the notice"),
        "{sack}"
    );
}

/// `near` decides at its notice, and at losses of packets that left before it. Rules of its page are behind both.
#[test]
fn a_story_cites_the_rules_of_near() {
    let words = "trace 200kbit/300ms 6400kbit/9ms --flows 2 --at 8.55s --notice in-band --stack linux-6.12 --schemes near \
         --story";
    let told = printed(&words.split_whitespace().collect::<Vec<_>>());
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = |part: &str| told.find(part).unwrap_or_else(|| panic!("{part}: {told}"));
    let parts = [
        "this flow's part of the new path is its window",
        "[claim: segue explain near 8.1]",
        "is the old link's: the window stays",
        "[old loss: segue explain near 8.4]",
    ];
    assert!(parts.map(place).is_sorted(), "{told}");
    // Each of two flows hears once.
    assert_eq!(told.matches("near 8.1").count(), 2, "{told}");
    let announced = printed(
        &[words.split_whitespace().collect(), vec!["--kind", "mbb", "--set", "announce=auto"]].concat(),
    );
    let announced = announced.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = ["[expected: segue explain near 8.13]", "[claim: segue explain near 8.1]"];
    assert!(
        parts.map(|part| announced.find(part).unwrap_or_else(|| panic!("{part}: {announced}"))).is_sorted()
    );
    for rule in ["near 8.1", "near 8.4", "near 8.13"] {
        assert!(printed(&["explain", rule]).contains("docs/reference/near.md"), "{rule}");
    }
}

/// A heading names each TCP once, however the schemes are ordered.
#[test]
fn different_stacks_are_named_once() {
    let told = printed(
        &[&TO_SLOW[..], &["--stack", "linux-6.12", "--at", "5s", "--schemes", "cubic,bbr,etcp-v1"]].concat(),
    );
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("different TCPs (linux-6.12/cubic, linux-6.12/bbr), each"), "{told}");
}

/// A router buffers for one mobile and one handoff: the refusal names the scheme, and a way that is open.
#[test]
fn combinations_that_cannot_be_are_refused() {
    let base = [&TO_SLOW[..], &["--kind", "bbm", "--stack", "linux-6.12"]].concat();
    for scheme in ["hn", "buffer-fcfd", "buffer-lcfd+phas"] {
        let line = refused(&[&base[..], &["--schemes", scheme, "--neighbours", "2 cubic"]].concat());
        assert!(line.contains("do not buffer for one of several mobiles"), "{line}");
        assert!(line.contains(&format!("`{scheme}`")), "{line}");
        assert!(line.contains("expected schemes and settings without router buffers"), "{line}");
    }
}

/// A page lists all settings of a stack that can be set there, and no others.
#[test]
fn a_scheme_lists_the_settings_of_its_stack() {
    let of_stacks = [
        ("initial-window", "10"),
        ("receive-window", "100"),
        ("rto-floor-ms", "200"),
        ("rto-tick-ms", "0"),
        ("delayed-ack-ms", "0"),
        ("window-rules", "rfc5681"),
        ("newreno-guard", "on"),
        ("newreno-timer", "first"),
        ("hz", "1000"),
        ("ecn", "on"),
        ("bursts", "on"),
        ("writer", "iperf3"),
        ("time-stamps", "on"),
        ("notice-sample", "on"),
    ];
    for scheme in ["satcp", "sack"] {
        let page = printed(&["schemes", scheme]);
        for (key, value) in of_stacks {
            let listed = page.lines().any(|line| line.split_whitespace().next() == Some(key));
            let setting = format!("{key}={value}");
            let asked = ["compare", "wlan", "hsdpa", "--at", "5s", "--schemes", scheme, "--set", &setting];
            assert_eq!(segue(&asked).status.success(), listed, "{scheme}: {key}");
        }
    }
    assert!(!printed(&["schemes", "linux-6.12"]).contains("newreno-guard"));
}

/// The rows that need no change at the sender are named below the table; where there is none, nothing is.
#[test]
fn what_needs_nothing_at_the_server_is_named() {
    let handoff = ["compare", "6400kbit/9ms", "200kbit/300ms", "--at", "8s"];
    let said = |schemes: &str| {
        let table = printed(&[&handoff[..], &["--schemes", schemes]].concat());
        table.lines().find_map(|line| line.strip_prefix("needs nothing at the server: ").map(str::to_owned))
    };
    assert_eq!(said("sack,mobile,etcp-v1").as_deref(), Some("mobile"));
    assert_eq!(said("sack,mobile-window,mobile-resume").as_deref(), Some("mobile-window, mobile-resume"));
    assert_eq!(said("sack,etcp-v1"), None);
}
