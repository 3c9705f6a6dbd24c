//! The event queue: a tournament tree over the few event sources of a network.
//!
//! Each link and each timer owns one slot, because a link has one pending event (its head) and a
//! timer one deadline. Setting a slot replays one path to the root, which is cheaper than a heap
//! insertion and removal per packet, and the tree never grows during a run.
//!
//! One pending event, the *hot* one, stays outside the tree: a packet that enters an idle wire is
//! mostly the next thing to happen, and then costs no replay at all.

use crate::Nanos;

/// An event source: a link or a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub(crate) u16);

/// Bits of a key that name the slot; the rest of the low half is the insertion order.
const SLOT_BITS: u32 = 16;
/// Key of a slot with nothing pending.
const IDLE: u128 = u128::MAX;

/// Pending times of all slots; the earliest is at the root.
///
/// A key is `time << 64 | order << 16 | slot`: one comparison orders by time, then by insertion. 48 bits of order last for
/// years of simulation.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    /// Implicit binary tree: `tree[1]` is the winner, leaves start at `leaves`.
    tree: Vec<u128>,
    /// A pending event that is not in the tree.
    hot: u128,
    leaves: usize,
    used: usize,
    /// Insertion counter.
    order: u64,
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { tree: vec![IDLE; 2], hot: IDLE, leaves: 1, used: 0, order: 0 }
    }

    /// A new, idle slot. The tree may grow for it, so slots are made while a network is built, or where one is forked.
    ///
    /// # Panics
    /// If a network has more than 65,536 links and timers.
    pub(crate) fn add_slot(&mut self) -> Slot {
        assert!(self.used < 1 << SLOT_BITS, "too many links and timers in one network");
        if self.used == self.leaves {
            let old = self.tree.split_off(self.leaves);
            self.leaves *= 2;
            self.tree = vec![IDLE; self.leaves];
            self.tree.extend(old);
            self.tree.resize(2 * self.leaves, IDLE);
            for node in (1..self.leaves).rev() {
                self.tree[node] = self.tree[2 * node].min(self.tree[2 * node + 1]);
            }
        }
        self.used += 1;
        Slot((self.used - 1) as u16)
    }

    /// The next insertion number. Taken when a packet enters a link, so that two packets that
    /// arrive at the same instant are handled in the order in which they were sent.
    #[inline]
    pub(crate) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Makes `slot` pend at `time` with insertion number `order`.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, time: Nanos, order: u64) {
        let key = u128::from(time) << 64 | u128::from(order << SLOT_BITS | u64::from(slot.0));
        if self.tree[self.leaves + usize::from(slot.0)] != IDLE {
            self.replay(slot, key);
        } else if self.hot == IDLE || slot_of(self.hot) == slot {
            self.hot = key;
        } else if key < self.hot {
            let cooled = std::mem::replace(&mut self.hot, key);
            self.replay(slot_of(cooled), cooled);
        } else {
            self.replay(slot, key);
        }
    }

    /// Removes whatever `slot` had pending.
    #[inline]
    pub(crate) fn clear(&mut self, slot: Slot) {
        if self.tree[self.leaves + usize::from(slot.0)] != IDLE {
            self.replay(slot, IDLE);
        } else if self.hot != IDLE && slot_of(self.hot) == slot {
            self.hot = IDLE;
        }
    }

    #[inline]
    fn replay(&mut self, slot: Slot, key: u128) {
        let tree = &mut self.tree[..];
        let mut node = self.leaves + usize::from(slot.0);
        let mut winner = key;
        tree[node] = key;
        while node > 1 {
            winner = winner.min(tree[node ^ 1]);
            node >>= 1;
            tree[node] = winner;
        }
    }

    /// Time and slot of the earliest event.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<(Nanos, Slot)> {
        let key = self.tree[1].min(self.hot);
        (key != IDLE).then_some(((key >> 64) as Nanos, slot_of(key)))
    }
}

/// The slot that a key names.
#[inline]
fn slot_of(key: u128) -> Slot {
    Slot(key as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The tree always names the earliest pending event; ties go to the earlier insertion.
        #[test]
        fn agrees_with_a_sorted_list(
            slots in 1usize..40,
            ops in proptest::collection::vec((0usize..40, proptest::option::of(0u64..20)), 1..300),
        ) {
            let mut queue = EventQueue::new();
            let ids: Vec<Slot> = (0..slots).map(|_| queue.add_slot()).collect();
            let mut naive: Vec<Option<(u64, u64)>> = vec![None; slots];
            for (slot, time) in ops {
                let slot = slot % slots;
                match time {
                    Some(time) => {
                        let order = queue.next_order();
                        queue.set(ids[slot], time, order);
                        naive[slot] = Some((time, order));
                    }
                    None => {
                        queue.clear(ids[slot]);
                        naive[slot] = None;
                    }
                }
                let expected = naive
                    .iter()
                    .enumerate()
                    .filter_map(|(i, key)| key.map(|(t, o)| (t, o, i)))
                    .min()
                    .map(|(t, _, i)| (t, i));
                let found = queue.earliest().map(|(t, s)| (t, usize::from(s.0)));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
