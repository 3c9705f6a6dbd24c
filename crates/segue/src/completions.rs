//! Shell completions, made from the command line's own definition and from the lists of what has a name.

use crate::args::VERSION;
use crate::cli::{CompletionsArgs, ProgramWord};
use crate::{Failure, examples, print};
#[cfg(feature = "live")]
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use segue_handoff::Scheme;
use segue_study::measure::Column;
use segue_study::request::NOTICE_DELAY;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::{STACK_SETTINGS, stacks};
use segue_world::access::{PRESETS, variants};
use segue_world::router_settings::ROUTER_SETTINGS;

/// `segue completions SHELL [PROGRAM]`.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = match args.program {
        ProgramWord::Segue => with_values(without_hidden(&examples::program())),
        #[cfg(feature = "live")]
        ProgramWord::SegueAgent => with_values(segue_agent::cli::Cli::command()),
    };
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The program without its hidden commands, which clap's script for bash would offer.
fn without_hidden(program: &Command) -> Command {
    // The library adds its own again.
    let own = |name: &str| ["help", "version"].contains(&name);
    let args = program.get_arguments().filter(|arg| !own(arg.get_id().as_str())).cloned();
    let below =
        program.get_subcommands().filter(|below| !below.is_hide_set() && !own(below.get_name())).cloned();
    Command::new("segue").version(VERSION).args(args).subcommands(below)
}

/// The command with the values that its words may have. Parsing goes without: lists, sums and paths are valid as well.
fn with_values(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = command.mut_args(with_value);
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_values))
}

fn with_value(arg: Arg) -> Arg {
    let values = values(arg.get_id().as_str());
    if !values.is_empty() && arg.get_action().takes_values() {
        // The parser keeps its words for good, and the process ends soon.
        let values = values.into_iter().map(|value| &*value.leak());
        return arg.value_parser(PossibleValuesParser::new(values));
    }
    let kind = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    let hint = match (kind, arg.get_id().as_str()) {
        (Some("FILE"), _) | (_, "scenario" | "result" | "a" | "b" | "inputs" | "plan") => ValueHint::FilePath,
        (Some("DIR"), _) => ValueHint::DirPath,
        _ => return arg,
    };
    arg.value_hint(hint)
}

/// Words that an argument of this name takes; none where there is no list.
fn values(argument: &str) -> Vec<String> {
    let schemes = || Scheme::entries().into_iter().map(|entry| entry.name.to_string());
    let stacks = || stacks().map(|stack| stack.name.to_string());
    match argument {
        "old" | "new" | "link" => {
            let today = variants().map(|(name, _, _)| name.to_string());
            PRESETS.iter().map(|(name, _)| name.to_string()).chain(today).collect()
        }
        "schemes" => schemes().collect(),
        "stack" => stacks().collect(),
        "name" => schemes().chain(stacks()).collect(),
        "columns" => Column::ALL.iter().map(|column| column.word().to_string()).collect(),
        "cc" => CcName::ALL.iter().map(|name| name.name().to_string()).collect(),
        "set" => {
            let mut keys: Vec<String> = schemes()
                .flat_map(|scheme| Scheme::settings_of(&scheme))
                .map(|setting| setting.name)
                .chain(STACK_SETTINGS.iter().map(|setting| setting.name))
                .chain(ROUTER_SETTINGS.iter().map(|setting| setting.name))
                .chain([NOTICE_DELAY.0])
                .map(|key| format!("{key}="))
                .collect();
            keys.sort();
            keys.dedup();
            keys
        }
        #[cfg(feature = "papers")]
        "paper" => papers().iter().map(|paper| paper.id.clone()).collect(),
        #[cfg(feature = "papers")]
        "figure" => {
            papers().iter().flat_map(|paper| paper.figures.iter().map(|figure| figure.id.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// The ledger is part of the program, and a test reads it.
#[cfg(feature = "papers")]
fn papers() -> Vec<segue_reproduce::ledger::Paper> {
    segue_reproduce::papers::papers().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap_complete::Shell;

    /// Fish completes values of options, but not of positional arguments; clap's scripts for the others neither.
    #[test]
    fn shells_are_told_of_schemes_presets_and_settings() {
        for (shell, knows_links) in [(Shell::Bash, true), (Shell::Zsh, true), (Shell::Fish, false)] {
            let mut script = Vec::new();
            clap_complete::generate(
                shell,
                &mut with_values(without_hidden(&examples::program())),
                "segue",
                &mut script,
            );
            let script = String::from_utf8(script).unwrap();
            assert!(!script.contains("lab-end") && script.contains("compare"), "{shell}: hidden commands");
            for word in ["etcp-v1", "linux-6.12", "bbr3", "notice-delay="] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            assert_eq!(script.contains("wifi5-busy"), knows_links, "{shell}");
        }
    }
}
