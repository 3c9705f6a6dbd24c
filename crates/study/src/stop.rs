//! Ends a run before its end. A run tells a callback of its progress, and of nothing (0) before each handoff or drive,
//! and now and then in a handoff. There the callback may [`stop`], which unwinds, as the queries of salsa do when they
//! are cancelled (`salsa::Cancelled`). So no run has to carry a result for what hardly ever happens, and rayon hands
//! the unwinding on.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A run was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the end")]
pub struct Stopped;

/// Ends the run that is [`stoppable`].
pub fn stop() -> ! {
    // No panic: its hook hears of nothing.
    resume_unwind(Box::new(Stopped))
}

/// The result of `run`, unless it is ended; a panic goes on.
pub fn stoppable<R>(run: impl FnOnce() -> R) -> Result<R, Stopped> {
    // State that `run` has left unfinished is dropped with it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|thrown| match thrown.downcast::<Stopped>() {
        Ok(stopped) => *stopped,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Request, Times};
    use segue_world::{AccessLink, Definition, Kind, NoticeMode, SECOND, Series};
    use std::sync::atomic::{AtomicU64, Ordering};

    fn request(points: &str) -> Request {
        let link = |word| AccessLink::parse(word).expect("a link");
        Request {
            pairs: vec![(link("6400kbit/9ms"), link("200kbit/300ms"))],
            kinds: vec![Kind::Mbb],
            flows: vec![1],
            schemes: vec!["sack".into()],
            at: Times::parse(points).expect("times").0,
            packets: 100,
            definition: Definition::AfterHighest,
            notice: NoticeMode::Instant,
            stack: None,
            cc: None,
            settings: Vec::new(),
            seed: 1,
            seeds: 1,
        }
    }

    /// Fork, first handoff, and those that follow each tell that they begin.
    #[test]
    fn a_series_can_be_left_between_two_handoffs() {
        let mut plan = request("2s").plan().expect("a plan");
        plan.series = Series { handoffs: 5, every: 2 * SECOND };
        for most in [2, 4, 6] {
            let begun = AtomicU64::new(0);
            let result = stoppable(|| {
                Comparison::run(&plan, false, &|more| {
                    assert_eq!(more, 0, "all five are told as done together");
                    if begun.fetch_add(1, Ordering::Relaxed) + 1 == most {
                        stop();
                    }
                })
            });
            assert!(result.is_err(), "{most}");
            assert_eq!(begun.into_inner(), most);
        }
    }

    #[test]
    fn a_stopped_comparison_leaves_most_handoffs_alone() {
        let plan = request("0.1s..20s/0.1s").plan().expect("a plan");
        let finished = AtomicU64::new(0);
        let result = stoppable(|| {
            Comparison::run(&plan, false, &|more| {
                if finished.fetch_add(more, Ordering::Relaxed) >= 3 {
                    stop();
                }
            })
        });
        assert_eq!(result.map(|_| ()), Err(Stopped));
        // Those that had begun, one per thread at most, are finished.
        let threads = rayon::current_num_threads() as u64;
        assert!(finished.into_inner() <= 4 + threads, "many handoffs after the stop");
    }

    #[test]
    fn nobody_stops_and_nothing_is_lost() {
        let plan = request("1s..3s/1s").plan().expect("a plan");
        let heard = AtomicU64::new(0);
        let run = || Comparison::run(&plan, false, &|more| _ = heard.fetch_add(more, Ordering::Relaxed));
        assert_eq!(stoppable(run).expect("no stop").rows().count(), 1);
        assert_eq!(heard.into_inner(), 3);
    }

    #[test]
    #[should_panic(expected = "ours")]
    fn a_panic_goes_on() {
        let _ = stoppable(|| panic!("ours"));
    }
}
