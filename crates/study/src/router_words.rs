//! Settings of the access routers, in words; one that has nothing to act on is refused.

use crate::planned::PlannedScheme;
use crate::request_error::RequestError;
use segue_handoff::Holder;
use segue_world::router_settings::ROUTER_SETTINGS;
use segue_world::{NoticeMode, Routers};

/// Key of the routers' rule.
const BUFFER: &str = "router-buffer";
/// Key of what only a new router that holds packets has.
const HINT: &str = "handoff-hint";

/// The access routers with these settings, of which those that concern others are passed over.
pub fn routers(settings: &[(String, String)]) -> Result<Routers, RequestError> {
    let mut routers = Routers::default();
    for (key, value) in settings {
        routers.set(key, value).unwrap_or(Ok(())).map_err(|expected| RequestError::Value {
            key: key.clone(),
            value: value.clone(),
            expected: expected.to_string(),
        })?;
    }
    Ok(routers)
}

/// Refuses settings of routers that hold nothing: where no link breaks (`breaks`), and where neither a scheme nor
/// `router-buffer` has them hold packets. A user who says `router-buffer=off` knows it.
pub fn check_routers(
    settings: &[(String, String)],
    breaks: bool,
    notice: NoticeMode,
    schemes: &[PlannedScheme],
    routers: &Routers,
) -> Result<(), RequestError> {
    let said_off = settings.iter().any(|(key, value)| key == BUFFER && value == "off");
    if said_off {
        return Ok(());
    }
    let some = |holds: &dyn Fn(&PlannedScheme) -> bool| schemes.iter().any(holds);
    let foretold = |planned: &PlannedScheme| planned.scheme.mobile().foretells.is_some();
    let rule = |planned: &PlannedScheme| routers.rule_for(&planned.scheme, notice);
    let keys = settings.iter().filter(|(key, _)| ROUTER_SETTINGS.iter().any(|known| known.name == key));
    for (key, _) in keys {
        let (acts, expected) = match key.as_str() {
            _ if !breaks => (false, "--kind bbm beside it, for routers hold packets while there is no link"),
            BUFFER => (
                some(&|planned| planned.scheme.router().is_none()),
                "a scheme that brings no buffer of its own, such as newreno",
            ),
            HINT => (
                some(&|planned| {
                    foretold(planned) || rule(planned).is_some_and(|rule| rule.holder == Holder::New)
                }),
                "router-buffer=new-fcfd or new-lcfd beside it, or the scheme hn",
            ),
            _ => (
                some(&|planned| foretold(planned) || rule(planned).is_some()),
                "router-buffer beside it, or a scheme that brings a buffer, such as hn",
            ),
        };
        if !acts {
            let problem = format!("`{key}` has nothing to act on; expected {expected}");
            return Err(RequestError::List { what: "--set", problem });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planned::{StackWords, planned};

    fn of(names: &[&str], breaks: bool, words: &[(&str, &str)]) -> Result<(), String> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let words: Vec<_> = words.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let schemes = planned(&names, StackWords::default(), &words).unwrap().0;
        let routers = routers(&words).unwrap();
        check_routers(&words, breaks, NoticeMode::Instant, &schemes, &routers)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_setting_that_acts_is_taken() {
        for (names, words) in [
            (
                &["newreno"][..],
                &[("router-buffer", "new-lcfd"), ("handoff-hint", "1s"), ("tunnel", "1mbit/1ms")][..],
            ),
            (&["newreno"], &[("router-buffer", "previous-fcfd"), ("router-buffer-size", "8p")]),
            (&["newreno"], &[("router-buffer", "off"), ("router-buffer-size", "8p")]),
            (&["newreno", "hn"], &[("handoff-hint", "1s"), ("router-buffer-size", "8p")]),
            (&["newreno", "hn"], &[("router-buffer", "new-lcfd")]),
            (&["newreno"], &[("initial-window", "4")]),
        ] {
            assert_eq!(of(names, true, words), Ok(()), "{names:?} {words:?}");
        }
        assert_eq!(of(&["newreno"], false, &[("router-buffer", "off")]), Ok(()));
    }

    #[test]
    fn a_setting_without_effect_is_refused() {
        for (names, breaks, words, expected) in [
            (&["newreno", "hn"][..], false, &[("router-buffer", "new-lcfd")][..], "--kind bbm beside it"),
            (&["hn"], false, &[("handoff-hint", "1s")], "--kind bbm beside it"),
            (&["newreno"], true, &[("router-buffer-size", "8p")], "router-buffer beside it, or a scheme"),
            (&["newreno"], true, &[("tunnel", "1mbit/1ms")], "router-buffer beside it, or a scheme"),
            (
                &["newreno"],
                true,
                &[("router-buffer", "previous-lcfd"), ("handoff-hint", "1s")],
                "router-buffer=new-fcfd or new-lcfd beside it",
            ),
            (&["hn"], true, &[("router-buffer", "previous-lcfd")], "a scheme that brings no buffer"),
        ] {
            let error = of(names, breaks, words).unwrap_err();
            let key = words[words.len() - 1].0;
            let begins = format!("--set: `{key}` has nothing to act on; expected {expected}");
            assert!(error.starts_with(&begins), "{error}");
        }
    }
}
