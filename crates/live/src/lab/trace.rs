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

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// No line holds a number.
    #[error("the trace is empty; expected one number (ms) per line")]
    Empty,
    /// Not a time stamp.
    #[error("line {line}: `{text}` is not a time stamp; expected whole ms below 2^32")]
    NotANumber {
        /// From 1.
        line: usize,
        /// What stands there, cut to a readable length.
        text: String,
    },
    /// Not a delay.
    #[error("line {line}: `{text}` is not a delay; expected 0 to 60000 ms")]
    NotADelay {
        /// From 1.
        line: usize,
        /// What stands there, cut to a readable length.
        text: String,
    },
    /// Time runs backwards.
    #[error("line {line}: {value} ms comes after {before} ms; time stamps must not decrease")]
    Unsorted {
        /// From 1.
        line: usize,
        /// The offending stamp.
        value: u32,
        /// The one before it.
        before: u32,
    },
    /// A repetition would take no time.
    #[error("the trace lasts 0 ms; the last time stamp, at which it repeats, must be positive")]
    NoDuration,
}

impl CapacityTrace {
    /// Reads a trace; `start` is the trace time, in ns, at the laboratory's time zero.
    ///
    /// # Errors
    /// The first line that is no time stamp or is smaller than the one before it.
    pub fn parse(text: &str, start: Nanos) -> Result<Self, TraceError> {
        let mut stamps = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let word = line.trim();
            if word.is_empty() {
                continue;
            }
            let value: u32 = word.parse().map_err(|_| TraceError::NotANumber {
                line: index + 1,
                text: word.chars().take(40).collect(),
            })?;
            match stamps.last() {
                Some(&before) if value < before => {
                    return Err(TraceError::Unsorted { line: index + 1, value, before });
                }
                _ => stamps.push(value),
            }
        }
        let &last = stamps.last().ok_or(TraceError::Empty)?;
        if last == 0 {
            return Err(TraceError::NoDuration);
        }
        Ok(Self { stamps_ms: stamps.into(), period_ms: last.into(), start })
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
/// Most that a delay may be, ms.
const MOST_DELAY: f64 = 60_000.0;

impl DelayTrace {
    /// Reads one delay in ms per line, decimals allowed; `start` as of the capacity.
    ///
    /// # Errors
    /// The first line that is no delay of 0 to 60000 ms.
    pub fn parse(text: &str, start: Nanos) -> Result<Self, TraceError> {
        let mut delays = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let word = line.trim();
            match word.parse::<f64>() {
                _ if word.is_empty() => {}
                Ok(value) if (0.0..=MOST_DELAY).contains(&value) => {
                    delays.push((value * MS as f64).round() as Nanos);
                }
                _ => {
                    let text = word.chars().take(40).collect();
                    return Err(TraceError::NotADelay { line: index + 1, text });
                }
            }
        }
        if delays.is_empty() {
            return Err(TraceError::Empty);
        }
        Ok(Self { delays: delays.into(), start })
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
        let trace = CapacityTrace::parse("2\n5\n5\n10\n", 0).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|i| trace.time_of(i) / MS), [2, 5, 5, 10, 12, 15]);
        assert_eq!(trace.count_before(5 * MS), 1);
        assert_eq!(trace.count_before(5 * MS + 1), 3);
        assert_eq!(trace.count_before(10 * MS + 1), 4);
        assert_eq!(trace.bytes_between(0, 20 * MS + 1), 8 * 1500);
        assert_eq!(trace.mean_kbps(), 4 * 1500 * 8 / 10);
    }

    #[test]
    fn a_start_shifts_the_trace() {
        let trace = CapacityTrace::parse("2\n5\n10\n", 4 * MS).unwrap();
        let first = trace.count_before(0);
        assert_eq!(trace.time_of(first), MS);
        assert_eq!(trace.time_of(first + 2), 8 * MS);
    }

    #[test]
    fn a_delay_holds_for_ten_milliseconds() {
        let trace = DelayTrace::parse("20\n\n30.5\n", 15 * MS).unwrap();
        assert_eq!(
            [0, 4, 5, 14, 15].map(|ms| trace.at(ms * MS)),
            [30.5, 30.5, 20.0, 20.0, 30.5].map(|ms| (ms * 1e6) as Nanos)
        );
        let error = DelayTrace::parse("1\n-1\n", 0).unwrap_err().to_string();
        assert_eq!(error, "line 2: `-1` is not a delay; expected 0 to 60000 ms");
    }

    #[test]
    fn bad_lines_are_named() {
        let error = |text| CapacityTrace::parse(text, 0).unwrap_err().to_string();
        assert!(error("1\nx\n").starts_with("line 2: `x` is not a time stamp"));
        assert!(error("5\n4\n").starts_with("line 2: 4 ms comes after 5 ms"));
        assert!(error("\n").starts_with("the trace is empty"));
        assert!(error("0\n").starts_with("the trace lasts 0 ms"));
    }
}
