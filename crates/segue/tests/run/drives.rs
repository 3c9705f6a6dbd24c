//! Drives that a file describes.

use super::*;

/// The page of a drive has a picture and two tables for each drive, and the picture a plot for each scheme. The rows
/// stay what they are without it.
#[test]
fn a_drive_has_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "schemes = ['newreno', 'tcp-ho']\nseeds = 1\n[drive]\nof = 'wcdma+wlan'\nlength = '40s'\n\
        [wan]\ndelay = ['10ms', '50ms']\n";
    std::fs::write(folder.path().join("d.toml"), file).expect("written");
    let with = segue_in(folder.path(), &["run", "d.toml", "--json", "-", "--report", "made/d.html"]);
    let without = segue_in(folder.path(), &["run", "d.toml", "--json", "-"]);
    assert!(with.status.success(), "{}", text(&with.stderr));
    assert_eq!(text(&with.stdout), text(&without.stdout));
    let page = std::fs::read_to_string(folder.path().join("made/d.html")).expect("the page");
    // A wide form and a narrow one of each.
    assert_eq!(page.matches("<title id=\"drive-").count(), 4);
    assert_eq!(page.matches("data-name=\"tcp-ho\"").count(), 4);
    assert_eq!(page.matches("<table>").count(), 4);
    assert!(
        page.contains("segue run d.toml --json - --report made/d.html")
            || page.contains("<span>d.toml</span>")
    );
    for option in ["--rows", "--svg"] {
        let refused = segue_in(folder.path(), &["run", "d.toml", option, "x"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            text(&refused.stderr).contains("expected --json, --csv or --report"),
            "{}",
            text(&refused.stderr)
        );
    }
}

/// A heading is no longer than the screen is wide.
#[test]
fn headings_of_drives_wrap() {
    let folder = folder_with(
        "schemes = ['newreno', 'tcp-ho']\nseeds = 1\nbandwidth_error = 0.15\n[drive]\nof = 'wcdma+wlan'\n\
         length = '60s'\n[wan]\ndelay = '10ms'\n[traffic]\nweb = 0\ncross = 0\n",
    );
    let output = Command::new(env!("CARGO_BIN_EXE_segue"))
        .current_dir(folder.path())
        .args(["run", "s.toml"])
        .env("COLUMNS", "60")
        .output()
        .expect("segue starts");
    let said = text(&output.stdout);
    let heading: Vec<&str> =
        said.lines().take_while(|line| !line.trim_start().starts_with("scheme")).collect();
    assert!(heading.len() > 1 && heading.iter().all(|line| line.chars().count() <= 60), "{said}");
    assert!(heading.join(" ").contains("bandwidth within 15 %; handoffs: "), "{said}");
}

/// A fault in a drive is said in one line, with its place, and nothing is written.
#[test]
fn bad_drives_are_refused_in_their_place() {
    let network = "[[drive.network]]\nname = 'a'\nrate = '1mbit'\ndelay = '10ms'\nstay = '5s'\n";
    let to = |probability: &str, disconnect: &str| {
        format!(
            "[[drive.move]]\nfrom = 'a'\nto = 'a'\nprobability = {probability}\ndisconnect = '{disconnect}'\n"
        )
    };
    let own = |step: &str| format!("[drive]\nlength = '60s'\n{network}{step}");
    for (scenario, expected) in [
        ("[drive]\n".to_string(), "line 1, column 1: drive: expected exactly one of"),
        ("[drive]\nof = 'wcdmaa'\n".into(), "line 2, column 6: unknown word `wcdmaa`"),
        (
            "seeds = 0\n[drive]\nof = 'wlan'\n".into(),
            "line 1, column 9: seeds: 0 is out of range; expected 1 to 1000",
        ),
        ("schemes = 'newrno'\n[drive]\nof = 'wlan'\n".into(), "did you mean `newreno`?"),
        (
            "bandwidth_error = 1.5\n[drive]\nof = 'wlan'\n".into(),
            "line 1, column 19: bandwidth_error: 1.5 is out of range",
        ),
        ("[drive]\nof = 'wlan'\n[wan]\ndelay = '10'\n".into(), "line 4, column 9: wan.delay: bad time `10`"),
        ("[drive]\nof = 'wlan'\n[wan]\nqueue = 0\n".into(), "line 4, column 9: wan.queue: 0 packets"),
        (
            "[drive]\nof = 'wlan'\n[traffic]\nflows = 0\n".into(),
            "line 4, column 9: traffic.flows: 0 is out of range",
        ),
        (own(&to("0.7", "3s")), "probabilit"),
        (own(&to("-0.1", "3s")), "probabilit"),
        (own(&to("1.0", "-3s")), "bad disconnect `-3s`"),
        (
            own("[[drive.move]]\nfrom = 'a'\nto = 'b'\nprobability = 1.0\ndisconnect = '3s'\n"),
            "unknown network `b`",
        ),
        (
            own(&to("1.0", "3s")).replace("stay = '5s'", "stay = '0s'"),
            "the mean attached time is 0 s; expected 0.1",
        ),
        (own(&(to("0.5", "1s") + &to("0.5", "2s"))), "a move from `a` to `a` is given twice"),
        ("[drive]\nof = 'wlan'\nstay = '10s'\n".into(), "drive.stay: this drive has none"),
        ("[drive]\nof = 'wlan'\nlength = '0s'\n".into(), "line 3, column 10:"),
        ("[drive]\nof = []\n".into(), "line 2, column 6: drive.of: the list is empty"),
        ("bandwidth_error = []\n[drive]\nof = 'wlan'\n".into(), "bandwidth_error: the list is empty"),
        ("seed = 99999999999999999999\n[drive]\nof = 'wlan'\n".into(), "line 1, column 8:"),
        (
            format!(
                "bandwidth_error = {0:?}\n[drive]\nof = 'wlan'\n[wan]\ndelay = {1:?}\n",
                [0.1; 100], ["10ms"; 100]
            ),
            "make 10000 combinations, more than 1000",
        ),
        ("[drive]\nfile = 'nowhere.csv'\n".into(), "line 2, column 8:"),
        ("[drive]\nlength = '9s'\nlinks = ['1mbit/10ms']\n".into(), "line 3, column 9:"),
        ("[drive]\nof = 'wlan'\n[output]\nsvg = 'x.svg'\n".into(), "line 4, column 7: a drive has no `svg`"),
    ] {
        let folder = folder_with(&scenario);
        let output = segue_in(folder.path(), &["run", "s.toml", "--json", "out.json"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{scenario}{told}");
        assert_eq!(told.lines().count(), 1, "{scenario}{told}");
        assert!(told.contains("s.toml") && told.contains(expected), "{scenario}{told}");
        assert_eq!(files(folder.path()), ["s.toml"], "{scenario}");
    }
}

/// A recorded drive is read from the folder of its scenario, and a row for an end without coverage counts as such.
#[test]
fn a_recorded_drive_runs_and_a_void_is_refused() {
    let folder =
        folder_with("schemes = 'sack'\nseeds = 1\n[drive]\nfile = 'd.csv'\n[traffic]\nweb = 0\ncross = 0\n");
    let drive = folder.path().join("d.csv");
    std::fs::write(&drive, "from_s,until_s,link\n0,10,1mbit/20ms\n12,30,2mbit/10ms\n").expect("written");
    let output = segue_in(folder.path(), &["run", "s.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("d.csv, 30 s;"), "{}", text(&output.stdout));
    let kept = std::fs::read(&drive).expect("there");
    let output = segue_in(folder.path(), &["run", "s.toml", "--csv", "d.csv"]);
    assert_eq!((output.status.code(), std::fs::read(&drive).expect("there")), (Some(2), kept));
    std::fs::write(&drive, "from_s,until_s,link\n0,10,1mbit/20ms\n10,900,none\n").expect("written");
    let output = segue_in(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("d.csv"), "{}", text(&output.stderr));
}

/// The rows of a drive whose links take turns.
fn turns(folder: &Path, links: &str) -> Vec<serde_json::Value> {
    let file = format!(
        "schemes = ['sack', 'etcp-v1']\nstack = 'rfc'\nseeds = 1\n[drive]\nlinks = [{links}]\nstay = '15s'\n\
         disconnect = '2s'\nlength = '100s'\n[wan]\nrate = '50mbit'\nqueue = 100\n[traffic]\nweb = 0\ncross = 0\n"
    );
    std::fs::write(folder.join("s.toml"), file).expect("written");
    let output = segue_in(folder, &["run", "s.toml", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    rows["rows"].as_array().expect("rows").clone()
}

#[test]
fn measured_links_take_turns() {
    let folder = folder_with("");
    std::fs::write(folder.path().join("slow"), "12\n24\n").expect("written"); // 1 Mbit/s
    std::fs::write(folder.path().join("fast"), "3\n6\n").expect("written"); // 4 Mbit/s
    for row in turns(folder.path(), "'trace:slow,delay=40ms', 'trace:fast,delay=20ms'") {
        // Three stays each of 15 s at 1 and at 4 Mbit/s in 100 s: 2.25 Mbit/s at most, headers included.
        let rate = row["mobile_kbps"]["mean"].as_f64().expect("a rate");
        assert!((1_000.0..2_250.0).contains(&rate), "{row}");
        let handoffs: u64 = row["classes"]
            .as_object()
            .expect("classes")
            .values()
            .filter_map(|c| c["handoffs"].as_u64())
            .sum();
        assert_eq!(handoffs, 5, "{row}");
    }
}

/// UMTS and LTE as measured.
#[test]
#[ignore = "needs traces"]
fn links_of_a_mobile_operator_take_turns() {
    let traces = root().join("../shared/traces").canonicalize().expect("the traces");
    let of = |name: &str, delay: &str| format!("'trace:{},delay={delay}'", traces.join(name).display());
    let links = [of("TMobile-UMTS-driving.down", "80ms"), of("TMobile-LTE-short.down", "25ms")].join(", ");
    let rows = turns(folder_with("").path(), &links);
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(row["mobile_kbps"]["mean"].as_f64().is_some_and(|rate| rate > 100.0), "{row}");
    }
}
