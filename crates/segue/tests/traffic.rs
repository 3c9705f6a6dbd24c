//! The user's traffic, `--traffic`, on the command line.

use crate::folder::{asked as segue, rows, stdout};

const LINKS: [&str; 3] = ["compare", "4mbit/20ms", "4mbit/30ms"];
const HOW: [&str; 4] = ["--at", "2s..3s/1s", "--schemes", "sack,etcp-v1"];
const CALL: [&str; 2] = ["--traffic", "download,video(200kbit,10fps)"];

/// A command and a scenario file say the same on any number of threads; CSV, table and difference have each class.
#[test]
fn every_output_has_the_classes() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let asked = |more: &[&str]| stdout(&segue(here, &[&LINKS[..], &HOW, more].concat()));
    let json = asked(&[&CALL[..], &["--json", "-"]].concat());
    assert_eq!(json, asked(&[&CALL[..], &["--json", "-", "--threads", "1"]].concat()));
    for row in rows(&json) {
        assert_eq!(row["settings"]["traffic"], "download,video(200kbit,10fps)");
        // Ten frames a second for 10 s, and what was under way.
        let frames = row["video"]["count"].as_f64().expect("a number");
        assert!((100.0..=102.0).contains(&frames), "{frames}");
        assert_eq!(row["download"]["completion_median_s"], row["transfer_s"]["median"]);
        assert!(row.get("page").is_none());
    }
    let scenario = "old = '4mbit/20ms'\nnew = '4mbit/30ms'\nat = '2s..3s/1s'\ntraffic = 'Download, video(0.2mbit,10fps)'\n";
    std::fs::write(here.join("call.toml"), scenario).unwrap();
    assert_eq!(json, stdout(&segue(here, &["run", "call.toml", "--json", "-"])));

    let csv = asked(&[&CALL[..], &["--origin=none", "--csv", "-"]].concat());
    let header = csv.lines().next().expect("a header");
    assert!(header.ends_with("video_delay_p95_s,video_late_frames,video_count"), "{header}");
    assert!(!header.contains("page_") && !header.contains("neighbours"));
    assert!(!asked(&["--origin=none", "--csv", "-"]).contains("video"), "nothing new without the option");

    std::fs::write(here.join("a.json"), &json).unwrap();
    let difference = stdout(&segue(here, &["diff", "a.json", "a.json", "--json", "-"]));
    assert!(difference.contains("\"video.late_frames\"") && !difference.contains("\"page.count\""));

    let table = asked(&CALL);
    for line in
        ["traffic   scheme ", "download  etcp-v1 ", "video     sack ", "stalled ", "n carries packets of the"]
    {
        assert!(table.contains(line), "{line}: {table}");
    }
    assert!(table.contains("1 flow, traffic download, video"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

/// Without a long transfer there is no bound, and a table of the classes alone.
#[test]
fn an_application_may_be_alone() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let how = ["--at", "2s", "--schemes", "sack", "--traffic", "request"];
    let table = stdout(&segue(here, &[&LINKS[..], &how].concat()));
    assert!(table.starts_with("4mbit/20ms -> 4mbit/30ms, make-before-break, traffic request\n"), "{table}");
    assert!(!table.contains("inf") || table.contains("`inf`"), "{table}");
    // The legend explains what stands in the table, and nothing else.
    for absent in ["more packets", "Transfer time", "x bound", "new link"] {
        assert!(!table.contains(absent), "{absent}: {table}");
    }
    assert!(table.contains("Each row: one handoff.\n") && table.contains("stalled "), "{table}");
    let row = &rows(&stdout(&segue(here, &[&LINKS[..], &how, &["--json", "-"]].concat())))[0];
    assert_eq!((&row["flows"], &row["bound_s"]), (&0.into(), &0.0.into()));
    assert!(row["transfer_s"]["median"].as_f64().expect("a time") > 0.0);
}

/// An upload is bounded by its own direction.
#[test]
fn an_upload_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let links =
        ["compare", "4mbit/20ms,up=1mbit", "4mbit/20ms,up=500kbit", "--at", "3s", "--traffic", "upload"];
    let rows = rows(&stdout(&segue(folder.path(), &[&links[..], &["--json", "-"]].concat())));
    for row in rows {
        // A hundred packets at 500 kbit/s.
        assert!(row["bound_s"].as_f64().expect("a time") > 2.4);
        assert!(row["over_bound"]["median"].as_f64().expect("a ratio") >= 1.0);
        assert_eq!(row["upload"]["completion_median_s"], row["transfer_s"]["median"]);
    }
}

/// The mobile tells its own senders without a packet, whatever the notice: so it is never lost, and never later.
#[test]
fn an_upload_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let links =
        ["compare", "4mbit/20ms", "1mbit/50ms", "--at", "2s..4s/1s", "--traffic", "upload", "--json", "-"];
    let of = |more: &[&str]| rows(&stdout(&segue(folder.path(), &[&links[..], more].concat())));
    let instant = of(&[]);
    for lost in ["0", "2"] {
        let in_band = of(&["--notice", "in-band", "--notice-loss", lost]);
        for (one, other) in instant.iter().zip(&in_band) {
            assert_eq!(other["notice"], "in-band");
            assert_eq!(
                (&one["transfer_s"], &one["bound_told_s"]),
                (&other["transfer_s"], &other["bound_told_s"])
            );
        }
    }
}

/// A trace shows the downloads of a user who does other things besides: they share the links.
#[test]
fn a_trace_knows_what_is_beside_its_downloads() {
    let folder = tempfile::tempdir().unwrap();
    let trace = ["trace", "4mbit/20ms", "1mbit/50ms", "--at", "2s", "--json", "-", "--schemes", "sack"];
    let of = |more: &[&str]| stdout(&segue(folder.path(), &[&trace[..], more].concat()));
    let alone = of(&[]);
    assert_eq!(of(&["--traffic", "download"]).lines().count(), alone.lines().count());
    let beside = of(&["--traffic", "download,video(500kbit,30fps)"]);
    assert!(beside.lines().count() > 100 && beside != alone);
    let output = segue(folder.path(), &[&trace[..], &["--traffic", "page"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("--traffic: a trace is of long downloads; expected download among it"), "{error}");
}

/// Neighbours on both links: their part and the measures by class stand in one row and one table.
#[test]
fn neighbours_may_share_the_links() {
    let folder = tempfile::tempdir().unwrap();
    let how = ["--at", "2s..3s/1s", "--schemes", "sack,etcp-v1", "--neighbours", "2"];
    let asked = |more: &[&str]| stdout(&segue(folder.path(), &[&LINKS[..], &how, more].concat()));
    for traffic in ["download,video(200kbit,10fps)", "upload", "both,page", "request"] {
        let json = asked(&["--traffic", traffic, "--json", "-"]);
        for row in rows(&json) {
            assert_eq!(row["settings"]["neighbours"], "2", "{traffic}");
            assert!(row["neighbours"]["undisturbed_bytes"].as_f64() > Some(0.0), "{traffic}");
            let class = traffic.split([',', '(']).next().expect("a word").replace("both", "upload");
            assert!(row[&class]["count"].as_f64() > Some(0.0), "{traffic}: {row}");
            // Every packet is under way for longer than the delay of the faster link.
            assert!(row[&class]["delay_p95_s"].as_f64() > Some(0.02), "{traffic}: {row}");
        }
    }
    let table = asked(&CALL);
    assert!(table.contains("neighbours") && table.contains("\n\ntraffic   scheme "), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

/// Several handoffs in a run: rows and a table of the classes for each, as a file and a sweep have them.
#[test]
fn several_handoffs_have_a_part_each() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let series = ["--handoffs", "3", "--every", "6s", "--kind", "bbm", "--disconnect", "400ms"];
    let asked = |more: &[&str]| stdout(&segue(here, &[&LINKS[..], &HOW, &CALL, &series, more].concat()));
    let json = asked(&["--json", "-"]);
    assert_eq!(json, asked(&["--json", "-", "--threads", "1"]));
    let all = rows(&json);
    assert_eq!(all.len(), 3 * 2);
    for row in &all {
        // Ten frames a second for 6 s, or for 10.4 s after the last handoff.
        let frames = row["video"]["count"].as_f64().expect("a number");
        let expected = if row["handoff"] == 3 { 104.0 } else { 60.0 };
        assert!((frames - expected).abs() <= 2.0, "{row}");
        assert_eq!(row["download"]["completion_median_s"], row["transfer_s"]["median"]);
    }
    let table = asked(&[]);
    assert_eq!(table.matches("traffic   scheme ").count(), 3, "{table}");
    let file = "old = '4mbit/20ms'\nnew = '4mbit/30ms'\nat = '2s..3s/1s'\nkind = 'bbm'\ndisconnect = '400ms'\n\
        traffic = 'download,video(200kbit,10fps)'\nhandoffs = 3\nevery = '6s'\n";
    std::fs::write(here.join("s.toml"), file).unwrap();
    assert_eq!(rows(&stdout(&segue(here, &["run", "s.toml", "--json", "-"]))), all);
    let told = stdout(&segue(here, &["sweep", "s.toml", "--out", "s.parquet"]));
    // Two times, two schemes, three handoffs.
    assert!(told.contains("12 rows"), "{told}");
}

/// Schemes of the mobile and of routers run beside traffic other than downloads.
#[test]
fn the_mobile_acts_beside_all_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let how = ["--at", "2s..4s/1s", "--kind", "bbm", "--disconnect", "5s", "--stack", "linux-6.12"];
    let schemes = ["--schemes", "cubic,mobile,mobile-resume,mobile-window,freeze"];
    let traffic = ["--traffic", "both,video(200kbit,10fps)", "--json", "-"];
    let text = stdout(&segue(folder.path(), &[&LINKS[..], &how, &schemes, &traffic].concat()));
    let rows = rows(&text);
    let stalled = |row: usize, class: &str| rows[row][class]["stall_s"].as_f64().expect("a time");
    assert_eq!(rows.len(), 5);
    for class in ["download", "upload", "video"] {
        for helped in [1, 2] {
            assert!(stalled(helped, class) < stalled(0, class), "{class} {helped}");
        }
    }
    // Routers hold what comes for all, and senders are told of a break.
    let how = ["--at", "2s..4s/1s", "--kind", "bbm", "--traffic", "both,video(200kbit,10fps)", "--json", "-"];
    let schemes = ["--schemes", "newreno,hn,buffer-fcfd,buffer-lcfd+phas", "--stack", "ns2-newreno"];
    let text = stdout(&segue(folder.path(), &[&LINKS[..], &how, &schemes].concat()));
    assert!(self::rows(&text).iter().all(|row| row["video"]["count"].as_f64() > Some(0.0)), "{text}");
    let buffer = ["--set", "router-buffer=new-lcfd", "--schemes", "sack"];
    let held = stdout(&segue(folder.path(), &[&LINKS[..], &how, &buffer].concat()));
    assert_ne!(held, stdout(&segue(folder.path(), &[&LINKS[..], &how, &buffer[2..]].concat())));
    let near = ["--schemes", "near", "--stack", "linux-6.12"];
    stdout(&segue(folder.path(), &[&LINKS[..], &how, &near].concat()));

    let more = ["--neighbours", "2", "--kind", "mbb,bbm"];
    let how = ["--at", "2s", "--traffic", "upload,page", "--json", "-"];
    stdout(&segue(
        folder.path(),
        &[&LINKS[..], &how, &more, &schemes[..1], &["sack,mobile,freeze"]].concat(),
    ));
}

#[test]
fn bad_words_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("a.toml"), "old = 'wlan'\nnew = 'egprs'\ntraffic = 'vidoe'\n").unwrap();
    std::fs::write(here.join("p.toml"), "old = 'wlan'\nnew = 'egprs'\ntraffic = 'page'\npackets = 50\n")
        .unwrap();
    std::fs::write(here.join("s.toml"), "old = 'wlan'\nnew = 'egprs'\ntraffic = ['page', 'upload']\n")
        .unwrap();
    std::fs::write(here.join("c.toml"), "old = 'wlan'\nnew = 'egprs'\ncolumns = 'median'\n").unwrap();
    for (words, said) in [
        (&["--traffic", "vidoe"][..], "did you mean `video`?"),
        (&["--traffic", "video(4mbit)"], "expected two, such as 4mbit,30fps"),
        (&["--traffic", "page", "--set", "traffic=page"], "`traffic` is given twice"),
        (&["--traffic", "page", "--flows", "2"], "expected download or upload beside it"),
        (&["--traffic", "page", "--schemes", "sack,near"], "`near` sends for all flows of one server"),
        (
            &["--traffic", "page", "--packets", "500"],
            "so `packets` has no meaning; expected download or upload",
        ),
        (&["--traffic", "page", "--definition", "after-ack"], "so `definition` has no meaning; expected"),
        (&["--traffic", "page", "--set", "target=in-all"], "so `target` has no meaning; expected"),
        (&["--traffic", "page", "--set", "starts=5ms"], "so `starts` has no meaning; expected"),
        (
            &["run", "p.toml"],
            "p.toml, line 3, column 11: traffic: there is no long transfer, so `packets` has no",
        ),
        (&["--traffic", "page", "--report", "x.html"], "expected download among the traffic"),
        (&["run", "a.toml"], "a.toml, line 3, column 11: traffic: unknown `vidoe`"),
        (&["sweep", "a.toml", "--out", "x.parquet"], "a.toml, line 3, column 11: traffic: unknown `vidoe`"),
        (
            &["run", "s.toml"],
            "s.toml, line 3, column 11: this is a sweep: a scenario takes one value here; expected one, or segue sweep",
        ),
        (
            &["sweep", "c.toml", "--out", "x.parquet"],
            "c.toml, line 3, column 1: this is a scenario: a sweep has no such key; expected none, or segue run",
        ),
    ] {
        let command = match words[0] {
            "run" | "sweep" => words.to_vec(),
            _ => [&LINKS[..], &["--at", "2s"], words].concat(),
        };
        let output = segue(here, &command);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{words:?}: {error}");
    }
    assert!(!here.join("x.html").exists() && !here.join("x.parquet").exists());
}
