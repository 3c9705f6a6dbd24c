//! A watched prefix and the handoff that is next to be told of it.

use super::{Cause, Told};
use crate::links::Path;
use ipnet::IpNet;
use segue_policy::Link;

/// A handoff that has not been told yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) cause: Cause,
    pub(super) at: u64,
    /// The old link's last moment.
    pub(super) until: u64,
    /// There was no link in between.
    pub(super) disconnected: bool,
    /// Instead of an estimate, for a handoff that is foreseen.
    pub(super) foreseen: Option<Told>,
}

/// A prefix whose way is watched.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) to: IpNet,
    /// The last one that was alive.
    pub(super) path: Option<Path>,
    /// Since when there is none.
    pub(super) broken: Option<u64>,
    pub(super) pending: Option<Pending>,
    /// The link that flows of this host know.
    pub(super) uplink: Option<Link>,
    /// The same towards this host, and its device.
    pub(super) downlink: Option<(Link, u32)>,
    /// Rounds may begin until this is more than a burst ahead.
    pub(super) paid_until: u64,
}

impl Watched {
    /// Nothing is known of its way yet.
    pub(super) fn new(to: IpNet) -> Self {
        Self { to, path: None, broken: None, pending: None, uplink: None, downlink: None, paid_until: 0 }
    }
}
