//! Names the program by what its results depend on: the sources of the simulator and the versions of its libraries.
//!
//! The hash of the executable would not do. In Python that is the interpreter, and two machines that build one source
//! get different files, whose results are the same to the byte.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates that only draw, print or run what was simulated. A crate that is not named here counts as the simulator's.
const NOT_SIMULATING: [&str; 13] = [
    "agent",
    "capture",
    "console",
    "draw",
    "explorer",
    "fidelity",
    "gallery",
    "kernel",
    "lab",
    "netlink",
    "report",
    "segue",
    "workspace-hack",
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    let mut sources = vec![root.join("Cargo.lock"), root.join("policy")];
    for folder in entries(&root.join("crates")) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if !NOT_SIMULATING.contains(&&*name) {
            sources.extend([folder.join("build.rs"), folder.join("Cargo.toml"), folder.join("src")]);
        }
    }
    let mut hasher = blake3::Hasher::new();
    for source in sources.iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
        add(&mut hasher, &root, source);
    }
    println!("cargo::rustc-env=SEGUE_PROGRAM={}", hasher.finalize().to_hex());
}

/// Adds a file, or all of a folder: path and content, each with its length.
fn add(hasher: &mut blake3::Hasher, root: &Path, path: &Path) {
    if path.is_dir() {
        return entries(path).iter().for_each(|entry| add(hasher, root, entry));
    }
    let place = path.strip_prefix(root).expect("a path below the root").to_string_lossy().replace('\\', "/");
    let content = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for part in [place.as_bytes(), &content] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
}

/// Contents of a folder, in one order everywhere.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
