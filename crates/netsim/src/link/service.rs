//! How a link carries bytes: at a constant rate, as measured, as the weather is, as tokens or grants come, in
//! aggregates.

mod aggregate;
mod bucket;
mod grant;
mod varying;

pub use aggregate::Aggregates;
pub use bucket::Bucket;
pub use grant::Granted;
pub use varying::{Changes, Gaps, VaryingRate};

use crate::trace::OPPORTUNITY_BYTES;
use crate::{CapacityTrace, Nanos, SECOND};

/// A constant rate.
#[derive(Clone, Debug)]
pub struct Rate {
    bits_per_s: u64,
    /// The last size asked for and its time: packets of a direction are mostly of one size.
    last: (u32, Nanos),
}

impl Rate {
    /// A rate in bit/s.
    pub fn new(bits_per_s: u64) -> Self {
        Self { bits_per_s, last: (0, 0) }
    }

    /// The rate, bit/s.
    pub fn bits_per_s(&self) -> u64 {
        self.bits_per_s
    }

    /// Serialisation time of `bytes`, rounded to the nearest nanosecond.
    #[inline]
    pub fn time(&mut self, bytes: u32) -> Nanos {
        if self.last.0 != bytes {
            self.last = (bytes, self.compute(bytes));
        }
        self.last.1
    }

    #[inline(never)]
    fn compute(&self, bytes: u32) -> Nanos {
        let bits = u128::from(bytes) * 8;
        let rate = u128::from(self.bits_per_s);
        ((bits * u128::from(SECOND) + rate / 2) / rate) as Nanos
    }
}

/// How a link carries bytes.
#[derive(Clone, Debug)]
#[repr(u8)] // the variant in a byte of its own, read for every packet
pub enum Service {
    /// A constant rate.
    Fixed(Rate),
    /// Measured delivery opportunities.
    Trace {
        /// The opportunities.
        trace: CapacityTrace,
        /// Next opportunity that has bytes to give.
        next: u64,
        /// Bytes left in it.
        left: u32,
    },
    /// A rate that changes.
    Varying(VaryingRate),
    /// A shaper before a line of constant rate.
    Shaped {
        /// Rate of the line.
        line: Rate,
        /// Its tokens.
        bucket: Bucket,
    },
    /// A line that wins the channel for what waits.
    Aggregates(Aggregates),
    /// A line that is granted.
    Granted(Granted),
}

impl Service {
    /// A measured link.
    pub fn trace(trace: CapacityTrace) -> Self {
        Self::Trace { trace, next: 0, left: OPPORTUNITY_BYTES }
    }

    /// Mean rate, bit/s.
    pub fn mean_rate(&self) -> u64 {
        match self {
            Self::Fixed(rate) => rate.bits_per_s,
            Self::Trace { trace, .. } => trace.mean_rate(),
            Self::Varying(varying) => varying.mean_rate(),
            Self::Shaped { line, bucket } => line.bits_per_s.min(bucket.rate()),
            Self::Aggregates(line) => line.mean_rate(),
            Self::Granted(line) => line.rate(),
        }
    }

    /// Bytes that it can carry within `[from, to)`.
    pub fn bytes_between(&self, from: Nanos, to: Nanos) -> u64 {
        match self {
            Self::Fixed(rate) => {
                let bits = u128::from(to - from) * u128::from(rate.bits_per_s) / u128::from(SECOND);
                (bits / 8) as u64
            }
            Self::Trace { trace, .. } => trace.bytes_between(from, to),
            Self::Varying(varying) => varying.bytes_between(from, to),
            Self::Shaped { .. } | Self::Aggregates(_) | Self::Granted(_) => {
                let bits = u128::from(to - from) * u128::from(self.mean_rate()) / u128::from(SECOND);
                (bits / 8) as u64
            }
        }
    }

    /// Whether a transmission's time is known only when it begins.
    pub(super) fn decides_late(&self) -> bool {
        matches!(self, Self::Shaped { .. } | Self::Aggregates(_))
    }

    /// When a packet of `bytes` that reaches the server at `start` has left it.
    #[inline(always)] // on the path of every packet
    pub fn departure(&mut self, start: Nanos, bytes: u32) -> Nanos {
        match self {
            Self::Fixed(rate) => start + rate.time(bytes),
            _ => self.departure_of_another(start, bytes),
        }
    }

    /// The same where the rate is not constant.
    #[inline(never)] // or its registers would be saved for every packet of a constant rate
    fn departure_of_another(&mut self, start: Nanos, bytes: u32) -> Nanos {
        match self {
            Self::Fixed(rate) => start + rate.time(bytes),
            Self::Trace { trace, next, left } => opportunity(trace, next, left, start, bytes),
            Self::Varying(varying) => varying.departure(start, bytes),
            Self::Shaped { line, bucket } => {
                let begins = bucket.ready(start, bytes);
                bucket.take(begins, bytes);
                begins + line.time(bytes)
            }
            Self::Aggregates(line) => line.departure(start, bytes),
            Self::Granted(line) => line.departure(start, bytes),
        }
    }

    /// Gives back the opportunities after `now`. Bytes that a withdrawn packet has taken of earlier ones are used up.
    pub(super) fn rewind(&mut self, now: Nanos) {
        if let Self::Trace { trace, next, left } = self
            && trace.time_of(*next) > now
        {
            *next = trace.index_at(now + 1);
            *left = OPPORTUNITY_BYTES;
        }
    }
}

/// When a packet has left a measured link.
fn opportunity(trace: &CapacityTrace, next: &mut u64, left: &mut u32, start: Nanos, bytes: u32) -> Nanos {
    // Opportunities that passed while nothing waited are lost.
    if trace.time_of(*next) < start {
        *next = trace.index_at(start);
        *left = OPPORTUNITY_BYTES;
    }
    let mut need = bytes;
    while need > *left {
        need -= *left;
        *next += 1;
        *left = OPPORTUNITY_BYTES;
    }
    *left -= need;
    let departure = trace.time_of(*next);
    if *left == 0 {
        *next += 1;
        *left = OPPORTUNITY_BYTES;
    }
    departure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_of_the_bench() {
        // 1500 bytes at 6400 kbit/s take 1.875 ms, an ACK of 40 bytes at 200 kbit/s 1.6 ms.
        assert_eq!(Rate::new(6_400_000).time(1500), 1_875_000);
        assert_eq!(Rate::new(200_000).time(40), 1_600_000);
        assert_eq!(Rate::new(11_000_000).time(1500), 1_090_909);
    }

    #[test]
    fn capacity_of_a_rate() {
        let service = Service::Fixed(Rate::new(6_400_000));
        assert_eq!(service.bytes_between(1_000_000, 1_001_000_000), 800_000);
        assert_eq!(service.mean_rate(), 6_400_000);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_unused_ones_are_lost() {
        let trace = CapacityTrace::parse("1\n2\n3\n4\n5\n", 0).unwrap();
        let mut service = Service::trace(trace);
        let ms = 1_000_000;
        assert_eq!(service.departure(0, 40), ms);
        assert_eq!(service.departure(0, 1460), ms, "both fit into 1500 bytes");
        assert_eq!(service.departure(0, 1500), 2 * ms);
        assert_eq!(service.departure(2 * ms + 1, 40), 3 * ms);
        assert_eq!(service.departure(3 * ms, 1500), 4 * ms, "the rest of one, then the next");
        assert_eq!(service.departure(4 * ms + 1, 1500), 5 * ms, "what was left at 4 ms has passed");
    }
}
