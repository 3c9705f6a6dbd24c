//! Handoff times as users write them: one, `FIRST..LAST/STEP`, or several of these behind commas.

use segue_words::quantity::{self, TIME};
use segue_world::Nanos;

/// Handoff times, ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times(pub Vec<Nanos>);

/// Most handoff times.
const MOST_TIMES: u64 = 1_000_000;

impl Times {
    /// Reads one time, `FIRST..LAST/STEP`, or several of these behind commas, which increase.
    pub fn parse(word: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        for part in word.split(',') {
            let Self(more) = Self::range(part)?;
            if more.first() <= all.last() {
                return Err(format!(
                    "`{}` does not come after what precedes it; expected times that increase",
                    part.trim()
                ));
            }
            all.extend(more);
            if all.len() as u64 > MOST_TIMES {
                return Err(format!("more than {MOST_TIMES} handoff times; expected fewer"));
            }
        }
        Ok(Self(all))
    }

    /// Reads one time, or `FIRST..LAST/STEP`.
    fn range(word: &str) -> Result<Self, String> {
        let Some((first, rest)) = word.split_once("..") else {
            return Ok(Self(vec![time(word)?]));
        };
        let Some((last, step)) = rest.split_once('/') else {
            return Err("expected FIRST..LAST/STEP such as 0.1s..20s/0.1s".into());
        };
        let (first, last, step) = (time(first)?, time(last)?, time(step)?);
        if step == 0 {
            return Err("the step is 0; expected a positive time".into());
        }
        if first > last {
            return Err("the first time comes after the last; expected FIRST..LAST/STEP".into());
        }
        let count = (last - first) / step + 1;
        if count > MOST_TIMES {
            return Err(format!("{count} handoff times are too many; expected at most {MOST_TIMES}"));
        }
        Ok(Self((0..count).map(|k| first + k * step).collect()))
    }

    /// The same, so much later: a handoff before its connection is warm tells of its start.
    pub fn after(self, warm_up: Nanos) -> Self {
        Self(self.0.into_iter().map(|at| at.saturating_add(warm_up)).collect())
    }

    /// At most `most` of them, evenly spread: one from the middle of each of `most` equal parts.
    pub fn thinned(self, most: usize) -> Self {
        let Self(all) = self;
        Self(spread(all.len(), most).map(|index| all[index]).collect())
    }
}

/// The places of at most `most` of so many, evenly spread: one from the middle of each of `most` equal parts.
pub fn spread(all: usize, most: usize) -> impl Iterator<Item = usize> {
    let parts = most.min(all);
    (0..parts).map(move |part| (2 * part + 1) * all / (2 * parts))
}

/// Reads a time.
pub fn time(word: &str) -> Result<Nanos, String> {
    let word = word.trim();
    if quantity::is_below_resolution(word) {
        return Err(format!("`{word}` is below the resolution; expected 0s, or 1ns or more"));
    }
    if word.strip_prefix('-').is_some_and(|later| quantity::time(later).is_some()) {
        return Err(format!("`{word}` is a time below zero; expected 0s or later"));
    }
    quantity::time(word).ok_or_else(|| format!("`{word}` is not a time; expected {TIME}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_default_are_200() {
        let Times(all) = Times::parse("0.1s..20s/0.1s").unwrap();
        assert_eq!((all.len(), all[0], all[199]), (200, 100_000_000, 20_000_000_000));
        assert_eq!(Times::parse("8.2s").unwrap(), Times(vec![8_200_000_000]));
    }

    #[test]
    fn times_behind_commas() {
        let expected = Times([1, 5, 6, 7].map(|s| s * 1_000_000_000).to_vec());
        assert_eq!(Times::parse("1s, 5s..7s/1s").unwrap(), expected);
    }

    #[test]
    fn times_after_a_warm_up_are_as_much_later() {
        let times = Times::parse("0.5s..1s/0.5s").unwrap().after(5_000_000_000);
        assert_eq!(times, Times(vec![5_500_000_000, 6_000_000_000]));
        assert_eq!(Times(vec![u64::MAX]).after(1), Times(vec![u64::MAX]));
    }

    #[test]
    fn bad_times_say_what_was_expected() {
        for (word, part) in [
            ("20s..1s/1s", "comes after the last"),
            ("-5s", "`-5s` is a time below zero; expected 0s or later"),
            ("-soon", "`-soon` is not a time"),
            ("1s..20s", "FIRST..LAST/STEP"),
            ("1s..2s/0s", "step is 0"),
            ("x", "is not a time"),
            ("1s,", "is not a time"),
            ("5s,5s", "`5s` does not come after what precedes it"),
            ("1s..3s/1s,2s", "`2s` does not come after"),
            ("0.0001us", "below the resolution; expected 0s, or 1ns or more"),
            ("0s..1000s/1us", "too many"),
        ] {
            let message = Times::parse(word).unwrap_err();
            assert!(message.contains(part), "{word}: {message}");
        }
    }

    #[test]
    fn thinned_times_are_spread_evenly() {
        let thinned = |most| Times((0..10).collect()).thinned(most).0;
        assert_eq!(thinned(1), [5]);
        assert_eq!(thinned(5), [1, 3, 5, 7, 9]);
        assert_eq!(thinned(9).len(), 9);
        assert_eq!(thinned(99).len(), 10);
    }
}
