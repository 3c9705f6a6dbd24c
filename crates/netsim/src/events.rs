//! The event queue: what pends in a network, sorted.
//!
//! Each link has one pending event (its head; two if packets wait in a managed queue). Each timer has a deadline. So
//! the list is short. A new event is mostly among the next to happen: a link's next delivery, not a retransmission
//! timer. An insertion from that end takes a few steps, with one branch that a processor cannot foresee; a tree has one
//! for each level.

use crate::{LinkId, Nanos, TimerId};

/// Owner of an event. It has one at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// A link: its head comes out.
    Link(LinkId),
    /// A link with a managed queue: a transmission ends, and packets may wait.
    Departure(LinkId),
    Timer(TimerId),
}

/// Bits of an event that name the source; the rest of the low half is the insertion order.
const SOURCE_BITS: u32 = 18;
/// Further from the end than this, an insertion searches by halves.
const NEAR: usize = 32;

/// A pending event, ordered by time, then by insertion: `turn` is `order << 18 | source`. 46 bits of order last for
/// months of simulation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Event {
    time: Nanos,
    turn: u64,
}

impl Event {
    #[inline]
    pub(crate) fn new(source: Source, time: Nanos, order: u64) -> Self {
        let (kind, id) = match source {
            Source::Link(id) => (0, id.0),
            Source::Departure(id) => (1, id.0),
            Source::Timer(id) => (2, id.0),
        };
        Self { time, turn: order << SOURCE_BITS | kind << 16 | u64::from(id) }
    }

    /// Sorts before all events of an instant.
    #[inline]
    pub(crate) fn start_of(time: Nanos) -> Self {
        Self { time, turn: 0 }
    }

    /// Sorts after them.
    #[inline]
    pub(crate) fn end_of(time: Nanos) -> Self {
        Self { time, turn: u64::MAX }
    }

    #[inline]
    pub(crate) fn time(self) -> Nanos {
        self.time
    }

    /// The link whose head comes out: mostly that is what happens.
    #[inline]
    pub(crate) fn link(self) -> Option<LinkId> {
        (self.kind() == 0).then_some(LinkId(self.turn as u16))
    }

    pub(crate) fn source(self) -> Source {
        let id = self.turn as u16;
        match self.kind() {
            0 => Source::Link(LinkId(id)),
            1 => Source::Departure(LinkId(id)),
            _ => Source::Timer(TimerId(id)),
        }
    }

    #[inline]
    fn kind(self) -> u32 {
        self.turn as u32 >> 16 & 3
    }
}

/// Pending events, the earliest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    pending: Vec<Event>,
    /// Insertion counter.
    order: u64,
}

impl EventQueue {
    /// The next insertion number. It is taken when a packet enters a link. So two packets that arrive at the same
    /// instant are handled in the order in which they were sent.
    #[inline]
    pub(crate) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn first(&self) -> Option<Event> {
        self.pending.last().copied()
    }

    /// Lets `source`, which has no event, have one at `time` with insertion number `order`.
    #[inline]
    pub(crate) fn add(&mut self, source: Source, time: Nanos, order: u64) {
        self.put(Event::new(source, time, order));
    }

    /// Takes an event whose source has none.
    #[inline]
    pub(crate) fn put(&mut self, event: Event) {
        self.pending.push(event);
        self.sort_in_last();
    }

    /// The earliest event has happened.
    #[inline]
    pub(crate) fn remove_first(&mut self) {
        self.pending.pop();
    }

    /// The earliest event has happened; `source`, whose event it was, has another.
    #[inline]
    pub(crate) fn replace_first(&mut self, source: Source, time: Nanos, order: u64) {
        self.replace_first_by(Event::new(source, time, order));
    }

    #[inline]
    pub(crate) fn replace_first_by(&mut self, event: Event) {
        if let Some(last) = self.pending.last_mut() {
            *last = event;
            self.sort_in_last();
        }
    }

    /// Removes the event of `source`, if it has one.
    pub(crate) fn remove(&mut self, source: Source) {
        // Mostly it is among the next to happen, as a new one is.
        if let Some(place) = self.pending.iter().rposition(|event| event.source() == source) {
            self.pending.remove(place);
        }
    }

    /// Moves the last event to its place.
    #[inline]
    fn sort_in_last(&mut self) {
        let [before @ .., last] = &mut self.pending[..] else { return };
        let event = *last;
        if before.len() >= NEAR && before[before.len() - NEAR] < event {
            return sort_in_far(&mut self.pending);
        }
        let mut place = last;
        for other in before.iter_mut().rev() {
            // One comparison where it goes on. Two events are rarely of one instant.
            if other.time >= event.time && (other.time > event.time || other.turn > event.turn) {
                break;
            }
            *place = *other;
            place = other;
        }
        *place = event;
    }
}

#[cold]
fn sort_in_far(pending: &mut [Event]) {
    let [before @ .., event] = pending else { return };
    let at = before.partition_point(|other| other > event);
    pending[at..].rotate_right(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first event is the earliest; ties go to the earlier insertion.
        #[test]
        fn agrees_with_a_naive_list(
            sources in 1u16..100,
            ops in proptest::collection::vec((0u16..100, proptest::option::of(0u64..20)), 1..300),
        ) {
            let source = |index: u16| match index % 3 {
                0 => Source::Link(LinkId(index)),
                1 => Source::Departure(LinkId(index)),
                _ => Source::Timer(TimerId(index)),
            };
            let mut queue = EventQueue::default();
            let mut naive: Vec<Option<(u64, u64)>> = vec![None; usize::from(sources)];
            let first = |naive: &[Option<(u64, u64)>]| {
                let pending = naive.iter().enumerate();
                let keys = pending.filter_map(|(index, key)| key.map(|(time, order)| (time, order, index as u16)));
                keys.min().map(|(time, _, index)| (time, index))
            };
            for (index, time) in ops {
                let index = index % sources;
                let is_first = first(&naive).is_some_and(|(_, first)| first == index);
                let order = queue.next_order();
                match time {
                    Some(time) if is_first => queue.replace_first(source(index), time, order),
                    Some(time) => {
                        queue.remove(source(index));
                        queue.add(source(index), time, order);
                    }
                    None if is_first => queue.remove_first(),
                    None => queue.remove(source(index)),
                }
                naive[usize::from(index)] = time.map(|time| (time, order));
                let expected = first(&naive).map(|(time, index)| (time, source(index)));
                prop_assert_eq!(queue.first().map(|event| (event.time(), event.source())), expected);
            }
        }
    }
}
