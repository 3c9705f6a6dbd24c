//! Options of the commands and the words that they take, from the command line's own definition.

use super::markdown::hanging;
use crate::examples::program;
use clap::{Arg, Command};

/// Every visible option, with the words of its command.
fn options() -> Vec<(String, Arg)> {
    fn of(command: &Command, words: &str, all: &mut Vec<(String, Arg)>) {
        let visible =
            |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
        let long = command.get_arguments().filter(visible).filter(|arg| arg.get_long().is_some());
        // Options of every command are the program's own.
        let own = long.filter(|arg| words == "segue" || !arg.is_global_set());
        all.extend(own.map(|arg| (words.to_string(), arg.clone())));
        let visible = |below: &&Command| !below.is_hide_set() && below.get_name() != "help";
        for below in command.get_subcommands().filter(visible) {
            of(below, &format!("{words} {}", below.get_name()), all);
        }
    }
    let mut all = Vec::new();
    of(&program(), "segue", &mut all);
    all
}

/// Words that an option takes, and what each means.
fn values(arg: &Arg) -> Vec<(String, String)> {
    if !arg.get_action().takes_values() {
        return Vec::new();
    }
    let values = arg.get_possible_values();
    let words = values.iter().filter(|value| !value.is_hide_set());
    words
        .map(|value| {
            (value.get_name().to_string(), value.get_help().map(ToString::to_string).unwrap_or_default())
        })
        .collect()
}

/// An option, and a word of options: the meaning of each once, with all commands that have it.
pub fn told(name: &str, width: usize) -> Vec<String> {
    let name = name.trim_start_matches("--");
    let mut found: Vec<(String, String, Vec<String>)> = Vec::new();
    let mut add = |head: String, meaning: String, command: String| match found
        .iter_mut()
        .find(|(known, means, _)| *known == head && *means == meaning)
    {
        Some((_, _, commands)) => commands.push(command),
        None => found.push((head, meaning, vec![command])),
    };
    for (command, arg) in options() {
        let long = arg.get_long().unwrap_or_default();
        if long == name {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let values: Vec<String> =
                values(&arg).into_iter().map(|(word, meaning)| format!("{word}: {meaning}")).collect();
            let meaning = std::iter::once(help).chain(values).collect::<Vec<_>>().join("; ");
            add(format!("Option --{long}"), meaning, command.clone());
        }
        for (word, meaning) in
            values(&arg).into_iter().filter(|(word, meaning)| word == name && !meaning.is_empty())
        {
            add(format!("Word {word} of --{long}"), meaning, command.clone());
        }
    }
    let tell = |(head, meaning, commands): (String, String, Vec<String>)| {
        hanging(&format!("{head}: "), &format!("{meaning} ({})", commands.join(", ")), 2, width)
    };
    found.into_iter().map(tell).collect()
}

/// All of them, for hints.
pub fn names() -> Vec<String> {
    let mut names = Vec::new();
    for (_, arg) in options() {
        let words = values(&arg).into_iter().filter(|(_, meaning)| !meaning.is_empty()).map(|(word, _)| word);
        for name in arg.get_long().map(str::to_string).into_iter().chain(words) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_told_once_with_its_words_and_commands() {
        let kind = told("kind", 500);
        assert!(kind.iter().any(|told| told.contains("Option --kind: Kinds of handoff; mbb: ")), "{kind:?}");
        assert!(kind.iter().all(|told| !told.contains("segue sweep")), "it has none: {kind:?}");
        assert_eq!(told("--kind", 500), kind);
        let packets = told("packets", 500).concat();
        assert!(packets.contains("(segue compare, segue trace)"), "{packets}");
        let in_band = told("in-band", 500).concat();
        assert!(in_band.starts_with("Word in-band of --notice: "), "{in_band}");
        assert!(told("quiet", 500).concat().ends_with("(segue)\n"));
        assert!(told("", 80).is_empty() && told("no such option", 80).is_empty());
    }
}
