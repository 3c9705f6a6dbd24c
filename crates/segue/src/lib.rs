//! `segue`: the command line. Thin: it reads words, calls the rooms below and prints. Other front ends share its
//! understanding of words (python/): [`command`], and what each command makes of its arguments.

#[cfg(feature = "live")]
mod agent;
pub mod args;
pub mod cli;
pub mod compare;
mod completions;
mod diff;
#[cfg(feature = "live")]
mod doctor;
#[cfg(feature = "files")]
pub mod drive;
pub mod events;
mod examples;
mod explain;
#[cfg(feature = "explore")]
mod explore;
#[cfg(feature = "live")]
mod kernel;
#[cfg(feature = "live")]
mod lab;
#[cfg(feature = "live")]
mod lab_cost;
#[cfg(feature = "live")]
mod lab_drive;
#[cfg(feature = "live")]
mod lab_end;
#[cfg(feature = "live")]
mod lab_machine;
#[cfg(feature = "live")]
mod lab_senders;
#[cfg(feature = "live")]
mod lab_table;
mod layout;
mod links;
mod measures;
#[cfg(feature = "papers")]
pub mod model;
#[cfg(feature = "papers")]
pub mod model_lcfd;
#[cfg(feature = "papers")]
mod model_output;
pub mod outputs;
mod pages;
mod progress;
mod repeat;
#[cfg(feature = "papers")]
pub mod reproduce;
mod request;
#[cfg(feature = "files")]
pub mod run;
mod schema;
mod schemes;
pub mod screen;
mod settings;
#[cfg(feature = "tables")]
pub mod sweep;
mod table;
pub mod trace;
mod traffic_table;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use cli::{Cli, Command};
use screen::{ColourWord, Screen};
use segue_world::access::LinkNames;
use std::ffi::OsString;

pub use segue_console::{Failure, print, printable};

/// The command that `words` ask for, the first of them being the program's name.
///
/// Errors: [`Failure::User`] with the line that the command line prints.
pub fn command(words: &[OsString]) -> Result<Command, Failure> {
    let parsed = parse(words).map_err(|error| Failure::User(examples::one_line(&error, words)))?;
    let mut command = parsed.command;
    name_own_links(&mut command)?;
    Ok(command)
}

/// The command line with its examples, which the derived parser does not know.
fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&examples::program().try_get_matches_from(words)?)
}

/// Tells what stands beside results where no table tells it.
fn warn(warnings: impl IntoIterator<Item = impl std::fmt::Display>) {
    for warning in warnings {
        eprintln!("segue: warning: {warning}");
    }
}

/// The names of the user's own links.
///
/// Errors: [`Failure::User`] with the place in the file.
pub fn own_links() -> Result<LinkNames, Failure> {
    #[cfg(feature = "files")]
    let names = segue_files::links::own_links().map_err(Failure::user);
    #[cfg(not(feature = "files"))]
    let names = Ok(LinkNames::default());
    names
}

/// Tells a command that reads links the names of the user's own: another one works whatever their file has.
///
/// Errors: as of [`own_links`].
fn name_own_links(command: &mut Command) -> Result<(), Failure> {
    let names = match command {
        Command::Compare(args) => &mut args.bench.names,
        Command::Trace(args) => &mut args.bench.names,
        Command::Repeat(args) => &mut args.names,
        Command::Links(args) => &mut args.names,
        // It has much else to tell.
        Command::Explain(args) => {
            match own_links() {
                Ok(names) => args.names = names,
                Err(failure) => warn([failure]),
            }
            return Ok(());
        }
        Command::TraceLinks(args) => &mut args.names,
        #[cfg(feature = "files")]
        Command::Run(args) => &mut args.names,
        #[cfg(feature = "tables")]
        Command::Sweep(args) => &mut args.names,
        #[cfg(feature = "live")]
        Command::Lab(args) => match &mut args.command {
            lab::LabCommand::Run(args) => &mut args.names,
            lab::LabCommand::Drive(args) => &mut args.names,
            lab::LabCommand::Cost(_) => return Ok(()),
        },
        #[cfg(feature = "explore")]
        Command::Explore(args) => &mut args.names,
        _ => return Ok(()),
    };
    *names = own_links()?;
    Ok(())
}

fn run(words: &[OsString]) -> Result<(), Failure> {
    if words.len() == 1 || words[1..] == ["--"] {
        return print(&examples::first_page());
    }
    let parsed = match parse(words) {
        // Options without a command.
        Err(error)
            if error.kind() == ErrorKind::MissingSubcommand
                && error.get(ContextKind::InvalidSubcommand)
                    == Some(&ContextValue::String("segue".to_owned())) =>
        {
            return print(&examples::first_page());
        }
        Err(error) if !error.use_stderr() => {
            return segue_console::print_help(&error, ColourWord::among(words).on_stdout());
        }
        parsed => parsed,
    };
    let mut parsed = parsed.map_err(|error| Failure::User(examples::one_line(&error, words)))?;
    name_own_links(&mut parsed.command)?;
    let origin = outputs::origin(words);
    let screen = Screen::new(parsed.color, parsed.quiet, parsed.progress);
    match parsed.command {
        Command::Compare(args) => compare::run(&args, &origin, &screen),
        #[cfg(feature = "files")]
        Command::Run(args) => run::run(&args, &origin, &screen),
        #[cfg(feature = "tables")]
        Command::Sweep(args) => sweep::sweep(&args, &screen),
        #[cfg(feature = "tables")]
        Command::Merge(args) => sweep::merge(&args),
        Command::Trace(args) => trace::run(&args, &origin, &screen),
        Command::Diff(args) => diff::run(&args, &origin, &screen),
        Command::Repeat(args) => repeat::run(&args, origin.version, &screen),
        #[cfg(feature = "papers")]
        Command::Reproduce(args) => reproduce::run(&args, &origin, &screen),
        #[cfg(feature = "papers")]
        Command::Model(args) => model::run(&args.model, &origin, &screen),
        #[cfg(feature = "live")]
        Command::Kernel(args) => kernel::run(&args.command, &origin),
        #[cfg(feature = "live")]
        Command::Agent(_) => agent::run(words),
        #[cfg(feature = "live")]
        Command::Doctor(args) => doctor::run(&args, &origin, &screen),
        #[cfg(feature = "live")]
        Command::Lab(args) => match args.command {
            lab::LabCommand::Run(args) => lab::run(&args, &origin, &screen),
            lab::LabCommand::Drive(args) => lab_drive::run(&args, &origin, &screen),
            lab::LabCommand::Cost(args) => lab_cost::run(&args, &origin, &screen),
        },
        #[cfg(feature = "live")]
        Command::LabEnd(args) => lab_end::run(&args),
        #[cfg(feature = "explore")]
        Command::Explore(args) => explore::run(&args, origin.version),
        Command::Schemes(args) => schemes::run(&args, &screen),
        Command::Explain(args) => explain::run(&args, &screen),
        Command::Links(args) => links::run(&args, &screen),
        Command::TraceLinks(args) => links::trace(&args),
        Command::Measures(args) => measures::run(&args, &screen),
        Command::Schema(args) => schema::run(&args),
        Command::Man(args) => pages::man(&args),
        Command::Completions(args) => completions::completions(&args),
    }
}

/// Does what `words` ask for, the first of them being the program's name, and prints.
///
/// The exit status is 0, 2 after a mistake of the user and 1 after one of ours, each told in one line on standard error.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let is_own = |name: &str| {
        own_links().is_ok_and(|links| links.own().iter().any(|(own, _)| own.eq_ignore_ascii_case(name)))
    };
    let words = explain::with_options_as_names(words.into_iter().collect());
    let words = args::with_neighbours_joined(words, is_own);
    segue_console::exit_status("segue", run(&words))
}
