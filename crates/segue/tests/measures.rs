//! Every output has every measure, and docs/reference/measures.md explains them.

use segue_study::measure::{Column, EACH, EachKind, FIELDS, MEASURES, OPTIONAL, OPTIONAL_FIELDS};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

fn segue(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_segue")).args(words).output().expect("segue starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

const COMPARE: [&str; 5] = ["compare", "wlan", "hsdpa", "--at", "1s..2s/1s"];

fn compare(more: &[&str]) -> String {
    segue(&[&COMPARE[..], more].concat())
}

/// Paths of all numbers and nulls of a JSON value: `transfer_s.median`.
fn paths(value: &serde_json::Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (field, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                paths(value, &format!("{path}{dot}{field}"), found);
            }
        }
        serde_json::Value::String(_) => (),
        _ => assert!(found.insert(path.to_string()), "{path} is given twice"),
    }
}

/// The fields of a row that describe the question.
const QUESTION: [&str; 5] = ["disconnect_s", "flows", "seed", "packets", "points"];

#[test]
fn json_has_every_measure_and_no_other() {
    let document: serde_json::Value = serde_json::from_str(&compare(&["--json", "-"])).expect("JSON");
    for row in document["rows"].as_array().expect("rows") {
        let mut found = BTreeSet::new();
        paths(row, "", &mut found);
        let known = MEASURES.iter().map(|measure| measure.name).chain(QUESTION);
        assert_eq!(found, known.map(String::from).collect());
    }
}

/// The last columns of a CSV are those of the table, in its order; the others describe the question.
fn assert_ends_with<'a>(csv: &str, names: impl Iterator<Item = &'a str>) {
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    let names: Vec<&str> = names.collect();
    assert_eq!(header[header.len() - names.len()..], names);
}

#[test]
fn csv_has_every_measure() {
    assert_ends_with(&compare(&["--origin=none", "--csv", "-"]), MEASURES.iter().map(|measure| measure.csv));
    assert_ends_with(&compare(&["--origin=none", "--rows", "-"]), EACH.iter().map(|measure| measure.name));
}

#[test]
fn difference_judges_every_measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    let path = path.to_str().expect("UTF-8");
    compare(&["--json", path]);
    let difference: serde_json::Value =
        serde_json::from_str(&segue(&["diff", path, path, "--json", "-"])).expect("JSON");
    for pair in difference["pairs"].as_array().expect("pairs") {
        let judged = pair["measures"].as_array().expect("measures").iter();
        let judged: BTreeSet<&str> =
            judged.map(|measure| measure["measure"].as_str().expect("a name")).collect();
        assert_eq!(judged, MEASURES.iter().map(|measure| measure.name).collect());
    }
}

#[cfg(feature = "tables")]
#[test]
fn arrow_and_parquet_have_every_measure() {
    let comparison = segue_study::Comparison { groups: Vec::new() };
    let batch = segue_tables::comparison_arrow(&comparison).expect("columns");
    let schema = batch.schema();
    let last = &schema.fields()[schema.fields().len() - MEASURES.len()..];
    assert!(last.iter().map(|field| field.name().as_str()).eq(MEASURES.iter().map(|measure| measure.csv)));
    let schema = segue_tables::handoff_schema();
    for (field, measure) in schema.fields()[schema.fields().len() - EACH.len()..].iter().zip(EACH) {
        assert_eq!(field.name(), measure.name);
        assert_eq!(field.is_nullable(), measure.kind == EachKind::MaybeInfinite, "{}", measure.name);
    }
}

/// A table shows every column that a file may ask for, with its heading and its meaning.
#[cfg(feature = "files")]
#[test]
fn the_table_can_show_every_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("all.toml");
    let words: Vec<String> = Column::ALL.iter().map(|column| format!("{:?}", column.word())).collect();
    let file =
        format!("old = \"wlan\"\nnew = \"hsdpa\"\nat = \"1s..2s/1s\"\ncolumns = [{}]\n", words.join(", "));
    std::fs::write(&path, file).expect("a scenario");
    let text = segue(&["run", path.to_str().expect("UTF-8")]);
    let line = text.lines().find(|line| line.starts_with("scheme ")).expect("the headings");
    let mut from = 0;
    for column in Column::ALL {
        let found = line[from..].find(column.heading());
        from += found.unwrap_or_else(|| panic!("`{}` after {from}: {line}", column.heading()));
        from += column.heading().len();
        let legend = text.lines().filter(|line| line.starts_with(&format!("{} ", column.heading())));
        assert!(legend.count() >= 1, "the meaning of {}", column.heading());
    }
}

#[test]
fn the_page_in_docs_is_current() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = std::fs::read_to_string(root.join("docs/reference/measures.md")).expect("the page");
    assert!(
        segue(&["measures", "--markdown"]) == kept,
        "make it again: segue measures --markdown > docs/reference/measures.md"
    );
}

#[test]
fn the_list_has_every_measure() {
    let told = segue(&["measures"]);
    let words: BTreeSet<&str> =
        told.split_whitespace().map(|word| word.trim_end_matches([',', '.', ':'])).collect();
    let fields = FIELDS.iter().chain(OPTIONAL_FIELDS).map(|(field, _)| *field);
    let measures = MEASURES.iter().chain(OPTIONAL).map(|measure| measure.name);
    for name in fields.chain(measures).chain(EACH.iter().map(|measure| measure.name)) {
        assert!(words.contains(name), "{name}: {told}");
    }
}
