//! Commands that run in a folder of a test.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `segue` with these words.
pub fn segue(folder: &Path, words: &str) -> Output {
    let mut segue = Command::new(env!("CARGO_BIN_EXE_segue"));
    segue.current_dir(folder).args(words.split(' ')).output().expect("segue starts")
}

/// Standard output of a command that has succeeded.
pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}
