//! Retransmission by the link itself (LTE's HARQ and RLC-AM, Wi-Fi's retries): delay in place of loss.
//!
//! Packets that leave within a millisecond are one block. A try of it fails with a probability; each failure costs a
//! delay. Since the link keeps the order, all that comes behind waits, too.

use crate::Nanos;
use crate::random::{Drawn, Weather, happens};

/// Time of a block, LTE's transmission interval.
const BLOCK: Nanos = 1_000_000;
/// Most retransmissions of a block: it gets through with the last.
const MOST: u64 = 7;

/// A link that repeats.
#[derive(Clone, Debug)]
pub struct Arq {
    per_million: u32,
    wait: Nanos,
    drawn: Drawn,
}

impl Arq {
    /// So many tries of a million fail, and each failure costs `wait` (ns). `number` is the link's own.
    pub fn new(per_million: u32, wait: Nanos, seed: u64, number: u64) -> Self {
        Self { per_million, wait, drawn: Drawn::new(Weather::new(BLOCK, seed, number)) }
    }

    /// The delay added at `time`, ns.
    #[inline]
    pub(super) fn at(&mut self, time: Nanos) -> Nanos {
        let Self { per_million, wait, drawn } = self;
        drawn.at(time, |random| {
            (0..MOST).take_while(|_| happens(random, *per_million)).count() as Nanos * *wait
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of blocks that wait k times is p^k (1 - p), here of a hundred thousand; four standard deviations.
    #[test]
    fn failures_are_geometric() {
        let mut arq = Arq::new(100_000, 8, 1, 0);
        let mut waits = [0_u32; 8];
        for block in 0..100_000 {
            waits[arq.at(block * BLOCK) as usize / 8] += 1;
        }
        for (failures, expected) in [90_000.0, 9_000.0, 900.0, 90.0_f64].into_iter().enumerate() {
            let deviation = (expected * (1.0 - expected / 1e5)).sqrt();
            assert!((f64::from(waits[failures]) - expected).abs() < 4.0 * deviation, "{waits:?}");
        }
        assert_eq!(Arq::new(1_000_000, 8, 1, 0).at(0), 7 * 8, "no block is lost");
    }
}
