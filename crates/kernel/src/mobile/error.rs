//! Errors on the mobile host.

use segue_policy::wire::OptionError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the mobile host cannot negotiate or notify.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cgroup is not there, or no cgroup.
    #[error("cgroup {}: {source}; expected a folder of a mounted cgroup2", path.display())]
    Cgroup {
        /// As given.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel takes a program not, or not there.
    #[error("cannot {doing}: {source:#}")]
    Kernel {
        /// The attempt.
        doing: &'static str,
        /// libbpf's answer.
        source: libbpf_rs::Error,
    },
    /// The iterator over the connections broke off.
    #[error("the kernel's list of TCP connections broke off: {0}")]
    Connections(io::Error),
    /// No copies, or too many.
    #[error("{0} copies of a notice; expected 1 to {max}", max = super::records::COPIES)]
    Copies(u8),
    /// The first report is sent by the connection itself.
    #[error("a first report is no notice; expected a completed or a foreseen handoff")]
    FirstReport,
    /// A link that no report can tell.
    #[error("link in a report: {0}")]
    Report(OptionError),
    /// Too many prefixes.
    #[error("{0} prefixes of remote hosts; expected at most {max}", max = super::records::PREFIXES)]
    Scope(usize),
    /// The negotiated state cannot be kept.
    #[error("{}: {source}; expected a place in a bpf file system: mount -t bpf bpf /sys/fs/bpf", folder.display())]
    Keep {
        /// As given.
        folder: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Another agent.
    #[error(
        "another agent{} is at work with the {what} {}; expected a {what} of its own for each (`{key}` in the configuration)",
        process.map(|id| format!(" (process {id})")).unwrap_or_default(),
        path.display()
    )]
    Taken {
        /// The thing that it holds.
        what: &'static str,
        /// The key of the configuration that names it.
        key: &'static str,
        /// Where.
        path: PathBuf,
        /// The agent's process, where that is known.
        process: Option<u32>,
    },
    /// Programs of an agent, which a test sender has not.
    #[error("the programs for peers that have not negotiated are not loaded")]
    NoResume,
    /// A way out for packets about connections that this host forwards.
    #[error("frames of a device: {0}")]
    Exit(io::Error),
    /// At the egress of a device.
    #[error(transparent)]
    Egress(#[from] crate::sender::Error),
    /// A crafted packet was not sent.
    #[error("crafted packet to {remote}: {source}")]
    Send {
        /// The connection's peer.
        remote: SocketAddr,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Addresses of two families in one connection.
    #[error("connection from {0} to {1}: expected addresses of one family")]
    Families(SocketAddr, SocketAddr),
}

impl Error {
    /// Whether what the caller gave was wrong (exit status 2), rather than the host or this program (1).
    pub fn is_users(&self) -> bool {
        matches!(self, Self::Egress(error) if error.is_user())
            || matches!(
                self,
                Self::Cgroup { .. }
                    | Self::Keep { .. }
                    | Self::Taken { .. }
                    | Self::Scope(_)
                    | Self::Copies(_)
                    | Self::FirstReport
                    | Self::Report(_)
            )
    }

    /// Whether the same may go well a moment later: the queue of a device was full.
    pub fn is_for_now(&self) -> bool {
        use io::ErrorKind::{Interrupted, WouldBlock};
        let full = |source: &io::Error| source.raw_os_error() == Some(nix::libc::ENOBUFS);
        matches!(self, Self::Send { source, .. } if full(source) || matches!(source.kind(), WouldBlock | Interrupted))
    }

    pub(super) fn kernel(doing: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Self {
        move |source| Self::Kernel { doing, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc::{EAGAIN, ENETUNREACH, ENOBUFS, ENODEV};

    #[test]
    fn a_full_queue_passes_and_a_missing_route_does_not() {
        let remote = SocketAddr::from(([192, 0, 2, 1], 80));
        let refused =
            |errno| Error::Send { remote, source: io::Error::from_raw_os_error(errno) }.is_for_now();
        assert_eq!([EAGAIN, ENOBUFS, ENETUNREACH, ENODEV].map(refused), [true, true, false, false]);
        assert!(!Error::NoResume.is_for_now());
    }
}
