//! The links of a drive that are watched.

use segue_netsim::LinkId;

/// Their numbers in the network.
#[derive(Clone, Copy, Debug)]
pub struct LinkIds {
    /// Access link towards the mobile.
    pub access_down: LinkId,
    /// Access link from the mobile.
    pub access_up: LinkId,
    /// Wide area, towards the mobile.
    pub wan_down: LinkId,
}
