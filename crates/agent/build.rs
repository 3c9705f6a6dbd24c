//! How `segue-agent` is linked, and SEGUE_VERSION: the version of the package, with the commit as `segue` names it.

#[path = "../segue/build/commit.rs"]
mod commit;

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let found = Path::new(&folder).ancestors().nth(2).and_then(commit::of_sources);
    for file in found.iter().flat_map(|found| &found.files) {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let commit = found.map(|found| format!(" ({})", found.short)).unwrap_or_default();
    println!("cargo::rustc-env=SEGUE_VERSION={version}{commit}");
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        // Relative relocations as a bitmap (DT_RELR): 200 kB less to map. glibc 2.36 reads it, and the agent's Linux 6.4
        // comes with a newer one.
        println!("cargo::rustc-link-arg-bin=segue-agent=-Wl,-z,pack-relative-relocs");
    }
}
