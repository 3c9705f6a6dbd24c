//! Text fits the line that it is printed on: 80 columns in files and pipes, those of the terminal there.

use std::process::{Command, Output};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The output of `segue` where a line has `width` columns.
fn printed(width: Option<u16>, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(words).env("XDG_CONFIG_HOME", "/proc/nowhere").env_remove("COLUMNS");
    if let Some(width) = width {
        command.env("COLUMNS", width.to_string());
    }
    let output: Output = command.output().expect("segue starts");
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

const QUESTION: &str = "compare 6400kbit/9ms 200kbit/300ms --kind mbb,bbm --at 5s..7s/0.5s";

fn question() -> Vec<&'static str> {
    QUESTION.split(' ').collect()
}

#[test]
fn a_table_has_what_its_width_allows() {
    for width in [80, 120, 200] {
        insta::assert_snapshot!(format!("compare_{width}"), printed(Some(width), &question()));
    }
    assert_eq!(printed(None, &question()), printed(Some(80), &question()), "a pipe has 80 columns");
}

/// Where rows have bounds of their own, as after an earlier handoff, the heading says from which to which.
#[test]
fn every_heading_has_its_bound() {
    let words = "compare wlan hsdpa --kind soft --handoffs 3 --every 15s --at 1s..5s/1s";
    let words: Vec<&str> = words.split(' ').collect();
    for width in [80, 120, 200] {
        insta::assert_snapshot!(format!("series_{width}"), printed(Some(width), &words));
    }
    let table = printed(None, &words);
    let rows = printed(None, &[&words[..], &["--origin=none", "--csv", "-"]].concat());
    let mut bounds = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for row in csv::Reader::from_reader(rows.as_bytes()).deserialize() {
        let row: std::collections::BTreeMap<String, String> = row.expect("a row");
        bounds.entry(row["handoff"].clone()).or_default().push(row["bound_s"].parse().expect("a time"));
    }
    assert_eq!(bounds.len(), 3);
    let mut differ = 0;
    for (handoff, bounds) in bounds {
        let text = |bound: f64| format!("{bound:.3}");
        let (least, most) = (text(bounds[0].min(bounds[1])), text(bounds[0].max(bounds[1])));
        let bound = if least == most { least.clone() } else { format!("{least} to {most}") };
        differ += usize::from(least != most);
        assert!(table.contains(&format!(", handoff {handoff}; bound {bound} s\n")), "{bound}: {table}");
    }
    assert!(differ > 0, "{table}");
}

/// A long line has more columns, the most important ones first, and then it is the table of `--wide`.
#[test]
fn a_long_line_is_used() {
    let heads = |width: u16, more: &[&str]| -> Vec<String> {
        let table = printed(Some(width), &[&question()[..], more].concat());
        let head = table.lines().find(|line| line.starts_with("scheme ")).expect("a table");
        head.split("  ").filter(|word| !word.is_empty()).map(|word| word.trim().to_string()).collect()
    };
    let usual = heads(80, &[]);
    let whole = heads(200, &["--wide"]);
    assert_eq!(heads(200, &[]), whole);
    assert!(usual.iter().all(|head| whole.contains(head)) && usual.len() < whole.len());
    let some = heads(130, &[]);
    assert!(usual.len() < some.len() && some.len() < whole.len(), "{some:?}");
    assert!(some.contains(&"Q1".to_string()) && !some.contains(&"FR".to_string()), "{some:?}");
    assert_eq!(heads(200, &["--columns", "median"]), ["scheme", "median"], "as it was asked for");
    for width in [80, 100, 113, 130, 150] {
        assert_fits(width.into(), &question(), &printed(Some(width), &question()));
    }
    assert!(!printed(Some(200), &question()).contains("--wide"), "there is no more");
    assert!(printed(Some(130), &question()).replace('\n', " ").contains("--wide shows more"));
}

/// No line is longer than its place, but for words that are; none ends with blanks.
fn assert_fits(width: usize, words: &[&str], text: &str) {
    for line in text.lines() {
        let is_one_word = line.split_whitespace().count() == 1;
        assert!(line.chars().count() <= width || is_one_word, "{words:?} at {width}: {line}");
        assert_eq!(line.trim_end(), line, "{words:?} at {width}: blanks at the end");
    }
}

#[test]
fn lists_and_explanations_fit() {
    for words in [
        "links",
        "schemes",
        "schemes etcp-v1",
        "schemes linux-6.12",
        "measures",
        "explain",
        "explain A1",
        "explain 9",
        "explain 4.4",
        "explain minrto",
        "explain vs first",
        "explain BDP",
        "explain freeze",
        "explain tcp-ho",
        "explain enact",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        for width in [None, Some(80), Some(120)] {
            assert_fits(width.unwrap_or(80).into(), &words, &printed(width, &words));
        }
    }
}

/// The log of a trace has a row for each event in a pipe, and on a line that is long enough. Else the parts of a row
/// stand below one another.
#[test]
fn the_log_of_a_trace_fits_its_terminal() {
    let words: Vec<&str> =
        "trace 6400kbit/9ms 200kbit/300ms --at 8.2s --schemes sack,etcp --flows 2".split(' ').collect();
    let piped = printed(None, &words);
    assert_eq!(printed(Some(250), &words), piped);
    assert!(piped.lines().any(|line| line.chars().count() > 120));
    for width in [80, 120] {
        let narrow = printed(Some(width), &words);
        assert_fits(width.into(), &words, &narrow);
        // All that the rows say, in the same order.
        let times = |text: &str| -> Vec<String> {
            let words = text.lines().filter_map(|line| line.split_whitespace().next());
            words.filter(|word| word.len() > 10 && word.contains('.')).map(String::from).collect()
        };
        assert_eq!(times(&narrow), times(&piped), "{width}");
        let narrow = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["receives the notice: ", " flight ", "[A1, case 1 (2.1)]"] {
            assert!(narrow.contains(part), "{width}: {part}: {narrow}");
        }
    }
}

/// A table that is too wide for its place says above it what all rows have.
#[test]
fn a_diff_fits_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a.json", "b.json"].map(|name| folder.path().join(name).display().to_string());
    for (file, packets) in [(&a, "100"), (&b, "50")] {
        let question =
            ["compare", "6400kbit/9ms", "200kbit/300ms", "--schemes", "sack", "--at", "1s..10s/0.5s"];
        printed(None, &[&question[..], &["--packets", packets, "--json", file]].concat());
    }
    let words = ["diff", &a, &b, "--all"];
    let whole = printed(Some(200), &words);
    assert!(whole.contains("6400kbit/9ms -> 200kbit/300ms  mbb       1  sack "), "{whole}");
    let narrow = printed(None, &words);
    assert_eq!(narrow, printed(Some(80), &words), "a pipe has 80 columns");
    assert_fits(80, &words, &narrow);
    let shared = "All rows: handoff 6400kbit/9ms -> 200kbit/300ms, kind mbb, flows 1, scheme sack\n\
                  measure ";
    assert!(narrow.contains(shared), "{narrow}");
    // Every measure that a wide terminal has.
    let verdicts = [" beyond noise", " equal"];
    let rows = |text: &str| {
        text.lines().filter(|line| verdicts.iter().any(|verdict| line.ends_with(verdict))).count()
    };
    assert!(rows(&whole) > 3 && rows(&narrow) == rows(&whole), "{narrow}");
    let legend = |text: &str| text.lines().skip_while(|line| !line.starts_with("Beyond noise")).count();
    assert!(legend(&whole) < legend(&narrow), "{whole}");
    let again = printed(Some(60), &["repeat", &a]);
    assert_fits(60, &["repeat"], &again);
}

/// Rows whose questions differ stand below them where a line has no room for both.
#[test]
fn a_diff_of_several_questions_fits_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a.json", "b.json"].map(|name| folder.path().join(name).display().to_string());
    for (file, schemes) in [(&a, "sack,etcp-v1"), (&b, "sack,etcp")] {
        let question = "compare 6400kbit/9ms 200kbit/300ms --both-ways --kind mbb,bbm --at 1s..10s/0.5s";
        let question: Vec<&str> = question.split(' ').collect();
        let stack = if file == &a { "rfc" } else { "ns2-sack1" };
        let more = ["--stack", stack, "--schemes", schemes, "--json", file];
        printed(None, &[&question[..], &more].concat());
    }
    let words = ["diff", &a, &b, "--all"];
    let verdicts = [" beyond noise", " equal", " within noise", " noise unknown"];
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| verdicts.iter().any(|verdict| line.ends_with(verdict)));
        let values =
            |line: &str| line.split("  ").filter(|part| !part.is_empty()).map(String::from).collect();
        let mut rows: Vec<String> = rows
            .map(|line| {
                let values: Vec<String> = values(line);
                // Measure, A, B, B / A, noise and verdict.
                values[values.len() - 6..].iter().map(|value| value.trim()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        rows.sort();
        rows
    };
    let whole = rows(&printed(Some(200), &words));
    assert!(whole.len() > 40, "{whole:?}");
    for width in [None, Some(80), Some(90)] {
        let narrow = printed(width, &words);
        assert_fits(width.unwrap_or(80).into(), &words, &narrow);
        assert_eq!(rows(&narrow), whole, "{width:?}: {narrow}");
        let head = "\n200kbit/300ms -> 6400kbit/9ms, bbm 1 s\nmeasure ";
        assert_eq!(narrow.matches(head).count(), 1, "{width:?}: {narrow}");
    }
}

#[test]
fn models_fit() {
    for words in ["model tcp-ho", "model lcfd", "model lcfd --figure 3", "model tcp-ho --b 58 --c 8"] {
        let words: Vec<&str> = words.split(' ').collect();
        for width in [None, Some(80), Some(120)] {
            assert_fits(width.unwrap_or(80).into(), &words, &printed(width, &words));
        }
    }
}

#[test]
fn help_fits() {
    let page = printed(None, &["--help"]);
    let names = page.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names: Vec<&str> = names
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 10 && names.contains(&"compare"), "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert_fits(80, &[name, "--help"], &printed(None, &[name, "--help"]));
    }
}

#[cfg(feature = "live")]
#[test]
fn reports_about_a_machine_fit() {
    let told: serde_json::Value =
        serde_json::from_str(&printed(None, &["doctor", "--json", "-"])).expect("JSON");
    for width in [None, Some(80), Some(100), Some(120)] {
        let text = printed(width, &["doctor"]);
        assert_fits(width.unwrap_or(80).into(), &["doctor"], &text);
        // Findings can be copied: no word is cut. A feature that is there needs no more words, and its use where nothing
        // else was found.
        for word in told["features"].as_array().expect("a list").iter().flat_map(|feature| {
            let shown: &[&str] = match (feature["present"] == true, feature["found"] == "yes") {
                (true, true) => &["name", "needed_for"],
                (true, false) => &["name", "found"],
                (false, _) => &["name", "found", "needed_for", "without"],
            };
            let words = shown.iter().map(|field| feature[*field].as_str().expect("text").to_string());
            words.collect::<Vec<_>>()
        }) {
            for word in word.split_whitespace() {
                assert!(text.contains(word), "{width:?}: {word}: {text}");
            }
        }
    }
}

/// A terminal says how wide it is; rows do not break in two.
#[test]
#[ignore = "needs tmux"]
fn a_terminal_shows_whole_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("tmux").display().to_string();
    for width in [80, 120, 200] {
        let program = env!("CARGO_BIN_EXE_segue");
        // The pane stays when the program has ended.
        let command = format!("env -u COLUMNS NO_COLOR=1 {program} {QUESTION}; echo THE END; sleep 600");
        let tmux = |words: &[&str]| {
            let output =
                Command::new("tmux").args(["-S", &socket]).args(words).output().expect("tmux starts");
            assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &width.to_string(), "-y", "60", &command]);
        let screen = (0..6000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            Some(tmux(&["capture-pane", "-p"])).filter(|screen| screen.contains("THE END"))
        });
        tmux(&["kill-server"]);
        let screen = screen.expect("the table within ten minutes");
        let shown = screen.split("THE END").next().unwrap_or_default();
        assert_eq!(shown.trim_end(), printed(Some(width), &question()).trim_end(), "{width} columns");
    }
}
