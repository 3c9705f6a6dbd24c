//! `segue explain`: rules, sections of the specification, open points, papers, schemes, settings and measures by name.
//! The text is docs/reference/algorithms.md and the tables that the program itself goes by.

mod commands;
mod file_keys;
mod glossary;
mod link_words;
mod markdown;
mod measures;
mod numbered_pages;
mod options;
mod rules;
mod schemes;
mod sections;
mod symbols;
#[cfg(test)]
mod tests;

use crate::cli::Cli;
use crate::layout::wrapped;
use crate::screen::Screen;
use crate::{Failure, print};
use clap::{Arg, Args, CommandFactory};
use markdown::hanging;
use measures::{letter, measure};
use rules::{FAMILIES, rule};
use schemes::{link, scheme, setting};
use sections::{mark, numbered};
use segue_console::printable;
use segue_handoff::Scheme;
use segue_study::bench_words::BENCH_WORDS;
use segue_study::measure::{Column, MEASURES, OPTIONAL};
use segue_tcp::profile::{STACK_SETTINGS, stack_names};
use segue_words::{did_you_mean, forgiven};
use segue_world::access::{LinkNames, PRESETS, variants};
use segue_world::router_settings::ROUTER_SETTINGS;
use std::ffi::OsString;

/// `segue explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A rule (A1, Fig. 3), section (2.2), open point (9.17), paper (001), scheme, setting or measure. Also a column (vs
    /// first), option (--notice), command (lab run), key of files (warm_up), link parameter (loss), symbol (REST) or term
    /// (BDP). All kinds of names unless given
    #[arg(value_name = "NAME", num_args = 0..)]
    pub name: Vec<String>,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// `segue explain --notice` as `segue explain notice`: behind this command an option is a name, unless it is one of the
/// program's own. Those stay what they are, but one that lacks its value at the end is a name, too.
pub fn with_options_as_names(mut words: Vec<OsString>) -> Vec<OsString> {
    let program = Cli::command();
    let own: Vec<&Arg> = program.get_arguments().filter(|arg| arg.is_global_set()).collect();
    let named = |word: &str| {
        let name = word.strip_prefix("--")?;
        own.iter().find(|arg| arg.get_long() == name.split('=').next())
    };
    let mut before = words.iter().skip(1).map(|word| word.to_str().unwrap_or_default());
    let command = loop {
        match before.next() {
            // Such as `--color never`.
            Some(word)
                if !word.contains('=') && named(word).is_some_and(|arg| arg.get_action().takes_values()) =>
            {
                before.next();
            }
            Some(word) if word.starts_with('-') => {}
            word => break word,
        }
    };
    if command == Some("explain") {
        let (first, last) = (words.len() - before.len(), words.len() - 1);
        for (place, word) in words.iter_mut().enumerate().skip(first) {
            let text = word.to_str().unwrap_or_default();
            let lacks_value =
                |arg: &&Arg| place == last && !text.contains('=') && arg.get_action().takes_values();
            let is_name = text.len() > 2 && text != "--help" && named(text).is_none_or(lacks_value);
            if let Some(name) = text.strip_prefix("--").filter(|_| is_name) {
                *word = name.into();
            }
        }
    }
    words
}

/// Runs the command.
pub fn run(args: &ExplainArgs, screen: &Screen) -> Result<(), Failure> {
    if args.name.is_empty() {
        return print(&overview(screen));
    }
    let name = args.name.join(" ");
    // Names of schemes and settings are forgiven their case, as everywhere.
    let mut explained = answers(name.trim(), screen);
    for answer in answers(&forgiven(&name), screen) {
        if !explained.contains(&answer) {
            explained.push(answer);
        }
    }
    let own = args.names.own().iter().find(|(own, _)| own.eq_ignore_ascii_case(name.trim()));
    explained
        .extend(own.map(|(name, link)| hanging(&format!("Link {name}, your own: "), link, 2, screen.width)));
    if explained.is_empty() {
        explained = numbered_pages::everywhere(name.trim(), screen.width);
    }
    if explained.is_empty() {
        let mut names = names();
        names.extend(args.names.own().iter().map(|(name, _)| name.clone()));
        let hint = did_you_mean(&name, names.iter().map(String::as_str));
        return Err(Failure::User(format!(
            "nothing is called `{}`; expected a rule such as A1, a section such as 2.2, a paper such as 001, a scheme, a \
             setting, a measure, a column, an option, a command, a key of files, a symbol or a word of links or of the \
             glossary{hint}",
            printable(&name)
        )));
    }
    print(&explained.join("\n"))
}

/// All that is called so. A name may be a rule's and a setting's as well; the glossary tells them apart.
fn answers(name: &str, screen: &Screen) -> Vec<String> {
    let all = [rule(name, screen), numbered(name, screen), scheme(name, screen), setting(name, screen)];
    let of_tables = glossary::heading(name, screen.width);
    let words = link_words::word(name, screen.width).into_iter();
    let words = words.chain(link(name, screen)).chain(mark(name, screen));
    let of_program =
        options::told(name, screen.width).into_iter().chain(commands::command(name, screen.width));
    let of_pages = file_keys::key(name, screen.width).into_iter().chain(symbols::symbol(name, screen.width));
    let letter = letter(name, screen);
    std::iter::once(glossary::word(name, screen.width))
        .chain(all)
        .chain([numbered_pages::rule(name, screen.width)])
        .flatten()
        .chain(measure(name, screen))
        .chain(of_tables)
        .chain(letter)
        .chain(words)
        .chain(of_program)
        .chain(of_pages)
        .collect()
}

/// Everything that has a name, for the hint of a message.
pub fn names() -> Vec<String> {
    let rules = FAMILIES.iter().flat_map(|(_, rules, _)| rules.iter().map(|rule| rule.name.to_string()));
    let schemes = Scheme::entries().into_iter().map(|entry| entry.name.to_string());
    let settings = STACK_SETTINGS.iter().map(|setting| setting.name.to_string());
    let settings = settings.chain(ROUTER_SETTINGS.iter().map(|setting| setting.name.to_string()));
    let settings = settings.chain(BENCH_WORDS.iter().map(|word| word.key.to_string()));
    let of_schemes = Scheme::entries().into_iter().flat_map(|entry| Scheme::settings_of(entry.name));
    let settings = settings.chain(of_schemes.map(|setting| setting.name.to_string()));
    let columns =
        Column::ALL.iter().flat_map(|column| [column.heading().to_string(), column.word().to_string()]);
    let measures = MEASURES.iter().chain(OPTIONAL).map(|measure| measure.name.to_string());
    rules
        .chain(schemes)
        .chain(stack_names().into_iter().map(str::to_string))
        .chain(settings)
        .chain(measures)
        .chain(columns)
        .chain(glossary::headings())
        .chain(glossary::words())
        .chain(link_words::words())
        .chain(options::names())
        .chain(commands::names())
        .chain(file_keys::names())
        .chain(symbols::names())
        .chain(PRESETS.iter().map(|(name, _)| name.to_string()))
        .chain(variants().map(|(name, _, _)| name))
        .collect()
}

/// The page of `segue explain` alone.
fn overview(screen: &Screen) -> String {
    let mut text = "segue explain NAME says what a name means. Names are:\n\n".to_string();
    for (family, rules, _) in FAMILIES {
        let mut names: Vec<&str> = Vec::new();
        for rule in rules {
            if !names.contains(&rule.name) {
                names.push(rule.name);
            }
        }
        text.push_str(&wrapped(&format!("  rules of {family}: "), &names.join("; "), screen.width));
    }
    text.push_str("  sections of the specification: 0 to 11.6, such as 2.2\n");
    text.push_str("  open points of the papers, and our choices: 9.1 to 9.39\n");
    text.push_str(&numbered_pages::overview());
    text.push_str("  papers: 000 to 004\n");
    text.push_str("  marks of statements: [T] of a paper's text, [R] reconstructed, [C] our choice\n");
    text.push_str("  schemes, stacks and settings: segue schemes lists them\n");
    text.push_str("  measures and columns of tables, such as vs first: segue measures lists them\n");
    text.push_str("  options and their words, such as notice or in-band\n");
    text.push_str("  commands, such as compare or lab run\n");
    text.push_str("  keys and tables of files, such as warm_up, lost-icmp, wan.rate or chart\n");
    text.push_str("  symbols of the specification, such as REST or new_rtt\n");
    text.push_str("  words of links, such as loss: segue links lists them\n");
    let words = glossary::words().collect::<Vec<_>>().join("; ");
    text.push_str(&wrapped("  words of the glossary: ", &words, screen.width));
    text
}
