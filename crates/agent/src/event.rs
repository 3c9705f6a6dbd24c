//! Events of the host's network that the agent receives.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A cable, or what looks like one.
    Ethernet,
    /// IEEE 802.11.
    Wifi,
    /// A cellular modem.
    Wwan,
    /// Carries packets of this host inside others: it moves with the link below it.
    Tunnel,
    /// Anything else.
    Other,
}

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The kernel's number.
    pub index: u32,
    /// The kernel's name.
    pub name: String,
    /// Switched on, with a carrier.
    pub alive: bool,
    /// How often it has got a carrier: the kernel tells of a carrier that is lost for less than a second only so.
    pub carriers: u32,
    /// Its kind.
    pub kind: Kind,
}

/// A route of the table that is watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Where to.
    pub to: IpNet,
    /// The least wins.
    pub metric: u32,
    /// Out of which device; with several next hops, of the first.
    pub device: u32,
    /// The next router; none: the prefix is on the link.
    pub gateway: Option<IpAddr>,
}

/// One thing that has happened, or that is so at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Devices, addresses and neighbours follow, all that there are: what was known of them may be out of date.
    Anew,
    /// There is this device, in this state.
    Device(Device),
    /// There is no such device any more.
    DeviceGone(u32),
    /// The host has got an address, or lost it.
    Address {
        /// Index of the device.
        device: u32,
        /// The address.
        address: IpAddr,
        /// Whether it has it.
        present: bool,
    },
    /// A route is new, or gone.
    Route {
        /// The route.
        route: Route,
        /// Whether it is there.
        present: bool,
    },
    /// All routes, in place of those known.
    Routes(Vec<Route>),
    /// A neighbour has this hardware address.
    Neighbour {
        /// Beyond which device.
        device: u32,
        /// Its address.
        address: IpAddr,
        /// Its hardware address.
        hardware: Vec<u8>,
    },
    /// A Wi-Fi device has another access point.
    Roamed(u32),
    /// Rates of a Wi-Fi station's radio now.
    Station {
        /// Which device.
        device: u32,
        /// kbit/s towards this host, of the radio.
        down_kbps: u32,
        /// kbit/s from this host.
        up_kbps: u32,
    },
    /// Octets that a device has received since it is there.
    Received {
        /// Which device.
        device: u32,
        /// So many.
        octets: u64,
    },
}
