//! The web of a drive: a server with one connection per user at a time, and the users' computer.
//!
//! An object is one connection that the server opens and closes, as in HTTP/1.0. Its handshake stands for that of the
//! browser, whose request rides on it.

use super::web::User;
use crate::nodes::{HostObserver, SendingFlow};
use crate::packet::Packet;
use segue_handoff::regular::Regular;
use segue_handoff::{Listener, LoggedScheme, Scheme};
use segue_netsim::{LinkId, Nanos, Net, PacketId, TimerId};
use segue_tcp::{AnyReceiver, AnySender, StackProfile};

/// One object that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// When its connection was opened.
    pub opened: Nanos,
    /// When its last byte was acknowledged.
    pub done: Nanos,
    /// Its size.
    pub bytes: u64,
}

/// A user as the server sees it.
#[derive(Clone, Debug)]
struct Session {
    user: User,
    /// The connection under way, when it was opened, and the object's size.
    connection: Option<(SendingFlow, Nanos, u64)>,
    /// When the next is opened, and the object's size.
    next: (Nanos, u64),
    /// Connections so far: part of a connection's flow number.
    opened: u16,
    timer: TimerId,
}

/// The web server.
#[derive(Clone, Debug)]
pub struct WebServer {
    sessions: Vec<Session>,
    stack: StackProfile,
    out: LinkId,
    first: FlowNumbers,
    first_timer: u16,
    /// Objects that have come, in order.
    pub fetched: Vec<Fetched>,
}

/// Numbers of web flows. Each connection has its own, so that what is left of an older one under way is known for what
/// it is.
#[derive(Clone, Copy, Debug)]
pub struct FlowNumbers {
    /// The first one.
    pub first: u16,
    /// How many users.
    pub users: u16,
}

impl FlowNumbers {
    fn number(self, user: u16, connection: u16) -> u16 {
        let rounds = (u16::MAX - self.first) / self.users;
        self.first + user + self.users * (connection % rounds)
    }

    fn user(self, flow: u16) -> u16 {
        (flow - self.first) % self.users
    }
}

impl WebServer {
    /// A server of these users, with a timer each, in a row; `first` is the number of its first flow.
    pub fn new(users: Vec<User>, timers: &[TimerId], stack: StackProfile, out: LinkId, first: u16) -> Self {
        let sessions = users.into_iter().zip(timers).map(|(mut user, &timer)| {
            let object = user.next_object();
            Session { user, connection: None, next: (object.wait, object.bytes), opened: 0, timer }
        });
        Self {
            sessions: sessions.collect(),
            stack,
            out,
            first: FlowNumbers { first, users: timers.len() as u16 },
            first_timer: timers[0].0,
            fetched: Vec::new(),
        }
    }

    /// How its flows are numbered.
    pub fn numbers(&self) -> FlowNumbers {
        self.first
    }

    /// When each user asks for its first object.
    pub fn openings(&self) -> impl Iterator<Item = (TimerId, Nanos)> {
        self.sessions.iter().map(|session| (session.timer, session.next.0))
    }

    pub(super) fn on_ack<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        let packet = net.packets[id];
        net.packets.remove(id);
        let user = self.first.user(packet.flow);
        let session = &mut self.sessions[usize::from(user)];
        if let Some((flow, ..)) = &mut session.connection
            && flow.id == packet.flow
        {
            flow.sender.on_segment(net.now(), &packet.segment);
            self.pump(net, user);
        }
    }

    pub(super) fn on_timer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        let now = net.now();
        let user = timer.0 - self.first_timer;
        let session = &mut self.sessions[usize::from(user)];
        match &mut session.connection {
            Some((flow, ..)) => {
                flow.sender.on_timer(now);
            }
            None if session.next.0 <= now => {
                let (_, bytes) = session.next;
                let id = self.first.number(user, session.opened);
                session.opened = session.opened.wrapping_add(1);
                let mut sender = AnySender::new(&self.stack, 0, LoggedScheme::new(Scheme::Regular(Regular)));
                // The last segment is charged in full; one of so many.
                sender.open(bytes.div_ceil(u64::from(self.stack.mss)).clamp(1, 1 << 30) as u32);
                let flow =
                    SendingFlow { id, sender, listener: Listener::new(0), timer: session.timer, opens: None };
                session.connection = Some((flow, now, bytes));
            }
            None => {}
        }
        self.pump(net, user);
    }

    fn pump<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, user: u16) {
        let now = net.now();
        let session = &mut self.sessions[usize::from(user)];
        if let Some((flow, opened, bytes)) = &mut session.connection {
            while let Some(sent) = flow.sender.poll_transmit(now) {
                net.originate(self.out, Packet::data(flow.id, sent));
            }
            if flow.sender.has_data() || flow.sender.snd_una() < flow.sender.snd_max() {
                if let Some(deadline) = flow.sender.deadline() {
                    net.arm(session.timer, deadline);
                }
                return;
            }
            self.fetched.push(Fetched { opened: *opened, done: now, bytes: *bytes });
            session.connection = None;
            let object = session.user.next_object();
            session.next = (now.saturating_add(object.wait), object.bytes);
        }
        net.arm(session.timer, session.next.0);
    }
}

/// The users' computer: the receivers.
#[derive(Clone, Debug)]
pub struct WebClients {
    /// By user: the flow and its receiver.
    connections: Vec<Option<(u16, AnyReceiver)>>,
    stack: StackProfile,
    out: LinkId,
    first: FlowNumbers,
    timers: Vec<TimerId>,
}

impl WebClients {
    /// Clients of a server with these numbers; `timers`: one per user, in a row.
    pub fn new(stack: StackProfile, out: LinkId, first: FlowNumbers, timers: Vec<TimerId>) -> Self {
        Self { connections: vec![None; timers.len()], stack, out, first, timers }
    }

    pub(super) fn on_data<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        let packet = net.packets[id];
        net.packets.remove(id);
        let user = usize::from(self.first.user(packet.flow));
        let slot = &mut self.connections[user];
        // A SYN of a flow not heard of opens it; whatever is left of an older one is nobody's.
        if packet.segment.syn && slot.as_ref().is_none_or(|(flow, _)| *flow != packet.flow) {
            *slot = Some((packet.flow, AnyReceiver::new(&self.stack)));
        }
        if let Some((flow, receiver)) = slot
            && *flow == packet.flow
        {
            receiver.on_segment(net.now(), &packet.segment);
            self.pump(net, user);
        }
    }

    pub(super) fn on_timer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        let user = usize::from(timer.0 - self.timers[0].0);
        if let Some((_, receiver)) = &mut self.connections[user] {
            receiver.on_timer(net.now());
        }
        self.pump(net, user);
    }

    fn pump<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, user: usize) {
        let Some((flow, receiver)) = &mut self.connections[user] else { return };
        if let Some(ack) = receiver.poll_transmit() {
            net.originate(self.out, Packet::ack(*flow, ack));
        }
        if let Some(deadline) = receiver.deadline() {
            net.arm(self.timers[user], deadline);
        }
    }
}
