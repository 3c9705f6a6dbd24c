//! Schemes by name, with their settings and stacks, ready to be run.

use crate::request_error::{NOTICE_DELAY, RequestError};
use segue_handoff::Scheme;
use segue_tcp::StackProfile;
use segue_tcp::profile::{self as profiles, STACK_SETTINGS, stacks};
use segue_words::did_you_mean;
use segue_world::Routers;
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

/// The schemes of these names in order, on one stack or on each one's own, and the distinct stacks among them.
/// A setting reaches the schemes and stacks that have it; who has it at all, [`check_key`] knows.
pub fn planned(
    names: &[String],
    stack: Option<&str>,
    settings: &[(String, String)],
) -> Result<(Vec<PlannedScheme>, Vec<StackProfile>), RequestError> {
    let mut schemes: Vec<PlannedScheme> = Vec::new();
    let mut stacks: Vec<StackProfile> = Vec::new();
    for name in names {
        if schemes.iter().any(|other| other.name == *name) {
            return Err(RequestError::List {
                what: "--schemes",
                problem: format!("`{name}` stands there twice"),
            });
        }
        // Building once without settings reports an unknown name first.
        Scheme::build(name, &[])?;
        let known = Scheme::settings_of(name);
        let mut own: Vec<_> =
            settings.iter().filter(|(key, _)| known.iter().any(|s| s.name == key)).cloned().collect();
        let entry = Scheme::entry_of(name);
        let stack = stack_named(stack.unwrap_or(entry.map_or("ns2-sack1", |entry| entry.stack)), settings)?;
        // What a kernel is asked for, it does as a kernel can.
        if stack.kernel.is_some()
            && known.iter().any(|s| s.name == "enact")
            && own.iter().all(|s| s.0 != "enact")
        {
            own.push(("enact".to_string(), "linux".to_string()));
        }
        let scheme = Scheme::build(name, &own)?;
        if scheme.claim().is_some() && !can_be_claimed(&stack) {
            let fit: Vec<_> = profiles::stacks().filter(can_be_claimed).map(|stack| stack.name).collect();
            return Err(RequestError::List {
                what: "--stack",
                problem: format!("`{name}` does not run on `{}`; expected {}", stack.name, fit.join(" or ")),
            });
        }
        let stack_index = stacks.iter().position(|other| *other == stack).unwrap_or_else(|| {
            stacks.push(stack);
            stacks.len() - 1
        });
        own.extend(settings.iter().filter(|(key, _)| is_common(key)).cloned());
        schemes.push(PlannedScheme { name: name.clone(), scheme, stack, stack_index, settings: own });
    }
    Ok((schemes, stacks))
}

/// Whether some of the schemes, the stacks, the access routers or the bench, by `bench`, know the key.
pub fn check_key(key: &str, schemes: &[String], bench: &[&str]) -> Result<(), RequestError> {
    let mut known: Vec<&str> = STACK_SETTINGS.iter().map(|s| s.name).collect();
    known.extend(ROUTER_SETTINGS.iter().map(|s| s.name));
    known.extend(bench);
    for scheme in schemes {
        known.extend(Scheme::settings_of(scheme).iter().map(|s| s.name));
    }
    if known.contains(&key) {
        return Ok(());
    }
    Err(RequestError::Setting { key: key.to_string(), hint: did_you_mean(key, known) })
}

/// Whether a scheme can send in place of a stack: it is told by SACK what has arrived, and can silence the stack.
fn can_be_claimed(stack: &StackProfile) -> bool {
    stack.kernel.is_none() && stack.sack_blocks > 0
}

/// Whether a key concerns stack, access routers or bench, and so every scheme.
fn is_common(key: &str) -> bool {
    let of_stack = STACK_SETTINGS.iter().any(|s| s.name == key);
    key == NOTICE_DELAY.0 || of_stack || ROUTER_SETTINGS.iter().any(|s| s.name == key)
}

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

fn stack_named(name: &str, settings: &[(String, String)]) -> Result<StackProfile, RequestError> {
    let names = || stacks().map(|profile| profile.name);
    let mut stack = StackProfile::named(name).ok_or_else(|| RequestError::Stack {
        name: name.to_string(),
        expected: names().collect::<Vec<_>>().join(", "),
        hint: did_you_mean(name, names()),
    })?;
    for (key, value) in settings {
        if STACK_SETTINGS.iter().any(|s| s.name == key) {
            stack.set(key, value).map_err(|expected| RequestError::Value {
                key: key.clone(),
                value: value.clone(),
                expected: expected.to_string(),
            })?;
        }
    }
    Ok(stack)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of words that are no stack's, setting's or scheme's only misspelt ones are guessed.
    #[test]
    fn only_misspelt_words_are_guessed() {
        let stack = |name| stack_named(name, &[]).unwrap_err().to_string();
        assert!(stack("linuks").ends_with("; did you mean `linux`?"), "{}", stack("linuks"));
        assert!(stack("cubic").starts_with("unknown stack `cubic`; expected one of "), "{}", stack("cubic"));
        let scheme = |name| Scheme::build(name, &[]).map(|_| ()).unwrap_err().to_string();
        assert!(scheme("sak").ends_with("; did you mean `sack`?"), "{}", scheme("sak"));
        let key = |name| check_key(name, &[], &[]).unwrap_err().to_string();
        assert!(
            key("initial-windw").ends_with("; did you mean `initial-window`?"),
            "{}",
            key("initial-windw")
        );
        for said in [stack("cubic"), scheme("bbr"), key("pacing")] {
            assert!(!said.contains("did you mean"), "{said}");
        }
    }
}
