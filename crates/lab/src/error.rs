//! Errors of a laboratory, one line each.

use std::io;

/// Why a run ended without a record.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan itself.
    #[error("plan: {0}")]
    Plan(String),
    /// Not root.
    #[error("a laboratory needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); this process has user id {0}")]
    NotRoot(u32),
    /// No `/dev/net/tun`.
    #[error("/dev/net/tun is missing: the kernel's TUN driver (CONFIG_TUN) carries the laboratory's packets")]
    NoTun,
    /// A program that is not installed.
    #[error("`{program}` is not in PATH; the laboratory's programs need it")]
    NoProgram {
        /// Its name.
        program: String,
    },
    /// No cgroup2.
    #[error("no cgroup2 in /proc/mounts: the programs of each host run in a cgroup of their own")]
    NoCgroup2,
    /// Servers of plain TCP would negotiate.
    #[error(
        "a sender of Segue is attached to {cgroup}, and so to all servers; expected none: detach it, or end its program"
    )]
    Attached {
        /// The root of all cgroups.
        cgroup: String,
    },
    /// The kernel refused something.
    #[error("{what}: {source}")]
    System {
        /// The attempt.
        what: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel has no such congestion control.
    #[error("the kernel has no congestion control `{name}`; it has: {known}")]
    CongestionControl {
        /// The name asked for.
        name: String,
        /// `tcp_available_congestion_control`.
        known: String,
    },
    /// The kernel is too old for a setting.
    #[error("{sysctl} is missing: it needs Linux {since}")]
    OldKernel {
        /// The setting.
        sysctl: String,
        /// The first kernel that has it.
        since: &'static str,
    },
    /// A program ended or failed while it was needed.
    #[error("{program} {what}: {said}")]
    Program {
        /// The program.
        program: String,
        /// Its end or failure.
        what: String,
        /// Its last words.
        said: String,
    },
    /// Nothing came in time.
    #[error("waited {seconds} s for {what}")]
    Timeout {
        /// Length of the wait, s.
        seconds: f64,
        /// The thing waited for.
        what: String,
    },
    /// The emulator cannot reach a device any more.
    #[error("the link emulator lost the {host}'s device ({source}); did its namespace disappear?")]
    Device {
        /// The host.
        host: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The machine could not keep up.
    #[error(
        "the hosts' devices threw {drops} packets away before the link emulator came for them; run fewer laboratories at once"
    )]
    Overloaded {
        /// Packets.
        drops: u64,
    },
    /// Ours, at one of the two ends.
    #[error("{end}: {said}")]
    Agent {
        /// Which end.
        end: &'static str,
        /// Its words.
        said: String,
    },
    /// SIGINT, SIGTERM or SIGHUP.
    #[error("interrupted")]
    Interrupted,
    /// A thread of ours panicked.
    #[error("a fault of the laboratory: {0}")]
    Fault(String),
}

impl Error {
    /// `map_err(Error::system("what was to be done"))`
    pub(super) fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |source| Self::System { what, source: source.into() }
    }
}

impl Error {
    /// Whether a program has ended because the kernel held its connection for dead (`tcp_retries2`). With a
    /// `tcp_rto_max_ms` of 1 s that takes no longer than some outages.
    pub fn is_given_up(&self) -> bool {
        matches!(self, Self::Program { said, .. } if said.contains("Connection timed out"))
    }
}
