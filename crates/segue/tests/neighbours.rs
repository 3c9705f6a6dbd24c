//! Users who share the access links, `--neighbours`, as a user meets them.

use crate::folder::{asked as segue, rows, stdout};
use std::path::Path;

const LINKS: [&str; 3] = ["compare", "4mbit/20ms", "4mbit/30ms"];
const HOW: [&str; 6] = ["--at", "2s..5s/1s", "--seeds", "2", "--json", "-"];

/// A command, a scenario file and the parts of a sweep say the same on any number of threads.
#[test]
fn commands_and_files_agree() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let asked = |more: &[&str]| stdout(&segue(here, &[&LINKS[..], &HOW, more].concat()));
    let plain = asked(&[]);
    assert!(!plain.contains("neighbours"), "nothing new without the option");
    let shared = asked(&["--neighbours", "2 cubic"]);
    assert_eq!(shared, asked(&["--neighbours", "2/cubic", "--threads", "1"]));
    assert_ne!(shared, asked(&["--neighbours", "2"]), "regular TCP is another one here");
    for row in rows(&shared) {
        assert_eq!(row["settings"]["neighbours"], "2/cubic");
        let kept = row["neighbours"]["kept"].as_f64().expect("a share");
        assert!(0.2 < kept && kept < 1.05, "{kept}");
        let bytes = |name: &str| row["neighbours"][name].as_f64().expect("bytes");
        // 4 Mbit/s for 2 s, of which headers are a part, and a packet at the edge.
        assert!(bytes("undisturbed_bytes") <= 1_001_500.0 && bytes("undisturbed_bytes") > 800_000.0);
        assert!((bytes("received_bytes") / bytes("undisturbed_bytes") - kept).abs() < 1e-9);
        assert!(row["new_link_s"]["neighbours"].as_f64().expect("a time") > 0.0);
    }
    let scenario = "old = '4mbit/20ms'\nnew = '4mbit/30ms'\nat = '2s..5s/1s'\nseeds = 2\nneighbours = ";
    std::fs::write(here.join("one.toml"), format!("{scenario}'2 cubic'\n")).unwrap();
    assert_eq!(shared, stdout(&segue(here, &["run", "one.toml", "--json", "-"])));
    std::fs::write(here.join("two.toml"), format!("{scenario}2\n")).unwrap();
    assert_eq!(asked(&["--neighbours", "2"]), stdout(&segue(here, &["run", "two.toml", "--json", "-"])));
    let sweep = scenario.replace("'4mbit/30ms'", "['4mbit/30ms', '2mbit/30ms']");
    std::fs::write(here.join("many.toml"), format!("{sweep}[1, '2 cubic']\n")).unwrap();
    let told = segue(here, &["sweep", "many.toml", "--out", "many.parquet"]);
    stdout(&told);
    // Two links, two kinds of neighbours, two seeds: nobody shares a warm-up.
    assert!(std::fs::metadata(here.join("many.parquet")).unwrap().len() > 1000);
}

/// Table, page and story name them; the page and the table say what they are left.
#[test]
fn everything_that_shows_a_result_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let how = ["--at", "2s..4s/1s", "--neighbours", "3", "--report", "page.html"];
    let table = stdout(&segue(here, &[&LINKS[..], &how].concat()));
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("1 flow, 3 neighbours on each link (ns2-sack1)"), "{table}");
    assert!(flat.contains("receive, of what they do without the handoff: sack "), "{table}");
    assert!(flat.contains("n carries packets of neighbours"), "{table}");
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    assert!(page.contains("3 long downloads of others on each link, ns2-sack1"));
    let story = ["trace", LINKS[1], LINKS[2], "--at", "3s", "--neighbours", "1", "--story"];
    let story = stdout(&segue(here, &story));
    assert!(
        story.split_whitespace().collect::<Vec<_>>().join(" ").contains("1 flow, 1 neighbour on each link")
    );
    let plain = stdout(&segue(here, &[&LINKS[..], &["--at", "2s"]].concat()));
    assert!(!plain.contains("neighbour"), "{plain}");
}

/// The links that users ask about.
#[test]
fn links_of_today_have_neighbours() {
    let links = ["compare", "wifi6,loss=ge(0.5%,30%),queue=fq_codel", "lte,up=5mbit,jitter=8ms"];
    let how = ["--neighbours", "2", "--seeds", "2", "--at", "1s..2s/1s", "--json", "-"];
    for row in rows(&stdout(&segue(Path::new("."), &[&links[..], &how].concat()))) {
        assert!(row["over_bound"]["median"].as_f64().expect("a ratio") >= 1.0);
        assert!(row["neighbours"]["undisturbed_bytes"].as_f64().expect("bytes") > 1e6);
    }
}

#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("a.toml"), "old = 'wlan'\nnew = 'egprs'\nneighbours = 0\n").unwrap();
    std::fs::write(here.join("b.toml"), "old = 'wlan'\nnew = 'egprs'\nneighbours = '2 cubik'\n").unwrap();
    let bad: [(&[&str], &str); 9] = [
        (
            &["--neighbours", "0"],
            "--neighbours: bad `0`; expected a number of 1 to 100, and a congestion control",
        ),
        (&["--neighbours", "-1"], "bad `-1`"),
        (&["--neighbours", "3 cubik"], "unknown congestion control `cubik`; expected one of"),
        (&["--neighbours", "3 cubic reno"], "bad `3 cubic reno`"),
        (&["--neighbours", "3", "--set", "neighbours=2"], "`neighbours` is given twice"),
        (&["--neighbours", "3", "--at", "0.05s"], "expected no handoff before that, not at 0.05 s"),
        (
            &["--neighbours", "3", "--kind", "bbm", "--schemes", "sack,buffer-lcfd"],
            "as `buffer-lcfd` needs here; expected schemes and settings without router buffers",
        ),
        (&["run", "a.toml"], "a.toml, line 3, column 14: neighbours: bad `0`"),
        (&["run", "b.toml"], "b.toml, line 3, column 14: neighbours: unknown congestion control `cubik`"),
    ];
    for (words, part) in bad {
        let words = if words[0] == "run" { words.to_vec() } else { [&LINKS[..], words].concat() };
        let output = segue(here, &words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{words:?}: {message}");
        assert!(message.contains(part), "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}
