//! Commands that run in a folder of a test.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs `segue` with these words, which blanks part.
pub fn segue(folder: &Path, words: &str) -> Output {
    asked(folder, &words.split(' ').collect::<Vec<_>>())
}

/// Runs `segue` with these words.
pub fn asked(folder: &Path, words: &[&str]) -> Output {
    let mut segue = Command::new(env!("CARGO_BIN_EXE_segue"));
    segue.current_dir(folder).args(words).output().expect("segue starts")
}

/// Standard output of a command that has succeeded.
pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Rows of a document in JSON.
pub fn rows(text: &str) -> Vec<serde_json::Value> {
    let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
    document["rows"].as_array().expect("rows").clone()
}
