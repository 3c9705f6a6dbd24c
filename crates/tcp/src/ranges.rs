//! Packets that a receiver holds out of order (RFC 9293, section 3.10.7.4; RFC 2018): disjoint, ascending ranges.

/// Ranges of packets, each from its first to one beyond its last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// Whether nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Packets held.
    pub fn packets(&self) -> u32 {
        self.0.iter().map(|(left, right)| right - left).sum()
    }

    /// The range that packet `seq` is in.
    pub fn around(&self, seq: u32) -> Option<(u32, u32)> {
        let index = self.0.partition_point(|range| range.1 <= seq);
        self.0.get(index).copied().filter(|range| range.0 <= seq)
    }

    /// Packet `next` is expected: takes off the range that begins there. Returns one beyond its last packet.
    pub fn take_from(&mut self, next: u32) -> Option<u32> {
        let &(left, right) = self.0.first()?;
        if left != next {
            return None;
        }
        self.0.remove(0);
        Some(right)
    }

    /// Adds packet `seq`; false if it is held already.
    pub fn insert(&mut self, seq: u32) -> bool {
        // The range that ends at or beyond `seq` may hold it or be extended by it.
        let index = match self.0.last() {
            Some(&(_, right)) if right >= seq => self.0.partition_point(|range| range.1 < seq),
            Some(_) => self.0.len(),
            None => 0,
        };
        match self.0.get(index).copied() {
            Some((left, right)) if left <= seq && seq < right => return false,
            Some((_, right)) if right == seq => {
                self.0[index].1 += 1;
                if let Some(&(left, right)) = self.0.get(index + 1)
                    && left == seq + 1
                {
                    self.0[index].1 = right;
                    self.0.remove(index + 1);
                }
            }
            Some((left, _)) if left == seq + 1 => self.0[index].0 = seq,
            _ => self.0.insert(index, (seq, seq + 1)),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Beside a set of packets: each is held once, ranges do not touch, and the first is taken off whole.
        #[test]
        fn ranges_hold_what_a_set_holds(packets in prop::collection::vec(1u32..40, 0..60), next in 0u32..40) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for seq in packets {
                prop_assert_eq!(ranges.insert(seq), set.insert(seq));
                prop_assert!(ranges.0.windows(2).all(|two| two[0].1 < two[1].0), "{:?}", ranges);
            }
            prop_assert_eq!((ranges.packets() as usize, ranges.is_empty()), (set.len(), set.is_empty()));
            for seq in 0..41 {
                let around = ranges.around(seq);
                prop_assert_eq!(around.is_some(), set.contains(&seq));
                prop_assert!(around.is_none_or(|(left, right)| (left..right).all(|seq| set.contains(&seq))));
            }
            let least = set.first().copied();
            let end = (next..).find(|seq| !set.contains(seq)).expect("a gap");
            prop_assert_eq!(ranges.take_from(next), (least == Some(next)).then_some(end));
            prop_assert_eq!(ranges.around(next).is_some(), set.contains(&next) && least != Some(next));
        }
    }
}
