//! `segue lab` as a user meets it, mostly as far as it needs neither root nor a laboratory.
#![cfg(feature = "live")]

use std::path::Path;
use std::process::{Command, Output};

fn segue(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).output().expect("segue starts")
}

/// The one line of an error, and its status.
fn refused(args: &[&str]) -> (String, Option<i32>) {
    let output = segue(args);
    let line = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(output.stdout.is_empty());
    (line, output.status.code())
}

fn plan(folder: &Path, content: &str) -> String {
    let path = folder.join("plan.toml");
    std::fs::write(&path, content).expect("written");
    path.display().to_string()
}

const LINKS: &str = "old = \"6400kbit/9ms\"\nnew = \"200kbit/300ms\"\n";

#[test]
fn a_file_of_the_simulator_is_recognised() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = plan(folder.path(), &format!("{LINKS}at = \"2s\"\n"));
    for command in ["run", "drive"] {
        let (line, status) = refused(&["lab", command, &path]);
        let problem = "this is a scenario; expected a laboratory's plan, or segue run";
        assert_eq!((line, status), (format!("segue: {path}, line 1, column 1: {problem}\n"), Some(2)));
    }
    let (line, _) = refused(&["lab", "run", &plan(folder.path(), &format!("{LINKS}obsreve = \"2s\"\n"))]);
    assert!(line.contains("unknown key `obsreve`"), "{line}");
}

#[test]
fn mistakes_are_the_user_s_and_take_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = plan(folder.path(), LINKS);
    let cases: [(&[&str], &str); 9] = [
        (&["lab"], "expected one of run"),
        (&["lab", "rum", &good], "did you mean `run`?"),
        (&["lab", "run"], "<PLAN>"),
        (
            &["lab", "run", "/nowhere/plan.toml"],
            "there is no such file; expected a laboratory's plan in TOML",
        ),
        (
            &["lab", "run", &good, "--json", "-", "--csv", "-"],
            "expected at most one - among --json, --csv, --report",
        ),
        (&["lab", "run", &good, "--json", &good], "an output would replace"),
        (&["lab", "run", &good, "--jobs", "0"], "expected 1 to 64"),
        (&["lab", "drive", &good], "plan.toml, line 3, column 1: missing key `stays`"),
        (&["lab", "drive", &good, "--json", "/proc/nowhere/at/all.json"], "missing key `stays`"),
    ];
    for (args, part) in cases {
        let (line, status) = refused(args);
        assert!(line.contains(part), "{args:?}: {line}");
        assert_eq!(status, Some(2), "{line}");
    }
    assert_eq!(std::fs::read_to_string(&good).expect("read"), LINKS, "the plan is as it was");
}

#[test]
fn a_bad_plan_is_told_with_line_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = plan(folder.path(), &format!("{LINKS}senders = [\"cubic\", \"etcp-v9\"]\n"));
    let (line, status) = refused(&["lab", "run", &bad]);
    assert!(line.contains("plan.toml, line 3, column 21: unknown sender `etcp-v9`"), "{line}");
    assert!(line.contains("did you mean `etcp-v") && status == Some(2), "{line}");
}

/// Nothing is begun where a result could not be written.
#[test]
fn results_have_their_place_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = plan(folder.path(), LINKS);
    let (line, status) = refused(&["lab", "run", &good, "--json", "/proc/nowhere/at/all.json"]);
    assert!(line.contains("cannot write /proc/nowhere/at/all.json") && status == Some(2), "{line}");
    let (line, status) = refused(&["lab", "run", &good, "--pcap", "-"]);
    assert!(
        line.contains("--pcap -: it makes several files; expected a folder") && status == Some(2),
        "{line}"
    );
}

/// Measured links beside the plan: 6 Mbit/s, then 3 Mbit/s with a queue of its own and a delay that changes.
#[test]
#[ignore = "needs lab"]
fn measured_links_carry_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, lines: &mut dyn Iterator<Item = u32>| {
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    // An opportunity of 1500 octets every 2 ms, and every 4 ms.
    write("fast", &mut (2..=1000).step_by(2));
    write("slow", &mut (4..=1000).step_by(4));
    write("delay", &mut [20, 30, 25].into_iter());
    let good = plan(
        folder.path(),
        "old = \"trace:fast,delay=20ms\"\nnew = \"trace:slow,delay-trace=delay,start=1s,queue=20p\"\n\
         disconnect = \"100ms\"\nsenders = [\"cubic\", \"etcp-v1\"]\nruns = 1\nwarm-up = \"1s\"\nobserve = \"1s\"\n",
    );
    let output = segue(&["lab", "run", &good, "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    let bytes: Vec<f64> = rows.iter().filter_map(|row| row["live"]["bytes_1s"].as_f64()).collect();
    // 250 packets in the second after link-up at most.
    assert!(bytes.len() == 2 && bytes.iter().all(|bytes| *bytes <= 250.0 * 1500.0), "{bytes:?}");
    assert!(bytes[1] > 0.0, "{bytes:?}");
    let simulated = rows[1]["simulated"]["bytes_1s"].as_f64().expect("the simulator has etcp-v1");
    assert!(simulated > 150.0 * 1500.0 && simulated <= 250.0 * 1500.0, "{simulated}");
}

/// A short drive over measured links; needs root, the laboratory's programs and the traces, which are not part of this
/// repository.
#[test]
#[ignore = "needs lab traces"]
fn a_drive_over_measured_links() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let [umts, lte] = ["TMobile-UMTS-driving.down", "TMobile-LTE-short.down"].map(|name| traces.join(name));
    let folder = tempfile::tempdir().expect("a folder");
    let drive = plan(
        folder.path(),
        &format!(
            "old = \"trace:{},delay=80ms\"\nnew = \"trace:{},delay=25ms\"\nkind = \"mbb\"\n\
             stays = [\"3s\", \"3s\", \"20s\"]\nprogram = \"nginx\"\nbytes = \"2MB\"\nruns = 1\n",
            umts.display(),
            lte.display()
        ),
    );
    let output = segue(&["lab", "drive", &drive, "--jobs", "2", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(
        rows.iter().map(|row| row["scheme"].as_str()).collect::<Vec<_>>(),
        [Some("cubic"), Some("etcp-v1")]
    );
    for row in rows {
        assert_eq!((&row["intact"], &row["runs"], &row["program"]), (&1.into(), &1.into(), &"nginx".into()));
        assert!(row["completed_s"]["median"].as_f64().is_some(), "it is complete: {row}");
        assert!(row["octets"]["median"].as_f64().is_some_and(|octets| octets >= 2e6), "{row}");
    }
}

/// The rows of a command that must succeed and leave nothing of its process.
fn rows(args: &[&str]) -> Vec<serde_json::Value> {
    let process = Command::new(env!("CARGO_BIN_EXE_segue"))
        .args(args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("segue starts");
    let prefix = format!("segue-lab-{}-", process.id());
    let output = process.wait_with_output().expect("segue ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bpffs = segue_kernel::host::bpffs();
    let cgroups = segue_lab::cgroup::mount().expect("cgroup2");
    for folder in [Some(std::env::temp_dir()), Some(cgroups), bpffs].into_iter().flatten() {
        let entries = std::fs::read_dir(&folder).expect("a folder").flatten();
        let left: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(&prefix)), "{left:?}");
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["rows"].as_array().expect("rows").clone()
}

/// Nobody tells the agent: the link of the mobile goes, and 3 s later its route leads over another. `unaware` shows
/// that the notices are the agent's, cubic that it is not luck: its timer has backed off.
#[test]
#[ignore = "needs lab"]
fn the_agent_finds_out_by_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    for ip in [4, 6] {
        let plan = plan(
            folder.path(),
            &format!(
                "old = \"6400kbit/9ms\"\nnew = \"3200kbit/20ms\"\ndisconnect = \"3s\"\nwarm-up = \"1s\"\nobserve = \"2s\"\n\
                 senders = [\"cubic\", \"etcp-v1\", \"etcp-v1@laboratory\", \"unaware\"]\nruns = 1\nip = {ip}\n"
            ),
        );
        // On a machine that does ten other things a notice may come later than cubic's timer: again.
        let measured = (0..5).map(|_| {
            let rows = rows(&["lab", "run", &plan, "--jobs", "4", "--json", "-"]);
            let of = |row: &serde_json::Value| {
                let first = &row["live"]["first_send_after_link_up_s"]["median"];
                (row["scheme"].as_str().expect("a name").to_owned(), first.as_f64().unwrap_or(f64::INFINITY))
            };
            rows.iter().map(of).collect::<Vec<(String, f64)>>()
        });
        let mut seen = Vec::new();
        let found = measured.into_iter().any(|first| {
            let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["cubic", "etcp-v1", "etcp-v1@laboratory", "unaware"]);
            // The notice's way takes 24 ms, on every machine.
            assert!(first[1..].iter().all(|(_, time)| *time >= 0.024), "{first:?}");
            let sooner = first[1..].iter().all(|(_, time)| *time < first[0].1);
            seen.push(first);
            sooner
        });
        assert!(found, "{seen:?}");
    }
}

/// The same of one handoff, and what is announced to the agent: nothing is lost that had time to arrive.
#[test]
#[ignore = "needs lab"]
fn an_agent_closes_windows_before_a_handoff_that_is_announced() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(
        folder.path(),
        "old = \"6400kbit/9ms\"\nnew = \"6400kbit/9ms\"\ndisconnect = \"1s\"\nwarm-up = \"2s\"\nobserve = \"2s\"\nruns = 1\n\
         senders = [\"cubic+agent\", \"cubic+agent+freeze\"]\nfreeze-before = \"400ms\"\n",
    );
    // On a machine that does ten other things the announcement may come late: again.
    let lost = (0..5).map(|_| {
        let rows = rows(&["lab", "run", &plan, "--jobs", "2", "--json", "-"]);
        [0, 1].map(|row: usize| {
            assert!(rows[row]["live"]["first_send_after_link_up_s"]["median"].is_number(), "{}", rows[row]);
            rows[row]["lost_in_disconnection"].as_f64().expect("a number")
        })
    });
    let mut seen = Vec::new();
    let found = lost.into_iter().any(|lost| {
        seen.push(lost);
        lost[1] < lost[0]
    });
    assert!(found, "{seen:?}");
}

/// Reports in a capture whose octet of version and type is this one (docs/reference/wire.md).
fn reports(capture: &Path, octet: u8) -> usize {
    let option = [253, 12, 0x5e, 0x9e, octet];
    let octets = std::fs::read(capture).expect("a capture");
    octets.windows(option.len()).filter(|window| **window == option).count()
}

/// The laboratory tells the agent, and the agent its peers. The kernel's own sender hears nothing.
#[test]
#[ignore = "needs lab"]
fn an_agent_announces_a_handoff_that_it_is_told_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(
        folder.path(),
        "old = \"6400kbit/9ms\"\nnew = \"3200kbit/20ms\"\nkind = \"mbb\"\nwarm-up = \"1s\"\nobserve = \"2s\"\nruns = 1\n\
         senders = [\"cubic\", \"near\"]\nannounce = \"500ms\"\n",
    );
    let captures = folder.path().join("captures");
    let words = captures.display().to_string();
    // On a machine that does ten other things the announcement may come late, and the handoff is told instead: again.
    let mut seen = Vec::new();
    let announced = (0..5).any(|_| {
        let rows = rows(&["lab", "run", &plan, "--jobs", "2", "--json", "-", "--pcap", &words]);
        assert!(rows.iter().all(|row| row["conditions"] == "announce = 0.5 s"), "{rows:?}");
        let found = ["cubic", "near"].map(|sender| {
            let capture = captures.join(format!("{sender}.pcapng"));
            [0x13, 0x12].map(|octet| reports(&capture, octet))
        });
        assert_eq!(found[0], [0, 0], "cubic has negotiated nothing");
        assert!(found[1][1] > 0, "near is notified: {found:?}");
        seen.push(found);
        found[1][0] > 0
    });
    assert!(announced, "{seen:?}");
}

/// A second without a link that is announced: the mobile that freezes goes on at once, the other waits
/// for the sender's timer.
#[test]
#[ignore = "needs lab"]
fn a_mobile_freezes_before_the_handoffs_of_a_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = plan(
        folder.path(),
        "old = \"6400kbit/9ms\"\nnew = \"6400kbit/9ms\"\ndisconnect = \"1s\"\nstays = [\"3s\", \"3s\", \"2s\"]\nruns = 1\n\
         senders = [\"cubic\", \"cubic+freeze\"]\nfreeze-before = \"200ms\"\n",
    );
    // On a machine that does ten other things the window may be closed late: again.
    let goes_on = (0..5).map(|_| {
        let rows = rows(&["lab", "drive", &drive, "--jobs", "2", "--json", "-"]);
        assert_eq!(
            (&rows[0]["freeze_before_s"], &rows[1]["freeze_before_s"]),
            (&serde_json::Value::Null, &0.2.into())
        );
        [0, 1].map(|row: usize| {
            let first = &rows[row]["handoffs"]["first_send_after_link_up_s"]["median"];
            first.as_f64().unwrap_or(f64::INFINITY)
        })
    });
    let mut seen = Vec::new();
    let found = goes_on.into_iter().any(|first| {
        seen.push(first);
        first[1] < first[0]
    });
    assert!(found, "{seen:?}");
}
