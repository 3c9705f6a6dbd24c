//! Timers of a kernel's flows that fire in the same instant: in what order a host handles them.

use segue_netsim::Nanos;
use segue_tcp::linux::wheel::TimerSlot;
use std::cmp::Reverse;

/// Timers of a host's flows, by index: where each lies, and the order in which it came there.
#[derive(Clone, Debug, Default)]
pub struct Wheel {
    known: Vec<(TimerSlot, u64)>,
    order: u64,
}

impl Wheel {
    /// Flow `index` has been handled; its timer lies at `place`.
    #[inline]
    pub(crate) fn note(&mut self, index: usize, place: Option<TimerSlot>) {
        let Some(place) = place else { return };
        if self.known.get(index).is_none_or(|known| known.0 != place) {
            self.move_to(index, place);
        }
    }

    #[cold]
    fn move_to(&mut self, index: usize, place: TimerSlot) {
        if self.known.len() <= index {
            self.known.resize(index + 1, (TimerSlot::default(), 0));
        }
        self.order += 1;
        self.known[index] = (place, self.order);
    }

    /// The flow whose timer comes first of those that are due at `now`. Higher levels of the wheel come first, then the
    /// timer that was put into its bucket last. `only`: no other flow can be due. `deadline`: of a flow. None where no
    /// kernel has timers.
    #[inline]
    pub(crate) fn first(
        &self,
        now: Nanos,
        only: Option<usize>,
        deadline: impl Fn(usize) -> Option<Nanos>,
    ) -> Option<usize> {
        let due = |&index: &usize| deadline(index).is_some_and(|at| at <= now);
        if let Some(index) = only {
            return (index < self.known.len() && due(&index)).then_some(index);
        }
        let rank = |&index: &usize| Reverse((self.known[index].0.level, self.known[index].1));
        (0..self.known.len()).filter(due).min_by_key(rank)
    }
}
