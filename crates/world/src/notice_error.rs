//! Notices that err (docs/reference/bench.md). They say how far the rate and the delay that a mobile tells of
//! its new link may be from the truth. They also say how late it may tell them. One draw for each handoff, whatever
//! hears it.

use crate::random::{Random, Stream};
use segue_handoff::Link;
use segue_netsim::{Nanos, SECOND};
use segue_words::{did_you_mean, quantity};
use std::fmt;
use std::str::FromStr;

/// Thousandths.
const ONE: u64 = 1_000;
/// Largest factor of the rate.
const MOST_RATE: u64 = 1_000;
/// Largest error of the delay.
const MOST_DELAY: Nanos = 10 * SECOND;
/// Latest notice.
const MOST_LATE: Nanos = 100 * SECOND;

/// The parts, each with its form.
const PARTS: [(&str, &str); 3] = [
    ("rate", "rate=2x, a factor of 1x to 1000x"),
    ("delay", "delay=30ms, a time up to 10s"),
    ("late", "late=100ms, a time up to 100s"),
];

/// How far notices may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeError {
    /// The told rate is within this factor of the true one, either way; thousandths.
    rate: u64,
    /// The told delay is within so much of the true one.
    delay: Nanos,
    /// The notice comes at most so much later.
    late: Nanos,
}

/// Notices tell the truth at once.
impl Default for NoticeError {
    fn default() -> Self {
        Self { rate: ONE, delay: 0, late: 0 }
    }
}

/// A mistake in the words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoticeErrorWords {
    /// No such part.
    #[error("unknown part `{part}`; expected rate=2x, delay=30ms, late=100ms or some of them{hint}")]
    Unknown {
        /// The part.
        part: String,
        /// The most similar, in words.
        hint: String,
    },
    /// A part that is given twice.
    #[error("`{part}=` is given twice; expected it once")]
    Twice {
        /// The part.
        part: &'static str,
    },
    /// A part without any value.
    #[error("`{part}` has no value; expected {expected}")]
    Missing {
        /// The part.
        part: &'static str,
        /// The valid form and range.
        expected: &'static str,
    },
    /// A part without a value in its range.
    #[error("bad {part} `{value}`; expected {expected}")]
    Value {
        /// The part.
        part: &'static str,
        /// Its value.
        value: String,
        /// The valid form and range.
        expected: &'static str,
    },
}

impl FromStr for NoticeError {
    type Err = NoticeErrorWords;

    fn from_str(words: &str) -> Result<Self, Self::Err> {
        let mut error = Self::default();
        let mut named: Vec<&str> = Vec::new();
        for word in words.split(',') {
            let (part, value) = word.split_once('=').unwrap_or((word, ""));
            let Some(&(part, form)) = PARTS.iter().find(|(name, _)| *name == part) else {
                let hint = did_you_mean(part, PARTS.map(|(name, _)| name));
                return Err(NoticeErrorWords::Unknown { part: part.to_string(), hint });
            };
            if named.contains(&part) {
                return Err(NoticeErrorWords::Twice { part });
            }
            named.push(part);
            if value.is_empty() {
                return Err(NoticeErrorWords::Missing { part, expected: form });
            }
            let too_small = part != "rate" && quantity::is_below_resolution(value);
            let expected = if too_small { "0s, or 1ns or more, which is the resolution" } else { form };
            let time = |most| quantity::time(value).filter(|&time| time <= most && !too_small);
            let read = match part {
                "rate" => factor(value).map(|rate| error.rate = rate),
                "delay" => time(MOST_DELAY).map(|delay| error.delay = delay),
                _ => time(MOST_LATE).map(|late| error.late = late),
            };
            read.ok_or_else(|| NoticeErrorWords::Value { part, value: value.to_string(), expected })?;
        }
        Ok(error)
    }
}

/// `2x`, in thousandths.
fn factor(word: &str) -> Option<u64> {
    let factor = quantity::decimal(word.strip_suffix(['x', 'X'])?, ONE)?;
    (ONE..=MOST_RATE * ONE).contains(&factor).then_some(factor)
}

/// The parts that are not naught, as they are read.
impl fmt::Display for NoticeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.rate > ONE {
            parts.push(format!("rate={}x", self.rate as f64 / ONE as f64));
        }
        for (name, time) in [("delay", self.delay), ("late", self.late)] {
            if time > 0 {
                parts.push(format!("{name}={}ms", time as f64 / 1e6));
            }
        }
        f.write_str(&parts.join(","))
    }
}

/// One notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The new link as it is told.
    pub new_link: Link,
    /// So much later than a notice comes otherwise.
    pub late: Nanos,
}

impl NoticeError {
    /// Whether notices tell the truth at once.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The notice of the handoff to `new_link` that begins at `at`. The draws of the three parts are independent of
    /// each other: a part has the same one whatever the others are.
    pub fn told(&self, seed: u64, at: Nanos, new_link: Link) -> Told {
        if self.is_none() {
            return Told { new_link, late: 0 };
        }
        let mut random = Random::new(seed, Stream::Notice(at));
        let [rate, delay, late] = [(); 3].map(|()| random.unit());
        let either_way = |unit: f64| 2.0 * unit - 1.0;
        let factor = libm::exp(either_way(rate) * libm::log(self.rate as f64 / ONE as f64));
        let rate_kbps = libm::round(f64::from(new_link.rate_kbps) * factor).clamp(1.0, f64::from(u32::MAX));
        let shift_us = libm::round(either_way(delay) * self.delay as f64 / 1e3);
        let delay_us = (f64::from(new_link.delay_us) + shift_us).clamp(0.0, f64::from(u32::MAX));
        Told {
            new_link: Link { rate_kbps: rate_kbps as u32, delay_us: delay_us as u32 },
            late: libm::round(late * self.late as f64) as Nanos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::tests::assert_distributed;

    fn error(words: &str) -> NoticeError {
        words.parse().unwrap_or_else(|error| panic!("{words}: {error}"))
    }

    const TRUE: Link = Link { rate_kbps: 1_000_000, delay_us: 40_000 };

    #[test]
    fn words_are_read_and_written() {
        let all = NoticeError { rate: 2_000, delay: 30_000_000, late: 100_000_000 };
        assert_eq!(error("rate=2x,delay=30ms,late=100ms"), all);
        assert_eq!(error("late=0.1s,rate=2.0X,delay=30ms"), all);
        for words in ["rate=2x,delay=30ms,late=100ms", "rate=1.25x", "late=0.5ms", "delay=10000ms"] {
            assert_eq!(error(words).to_string(), words);
        }
        assert!(error("rate=1x,delay=0s").is_none() && !error("late=1ms").is_none());
    }

    #[test]
    fn bad_words_are_refused() {
        for (words, said) in [
            ("", "unknown part ``; expected rate=2x, delay=30ms, late=100ms or some of them"),
            ("rat=2x", "did you mean `rate`?"),
            ("rate=2x;delay=3ms", "bad rate `2x;delay=3ms`; expected rate=2x, a factor of 1x to 1000x"),
            ("rate=0.99x", "bad rate `0.99x`; expected"),
            ("rate=1001x", "bad rate `1001x`"),
            ("rate=2", "bad rate `2`"),
            ("rate", "`rate` has no value; expected rate=2x, a factor of 1x to 1000x"),
            ("late=", "`late` has no value; expected late=100ms"),
            ("delay=-3ms", "bad delay `-3ms`; expected delay=30ms, a time up to 10s"),
            ("delay=11s", "bad delay `11s`"),
            ("late=0.0001us", "bad late `0.0001us`; expected 0s, or 1ns or more, which is the resolution"),
            ("delay=0.1ns", "bad delay `0.1ns`; expected 0s, or 1ns or more"),
            ("late=101s", "bad late `101s`; expected late=100ms, a time up to 100s"),
            ("rate=2x,rate=2x", "`rate=` is given twice; expected it once"),
            ("rate=2x,", "unknown part ``"),
        ] {
            let refused = words.parse::<NoticeError>().unwrap_err().to_string();
            assert!(refused.contains(said), "{words}: {refused}");
        }
    }

    /// The logarithm of the factor is uniform, and so are what is added to the delay and the lateness.
    #[test]
    fn errors_are_spread_as_documented() {
        let error = error("rate=4x,delay=30ms,late=100ms");
        let told: Vec<Told> = (0..20_000).map(|n| error.told(3, n * 100_000_000, TRUE)).collect();
        let all = |of: fn(&Told) -> f64| told.iter().map(of).collect::<Vec<f64>>();
        let share = |x: f64, least: f64, most: f64| ((x - least) / (most - least)).clamp(0.0, 1.0);
        let factors = all(|told| (f64::from(told.new_link.rate_kbps) / 1e6).log2());
        assert_distributed(factors, |x| share(x, -2.0, 2.0));
        assert_distributed(all(|told| f64::from(told.new_link.delay_us)), |x| share(x, 10_000.0, 70_000.0));
        assert_distributed(all(|told| told.late as f64), |x| share(x, 0.0, 1e8));
    }

    #[test]
    fn a_told_link_is_never_impossible() {
        let error = error("rate=1000x,delay=10s");
        for n in 0..2_000 {
            let slow = error.told(1, n, Link { rate_kbps: 1, delay_us: 1 }).new_link;
            assert!(slow.rate_kbps >= 1 && slow.delay_us <= 10_000_001);
            let fast = error.told(1, n, Link { rate_kbps: u32::MAX, delay_us: u32::MAX }).new_link;
            assert!(fast.rate_kbps >= u32::MAX / 1001);
        }
    }

    /// A part keeps its draw whatever the others are; handoffs and seeds have draws of their own.
    #[test]
    fn parts_are_drawn_alone() {
        let told = |words: &str, seed, at| error(words).told(seed, at, TRUE);
        let all = told("rate=2x,delay=30ms,late=100ms", 5, 700);
        assert_eq!(told("rate=2x", 5, 700).new_link.rate_kbps, all.new_link.rate_kbps);
        assert_eq!(told("delay=30ms", 5, 700).new_link.delay_us, all.new_link.delay_us);
        assert_eq!(told("late=100ms", 5, 700), Told { new_link: TRUE, late: all.late });
        assert_ne!(all, told("rate=2x,delay=30ms,late=100ms", 5, 701));
        assert_ne!(all, told("rate=2x,delay=30ms,late=100ms", 6, 700));
        assert_eq!(told("rate=1x", 5, 700), Told { new_link: TRUE, late: 0 });
    }
}
