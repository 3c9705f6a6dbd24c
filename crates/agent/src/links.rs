//! Devices, addresses and routes as the kernel tells them, and the way that packets take.
//!
//! The kernel's main table decides, whatever other tables say. Behind a tunnel that policy routing leads to, the main
//! table tells which link carries the tunnel.

use super::event::{Device, Event, Kind, Route};
use ipnet::IpNet;
use segue_kernel::mobile::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The way to a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Out of this device.
    pub device: u32,
    /// To this router.
    pub gateway: Option<IpAddr>,
    /// Its hardware address, as far as known.
    pub hardware: Option<Vec<u8>>,
    /// How often the device had changed its access point.
    pub roams: u32,
    /// How often it had got a carrier.
    pub carriers: u32,
}

impl Path {
    /// Whether packets go over another link now: another device, router or access point.
    pub fn differs(&self, before: &Self) -> bool {
        let hardware = matches!((&self.hardware, &before.hardware), (Some(now), Some(then)) if now != then);
        (self.device, self.gateway, self.roams) != (before.device, before.gateway, before.roams) || hardware
    }
}

/// All that is known.
#[derive(Clone, Debug, Default)]
pub struct Links {
    devices: BTreeMap<u32, Device>,
    addresses: BTreeSet<(u32, IpAddr)>,
    routes: BTreeSet<Route>,
    neighbours: BTreeMap<(u32, IpAddr), Vec<u8>>,
    roams: BTreeMap<u32, u32>,
}

impl Links {
    /// Takes note.
    pub fn apply(&mut self, event: &Event) {
        match event {
            // How often devices have roamed is known here only.
            Event::Anew => {
                self.devices.clear();
                self.addresses.clear();
                self.neighbours.clear();
            }
            Event::Device(device) => {
                self.devices.insert(device.index, device.clone());
            }
            Event::DeviceGone(index) => {
                self.devices.remove(index);
                self.addresses.retain(|(device, _)| device != index);
                self.routes.retain(|route| route.device != *index);
                self.neighbours.retain(|(device, _), _| device != index);
                self.roams.remove(index);
            }
            Event::Address { device, address, present: true } => {
                self.addresses.insert((*device, *address));
            }
            Event::Address { device, address, present: false } => {
                self.addresses.remove(&(*device, *address));
            }
            Event::Route { route, present: true } => {
                self.routes.insert(route.clone());
            }
            Event::Route { route, present: false } => {
                self.routes.remove(route);
            }
            Event::Routes(routes) => self.routes = routes.iter().cloned().collect(),
            Event::Neighbour { device, address, hardware } => {
                // Only routers matter, and a network may have very many neighbours.
                let router = |route: &Route| route.device == *device && route.gateway == Some(*address);
                if self.routes.iter().any(router) {
                    self.neighbours.insert((*device, *address), hardware.clone());
                }
            }
            Event::Roamed(device) => *self.roams.entry(*device).or_default() += 1,
            Event::Station { .. } | Event::Received { .. } => {}
        }
    }

    /// A device by its number.
    pub fn device(&self, index: u32) -> Option<&Device> {
        self.devices.get(&index)
    }

    /// A device by its name.
    pub fn named(&self, name: &str) -> Option<&Device> {
        self.devices.values().find(|device| device.name == name)
    }

    /// The names of all devices.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.devices.values().map(|device| device.name.as_str())
    }

    /// The way to a prefix as a whole, over a device that is alive.
    pub fn path(&self, to: &IpNet) -> Option<Path> {
        let route = self.route(to)?;
        let device = self.devices.get(&route.device).filter(|device| device.alive)?;
        Some(Path {
            device: route.device,
            gateway: route.gateway,
            hardware: route.gateway.and_then(|router| self.neighbours.get(&(route.device, router)).cloned()),
            roams: self.roams.get(&route.device).copied().unwrap_or(0),
            carriers: device.carriers,
        })
    }

    /// The longest prefix, then the least metric.
    fn route(&self, to: &IpNet) -> Option<&Route> {
        let covers = |route: &&Route| route.to == *to || route.to.contains(to);
        let order = |route: &&Route| (std::cmp::Reverse(route.to.prefix_len()), route.metric);
        self.routes.iter().filter(covers).min_by_key(order)
    }

    /// Remote hosts whose packets move with this prefix. Hosts are left out that a route of their own leads over
    /// another device, unless that is a tunnel; and so is this host itself.
    pub fn scope(&self, to: &IpNet) -> Vec<Scope> {
        let own = self.route(to);
        let scope =
            |net: &IpNet, notified| Scope { address: net.network(), bits: net.prefix_len(), notified };
        let mut all = vec![scope(to, true)];
        let within = |net: &IpNet| net != to && to.contains(net);
        for route in &self.routes {
            let tunnel = self.devices.get(&route.device).is_some_and(|device| device.kind == Kind::Tunnel);
            if within(&route.to) && !tunnel && own.is_none_or(|own| own.device != route.device) {
                all.push(scope(&route.to, false));
            }
        }
        // Loopback, and what IPv4 is among IPv6 (RFC 4291, 2.5.5.2): it has a way of its own.
        let loopback =
            ["127.0.0.0/8", "::1/128", "::ffff:0:0/96"].map(|net| net.parse::<IpNet>().expect("a prefix"));
        let host = self.addresses.iter().map(|(_, address)| IpNet::from(*address));
        all.extend(loopback.into_iter().chain(host).filter(within).map(|net| scope(&net, false)));
        // A host with more routes than that is a router, and leaves its own connections to the first of them.
        all.truncate(Scope::MOST);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: u32, name: &str, kind: Kind) -> Event {
        Event::Device(Device { index, name: name.into(), alive: true, carriers: 1, kind })
    }

    fn route(to: &str, device: u32, gateway: Option<&str>, metric: u32) -> Route {
        let gateway = gateway.map(|text| text.parse().expect("an address"));
        Route { to: to.parse().expect("a prefix"), metric, device, gateway }
    }

    fn known(routes: &[Route]) -> Links {
        let mut links = Links::default();
        for event in [
            device(2, "eth0", Kind::Ethernet),
            device(3, "wlan0", Kind::Wifi),
            device(4, "wg0", Kind::Tunnel),
        ] {
            links.apply(&event);
        }
        links.apply(&Event::Routes(routes.to_vec()));
        links
    }

    fn everywhere() -> IpNet {
        "0.0.0.0/0".parse().expect("a prefix")
    }

    #[test]
    fn the_longest_prefix_and_then_the_least_metric_lead() {
        let links = known(&[
            route("0.0.0.0/0", 2, Some("10.0.0.1"), 600),
            route("0.0.0.0/0", 3, Some("10.1.0.1"), 100),
            route("192.0.2.0/24", 2, None, 900),
        ]);
        let device = |to: &str| links.path(&to.parse().expect("a prefix")).map(|path| path.device);
        assert_eq!(device("0.0.0.0/0"), Some(3));
        assert_eq!(device("192.0.2.0/24"), Some(2));
        assert_eq!(device("192.0.2.128/25"), Some(2));
        assert_eq!(device("198.51.100.0/24"), Some(3));
        assert_eq!(device("::/0"), None);
    }

    #[test]
    fn a_device_without_carrier_carries_nothing_although_routes_lead_over_it() {
        let mut links = known(&[route("0.0.0.0/0", 2, None, 0), route("0.0.0.0/0", 3, None, 1)]);
        let dead = Device { index: 2, name: "eth0".into(), alive: false, carriers: 1, kind: Kind::Ethernet };
        links.apply(&Event::Device(dead));
        assert_eq!(links.path(&everywhere()), None, "the kernel still sends over it");
        links.apply(&Event::DeviceGone(2));
        assert_eq!(links.path(&everywhere()).map(|path| path.device), Some(3));
    }

    #[test]
    fn another_router_behind_the_same_address_is_another_link() {
        let mut links = known(&[route("0.0.0.0/0", 3, Some("10.0.0.1"), 0)]);
        let before = links.path(&everywhere()).expect("a way");
        let neighbour = |last| Event::Neighbour {
            device: 3,
            address: "10.0.0.1".parse().expect("an address"),
            hardware: vec![2, 0, 0, 0, 0, last],
        };
        links.apply(&neighbour(1));
        let first = links.path(&everywhere()).expect("a way");
        assert!(!first.differs(&before), "it has only become known");
        links.apply(&neighbour(2));
        let second = links.path(&everywhere()).expect("a way");
        assert!(second.differs(&first));
        links.apply(&Event::Roamed(3));
        assert!(links.path(&everywhere()).expect("a way").differs(&second));
    }

    #[test]
    fn scope_leaves_out_who_does_not_move() {
        let mut links = known(&[
            route("0.0.0.0/0", 3, Some("10.1.0.1"), 0),
            route("10.1.0.0/24", 3, None, 0),
            route("10.2.0.0/16", 2, None, 0),
            route("10.8.0.0/24", 4, None, 0),
        ]);
        let own = "10.1.0.9".parse().expect("an address");
        links.apply(&Event::Address { device: 3, address: own, present: true });
        let scope = links.scope(&everywhere());
        let said: Vec<_> =
            scope.iter().map(|scope| (format!("{}/{}", scope.address, scope.bits), scope.notified)).collect();
        let expected =
            [("0.0.0.0/0", true), ("10.2.0.0/16", false), ("127.0.0.0/8", false), ("10.1.0.9/32", false)];
        assert_eq!(said, expected.map(|(net, notified)| (net.to_string(), notified)));
    }

    #[test]
    fn ipv4_does_not_move_with_ipv6() {
        let scope = Links::default().scope(&"::/0".parse().expect("a prefix"));
        let mapped = Scope { address: "::ffff:0:0".parse().expect("an address"), bits: 96, notified: false };
        assert!(scope.contains(&mapped), "{scope:?}");
    }

    #[test]
    fn routes_come_and_go() {
        let mut links = known(&[route("0.0.0.0/0", 3, Some("10.1.0.1"), 0)]);
        let better = route("0.0.0.0/0", 2, Some("10.0.0.1"), 0);
        links.apply(&Event::Routes(vec![better.clone()]));
        assert_eq!(links.path(&everywhere()).map(|path| path.device), Some(2));
        links.apply(&Event::Route { route: better, present: false });
        assert_eq!(links.path(&everywhere()), None);
    }
}
