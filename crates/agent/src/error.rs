//! Errors of the agent, one line each.

use segue_console::Failure;
use segue_kernel::mobile;
use std::io;
use std::path::PathBuf;

/// Why the agent does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong, and where.
    #[error("{path}, line {line}, column {column}: {problem}")]
    Config {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// The fault, and what was expected.
        problem: String,
    },
    /// The configuration cannot be read.
    #[error("cannot read {path}: {problem}; expected the agent's configuration in TOML")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        problem: String,
    },
    /// Another agent has the same control socket.
    #[error(
        "another agent{} is at work with the control socket {}; `segue agent status` asks it; expected `control`, \
         `cgroup` and `pin` of its own for each",
        process.as_ref().map(|id| format!(" (process {id})")).unwrap_or_default(),
        control.display()
    )]
    Locked {
        /// The control socket.
        control: PathBuf,
        /// Its process.
        process: Option<String>,
    },
    /// The control socket cannot be made, or reached.
    #[error("control socket {}: {problem}", path.display())]
    Control {
        /// Its path.
        path: PathBuf,
        /// Why, and what was expected.
        problem: String,
        /// Whether what the user gave was wrong.
        user: bool,
    },
    /// No user or group of this name.
    #[error("no group `{0}` on this host; expected the name or number of one in /etc/group")]
    Group(String),
    /// No cgroup2.
    #[error("{}", segue_kernel::host::NO_CGROUP2)]
    NoCgroup2,
    /// The programs of the mobile host.
    #[error(transparent)]
    Mobile(#[from] mobile::Error),
    /// The programs of uploads, and of what is done beside peers that run nothing of ours.
    #[error(transparent)]
    Programs(#[from] segue_kernel::sender::Error),
    /// Rights that are missing.
    #[error("{0}")]
    Rights(String),
    /// The kernel refused something.
    #[error("cannot {doing}: {source}")]
    System {
        /// The attempt.
        doing: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_users() { Self::user(error) } else { Self::ours(error) }
    }
}

impl Error {
    /// Whether what the caller gave was wrong (exit status 2), rather than the host or this program (1).
    pub fn is_users(&self) -> bool {
        match self {
            Self::Config { .. } | Self::Unreadable { .. } | Self::Locked { .. } | Self::Group(_) => true,
            Self::Control { user, .. } => *user,
            Self::Mobile(error) => error.is_users(),
            Self::Programs(error) => error.is_user(),
            Self::NoCgroup2 | Self::Rights(_) | Self::System { .. } => false,
        }
    }

    pub(super) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }
}
