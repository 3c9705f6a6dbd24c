//! A round as the agent records it: why it began, whom it told, and what it came to.

use super::estimate::Estimate;
use ipnet::IpNet;
use serde::Serialize;

/// Why a round begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The route leads over another link.
    Moved,
    /// The same link is back.
    Returned,
    /// The host has slept.
    Resumed,
    /// An agent before this one was killed.
    Restarted,
    /// Somebody told it.
    Told,
    /// Somebody foresees a handoff.
    Foreseen,
}

/// Record of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// Number of the round, from 1 with this agent.
    pub number: u64,
    /// Reason for which it began.
    pub cause: Cause,
    /// The watched prefix.
    pub watch: IpNet,
    /// Over which device.
    pub device: String,
    /// The estimate that was told; `None`: nothing, for nothing is known of the link.
    pub estimate: Option<Estimate>,
    /// ns from the handoff to the first pass, from there to the end.
    pub waited_ns: u64,
    /// See `waited_ns`.
    pub took_ns: u64,
    /// Told in the kernel's ACKs.
    pub triggered: u32,
    /// Told in crafted ones.
    pub crafted: u32,
    /// Told, until the end of the round, in ACKs of their own.
    pub acked: u32,
    /// Will be told in ACKs of their own.
    pub waiting: u32,
    /// Flows of this host that waited for their timers and were made to resend.
    pub resent: u32,
    /// Flows of this host that send and on which the policy has acted.
    pub governed: u32,
    /// Those that have a congestion control of which it knows nothing.
    pub left: u32,
    /// Connections that may wait since an outage and whose peers have not negotiated: they are helped.
    pub helped: u32,
    /// Not told: why, and how many.
    pub refused: Refused,
    /// A newer handoff has ended it.
    pub superseded: bool,
}

/// Connections that were not told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The peer has no capability, or the connection is older than the agent.
    pub unnegotiated: u32,
    /// The peer will send nothing more.
    pub closing: u32,
    /// No room in the kernel's ACKs, and no other way allowed.
    pub unwritten: u32,
    /// The host could not send.
    pub unsent: u32,
    /// The first reason why.
    pub reason: Option<String>,
}

/// A prefix, as `status` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchStatus {
    /// The prefix.
    pub to: IpNet,
    /// Over which device; `None`: there is no way.
    pub device: Option<String>,
    /// The estimate of its link.
    pub estimate: Option<Estimate>,
}
