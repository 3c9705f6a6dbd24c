//! First commands to type: the page of `segue` alone, and the examples at the end of every `--help` and manual page.

use crate::cli::{self, Cli};
use crate::screen;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use segue_words::did_you_mean;
use std::ffi::OsString;

/// Examples of the program and of each command, by its words. Those of a command that this build lacks are passed over.
pub const EXAMPLES: [(&str, &[&str]); 36] = [
    (
        "",
        &[
            "segue compare wlan hsdpa",
            "segue trace wlan hsdpa --at 5s --story",
            "segue schemes",
            "segue help compare",
        ],
    ),
    (
        "compare",
        &[
            "segue compare wlan hsdpa",
            "segue compare 6400kbit/9ms 200kbit/300ms --both-ways --kind mbb,bbm",
            "segue compare wlan hsdpa --handoffs 4 --every 15s",
            "segue compare wlan hsdpa --stack linux-6.12 --report out/wlan-hsdpa.html",
        ],
    ),
    (
        "run",
        &[
            "segue run examples/flows.toml",
            "segue run examples/figure-17a.toml --points 20 --json -",
            "segue run examples/drive-wcdma-wlan.toml --report out/drive.html",
        ],
    ),
    ("sweep", &["segue sweep examples/sweep-small.toml --out out/small.parquet"]),
    ("merge", &["segue merge out/all.parquet out/shard-1.parquet out/shard-2.parquet"]),
    (
        "trace",
        &[
            "segue trace wlan hsdpa --at 5s --story",
            "segue trace wlan hsdpa --at 5s --schemes sack,etcp-v1 --pcap out/captures --snap 128",
            "segue trace wlan hsdpa --at 5s --qlog out/qlog",
        ],
    ),
    ("diff", &["segue diff before.json after.json"]),
    ("repeat", &["segue repeat result.json", "segue repeat rows.csv"]),
    (
        "reproduce",
        &["segue reproduce --check", "segue reproduce daniel-kojo-2009-multiflow fig4 --out out/gallery"],
    ),
    ("model", &["segue model tcp-ho --b 58 --c 50.5", "segue model lcfd --figure 5"]),
    ("model tcp-ho", &["segue model tcp-ho --b 58 --c 50.5", "segue model tcp-ho --b 58 --c 50.5 --csv -"]),
    ("model lcfd", &["segue model lcfd --figure 5", "segue model lcfd --w-max 40 --buffer 20 --p 1"]),
    (
        "kernel",
        &[
            "sudo segue kernel attach --scheme etcp-v1",
            "sudo segue kernel status",
            "sudo segue kernel detach",
        ],
    ),
    (
        "kernel attach",
        &[
            "sudo segue kernel attach",
            "sudo segue kernel attach --scheme tcp-ho --around bbr --name segue-bbr",
        ],
    ),
    ("kernel detach", &["sudo segue kernel detach", "sudo segue kernel detach --name segue-bbr"]),
    ("kernel status", &["sudo segue kernel status", "sudo segue kernel status --json -"]),
    ("kernel run", &["sudo segue kernel run --icmp", "sudo segue kernel run --set a1-in-bbm=on"]),
    ("agent", &["sudo segue agent run", "sudo segue agent status"]),
    ("agent run", &["sudo segue agent run", "sudo segue agent run --config agent.toml --log json"]),
    (
        "agent notify",
        &[
            "sudo segue agent notify dev=wwan0,rate=2mbit,delay=50ms",
            "sudo segue agent notify dev=wlan0,rate=20mbit,delay=10ms,gap=300ms --expect",
        ],
    ),
    ("agent status", &["sudo segue agent status", "sudo segue agent status --json -"]),
    ("doctor", &["sudo segue doctor", "segue doctor --json -"]),
    ("lab", &["sudo segue lab run examples/lab-bbm-10s.toml --report out/lab.html"]),
    (
        "lab run",
        &[
            "sudo segue lab run examples/lab-bbm-10s.toml --report out/lab.html",
            "sudo segue lab run examples/lab-outages-fast.toml --jobs 15 --csv out/fast.csv",
        ],
    ),
    ("lab drive", &["sudo segue lab drive examples/lab-drive-umts-lte.toml --json out/drive.json"]),
    ("lab cost", &["sudo segue lab cost", "sudo segue lab cost --senders etcp-v1,tcp-ho"]),
    ("explore", &["segue explore", "segue explore --port 8080 --traces examples/traces"]),
    ("schemes", &["segue schemes", "segue schemes etcp-v1"]),
    ("explain", &["segue explain A2", "segue explain 9.17", "segue explain BDP", "segue explain vs first"]),
    ("links", &["segue links", "segue links 5g"]),
    ("trace-links", &["segue trace-links leo --out out/leo --length 60s"]),
    ("measures", &["segue measures", "segue measures --markdown"]),
    ("schema", &["segue schema compare", "segue schema trace"]),
    ("man", &["segue man --out out/man"]),
    ("completions", &["segue completions bash", "segue completions zsh"]),
    ("help", &["segue help compare"]),
];

/// Commands by what one wants.
const PURPOSES: [(&str, &[&str]); 4] = [
    ("Compare", &["compare", "run", "sweep", "merge", "diff", "repeat", "explore"]),
    ("Explain", &["trace", "explain", "schemes", "links", "trace-links", "measures", "schema", "help"]),
    ("Papers", &["reproduce", "model"]),
    ("On Linux", &["doctor", "lab", "kernel", "agent"]),
];

/// The program's command line with the examples.
pub fn program() -> Command {
    let mut program = Cli::command().term_width(screen::columns());
    program.build();
    with_examples(program, "")
}

/// The examples of the command with these words.
pub fn examples(words: &str) -> Option<&'static [&'static str]> {
    EXAMPLES.iter().find(|(own, _)| *own == words).map(|(_, lines)| *lines)
}

/// The examples of a command, less those with options that this build lacks, which are hidden.
pub fn of(command: &Command, words: &str) -> impl Iterator<Item = &'static str> {
    let hidden = command.get_arguments().filter(|arg| arg.is_hide_set());
    let hidden: Vec<String> = hidden.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let lines = examples(words).unwrap_or_default().iter().copied();
    lines.filter(move |line| !line.split(' ').any(|word| hidden.iter().any(|option| option == word)))
}

/// The command and those below it, each with its examples.
fn with_examples(command: Command, words: &str) -> Command {
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = below.into_iter().fold(command, |command, name| {
        let words = format!("{words} {name}");
        command.mut_subcommand(name, |below| with_examples(below, words.trim_start()))
    });
    let lines: Vec<&str> = of(&command, words).collect();
    if lines.is_empty() {
        return command;
    }
    // The program's own page also says where the documentation is.
    let more = command.get_after_help().filter(|_| words.is_empty());
    let more = more.map(|more| format!("\n\n{more}")).unwrap_or_default();
    command.after_help(lines.iter().fold("Examples:".to_owned(), |text, line| text + "\n  " + line) + &more)
}

/// The page of `segue` alone: 80 columns.
pub fn first_page() -> String {
    let program = program();
    let mut page = "Segue simulates TCP while a mobile changes its access link (a handoff),\n\
                    and helps TCP through handoffs on Linux.\n\n\
                    \x20 segue compare wlan hsdpa                 regular TCP beside Enhanced TCP\n\
                    \x20 segue trace wlan hsdpa --at 5s --story   one handoff, told in words\n"
        .to_owned();
    if program.find_subcommand("doctor").is_some() {
        page.push_str("  sudo segue doctor                        what this machine can do live\n");
    } else {
        page.push_str("  segue schemes                            what can be compared, on which TCP\n");
    }
    page.push('\n');
    for (purpose, names) in PURPOSES {
        let built: Vec<&str> =
            names.iter().copied().filter(|name| program.find_subcommand(name).is_some()).collect();
        if !built.is_empty() {
            page.push_str(&format!("{purpose:<9} {}\n", built.join(", ")));
        }
    }
    page.push_str("\nsegue help COMMAND explains a command.\n");
    page
}

/// The fault in the words of a command line, in one line, with an example where a word is missing.
pub fn one_line(error: &clap::Error, words: &[OsString]) -> String {
    let line = cli::one_line(error) + &meant(error, words);
    let example =
        (error.kind() == ErrorKind::MissingRequiredArgument).then(|| example_beside(error)).flatten();
    match example {
        Some(example) => format!("{line}; for example {example}"),
        None => line,
    }
}

/// The command that `help` was probably asked about: clap guesses commands only where they stand themselves.
fn meant(error: &clap::Error, words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let Some(help) = words.iter().position(|word| word == "help") else { return String::new() };
    if error.kind() != ErrorKind::InvalidSubcommand {
        return String::new();
    }
    let program = program();
    let mut command = &program;
    for word in &words[help + 1..] {
        let Some(below) = command.find_subcommand(word.as_ref()) else {
            let names = command.get_subcommands().filter(|below| !below.is_hide_set());
            return did_you_mean(word, names.map(Command::get_name));
        };
        command = below;
    }
    String::new()
}

/// The first example of the command whose usage an error shows that has the options that are missing.
fn example_beside(error: &clap::Error) -> Option<&'static str> {
    let shown = error.render().to_string();
    let usage = shown.split_once("Usage: segue ")?.1;
    let command: Vec<&str> =
        usage.split_whitespace().take_while(|word| !word.starts_with(['<', '[', '-'])).collect();
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.as_slice(),
        _ => &[],
    };
    let options =
        || missing.iter().filter_map(|missing| missing.split(' ').find(|word| word.starts_with("--")));
    let has_all = |line: &&&str| options().all(|option| line.split(' ').any(|word| word == option));
    examples(&command.join(" "))?.iter().find(has_all).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_understood() {
        let built = program();
        for (name, lines) in EXAMPLES {
            let first = name.split(' ').next().unwrap_or_default();
            let is_built = first.is_empty() || built.find_subcommand(first).is_some();
            for line in lines.iter().filter(|line| is_built && !line.starts_with("segue help")) {
                let line = line.trim_start_matches("sudo ");
                assert!(format!("{line} ").starts_with(format!("segue {name}").trim_end()), "{line}");
                let words: Vec<_> = line.split(' ').map(Into::into).collect();
                if let Err(failure) = crate::command(&words) {
                    panic!("{line}: {failure}");
                }
            }
        }
    }

    #[test]
    fn help_about_a_misspelt_command_names_the_right_one() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            match crate::command(&words) {
                Err(crate::Failure::User(said)) => said,
                _ => panic!("{line}"),
            }
        };
        let misspelt = said("segue help comapre");
        assert!(misspelt.ends_with("--help lists the commands; did you mean `compare`?"), "{misspelt}");
        assert_eq!(said("segue comapre").matches("did you mean").count(), 1);
        assert!(!said("segue help xyz").contains("did you mean"));
        if program().find_subcommand("lab").is_some() {
            assert!(said("segue help lab rnu").ends_with("; did you mean `run`?"));
        }
    }

    #[test]
    fn what_is_missing_has_an_example_with_it() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            match crate::command(&words) {
                Err(crate::Failure::User(said)) => said,
                _ => panic!("{line}"),
            }
        };
        for (line, example) in [
            ("segue compare wlan", "segue compare wlan hsdpa"),
            ("segue trace wlan hsdpa", "segue trace wlan hsdpa --at 5s --story"),
            ("segue trace-links leo", "segue trace-links leo --out out/leo --length 60s"),
        ] {
            let said = said(line);
            assert!(said.ends_with(&format!("; for example {example}")), "{line}: {said}");
        }
    }

    /// A build without pages says nothing of the options that make them.
    #[test]
    fn examples_have_no_hidden_options() {
        let hidden = |hide: bool| {
            let report = clap::Arg::new("report").long("report").hide(hide);
            of(&Command::new("compare").arg(report), "compare").count()
        };
        let with_page = |line: &&&str| line.contains(" --report ");
        let pages = examples("compare").unwrap_or_default().iter().filter(with_page).count();
        assert!(pages > 0 && hidden(false) == hidden(true) + pages);
        for (command, options) in [("compare", &["report"][..]), ("trace", &["report", "pcap", "snap"])] {
            let program = program();
            let command = program.find_subcommand(command).expect("it is always there");
            for option in options {
                let arg = command.get_arguments().find(|arg| arg.get_long() == Some(option));
                assert_eq!(arg.map(clap::Arg::is_hide_set), Some(crate::args::NO_PAGES), "{option}");
            }
        }
    }

    #[test]
    fn every_command_has_an_example_and_a_place_on_the_first_page() {
        let page = first_page();
        for command in program().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(command.get_after_help().is_some(), "{name} has no example");
            for below in
                command.get_subcommands().filter(|below| below.get_name() != "help" && name != "help")
            {
                assert!(below.get_after_help().is_some(), "{name} {} has no example", below.get_name());
            }
            if !["man", "completions"].contains(&name) {
                assert!(page.contains(name), "{name} is not on the first page");
            }
        }
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
}
