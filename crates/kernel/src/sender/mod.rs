//! The sender: a congestion control of eBPF and the programs that hear notices.
//!
//! [`attach`] loads `bpf/sender/sender.bpf.c`, registers the congestion control and attaches the rest to a cgroup. From
//! then on connections whose peers offer the capability run on it. Decisions are those of `policy/`.

mod attach;
pub(crate) mod icmp;
mod local_handoff;
mod lock;
pub(crate) mod namespace;
mod pins;
mod status;

pub use attach::{Sender, attach, check_name, detach, is_attached};
pub(crate) use attach::{free_name, kernel_name};
pub use local_handoff::{Governed, LocalPolicy};
pub use status::{Counter, FlowStatus, LinkStatus, Status, status};

use crate::layouts::{TABLES, segue_scheme};
use segue_policy::{Algorithms, SettingError, Settings, TcpHoSettings, Variant};
use std::io;
use std::path::PathBuf;

/// A sender to be attached.
#[derive(Clone, Debug)]
pub struct Options {
    /// A folder of cgroup2: the sockets of its processes are concerned.
    pub cgroup: PathBuf,
    /// The congestion control's name; at most 15 letters, digits, `_` and `.`.
    pub name: String,
    /// The congestion control that it wraps.
    pub around: Around,
    /// The policy that decides.
    pub policy: Policy,
    /// Resend the head by RFC 6069, with ICMP packets from and to this host; [`Sender::serve`] sends them.
    pub icmp: bool,
    /// Mark the listeners that exist already, of the caller's network namespace.
    pub listeners: bool,
    /// A folder to make in bpffs, in which everything is pinned; `None`: detached when dropped.
    pub pin: Option<PathBuf>,
}

/// The congestion control that does the everyday work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Around {
    /// RFC 9438.
    Cubic,
    /// Version 1, as in Linux.
    Bbr,
}

impl Around {
    /// Its name in the kernel.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// The policy that decides on a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Enhanced TCP.
    Etcp(Settings),
    /// TCP-HO.
    TcpHo(TcpHoSettings),
    /// Another policy of `bpf/sender/schemes.h`, without settings; its name in C.
    Plain(&'static str),
    /// Nobody: the congestion control alone, to see what the rest costs.
    Unaware,
}

/// The names that [`Policy::named`] knows beside `etcp:a2+a3` and the like.
pub const SCHEMES: [&str; 9] = [
    "etcp",
    "etcp-a5",
    "etcp-v0",
    "etcp-v1",
    "near",
    "tcp-ho",
    "tcp-ho-immediate",
    "tcp-ho-aggressive",
    "unaware",
];

impl Policy {
    /// A scheme by name as Linux runs it ([`Settings::on_linux`]), with knobs turned.
    pub fn named(scheme: &str, set: &[(String, String)]) -> Result<Self, SettingError> {
        let mut policy = match scheme {
            "unaware" => Self::Unaware,
            "tcp-ho" => Self::TcpHo(TcpHoSettings::new(Variant::TCP_HO)),
            "tcp-ho-immediate" => Self::TcpHo(TcpHoSettings::new(Variant::IMMEDIATE)),
            "tcp-ho-aggressive" => Self::TcpHo(TcpHoSettings::new(Variant::AGGRESSIVE)),
            _ if let Some(name) = plain(scheme) => Self::Plain(name),
            _ => Self::Etcp(Settings::adopted(scheme).map_err(|error| name_all(error, scheme))?.on_linux()),
        };
        for (key, value) in set {
            match &mut policy {
                Self::Etcp(settings) => settings.set(key, value)?,
                Self::TcpHo(settings) => settings.set(key, value)?,
                Self::Unaware | Self::Plain(_) => {
                    return Err(SettingError::Unknown {
                        what: "setting",
                        word: key.clone(),
                        expected: "a setting of a scheme that reacts, such as etcp-v1".to_owned(),
                        hint: String::new(),
                    });
                }
            }
        }
        Ok(policy)
    }

    /// The number of its table and the words of its settings.
    pub(crate) fn in_kernel(&self) -> (segue_scheme, Vec<u32>) {
        match self {
            Self::Unaware => (segue_scheme::SEGUE_SCHEME_unaware, Vec::new()),
            Self::Etcp(settings) => (segue_scheme::SEGUE_SCHEME_etcp, settings.words().to_vec()),
            Self::TcpHo(settings) => (segue_scheme::SEGUE_SCHEME_tcp_ho, settings.words().to_vec()),
            Self::Plain(name) => {
                let found = TABLES.iter().find(|(other, _)| other == name);
                (found.map_or(segue_scheme::SEGUE_SCHEME_unaware, |(_, number)| *number), Vec::new())
            }
        }
    }

    /// Whether it claims a part of the new link for a while (`bpf/sender/claim.h`).
    pub(crate) fn claims(&self) -> bool {
        *self == Self::Plain("near")
    }

    /// The scheme's name; knobs apart.
    pub fn name(&self) -> String {
        match self {
            Self::Unaware => "unaware".to_owned(),
            Self::Plain(name) => name.replace('_', "-"),
            Self::TcpHo(settings) => match settings.variant {
                Variant::IMMEDIATE => "tcp-ho-immediate",
                Variant::AGGRESSIVE => "tcp-ho-aggressive",
                _ => "tcp-ho",
            }
            .to_owned(),
            Self::Etcp(settings) => match settings.algorithms {
                Algorithms::ETCP => "etcp".to_owned(),
                Algorithms::ETCP_A5 => "etcp-a5".to_owned(),
                Algorithms::ETCP_V if settings.use_n == 0 => "etcp-v0".to_owned(),
                Algorithms::ETCP_V => "etcp-v1".to_owned(),
                some => {
                    let named = Algorithms::NAMES.iter().filter(|(algorithm, _)| some.has(*algorithm));
                    format!("etcp:{}", named.map(|(_, name)| *name).collect::<Vec<_>>().join("+"))
                }
            },
        }
    }
}

/// A policy that needs nothing but its table: that of the scheme with this name.
fn plain(scheme: &str) -> Option<&'static str> {
    let others =
        TABLES.iter().map(|(name, _)| *name).filter(|name| !["unaware", "etcp", "tcp_ho"].contains(name));
    others.into_iter().find(|name| name.replace('_', "-") == scheme)
}

/// A word that is no scheme, with all that are.
fn name_all(error: SettingError, word: &str) -> SettingError {
    match error {
        SettingError::Unknown { .. } if !word.starts_with("etcp") => SettingError::Unknown {
            what: "scheme",
            word: word.to_owned(),
            expected: format!("one of {}", SCHEMES.join(", ")),
            hint: segue_words::did_you_mean(word, SCHEMES),
        },
        other => other,
    }
}

/// Why a sender cannot be attached, seen or detached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A mistake in the words of the user.
    #[error("{0}")]
    User(String),
    /// Rights, a kernel or a mount that is missing.
    #[error("{0}")]
    Machine(String),
    /// The kernel refused.
    #[error("{what}: {why}")]
    Kernel {
        /// The attempt.
        what: String,
        /// Its answer.
        why: String,
    },
    /// A file or a socket.
    #[error("{what}: {problem}")]
    Io {
        /// The attempt.
        what: String,
        /// The fault.
        problem: io::Error,
    },
}

impl Error {
    /// Whether other words on the command line would help.
    pub const fn is_user(&self) -> bool {
        matches!(self, Self::User(_))
    }

    pub(crate) fn io(what: impl Into<String>, problem: impl Into<io::Error>) -> Self {
        Self::Io { what: what.into(), problem: problem.into() }
    }

    pub(crate) fn kernel(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        // One line: what libbpf adds on further ones is for its developers.
        let why = format!("{why:#}").lines().next().unwrap_or_default().to_owned();
        Self::Kernel { what: what.into(), why }
    }
}
