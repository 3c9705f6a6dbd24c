//! Every header stands alone, freestanding, and without a warning.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn headers() -> Vec<PathBuf> {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy");
    let mut all: Vec<PathBuf> = std::fs::read_dir(policy)
        .expect("policy/")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "h"))
        .collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

fn compile(compiler: &str, flags: &[&str], header: &Path) {
    let mut child = Command::new(compiler)
        .args(flags)
        .args(["-x", "c", "-c", "-o", "/dev/null", "-I"])
        .arg(header.parent().expect("policy/"))
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the compiler runs");
    // twice: the guard holds
    let name = header.file_name().expect("a name").to_string_lossy();
    let text = format!("#include \"{name}\"\n#include \"{name}\"\n");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

const STRICT: [&str; 9] = [
    "-std=c11",
    "-ffreestanding",
    "-nostdinc",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-pedantic",
    "-Werror",
];

#[test]
#[ignore = "needs gcc"]
fn each_header_compiles_alone() {
    for header in headers() {
        compile("gcc", &STRICT, &header);
    }
}

#[test]
#[ignore = "needs clang"]
fn each_header_compiles_for_bpf() {
    let clang = ["clang", "clang-19", "clang-18", "clang-17", "clang-16"].into_iter().find(|name| {
        Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success())
    });
    let clang = clang.expect("clang");
    for header in headers() {
        compile(clang, &["-target", "bpf", "-O2", "-std=gnu11", "-Wall", "-Werror"], &header);
    }
}

/// The kernel's own names for the integers, repeated: C11 allows it as long as the
/// types are the same.
#[test]
fn the_integer_names_agree_with_the_kernel() {
    let policy = headers().into_iter().find(|path| path.ends_with("policy.h")).expect("policy.h");
    let text = std::fs::read_to_string(policy).expect("readable");
    for line in [
        "typedef unsigned char u8;",
        "typedef unsigned short u16;",
        "typedef unsigned int u32;",
        "typedef unsigned long long u64;",
    ] {
        assert!(text.contains(line), "{line}");
    }
}

#[test]
fn each_header_carries_its_licence_and_no_library() {
    for header in headers() {
        let text = std::fs::read_to_string(&header).expect("readable");
        let first = text.lines().next().expect("a line");
        assert_eq!(first, "/* SPDX-License-Identifier: MIT OR GPL-2.0-only */");
        assert!(!text.contains("#include <"), "{}", header.display());
        assert!(text.lines().count() <= 500, "{}", header.display());
    }
}
