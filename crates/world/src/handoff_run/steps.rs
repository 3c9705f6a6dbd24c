//! Changes of a network after completion, beside the packets that pass over it: notices, and the return of a mobile
//! that does not stay.

use super::completed::Completed;
use crate::nodes::{BenchSim, HostObserver};
use segue_handoff::Scheme;
use segue_netsim::Nanos;
use std::collections::VecDeque;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A notice of the handoff that was not given at completion.
    Notice,
    /// The mobile goes back to the old link.
    Return,
    /// A notice of that.
    NoticeOfReturn,
}

/// Those that are to come, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(VecDeque<(Nanos, Step)>);

impl Steps {
    /// When the next is due.
    pub fn next_at(&self) -> Option<Nanos> {
        self.0.front().map(|&(at, _)| at)
    }

    /// When the last is due.
    pub fn last_at(&self) -> Option<Nanos> {
        self.0.back().map(|&(at, _)| at)
    }

    /// Takes the next if it is due at `now`.
    fn take(&mut self, now: Nanos) -> Option<Step> {
        self.next_at().filter(|&at| at <= now)?;
        self.0.pop_front().map(|(_, step)| step)
    }
}

impl<W: HostObserver> Completed<W> {
    /// The steps of a run with `scheme` once it has started.
    pub fn steps(&self, scheme: &Scheme) -> Steps {
        let notice_at = self.notice_at(scheme);
        let mut steps: Vec<_> = notice_at.map(|at| (at, Step::Notice)).into_iter().collect();
        if let Some(stay) = self.fork.experiment.kind.returns_after() {
            steps.push((self.completion + stay, Step::Return));
            // In band, a notice that is not late is sent at completion itself.
            let tells = self.is_told(scheme).then(|| notice_at.unwrap_or(self.completion) + stay);
            steps.extend(tells.map(|at| (at, Step::NoticeOfReturn)));
        }
        steps.sort_by_key(|&(at, _)| at);
        Steps(steps.into())
    }

    /// Takes the network to `until`, through the steps that are due until then, the last instant included.
    pub fn run_steps(&self, sim: &mut BenchSim<W>, scheme: &Scheme, steps: &mut Steps, until: Nanos) {
        while let Some(at) = steps.next_at().filter(|&at| at <= until) {
            sim.run_until(at);
            self.act(sim, scheme, steps);
        }
        sim.run_until(until);
    }

    /// Does what is due now.
    pub fn act(&self, sim: &mut BenchSim<W>, scheme: &Scheme, steps: &mut Steps) {
        while let Some(step) = steps.take(sim.net.now()) {
            match step {
                Step::Notice => self.notify_all(sim, scheme),
                Step::Return => {
                    self.turn_back(sim, scheme);
                    if let Some(idle) = &mut sim.net.observer.idle {
                        idle.end();
                    }
                }
                Step::NoticeOfReturn => self.notify_of_return(sim, scheme),
            }
        }
    }
}
