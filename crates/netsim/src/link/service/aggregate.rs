//! Frame aggregation (A-MPDU, IEEE 802.11-2020, 9.7 and 10.12): the link is a batch server. Packets that wait when the
//! channel is won leave as one aggregate, and arrive when it has ended.
//!
//! Each aggregate costs a time of its own: DIFS, back-off, preamble, SIFS and the block acknowledgement. Each packet has
//! the headers of its frame. So the rate grows with the queue.

use super::Rate;
use crate::{Nanos, SECOND};

/// Bytes of a frame beside its packet: header, check sum, delimiter.
const FRAME_BYTES: u32 = 38;
/// Bytes of a packet of the mean rate.
const PACKET_BYTES: u32 = 1500;
/// An aggregate lasts so long at most: Linux's and many drivers' limit.
pub const LONGEST: Nanos = 4_000_000;

/// A line that carries aggregates.
#[derive(Clone, Debug)]
pub struct Aggregates {
    line: Rate,
    /// Most packets of one.
    most: u32,
    /// Time that each costs, ns.
    overhead: Nanos,
    /// The present one: its beginning, the end of its last packet, how many it has.
    begun: Nanos,
    last: Nanos,
    count: u32,
}

impl Aggregates {
    /// Aggregates of one to `most` packets over a line of `rate` (bit/s).
    pub fn new(rate: u64, most: u32, overhead: Nanos) -> Self {
        Self { line: Rate::new(rate), most: most.max(1), overhead, begun: 0, last: 0, count: 0 }
    }

    /// Most packets of an aggregate.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Rate of the packets of full aggregates, bit/s.
    pub fn mean_rate(&self) -> u64 {
        let each = self.line.clone().time(PACKET_BYTES + FRAME_BYTES);
        let fit = (LONGEST.saturating_sub(self.overhead) / each.max(1)).clamp(1, Nanos::from(self.most));
        let bits = u128::from(fit) * 8 * u128::from(PACKET_BYTES) * u128::from(SECOND);
        (bits / u128::from(self.overhead + fit * each)).max(1) as u64
    }

    /// The next packet begins another aggregate.
    pub(in crate::link) fn begin(&mut self) {
        self.count = 0;
    }

    /// Whether one more packet of so many bytes fits into the present aggregate.
    pub(in crate::link) fn fits(&mut self, bytes: u32) -> bool {
        let time = self.line.time(bytes + FRAME_BYTES);
        self.count < self.most && (self.count == 0 || self.last + time - self.begun <= LONGEST)
    }

    /// When the packet that comes to the server at `start` has been sent: as part of the present aggregate, if it can
    /// be. Asked packet by packet, without [`Self::begin`], aggregates are as full as they can be.
    pub(in crate::link) fn departure(&mut self, start: Nanos, bytes: u32) -> Nanos {
        let goes_on = self.count > 0 && start <= self.last && self.fits(bytes);
        if !goes_on {
            (self.begun, self.last, self.count) = (start, start + self.overhead, 0);
        }
        self.count += 1;
        self.last += self.line.time(bytes + FRAME_BYTES);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Nanos = 1_000;

    /// 300 Mbit/s: a frame of 1538 bytes takes 12,304 bits / 300 = 41.013 us. One packet takes 241 us, 49.8 Mbit/s;
    /// an aggregate of 32 takes 200 + 32 * 41.013 = 1512.4 us, 254 Mbit/s.
    #[test]
    fn the_rate_grows_with_the_aggregate() {
        for (most, last_us, mbit) in [(1, 241, 49.8), (32, 1512, 253.9)] {
            let mut line = Aggregates::new(300_000_000, most, 200 * US);
            let mut last = 0;
            for _ in 0..most {
                last = line.departure(last, 1500);
            }
            assert_eq!(last / US, last_us);
            assert!((line.mean_rate() as f64 / 1e6 - mbit).abs() < 0.05, "{}", line.mean_rate());
            let next = line.departure(last, 1500);
            assert_eq!(next - last, 241_013, "another aggregate");
        }
    }

    /// At 6 Mbit/s a frame of 1538 bytes takes 2051 us: one goes in 4 ms, two would take 4302 us. At 12 Mbit/s a frame
    /// takes 1025 us: three take 3276 us.
    #[test]
    fn an_aggregate_is_not_longer_than_its_limit() {
        for (mbit, fit) in [(6, 1), (12, 3)] {
            let mut line = Aggregates::new(mbit * 1_000_000, 64, 200 * US);
            line.departure(0, 1500);
            let more = (0..10).take_while(|_| {
                let fits = line.fits(1500);
                line.departure(0, 1500);
                fits
            });
            assert_eq!(more.count() + 1, fit);
            let expected = fit as f64 * 12_000e6 / (200.0 + fit as f64 * 12_304.0 / mbit as f64);
            assert!((line.mean_rate() as f64 - expected).abs() < 1_000.0, "{} {expected}", line.mean_rate());
        }
    }

    /// A packet that comes when the channel is free again begins an aggregate.
    #[test]
    fn an_idle_channel_is_won_anew() {
        let mut line = Aggregates::new(300_000_000, 64, 200 * US);
        let first = line.departure(0, 1500);
        assert_eq!(line.departure(first + 1, 1500), first + 1 + 241_013);
    }
}
