//! `--overlap`, `--soft` and `--return`: the times of soft handoffs and ping-pongs, in words.

use crate::bench_words::{OVERLAP, RETURN, SOFT};
use crate::request_error::RequestError;
use segue_words::{Choice, did_you_mean};
use segue_world::{Kind, Nanos, Overlap, SECOND, SoftWord};

/// Longest overlap, and longest stay.
const LONGEST: Nanos = 300 * SECOND;

fn refused(what: &'static str, problem: String) -> RequestError {
    RequestError::List { what, problem }
}

/// The kinds with the times that the settings give them. A word that no kind needs is refused.
pub(crate) fn read(kinds: &mut [Kind], settings: &[(String, String)]) -> Result<(), RequestError> {
    let word = |key: &str| settings.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_str());
    let usual = Overlap::default();
    let length = word(OVERLAP).map(|word| time("--overlap", word)).transpose()?;
    let way = word(SOFT).map(way).transpose()?;
    let stay = word(RETURN).map(|word| time("--return", word)).transpose()?;
    let has = |of: fn(&Kind) -> bool| kinds.iter().any(of);
    let soft = has(|kind| matches!(kind, Kind::Soft(_)));
    let ping_pong = has(|kind| matches!(kind, Kind::PingPong(_)));
    for (what, given, fits, kind) in [
        ("--overlap", length.is_some(), soft, "soft"),
        ("--soft", way.is_some(), soft, "soft"),
        ("--return", stay.is_some(), ping_pong, "ping-pong"),
    ] {
        if given && !fits {
            return Err(refused(
                what,
                format!("no handoff here is {kind}; expected --kind {kind} beside it"),
            ));
        }
    }
    for kind in kinds {
        match kind {
            Kind::Soft(overlap) => {
                let (length, way) = (length.unwrap_or(usual.length), way.unwrap_or(usual.way));
                *overlap = Overlap { length, way };
            }
            Kind::PingPong(after) => *after = stay.unwrap_or(usual.length),
            Kind::Mbb | Kind::Bbm(_) => {}
        }
    }
    Ok(())
}

fn time(what: &'static str, word: &str) -> Result<Nanos, RequestError> {
    let time = segue_words::quantity::time(word).filter(|time| (1..=LONGEST).contains(time));
    time.ok_or_else(|| refused(what, format!("bad `{word}`; expected a time above 0, at most 300s: 1s")))
}

fn way(word: &str) -> Result<SoftWord, RequestError> {
    SoftWord::of(word).ok_or_else(|| {
        let words = || SoftWord::ALL.iter().map(|way| way.word());
        let hint = did_you_mean(word, words());
        refused("--soft", format!("bad `{word}`; expected duplicate or split{hint}"))
    })
}

/// Refuses requests that have not been built for two links at once, and for a return.
pub(crate) fn check(kinds: &[Kind], neighbours: bool) -> Result<(), RequestError> {
    let special = kinds.iter().find(|kind| matches!(kind, Kind::Soft(_) | Kind::PingPong(_)));
    let Some(kind) = special.map(|kind| kind.word()) else { return Ok(()) };
    if neighbours {
        let problem = format!("`{kind}` does not go with --neighbours; expected mbb or bbm beside them");
        return Err(refused("--kind", problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kinds: &[Kind], words: &[(&str, &str)]) -> Result<Vec<Kind>, String> {
        let words: Vec<_> = words.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let mut kinds = kinds.to_vec();
        read(&mut kinds, &words).map_err(|error| error.to_string())?;
        Ok(kinds)
    }

    #[test]
    fn times_reach_their_kinds() {
        let soft = |length, way| Kind::Soft(Overlap { length, way });
        let asked = [Kind::Mbb, Kind::Soft(Overlap::default()), Kind::PingPong(1)];
        let usual = vec![Kind::Mbb, soft(SECOND, SoftWord::Duplicate), Kind::PingPong(SECOND)];
        assert_eq!(of(&asked, &[]), Ok(usual));
        let words = [("return", "300ms"), ("soft", "split"), ("overlap", "0.2s")];
        let given = vec![Kind::Mbb, soft(200_000_000, SoftWord::Split), Kind::PingPong(300_000_000)];
        assert_eq!(of(&asked, &words), Ok(given));
    }

    #[test]
    fn bad_words_are_refused() {
        let soft = Kind::Soft(Overlap::default());
        for (kinds, words, said) in [
            (&[soft][..], &[("overlap", "0s")][..], "--overlap: bad `0s`; expected a time above 0"),
            (&[soft], &[("overlap", "301s")], "bad `301s`"),
            (
                &[soft],
                &[("soft", "splt")],
                "--soft: bad `splt`; expected duplicate or split; did you mean `split`?",
            ),
            (&[Kind::Mbb], &[("soft", "split")], "--soft: no handoff here is soft; expected --kind soft"),
            (&[Kind::Mbb], &[("overlap", "1s")], "--overlap: no handoff here is soft"),
            (&[soft], &[("return", "1s")], "--return: no handoff here is ping-pong"),
            (&[Kind::PingPong(1)], &[("return", "soon")], "--return: bad `soon`"),
        ] {
            let error = of(kinds, words).unwrap_err();
            assert!(error.contains(said), "{words:?}: {error}");
        }
    }
}
