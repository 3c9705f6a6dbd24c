//! The settings of a simulated drive.

use super::mobility::Drive;
use super::web::Surge;
use crate::access::LinkSeed;
use crate::random::{Random, Stream};
use crate::router_settings::Routers;
use crate::words::NoticeMode;
use segue_handoff::Link;
use segue_netsim::{Nanos, SECOND};
use segue_tcp::StackProfile;
use std::sync::Arc;

/// The wide area between the servers and the access network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideArea {
    /// bit/s, each direction.
    pub rate: u64,
    /// One way.
    pub delay: Nanos,
    /// Packets, the one being sent included.
    pub queue: u32,
}

/// The simulated drive, apart from the scheme.
#[derive(Clone, Debug)]
pub struct DriveExperiment {
    /// Where the mobile goes.
    pub drive: Arc<Drive>,
    /// Flows to the mobile.
    pub flows: usize,
    /// Flows of the cross traffic.
    pub cross: usize,
    /// Web traffic beside them; parameters out of range are no web.
    pub web: Option<Surge>,
    /// The wide area that all share.
    pub wan: WideArea,
    /// TCP of all ends.
    pub stack: StackProfile,
    /// How the server learns of a handoff.
    pub notice: NoticeMode,
    /// Largest error of the bandwidth that the mobile reports, as a share of the true one: each report's is
    /// uniform within (algorithms.md 4.8 [C]).
    pub bandwidth_error: f64,
    /// Abilities of the access routers.
    pub routers: Routers,
    /// Seed of the traffic: start times, clock phases, the web, errors of the bandwidth.
    pub seed: u64,
}

impl DriveExperiment {
    /// Source of the random numbers of the link of stay `index`.
    pub fn link_seed(&self, index: usize) -> LinkSeed {
        LinkSeed { seed: self.seed, link: 1 + index as u64 }
    }

    /// The link that the mobile reports of its stay `index`, at `now`.
    pub fn reported_link(&self, index: usize, now: Nanos) -> Link {
        let link = self.drive.stays[index].link.reported(self.link_seed(index), now, now + SECOND, now);
        if self.bandwidth_error == 0.0 {
            return link;
        }
        let uniform = Random::new(self.seed, Stream::Bandwidth(index as u32)).unit();
        let error = self.bandwidth_error * (2.0 * uniform - 1.0);
        let rate_kbps = (f64::from(link.rate_kbps) * (1.0 + error)).round().max(1.0) as u32;
        Link { rate_kbps, ..link }
    }
}
