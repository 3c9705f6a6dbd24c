//! The packets that a link carries, in a ring whose length is a power of two. Its ends are counts of what has come in and
//! out, so that nothing else has to be counted.

use super::InTransit;

/// Places of the first allocation.
const LEAST: usize = 8;

/// Entries in a row. An entry's number is how many came in before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// As many as a power of two, or none.
    places: Box<[InTransit]>,
    /// Number of the oldest entry, and that of the next to come.
    oldest: usize,
    next: usize,
}

impl Ring {
    /// How many have come out so far; also the number of the oldest.
    #[inline]
    pub(super) fn come_out(&self) -> usize {
        self.oldest
    }

    /// How many have come in so far, without those that were taken back.
    #[inline]
    pub(super) fn come_in(&self) -> usize {
        self.next
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.next - self.oldest
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.oldest
    }

    /// The place of an entry.
    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.places.len().wrapping_sub(1)
    }

    /// The entry of this number, if it is there.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&InTransit> {
        (self.oldest..self.next).contains(&number).then(|| &self.places[self.place(number)])
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&InTransit> {
        (!self.is_empty()).then(|| &self.places[self.place(self.oldest)])
    }

    pub(super) fn back(&self) -> Option<&InTransit> {
        (!self.is_empty()).then(|| &self.places[self.place(self.next - 1)])
    }

    #[inline(always)] // on the path of every packet
    pub(super) fn push_back(&mut self, entry: InTransit) {
        if self.len() == self.places.len() {
            self.grow(entry);
        }
        let place = self.place(self.next);
        self.places[place] = entry;
        self.next += 1;
    }

    #[inline(always)] // on the path of every packet
    pub(super) fn pop_front(&mut self) -> Option<InTransit> {
        let entry = *self.front()?;
        self.oldest += 1;
        Some(entry)
    }

    /// Takes back what came in last.
    pub(super) fn pop_back(&mut self) -> Option<InTransit> {
        let entry = *self.back()?;
        self.next -= 1;
        Some(entry)
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &InTransit> {
        (self.oldest..self.next).map(|number| &self.places[self.place(number)])
    }

    /// Moves what came in last before all entries that are to be behind it.
    pub(super) fn sort_in_last(&mut self, behind: impl Fn(&InTransit, &InTransit) -> bool) {
        for number in (self.oldest + 1..self.next).rev() {
            let (before, place) = (self.place(number - 1), self.place(number));
            if !behind(&self.places[before], &self.places[place]) {
                break;
            }
            self.places.swap(before, place);
        }
    }

    /// Sorts by a key; the order of entries with equal ones stays.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&InTransit) -> K) {
        let mut entries: Vec<InTransit> = self.iter().copied().collect();
        entries.sort_by_key(key);
        for (number, entry) in (self.oldest..).zip(entries) {
            let place = self.place(number);
            self.places[place] = entry;
        }
    }

    /// Twice as many places. `filler` is what lies in those that are not used.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: InTransit) {
        let mut places = vec![filler; (2 * self.places.len()).max(LEAST)].into_boxed_slice();
        let last = places.len() - 1;
        for (number, entry) in (self.oldest..).zip(self.iter()) {
            places[number & last] = *entry;
        }
        self.places = places;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slab;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// It does what a list does: what comes in and out at both ends, sorting, and numbers that go on.
        #[test]
        fn agrees_with_a_list(ops in proptest::collection::vec((0u8..8, 0u64..20), 1..300)) {
            let packet = Slab::default().insert(());
            let (mut ring, mut list, mut out) = (Ring::default(), VecDeque::new(), 0);
            let times = |ring: &Ring| ring.iter().map(|entry| entry.delivery).collect::<Vec<_>>();
            for (op, delivery) in ops {
                match op {
                    0 => {
                        prop_assert_eq!(ring.pop_front().map(|entry| entry.delivery), list.pop_front());
                        out = ring.come_out();
                    }
                    1 => prop_assert_eq!(ring.pop_back().map(|entry| entry.delivery), list.pop_back()),
                    2 => {
                        ring.sort_by_key(|entry| entry.delivery);
                        list.make_contiguous().sort();
                    }
                    _ => {
                        ring.push_back(InTransit { departure: 0, delivery, order: 0, packet, service_and_loss: 0 });
                        list.push_back(delivery);
                        if op == 3 {
                            ring.sort_in_last(|other, last| other.delivery > last.delivery);
                            list.pop_back();
                            let behind = list.iter().rev().take_while(|other| **other > delivery).count();
                            list.insert(list.len() - behind, delivery);
                        }
                    }
                }
                prop_assert_eq!(&times(&ring), &list.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!((ring.len(), ring.is_empty()), (list.len(), list.is_empty()));
                prop_assert_eq!(ring.come_in() - out, list.len());
                prop_assert_eq!(ring.front().map(|entry| entry.delivery), list.front().copied());
                prop_assert_eq!(ring.back().map(|entry| entry.delivery), list.back().copied());
                prop_assert_eq!(ring.get(out).map(|entry| entry.delivery), list.front().copied());
                prop_assert!(ring.get(ring.come_in()).is_none());
            }
        }
    }
}
