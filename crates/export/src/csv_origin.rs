//! Where CSV comes from. It has no place for that, so the origin lies beside it: `FILE-metadata.json`. The W3C's
//! "Metadata Vocabulary for Tabular Data" (CSV on the Web, 2015, section 5.2 of "Model for Tabular Data") looks there
//! for a table's metadata. Where the user asks for it, the table's own first lines have it (`Provenance::comments`).

use crate::Provenance;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The namespace of the W3C's vocabulary.
const CONTEXT: &str = "http://www.w3.org/ns/csvw";

/// The ending that the vocabulary adds to a table's name.
const ENDING: &str = "-metadata.json";

/// The name of the metadata of all tables of a folder.
pub const OF_FOLDER: &str = "csv-metadata.json";

/// The file that tells of `table`.
pub fn metadata_file(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// The text of that file. `origin` is any JSON object; of a simulated result it is the `Provenance`. `notes`: what a
/// reader of the table must know.
pub fn metadata(table: &Path, origin: &Value, notes: &[String]) -> String {
    let notes: Vec<Value> =
        [json!({"origin": origin})].into_iter().chain(notes.iter().map(|note| json!(note))).collect();
    text(&json!({"@context": CONTEXT, "url": name_of(table), "notes": notes}))
}

/// The same of all `tables` of a folder, as `OF_FOLDER` has it.
pub fn folder_metadata<'a>(tables: impl Iterator<Item = &'a str>, origin: &Value) -> String {
    let tables: Vec<Value> = tables.map(|table| json!({"url": uri(table)})).collect();
    text(&json!({"@context": CONTEXT, "tables": tables, "notes": [{"origin": origin}]}))
}

/// Whether a file's text is such metadata, which may be replaced.
pub fn is_metadata(text: &str) -> bool {
    text.contains(CONTEXT)
}

/// The origin that such metadata hold.
///
/// Errors: the fault, in words.
pub fn origin_in_metadata(text: &str) -> Result<Provenance, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let origin = document.pointer("/notes/0/origin").ok_or("no `origin` among its notes")?;
    serde_json::from_value(origin.clone()).map_err(|error| format!("not an origin: {error}"))
}

/// The origin that the first lines of CSV hold; none where it begins with the names of its columns.
///
/// Errors: the fault, in words.
pub fn origin_in_comments(csv: &str) -> Result<Option<Provenance>, String> {
    let comments =
        csv.lines().map_while(|line| line.strip_prefix("# ")).filter_map(|line| line.split_once(": "));
    let mut fields: BTreeMap<&str, Value> = BTreeMap::new();
    for (key, word) in comments {
        let value = match key {
            "program" | "command" => {
                serde_json::from_str(word).ok().filter(Value::is_string).unwrap_or_else(|| word.into())
            }
            _ => serde_json::from_str(word).map_err(|error| format!("`{key}`: not JSON: {error}"))?,
        };
        fields.insert(key, value);
    }
    if fields.is_empty() {
        return Ok(None);
    }
    serde_json::from_value(json!(fields)).map(Some).map_err(|error| format!("not an origin: {error}"))
}

/// CSV without those lines.
pub fn without_comments(csv: &str) -> &str {
    let mut rest = csv;
    while rest.starts_with("# ") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest
}

fn name_of(table: &Path) -> String {
    uri(&table.file_name().unwrap_or_default().to_string_lossy())
}

/// A file's name as a relative reference of RFC 3986: all but its unreserved characters are escaped.
fn uri(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(escape).collect()
}

fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_lie_where_the_standard_looks_for_them() {
        assert_eq!(metadata_file(Path::new("out/rows.csv")), Path::new("out/rows.csv-metadata.json"));
        let notes = ["a note".to_string()];
        let text = metadata(Path::new("out/a b.csv"), &json!({"program": "1"}), &notes);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["@context"], CONTEXT);
        assert_eq!(read["url"], "a%20b.csv");
        assert_eq!(read["notes"], json!([{"origin": {"program": "1"}}, "a note"]));
        assert!(is_metadata(&text));
        assert!(!is_metadata("{}"));
    }

    #[test]
    fn a_folder_has_one_file_for_its_tables() {
        let read: Value =
            serde_json::from_str(&folder_metadata(["a.csv", "b.csv"].into_iter(), &json!({}))).unwrap();
        assert_eq!(read["tables"], json!([{"url": "a.csv"}, {"url": "b.csv"}]));
    }

    #[test]
    fn faults_are_told() {
        assert!(origin_in_metadata("{").unwrap_err().starts_with("not JSON"));
        assert_eq!(origin_in_metadata("{}").unwrap_err(), "no `origin` among its notes");
        assert_eq!(origin_in_comments("old,new\n").unwrap(), None);
        assert!(origin_in_comments("# question: {\n").unwrap_err().starts_with("`question`: not JSON"));
        assert!(
            origin_in_comments("# program: 1\nold\n")
                .unwrap_err()
                .starts_with("not an origin: missing field")
        );
    }

    #[test]
    fn only_the_first_lines_are_comments() {
        assert_eq!(without_comments("# a: 1\n# b: 2\nold\n# c\n"), "old\n# c\n");
        assert_eq!(without_comments("# a: 1"), "");
    }
}
