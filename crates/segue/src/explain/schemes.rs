//! Schemes, stacks, their settings, and presets of links.

use super::markdown::hanging;
use super::numbered_pages;
use crate::screen::Screen;
use segue_handoff::Scheme;
use segue_study::bench_words::BenchWord;
use segue_tcp::StackProfile;
use segue_tcp::profile::STACK_SETTINGS;
use segue_world::access::{PRESETS, variants};
use segue_world::router_settings::ROUTER_SETTINGS;

pub(super) fn scheme(name: &str, screen: &Screen) -> Option<String> {
    if let Some(stack) = StackProfile::named(name) {
        let mut text = hanging(&format!("Stack {name}: "), stack.source, 2, screen.width);
        for departure in stack.departures {
            text.push_str(&hanging("  ", departure, 4, screen.width));
        }
        return Some(text);
    }
    let entry = Scheme::entries().into_iter().find(|entry| entry.name == name)?;
    let mut text = hanging(&format!("Scheme {name}: "), entry.summary, 2, screen.width);
    let from = format!("stack {}; source: {}", entry.stack, entry.source);
    text.push_str(&hanging("  ", &from, 4, screen.width));
    text.push_str(&format!("  segue schemes {name} lists its settings\n"));
    text.push_str(&page_of_scheme(name).map(|page| format!("  {page} has its rules\n")).unwrap_or_default());
    text.push_str(&numbered_pages::rules_of(name).unwrap_or_default());
    Some(text)
}

/// The page about a scheme that no paper defines: its own settings name it.
fn page_of_scheme(name: &str) -> Option<String> {
    let settings = Scheme::settings_of(name);
    // A kernel's page is about the enactment of any scheme.
    let page = settings
        .iter()
        .map(|setting| setting.section)
        .find(|page| page.ends_with(".md") && *page != "kernel.md");
    page.map(page_of)
}

/// A preset of links, as `segue links` has it.
pub(super) fn link(name: &str, screen: &Screen) -> Option<String> {
    let old = || PRESETS.iter().find(|(preset, _)| *preset == name);
    let today = || variants().find(|(preset, _, _)| preset == name);
    let tail = match old() {
        Some((_, link)) => link.to_string(),
        None => today().map(|(_, link, preset)| format!("{}; {link}", preset.about))?,
    };
    let text = hanging(&format!("Link {name}: "), &tail, 2, screen.width);
    Some(text + "  segue links lists all; docs/reference/links.md has the sources\n")
}

/// Where a page of the documentation lies.
pub(super) fn page_of(page: &str) -> String {
    let folder = if page == "kernel.md" { "docs/internals" } else { "docs/reference" };
    format!("{folder}/{page}")
}

pub(super) fn setting(name: &str, screen: &Screen) -> Option<String> {
    let line = |meaning: &str, default: &str| {
        let tail = format!("{meaning} ({default})");
        hanging(&format!("Setting {name}: "), &tail, 2, screen.width)
    };
    if let Some(word) = BenchWord::named(name) {
        return Some(line(word.meaning, &word.values_and_usual()));
    }
    if let Some(setting) = STACK_SETTINGS.iter().find(|setting| setting.name == name) {
        return Some(line(setting.meaning, setting.values));
    }
    if let Some(setting) = ROUTER_SETTINGS.iter().find(|setting| setting.name == name) {
        return Some(line(setting.meaning, setting.values));
    }
    // Schemes of a family share their settings.
    let mut families: Vec<(String, String, Vec<&str>)> = Vec::new();
    for entry in Scheme::entries() {
        for setting in Scheme::settings_of(entry.name).into_iter().filter(|setting| setting.name == name) {
            let told = line(setting.meaning, &format!("{} unless set", setting.default));
            let place = match setting.section {
                page if page.ends_with(".md") => page_of(page),
                section => format!("segue explain {section}"),
            };
            match families.iter_mut().find(|family| (&family.0, &family.1) == (&told, &place)) {
                Some((_, _, names)) => names.push(entry.name),
                None => families.push((told, place, vec![entry.name])),
            }
        }
    }
    let tell = |(told, place, names): &(String, String, Vec<&str>)| {
        told.clone() + &hanging("  of ", &format!("{}; {place}", names.join(", ")), 4, screen.width)
    };
    (!families.is_empty()).then(|| families.iter().map(tell).collect())
}
