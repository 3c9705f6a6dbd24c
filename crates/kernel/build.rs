//! Compiles the programs of `bpf/` and makes a Rust skeleton of each. The objects become part of the binary.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest clang whose objects Linux takes: older ones lack 64-bit enums and `preserve_access_index` of bit fields.
const CLANG: u32 = 16;

/// One program and its skeleton: `bpf/FOLDER/NAME.bpf.c`, `NAME.skel.rs`.
const PROGRAMS: [(&str, &str); 4] =
    [("sender", "sender"), ("mobile", "mobile"), ("receiver", "receiver"), ("tests", "vectors")];

/// The interfaces between them and user space: `bpf/LAYOUTS.bpf.c`, `LAYOUTS.rs`.
const LAYOUTS: &str = "layouts";

fn main() {
    println!("cargo::rerun-if-env-changed=CLANG");
    let Some(clang) = clang() else {
        println!(
            "cargo::error=clang {CLANG} or newer is needed for the kernel programs: `scripts/setup bpf` installs it; \
             `--no-default-features` builds the simulator alone"
        );
        return;
    };
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let [bpf, policy] = ["bpf", "policy"].map(|dir| crate_dir.join("../..").join(dir));
    for dir in [&bpf, &policy] {
        println!("cargo::rerun-if-changed={}", dir.display());
    }
    let includes = [format!("-I{}", bpf.join("include").display()), format!("-I{}", policy.display())];
    for (folder, name) in PROGRAMS {
        build(&clang, &bpf.join(folder), name, &includes, &out);
    }
    build(&clang, &bpf, LAYOUTS, &includes, &out);
    if let Err(error) = write_layouts(&out) {
        println!("cargo::error={LAYOUTS}.rs: {error}");
    }
}

/// The types of `bpf/layouts.bpf.c` alone, out of the module `types` of its skeleton. zerocopy turns them into octets
/// and back, safely: it refuses types with padding.
fn write_layouts(out: &Path) -> std::io::Result<()> {
    const DERIVES: &str = "#[derive(Debug, Default, Copy, Clone)]";
    let more = DERIVES.replace(")]", ", PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]");
    let skeleton = fs::read_to_string(out.join(format!("{LAYOUTS}.skel.rs")))?;
    let module = skeleton.lines().skip_while(|line| line.trim() != "pub mod types {").skip(1);
    let mut text = String::from("use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};\n");
    let mut item = String::new();
    for line in module.take_while(|line| *line != "    }") {
        item.push_str(line.strip_prefix("        ").unwrap_or(line));
        item.push('\n');
        if line == "        }" {
            // Not those of the data sections.
            if item.contains("pub struct segue_") {
                text.push_str(
                    &item.replace(DERIVES, &more).replace("#[allow(unused_imports)]\nuse super::*;\n", ""),
                );
            }
            item.clear();
        }
    }
    text.push_str(&tables(&skeleton));
    fs::write(out.join(format!("{LAYOUTS}.rs")), text)
}

/// The enumerators `SEGUE_SCHEME_NAME` of `bpf/sender/schemes.h`, as a list.
fn tables(skeleton: &str) -> String {
    const CONSTANT: &str = "pub const SEGUE_SCHEME_";
    let names = skeleton.lines().filter_map(|line| line.trim().strip_prefix(CONSTANT)?.split(':').next());
    let rows = names.map(|name| format!("    (\"{name}\", segue_scheme::SEGUE_SCHEME_{name}),\n"));
    format!("pub const TABLES: &[(&str, segue_scheme)] = &[\n{}];\n", rows.collect::<String>())
}

fn build(clang: &str, folder: &Path, name: &str, includes: &[String], out: &Path) {
    let source = folder.join(format!("{name}.bpf.c"));
    // BPF_PROG's own parameter is often unused.
    let warnings = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"];
    let built = libbpf_cargo::SkeletonBuilder::new()
        .source(&source)
        .clang(clang)
        .clang_args(warnings.into_iter().chain(includes.iter().map(String::as_str)))
        .build_and_generate(out.join(format!("{name}.skel.rs")));
    if let Err(error) = built {
        for line in format!("{}: {error:?}", source.display()).lines() {
            println!("cargo::error={line}");
        }
    }
}

/// The user's choice, or the newest that is new enough.
fn clang() -> Option<String> {
    if let Ok(chosen) = env::var("CLANG") {
        return Some(chosen);
    }
    let numbered = (CLANG..CLANG + 12).rev().map(|version| format!("clang-{version}"));
    numbered.chain(["clang".to_owned()]).find(|name| version(name).is_some_and(|version| version >= CLANG))
}

fn version(clang: &str) -> Option<u32> {
    let output = Command::new(clang).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (_, after) = text.split_once("version ")?;
    after.split('.').next()?.parse().ok()
}
