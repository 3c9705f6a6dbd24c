//! The nodes of the bench. The enum is closed, so that the engine dispatches statically.

use crate::access_router::AccessRouter;
use crate::applications::Applications;
use crate::observer::Observer;
use crate::packet::Packet;
use crate::two_ways::TwoWays;
use segue_netsim::{LinkId, Net, Node, PacketId, TimerId};

pub use crate::host_observer::HostObserver;
pub use crate::hosts::{
    Also, Arrived, Copies, Correspondent, Mobile, ReceivingFlow, SendingFlow, receiving_flow, sending_flow,
};
pub use crate::router::{Route, Router};
pub use crate::wheel::Wheel;

/// Any node.
#[derive(Clone, Debug)]
#[repr(u8)] // the variant in a byte of its own, read for every packet
pub enum BenchNode {
    /// Bulk senders.
    Correspondent(Correspondent),
    /// A router.
    Router(Router),
    /// An access router that holds packets for the mobile.
    AccessRouter(AccessRouter),
    /// Receivers.
    Mobile(Mobile),
    /// A router before, or behind, two links that both carry.
    TwoWays(Box<TwoWays>),
    /// Senders that applications feed.
    Applications(Box<Applications>),
}

impl BenchNode {
    /// The routes of a router, also of one before two links.
    pub(crate) fn routes(&mut self) -> Option<&mut Router> {
        match self {
            Self::Router(router) => Some(router),
            Self::TwoWays(end) => Some(end.routes()),
            _ => None,
        }
    }
}

impl BenchNode {
    /// A packet has come to a node that is no plain router.
    #[inline(never)] // or its registers would be saved for every packet of a router
    fn on_packet_elsewhere<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, link: LinkId, id: PacketId) {
        match self {
            // A packet is read where it lies: copying it out took 6 % of the samples of case (b).
            Self::Correspondent(host) => host.on_ack(net, id),
            Self::Mobile(host) => host.on_data(net, link, id),
            _ => self.on_packet_at_another(net, link, id),
        }
    }

    /// The same of a node that not every network has.
    #[inline(never)] // or its registers would be saved for every packet that comes to a host
    fn on_packet_at_another<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        link: LinkId,
        id: PacketId,
    ) {
        match self {
            Self::AccessRouter(router) => router.on_packet(net, link, id),
            Self::TwoWays(router) => router.on_packet(net, link, id),
            Self::Applications(host) => host.on_ack(net, id),
            // They have been served.
            Self::Router(_) | Self::Correspondent(_) | Self::Mobile(_) => {}
        }
    }
}

impl<O: HostObserver> Node<Packet, O> for BenchNode {
    #[inline(always)] // on the path of every packet, most of which come to routers
    fn on_packet(&mut self, net: &mut Net<Packet, O>, link: LinkId, id: PacketId) {
        match self {
            Self::Router(router) => match router.out(link, net.packets[id].flow) {
                Some(out) => net.send(out, id),
                None => net.packets.remove(id),
            },
            _ => self.on_packet_elsewhere(net, link, id),
        }
    }

    #[inline]
    fn on_timer(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        match self {
            Self::Router(_) | Self::TwoWays(_) => {}
            Self::AccessRouter(router) => router.on_timer(net),
            Self::Correspondent(host) => host.on_timer(net, timer),
            Self::Mobile(host) => host.on_timer(net, timer),
            Self::Applications(host) => host.on_timer(net, timer),
        }
    }
}

/// The network of the bench; `W` watches it.
pub type BenchSim<W = ()> = segue_netsim::Sim<BenchNode, Packet, Observer<W>>;
