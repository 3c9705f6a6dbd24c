//! Rules of schemes, with their sources, settings and sections.

use super::markdown::hanging;
use super::sections::{reference, section_text};
use crate::screen::Screen;
use segue_handoff::Scheme;
use segue_policy::rules::{ETCP_RULES, RLCI_RULES, Rule, TCP_HO_RULES};
use segue_study::specification::{Section, section};

/// Families of rules, with the table of each, and how the names of its schemes begin.
pub(super) const FAMILIES: [(&str, &[Rule], &str); 3] =
    [("Enhanced TCP", ETCP_RULES, "etcp"), ("TCP-HO", TCP_HO_RULES, "tcp-ho"), ("RLCI", RLCI_RULES, "rlci")];

/// Whether a rule's name is the one asked for, or begins with it: `A1` is also `A1, case 2`.
fn names_rule(rule: &Rule, name: &str) -> bool {
    let asked = name.to_lowercase();
    rule.name.to_lowercase().strip_prefix(&asked).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The rules of that name, their source and settings, and the sections that they cite.
pub(super) fn rule(name: &str, screen: &Screen) -> Option<String> {
    let mut text = String::new();
    let mut cited: Vec<&str> = Vec::new();
    for (family, rules, schemes) in FAMILIES {
        let found: Vec<&Rule> = rules.iter().filter(|rule| names_rule(rule, name)).collect();
        if found.is_empty() {
            continue;
        }
        text.push_str(&format!("Rules of {family}\n"));
        let mut of_family: Vec<&str> = Vec::new();
        for rule in found {
            let head = format!("  {} ({}): ", rule.name, rule.section);
            text.push_str(&hanging(&head, rule.says, 4, screen.width));
            for section in rule.section.split(", ") {
                if !of_family.contains(&section) {
                    of_family.push(section);
                }
            }
        }
        text.push_str(&sources(&of_family, screen));
        let settings = settings_of_sections(schemes, &of_family);
        if !settings.is_empty() {
            text.push_str(&hanging("  Settings: ", &settings.join(", "), 4, screen.width));
        }
        cited.extend(of_family);
    }
    for section in &cited {
        text.push('\n');
        text.push_str(&section_text(section, screen)?);
    }
    (!text.is_empty()).then_some(text)
}

/// The papers that the chapters of these sections are about.
fn sources(cited: &[&str], screen: &Screen) -> String {
    let mut lines: Vec<String> = Vec::new();
    for chapter in cited.iter().filter_map(|number| section(number.split('.').next()?)) {
        let Some((_, source)) = chapter.heading.split_once('(') else { continue };
        let source = source.trim_end_matches(')');
        let line = match source.strip_prefix("paper ").and_then(|number| Some((number, reference(number)?))) {
            Some((number, reference)) => hanging(&format!("  Paper {number}: "), &reference, 4, screen.width),
            None => hanging("  Source: ", source, 4, screen.width),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

/// The settings of these schemes that name such a section, its chapter, or an open point that its text cites.
fn settings_of_sections(schemes: &str, cited: &[&str]) -> Vec<String> {
    let texts: Vec<Section> = cited.iter().filter_map(|number| section(number)).collect();
    let is_of = |place: &str| {
        let around = format!("{place}.");
        let is_cited = |text: &str| {
            text.split(|letter: char| !letter.is_ascii_digit() && letter != '.')
                .any(|word| word.trim_end_matches('.') == place)
        };
        cited.iter().any(|number| *number == place || number.starts_with(&around))
            || (place.starts_with("9.")
                && texts.iter().any(|text| is_cited(text.heading) || is_cited(text.body)))
    };
    let mut names: Vec<String> = Vec::new();
    let entries = Scheme::entries().into_iter().filter(|entry| entry.name.starts_with(schemes));
    for setting in entries.flat_map(|entry| Scheme::settings_of(entry.name)) {
        if setting.section.split(", ").any(is_of) && !names.iter().any(|name| name == setting.name) {
            names.push(setting.name.to_string());
        }
    }
    names
}
