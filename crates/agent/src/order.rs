//! Orders of [`Rounds`](super::rounds::Rounds) to the part of the agent that has sockets.

use super::round::Round;
use ipnet::IpNet;
use segue_kernel::mobile::{Notice, Scope};
use segue_mobile::notices::Pace;
use segue_policy::{Link, Notice as Handoff};

/// Work to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Connections established from now on report this link.
    First(Link),
    /// A round begins: what its peers are told, and whom it is for. The last field is there after a completed handoff
    /// from a known link. It is for the policy of this host's own flows (N is still to be counted).
    Begin(Notice, Vec<Scope>, Option<Handoff>),
    /// The link is back after an outage: connections may wait.
    Resume(Outage),
    /// A handoff without a known outage: connections may wait if nothing comes on them.
    Doubt(Outage),
    /// A handoff from a link that is known: windows of connections whose peers have not negotiated may be too wide.
    Moved(Moved),
    /// As many of its connections are to be told now.
    Pass(u32),
    /// It is over.
    Done(Round),
}

/// An outage that is over, or one that may have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The watched prefix.
    pub watch: IpNet,
    /// How long, ns.
    pub length: u64,
    /// Connections on which something has come since then may wait, ns.
    pub since: u64,
    /// One way over the new link, us.
    pub delay_us: u32,
    /// kbit/s from this host.
    pub up_kbps: u32,
    /// The links towards this host, before and now; none: the one before is not known.
    pub links: Option<[Link; 2]>,
    /// How fast its connections are told.
    pub pace: Pace,
}

/// A handoff that has completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The watched prefix.
    pub watch: IpNet,
    /// Indices of the devices that it leads over, before and now.
    pub devices: [u32; 2],
    /// The links towards this host, before and now.
    pub links: [Link; 2],
    /// The old link's last moment, ns.
    pub until: u64,
    /// There was no link in between.
    pub disconnected: bool,
    /// The device of before, if it still carries.
    pub also: Option<u32>,
}
