//! The device whose egress the programs see: what its packets begin with, and who else has filters there (rtnetlink).

use super::Error;
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkLayerType, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;
use std::io;

/// A device of the current network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Device {
    pub(super) index: u32,
    /// Octets before the IP header of what it is given.
    pub(super) link_header: u32,
}

impl Device {
    /// # Errors
    /// There is no such device, or its packets are neither Ethernet's nor bare IP.
    pub(super) fn named(name: &str) -> Result<Self, Error> {
        let no_device = |_| Error::User(format!("device {name}: there is none in this network namespace"));
        let index = if_nametoindex(name).map_err(no_device)?;
        let mut wanted = LinkMessage::default();
        wanted.header.index = index;
        let found = ask(RouteNetlinkMessage::GetLink(wanted), 0)
            .map_err(|problem| Error::io(format!("device {name}"), problem))?;
        let kind = found.iter().find_map(|message| match message {
            RouteNetlinkMessage::NewLink(link) => Some(link.header.link_layer_type),
            _ => None,
        });
        let link_header = match kind {
            Some(LinkLayerType::Ether | LinkLayerType::Loopback) => 14,
            // TUN and WireGuard; modems (wwan); PPP, whose header its driver adds later.
            Some(LinkLayerType::None | LinkLayerType::Rawip | LinkLayerType::Ppp) => 0,
            other => {
                return Err(Error::User(format!(
                    "device {name}: its packets are of type {other:?}; expected Ethernet or bare IP"
                )));
            }
        };
        Ok(Self { index, link_header })
    }

    /// Whether it has the qdisc that filters of ingress and egress are attached to.
    pub(super) fn has_clsact(self) -> io::Result<bool> {
        let all = ask(RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()), NLM_F_DUMP)?;
        let clsact = TcAttribute::Kind("clsact".into());
        Ok(all.iter().any(|message| match message {
            RouteNetlinkMessage::NewQueueDiscipline(one) => {
                one.header.index == self.index as i32 && one.attributes.contains(&clsact)
            }
            _ => false,
        }))
    }

    /// Whether anybody has a filter there.
    pub(super) fn has_filters(self) -> io::Result<bool> {
        for minor in [TcHandle::MIN_INGRESS, TcHandle::MIN_EGRESS] {
            let mut wanted = TcMessage::with_index(self.index as i32);
            wanted.header.parent = TcHandle { major: TcHandle::CLSACT.major, minor };
            if !ask(RouteNetlinkMessage::GetTrafficFilter(wanted), NLM_F_DUMP)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// All messages of an answer.
fn ask(message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut request = NetlinkMessage::from(message);
    request.header.flags = NLM_F_REQUEST | flags;
    request.finalize();
    let mut octets = vec![0; request.buffer_len()];
    request.serialize(&mut octets);
    socket.send(&octets, 0)?;
    let mut answers = Vec::new();
    loop {
        let (octets, _) = socket.recv_from_full()?;
        let mut rest = &octets[..];
        while !rest.is_empty() {
            let message =
                NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).map_err(io::Error::other)?;
            let length = (message.header.length as usize).next_multiple_of(4);
            match message.payload {
                NetlinkPayload::InnerMessage(inner) => answers.push(inner),
                NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
                _ => return Ok(answers),
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        if flags & NLM_F_DUMP == 0 {
            return Ok(answers);
        }
    }
}
