//! Gaps of a link that are announced: a satellite network that gives its terminals other satellites at known seconds.

use super::Error;
use segue_words::quantity;
use std::str::FromStr;
use std::time::Duration;

/// Gaps at equal distances, as `every 15s from 12s`. Times are since the Unix epoch; any of the gaps may be the first,
/// so that `12s` means the seconds 12, 27, 42 and 57 of every minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// From the begin of one to that of the next.
    pub every: Duration,
    /// Begin of one of them.
    pub from: Duration,
}

/// Freeze-TCP's reaction to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    gaps: Gaps,
    before: Duration,
    length: Duration,
}

/// One of its acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The window is closed, [`Announced::closed_for`] at most.
    Close,
    /// It is opened.
    Open,
}

impl Gaps {
    /// The first at `now` or later.
    pub fn next(&self, now: Duration) -> Duration {
        let (every, from) = (self.every.as_nanos(), self.from.as_nanos() % self.every.as_nanos());
        let behind = (now.as_nanos() + every - from) % every;
        let wait = if behind == 0 { 0 } else { every - behind };
        now + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }
}

impl FromStr for Gaps {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::User(format!("gaps '{text}': expected `every TIME from TIME`, as `every 15s from 12s`"))
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["every", every, "from", from] = words[..] else { return Err(wrong()) };
        let time = |word| quantity::time(word).map(Duration::from_nanos).ok_or_else(wrong);
        let gaps = Self { every: time(every)?, from: time(from)? };
        if gaps.every.is_zero() { Err(wrong()) } else { Ok(gaps) }
    }
}

impl Announced {
    /// The window closes `before` each gap and opens `length` after its begin.
    ///
    /// # Errors
    /// It would hardly ever be open: expected are at most half of the time between two gaps.
    pub fn new(gaps: Gaps, before: Duration, length: Duration) -> Result<Self, Error> {
        if before + length > gaps.every / 2 {
            return Err(Error::User(format!(
                "a window that is closed for {} ms every {} ms; expected at most half of the time",
                (before + length).as_millis(),
                gaps.every.as_millis()
            )));
        }
        Ok(Self { gaps, before, length })
    }

    /// The next act after `now`, and when it is due.
    pub fn next(&self, now: Duration) -> (Duration, Act) {
        // A little later than now: an act that is due now has been done.
        let now = now + Duration::from_nanos(1);
        let open = self.gaps.next(now.saturating_sub(self.length)) + self.length;
        let close = self.gaps.next(now + self.before) - self.before;
        if open < close { (open, Act::Open) } else { (close, Act::Close) }
    }

    /// From one gap to the next.
    pub fn every(&self) -> Duration {
        self.gaps.every
    }

    /// From closing to opening.
    pub fn closed_for(&self) -> Duration {
        self.before + self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn gaps_come_at_equal_distances() {
        let gaps: Gaps = "every 15s from 12s".parse().unwrap();
        assert_eq!(gaps, Gaps { every: 15 * SECOND, from: 12 * SECOND });
        for (now, next) in [(0, 12), (11, 12), (12, 12), (13, 27), (42, 42), (60, 72)] {
            assert_eq!(gaps.next(now * SECOND), next * SECOND, "{now}");
        }
        // a first one that is yet to come has others before it
        let late = Gaps { every: ms(1500), from: ms(4000) };
        assert_eq!([0, 1000, 1001].map(|now| late.next(ms(now))), [1000, 1000, 2500].map(ms));
    }

    #[test]
    fn words_that_are_no_gaps_are_refused() {
        for text in [
            "",
            "15s",
            "every 15s",
            "every 15s from",
            "every 15s from 12",
            "every 0s from 1s",
            "every x from 1s",
            "each 1s from 1s",
        ] {
            let error = text.parse::<Gaps>().unwrap_err();
            assert!(error.is_user() && error.to_string().contains("every 15s from 12s"), "{text}: {error}");
        }
    }

    #[test]
    fn the_window_closes_before_each_gap_and_opens_behind_it() {
        let gaps = Gaps { every: 15 * SECOND, from: 12 * SECOND };
        let announced = Announced::new(gaps, ms(150), ms(100)).unwrap();
        let mut now = Duration::ZERO;
        let mut acts = Vec::new();
        for _ in 0..4 {
            let (at, act) = announced.next(now);
            acts.push((at.as_millis(), act));
            now = at;
        }
        assert_eq!(
            acts,
            [(11_850, Act::Close), (12_100, Act::Open), (26_850, Act::Close), (27_100, Act::Open)]
        );
        assert_eq!(announced.closed_for(), ms(250));
        // who comes in between opens first
        assert_eq!(announced.next(ms(12_050)), (ms(12_100), Act::Open));
        assert!(Announced::new(gaps, 7 * SECOND, SECOND).unwrap_err().is_user());
    }
}
