//! Home agent, access routers and mobile node: [`segue_handoff::fmipv6`] with packets and timers.

use super::record::{DownloadObserver, Host, Way};
use crate::nodes::{BenchNode, Mobile};
use crate::packet::{Packet, Signal};
use segue_handoff::fmipv6::{FastMobile, Message, MobileEvent, NewRouter, Party, PreviousRouter};
use segue_handoff::{Announcement, StartRule};
use segue_netsim::{Buffer, LinkConfig, LinkId, Nanos, Net, Node, NodeId, PacketId, TimerId};

type Network = Net<Packet, DownloadObserver>;

/// Both directions of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Towards the mobile node; of the tunnel: towards NAR.
    pub down: LinkId,
    pub up: LinkId,
}

/// Any node.
#[derive(Clone, Debug)]
pub(super) enum FmipNode {
    /// The correspondent node, and the router beside it.
    Bench(BenchNode),
    HomeAgent(HomeAgent),
    Previous(PreviousAccess),
    New(NewAccess),
    Mobile(Box<MobileHost>),
}

/// Messages of each kind that are still to be lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost(pub Vec<(&'static str, u32)>);

impl Lost {
    /// Sends a message, unless it is one of those.
    fn send(&mut self, net: &mut Network, out: LinkId, message: Message, (from, to): (Host, Host)) {
        let now = net.now();
        let number = net.observer.signalled(now, message, from, to);
        let left = self.0.iter_mut().find(|(name, left)| *name == message.name() && *left > 0);
        match left {
            Some((_, left)) => *left = left.saturating_sub(u32::from(*left < u32::MAX)),
            None => {
                let mut packet = Packet::of_signal(0, Signal::Mobility(message), number);
                packet.bytes = message.bytes();
                net.originate(out, packet);
            }
        }
    }
}

/// The message that a packet is.
fn message(packet: &Packet) -> Option<Message> {
    match packet.signal() {
        Some(Signal::Mobility(message)) => Some(message),
        _ => None,
    }
}

/// Takes a message that has come to whom it is for.
fn take(net: &mut Network, id: PacketId) {
    let (now, number) = (net.now(), net.packets[id].segment.seq);
    net.observer.signal_arrived(now, number);
    net.packets.remove(id);
}

/// The host that a message is for.
fn host(to: Party) -> Host {
    match to {
        Party::MobileAtPrevious | Party::MobileAtNew => Host::Mobile,
        Party::Previous => Host::Previous,
        Party::New => Host::New,
        Party::HomeAgent => Host::HomeAgent,
    }
}

/// Sends what comes for the mobile node to where it was last bound.
#[derive(Clone, Debug)]
pub(super) struct HomeAgent {
    /// To the core: towards the correspondent node.
    pub core: Pair,
    /// To PAR and to NAR.
    pub edge: [Pair; 2],
    /// The mobile node is bound to NAR.
    pub bound: bool,
    pub lost: Lost,
}

impl HomeAgent {
    fn on_packet(&mut self, net: &mut Network, link: LinkId, id: PacketId) {
        match message(&net.packets[id]) {
            Some(Message::Bu) => {
                take(net, id);
                self.bound = true;
                self.lost.send(net, self.edge[1].down, Message::BAck, (Host::HomeAgent, Host::Mobile));
            }
            Some(_) => take(net, id),
            None if link == self.core.down => net.send(self.edge[usize::from(self.bound)].down, id),
            None => net.send(self.core.up, id),
        }
    }
}

/// The previous access router.
#[derive(Clone, Debug)]
pub(super) struct PreviousAccess {
    pub machine: PreviousRouter,
    /// To HA, to the mobile node, to NAR.
    pub edge: Pair,
    pub access: Pair,
    pub tunnel: Pair,
    pub timer: TimerId,
    pub lost: Lost,
}

impl PreviousAccess {
    fn on_packet(&mut self, net: &mut Network, link: LinkId, id: PacketId) {
        if let Some(message) = message(&net.packets[id]) {
            take(net, id);
            self.machine.on_message(net.now(), message);
            return self.pump(net);
        }
        let out = match link {
            link if link == self.access.up => self.edge.up,
            _ if self.machine.forwards() => self.tunnel.down,
            _ => self.access.down,
        };
        net.send(out, id);
    }

    fn pump(&mut self, net: &mut Network) {
        while let Some((to, message)) = self.machine.poll() {
            let (out, to) = match to {
                Party::MobileAtPrevious => (self.access.down, Host::Mobile),
                _ => (self.tunnel.down, Host::New),
            };
            self.lost.send(net, out, message, (Host::Previous, to));
        }
        if let Some(deadline) = self.machine.deadline() {
            net.arm(self.timer, deadline);
        }
    }
}

/// The new access router.
#[derive(Clone, Debug)]
pub(super) struct NewAccess {
    pub id: NodeId,
    pub machine: NewRouter,
    pub buffer: Buffer,
    /// To HA, to the mobile node, to PAR.
    pub edge: Pair,
    pub access: Pair,
    pub tunnel: Pair,
    pub lost: Lost,
}

impl NewAccess {
    fn on_packet(&mut self, net: &mut Network, link: LinkId, id: PacketId) {
        let message = message(&net.packets[id]);
        let from_mobile = link == self.access.up;
        if from_mobile && self.machine.on_mobile_seen() {
            self.release(net);
        }
        match message {
            // Through this router to somebody else.
            Some(Message::Bu) => return net.send(self.edge.up, id),
            Some(Message::BAck) => return net.send(self.access.down, id),
            Some(Message::Fbu) => return net.send(self.tunnel.up, id),
            Some(message) => {
                take(net, id);
                if self.machine.on_message(message) {
                    self.release(net);
                }
            }
            None if from_mobile => net.send(self.edge.up, id),
            None if self.machine.holds() => net.hold(self.id, &mut self.buffer, id),
            None => net.send(self.access.down, id),
        }
        self.pump(net);
    }

    /// Lets out what is held, in FIFO order (algorithms.md, 5.2, step 5).
    fn release(&mut self, net: &mut Network) {
        while let Some(id) = net.release(&mut self.buffer) {
            net.send(self.access.down, id);
        }
        self.pump(net);
    }

    fn pump(&mut self, net: &mut Network) {
        while let Some((to, message)) = self.machine.poll() {
            let out = if to == Party::MobileAtNew { self.access.down } else { self.tunnel.up };
            self.lost.send(net, out, message, (Host::New, host(to)));
        }
    }
}

/// The mobile node: a receiver that moves.
#[derive(Clone, Debug)]
pub(super) struct MobileHost {
    pub tcp: Mobile,
    pub machine: FastMobile,
    /// To PAR, and to NAR, whose lines are up again with this.
    pub access: [Pair; 2],
    pub new_line: LinkConfig,
    /// The announcement to the senders, and how often it is sent.
    pub foretells: Option<(StartRule, u32)>,
    pub lead: Nanos,
    pub disconnection: Nanos,
    pub timer: TimerId,
    pub lost: Lost,
    /// When the old link goes at the latest, until it has gone; then when the new one is there.
    pub next: Option<Nanos>,
    pub way: Way,
}

impl MobileHost {
    /// Its way so far.
    pub fn passage(&self) -> Way {
        self.way
    }

    /// The old link is about to go.
    pub fn on_hint(&mut self, net: &mut Network) {
        self.next = Some(net.now() + self.lead);
        self.machine.on_hint(net.now());
        self.pump(net);
    }

    fn on_packet(&mut self, net: &mut Network, link: LinkId, id: PacketId) {
        let Some(message) = message(&net.packets[id]) else {
            return self.tcp.on_data(net, link, id);
        };
        take(net, id);
        let event = self.machine.on_message(net.now(), message);
        self.on_event(net, event);
        self.pump(net);
    }

    fn on_timer(&mut self, net: &mut Network, timer: TimerId) {
        if timer != self.timer {
            return self.tcp.on_timer(net, timer);
        }
        let now = net.now();
        if self.next.is_some_and(|next| next <= now) {
            match self.way.left {
                None => self.leave(net),
                Some(_) => self.attach(net),
            }
        }
        if self.machine.deadline().is_some_and(|deadline| deadline <= now) {
            let event = self.machine.on_timer(now);
            self.on_event(net, event);
        }
        self.pump(net);
    }

    fn on_event(&mut self, net: &mut Network, event: Option<MobileEvent>) {
        let now = net.now();
        match event {
            Some(MobileEvent::Granted(buffer)) => {
                if let Some((rule, copies)) = self.foretells {
                    let start = Announcement::Start(rule.start(self.disconnection, buffer));
                    self.tcp.foretell(net, start, rule.encoding, copies);
                    self.way.started = Some(now);
                }
            }
            Some(MobileEvent::MayLeave) if self.way.left.is_none() => self.leave(net),
            Some(MobileEvent::Arrived(mode)) => {
                self.way.mode = Some(mode);
                self.signal(net); // UNA before HO Finish (5.2)
                if let Some((rule, copies)) = self.foretells.filter(|_| self.way.started.is_some()) {
                    self.tcp.foretell(net, Announcement::Finish, rule.encoding, copies);
                    self.way.finished = Some(now);
                }
            }
            Some(MobileEvent::MayLeave) | None => {}
        }
    }

    fn leave(&mut self, net: &mut Network) {
        let now = net.now();
        self.way.left = Some(now);
        for link in [self.access[0].down, self.access[0].up] {
            net.cut(link, now);
        }
        self.machine.on_link_down();
        self.next = Some(now + self.disconnection);
    }

    fn attach(&mut self, net: &mut Network) {
        let now = net.now();
        self.way.attached = Some(now);
        self.next = None;
        for link in [self.access[1].down, self.access[1].up] {
            net.replace_link(link, self.new_line.clone());
        }
        self.tcp.out = self.access[1].up;
        let event = self.machine.on_link_up(now);
        self.on_event(net, event);
    }

    fn signal(&mut self, net: &mut Network) {
        while let Some((to, message)) = self.machine.poll() {
            self.lost.send(net, self.tcp.out, message, (Host::Mobile, host(to)));
        }
    }

    fn pump(&mut self, net: &mut Network) {
        self.signal(net);
        if let Some(deadline) = [self.machine.deadline(), self.next].into_iter().flatten().min() {
            net.arm(self.timer, deadline);
        }
    }
}

impl Node<Packet, DownloadObserver> for FmipNode {
    fn on_packet(&mut self, net: &mut Network, link: LinkId, id: PacketId) {
        match self {
            Self::Bench(node) => node.on_packet(net, link, id),
            Self::HomeAgent(agent) => agent.on_packet(net, link, id),
            Self::Previous(router) => router.on_packet(net, link, id),
            Self::New(router) => router.on_packet(net, link, id),
            Self::Mobile(mobile) => mobile.on_packet(net, link, id),
        }
    }

    fn on_timer(&mut self, net: &mut Network, timer: TimerId) {
        match self {
            Self::Bench(node) => node.on_timer(net, timer),
            Self::Previous(router) => {
                router.machine.on_timer(net.now());
                router.pump(net);
            }
            Self::Mobile(mobile) => mobile.on_timer(net, timer),
            Self::HomeAgent(_) | Self::New(_) => {}
        }
    }
}
