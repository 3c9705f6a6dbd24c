//! Commands, from the command line's own definition.

use super::markdown::hanging;
use crate::examples::program;
use clap::Command;

/// Every visible command by its words, such as `lab run`, with its summary.
fn commands() -> Vec<(String, String)> {
    fn of(command: &Command, words: &str, all: &mut Vec<(String, String)>) {
        let visible = |below: &&Command| !below.is_hide_set() && below.get_name() != "help";
        for below in command.get_subcommands().filter(visible) {
            let words = format!("{words} {}", below.get_name()).trim_start().to_string();
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            all.push((words.clone(), about));
            of(below, &words, all);
        }
    }
    let mut all = Vec::new();
    of(&program(), "", &mut all);
    all
}

/// A command: what it does, and where its options are told. `segue` may stand before it.
pub fn command(name: &str, width: usize) -> Option<String> {
    let name = name.trim_start_matches("segue ").trim_start();
    let (words, about) = commands().into_iter().find(|(words, _)| words == name)?;
    Some(
        hanging(&format!("Command segue {words}: "), &about, 2, width)
            + &format!("  segue help {words} lists its options\n"),
    )
}

/// All of them, for hints.
pub fn names() -> impl Iterator<Item = String> {
    commands().into_iter().map(|(words, _)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_told() {
        let told = command("compare", 80).expect("a command");
        assert_eq!(
            told,
            "Command segue compare: Compare schemes over many handoffs between two links\n  segue help compare lists \
             its options\n"
        );
        assert_eq!(command("segue compare", 80).as_deref(), Some(told.as_str()));
        for name in names() {
            let told = command(&name, 80).unwrap_or_default();
            assert!(told.contains(&format!("segue help {name} ")), "{name}: {told}");
        }
        assert!(command("help", 80).is_none() && command("lab-end", 80).is_none());
        assert!(command("", 80).is_none() && command("segue", 80).is_none());
    }
}
