//! Several handoffs in one run, `--handoffs` and `--every`, as a user meets them.

use crate::folder::{asked as segue, rows, stdout};

const LINKS: [&str; 3] = ["compare", "4mbit/20ms", "2mbit/30ms"];
const HOW: [&str; 6] = ["--at", "2s..5s/1s", "--seeds", "2", "--json", "-"];
const SERIES: [&str; 4] = ["--handoffs", "3", "--every", "20s"];

/// Each handoff has rows of its own, with its links; the first is what it is alone.
#[test]
fn each_handoff_has_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let asked = |more: &[&str]| stdout(&segue(here, &[&LINKS[..], &HOW, more].concat()));
    let alone = rows(&asked(&[]));
    assert!(alone.iter().all(|row| row.get("handoff").is_none()), "nothing new without the option");
    let mut given = rows(&asked(&["--handoffs", "1"]));
    for row in &mut given {
        assert_eq!(row["settings"].take(), serde_json::json!({ "handoffs": "1" }));
        row["settings"] = serde_json::json!({});
    }
    assert_eq!(given, alone, "the default");
    let text = asked(&SERIES);
    assert_eq!(text, asked(&[&SERIES[..], &["--threads", "1"]].concat()));
    let series = rows(&text);
    assert_eq!(series.len(), 3 * alone.len());
    for (index, row) in series.iter().enumerate() {
        let nth = index / 2 + 1;
        let links = if nth == 2 { ["2mbit/30ms", "4mbit/20ms"] } else { ["4mbit/20ms", "2mbit/30ms"] };
        assert_eq!(
            (&row["handoff"], &row["old"], &row["new"]),
            (&nth.into(), &links[0].into(), &links[1].into())
        );
        assert_eq!((&row["points"], &row["incomplete"]), (&8.into(), &0.into()));
        assert!(row["over_bound"]["median"].as_f64().expect("a ratio") >= 1.0);
    }
    for (row, alone) in series.iter().zip(&alone) {
        for field in ["transfer_s", "bound_s", "timeouts", "new_link_s", "against_first"] {
            assert_eq!(row[field], alone[field], "{field}");
        }
    }
}

/// A scenario file and a sweep say the same; CSV, rows, table and page have the number, and `diff` and `repeat` know it.
#[test]
fn everything_that_takes_or_shows_a_result_knows_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = stdout(&segue(here, &[&LINKS[..], &HOW, &SERIES].concat()));
    std::fs::write(here.join("a.json"), &text).unwrap();
    let scenario =
        "old = '4mbit/20ms'\nnew = '2mbit/30ms'\nat = '2s..5s/1s'\nseeds = 2\nevery = '20s'\nhandoffs = ";
    std::fs::write(here.join("one.toml"), format!("{scenario}3\n")).unwrap();
    assert_eq!(text, stdout(&segue(here, &["run", "one.toml", "--json", "-"])));
    stdout(&segue(here, &["repeat", "a.json"]));
    stdout(&segue(here, &["diff", "a.json", "a.json"]));

    let how = ["--at", "2s", "--rows", "rows.csv", "--csv", "all.csv", "--report", "page.html"];
    let table = stdout(&segue(here, &[&LINKS[..], &SERIES, &how].concat()));
    let heading = "2mbit/30ms -> 4mbit/20ms, make-before-break, 1 flow, handoff 2";
    assert!(table.contains(heading), "{table}");
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap();
    assert!(read("page.html").contains(&heading.replace("->", "\u{2192}").replace('>', "&gt;")));
    for name in ["rows.csv", "all.csv"] {
        let csv = read(name);
        assert!(csv.lines().next().is_some_and(|head| head.contains(",flows,handoff,scheme,")), "{csv}");
        let of = |nth: &str| csv.lines().filter(|line| line.contains(&format!(",0.0,1,{nth},"))).count();
        assert_eq!([of("1"), of("2"), of("3")], [2, 2, 2], "{csv}");
    }

    std::fs::write(here.join("many.toml"), format!("{scenario}[2, 3]\n")).unwrap();
    let told = segue(here, &["sweep", "many.toml", "--out", "many.parquet"]);
    stdout(&told);
    // Four times, two seeds, two schemes, of two and of three handoffs.
    let said = String::from_utf8_lossy(&told.stderr).into_owned() + &String::from_utf8_lossy(&told.stdout);
    assert!(said.contains("80"), "{said}");
}

/// The least time between two is taken.
#[test]
fn handoffs_may_follow_one_another_fast() {
    let folder = tempfile::tempdir().unwrap();
    for how in [&["--every", "10ms"][..], &["--every", "110ms", "--kind", "bbm", "--disconnect", "100ms"]] {
        let words = [&LINKS[..], &["--at", "2s", "--json", "-", "--handoffs", "2"], how].concat();
        assert_eq!(rows(&stdout(&segue(folder.path(), &words))).len(), 4, "{how:?}");
    }
}

#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("a.toml"), "old = 'wlan'\nnew = 'egprs'\nhandoffs = 0\n").unwrap();
    std::fs::write(here.join("b.toml"), "old = 'wlan'\nnew = 'egprs'\nhandoffs = 2\nevery = 'soon'\n")
        .unwrap();
    let bad: [(&[&str], &str); 15] = [
        (&["--handoffs", "0", "--every", "1s"], "--handoffs: bad `0`; expected a number of 1 to 1000"),
        (&["--handoffs", "-1", "--every", "1s"], "--handoffs: bad `-1`"),
        (&["--handoffs", "2"], "2 handoffs need a time between them; expected --every"),
        (&["--handoffs", "0"], "--handoffs: bad `0`"),
        (&["--every", "2s"], "--every: one handoff has none after it; expected --handoffs"),
        (&["--handoffs", "1", "--every", "2s"], "--every: one handoff has none after it"),
        (&["--handoffs", "2", "--every", "-2s"], "--every: bad `-2s`; expected a time above 0"),
        (&["--set", "handoffs=2"], "2 handoffs need a time between them"),
        (&["--handoffs", "2", "--every", "3s", "--set", "handoffs=2"], "`handoffs` is given twice"),
        (
            &["--handoffs", "2", "--every", "1s", "--kind", "bbm"],
            "the next handoff begins 1 s after one that is without a link for 1 s and then needs one for 0.01 s; \
             expected at least 1.01 s",
        ),
        (
            &["--handoffs", "3", "--every", "1us"],
            "--every: the next handoff begins 0.000001 s after one that needs a link for 0.01 s; expected at least 0.01 s",
        ),
        (&["--handoffs", "3", "--every", "9.999ms"], "begins 0.009999 s after one"),
        (
            &["--handoffs", "2", "--every", "3s", "--neighbours", "2"],
            "expected no neighbours beside several handoffs",
        ),
        (&["run", "a.toml"], "a.toml, line 3, column 12: handoffs: bad `0`"),
        (&["run", "b.toml"], "b.toml, line 4, column 9: every: bad `soon`"),
    ];
    let trace: &[&str] =
        &["trace", "wlan", "egprs", "--at", "3s", "--set", "handoffs=2", "--set", "every=3s"];
    for (words, part) in bad.into_iter().chain([(trace, "a trace is of one handoff")]) {
        let whole = ["run", "trace"].contains(&words[0]);
        let words = if whole { words.to_vec() } else { [&LINKS[..], words].concat() };
        let output = segue(here, &words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{words:?}: {message}");
        assert!(message.contains(part), "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}
