//! `segue model` as a user meets it: tables, files, errors.

use std::process::{Command, Output};

fn segue(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(line.split_whitespace()).output().expect("segue starts")
}

fn stdout(line: &str) -> String {
    let output = segue(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn two_tables() {
    let text = stdout("model tcp-ho");
    let row = |head: &str| {
        let row = text.lines().find(|line| line.trim_start().starts_with(head)).expect("a row");
        row.split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(row("no error")[2..], ["5596.67", "1134.24", "27.58", "0.00"]);
    assert_eq!(row("25"), ["25", "5391.99", "1086.18", "-20.47", "-48.05"]);
    assert_eq!(row("50"), ["50", "4963.03", "985.61", "-121.04", "-148.62"]);
    assert_eq!(row("TCP itself")[2..], ["6820.50", "1658.00", "482.00", "58.00"]);
    assert_eq!(row("2 "), ["2", "3", "to", "7", "2.3333", "0.4828", "4"]);
    assert_eq!(row("7 "), ["7", "127", "to", "191", "1.5039", "0.2179", "64"]);
    assert!(
        text.contains("ratio 2, 0.3863") && text.lines().all(|line| line.chars().count() <= 110),
        "{text}"
    );
    assert!(stdout("model tcp-ho --rto 200ms").contains(" 0.6 to 1.4 "));
}

/// docs/papers/models.md shows what the program prints.
#[test]
fn the_page_shows_what_is_printed() {
    let page = include_str!("../../../docs/papers/models.md");
    let trimmed =
        |text: &str| text.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>().join("\n");
    assert!(page.contains(&trimmed(&stdout("model tcp-ho"))));
}

#[test]
fn csv_on_standard_output_is_alone() {
    let text = stdout("model tcp-ho --csv -");
    assert!(
        text.starts_with("# program: ") && text.contains("\n# command: segue model tcp-ho\nclass,b,c,"),
        "{text}"
    );
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let heads = ["class", "b", "c", "equation", "sigma_percent", "sigma", "gain"];
    assert_eq!(reader.headers().expect("heads"), &heads[..]);
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), 40);
    assert_eq!(rows[0], vec!["U-VH", "117.0", "8.0", "1", "5.0", "5.85", "5589.256412"]);
    assert_eq!(rows[39], vec!["H-HH", "58.0", "66.0", "2", "50.0", "29.0", "-148.624598"]);
}

#[test]
fn json_has_curves_and_waits() {
    let text = stdout("model tcp-ho --b 58 --c 8 --b 20 --c 30 --sigma 35 --json -");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((document["version"].as_u64(), document["model"].as_str()), (Some(1), Some("tcp-ho")));
    let curves = document["curves"].as_array().expect("curves");
    assert_eq!(curves.len(), 2);
    assert_eq!((curves[0]["class"].as_str(), curves[0]["equation"].as_u64()), (Some("U-VH"), Some(1)));
    assert_eq!(curves[0]["gain_without_error"].as_f64(), Some(1134.237102));
    assert!(curves[1]["class"].is_null());
    assert_eq!(curves[1]["mean_gain"][0]["gain"].as_f64(), Some(-8.991416));
    assert_eq!(document["limit_of_saving"].as_f64(), Some(0.386294));
    assert_eq!(document["waits"][0]["mean_saving"].as_f64(), Some(0.647918));
    assert_eq!(document["waits"][7]["longest_saving_s"].as_f64(), Some(64.0));
}

#[test]
fn the_figure_stands_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("figure-15.svg");
    let told = stdout(&format!("model tcp-ho --svg {}", file.display()));
    assert!(told.contains("no error"), "the tables are still printed");
    let figure = std::fs::read_to_string(file).expect("a figure");
    for part in
        ["prefers-color-scheme:dark", "stroke=\"#2d10be\"", "b = 117, c = 8, U-VH", "scale of their own"]
    {
        assert!(figure.contains(part), "{part}");
    }
    assert_eq!(stdout("model tcp-ho --svg -"), figure);
}

#[test]
fn mistakes_end_with_status_2_and_one_line() {
    let bad = [
        ("model", "expected one of tcp-ho, lcfd"),
        ("model tcp-hoo", "unknown model `tcp-hoo`; expected one of tcp-ho, lcfd; did you mean `tcp-ho`?"),
        ("modell tcp-ho", "did you mean `model`"),
        ("model tcp-ho --sgma 5", "did you mean `--sigma`"),
        ("model tcp-ho --b 58", "1 of --b and 0 of --c; expected pairs"),
        ("model tcp-ho --b 0 --c 8", "b = 0: no BDP"),
        ("model tcp-ho --b -58 --c 8", "b = -58: no BDP"),
        ("model tcp-ho --b 58 --c nan", "c = NaN: no threshold"),
        ("model tcp-ho --b 58 --c 116", "expected c below 2b = 116"),
        ("model tcp-ho --b wide --c 8", "expected a number of segments"),
        ("model tcp-ho --sigma 0", "expected a percentage above 0"),
        ("model tcp-ho --sigma -5..5/1", "expected a percentage above 0"),
        ("model tcp-ho --sigma 5..50", "expected FIRST..LAST/STEP"),
        ("model tcp-ho --rto 0s", "an RTO of 0 s; expected one above 0"),
        ("model tcp-ho --rto 65s", "at most 64 s"),
        ("model tcp-ho --csv - --json -", "at most one -"),
        ("model tcp-ho --csv /proc/nowhere/x.csv", "cannot write /proc/nowhere/x.csv"),
    ];
    for (line, part) in bad {
        let output = segue(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert_eq!(message.lines().count(), 1, "{line}: {message}");
        assert!(message.contains(part), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn manual_pages_reach_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    stdout(&format!("man --out {}", folder.path().display()));
    for page in ["segue-model.1", "segue-model-tcp-ho.1"] {
        assert!(folder.path().join(page).exists(), "{page}");
    }
    assert!(stdout("completions bash").contains("tcp-ho"));
}

/// `segue model lcfd`: the numbers of docs/reference/algorithms.md 6.4 and 6.5, and CSV alone on standard output.
#[test]
fn the_chain_of_lcfd() {
    let text = stdout("model lcfd --mode corrected --csv -");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let place = |name: &str| heads.iter().position(|head| head == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), 63 + 84 + 54 + 11);
    let gain = |figure: &str, buffer: &str, p: &str| -> f64 {
        let wanted = [("figure", figure), ("buffer", buffer), ("p", p)];
        let row = rows.iter().find(|row| wanted.iter().all(|(name, value)| &row[place(name)] == *value));
        row.expect("a row")[place("gain_percent")].parse().expect("a number")
    };
    for (found, stated) in [
        (gain("5", "32", "0.9"), 36.9),
        (gain("5", "32", "0.1"), -1.1),
        (gain("6", "30", "0.9"), 23.9),
        (gain("6", "24", "0.9"), 33.5),
    ] {
        assert!((found - stated).abs() < 0.06, "{found} {stated}");
    }
    assert!(stdout("model lcfd --figure 3").contains("797 packets proposed, 623 conventional"));
    assert!(
        stdout("model lcfd --figure 8 --svg -").starts_with("<?xml")
            || stdout("model lcfd --figure 8 --svg -").starts_with("<svg")
    );
    let document: serde_json::Value =
        serde_json::from_str(&stdout("model lcfd --mode printed --json -")).expect("JSON");
    assert_eq!(document["mode"], "printed");
}

#[test]
fn bad_input_to_the_chain_is_one_line() {
    for (line, part) in [
        ("model lcfd --p 1.5", "p = 1.5"),
        ("model lcfd --w-max 1", "W_max = 1"),
        ("model lcfd --buffer 0", "B = 0"),
        ("model lcfd --sojourn 9..2", "a sojourn of 9 to 2"),
        ("model lcfd --sojourn 2..9 --latency 3..4", "shorter than a handoff"),
        ("model lcfd --figure 4", "expected one of 3, 5, 6, 8, 11"),
        ("model lcfd --figure 3 --json -", "expected --csv or --svg"),
        ("model lcfd --w-max 8 --svg y.svg", "cannot be used with"),
        ("model lcfd --figure 5 --latency 0.3..0.5", "cannot be used with"),
        ("model lcfd --p 0.5 --rto 1s", "cannot be used with"),
        ("model lcfd --rto 5s", "--latency"),
    ] {
        let output = segue(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(message.contains(part) && message.trim_end().lines().count() == 1, "{line}: {message}");
    }
}
