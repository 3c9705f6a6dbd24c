//! The table of a comparison: its columns, headings, width and colour.

use super::cli::{LINKS, SHORT, compare, segue, stdout};
use std::process::Command;

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
    assert!(text.contains("wired hops of 2000 Mbit/s instead of 100"), "{text}");
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
    let widest = |columns: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        command.args(LINKS).args(SHORT).arg("--wide").env_remove("COLUMNS");
        let output = command.envs(columns.map(|columns| ("COLUMNS", columns))).output();
        let text = stdout(&output.expect("segue starts"));
        text.lines().map(|line| line.chars().count()).max()
    };
    assert!(widest(Some("200")) > widest(Some("70")));
    assert!(widest(Some("80")) <= Some(80), "what does not fit stands below");
    assert_eq!(widest(Some("wide")), widest(None), "no number");
}
