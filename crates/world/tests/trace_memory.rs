//! A trace from a very slow link to a very fast one, alone in its process, whose memory it looks at.

mod support;

use segue_world::trace::trace;
use support::*;

/// Most memory that this process has had, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kb: u64 = line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number");
    kb / 1000
}

/// The old link takes half a minute to empty. Meanwhile a copy that the bound is computed from carries millions of
/// packets over the new link, and none of their events is kept.
#[test]
#[cfg(target_os = "linux")]
fn a_trace_keeps_no_events_of_the_bounds_own_copy() {
    let before = peak_mb();
    let traces = trace(&experiment("1kbit/900ms", "1gbit/1ms"), 60_000 * MS, &[&scheme("sack")]);
    assert_eq!(traces.len(), 1);
    assert!(peak_mb() < before + 100, "{before} MB, then {} MB", peak_mb());
}
