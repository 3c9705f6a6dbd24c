//! Tools that the tests of the bench share: short spellings, random numbers, and a [twin](Twin) of the bench.
#![allow(dead_code, unused_imports)] // each test file uses its part

mod lot;
mod twin;

pub use lot::Lot;
pub use twin::{Twin, What, both};

use proptest::prelude::ProptestConfig;
use segue_handoff::Scheme;
use segue_netsim::Nanos;
use segue_tcp::StackProfile;
use segue_tcp::profile::NS2_SACK1;
use segue_world::access::AccessLink;
use segue_world::{Experiment, RunRecord, WarmRun, check_scheme};

pub const MS: Nanos = 1_000_000;

/// An access link.
pub fn link(text: &str) -> AccessLink {
    AccessLink::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A scheme without settings.
pub fn scheme(name: &str) -> Scheme {
    scheme_with(name, &[])
}

/// A scheme with settings.
pub fn scheme_with(name: &str, settings: &[(&str, &str)]) -> Scheme {
    let settings: Vec<_> =
        settings.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    check_scheme(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// One flow of `ns2-sack1`, make-before-break, 100 packets, instant notice.
pub fn experiment(old: &str, new: &str) -> Experiment {
    Experiment::usual(link(old), link(new), NS2_SACK1)
}

/// One handoff at `at`.
pub fn run(experiment: &Experiment, at: Nanos, scheme: &Scheme) -> RunRecord {
    WarmRun::new(experiment.clone()).fork(at).complete().run(scheme)
}

/// A time in ms with decimals, as exact as ns are.
pub fn ms(value: f64) -> Nanos {
    (value * 1e6).round() as Nanos
}

/// A file in the directory that cargo keeps for integration tests.
pub fn file(name: &str, content: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path.display().to_string()
}

/// Stack settings that a test runs on.
pub fn stack(name: &str) -> StackProfile {
    StackProfile::named(name).unwrap_or_else(|| panic!("no stack {name}"))
}

/// Properties of whole runs: that part of the usual number of cases. A case that has failed is told by its values.
pub fn cases(part: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / part, failure_persistence: None, ..usual }
}

/// Most memory that this process has had, in MB.
pub fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kb: u64 = line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number");
    kb / 1000
}
