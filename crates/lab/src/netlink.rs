//! Addresses, routes and device flags of the current network namespace (rtnetlink).

use super::Error;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, State,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use segue_words::lab::Family;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

/// A socket to the kernel's routing.
pub struct Netlink(Socket);

/// The loopback device's index in every namespace.
pub const LOOPBACK: u32 = 1;

impl Netlink {
    /// A socket of the namespace that this thread is in.
    ///
    /// # Errors
    /// No socket to be had.
    pub fn open() -> Result<Self, Error> {
        let mut socket = Socket::new(NETLINK_ROUTE).map_err(Error::system("a netlink socket"))?;
        socket.bind_auto().map_err(Error::system("a netlink socket"))?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(Error::system("a netlink socket"))?;
        Ok(Self(socket))
    }

    /// Brings a device up; `queue`: packets that it holds for its reader.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn up(&self, device: u32, queue: Option<u32>) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes.extend(queue.map(LinkAttribute::TxQueueLen));
        self.request(RouteNetlinkMessage::SetLink(message), 0, "device up")
    }

    /// Gives a device a carrier, or takes it away: its link is gone.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn carrier(&self, device: u32, present: bool) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.attributes = vec![LinkAttribute::Carrier(u8::from(present))];
        self.request(RouteNetlinkMessage::SetLink(message), 0, "carrier")
    }

    /// Whether packets may leave by a device: it is up, and the kernel has dealt with its carrier, which it does later.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn is_up(&self, device: u32) -> Result<bool, Error> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        let answer = self.ask(RouteNetlinkMessage::GetLink(message), 0);
        match answer.map_err(Error::system("the state of a device in a laboratory's namespace"))? {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => {
                Ok(link.attributes.contains(&LinkAttribute::OperState(State::Up)))
            }
            other => Err(Error::Fault(format!("an answer that was not expected: {other:?}"))),
        }
    }

    /// Makes a pair of connected devices of this name, one here, the other in another namespace.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn veth(&self, name: &str, other: &File) -> Result<(), Error> {
        let mut peer = LinkMessage::default();
        peer.attributes = vec![LinkAttribute::IfName(name.into()), LinkAttribute::NetNsFd(other.as_raw_fd())];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.into()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        self.request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL, "a veth pair")
    }

    /// Gives a device an address.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn address(&self, device: u32, address: IpAddr) -> Result<(), Error> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = bits(address);
        message.header.index = device;
        // Nobody else is there who could have the address.
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL, "address")
    }

    /// Routes one host over a device; connections to it use `congestion_control`. A route's choice is not bound to
    /// the list of allowed ones, which only the host's first namespace may change.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn route(&self, device: u32, to: IpAddr, congestion_control: Option<&str>) -> Result<(), Error> {
        let version = if to.is_ipv4() { Family::Ipv4 } else { Family::Ipv6 };
        let mut message = over(device, version);
        message.header.destination_prefix_length = bits(to);
        message.attributes.push(RouteAttribute::Destination(to.into()));
        if let Some(name) = congestion_control {
            message.attributes.push(RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(name.into())]));
        }
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL, "route")
    }

    /// Leads over a device whatever has no route of its own; in place of the default route before, in one step.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn default_route(&self, device: u32, family: Family) -> Result<(), Error> {
        let message = RouteNetlinkMessage::NewRoute(over(device, family));
        self.request(message, NLM_F_CREATE | NLM_F_REPLACE, "default route")
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16, what: &str) -> Result<(), Error> {
        let result = self.ask(message, NLM_F_ACK | flags).and_then(|answer| match answer {
            NetlinkPayload::Error(_) => Ok(()),
            other => Err(io::Error::other(format!("an answer that was not expected: {other:?}"))),
        });
        result.map_err(Error::system(format!("{what} in a laboratory's namespace")))
    }

    /// Sends one message and reads the kernel's answer: another one, or an error with code 0, which is an ACK.
    fn ask(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | flags;
        request.finalize();
        let mut octets = vec![0; request.buffer_len()];
        request.serialize(&mut octets);
        self.0.send(&octets, 0)?;
        let (octets, _) = self.0.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&octets).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            payload => Ok(payload),
        }
    }
}

/// A default route over a device, without a router.
fn over(device: u32, family: Family) -> RouteMessage {
    let mut message = RouteMessage::default();
    (message.header.address_family, message.header.scope) = match family {
        Family::Ipv4 => (AddressFamily::Inet, RouteScope::Link),
        Family::Ipv6 => (AddressFamily::Inet6, RouteScope::Universe),
    };
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![RouteAttribute::Oif(device)];
    message
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// A prefix of one host.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
