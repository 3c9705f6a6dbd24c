//! `--address`: handoffs that connections survive, and others, in words.

use crate::bench_words::{ADDRESS, NOTICE_DELAY, NOTICE_ERROR};
use crate::planned::PlannedScheme;
use crate::request_error::RequestError;
use segue_words::{Choice, did_you_mean};
use segue_world::{Address, Kind, NoticeMode, Routers};

fn refused(problem: String) -> RequestError {
    RequestError::List { what: "--address", problem }
}

/// The address that these settings ask for.
pub(crate) fn read(settings: &[(String, String)]) -> Result<Address, RequestError> {
    let Some((_, word)) = settings.iter().find(|(key, _)| key == ADDRESS) else { return Ok(Address::Keep) };
    Address::of(word).ok_or_else(|| {
        let hint = did_you_mean(word, Address::ALL.iter().map(|address| address.word()));
        refused(format!("bad `{word}`; expected keep or new{hint}"))
    })
}

/// The rest of a request.
pub(crate) struct Beside<'a> {
    pub kinds: &'a [Kind],
    pub notice: NoticeMode,
    pub settings: &'a [(String, String)],
    pub schemes: &'a [PlannedScheme],
    pub routers: &'a Routers,
    pub neighbours: bool,
    pub traffic: bool,
    pub handoffs: u32,
}

/// Connections that begin after the only handoff know nothing of it: what acts on those before has no place.
pub(crate) fn check(address: Address, beside: &Beside) -> Result<(), RequestError> {
    if address == Address::Keep {
        return Ok(());
    }
    let other = beside.kinds.iter().find(|kind| !matches!(kind, Kind::Mbb | Kind::Bbm(_)));
    if let Some(kind) = other.map(|kind| kind.word()) {
        return Err(refused(format!("`new` does not go with --kind {kind}; expected mbb or bbm beside it")));
    }
    let set = |key: &str| beside.settings.iter().any(|(other, _)| other == key);
    let in_band = matches!(beside.notice, NoticeMode::InBand { .. });
    for (given, what, expected) in [
        (beside.traffic, "--traffic", "long downloads without it"),
        (beside.neighbours, "--neighbours", "none"),
        (beside.handoffs > 1, "--handoffs", "one handoff"),
        (set(NOTICE_ERROR), "--notice-error, for nobody hears a notice", "none"),
        (set(NOTICE_DELAY), "notice-delay, for nobody hears a notice", "none"),
        (in_band, "--notice in-band, for nobody hears a notice", "no --notice"),
    ] {
        if given {
            return Err(refused(format!("`new` does not go with {what}; expected {expected} beside it")));
        }
    }
    let acts = beside.schemes.iter().find(|planned| {
        let (scheme, mobile) = (&planned.scheme, planned.scheme.mobile());
        let early = scheme.attends() || scheme.schedule().is_some() || mobile.foretells.is_some();
        let at_mobile = mobile.window.is_some() || mobile.alone.is_some() || mobile.phas.is_some();
        early || at_mobile || beside.routers.rule_for(scheme, beside.notice).is_some()
    });
    match acts {
        Some(planned) => Err(refused(format!(
            "`new` ends the connections that `{}` prepares or helps; expected schemes of senders that answer notices, \
             or regular TCP",
            planned.name
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let of = |word: &str| read(&[(ADDRESS.to_string(), word.to_string())]);
        assert_eq!(
            (read(&[]), of("keep"), of("new")),
            (Ok(Address::Keep), Ok(Address::Keep), Ok(Address::New))
        );
        let error = of("news").unwrap_err().to_string();
        assert_eq!(error, "--address: bad `news`; expected keep or new; did you mean `new`?");
    }
}
