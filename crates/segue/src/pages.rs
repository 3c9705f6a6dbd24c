//! Manual pages, made from the command line's own definition.

use crate::Failure;
use crate::cli::ManArgs;
use crate::examples::{self, EXAMPLES};
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
    let mut program = examples::program().version(env!("CARGO_PKG_VERSION"));
    program.build();
    pages_of(&program, &mut pages).map_err(Failure::ours)?;
    // In place of the pages of `segue agent`, which are those of this program.
    #[cfg(feature = "live")]
    {
        let mut agent = segue_agent::cli::Cli::command();
        agent.build();
        pages_of(&agent, &mut pages).map_err(Failure::ours)?;
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

/// A page of the command and one of each below it, by the name of its file.
fn pages_of(command: &Command, pages: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let seen = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands().filter(seen) {
        pages_of(below, pages)?;
    }
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    if let Some((_, lines)) = EXAMPLES.iter().find(|(name, _)| *name == command.get_name()) {
        writeln!(text, ".SH EXAMPLES\n.nf")?;
        for line in *lines {
            writeln!(text, "{}", line.replace('-', "\\-"))?;
        }
        writeln!(text, ".fi")?;
    }
    text.extend_from_slice(EVERYWHERE.as_bytes());
    if command.get_version().is_some() {
        page.render_version_section(&mut text)?;
    }
    pages.insert(page.get_filename(), text);
    Ok(())
}

/// Sections that all pages have, in roff.
const EVERYWHERE: &str = r#".SH "EXIT STATUS"
.TP
0
The command did what it was asked for.
.TP
1
It failed by itself. Standard error has one line that says why.
.TP
2
The words, a file or the machine cannot be used. The line says what was expected.
.SH FILES
.TP
.I $XDG_CACHE_HOME/segue
Results that \fBsegue reproduce\fR keeps.
.TP
.I $XDG_CONFIG_HOME/segue/links.toml
Links with names of the user's own.
.TP
.I /etc/segue/agent.toml
Configuration of the agent.
.SH ENVIRONMENT
.TP
NO_COLOR
If it is set and not empty, nothing is coloured unless \fB\-\-color\fR asks for it.
.TP
COLUMNS
Columns of a table; those of the terminal unless set, 80 without one.
.TP
XDG_CONFIG_HOME
Where settings lie; ~/.config unless set.
.TP
XDG_CACHE_HOME
Where the cache lies; ~/.cache unless set.
"#;
