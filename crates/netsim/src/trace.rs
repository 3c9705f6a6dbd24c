//! Measured links: capacity as delivery opportunities (mahimahi format) and a delay over time.

use crate::Nanos;
use std::sync::Arc;

/// Nanoseconds per millisecond, the unit of both file formats.
const MS: Nanos = 1_000_000;
/// Bytes that one delivery opportunity carries.
pub(crate) const OPPORTUNITY_BYTES: u32 = 1500;

/// Faults of a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// No line holds a number.
    #[error("the trace is empty; expected one time stamp in ms per line")]
    Empty,
    /// A line is not a number.
    #[error("line {line}: `{text}` is not a number; expected {expected}")]
    NotANumber {
        /// Line, from 1.
        line: usize,
        /// The text found there, cut to a readable length.
        text: String,
        /// The form that was expected.
        expected: &'static str,
    },
    /// An empty line before the last value, which mahimahi refuses, too (`link_queue.cc`).
    #[error("line {line} is empty; expected {expected}")]
    Hole {
        /// Line, from 1.
        line: usize,
        /// The form that was expected.
        expected: &'static str,
    },
    /// Time runs backwards.
    #[error("line {line}: {value} ms comes after {before} ms; time stamps must not decrease")]
    Unsorted {
        /// Line, from 1.
        line: usize,
        /// The offending stamp.
        value: u64,
        /// The stamp before it.
        before: u64,
    },
    /// The last stamp is 0, so that a repetition would take no time.
    #[error("the trace lasts 0 ms; the last time stamp, at which it repeats, must be positive")]
    NoDuration,
    /// A value beyond what a link can have.
    #[error("line {line}: {value} is out of range; expected {expected}")]
    OutOfRange {
        /// Line, from 1.
        line: usize,
        /// The offending value.
        value: String,
        /// The valid range.
        expected: &'static str,
    },
}

/// Lines up to the last that holds something, without what surrounds them.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.trim_end().lines().map(str::trim).enumerate()
}

/// Capacity of a measured link: instants at which 1500 bytes may leave, repeated at its end.
///
/// Source: the packet-delivery traces of mahimahi, one millisecond time stamp per opportunity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityTrace {
    /// Opportunities within one period, ms, non-decreasing.
    stamps_ms: Arc<[u32]>,
    period_ms: u64,
    /// Trace time at simulated time zero, ns.
    start: Nanos,
    /// Opportunities that pass before simulated time zero.
    first: u64,
}

impl CapacityTrace {
    /// Reads the text of a trace file; `start` is the trace time at simulated time zero.
    pub fn parse(text: &str, start: Nanos) -> Result<Self, TraceError> {
        let mut stamps: Vec<u32> = Vec::new();
        for (index, word) in lines(text) {
            if word.is_empty() {
                return Err(TraceError::Hole { line: index + 1, expected: "a time stamp in whole ms" });
            }
            let value: u64 = word.parse().map_err(|_| TraceError::NotANumber {
                line: index + 1,
                text: word.chars().take(40).collect(),
                expected: "a time stamp in whole ms",
            })?;
            let stamp = u32::try_from(value).map_err(|_| TraceError::OutOfRange {
                line: index + 1,
                value: value.to_string(),
                expected: "a time stamp below 2^32 ms",
            })?;
            if let Some(&before) = stamps.last()
                && stamp < before
            {
                return Err(TraceError::Unsorted { line: index + 1, value, before: before.into() });
            }
            stamps.push(stamp);
        }
        let &last = stamps.last().ok_or(TraceError::Empty)?;
        if last == 0 {
            return Err(TraceError::NoDuration);
        }
        let mut trace = Self { stamps_ms: stamps.into(), period_ms: last.into(), start, first: 0 };
        trace.first = trace.count_before(start);
        Ok(trace)
    }

    /// Opportunities within one period, ms, not decreasing; the last one is the period.
    pub fn stamps_ms(&self) -> &[u32] {
        &self.stamps_ms
    }

    /// Trace time at simulated time zero.
    pub fn start(&self) -> Nanos {
        self.start
    }

    /// Mean rate over one period, bit/s.
    pub fn mean_rate(&self) -> u64 {
        let bits = self.stamps_ms.len() as u64 * u64::from(OPPORTUNITY_BYTES) * 8;
        (bits * 1000 / self.period_ms).max(1)
    }

    /// Bytes that may leave within `[from, to)` of simulated time.
    pub fn bytes_between(&self, from: Nanos, to: Nanos) -> u64 {
        (self.index_at(to) - self.index_at(from)) * u64::from(OPPORTUNITY_BYTES)
    }

    /// Mean rate over `[from, to)` of simulated time, bit/s.
    pub fn rate_between(&self, from: Nanos, to: Nanos) -> u64 {
        let bits = u128::from(self.bytes_between(from, to)) * 8;
        (bits * u128::from(crate::SECOND) / u128::from((to - from).max(1))) as u64
    }

    /// Number of the first opportunity at or after simulated time `t`.
    pub fn index_at(&self, t: Nanos) -> u64 {
        self.count_before(t + self.start) - self.first
    }

    /// Simulated time of opportunity `index`.
    #[inline]
    pub fn time_of(&self, index: u64) -> Nanos {
        let n = self.stamps_ms.len() as u64;
        let index = index + self.first;
        let trace_time = (index / n * self.period_ms + u64::from(self.stamps_ms[(index % n) as usize])) * MS;
        trace_time - self.start
    }

    /// Opportunities before `trace_time`. The last stamp of a period falls on its very end.
    fn count_before(&self, trace_time: Nanos) -> u64 {
        let period = self.period_ms * MS;
        let rounds = trace_time.saturating_sub(1) / period;
        let within = trace_time - rounds * period;
        let before = self.stamps_ms.partition_point(|&s| Nanos::from(s) * MS < within);
        rounds * self.stamps_ms.len() as u64 + before as u64
    }
}

/// One-way delay of a measured link: a value per 10 ms, repeated at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    delays: Arc<[Nanos]>,
    start: Nanos,
}

/// Sampling interval of a delay trace.
const DELAY_STEP: Nanos = 10 * MS;

impl DelayTrace {
    /// Reads the text of a delay file (one delay in ms per line, decimals allowed); `start` is the
    /// trace time at simulated time zero.
    pub fn parse(text: &str, start: Nanos) -> Result<Self, TraceError> {
        let mut delays = Vec::new();
        for (index, word) in lines(text) {
            if word.is_empty() {
                return Err(TraceError::Hole { line: index + 1, expected: "a delay in ms" });
            }
            let value: f64 = word.parse().map_err(|_| TraceError::NotANumber {
                line: index + 1,
                text: word.chars().take(40).collect(),
                expected: "a delay in ms",
            })?;
            if !(0.0..=60_000.0).contains(&value) {
                return Err(TraceError::OutOfRange {
                    line: index + 1,
                    value: word.chars().take(40).collect(),
                    expected: "a delay of 0 to 60000 ms",
                });
            }
            delays.push((value * MS as f64).round() as Nanos);
        }
        if delays.is_empty() {
            return Err(TraceError::Empty);
        }
        Ok(Self { delays: delays.into(), start })
    }

    /// Delays of one period, one per 10 ms.
    pub fn delays(&self) -> &[Nanos] {
        &self.delays
    }

    /// Trace time at simulated time zero.
    pub fn start(&self) -> Nanos {
        self.start
    }

    /// Delay of what leaves at simulated time `t`.
    #[inline]
    pub fn at(&self, t: Nanos) -> Nanos {
        self.delays[((t + self.start) / DELAY_STEP) as usize % self.delays.len()]
    }

    /// Least delay.
    pub fn min(&self) -> Nanos {
        self.delays.iter().copied().min().unwrap_or(0)
    }

    /// Mean over one period.
    pub fn mean(&self) -> Nanos {
        self.delays.iter().sum::<Nanos>() / self.delays.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opportunities_repeat_and_start_anywhere() {
        // Three opportunities per 10 ms: at 2, 5 and 10 ms.
        let trace = CapacityTrace::parse("2\n5\n10\n", 0).unwrap();
        let times: Vec<_> = (0..5).map(|i| trace.time_of(i) / MS).collect();
        assert_eq!(times, [2, 5, 10, 12, 15]);
        assert_eq!(trace.index_at(5 * MS), 1);
        assert_eq!(trace.index_at(5 * MS + 1), 2);
        assert_eq!(trace.mean_rate(), 3_600_000);
        let shifted = CapacityTrace::parse("2\n5\n10\n", 4 * MS).unwrap();
        assert_eq!(shifted.time_of(0), MS);
        assert_eq!(shifted.index_at(MS), 0);
        assert_eq!(shifted.time_of(2), 8 * MS);
        // Two opportunities at one instant, and a repetition: eight of 1500 bytes in two periods.
        let doubled = CapacityTrace::parse("2\n5\n5\n10\n", 0).unwrap();
        assert_eq!(doubled.bytes_between(0, 20 * MS + 1), 8 * 1500);
        // Every opportunity of a 10 ms window counts once: 1,200,000 bit/s per opportunity.
        assert_eq!(trace.rate_between(0, 10 * MS), 2_400_000);
        assert_eq!(trace.rate_between(10 * MS, 20 * MS), 3_600_000);
    }

    #[test]
    fn index_and_time_are_inverse() {
        let trace = CapacityTrace::parse("0\n0\n3\n3\n7\n", 13 * MS).unwrap();
        for index in 0..40 {
            let t = trace.time_of(index);
            assert!(trace.index_at(t) <= index && trace.index_at(t + 1) > index);
        }
    }

    #[test]
    fn bad_traces_say_where() {
        assert_eq!(CapacityTrace::parse("\n", 0), Err(TraceError::Empty));
        assert_eq!(CapacityTrace::parse("0\n", 0), Err(TraceError::NoDuration));
        assert!(matches!(CapacityTrace::parse("1\n\n5\n", 0), Err(TraceError::Hole { line: 2, .. })));
        assert!(matches!(DelayTrace::parse("20\n \n5\n", 0), Err(TraceError::Hole { line: 2, .. })));
        // Blank lines at the end are none.
        assert_eq!(CapacityTrace::parse("1\n5\n\n \n", 0), CapacityTrace::parse("1\n5\n", 0));
        assert!(matches!(CapacityTrace::parse("1\nx\n", 0), Err(TraceError::NotANumber { line: 2, .. })));
        assert!(matches!(
            CapacityTrace::parse("5\n3\n", 0),
            Err(TraceError::Unsorted { line: 2, value: 3, before: 5 })
        ));
        assert!(matches!(CapacityTrace::parse("5000000000\n", 0), Err(TraceError::OutOfRange { .. })));
        assert!(matches!(DelayTrace::parse("1\n-2\n", 0), Err(TraceError::OutOfRange { line: 2, .. })));
        assert!(matches!(DelayTrace::parse("nan\n", 0), Err(TraceError::OutOfRange { .. })));
        assert_eq!(DelayTrace::parse("", 0), Err(TraceError::Empty));
    }

    #[test]
    fn delays_step_every_ten_ms_and_repeat() {
        let trace = DelayTrace::parse("20\n30.5\n", 0).unwrap();
        assert_eq!(trace.at(9_999_999), 20 * MS);
        assert_eq!(trace.at(10 * MS), 30_500_000);
        assert_eq!(trace.at(20 * MS), 20 * MS);
        assert_eq!(trace.mean(), 25_250_000);
    }
}
