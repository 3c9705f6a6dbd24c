//! `segue`: the command line. Thin: it reads words, calls the rooms below and prints. What it understands by its words
//! is there for other front ends as well (python/): [`command`], and what each command makes of its arguments.

#[cfg(feature = "live")]
mod agent;
pub mod cli;
pub mod compare;
mod diff;
#[cfg(feature = "live")]
mod doctor;
mod drive;
pub mod events;
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
pub mod model;
pub mod model_lcfd;
pub mod outputs;
mod pages;
mod progress;
pub mod reproduce;
mod request;
pub mod run;
mod schemes;
pub mod sweep;
mod table;
pub mod trace;

use clap::Parser;
use cli::{Cli, Command};
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};

/// What can go wrong, by whose fault.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's mistake: exit status 2.
    #[error("{0}")]
    User(String),
    /// Ours: exit status 1.
    #[error("{0}")]
    Ours(String),
    /// Nobody reads standard output any more.
    #[error("standard output is closed")]
    Closed,
}

impl Failure {
    /// A mistake of the user.
    pub fn user(error: impl std::fmt::Display) -> Self {
        Self::User(error.to_string())
    }

    /// A result that could not be written although its place had been found good.
    pub fn writing(error: segue_export::OutputError) -> Self {
        match error.problem.kind() {
            ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::ours(error),
        }
    }

    /// A fault of the program or of the machine.
    pub fn ours(error: impl std::fmt::Display) -> Self {
        Self::Ours(error.to_string())
    }
}

impl From<segue_export::OutputError> for Failure {
    fn from(error: segue_export::OutputError) -> Self {
        Self::user(error)
    }
}

/// Prints to standard output; a reader that has gone is no panic.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(error) => Err(Failure::ours(format!("cannot write to standard output: {error}"))),
    }
}

/// The command that `words` ask for, the first of them being the program's name.
///
/// Errors: [`Failure::User`] with the line that the command line prints.
pub fn command(words: &[OsString]) -> Result<Command, Failure> {
    understood(Cli::try_parse_from(words))
}

fn understood(parsed: Result<Cli, clap::Error>) -> Result<Command, Failure> {
    parsed.map(|cli| cli.command).map_err(|error| Failure::User(cli::one_line(&error)))
}

fn run(words: &[OsString]) -> Result<(), Failure> {
    let parsed = match Cli::try_parse_from(words) {
        Err(error) if !error.use_stderr() => {
            let text = error.render();
            let styled = std::io::stdout().is_terminal();
            return print(&if styled { text.ansi().to_string() } else { text.to_string() });
        }
        parsed => parsed,
    };
    let origin = outputs::origin(words);
    match understood(parsed)? {
        Command::Compare(args) => compare::run(&args, &origin),
        Command::Run(args) => run::run(&args, &origin),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Merge(args) => sweep::merge(&args),
        Command::Trace(args) => trace::run(&args, &origin),
        Command::Diff(args) => diff::run(&args),
        Command::Reproduce(args) => reproduce::run(&args, &origin),
        Command::Model(args) => model::run(&args.model),
        #[cfg(feature = "live")]
        Command::Kernel(args) => kernel::run(&args.command),
        #[cfg(feature = "live")]
        Command::Agent(args) => agent::run(&args.command),
        #[cfg(feature = "live")]
        Command::Doctor(args) => doctor::run(&args),
        #[cfg(feature = "live")]
        Command::Lab(args) => match args.command {
            cli::LabCommand::Run(args) => lab::run(&args, &origin),
            cli::LabCommand::Drive(args) => lab_drive::run(&args),
            cli::LabCommand::Cost(args) => lab_cost::run(&args),
        },
        #[cfg(feature = "live")]
        Command::LabEnd(args) => lab_end::run(&args),
        #[cfg(feature = "explore")]
        Command::Explore(args) => explore::run(&args),
        Command::Schemes(args) => schemes::run(&args),
        Command::Man(args) => pages::man(&args),
        Command::Completions(args) => pages::completions(&args),
    }
}

/// Does what `words` ask for, the first of them being the program's name, and prints.
///
/// The exit status is 0, 2 after a mistake of the user and 1 after one of ours, each told in one line on standard error.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    match run(&words) {
        Ok(()) | Err(Failure::Closed) => 0,
        Err(failure) => {
            // If even this cannot be written, the status still tells.
            let _ = writeln!(std::io::stderr(), "segue: {}", cli::printable(&failure.to_string()));
            if matches!(failure, Failure::User(_)) { 2 } else { 1 }
        }
    }
}
