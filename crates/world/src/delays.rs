//! Delays of many packets.

use segue_netsim::Nanos;

/// A histogram of delays with bins of 1 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    bins: Vec<u32>,
    count: u64,
}

impl Delays {
    pub(crate) fn add(&mut self, delay: Nanos) {
        // The longest queue of the slowest link: beyond a minute all is one.
        let bin = (delay / 1_000_000).min(60_000) as usize;
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.count += 1;
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(own, more)| *own += more);
        self.count += other.count;
    }

    /// The delay that a share of the packets does not exceed, s; bins count as their middle.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let bin = self.bins.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        })?;
        Some((bin as f64 + 0.5) / 1000.0)
    }
}
