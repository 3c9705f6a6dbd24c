//! A token bucket (`sch_tbf`): what has been saved up goes at the link's rate, then all waits for tokens. The same
//! bucket polices where nothing waits (`act_police`).

use crate::{Nanos, SECOND};

/// A bucket of tokens, one for a byte. It begins full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// bit/s.
    rate: u64,
    /// Bytes that it holds.
    burst: u32,
    /// When it will be full again if nothing is taken.
    full_at: Nanos,
}

impl Bucket {
    /// A full bucket that gets `rate` (bit/s) and holds `burst` bytes.
    pub fn new(rate: u64, burst: u32) -> Self {
        Self { rate, burst, full_at: 0 }
    }

    /// Rate at which tokens come, bit/s.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Bytes that it holds.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// Time in which so many tokens come.
    fn time(&self, bytes: u32) -> Nanos {
        let bits = u128::from(bytes) * 8 * u128::from(SECOND);
        bits.div_ceil(u128::from(self.rate)) as Nanos
    }

    /// When there are enough tokens for `bytes`, from `now` on. A packet larger than the bucket needs a full one.
    pub fn ready(&self, now: Nanos, bytes: u32) -> Nanos {
        let short = self.time(bytes.min(self.burst));
        let whole = self.time(self.burst);
        now.max((self.full_at + short).saturating_sub(whole))
    }

    /// Takes tokens at `now`, when they are ready.
    pub fn take(&mut self, now: Nanos, bytes: u32) {
        self.full_at = self.full_at.max(now) + self.time(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// 8 Mbit/s, a byte each us, and 3000 bytes: two packets of 1500 at once, then one each 1.5 ms. After 4 ms of rest
    /// there are tokens for two again.
    #[test]
    fn a_burst_and_then_the_rate() {
        let mut bucket = Bucket::new(8_000_000, 3000);
        let mut now = 0;
        let mut times = Vec::new();
        for _ in 0..4 {
            now = bucket.ready(now, 1500);
            bucket.take(now, 1500);
            times.push(now);
        }
        assert_eq!(times, [0, 0, 3 * MS / 2, 3 * MS]);
        now += 4 * MS;
        assert_eq!(bucket.ready(now, 1500), now);
        bucket.take(now, 1500);
        assert_eq!(bucket.ready(now, 1500), now);
        bucket.take(now, 1500);
        assert_eq!(bucket.ready(now, 40), now + 40_000);
        assert_eq!(bucket.ready(now + 10 * MS, 9000), now + 10 * MS, "larger than the bucket");
    }
}
