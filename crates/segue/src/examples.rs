//! First commands to type: the page of `segue` alone, and the examples at the end of every `--help` and manual page.

use crate::cli::Cli;
use crate::screen;
use clap::{Command, CommandFactory};

/// Examples of a command. Those of a command that this build lacks are passed over.
pub const EXAMPLES: [(&str, &[&str]); 23] = [
    (
        "compare",
        &[
            "segue compare wlan hsdpa",
            "segue compare 6400kbit/9ms 200kbit/300ms --both-ways --kind mbb,bbm",
            "segue compare wlan hsdpa --stack linux-6.12 --report out/wlan-hsdpa.html",
        ],
    ),
    ("run", &["segue run examples/flows.toml", "segue run examples/figure-17a.toml --points 20 --json -"]),
    ("sweep", &["segue sweep examples/sweep-small.toml --out out/small.parquet"]),
    ("merge", &["segue merge out/all.parquet out/shard-1.parquet out/shard-2.parquet"]),
    (
        "trace",
        &[
            "segue trace wlan hsdpa --at 5s --story",
            "segue trace wlan hsdpa --at 5s --schemes sack,etcp-v1 --pcap out/captures",
        ],
    ),
    ("diff", &["segue diff before.json after.json"]),
    ("repeat", &["segue repeat result.json"]),
    (
        "reproduce",
        &["segue reproduce --check", "segue reproduce daniel-kojo-2009-multiflow fig4 --out out/gallery"],
    ),
    ("model", &["segue model tcp-ho --b 58 --c 50.5", "segue model lcfd --figure 5"]),
    (
        "kernel",
        &["sudo segue kernel attach --scheme etcp-v1", "segue kernel status", "sudo segue kernel detach"],
    ),
    ("agent", &["sudo segue agent run", "segue agent status"]),
    ("doctor", &["sudo segue doctor"]),
    ("lab", &["sudo segue lab run examples/lab-bbm-10s.toml --report out/lab.html"]),
    ("explore", &["segue explore"]),
    ("schemes", &["segue schemes", "segue schemes etcp-v1"]),
    ("explain", &["segue explain A2", "segue explain 9.17", "segue explain BDP", "segue explain vs first"]),
    ("links", &["segue links"]),
    ("trace-links", &["segue trace-links leo --out out/leo --length 60s"]),
    ("measures", &["segue measures", "segue measures --markdown"]),
    ("schema", &["segue schema compare"]),
    ("man", &["segue man --out out/man"]),
    ("completions", &["segue completions bash"]),
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
    for (name, lines) in EXAMPLES {
        if program.find_subcommand(name).is_some() {
            let text = lines.iter().fold("Examples:".to_owned(), |text, line| text + "\n  " + line);
            program = program.mut_subcommand(name, |command| command.after_help(text));
        }
    }
    program
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_understood() {
        let built = program();
        for (name, lines) in EXAMPLES {
            for line in lines.iter().filter(|_| built.find_subcommand(name).is_some() && name != "help") {
                let words: Vec<_> = line.trim_start_matches("sudo ").split(' ').map(Into::into).collect();
                assert_eq!(words[1], name, "{line}");
                if let Err(failure) = crate::command(&words) {
                    panic!("{line}: {failure}");
                }
            }
        }
    }

    #[test]
    fn every_command_has_an_example_and_a_place_on_the_first_page() {
        let page = first_page();
        for command in program().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(command.get_after_help().is_some(), "{name} has no example");
            if !["man", "completions"].contains(&name) {
                assert!(page.contains(name), "{name} is not on the first page");
            }
        }
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
}
