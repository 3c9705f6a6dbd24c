//! SEGUE_VERSION: the version of the package, and the commit where the sources have one.

mod commit;

use std::path::Path;

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let found = Path::new(&folder).ancestors().nth(2).and_then(commit::of_sources);
    println!("cargo::rerun-if-changed=build");
    // Files that change when the commit does. One that is missing would run this script in every build.
    for file in found.iter().flat_map(|found| &found.files) {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    match found {
        Some(found) => println!("cargo::rustc-env=SEGUE_VERSION={version} ({})", found.short),
        None => println!("cargo::rustc-env=SEGUE_VERSION={version}"),
    }
}
