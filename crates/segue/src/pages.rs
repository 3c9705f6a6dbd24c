//! Manual pages, made from the command line's own definition.

use crate::Failure;
use crate::cli::ManArgs;
use crate::examples;
use clap::Command;
#[cfg(feature = "live")]
use clap::CommandFactory;
use clap_mangen::Man;
use segue_export::{Output, OutputError, in_words};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// `segue man --out DIR`: one page for each program and one per command.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    if args.out.is_empty() || args.out == "-" {
        return Err(Failure::User(format!("--out `{}`; expected a folder for the pages", args.out)));
    }
    let folder = Path::new(&args.out);
    let mut pages = BTreeMap::new();
    let version = env!("CARGO_PKG_VERSION");
    let mut program = examples::program().version(version).long_version(version);
    program.build();
    pages_of(&program, "", &mut pages).map_err(Failure::ours)?;
    // In place of the pages of `segue agent`, which are those of this program.
    #[cfg(feature = "live")]
    {
        let mut agent = segue_agent::cli::Cli::command().version(version);
        agent.build();
        pages_of(&agent, "agent", &mut pages).map_err(Failure::ours)?;
    }
    let refuse = |error: OutputError| {
        let problem = in_words(&error.problem);
        let folder = folder.display();
        Failure::User(format!("cannot write manual pages to {folder}: {problem}; expected a writable folder"))
    };
    // All places are tried before the first page is written.
    let open = |(name, text)| Ok((Output::open(&folder.join(name).to_string_lossy()).map_err(refuse)?, text));
    let files = pages.into_iter().map(open).collect::<Result<Vec<(Output, Vec<u8>)>, Failure>>()?;
    files.into_iter().try_for_each(|(file, text)| file.finish(text).map_err(Failure::writing))
}

/// A page of the command with these words and one of each below it, by the name of its file.
fn pages_of(command: &Command, words: &str, pages: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let seen = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands().filter(seen) {
        pages_of(below, format!("{words} {}", below.get_name()).trim_start(), pages)?;
    }
    // `help` has no page of its own.
    let has_help = command.find_subcommand("help").is_some();
    let command = &match has_help {
        true => command.clone().mut_subcommand("help", |help| help.hide(true)),
        false => command.clone(),
    };
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    let name = page.get_filename();
    let name = name.trim_end_matches(".1");
    writeln!(
        text,
        ".TH \"{}\" 1 \"\" \"Segue {}\" \"Manual of Segue\"",
        roff(name),
        env!("CARGO_PKG_VERSION")
    )?;
    page.render_name_section(&mut text)?;
    let usage = command.clone().render_usage().to_string();
    writeln!(text, ".SH SYNOPSIS")?;
    for line in usage.trim_start_matches("Usage: ").lines() {
        writeln!(text, ".B {}\n.br", roff(line.trim()))?;
    }
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    let lines: Vec<&str> = examples::of(command, words).collect();
    if !lines.is_empty() {
        let is_agent = name.starts_with("segue-agent");
        writeln!(text, ".SH EXAMPLES\n.nf")?;
        for line in lines {
            let line = if is_agent { line.replace("segue agent", "segue-agent") } else { line.to_string() };
            writeln!(text, "{}", roff(&line))?;
        }
        writeln!(text, ".fi")?;
    }
    text.extend_from_slice(EXIT_STATUS.as_bytes());
    let first = words.split(' ').next().unwrap_or_default();
    section(&mut text, "FILES", FILES, first, "None but those that its words name.")?;
    section(&mut text, "ENVIRONMENT", ENVIRONMENT, first, "None.")?;
    see_also(&mut text, words)?;
    if command.get_version().is_some() {
        page.render_version_section(&mut text)?;
    }
    pages.insert(page.get_filename(), text);
    Ok(())
}

/// Text in which hyphens stay hyphens.
fn roff(text: &str) -> String {
    text.replace('-', "\\-")
}

/// The page of the program or of the command around it, and where all pages of the documentation are.
fn see_also(text: &mut Vec<u8>, words: &str) -> io::Result<()> {
    writeln!(text, ".SH \"SEE ALSO\"")?;
    if !words.is_empty() {
        let around = words.rsplit_once(' ').map_or("segue".into(), |(around, _)| format!("segue-{around}"));
        writeln!(text, ".BR {} (1)\n.br", roff(&around))?;
    }
    writeln!(text, "{}/tree/main/docs", env!("CARGO_PKG_REPOSITORY"))
}

/// Names with their meanings, each of which is about some commands.
type About = &'static [(&'static str, &'static str, &'static [&'static str])];

/// A section with what is about the command; the program's own page has all of it.
fn section(text: &mut Vec<u8>, heading: &str, all: About, command: &str, none: &str) -> io::Result<()> {
    writeln!(text, ".SH {heading}")?;
    let mut is_empty = true;
    for (name, meaning, _) in all.iter().filter(|(_, _, of)| command.is_empty() || of.contains(&command)) {
        writeln!(text, ".TP\n{name}\n{}", roff(meaning))?;
        is_empty = false;
    }
    if is_empty { writeln!(text, "{none}") } else { Ok(()) }
}

/// How all commands end, in roff.
const EXIT_STATUS: &str = r#".SH "EXIT STATUS"
.TP
0
The command did what it was asked for.
.TP
1
It failed by itself. Standard error has one line that says why.
.TP
2
The words, a file or the machine cannot be used. The line says what was expected.
"#;

/// Commands that read words of links.
const OF_LINKS: &[&str] = &[
    "compare",
    "run",
    "sweep",
    "trace",
    "diff",
    "repeat",
    "reproduce",
    "explore",
    "links",
    "trace-links",
    "lab",
];

const FILES: About = &[
    (
        r".I $XDG_CACHE_HOME/segue",
        "Simulated results, so that \\fBsegue reproduce\\fR computes each only once.",
        &["reproduce"],
    ),
    (r".I $XDG_CONFIG_HOME/segue/links.toml", "Links with names of the user's own.", OF_LINKS),
    (r".I /sys/fs/bpf/segue/", "Senders that are attached, by name.", &["kernel"]),
    (r".I /etc/segue/agent.toml", "Configuration of the agent.", &["agent"]),
    (
        r".I /run/segue/agent.sock",
        "Where the agent is asked, unless its configuration says otherwise.",
        &["agent"],
    ),
];

/// Commands that print tables, or words as wide as the screen.
const OF_TABLES: &[&str] = &[
    "compare",
    "run",
    "sweep",
    "merge",
    "trace",
    "diff",
    "repeat",
    "reproduce",
    "model",
    "kernel",
    "doctor",
    "lab",
    "explain",
    "schemes",
    "links",
    "trace-links",
    "measures",
];

const ENVIRONMENT: About = &[
    (
        "NO_COLOR",
        "If it is set and not empty, nothing is coloured unless \\fB--color\\fR asks for it.",
        OF_TABLES,
    ),
    ("COLUMNS", "Columns of a table; those of the terminal unless set, 80 without one.", OF_TABLES),
    ("XDG_CONFIG_HOME", "Where settings lie; ~/.config unless set.", OF_LINKS),
    ("XDG_CACHE_HOME", "Where the cache lies; ~/.cache unless set.", &["reproduce"]),
    ("PATH", "Where the programs of a laboratory are looked for.", &["lab", "doctor"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The sections that every page has, and examples of its own command.
    #[test]
    fn every_page_says_how_where_and_with_what() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().to_str().expect("a path").to_string();
        assert!(man(&ManArgs { out }).is_ok());
        let mut pages = 0;
        for file in std::fs::read_dir(folder.path()).expect("pages") {
            let file = file.expect("a page");
            let name = file.file_name().into_string().expect("text");
            let text = std::fs::read_to_string(file.path()).expect("text");
            let section = |heading: &str| {
                let (_, rest) = text
                    .split_once(&format!("\n.SH {heading}\n"))
                    .unwrap_or_else(|| panic!("{name}: {heading}"));
                rest.split("\n.SH ").next().unwrap_or_default().to_string()
            };
            // segue-model-tcp-ho.1 is about `segue model tcp-ho`.
            let plain = |words: &str| words.replace("\\-", "-").replace(' ', "-");
            let about = name.trim_end_matches(".1");
            for line in section("EXAMPLES").lines().filter(|line| !line.starts_with('.')) {
                assert!(plain(line.trim_start_matches("sudo ")).starts_with(about), "{name}: {line}");
            }
            let title = text.lines().next().unwrap_or_default();
            assert!(
                title.starts_with(&format!(".TH \"{}\" 1 \"\" \"Segue ", about.replace('-', "\\-"))),
                "{title}"
            );
            assert!(!text.contains("segue\\-help(1)"), "{name}: a page that is not there");
            for heading in ["SYNOPSIS", "\"EXIT STATUS\"", "FILES", "ENVIRONMENT", "\"SEE ALSO\""] {
                assert!(!section(heading).trim().is_empty(), "{name}: {heading}");
            }
            pages += 1;
        }
        assert!(pages > 10);
    }
}
