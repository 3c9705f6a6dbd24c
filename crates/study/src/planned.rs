//! Schemes by name, with their settings and stacks, ready to be run.

use crate::bench_words::BenchWord;
use crate::request_error::RequestError;
use segue_handoff::{Scheme, SchemeError, regular};
use segue_tcp::StackProfile;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::{self as profiles, STACK_SETTINGS, stack_names};
use segue_words::did_you_mean;
use segue_world::access::{PRESETS, variants};
use segue_world::router_settings::ROUTER_SETTINGS;

/// A scheme, ready to be run.
#[derive(Clone, Debug)]
pub struct PlannedScheme {
    /// Its name as asked for.
    pub name: String,
    /// Fresh state.
    pub scheme: Scheme,
    /// The stack it runs on.
    pub stack: StackProfile,
    /// Which stack among the plan's.
    pub stack_index: usize,
    /// The settings that concern it.
    pub settings: Vec<(String, String)>,
}

/// Stack words beside the schemes: a stack for all in place of their own, and its congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackWords<'a> {
    /// `--stack`.
    pub stack: Option<&'a str>,
    /// `--cc`.
    pub cc: Option<&'a str>,
}

/// The schemes of these names in order, on one stack or on each one's own, and the distinct stacks among them.
/// A scheme that is named after a congestion control has that one on a stack that has a choice, whatever `asked` says.
/// One that needs a control has it unless another is asked for, which is refused.
/// A setting reaches the schemes and stacks that have it; who has it at all, [`check_key`] knows.
pub fn planned(
    names: &[String],
    asked: StackWords<'_>,
    settings: &[(String, String)],
) -> Result<(Vec<PlannedScheme>, Vec<StackProfile>), RequestError> {
    let cc = asked.cc.map(control_named).transpose()?;
    if let (Some(stack), Some(cc)) = (asked.stack.filter(|name| name.contains('/')), cc)
        && stack_named(stack)?.kernel.is_some_and(|kernel| kernel.control != cc)
    {
        let problem = format!("`{}` beside the stack `{stack}`; expected one of the two", cc.name());
        return Err(RequestError::List { what: "--cc", problem });
    }
    let mut schemes: Vec<PlannedScheme> = Vec::new();
    let mut stacks: Vec<StackProfile> = Vec::new();
    for name in names {
        if schemes.iter().any(|other| other.name == *name) {
            return Err(RequestError::List {
                what: "--schemes",
                problem: format!("`{name}` is given twice; expected it once"),
            });
        }
        // Building once without settings reports an unknown name first.
        Scheme::build(name, &[]).map_err(|error| of_other_kind(error, name))?;
        let known = Scheme::settings_of(name);
        let mut own: Vec<_> =
            settings.iter().filter(|(key, _)| known.iter().any(|s| s.name == key)).cloned().collect();
        let entry = Scheme::entry_of(name);
        let stack = asked.stack.unwrap_or(entry.map_or("ns2-sack1", |entry| entry.stack));
        let whole = asked.stack.is_some_and(|stack| stack.contains('/'));
        let mut stack = with_control(stack_named(stack)?, cc, whole, name)?;
        adjust(&mut stack, settings)?;
        // A kernel enacts actions as a kernel can.
        if stack.kernel.is_some()
            && known.iter().any(|s| s.name == "enact")
            && own.iter().all(|s| s.0 != "enact")
        {
            own.push(("enact".to_string(), "linux".to_string()));
        }
        let scheme = Scheme::build(name, &own)?;
        check_stack(name, &scheme, &stack)?;
        let stack_index = stacks.iter().position(|other| *other == stack).unwrap_or_else(|| {
            stacks.push(stack);
            stacks.len() - 1
        });
        own.extend(settings.iter().filter(|(key, _)| is_common(key)).cloned());
        schemes.push(PlannedScheme { name: name.clone(), scheme, stack, stack_index, settings: own });
    }
    for (key, _) in settings {
        let of_stacks = STACK_SETTINGS.iter().any(|s| s.name == key);
        if of_stacks && !stacks.iter().any(|stack| stack.has(key)) {
            let names: Vec<&str> = stacks.iter().map(|stack| stack.name).collect();
            let others = profiles::stacks().filter(|stack| stack.has(key)).map(|stack| stack.name);
            return Err(RequestError::List {
                what: "--set",
                problem: format!(
                    "`{key}` has no meaning on {}; expected a stack such as {}",
                    names.join(", "),
                    others.take(2).collect::<Vec<_>>().join(" or ")
                ),
            });
        }
    }
    Ok((schemes, stacks))
}

/// Whether the scheme of that name runs on this stack.
fn check_stack(name: &str, scheme: &Scheme, stack: &StackProfile) -> Result<(), RequestError> {
    if scheme.claim().is_some() && !can_be_claimed(stack) {
        let fit: Vec<_> = profiles::stacks().filter(can_be_claimed).map(|stack| stack.name).collect();
        return Err(RequestError::List {
            what: "--stack",
            problem: format!("`{name}` does not run on `{}`; expected {}", stack.name, fit.join(" or ")),
        });
    }
    let needs = Scheme::needs(name);
    if needs.met_by(stack) {
        return Ok(());
    }
    let control = stack.kernel.map_or(String::new(), |kernel| format!(" with {}", kernel.control.name()));
    Err(RequestError::List {
        what: "--stack",
        problem: format!("`{name}` does not run on `{}`{control}; expected {}", stack.name, needs.expected()),
    })
}

/// Whether some of the schemes, the stacks, the access routers or the bench, by `bench`, know the key.
pub fn check_key(key: &str, schemes: &[String], bench: &[BenchWord]) -> Result<(), RequestError> {
    let mut known: Vec<&str> = STACK_SETTINGS.iter().map(|s| s.name).collect();
    known.extend(ROUTER_SETTINGS.iter().map(|s| s.name));
    known.extend(bench.iter().map(|word| word.key));
    for scheme in schemes {
        known.extend(Scheme::settings_of(scheme).iter().map(|s| s.name));
    }
    if known.contains(&key) {
        return Ok(());
    }
    let has_it = |name: &&str| Scheme::settings_of(name).iter().any(|setting| setting.name == key);
    let other = Scheme::entries().into_iter().map(|entry| entry.name).find(has_it);
    let hint = other.map_or_else(|| did_you_mean(key, known), |name| format!("; `{name}` has it"));
    Err(RequestError::Setting { key: key.to_string(), hint })
}

/// Whether a scheme can send in place of a stack: it is told by SACK what has arrived, and can silence the stack.
fn can_be_claimed(stack: &StackProfile) -> bool {
    stack.sack_blocks > 0
}

/// Whether a key concerns stack, access routers or bench, and so every scheme.
fn is_common(key: &str) -> bool {
    let of_stack = STACK_SETTINGS.iter().any(|s| s.name == key);
    BenchWord::named(key).is_some() || of_stack || ROUTER_SETTINGS.iter().any(|s| s.name == key)
}

/// `--cc` beside schemes that are congestion controls themselves would do nothing, unless one of them is that very one.
pub fn check_control(names: &[String], cc: Option<&str>) -> Result<(), RequestError> {
    let Some(asked) = cc.map(control_named).transpose()? else { return Ok(()) };
    let own = |name: &String| regular::control(name);
    if names.iter().all(|name| own(name).is_some_and(|control| control != asked)) {
        let problem = format!(
            "`{}` reaches no scheme: each is a congestion control itself; expected the scheme `{0}`, or one that has no \
             control of its own, such as sack",
            asked.name()
        );
        return Err(RequestError::List { what: "--cc", problem });
    }
    Ok(())
}

fn stack_named(name: &str) -> Result<StackProfile, RequestError> {
    let names = stack_names;
    StackProfile::named(name).ok_or_else(|| RequestError::Stack {
        name: name.to_string(),
        expected: names().join(", "),
        hint: match CcName::named(&name.to_lowercase()) {
            Some(control) => format!(
                "; {0} is a congestion control: --stack linux-6.12/{0}, or the scheme {0}",
                control.name()
            ),
            None => of_quic(name).unwrap_or_else(|| did_you_mean(name, names())),
        },
    })
}

/// The error of a scheme, where the word is a link or a stack.
fn of_other_kind(error: SchemeError, word: &str) -> SchemeError {
    let is_link = || PRESETS.iter().any(|(preset, _)| *preset == word) || variants().any(|of| of.0 == word);
    match error {
        SchemeError::Unknown { name, expected, .. } if is_link() => {
            let hint = format!("; `{name}` is a link");
            SchemeError::Unknown { name, expected, hint }
        }
        SchemeError::Unknown { name, expected, .. } if StackProfile::named(word).is_some() => {
            let hint = format!("; `{name}` is a stack: --stack {name}");
            SchemeError::Unknown { name, expected, hint }
        }
        error => error,
    }
}

/// The hint for an unknown link whose word is a scheme or a stack.
pub fn where_it_belongs(word: &str) -> Option<String> {
    if let Some(hint) = of_quic(word) {
        return Some(hint);
    }
    let is_scheme = Scheme::build(word, &[]).is_ok();
    let option = match (is_scheme, StackProfile::named(word).is_some()) {
        (true, _) => "a scheme: --schemes",
        (_, true) => "a stack: --stack",
        _ => return None,
    };
    Some(format!("; `{word}` is {option} {word}"))
}

/// The hint for a transport that is no TCP.
fn of_quic(name: &str) -> Option<String> {
    let quic = "; all senders here are TCP's: the scheme quic-reset does what QUIC does on a new path";
    name.eq_ignore_ascii_case("quic").then(|| quic.into())
}

pub(crate) fn control_named(name: &str) -> Result<CcName, RequestError> {
    let names = || CcName::ALL.iter().map(|control| control.name());
    CcName::named(name).ok_or_else(|| RequestError::Control {
        name: name.to_string(),
        expected: names().collect::<Vec<_>>().join(", "),
        hint: of_quic(name).unwrap_or_else(|| did_you_mean(name, names())),
    })
}

/// The stack with the congestion control that the scheme's name says, or else `cc`, or else the one that the scheme
/// needs. The last is left out where the user has named a `whole` stack, control and all.
fn with_control(
    stack: StackProfile,
    cc: Option<CcName>,
    whole: bool,
    scheme: &str,
) -> Result<StackProfile, RequestError> {
    let needed = || Scheme::needs(scheme).control().filter(|_| !whole);
    let Some(control) = regular::control(scheme).or(cc).or_else(needed) else { return Ok(stack) };
    match stack.with_control(control) {
        Some(stack) => Ok(stack),
        None if cc.is_some() => Err(RequestError::List {
            what: "--cc",
            problem: format!(
                "stack `{}` has no choice of congestion control; expected the stack linux-6.12 or linux-6.18",
                stack.name
            ),
        }),
        // Reno is older than Linux: there it is regular TCP of the stack.
        None if control == CcName::Reno => Ok(stack),
        None => Err(RequestError::List {
            what: "--schemes",
            problem: format!(
                "stack `{}` has no congestion control `{scheme}`; expected the stack linux-6.12 or linux-6.18",
                stack.name
            ),
        }),
    }
}

/// Turns the stack's settings.
pub(crate) fn adjust(stack: &mut StackProfile, settings: &[(String, String)]) -> Result<(), RequestError> {
    for (key, value) in settings {
        if stack.has(key) {
            stack.set(key, value).map_err(|expected| RequestError::Value {
                key: key.clone(),
                value: value.clone(),
                expected: expected.to_string(),
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Misspelt names are guessed only if they are near a stack, setting or scheme.
    #[test]
    fn only_misspelt_words_are_guessed() {
        let stack = |name| stack_named(name).unwrap_err().to_string();
        let list = stack("linuks");
        for kernel in ["linux-6.12", "linux-6.18"] {
            assert!(list.contains(&format!(", {kernel}, {kernel}/cubic, {kernel}/reno, ")), "{list}");
        }
        assert!(stack("linuks").ends_with("; did you mean `linux`?"), "{}", stack("linuks"));
        assert!(stack("cubic").starts_with("unknown stack `cubic`; expected one of "), "{}", stack("cubic"));
        for control in ["cubic", "BBR"] {
            let own = format!("--stack linux-6.12/{}, or the scheme", control.to_lowercase());
            assert!(stack(control).contains(&own), "{}", stack(control));
            assert!(stack_named(&format!("linux-6.12/{}", control.to_lowercase())).is_ok());
        }
        let scheme = |name| {
            let error = Scheme::build(name, &[]).map(|_| ()).unwrap_err();
            of_other_kind(error, name).to_string()
        };
        assert!(scheme("5g-low").ends_with("; `5g-low` is a link"), "{}", scheme("5g-low"));
        assert!(scheme("rfc").ends_with("; `rfc` is a stack: --stack rfc"), "{}", scheme("rfc"));
        assert_eq!(where_it_belongs("near").as_deref(), Some("; `near` is a scheme: --schemes near"));
        assert_eq!(where_it_belongs("rfc").as_deref(), Some("; `rfc` is a stack: --stack rfc"));
        assert!(where_it_belongs("QUIC").is_some_and(|hint| hint.contains("quic-reset")));
        assert_eq!(where_it_belongs("wlan"), None);
        assert!(scheme("sak").ends_with("; did you mean `sack`?"), "{}", scheme("sak"));
        let key = |name| check_key(name, &[], &[]).unwrap_err().to_string();
        assert!(
            key("initial-windw").ends_with("; did you mean `initial-window`?"),
            "{}",
            key("initial-windw")
        );
        for said in [stack("cubic"), scheme("vegas"), key("pacing")] {
            assert!(!said.contains("did you mean"), "{said}");
        }
    }

    fn stacks_of(
        names: &[&str],
        stack: Option<&str>,
        cc: Option<&str>,
        settings: &[(&str, &str)],
    ) -> Result<Vec<StackProfile>, String> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let own = |&(key, value): &(&str, &str)| (key.to_string(), value.to_string());
        let settings: Vec<_> = settings.iter().map(own).collect();
        planned(&names, StackWords { stack, cc }, &settings)
            .map(|(schemes, _)| schemes.iter().map(|scheme| scheme.stack).collect())
            .map_err(|error| error.to_string())
    }

    fn names_of(names: &[&str], stack: Option<&str>, cc: Option<&str>) -> Result<Vec<&'static str>, String> {
        stacks_of(names, stack, cc, &[]).map(|stacks| stacks.iter().map(|stack| stack.name).collect())
    }

    #[test]
    fn a_congestion_control_is_a_part_of_the_stack_name() {
        let linux = Some("linux-6.12");
        for control in ["bbr", "bbr3", "cubic", "leocc", "reno"] {
            let name = format!("linux-6.12/{control}");
            for stack in ["linux-6.12", &name] {
                let found = names_of(&["etcp-v1"], Some(stack), Some(control));
                assert_eq!(found, Ok(vec![&*name]), "{stack}");
            }
            let other = if control == "reno" { "linux-6.12/bbr" } else { "linux-6.12/reno" };
            let both = names_of(&["etcp-v1"], Some(other), Some(control)).unwrap_err();
            assert!(both.contains("expected one of the two"), "{both}");
            assert_eq!(names_of(&["etcp-v1"], Some(&name), None), Ok(vec![&*name]));
        }
        assert_eq!(names_of(&["sack"], Some("linux-6.18"), Some("bbr")), Ok(vec!["linux-6.18/bbr"]));
        assert_eq!(names_of(&["sack"], linux, None), Ok(vec!["linux-6.12/cubic"]));
    }

    #[test]
    fn a_scheme_that_is_a_congestion_control_has_it() {
        let schemes = ["cubic", "bbr", "reno", "bbr3", "etcp-v1"];
        let own = |last| {
            ["linux-6.12/cubic", "linux-6.12/bbr", "linux-6.12/reno", "linux-6.12/bbr3", last].to_vec()
        };
        assert_eq!(names_of(&schemes, Some("linux-6.12"), None), Ok(own("linux-6.12/cubic")));
        assert_eq!(names_of(&schemes, Some("linux-6.12"), Some("reno")), Ok(own("linux-6.12/reno")));
        let alone = names_of(&["cubic", "bbr", "reno"], None, None);
        assert_eq!(alone, Ok(vec!["linux-6.12/cubic", "linux-6.12/bbr", "inet-reno"]));
        assert_eq!(names_of(&["reno"], Some("rfc"), None), Ok(vec!["rfc"]));
    }

    /// Nothing asked for is ignored: `rtt-jump` is BBR's, `satcp` CUBIC's, `leocc` LeoCC's.
    #[test]
    fn a_scheme_that_needs_a_control_refuses_another() {
        for (scheme, needed, other) in
            [("satcp", "cubic", "bbr"), ("leocc", "leocc", "bbr"), ("rtt-jump", "bbr", "cubic")]
        {
            let (own, foreign) = (format!("linux-6.12/{needed}"), format!("linux-6.12/{other}"));
            let linux = Some("linux-6.12");
            for (stack, cc) in [
                (None, None),
                (linux, None),
                (linux, Some(needed)),
                (None, Some(needed)),
                (Some(&*own), None),
            ] {
                assert_eq!(names_of(&[scheme], stack, cc), Ok(vec![&*own]), "{stack:?} {cc:?}");
            }
            for (stack, cc) in [(linux, Some(other)), (None, Some(other)), (Some(&*foreign), None)] {
                let error = names_of(&["sack", scheme], stack.or(linux), cc).unwrap_err();
                let said = format!(
                    "--stack: `{scheme}` does not run on `{foreign}` with {other}; expected {own} or"
                );
                assert!(error.starts_with(&said), "{error}");
            }
        }
    }

    #[test]
    fn stacks_without_a_choice_say_so() {
        for (names, stack, cc, said) in [
            (
                ["sack"],
                Some("rfc"),
                Some("bbr"),
                "--cc: stack `rfc` has no choice of congestion control; expected the stack linux-6.12 or linux-6.18",
            ),
            (["sack"], None, Some("bbr"), "--cc: stack `ns2-sack1` has no choice"),
            (["reno"], Some("rfc"), Some("reno"), "--cc: stack `rfc` has no choice"),
            (
                ["cubic"],
                Some("rfc"),
                None,
                "--schemes: stack `rfc` has no congestion control `cubic`; expected",
            ),
            (
                ["sack"],
                Some("linux-6.12"),
                Some("cubik"),
                "one of bbr, bbr3, cubic, leocc, reno; did you mean `cubic`?",
            ),
        ] {
            let error = names_of(&names, stack, cc).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_control_that_reaches_no_scheme_is_refused() {
        let check = |names: &[&str], cc| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            check_control(&names, Some(cc)).map_err(|error| error.to_string())
        };
        for (names, cc) in [(&["cubic"][..], "bbr"), (&["cubic", "bbr"], "reno")] {
            let error = check(names, cc).unwrap_err();
            assert!(error.starts_with(&format!("--cc: `{cc}` reaches no scheme")), "{error}");
        }
        for (names, cc) in
            [(&["cubic", "sack"][..], "bbr"), (&["cubic", "bbr"], "bbr"), (&["etcp-v1"], "bbr")]
        {
            assert_eq!(check(names, cc), Ok(()));
        }
    }

    #[test]
    fn jiffies_are_a_kernel_s() {
        let hz = |stack, value| stacks_of(&["sack"], Some(stack), None, &[("hz", value)]);
        let kernel = hz("linux-6.12", "1000").unwrap()[0].kernel.expect("a kernel");
        assert_eq!(kernel.hz, 1000);
        assert!(hz("rfc", "250").unwrap_err().contains("no meaning on rfc"));
        for value in ["1024", "0", "x"] {
            let error = hz("linux-6.12", value).unwrap_err();
            let expected =
                format!("setting `hz`: bad value `{value}`; expected 100, 250, 300 or 1000, on a stack");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
