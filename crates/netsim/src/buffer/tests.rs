use super::*;
use crate::Slab;
use proptest::prelude::*;

/// Sends packets 0, 1, ... of these sizes to a buffer: which were dropped, in order, and which are held.
fn fill(capacity: Capacity, overflow: Overflow, sizes: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let mut slab = Slab::default();
    let ids: Vec<PacketId> = sizes.iter().map(|_| slab.insert(())).collect();
    let number = |id: PacketId| ids.iter().position(|other| *other == id).unwrap();
    let mut buffer = Buffer::new(capacity, overflow);
    let mut dropped = Vec::new();
    for (id, &size) in ids.iter().zip(sizes) {
        buffer.hold(*id, size, |victim| dropped.push(number(victim)));
    }
    let held: Vec<usize> = buffer.packets().map(number).collect();
    assert_eq!(buffer.len(), held.len());
    assert_eq!(buffer.bytes(), held.iter().map(|&k| u64::from(sizes[k])).sum::<u64>());
    (dropped, held)
}

/// Chou and Shin, section V-A: a window of 40 in a buffer of 32.
#[test]
fn fcfd_drops_the_oldest_and_lcfd_the_latest() {
    let window = [1500; 40];
    let (dropped, held) = fill(Capacity::Packets(32), Overflow::FCFD, &window);
    assert_eq!((dropped, held), ((0..8).collect(), (8..40).collect()));
    let (dropped, held) = fill(Capacity::Packets(32), Overflow::LCFD, &window);
    assert_eq!((dropped, held), ((32..40).collect(), (0..32).collect()));
}

/// In bytes, several small packets may have to go for a large one; one beyond the capacity never fits.
#[test]
fn capacity_in_bytes() {
    let sizes = [600, 600, 600, 1500, 1501];
    let (dropped, held) = fill(Capacity::Bytes(1800), Overflow::FCFD, &sizes[..4]);
    assert_eq!((dropped, held), (vec![0, 1, 2], vec![3]));
    let (dropped, held) = fill(Capacity::Bytes(1800), Overflow::LCFD, &sizes[..4]);
    assert_eq!((dropped, held), (vec![3], vec![0, 1, 2]));
    let (dropped, held) = fill(Capacity::Bytes(1500), Overflow::FCFD, &sizes[3..]);
    assert_eq!((dropped, held), (vec![0, 1], vec![]));
}

proptest! {
    /// Whatever comes is held or dropped, once; what is held keeps its order and fits.
    #[test]
    fn nothing_is_lost_from_the_books(
        sizes in proptest::collection::vec(40u32..=1500, 0..60),
        packets in proptest::option::of(0u32..20),
        bytes in 0u64..20_000,
        fcfd: bool,
    ) {
        let capacity = packets.map_or(Capacity::Bytes(bytes), Capacity::Packets);
        let overflow = if fcfd { Overflow::FCFD } else { Overflow::LCFD };
        let (dropped, held) = fill(capacity, overflow, &sizes);
        prop_assert!(held.windows(2).all(|pair| pair[0] < pair[1]));
        match capacity {
            Capacity::Packets(most) => prop_assert!(held.len() <= most as usize),
            Capacity::Bytes(most) => {
                prop_assert!(held.iter().map(|&k| u64::from(sizes[k])).sum::<u64>() <= most);
            }
        }
        let mut all: Vec<usize> = dropped.into_iter().chain(held).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..sizes.len()).collect::<Vec<_>>());
    }
}
