//! A sweep on all cores of one machine.

use crate::store::StoreError;
use crate::{Plan, Store};
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Computes what a store misses, on all threads of the current pool, the longest parts first so that no core waits
/// long for the last. `done` hears how many more handoffs are finished.
///
/// # Errors
///
/// A part cannot be kept; those that are done stay.
pub fn run(plan: &Plan, store: &Store, done: &(dyn Fn(u64) + Sync)) -> Result<(), StoreError> {
    let mut waiting = store.missing();
    waiting.sort_by_key(|&part| (Reverse(plan.weight(part)), part));
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let finished = |more| {
        done(more);
        if failed.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let work = || -> Result<(), StoreError> {
        while let Some(&part) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(batch) = plan.run(part, &finished) else { break };
            store.keep(part, &batch).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    rayon::broadcast(|_| work()).into_iter().collect()
}
