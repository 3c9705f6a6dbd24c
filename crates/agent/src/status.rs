//! The agent's status report.

use super::others::OthersStatus;
use super::receivers::ReceiverStatus;
use super::round::{Round, WatchStatus};
use segue_kernel::mobile::ConnectionCounts;
use serde::Serialize;

/// `segue agent status --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Version of this format.
    pub version: u32,
    /// The agent's process.
    pub process: u32,
    /// For how long it is at work, s.
    pub up_s: u64,
    /// Whether this kernel lets notices leave in its own ACKs.
    pub triggers: bool,
    /// Whether a Wi-Fi radio's rates can be asked for.
    pub stations: bool,
    /// The scheme that acts on this host's own flows; none: they keep their windows.
    pub uploads: Option<String>,
    /// Work at devices beside peers that run nothing of ours.
    pub receivers: Vec<ReceiverStatus>,
    /// Help for connections whose peers have not negotiated.
    pub others: OthersStatus,
    /// The prefixes that are watched.
    pub watch: Vec<WatchStatus>,
    /// Connections of the last notice's scope now.
    pub connections: Connections,
    /// Notices since the start, in connections.
    pub notices: Notices,
    /// The last rounds, the oldest first.
    pub rounds: Vec<Round>,
    /// Questions to the control socket that were refused.
    pub denied: u64,
    /// The program that answers.
    pub origin: Origin,
}

/// Where a status comes from.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Origin {
    /// The agent's version and the commit that it was built from, where that is known.
    pub program: &'static str,
    /// The command that asks for it.
    pub command: &'static str,
}

impl Default for Origin {
    fn default() -> Self {
        Self { program: super::cli::VERSION, command: "segue agent status" }
    }
}

/// Numbers of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// Can be told.
    pub negotiated: u32,
    /// Cannot: the peer has no capability, or the connection is older than the agent.
    pub unnegotiated: u32,
    /// Their peers will send nothing more.
    pub closing: u32,
    /// Will tell their peers with their next ACKs.
    pub waiting: u32,
}

impl From<ConnectionCounts> for Connections {
    fn from(counts: ConnectionCounts) -> Self {
        let ConnectionCounts { negotiated, unnegotiated, closing, waiting } = counts;
        Self { negotiated, unnegotiated, closing, waiting }
    }
}

/// Notices since the start, in connections that were told, by the way they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notices {
    /// Rounds that have ended.
    pub rounds: u64,
    /// In the kernel's ACKs.
    pub triggered: u64,
    /// In crafted ones.
    pub crafted: u64,
    /// In ACKs that the connection sent by itself.
    pub acked: u64,
    /// Flows of this host that were made to resend.
    pub resent: u64,
    /// Flows of this host on which the policy has acted.
    pub governed: u64,
    /// No room for the option, and no other way allowed.
    pub unwritten: u64,
    /// The host could not send.
    pub unsent: u64,
    /// Handoffs to links of which nothing is known.
    pub unknown: u64,
}

impl Notices {
    /// Counts a round.
    pub fn add(&mut self, round: &Round) {
        self.rounds += 1;
        self.triggered += u64::from(round.triggered);
        self.crafted += u64::from(round.crafted);
        self.resent += u64::from(round.resent);
        self.governed += u64::from(round.governed);
        self.unwritten += u64::from(round.refused.unwritten);
        self.unsent += u64::from(round.refused.unsent);
        self.unknown += u64::from(round.estimate.is_none() && !round.superseded);
    }
}
