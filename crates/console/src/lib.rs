//! The command-line parts that Segue's programs share. An error is one line on standard error, with exit status 2 for
//! the user's mistakes and 1 for ours. Standard output may be closed at any time.

mod message;
mod table;

use message::with_short_words;
pub use message::{one_line, printable};
pub use table::{WHOLE, lines, plain_table};

use segue_output::OutputError;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Failures, by whose fault.
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
    pub fn user(error: impl Display) -> Self {
        Self::User(error.to_string())
    }

    /// A result that could not be written although its place had been found good.
    pub fn writing(error: OutputError) -> Self {
        match error.problem.kind() {
            ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::ours(error),
        }
    }

    /// A fault of the program or of the machine.
    pub fn ours(error: impl Display) -> Self {
        Self::Ours(error.to_string())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::user(error)
    }
}

/// Prints to standard output; a reader that has gone is no panic.
///
/// # Errors
/// [`Failure::Closed`], or it cannot be written to.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(error) => Err(Failure::ours(format!("cannot write to standard output: {error}"))),
    }
}

/// Prints the help or the version, which clap hands out as an error.
///
/// # Errors
/// As of [`print`].
pub fn print_help(help: &clap::Error, styled: bool) -> Result<(), Failure> {
    let text = help.render();
    let text = if styled { text.ansi().to_string() } else { text.to_string() };
    // Where it wraps, the library leaves blanks.
    print(&text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>())
}

/// Ends a program: the failure in one line on standard error, and the exit status.
pub fn exit_status(program: &str, result: Result<(), Failure>) -> u8 {
    match result {
        Ok(()) | Err(Failure::Closed) => 0,
        Err(failure) => {
            // If even this cannot be written, the status still tells.
            let _ = writeln!(
                std::io::stderr(),
                "{program}: {}",
                printable(&with_short_words(&failure.to_string()))
            );
            if matches!(failure, Failure::User(_)) { 2 } else { 1 }
        }
    }
}
