//! rtnetlink: what the kernel says of devices, addresses, routes and neighbours (rtnetlink(7)), read without waiting.
//!
//! The kernel does not tell of IPv4 routes that go with a device or an address, nor which route a new one replaces. So
//! after those events all routes are asked for again. Everything is asked for again when events were lost.

use super::Error;
use super::event::{Device, Event, Kind, Route};
use ipnet::IpNet;
use nix::libc;
use segue_netlink::{Client, Listener, Message, attribute, half, protocols::NETLINK_ROUTE, word};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// Multicast groups of linux/rtnetlink.h: devices, neighbours, addresses and routes of both families.
const GROUPS: [u32; 6] = [1, 3, 5, 7, 9, 11];
/// The table that routes are in unless a rule of policy routing says another.
pub const MAIN_TABLE: u32 = libc::RT_TABLE_MAIN as u32;
/// Octets of events that may wait: a restart of all interfaces fits many times.
const ROOM: usize = 1 << 20;

const AF_UNSPEC: u8 = libc::AF_UNSPEC as u8;
const AF_INET: u8 = libc::AF_INET as u8;
const AF_INET6: u8 = libc::AF_INET6 as u8;
/// Octets of `struct ifinfomsg`, `ifaddrmsg`, `rtmsg`, `rtnexthop` and `ndmsg`.
const IFINFOMSG: usize = 16;
const IFADDRMSG: usize = 8;
const RTMSG: usize = 12;
const RTNEXTHOP: usize = 8;
const NDMSG: usize = 12;

/// The kernel's events of the network namespace in which it was opened.
pub struct Watcher {
    events: Listener,
    kernel: Client,
    /// The routing table to watch.
    table: u32,
    /// Everything is to be asked for: events were lost, or a question had no answer.
    behind: bool,
}

/// Contents of a datagram.
#[derive(Debug, Default)]
struct Heard {
    events: Vec<Event>,
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
        let events = Listener::open(NETLINK_ROUTE, &GROUPS, ROOM).map_err(failed())?;
        let kernel = Client::open(NETLINK_ROUTE).map_err(failed())?;
        Ok(Self { events, kernel, table, behind: false })
    }

    /// All that is there.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn everything(&mut self) -> Result<Vec<Event>, Error> {
        self.all().map_err(Error::system("ask the kernel for links"))
    }

    /// Events since the last call; none, if nothing has happened; after [`Watcher::start_anew`], all that is there.
    ///
    /// Where the kernel does not answer a question, earlier knowledge stays until it does: the next call asks again.
    ///
    /// # Errors
    /// The kernel does not tell of events any more.
    pub fn read(&mut self) -> Result<Vec<Event>, Error> {
        let news = self.events.read().map_err(Error::system("read what the kernel says of links"))?;
        let mut heard = Heard::default();
        for message in news.datagrams.iter().flat_map(|datagram| Message::all(datagram)) {
            hear(&message, self.table, &mut heard);
        }
        if news.lost {
            tracing::warn!("events of the host's links were lost; all is asked for again");
            self.behind = true;
        }
        let Heard { mut events, stale } = heard;
        match self.missing(&events, stale) {
            Ok(more) => {
                events.extend(more);
                self.behind = false;
            }
            Err(error) => {
                if !self.behind {
                    tracing::warn!(%error, "the kernel does not say which links there are; it is asked again");
                }
                self.behind = true;
            }
        }
        Ok(events)
    }

    /// Has the next [`Watcher::read`] tell all that is there.
    pub fn start_anew(&mut self) {
        self.behind = true;
    }

    /// Events that these leave out; the kernel is asked.
    fn missing(&mut self, events: &[Event], stale: bool) -> io::Result<Vec<Event>> {
        if self.behind {
            return self.all();
        }
        let mut more = Vec::new();
        // A lost carrier may be reported up to a second late (the kernel's linkwatch). A handoff from a link that is
        // gone is of another kind.
        if stale || events.iter().any(|event| matches!(event, Event::Route { .. })) {
            more.extend(self.list(libc::RTM_GETLINK, &[0; IFINFOMSG])?);
        }
        if stale {
            more.push(self.routes()?);
        }
        Ok(more)
    }

    fn all(&mut self) -> io::Result<Vec<Event>> {
        let mut all = vec![Event::Anew];
        all.extend(self.list(libc::RTM_GETLINK, &[0; IFINFOMSG])?);
        all.extend(self.list(libc::RTM_GETADDR, &[0; IFADDRMSG])?);
        all.push(self.routes()?);
        all.extend(self.list(libc::RTM_GETNEIGH, &[0; NDMSG])?);
        Ok(all)
    }

    fn routes(&mut self) -> io::Result<Event> {
        let mut routes = Vec::new();
        for family in [AF_INET, AF_INET6] {
            let mut header = [0; RTMSG];
            header[0] = family;
            let found = self.list(libc::RTM_GETROUTE, &header)?;
            routes.extend(found.into_iter().filter_map(|event| match event {
                Event::Route { route, present: true } => Some(route),
                _ => None,
            }));
        }
        Ok(Event::Routes(routes))
    }

    fn list(&mut self, kind: u16, header: &[u8]) -> io::Result<Vec<Event>> {
        let answer = self.kernel.list(kind, header)?;
        let mut heard = Heard::default();
        answer.messages().for_each(|message| hear(&message, self.table, &mut heard));
        Ok(heard.events)
    }
}

impl AsFd for Watcher {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

fn hear(message: &Message<'_>, watched: u32, heard: &mut Heard) {
    heard.stale |= message.flags & libc::NLM_F_REPLACE as u16 != 0;
    let event = match message.kind {
        libc::RTM_NEWLINK => {
            heard.stale = true;
            device(message).map(Event::Device)
        }
        libc::RTM_DELLINK => {
            heard.stale = true;
            // A port that leaves a bridge is told so, too, and stays.
            let bridge = message.payload.first() != Some(&AF_UNSPEC);
            index(message).filter(|_| !bridge).map(Event::DeviceGone)
        }
        libc::RTM_NEWADDR => address(message, true),
        libc::RTM_DELADDR => {
            heard.stale = true;
            address(message, false)
        }
        libc::RTM_NEWROUTE => route(message, watched).map(|route| Event::Route { route, present: true }),
        libc::RTM_DELROUTE => route(message, watched).map(|route| Event::Route { route, present: false }),
        libc::RTM_NEWNEIGH => neighbour(message),
        _ => None,
    };
    heard.events.extend(event);
}

/// The device of `struct ifinfomsg`, `ifaddrmsg` and `ndmsg`.
fn index(message: &Message<'_>) -> Option<u32> {
    message.payload.get(4..).and_then(word)
}

fn device(message: &Message<'_>) -> Option<Device> {
    if message.payload.len() < IFINFOMSG || message.payload[0] != AF_UNSPEC {
        return None;
    }
    let layer = half(&message.payload[2..])?;
    let flags = word(&message.payload[8..])?;
    let up = (libc::IFF_UP | libc::IFF_LOWER_UP) as u32;
    let (mut name, mut info, mut carriers) = (None, None, 0);
    for (kind, value) in message.attributes(IFINFOMSG) {
        match kind {
            libc::IFLA_IFNAME => name = text(value),
            libc::IFLA_LINKINFO => info = attribute(value, libc::IFLA_INFO_KIND).and_then(text),
            libc::IFLA_CARRIER_UP_COUNT => carriers = word(value)?,
            _ => {}
        }
    }
    let name = name?;
    let kind = kind(&name, info.as_deref(), layer);
    Some(Device { index: index(message)?, name, alive: flags & up == up, carriers, kind })
}

/// A string that ends with a zero.
fn text(octets: &[u8]) -> Option<String> {
    let octets = octets.strip_suffix(&[0]).unwrap_or(octets);
    String::from_utf8(octets.to_vec()).ok()
}

/// The kind by the driver's word, else by what udev would say, else by the names that systemd and modem drivers give.
fn kind(name: &str, info: Option<&str>, layer: u16) -> Kind {
    match info {
        Some("wwan") => return Kind::Wwan,
        Some(
            "tun" | "wireguard" | "ipip" | "ip6tnl" | "sit" | "gre" | "ip6gre" | "vti" | "vti6" | "xfrm",
        ) => return Kind::Tunnel,
        _ => {}
    }
    if Path::new("/sys/class/net").join(name).join("phy80211").exists() || name.starts_with("wl") {
        return Kind::Wifi;
    }
    if ["ww", "rmnet", "ppp"].iter().any(|start| name.starts_with(start)) {
        return Kind::Wwan;
    }
    if layer == libc::ARPHRD_ETHER { Kind::Ethernet } else { Kind::Other }
}

fn address(message: &Message<'_>, present: bool) -> Option<Event> {
    let (mut own, mut any) = (None, None);
    for (kind, value) in message.attributes(IFADDRMSG) {
        match kind {
            // IFA_ADDRESS of a point-to-point link is the other end.
            libc::IFA_LOCAL => own = ip(value),
            libc::IFA_ADDRESS => any = ip(value),
            _ => {}
        }
    }
    Some(Event::Address { device: index(message)?, address: own.or(any)?, present })
}

fn route(message: &Message<'_>, watched: u32) -> Option<Route> {
    let &[family, length, _, _, table, _, _, kind] = message.payload.first_chunk()?;
    if kind != libc::RTN_UNICAST {
        return None;
    }
    let everywhere = match family {
        AF_INET => IpAddr::from([0; 4]),
        AF_INET6 => IpAddr::from([0; 16]),
        _ => return None,
    };
    let (mut to, mut metric, mut device, mut gateway) = (None, 0, None, None);
    let mut table = u32::from(table);
    for (kind, value) in message.attributes(RTMSG) {
        match kind {
            libc::RTA_DST => to = ip(value),
            libc::RTA_PRIORITY => metric = word(value)?,
            libc::RTA_OIF => device = word(value),
            libc::RTA_GATEWAY => gateway = ip(value),
            libc::RTA_TABLE => table = word(value)?,
            // The first of several ways.
            libc::RTA_MULTIPATH => {
                let hop = value.get(..usize::from(half(value)?))?;
                device = hop.get(4..).and_then(word);
                gateway = attribute(hop.get(RTNEXTHOP..)?, libc::RTA_GATEWAY).and_then(ip);
            }
            _ => {}
        }
    }
    if table != watched {
        return None;
    }
    let to = IpNet::new(to.unwrap_or(everywhere), length).ok()?;
    Some(Route { to: to.trunc(), metric, device: device?, gateway })
}

fn ip(octets: &[u8]) -> Option<IpAddr> {
    match octets.len() {
        4 => octets.first_chunk::<4>().map(|octets| (*octets).into()),
        _ => octets.try_into().ok().map(|octets: [u8; 16]| octets.into()),
    }
}

fn neighbour(message: &Message<'_>) -> Option<Event> {
    // A bridge's have other addresses.
    message.payload.first().filter(|family| [AF_INET, AF_INET6].contains(family))?;
    let (mut address, mut hardware) = (None, None);
    for (kind, value) in message.attributes(NDMSG) {
        match kind {
            libc::NDA_DST => address = ip(value),
            libc::NDA_LLADDR => hardware = Some(value.to_vec()),
            _ => {}
        }
    }
    Some(Event::Neighbour { device: index(message)?, address: address?, hardware: hardware? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use segue_netlink::put_attribute;

    fn octets(kind: u16, flags: u16, header: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut payload = header.to_vec();
        attributes.iter().for_each(|(kind, value)| put_attribute(&mut payload, *kind, value));
        Message { kind, flags, sequence: 0, payload: &payload }.octets()
    }

    fn heard(datagram: &[u8], table: u32) -> Heard {
        let mut heard = Heard::default();
        Message::all(datagram).for_each(|message| hear(&message, table, &mut heard));
        heard
    }

    fn default_route(flags: u16, device: u32, table: u32) -> Vec<u8> {
        let header = [AF_INET, 0, 0, 0, libc::RT_TABLE_MAIN, 0, 0, libc::RTN_UNICAST, 0, 0, 0, 0];
        let attributes = [
            (libc::RTA_OIF, &device.to_ne_bytes()[..]),
            (libc::RTA_PRIORITY, &600u32.to_ne_bytes()),
            (libc::RTA_GATEWAY, &[192, 0, 2, 1]),
            (libc::RTA_TABLE, &table.to_ne_bytes()),
        ];
        octets(libc::RTM_NEWROUTE, flags, &header, &attributes)
    }

    fn link(flags: i32, name: &[u8], more: &[(u16, &[u8])]) -> Vec<u8> {
        let mut header = [0; IFINFOMSG];
        header[2..4].copy_from_slice(&libc::ARPHRD_ETHER.to_ne_bytes());
        header[4..8].copy_from_slice(&5u32.to_ne_bytes());
        header[8..12].copy_from_slice(&flags.to_ne_bytes());
        octets(libc::RTM_NEWLINK, 0, &header, &[&[(libc::IFLA_IFNAME, name)], more].concat())
    }

    #[test]
    fn several_messages_of_a_datagram_are_heard_and_a_cut_off_one_is_not() {
        let datagram =
            [default_route(0, 7, 254), default_route(0, 8, 100), default_route(0, 9, 254)].concat();
        let devices = |octets: &[u8]| {
            let routes = heard(octets, MAIN_TABLE).events.into_iter().map(|event| match event {
                Event::Route { route, present: true } => route,
                other => panic!("{other:?}"),
            });
            routes.map(|route| route.device).collect::<Vec<_>>()
        };
        assert_eq!(devices(&datagram), [7, 9], "the main table alone");
        assert_eq!(devices(&datagram[..datagram.len() - 1]), [7]);
        assert_eq!(heard(&datagram, 100).events.len(), 1, "or another one alone");
        let Event::Route { route, .. } = &heard(&datagram, MAIN_TABLE).events[0] else { panic!("a route") };
        assert_eq!((route.metric, route.gateway), (600, Some([192, 0, 2, 1].into())));
        assert_eq!(route.to, "0.0.0.0/0".parse().expect("a prefix"));
    }

    #[test]
    fn routes_are_asked_for_again_where_one_replaces_another() {
        assert!(!heard(&default_route(0, 7, 254), MAIN_TABLE).stale);
        assert!(heard(&default_route(libc::NLM_F_REPLACE as u16, 7, 254), MAIN_TABLE).stale);
    }

    #[test]
    fn of_several_next_hops_the_first_counts() {
        let hop = |device: u32, gateway: [u8; 16]| {
            let mut hop = vec![0; RTNEXTHOP];
            hop[4..].copy_from_slice(&device.to_ne_bytes());
            put_attribute(&mut hop, libc::RTA_GATEWAY, &gateway);
            let length = hop.len() as u16;
            hop[..2].copy_from_slice(&length.to_ne_bytes());
            hop
        };
        let hops = [hop(3, [1; 16]), hop(4, [2; 16])].concat();
        let header = [AF_INET6, 32, 0, 0, libc::RT_TABLE_MAIN, 0, 0, libc::RTN_UNICAST, 0, 0, 0, 0];
        let to = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let attributes = [(libc::RTA_DST, &to[..]), (libc::RTA_MULTIPATH, &hops)];
        let heard = heard(&octets(libc::RTM_DELROUTE, 0, &header, &attributes), MAIN_TABLE);
        let to = "2001:db8::/32".parse().expect("a prefix");
        let route = Route { to, metric: 0, device: 3, gateway: Some([1; 16].into()) };
        assert_eq!(heard.events, [Event::Route { route, present: false }]);
    }

    #[test]
    fn a_device_is_alive_with_a_carrier_only() {
        let told = |octets: &[u8]| heard(octets, MAIN_TABLE).events;
        let device = |alive| Device { index: 5, name: "wwan0".into(), alive, carriers: 0, kind: Kind::Wwan };
        assert_eq!(told(&link(libc::IFF_UP, b"wwan0\0", &[])), [Event::Device(device(false))]);
        let up = libc::IFF_UP | libc::IFF_LOWER_UP;
        assert_eq!(told(&link(up, b"wwan0\0", &[])), [Event::Device(device(true))]);
        let mut info = Vec::new();
        put_attribute(&mut info, libc::IFLA_INFO_KIND, b"wireguard\0");
        let more = [(libc::IFLA_LINKINFO, &info[..]), (libc::IFLA_CARRIER_UP_COUNT, &3u32.to_ne_bytes())];
        let [Event::Device(tunnel)] = &told(&link(up, b"wwan0\0", &more))[..] else { panic!("a device") };
        assert_eq!((tunnel.kind, tunnel.carriers), (Kind::Tunnel, 3));
    }

    #[test]
    fn addresses_and_neighbours() {
        let told = |kind, header: &[u8], attributes: &[(u16, &[u8])]| {
            heard(&octets(kind, 0, header, attributes), MAIN_TABLE).events
        };
        let mut header = [AF_INET, 24, 0, 0, 0, 0, 0, 0];
        header[4..].copy_from_slice(&5u32.to_ne_bytes());
        let (own, other) = ((libc::IFA_LOCAL, &[192, 0, 2, 1][..]), (libc::IFA_ADDRESS, &[192, 0, 2, 9][..]));
        let address =
            |address: [u8; 4], present| Event::Address { device: 5, address: address.into(), present };
        assert_eq!(told(libc::RTM_NEWADDR, &header, &[other, own]), [address([192, 0, 2, 1], true)]);
        assert_eq!(told(libc::RTM_DELADDR, &header, &[other]), [address([192, 0, 2, 9], false)]);
        let mut header = [0; NDMSG];
        (header[0], header[4]) = (AF_INET, 5);
        let attributes = [(libc::NDA_DST, &[192, 0, 2, 1][..]), (libc::NDA_LLADDR, &[2, 0, 0, 0, 0, 7])];
        let neighbour =
            Event::Neighbour { device: 5, address: [192, 0, 2, 1].into(), hardware: vec![2, 0, 0, 0, 0, 7] };
        assert_eq!(told(libc::RTM_NEWNEIGH, &header, &attributes), [neighbour]);
        header[0] = libc::AF_BRIDGE as u8;
        assert_eq!(told(libc::RTM_NEWNEIGH, &header, &attributes), []);
    }

    #[test]
    fn a_question_without_an_answer_is_asked_again() {
        let mut watcher = Watcher::open(MAIN_TABLE).expect("sockets");
        let devices =
            |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Device(_))).count();
        assert!(devices(&watcher.everything().expect("an answer")) > 0, "lo is everywhere");
        // A socket of another protocol: the kernel has no such question there.
        let deaf = Client::open(segue_netlink::protocols::NETLINK_USERSOCK).expect("a socket");
        let right = std::mem::replace(&mut watcher.kernel, deaf);
        watcher.start_anew();
        let anew = |watcher: &mut Watcher| watcher.read().expect("events").contains(&Event::Anew);
        assert!(!anew(&mut watcher), "an error is no list: nothing has gone");
        watcher.kernel = right;
        assert!(anew(&mut watcher) && !anew(&mut watcher), "once it answers, and not again");
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(octets in proptest::collection::vec(any::<u8>(), 0..600)) {
            heard(&octets, MAIN_TABLE);
        }

        /// Messages that are right but for some octets.
        #[test]
        fn no_damaged_message_makes_it_panic(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut info = Vec::new();
            put_attribute(&mut info, libc::IFLA_INFO_KIND, b"tun\0");
            let link = link(libc::IFF_UP, b"wlan0\0", &[(libc::IFLA_LINKINFO, &info)]);
            let mut datagram = [default_route(0, 7, 254), link].concat();
            for (at, octet) in damage {
                let length = datagram.len();
                datagram[at.index(length)] = octet;
            }
            heard(&datagram[..cut.index(datagram.len())], MAIN_TABLE);
            heard(&datagram, MAIN_TABLE);
        }
    }
}
