//! `segue schemes`: names, stacks, settings, sources, link presets.

use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, print};
use clap::Args;
use comfy_table::{ColumnConstraint, Table, Width};
use segue_console::{lines, plain_table, printable};
use segue_handoff::Scheme;
use segue_study::bench_words::BENCH_WORDS;
use segue_tcp::StackProfile;
use segue_tcp::profile::{STACK_SETTINGS, stack_names, stacks};
use segue_words::{did_you_mean, forgiven};
use segue_world::access::PRESETS;
use segue_world::router_settings::ROUTER_SETTINGS;

/// `segue schemes`.
#[derive(Debug, Args)]
pub struct SchemesArgs {
    /// Only this scheme or stack, with its settings
    pub name: Option<String>,
}

/// Runs the command.
pub fn run(args: &SchemesArgs, screen: &Screen) -> Result<(), Failure> {
    let width = screen.width;
    let mut text = String::new();
    // Names are forgiven their case, as everywhere.
    match args.name.as_deref().map(forgiven).as_deref() {
        None => overview(&mut text, width),
        Some(name) => match StackProfile::named(name) {
            Some(stack) => describe_stack(&mut text, &stack, width),
            None => describe_scheme(&mut text, name, width)?,
        },
    }
    print(&text)
}

fn overview(text: &mut String, width: usize) {
    let mut schemes = plain_table(&["SCHEME", "STACK", "WHAT IT IS", "SOURCE"], width);
    for entry in Scheme::entries() {
        schemes.add_row([entry.name, entry.stack, entry.summary, entry.source]);
    }
    let mut named = plain_table(&["STACK", "SOURCE"], width);
    for name in stack_names() {
        let Some(profile) = StackProfile::named(name) else { continue };
        let alone = format!("the same as {}", profile.name);
        named.add_row([name, if name == profile.name { profile.source } else { &alone }]);
    }
    let mut links = plain_table(&["LINK PRESET", "MEANS"], width);
    for (name, link) in PRESETS {
        links.add_row([name, link]);
    }
    let tables = [schemes, named, links, common_settings(width, |_| true)];
    text.push_str(&tables.iter().map(lines).collect::<Vec<_>>().join("\n"));
    text.push_str("\nLinks of today, such as wifi6 and leo, and words of links: segue links\n");
    text.push_str("Settings of one scheme, or the departures of one stack: segue schemes NAME\n");
    text.push_str("Sections and open points of the papers: segue explain 2.4, segue explain 9.17\n");
}

/// Settings that concern every scheme, less those of stacks that do not have them.
fn common_settings(width: usize, has: impl Fn(&str) -> bool) -> Table {
    let mut settings = plain_table(&["SETTING", "VALUES", "WHAT IT DECIDES (segue explain NUMBER)"], width);
    for s in STACK_SETTINGS.iter().filter(|setting| has(setting.name)) {
        settings.add_row([s.name, s.values, s.meaning]);
    }
    for s in ROUTER_SETTINGS {
        settings.add_row([s.name, s.values, &format!("{} ({})", s.meaning, s.default)]);
    }
    for word in BENCH_WORDS {
        settings.add_row([word.key, word.values, word.meaning]);
    }
    narrow_to_the_right_of_names(&mut settings, 24);
    settings
}

/// Bounds the second column, so that sentences in the last one have the room.
fn narrow_to_the_right_of_names(table: &mut Table, width: u16) {
    if let Some(column) = table.column_mut(1) {
        column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(width)));
    }
}

fn describe_stack(text: &mut String, stack: &StackProfile, width: usize) {
    text.push_str(&wrapped("", &format!("{}: {}", stack.name, stack.source), width));
    for departure in stack.departures {
        // A stack that is Linux's also says what it lacks of it.
        let from = if departure.starts_with("unlike ") { "" } else { "departs from the RFCs: " };
        text.push_str(&wrapped("  ", &format!("{from}{departure}"), width));
    }
    text.push_str(&format!("\n{}", lines(&common_settings(width, |key| stack.has(key)))));
}

/// A stack that a kernel lacks, or a word that is nearer to a stack than to any scheme.
fn unknown(name: &str) -> Option<Failure> {
    if let Some((kernel, control)) = name.split_once('/')
        && StackProfile::named(kernel).is_some()
    {
        let head = format!("{kernel}/");
        let controls: Vec<&str> = stacks().filter_map(|stack| stack.name.strip_prefix(&*head)).collect();
        return Some(Failure::User(match controls[..] {
            [] => format!("stack `{kernel}` has no choice of congestion control; expected {kernel} alone"),
            _ => format!(
                "stack `{kernel}` has no congestion control `{}`; expected one of {}{}",
                printable(control),
                controls.join(", "),
                did_you_mean(control, controls.iter().copied())
            ),
        }));
    }
    let hint = did_you_mean(name, stack_names());
    let schemes = did_you_mean(name, Scheme::entries().iter().map(|entry| entry.name));
    let is_stack = !hint.is_empty() && schemes.is_empty();
    is_stack.then(|| Failure::User(format!("unknown scheme or stack `{}`{hint}", printable(name))))
}

fn describe_scheme(text: &mut String, name: &str, width: usize) -> Result<(), Failure> {
    if let Err(error) = Scheme::build(name, &[]) {
        return Err(unknown(name).unwrap_or_else(|| Failure::user(error)));
    }
    if let Some(entry) = Scheme::entry_of(name) {
        let summary = if entry.name == name { entry.summary } else { "a combination of single algorithms" };
        text.push_str(&wrapped("", &format!("{name}: {summary}"), width));
        text.push_str(&wrapped("  ", &format!("stack {}; source: {}", entry.stack, entry.source), width));
        text.push('\n');
    }
    let mut table = plain_table(&["SETTING", "DEFAULT", "WHAT IT DECIDES (segue explain NUMBER)"], width);
    for setting in Scheme::settings_of(name) {
        // A setting that a page defines has no section.
        let decides = match setting.section {
            page if page.ends_with(".md") => setting.meaning.to_string(),
            section => format!("{} ({section})", setting.meaning),
        };
        table.add_row([setting.name, &setting.default, &decides]);
    }
    narrow_to_the_right_of_names(&mut table, 14);
    // With another stack (--stack) those of that one.
    let stack = Scheme::entry_of(name).and_then(|entry| StackProfile::named(entry.stack));
    let has = |key: &str| stack.as_ref().is_none_or(|stack| stack.has(key));
    text.push_str(&format!("{}\n{}", lines(&table), lines(&common_settings(width, has))));
    text.push_str("\nSections and open points of the papers: segue explain 2.4, segue explain 9.17\n");
    Ok(())
}
