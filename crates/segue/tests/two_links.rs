//! Soft handoffs and ping-pongs, `--overlap`, `--soft` and `--return`, as a user meets them.

use crate::folder::{asked as segue, rows, stdout};

const LINKS: [&str; 3] = ["compare", "4mbit/20ms", "2mbit/30ms"];
const HOW: [&str; 6] = ["--at", "2s..5s/1s", "--seeds", "2", "--json", "-"];
const KINDS: [&str; 8] =
    ["--kind", "mbb,soft,ping-pong", "--overlap", "300ms", "--soft", "split", "--return", "400ms"];

/// Rows of kinds beside them are what they were; those of the new ones hold their times.
#[test]
fn kinds_have_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let asked = |more: &[&str]| stdout(&segue(here, &[&LINKS[..], &HOW, more].concat()));
    let (alone, text) = (rows(&asked(&[])), asked(&KINDS));
    assert_eq!(text, asked(&[&KINDS[..], &["--threads", "1"]].concat()));
    let all = rows(&text);
    assert_eq!(all.len(), 3 * alone.len());
    for (index, row) in all.iter().enumerate() {
        assert_eq!(row["kind"], ["mbb", "soft", "ping-pong"][index / alone.len()]);
        assert_eq!((&row["disconnect_s"], &row["incomplete"]), (&0.0.into(), &0.into()));
        let settings = [("overlap", "300ms"), ("soft", "split"), ("return", "400ms")];
        assert!(settings.iter().all(|(key, value)| row["settings"][key] == *value), "{row}");
        assert!(row["over_bound"]["median"].as_f64().expect("a ratio") >= 1.0);
    }
    for (row, alone) in all.iter().zip(&alone) {
        assert_eq!((&row["transfer_s"], &row["bound_s"]), (&alone["transfer_s"], &alone["bound_s"]));
    }
    // Both links carry more than one, and a return to the faster link helps.
    let bound = |index: usize| all[index * alone.len()]["bound_s"].as_f64().expect("a bound");
    assert!(bound(1) < bound(0) && bound(2) < bound(0), "{} {} {}", bound(0), bound(1), bound(2));
}

/// A scenario file and a sweep say the same; `repeat` asks again, and a trace and a page tell of it.
#[test]
fn everything_that_takes_or_shows_a_result_knows_them() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = stdout(&segue(here, &[&LINKS[..], &HOW, &KINDS].concat()));
    std::fs::write(here.join("a.json"), &text).unwrap();
    stdout(&segue(here, &["repeat", "a.json"]));
    let words = "old = '4mbit/20ms'\nnew = '2mbit/30ms'\nat = '2s..5s/1s'\nseeds = 2\nsoft = 'split'\nreturn = '400ms'\n";
    let kinds = "kind = ['mbb', 'soft', 'ping-pong']\n";
    std::fs::write(here.join("one.toml"), format!("{words}{kinds}overlap = '300ms'\n")).unwrap();
    assert_eq!(text, stdout(&segue(here, &["run", "one.toml", "--json", "-"])));
    std::fs::write(here.join("many.toml"), format!("{words}{kinds}overlap = ['300ms', '1s']\n")).unwrap();
    let told = segue(here, &["sweep", "many.toml", "--out", "many.parquet"]);
    // Two overlaps, three kinds, four times, two seeds, two schemes.
    assert!(stdout(&told).contains("96 rows"), "{}", stdout(&told));

    let how = ["--at", "3s", "--report", "page.html", "--kind", "soft,ping-pong"];
    let table = stdout(&segue(here, &[&LINKS[..], &how].concat()));
    for heading in ["2mbit/30ms, soft 1 s, duplicate, 1 flow", "2mbit/30ms, ping-pong 1 s, 1 flow"] {
        assert!(table.contains(heading), "{table}");
    }
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    assert!(
        page.contains("soft, 1 s with both links, duplicate") && page.contains("ping-pong, back after 1 s")
    );
    for (how, said) in [
        (&["--kind", "soft", "--overlap", "250ms"][..], "for 0.25 s new packets take both links"),
        (&["--kind", "soft", "--soft", "split"], "new packets take one of both links each"),
        (&["--kind", "ping-pong", "--return", "2s"], "and after 2 s the old"),
    ] {
        let trace = ["trace", "4mbit/20ms", "2mbit/30ms", "--at", "3s", "--story"];
        let story = stdout(&segue(here, &[&trace[..], how].concat()));
        assert!(story.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{story}");
    }
}

/// Several handoffs in a run: soft ones go to and fro, ping-pongs to the same link again. A scenario file says the same.
#[test]
fn they_may_follow_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let several = ["--handoffs", "3", "--every", "9s"];
    let text = stdout(&segue(here, &[&LINKS[..], &HOW, &KINDS, &several].concat()));
    let alone = rows(&stdout(&segue(here, &[&LINKS[..], &HOW, &KINDS].concat())));
    let all = rows(&text);
    assert_eq!(all.len(), 3 * alone.len());
    for (index, row) in all.iter().enumerate() {
        let (kind, nth) = (index / 6, index / 2 % 3 + 1);
        let is_back = kind < 2 && nth == 2;
        let links = if is_back { ["2mbit/30ms", "4mbit/20ms"] } else { ["4mbit/20ms", "2mbit/30ms"] };
        assert_eq!(
            (&row["kind"], &row["handoff"]),
            (&["mbb", "soft", "ping-pong"][kind].into(), &nth.into())
        );
        assert_eq!((&row["old"], &row["new"]), (&links[0].into(), &links[1].into()));
        assert!(row["over_bound"]["median"].as_f64().expect("a ratio") >= 1.0);
        if nth == 1 {
            let alone = &alone[2 * kind + index % 2];
            assert_eq!((&row["transfer_s"], &row["bound_s"]), (&alone["transfer_s"], &alone["bound_s"]));
        }
    }
    let words = "old = '4mbit/20ms'\nnew = '2mbit/30ms'\nat = '2s..5s/1s'\nseeds = 2\nsoft = 'split'\nreturn = '400ms'\n";
    let how = "kind = ['mbb', 'soft', 'ping-pong']\noverlap = '300ms'\nhandoffs = 3\nevery = '9s'\n";
    std::fs::write(here.join("one.toml"), format!("{words}{how}")).unwrap();
    assert_eq!(text, stdout(&segue(here, &["run", "one.toml", "--json", "-"])));
}

#[test]
fn bad_words_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("a.toml"), "old = 'wlan'\nnew = 'egprs'\nkind = 'soft'\noverlap = 'long'\n")
        .unwrap();
    std::fs::write(here.join("b.toml"), "old = 'wlan'\nnew = 'egprs'\nkind = 'soft'\ndisconnect = '1s'\n")
        .unwrap();
    let compare = |more: &[&'static str]| [&LINKS[..], more].concat();
    for (asked, said) in [
        (compare(&["--overlap", "1s"]), "--overlap: no handoff here is soft; expected --kind soft beside it"),
        (compare(&["--kind", "soft", "--overlap", "-1s"]), "--overlap: bad `-1s`; expected a time above 0"),
        (compare(&["--kind", "soft", "--soft", "twice"]), "duplicate, split"),
        (compare(&["--kind", "soft", "--return", "1s"]), "--return: no handoff here is ping-pong"),
        (compare(&["--kind", "pingpong"]), "ping-pong"),
        (compare(&["--kind", "soft", "--neighbours", "2"]), "`soft` does not go with --neighbours"),
        (
            compare(&["--kind", "ping-pong", "--return", "9s", "--handoffs", "2", "--every", "9s"]),
            "--every: the next handoff begins 9 s after one that is back after 9 s and then needs the link for 0.01 s",
        ),
        (
            compare(&["--kind", "mbb,soft", "--handoffs", "2", "--every", "1s"]),
            "after one that has both links for 1 s and then needs one for 0.01 s; expected at least 1.01 s",
        ),
        (compare(&["--kind", "soft", "--disconnect", "2s"]), "--disconnect is for break-before-make"),
        (compare(&["--kind", "soft", "--soft", "split", "--set", "soft=split"]), "`soft` is given twice"),
        (vec!["run", "a.toml"], "a.toml, line 4, column 11: overlap: bad `long`"),
        (vec!["run", "b.toml"], "`disconnect` is for break-before-make"),
    ] {
        let output = segue(here, &asked);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{asked:?}: {message}");
        assert!(message.contains(said), "{asked:?}: {message}");
    }
}
