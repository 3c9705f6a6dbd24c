//! The mobile's two links as its own host sees them: a device each, and default routes over one of them, which a
//! handoff moves. An agent learns of handoffs from nothing else.

use super::Error;
use super::netlink::Netlink;
use super::path::Which;
use segue_words::lab::Family;

/// The mobile's devices and default routes.
pub struct Uplinks {
    netlink: Netlink,
    devices: [u32; 2],
}

impl Uplinks {
    /// The default routes lead over the device of the old link. `netlink`: of the mobile's namespace.
    pub(super) fn over_old(netlink: Netlink, devices: [u32; 2]) -> Result<Self, Error> {
        let uplinks = Self { netlink, devices };
        uplinks.lead_over(Which::Old, Family::Ipv4).map(|()| uplinks)
    }

    /// Number of the device of this link.
    pub(super) fn device(&self, link: Which) -> u32 {
        self.devices[link as usize]
    }

    /// A break: the device of this link loses its carrier, and that of the other one has it. The routes stay.
    ///
    /// # Errors
    /// A device is gone.
    pub fn lose(&self, link: Which) -> Result<(), Error> {
        self.netlink.carrier(self.devices[link.other() as usize], true)?;
        self.netlink.carrier(self.devices[link as usize], false)
    }

    /// A handoff has completed: the default routes lead over this link, that of `first` first.
    ///
    /// # Errors
    /// A device is gone.
    pub fn lead_over(&self, link: Which, first: Family) -> Result<(), Error> {
        let device = self.device(link);
        let second = match first {
            Family::Ipv4 => Family::Ipv6,
            Family::Ipv6 => Family::Ipv4,
        };
        self.netlink.default_route(device, first)?;
        self.netlink.default_route(device, second)
    }
}
