//! A trace from a very slow link to a very fast one, alone in its process, whose memory it looks at.

mod support;

use segue_world::trace::trace;
use support::*;

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
