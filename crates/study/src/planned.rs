//! Schemes by name, with their settings and stacks, ready to be run.

use crate::request::{NOTICE_DELAY, RequestError};
use segue_handoff::Scheme;
use segue_tcp::StackProfile;
use segue_tcp::profile::{PROFILES, STACK_SETTINGS};
use segue_world::Routers;
use segue_world::routers::ROUTER_SETTINGS;

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
        let scheme = Scheme::build(name, &own)?;
        let entry = Scheme::entry_of(name);
        let stack = stack_named(stack.unwrap_or(entry.map_or("ns2-sack1", |entry| entry.stack)), settings)?;
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
    let similar = nearest(key, known.iter().copied());
    let nearest = match strsim::jaro_winkler(key, &similar) > 0.7 {
        true => format!("; did you mean `{similar}`?"),
        false => String::new(),
    };
    Err(RequestError::Setting { key: key.to_string(), nearest })
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
    let names = || PROFILES.iter().map(|profile| profile.name);
    let mut stack = StackProfile::named(name).ok_or_else(|| RequestError::Stack {
        name: name.to_string(),
        expected: names().collect::<Vec<_>>().join(", "),
        nearest: nearest(name, names()),
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

/// The most similar of the valid words.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    candidates
        .max_by(|a, b| {
            let word = word.to_lowercase();
            strsim::jaro_winkler(&word, a).total_cmp(&strsim::jaro_winkler(&word, b))
        })
        .unwrap_or_default()
        .to_string()
}
