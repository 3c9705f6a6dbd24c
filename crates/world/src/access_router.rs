//! An access router that holds packets for the mobile while it is between two links (algorithms.md, 6.1).
//!
//! While the mobile's link is down, packets for it go into a buffer. A request from the mobile sends all of them, in
//! FIFO order, over the tunnel to the other router. The router that the mobile has come to sends them over the link
//! itself. A notice per flow follows the last packet.

use crate::host_observer::HostObserver;
use crate::packet::{Packet, Signal};
use crate::router::Router;
use segue_netsim::{Buffer, LinkId, Net, NodeId, PacketId, TimerId};

/// Where packets for the mobile go at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Towards {
    /// Over its link.
    Link,
    /// Into the buffer.
    Buffer,
    /// Into the buffer, which the link empties at its rate.
    Draining,
    /// To where what was held has gone.
    Away,
}

/// State of a router that holds packets.
#[derive(Clone, Debug)]
pub struct Held {
    /// The mobile's link.
    link: LinkId,
    buffer: Buffer,
    towards: Towards,
    /// Where what is held goes once it is asked for.
    away: LinkId,
    /// Where requests come from.
    asked_over: LinkId,
    /// Wakes the router when the link can take the next packet, where what is held goes over the mobile's link itself.
    drains: Option<TimerId>,
    /// The highest number that was sent on (L) of each flow, in the order of the flows, for the notice that ends it.
    last: Vec<(u16, u32)>,
}

impl Held {
    /// Packets that would go over `link` are held in `buffer`, and go `away` when a request comes out of `asked_over`.
    pub fn new(link: LinkId, buffer: Buffer, away: LinkId, asked_over: LinkId) -> Self {
        Self { link, buffer, towards: Towards::Link, away, asked_over, drains: None, last: Vec::new() }
    }

    /// The same for a router that the mobile comes to. Its packets leave `buffer` at the rate of `link`, in FIFO order,
    /// and what comes meanwhile goes behind them (algorithms.md, 5.2, step 5). `timer` is the router's.
    pub fn until_attached(link: LinkId, buffer: Buffer, asked_over: LinkId, timer: TimerId) -> Self {
        Self { drains: Some(timer), ..Self::new(link, buffer, link, asked_over) }
    }
}

/// An access router, previous or new.
#[derive(Clone, Debug)]
pub struct AccessRouter {
    id: NodeId,
    router: Router,
    held: Option<Held>,
    /// Where requests for what another router holds go.
    requests_to: Option<LinkId>,
}

impl AccessRouter {
    /// A router that holds packets.
    pub fn holding(id: NodeId, router: Router, held: Held) -> Self {
        Self { id, router, held: Some(held), requests_to: None }
    }

    /// Lets requests for what another router holds go over `tunnel`.
    #[must_use]
    pub fn asking(self, tunnel: LinkId) -> Self {
        Self { requests_to: Some(tunnel), ..self }
    }

    /// The routes.
    pub fn routes(&mut self) -> &mut Router {
        &mut self.router
    }

    /// Packets that are held, oldest first.
    pub fn holds(&self) -> impl Iterator<Item = PacketId> {
        self.held.iter().flat_map(|held| held.buffer.packets())
    }

    /// The mobile's link is down: what it has not sent yet and what comes is held.
    pub fn link_down<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        let Some(held) = &mut self.held else { return };
        held.towards = Towards::Buffer;
        for packet in net.withdraw(held.link) {
            net.hold(self.id, &mut held.buffer, packet);
        }
    }

    /// Packets that come for the mobile are held from now on; those that wait before its link are still sent.
    pub fn hold(&mut self) {
        if let Some(held) = &mut self.held {
            held.towards = Towards::Buffer;
        }
    }

    /// The mobile's link is up: what comes goes over it; what is held waits for a request.
    pub fn link_up(&mut self) {
        if let Some(held) = &mut self.held {
            held.towards = Towards::Link;
        }
    }

    /// A packet has come out of `link`.
    pub(crate) fn on_packet<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        link: LinkId,
        packet: PacketId,
    ) {
        let (flow, signal) = (net.packets[packet].flow, net.packets[packet].signal());
        if signal == Some(Signal::ForwardingRequest) {
            return self.on_request(net, link, packet);
        }
        let Some(out) = self.router.out(link, flow) else { return net.packets.remove(packet) };
        match &mut self.held {
            Some(held) if out == held.link && matches!(held.towards, Towards::Buffer | Towards::Draining) => {
                net.hold(self.id, &mut held.buffer, packet);
            }
            Some(held) if out == held.link && held.towards == Towards::Away => net.send(held.away, packet),
            _ => net.send(out, packet),
        }
    }

    fn on_request<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, link: LinkId, request: PacketId) {
        match (&self.held, self.requests_to) {
            (Some(held), _) if held.asked_over == link => {
                net.packets.remove(request);
                self.release(net);
            }
            (_, Some(out)) => {
                net.send(out, request);
                // The mobile is here, where some may have been held for it before it left.
                if let Some(link) = self.held.as_ref().map(|held| held.link) {
                    self.hand_on(net, link);
                }
            }
            (_, None) => net.packets.remove(request),
        }
    }

    /// Held packets go over `out`, as all that comes for the mobile does from now on. The end of them is told over the
    /// mobile's link.
    pub fn hand_on<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, out: LinkId) {
        let Some(held) = &mut self.held else { return };
        held.towards = Towards::Link;
        for (flow, seq) in std::mem::take(&mut held.last) {
            net.originate(held.link, Packet::of_signal(flow, Signal::EndOfForwarding, seq));
        }
        while let Some(id) = net.release(&mut held.buffer) {
            net.packets[id].forwarded = true;
            net.send(out, id);
        }
    }

    /// Sends all that is held, and the notices (6.1).
    fn release<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        let Some(held) = &mut self.held else { return };
        if held.towards == Towards::Buffer {
            held.towards = if held.drains.is_some() { Towards::Draining } else { Towards::Away };
        }
        self.drain(net);
    }

    /// Sends what is held, all at once or as fast as the link takes it, then the notices.
    fn drain<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        let Some(held) = &mut self.held else { return };
        loop {
            if let Some(timer) = held.drains.filter(|_| !held.buffer.is_empty()) {
                let busy_until = net.link(held.away).busy_until();
                if busy_until > net.now() {
                    return net.arm(timer, busy_until);
                }
            }
            let Some(id) = net.release(&mut held.buffer) else { break };
            let packet = &mut net.packets[id];
            packet.forwarded = true;
            let (flow, seq) = (packet.flow, packet.segment.seq);
            // The highest: a packet sent again may stand behind it.
            match held.last.binary_search_by_key(&flow, |of| of.0) {
                Ok(index) => held.last[index].1 = held.last[index].1.max(seq),
                Err(index) => held.last.insert(index, (flow, seq)),
            }
            net.send(held.away, id);
        }
        if held.towards == Towards::Draining {
            held.towards = Towards::Away;
        }
        for (flow, seq) in std::mem::take(&mut held.last) {
            net.originate(held.away, Packet::of_signal(flow, Signal::EndOfForwarding, seq));
        }
    }

    /// The router's timer has fired: the link may have room.
    pub(crate) fn on_timer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        if self.held.as_ref().is_some_and(|held| held.towards == Towards::Draining) {
            self.drain(net);
        }
    }
}
