//! How `segue-agent` is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        // Relative relocations as a bitmap (DT_RELR): 200 kB less to map. glibc 2.36 reads it, and the agent's Linux 6.4
        // comes with a newer one.
        println!("cargo::rustc-link-arg-bin=segue-agent=-Wl,-z,pack-relative-relocs");
    }
}
