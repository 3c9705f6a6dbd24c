//! Shell completions, made from the command line's own definition and from the lists of what has a name.

use crate::args::VERSION;
use crate::cli::{CompletionsArgs, ProgramWord};
use crate::explain::names;
use crate::{Failure, examples, own_links, print};
#[cfg(feature = "live")]
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;
use segue_handoff::Scheme;
use segue_study::bench_words::BENCH_WORDS;
use segue_study::measure::Column;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::{STACK_SETTINGS, stack_names};
use segue_world::access::{PRESETS, variants};
use segue_world::router_settings::ROUTER_SETTINGS;
use std::collections::BTreeSet;

/// `segue completions SHELL [PROGRAM]`.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = match args.program {
        ProgramWord::Segue => with_values(without_hidden(&examples::program())),
        #[cfg(feature = "live")]
        ProgramWord::SegueAgent => with_values(segue_agent::cli::Cli::command()),
    };
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, &name, &mut script);
    let script = String::from_utf8_lossy(&script);
    print(&if args.shell == Shell::Bash { for_bash(&script, &name) } else { script.into_owned() })
}

/// Clap's script for bash, with each word offered once, and with words after a comma or a colon. bash hands over
/// `sack,et` as one word and `etcp:a` as three.
fn for_bash(script: &str, name: &str) -> String {
    let mut text = String::new();
    for line in script.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim_start().strip_prefix("opts=\"").and_then(|rest| rest.strip_suffix('"')) {
            Some(words) => {
                let mut seen = BTreeSet::new();
                let once: Vec<&str> = words.split(' ').filter(|word| seen.insert(*word)).collect();
                text.push_str(&format!("{indent}opts=\"{}\"", once.join(" ")));
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    let function = format!("_{name}");
    text.replace(&format!("complete -F {function} "), &format!("complete -F {function}_words "))
        + &IN_BASH.replace("FUNCTION", &function)
}

/// Puts words together that bash has split at colons, and completes the last item of a list.
const IN_BASH: &str = r#"
FUNCTION_words() {
    local whole=() word joins="" head=""
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#whole[@]} -gt 0 && ( "$word" == :* || -n "$joins" ) ]]; then
            whole[${#whole[@]}-1]+="$word"
        else
            whole+=("$word")
        fi
        [[ "$word" == *: ]] && joins=yes || joins=""
    done
    local COMP_WORDS=("${whole[@]}") COMP_CWORD=$((${#whole[@]} - 1))
    word="${COMP_WORDS[COMP_CWORD]}"
    if [[ "$word" == *,* && "$word" != -* ]]; then
        head="${word%,*},"
        COMP_WORDS[COMP_CWORD]="${word##*,}"
    fi
    FUNCTION "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    COMPREPLY=("${COMPREPLY[@]/#/$head}")
    # Readline replaces what stands behind the last colon.
    if [[ "$word" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}")
    fi
}
"#;

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
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| with_value(&name, arg));
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_values))
}

fn with_value(command: &str, arg: Arg) -> Arg {
    let values = values(command, arg.get_id().as_str());
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

/// Words that an argument of this name takes at this command; none where there is no list.
fn values(command: &str, argument: &str) -> Vec<String> {
    let schemes = || Scheme::entries().into_iter().map(|entry| entry.name.to_string());
    let stacks = || stack_names().into_iter().map(str::to_string);
    let all = match argument {
        "old" | "new" | "link" => {
            let today = variants().map(|(name, _, _)| name.to_string());
            let own = own_links().unwrap_or_default();
            let own = own.own().iter().map(|(name, _)| name.clone());
            PRESETS.iter().map(|(name, _)| name.to_string()).chain(today).chain(own).collect()
        }
        "name" if command == "links" => PRESETS
            .iter()
            .map(|(name, _)| name.to_string())
            .chain(variants().map(|(name, ..)| name))
            .collect(),
        "schemes" => schemes().collect(),
        "stack" => stacks().collect(),
        "name" if command == "schemes" => schemes().chain(stacks()).collect(),
        // A name with a blank in it cannot be offered.
        "name" if command == "explain" => names().into_iter().filter(|name| !name.contains(' ')).collect(),
        #[cfg(feature = "live")]
        "scheme" => segue_kernel::sender::SCHEMES.iter().map(|name| name.to_string()).collect(),
        "traffic" => ["download", "upload", "both", "page"].iter().map(|word| word.to_string()).collect(),
        "columns" => Column::ALL.iter().map(|column| column.word().to_string()).collect(),
        "cc" => CcName::ALL.iter().map(|name| name.name().to_string()).collect(),
        "set" => schemes()
            .flat_map(|scheme| Scheme::settings_of(&scheme))
            .map(|setting| setting.name)
            .chain(STACK_SETTINGS.iter().map(|setting| setting.name))
            .chain(ROUTER_SETTINGS.iter().map(|setting| setting.name))
            .chain(BENCH_WORDS.iter().map(|word| word.key))
            .map(|key| format!("{key}="))
            .collect(),
        #[cfg(feature = "papers")]
        "paper" => papers().iter().map(|paper| paper.id.clone()).collect(),
        "figure" if command == "lcfd" => ["3", "5", "6", "8", "11"].map(String::from).to_vec(),
        #[cfg(feature = "papers")]
        "figure" => {
            papers().iter().flat_map(|paper| paper.figures.iter().map(|figure| figure.id.clone())).collect()
        }
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|word: &String| seen.insert(word.clone())).collect()
}

/// The ledger is part of the program, and a test reads it.
#[cfg(feature = "papers")]
fn papers() -> Vec<segue_reproduce::ledger::Paper> {
    segue_reproduce::papers::papers().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command as Process;

    /// The words that bash offers for the last of these, as readline would ask.
    fn offered(words: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("segue.bash");
        let mut script = Vec::new();
        let mut program = with_values(without_hidden(&examples::program()));
        clap_complete::generate(Shell::Bash, &mut program, "segue", &mut script);
        std::fs::write(&file, for_bash(&String::from_utf8(script).expect("text"), "segue")).expect("written");
        let ask = r#"COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'; source "$1"; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            [[ "$(complete -p segue)" == *" -F _segue_words "* ]] || exit 1
            _segue_words segue "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\n' "${COMPREPLY[@]}""#;
        let output = Process::new("bash")
            .args(["--norc", "-c", ask, "bash"])
            .arg(&file)
            .args(words)
            .output()
            .expect("bash starts");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().filter(|word| !word.is_empty()).map(String::from).collect()
    }

    #[test]
    #[ignore = "needs bash"]
    fn bash_offers_values() {
        for (words, expected) in [
            (&["segue", "compare", "hs"][..], &["hsdpa"][..]),
            (&["segue", "compare", "wlan", "hs"], &["hsdpa"]),
            (
                &["segue", "compare", "wlan", "hsdpa", "--schemes", "sack,etcp-v"],
                &["sack,etcp-v0", "sack,etcp-v1"],
            ),
            (&["segue", "compare", "--cc", "re"], &["reno"]),
            (&["segue", "compare", "--set", "notice-d"], &["notice-delay="]),
            (&["segue", "compare", "--traffic", "download,p"], &["download,page"]),
            (&["segue", "compare", "--columns", "median,over_bound_p"], &["median,over_bound_p90"]),
            (&["segue", "trace", "wlan", "hsdpa", "--schemes", "etcp", ":", "a1"], &["a1"]),
            (&["segue", "trace", "wlan", "hsdpa", "--schemes", "sack,etcp", ":", "fig1"], &["fig1"]),
            (&["segue", "schemes", "linux-6.12/r"], &["linux-6.12/reno"]),
            (&["segue", "explain", "notice-d"], &["notice-delay"]),
            (&["segue", "links", "hs"], &["hsdpa"]),
            (&["segue", "help", "repe"], &["repeat"]),
        ] {
            assert_eq!(offered(words), expected, "{words:?}");
        }
    }

    #[test]
    #[cfg(feature = "papers")]
    #[ignore = "needs bash"]
    fn bash_offers_papers_and_figures() {
        assert_eq!(offered(&["segue", "reproduce", "esp"]), ["espi-2010-fmipv6"]);
        assert_eq!(offered(&["segue", "reproduce", "wu-2009-tcp-ho", "fig4"]), ["fig4"]);
    }

    #[test]
    #[cfg(feature = "live")]
    #[ignore = "needs bash"]
    fn bash_offers_senders_of_the_kernel() {
        assert_eq!(offered(&["segue", "kernel", "attach", "--scheme", "n"]), ["near"]);
        assert_eq!(offered(&["segue", "kernel", "attach", "--around", "b"]), ["bbr"]);
        // The name of a congestion control in the kernel is the user's own.
        assert_eq!(offered(&["segue", "kernel", "detach", "--name", "etc"]), [""; 0]);
    }

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
            for word in ["etcp-v1", "linux-6.12", "bbr3", "notice-delay=", "link-queue=", "time-stamps="] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            assert_eq!(script.contains("wifi5-busy"), knows_links, "{shell}");
        }
    }
}
