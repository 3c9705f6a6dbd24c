//! `--handoffs` and `--every`: several handoffs in one run, in words.

use crate::bench_words::{EVERY, HANDOFFS};
use crate::request_error::RequestError;
use segue_world::{Kind, Nanos, SECOND, Series};

/// Most in a run.
const MOST: u32 = 1000;
/// Longest time between two.
const LONGEST: Nanos = 3600 * SECOND;
/// Least time that a link carries between two, our choice: the mobile would hardly have sent a notice over it.
const SHORTEST: Nanos = SECOND / 100;

fn refused(what: &'static str, problem: String) -> RequestError {
    RequestError::List { what, problem }
}

/// The handoffs of each run that these settings ask for.
pub(crate) fn read(settings: &[(String, String)]) -> Result<Series, RequestError> {
    let word = |key: &str| settings.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_str());
    let handoffs = word(HANDOFFS).map(number).transpose()?;
    let every = word(EVERY).map(time).transpose()?;
    match (handoffs.unwrap_or(1), every) {
        (1, None) => Ok(Series::default()),
        (1, Some(_)) => {
            let problem = "one handoff has none after it; expected --handoffs 2 or more beside it";
            Err(refused("--every", problem.into()))
        }
        (handoffs, Some(every)) => Ok(Series { handoffs, every }),
        (handoffs, None) => {
            let problem =
                format!("{handoffs} handoffs need a time between them; expected --every beside it: 15s");
            Err(refused("--handoffs", problem))
        }
    }
}

fn number(word: &str) -> Result<u32, RequestError> {
    let digits = Some(word).filter(|word| word.bytes().all(|digit| digit.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| refused("--handoffs", format!("bad `{word}`; expected a number of 1 to {MOST}")))
}

fn time(word: &str) -> Result<Nanos, RequestError> {
    let time = segue_words::quantity::time(word).filter(|time| (1..=LONGEST).contains(time));
    time.ok_or_else(|| {
        refused("--every", format!("bad `{word}`; expected a time above 0, at most 3600s: 15s"))
    })
}

/// How long after T a handoff still changes the links.
fn lasts(kind: Kind) -> Nanos {
    let both = kind.overlap().map(|overlap| overlap.length);
    both.or(kind.returns_after()).unwrap_or(kind.disconnection())
}

/// A handoff is over, and its link has carried, before the next begins; neighbours know one handoff.
pub(crate) fn check(series: Series, kinds: &[Kind], neighbours: bool) -> Result<(), RequestError> {
    if series.handoffs == 1 {
        return Ok(());
    }
    let longest = kinds.iter().copied().max_by_key(|&kind| lasts(kind));
    let least = longest.map_or(0, lasts) + SHORTEST;
    if series.every < least {
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        let without = match longest {
            Some(Kind::Bbm(time)) => {
                format!("one that is without a link for {} s and then needs one for", seconds(time))
            }
            Some(Kind::Soft(overlap)) => {
                format!("one that has both links for {} s and then needs one for", seconds(overlap.length))
            }
            Some(Kind::PingPong(stay)) => {
                format!("one that is back after {} s and then needs the link for", seconds(stay))
            }
            Some(Kind::Mbb) | None => "one that needs a link for".into(),
        };
        return Err(refused(
            "--every",
            format!(
                "the next handoff begins {} s after {without} {} s; expected at least {} s",
                seconds(series.every),
                seconds(SHORTEST),
                seconds(least)
            ),
        ));
    }
    if neighbours {
        let problem =
            "`neighbours` are counted after one handoff; expected no neighbours beside several handoffs";
        return Err(refused("--handoffs", problem.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[(&str, &str)]) -> Result<Series, String> {
        let words: Vec<_> = words.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        read(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn words_are_read() {
        assert_eq!(of(&[]), Ok(Series { handoffs: 1, every: 0 }));
        assert_eq!(of(&[("handoffs", "1")]), Ok(Series::default()));
        assert_eq!(
            of(&[("every", "1.5s"), ("handoffs", "3")]),
            Ok(Series { handoffs: 3, every: 1_500_000_000 })
        );
    }

    #[test]
    fn bad_words_are_refused() {
        for (words, said) in [
            (
                &[("handoffs", "0"), ("every", "1s")][..],
                "--handoffs: bad `0`; expected a number of 1 to 1000",
            ),
            (&[("handoffs", "1001"), ("every", "1s")], "bad `1001`"),
            (&[("handoffs", "+2"), ("every", "1s")], "bad `+2`"),
            (&[("handoffs", ""), ("every", "1s")], "bad ``"),
            (&[("handoffs", "2")], "2 handoffs need a time between them; expected --every"),
            (&[("handoffs", "2"), ("every", "0s")], "--every: bad `0s`; expected a time above 0"),
            (&[("handoffs", "2"), ("every", "3601s")], "bad `3601s`"),
            (&[("handoffs", "2"), ("every", "-1s")], "bad `-1s`"),
            (&[("every", "3s")], "--every: one handoff has none after it; expected --handoffs 2"),
            (&[("handoffs", "1"), ("every", "3s")], "one handoff has none after it"),
        ] {
            let error = of(words).unwrap_err();
            assert!(error.contains(said), "{words:?}: {error}");
        }
    }
}
