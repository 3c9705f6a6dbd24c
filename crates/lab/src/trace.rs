//! Measured links: capacity as the packet-delivery traces of mahimahi, and a delay over time.
//!
//! Capacity: one millisecond time stamp per opportunity of 1500 bytes, not decreasing; the last one is also the period after
//! which all repeat. Small packets share an opportunity, and what nothing waits for is lost.

use super::Nanos;
use std::sync::Arc;

/// Bytes that one opportunity carries.
pub const OPPORTUNITY: u32 = 1500;
const MS: Nanos = 1_000_000;

/// Instants at which 1500 bytes may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityTrace {
    stamps_ms: Arc<[u32]>,
    period_ms: u64,
    /// Trace time at the laboratory's time zero.
    start: Nanos,
}

impl CapacityTrace {
    /// Time stamps in ms, not decreasing, the last one positive; `start` is the trace time, in ns, at the laboratory's
    /// time zero. `None` without a positive last stamp.
    pub fn new(stamps_ms: impl Into<Arc<[u32]>>, start: Nanos) -> Option<Self> {
        let stamps_ms = stamps_ms.into();
        let period_ms = stamps_ms.last().copied().filter(|&last| last > 0)?.into();
        Some(Self { stamps_ms, period_ms, start })
    }

    /// Opportunities before the laboratory's time `t`. The last stamp of a period falls on its very end.
    pub fn count_before(&self, t: Nanos) -> u64 {
        let t = t + self.start;
        let period = self.period_ms * MS;
        let rounds = t.saturating_sub(1) / period;
        let within = t - rounds * period;
        let before = self.stamps_ms.partition_point(|&stamp| Nanos::from(stamp) * MS < within);
        rounds * self.stamps_ms.len() as u64 + before as u64
    }

    /// When opportunity `index` comes, in the laboratory's time; one of before time zero counts as zero.
    pub fn time_of(&self, index: u64) -> Nanos {
        let count = self.stamps_ms.len() as u64;
        let stamp = self.stamps_ms[(index % count) as usize];
        ((index / count * self.period_ms + u64::from(stamp)) * MS).saturating_sub(self.start)
    }

    /// Bytes that may leave within `[from, to)`.
    pub fn bytes_between(&self, from: Nanos, to: Nanos) -> u64 {
        (self.count_before(to) - self.count_before(from)) * u64::from(OPPORTUNITY)
    }

    /// Mean over one period, kbit/s.
    pub fn mean_kbps(&self) -> u64 {
        (self.stamps_ms.len() as u64 * u64::from(OPPORTUNITY) * 8 / self.period_ms).max(1)
    }
}

/// One-way delay of a measured link: a value in ms per 10 ms, repeated at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    delays: Arc<[Nanos]>,
    /// Trace time at the laboratory's time zero.
    start: Nanos,
}

/// Between two values of a delay trace.
const DELAY_STEP: Nanos = 10 * MS;
impl DelayTrace {
    /// Delays in ns; `start` as of the capacity. `None` without any.
    pub fn new(delays: impl Into<Arc<[Nanos]>>, start: Nanos) -> Option<Self> {
        let delays = delays.into();
        (!delays.is_empty()).then_some(Self { delays, start })
    }

    /// Delay of what leaves at `t` of the laboratory's time.
    pub fn at(&self, t: Nanos) -> Nanos {
        self.delays[((t + self.start) / DELAY_STEP) as usize % self.delays.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opportunities_repeat_at_the_last_stamp() {
        let trace = CapacityTrace::new([2, 5, 5, 10], 0).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|i| trace.time_of(i) / MS), [2, 5, 5, 10, 12, 15]);
        assert_eq!(trace.count_before(5 * MS), 1);
        assert_eq!(trace.count_before(5 * MS + 1), 3);
        assert_eq!(trace.count_before(10 * MS + 1), 4);
        assert_eq!(trace.bytes_between(0, 20 * MS + 1), 8 * 1500);
        assert_eq!(trace.mean_kbps(), 4 * 1500 * 8 / 10);
    }

    #[test]
    fn a_start_shifts_the_trace() {
        let trace = CapacityTrace::new([2, 5, 10], 4 * MS).unwrap();
        let first = trace.count_before(0);
        assert_eq!(trace.time_of(first), MS);
        assert_eq!(trace.time_of(first + 2), 8 * MS);
    }

    #[test]
    fn a_delay_holds_for_ten_milliseconds() {
        let trace = DelayTrace::new([20 * MS, 30 * MS], 15 * MS).unwrap();
        assert_eq!([0, 4, 5, 14, 15].map(|ms| trace.at(ms * MS)), [30, 30, 20, 20, 30].map(|ms| ms * MS));
    }

    #[test]
    fn a_trace_without_duration_is_none() {
        assert_eq!(CapacityTrace::new([], 0), None);
        assert_eq!(CapacityTrace::new([0, 0], 0), None);
        assert_eq!(DelayTrace::new([], 0), None);
    }
}
