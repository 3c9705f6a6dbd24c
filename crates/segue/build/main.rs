//! SEGUE_VERSION: the version of the package, and the commit where the sources have one. SEGUE_FEATURES: the features
//! that are built in.

mod commit;

use std::path::Path;

/// The features of this build, sorted.
fn features() -> Vec<String> {
    let names =
        std::env::vars().filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()));
    let mut names: Vec<String> = names.filter(|name| name != "default").collect();
    names.sort();
    names
}

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
    let features = match features() {
        none if none.is_empty() => "none".to_string(),
        some => some.join(", "),
    };
    println!("cargo::rustc-env=SEGUE_FEATURES={features}");
}
