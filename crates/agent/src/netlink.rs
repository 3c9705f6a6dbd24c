//! rtnetlink: what the kernel says of devices, addresses, routes and neighbours (rtnetlink(7)), read without waiting.
//!
//! The kernel does not tell of IPv4 routes that go with a device or an address, nor which route a new one replaces, so
//! after those events all routes are asked for again; and so is everything when events were lost.

use super::Error;
use super::event::{Device, Event, Kind, Route};
use ipnet::IpNet;
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::errno::Errno;
use nix::libc::MSG_DONTWAIT;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;

/// Multicast groups of linux/rtnetlink.h: devices, neighbours, addresses and routes of both families.
const GROUPS: [u32; 6] = [1, 3, 5, 7, 9, 11];
/// The table that routes are in unless a rule of policy routing says another.
pub const MAIN_TABLE: u32 = RouteHeader::RT_TABLE_MAIN as u32;
/// Octets of events that may wait: a restart of all interfaces fits many times.
const ROOM: usize = 1 << 20;

/// The kernel's events of the network namespace in which it was opened.
pub struct Watcher {
    events: Socket,
    /// For questions.
    kernel: Socket,
    /// Of whose routes it tells.
    table: u32,
}

/// What a datagram has told.
#[derive(Debug, Default)]
struct Heard {
    events: Vec<Event>,
    /// The last part of an answer.
    done: bool,
    /// Routes may have gone without a word.
    stale: bool,
}

impl Watcher {
    /// Opens it; routes are told of this table alone.
    ///
    /// # Errors
    /// The kernel has no such sockets to give.
    pub fn open(table: u32) -> Result<Self, Error> {
        let failed = || Error::system("watch the host's links");
        let mut events = Socket::new(NETLINK_ROUTE).map_err(failed())?;
        events.bind_auto().map_err(failed())?;
        for group in GROUPS {
            events.add_membership(group).map_err(failed())?;
        }
        events.set_rx_buf_sz(ROOM).map_err(failed())?;
        let mut kernel = Socket::new(NETLINK_ROUTE).map_err(failed())?;
        kernel.bind_auto().map_err(failed())?;
        kernel.connect(&SocketAddr::new(0, 0)).map_err(failed())?;
        Ok(Self { events, kernel, table })
    }

    /// All that is there.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn everything(&self) -> Result<Vec<Event>, Error> {
        let mut all = vec![Event::Anew];
        all.extend(self.links()?);
        all.extend(self.ask(RouteNetlinkMessage::GetAddress(AddressMessage::default()))?);
        all.push(self.routes()?);
        all.extend(self.ask(RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default()))?);
        Ok(all)
    }

    /// What has happened since; nothing, if nothing has.
    ///
    /// # Errors
    /// The socket fails.
    pub fn read(&self) -> Result<Vec<Event>, Error> {
        let mut events = Vec::new();
        let mut stale = false;
        let mut octets = Vec::with_capacity(1 << 15);
        loop {
            octets.clear();
            match self.events.recv_from(&mut octets, MSG_DONTWAIT) {
                // Only the kernel tells.
                Ok((_, from)) if from.port_number() != 0 => {}
                Ok(_) => {
                    let heard = decode(&octets, self.table);
                    stale |= heard.stale;
                    events.extend(heard.events);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {
                    tracing::warn!("events of the host's links were lost; all is asked for again");
                    events.extend(self.everything()?);
                }
                Err(error) => return Err(Error::system("read what the kernel says of links")(error)),
            }
        }
        // Of a carrier that was lost the kernel may tell up to a second late (its linkwatch), and a handoff from a link
        // that is gone is another one.
        if stale || events.iter().any(|event| matches!(event, Event::Route { .. })) {
            events.extend(self.links()?);
        }
        if stale {
            events.push(self.routes()?);
        }
        Ok(events)
    }

    fn links(&self) -> Result<Vec<Event>, Error> {
        self.ask(RouteNetlinkMessage::GetLink(LinkMessage::default()))
    }

    fn routes(&self) -> Result<Event, Error> {
        let mut routes = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut message = RouteMessage::default();
            message.header.address_family = family;
            let found = self.ask(RouteNetlinkMessage::GetRoute(message))?;
            routes.extend(found.into_iter().filter_map(|event| match event {
                Event::Route { route, present: true } => Some(route),
                _ => None,
            }));
        }
        Ok(Event::Routes(routes))
    }

    fn ask(&self, question: RouteNetlinkMessage) -> Result<Vec<Event>, Error> {
        let failed = || Error::system("ask the kernel for links");
        let mut request = NetlinkMessage::from(question);
        request.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        request.finalize();
        let mut octets = vec![0; request.buffer_len()];
        request.serialize(&mut octets);
        self.kernel.send(&octets, 0).map_err(failed())?;
        let mut events = Vec::new();
        loop {
            let (octets, _) = self.kernel.recv_from_full().map_err(failed())?;
            let heard = decode(&octets, self.table);
            events.extend(heard.events);
            if heard.done {
                return Ok(events);
            }
        }
    }
}

impl AsFd for Watcher {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

impl AsRawFd for Watcher {
    fn as_raw_fd(&self) -> RawFd {
        self.events.as_raw_fd()
    }
}

/// The messages of a datagram. What is no message of ours, or is cut off, tells nothing.
fn decode(octets: &[u8], watched: u32) -> Heard {
    let mut heard = Heard::default();
    let mut rest = octets;
    while let Some(length) = rest.first_chunk::<4>().map(|four| u32::from_ne_bytes(*four) as usize) {
        let Some(one) = rest.get(..length).filter(|one| one.len() >= 16) else { break };
        if let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(one) {
            match message.payload {
                NetlinkPayload::InnerMessage(inner) => {
                    heard.stale |= message.header.flags & NLM_F_REPLACE != 0;
                    hear(&inner, watched, &mut heard);
                }
                NetlinkPayload::Done(_) | NetlinkPayload::Error(_) => heard.done = true,
                _ => {}
            }
        }
        // Messages are aligned to 4 octets.
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    heard
}

fn hear(message: &RouteNetlinkMessage, watched: u32, heard: &mut Heard) {
    let event = match message {
        RouteNetlinkMessage::NewLink(link) => {
            heard.stale = true;
            device(link).map(Event::Device)
        }
        RouteNetlinkMessage::DelLink(link) => {
            heard.stale = true;
            // A port that leaves a bridge is told so, too, and stays.
            let bridge = link.header.interface_family != AddressFamily::Unspec;
            (!bridge).then_some(Event::DeviceGone(link.header.index))
        }
        RouteNetlinkMessage::NewAddress(message) => address(message, true),
        RouteNetlinkMessage::DelAddress(message) => {
            heard.stale = true;
            address(message, false)
        }
        RouteNetlinkMessage::NewRoute(message) => {
            route(message, watched).map(|route| Event::Route { route, present: true })
        }
        RouteNetlinkMessage::DelRoute(message) => {
            route(message, watched).map(|route| Event::Route { route, present: false })
        }
        RouteNetlinkMessage::NewNeighbour(message) => neighbour(message),
        _ => None,
    };
    heard.events.extend(event);
}

fn device(message: &LinkMessage) -> Option<Device> {
    if message.header.interface_family != AddressFamily::Unspec {
        return None;
    }
    let name = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    })?;
    let flags = message.header.flags;
    let alive = flags.contains(LinkFlags::Up) && flags.contains(LinkFlags::LowerUp);
    let info = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => infos.iter().find_map(|info| match info {
            LinkInfo::Kind(kind) => Some(kind),
            _ => None,
        }),
        _ => None,
    });
    let carriers = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::CarrierUpCount(count) => Some(*count),
        _ => None,
    });
    let kind = kind(&name, info, message.header.link_layer_type);
    Some(Device { index: message.header.index, name, alive, carriers: carriers.unwrap_or(0), kind })
}

/// What the driver says, then what udev would, then the names that systemd and modem drivers give.
fn kind(name: &str, info: Option<&InfoKind>, layer: LinkLayerType) -> Kind {
    match info {
        Some(InfoKind::Wwan) => return Kind::Wwan,
        Some(
            InfoKind::Tun
            | InfoKind::Wireguard
            | InfoKind::IpIp
            | InfoKind::Ip6Tnl
            | InfoKind::SitTun
            | InfoKind::GreTun
            | InfoKind::GreTun6
            | InfoKind::Vti
            | InfoKind::Vti6
            | InfoKind::Xfrm,
        ) => return Kind::Tunnel,
        _ => {}
    }
    if Path::new("/sys/class/net").join(name).join("phy80211").exists() || name.starts_with("wl") {
        return Kind::Wifi;
    }
    if ["ww", "rmnet", "ppp"].iter().any(|start| name.starts_with(start)) {
        return Kind::Wwan;
    }
    if layer == LinkLayerType::Ether { Kind::Ethernet } else { Kind::Other }
}

fn address(message: &AddressMessage, present: bool) -> Option<Event> {
    // Of a point-to-point link `Address` is the other end.
    let own = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    });
    let any = || {
        message.attributes.iter().find_map(|attribute| match attribute {
            AddressAttribute::Address(address) => Some(*address),
            _ => None,
        })
    };
    Some(Event::Address { device: message.header.index, address: own.or_else(any)?, present })
}

fn route(message: &RouteMessage, watched: u32) -> Option<Route> {
    if message.header.kind != RouteType::Unicast {
        return None;
    }
    let (mut to, mut metric, mut device, mut gateway) = (None, 0, None, None);
    let mut table = u32::from(message.header.table);
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(address) => to = ip(address),
            RouteAttribute::Priority(priority) => metric = *priority,
            RouteAttribute::Oif(index) => device = Some(*index),
            RouteAttribute::Gateway(address) => gateway = ip(address),
            RouteAttribute::Table(number) => table = *number,
            RouteAttribute::MultiPath(hops) => {
                let first = hops.first()?;
                device = Some(first.interface_index);
                gateway = first.attributes.iter().find_map(|attribute| match attribute {
                    RouteAttribute::Gateway(address) => ip(address),
                    _ => None,
                });
            }
            _ => {}
        }
    }
    if table != watched {
        return None;
    }
    let everywhere = match message.header.address_family {
        AddressFamily::Inet => IpAddr::from([0; 4]),
        AddressFamily::Inet6 => IpAddr::from([0; 16]),
        _ => return None,
    };
    let to = IpNet::new(to.unwrap_or(everywhere), message.header.destination_prefix_length).ok()?;
    Some(Route { to: to.trunc(), metric, device: device?, gateway })
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

fn neighbour(message: &NeighbourMessage) -> Option<Event> {
    let (mut address, mut hardware) = (None, None);
    for attribute in &message.attributes {
        match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(found)) => address = Some((*found).into()),
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(found)) => {
                address = Some((*found).into())
            }
            NeighbourAttribute::LinkLayerAddress(octets) => hardware = Some(octets.clone()),
            _ => {}
        }
    }
    Some(Event::Neighbour { device: message.header.ifindex, address: address?, hardware: hardware? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn octets(message: RouteNetlinkMessage) -> Vec<u8> {
        let mut message = NetlinkMessage::from(message);
        message.finalize();
        let mut octets = vec![0; message.buffer_len()];
        message.serialize(&mut octets);
        octets
    }

    fn default_route(device: u32, table: u32) -> RouteNetlinkMessage {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Oif(device),
            RouteAttribute::Priority(600),
            RouteAttribute::Gateway(IpAddr::from([192, 0, 2, 1]).into()),
            RouteAttribute::Table(table),
        ];
        RouteNetlinkMessage::NewRoute(message)
    }

    #[test]
    fn several_messages_of_a_datagram_are_heard_and_a_cut_off_one_is_not() {
        let mut datagram = octets(default_route(7, 254));
        datagram.extend(octets(default_route(8, 100)));
        datagram.extend(octets(default_route(9, 254)));
        let devices = |octets: &[u8]| {
            let heard = decode(octets, MAIN_TABLE).events.into_iter().map(|event| match event {
                Event::Route { route, present: true } => route,
                other => panic!("{other:?}"),
            });
            heard.map(|route| route.device).collect::<Vec<_>>()
        };
        assert_eq!(devices(&datagram), [7, 9], "the main table alone");
        assert_eq!(devices(&datagram[..datagram.len() - 1]), [7]);
        assert_eq!(decode(&datagram, 100).events.len(), 1, "or another one alone");
        let Event::Route { route, .. } = &decode(&datagram, MAIN_TABLE).events[0] else { panic!("a route") };
        assert_eq!((route.metric, route.gateway), (600, Some([192, 0, 2, 1].into())));
        assert_eq!(route.to, "0.0.0.0/0".parse().expect("a prefix"));
    }

    #[test]
    fn routes_are_asked_for_again_where_one_replaces_another() {
        let mut datagram = octets(default_route(7, 254));
        assert!(!decode(&datagram, MAIN_TABLE).stale);
        datagram[6..8].copy_from_slice(&NLM_F_REPLACE.to_ne_bytes());
        assert!(decode(&datagram, MAIN_TABLE).stale);
    }

    #[test]
    fn a_device_is_alive_with_a_carrier_only() {
        let mut message = LinkMessage::default();
        message.header.index = 5;
        message.header.link_layer_type = LinkLayerType::Ether;
        message.header.flags = LinkFlags::Up;
        message.attributes = vec![LinkAttribute::IfName("wwan0".into())];
        let told = |message: &LinkMessage| {
            decode(&octets(RouteNetlinkMessage::NewLink(message.clone())), MAIN_TABLE).events
        };
        let device = |alive| Device { index: 5, name: "wwan0".into(), alive, carriers: 0, kind: Kind::Wwan };
        assert_eq!(told(&message), [Event::Device(device(false))]);
        message.header.flags |= LinkFlags::LowerUp;
        assert_eq!(told(&message), [Event::Device(device(true))]);
        message.attributes.push(LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Wireguard)]));
        assert!(matches!(&told(&message)[..], [Event::Device(Device { kind: Kind::Tunnel, .. })]));
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(octets in proptest::collection::vec(any::<u8>(), 0..600)) {
            decode(&octets, MAIN_TABLE);
        }

        /// Messages that are right but for some octets.
        #[test]
        fn no_damaged_message_makes_it_panic(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut link = LinkMessage::default();
            link.attributes = vec![
                LinkAttribute::IfName("wlan0".into()),
                LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Tun)]),
            ];
            let mut datagram = octets(default_route(7, 254));
            datagram.extend(octets(RouteNetlinkMessage::NewLink(link)));
            for (at, octet) in damage {
                let length = datagram.len();
                datagram[at.index(length)] = octet;
            }
            decode(&datagram[..cut.index(datagram.len())], MAIN_TABLE);
            decode(&datagram, MAIN_TABLE);
        }
    }
}
