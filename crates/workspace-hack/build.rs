//! Nothing: without a build script Cargo overlooks the build dependencies.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
