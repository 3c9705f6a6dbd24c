//! The path between the two hosts: for each direction a wired part and the access link, and the handoff.
//!
//! It is a network of the simulator's, whose clock follows the laboratory's. Pure: packets are numbers, time is
//! passed in, so that tests need neither devices nor clocks. As on the simulator's bench the wired part lies between
//! the server and the access link.

use super::Nanos;
use super::access_link::AccessLink;
use segue_netsim::{
    Codepoint, Delay, LinkConfig, LinkId, LossCause, Net, Node, NodeId, Observer, PacketId, Passage, Payload,
    Rate, Service, Sim, TimerId,
};
use std::collections::VecDeque;

/// Towards the mobile, or towards the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Server to mobile.
    Down,
    /// Mobile to server.
    Up,
}

/// The link of before or of after the handoff; of several handoffs each goes to the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// The link before the handoff.
    Old,
    /// The link after it.
    New,
}

impl Which {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }
}

/// Fate of a packet, and when (ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Still under way when the emulator stopped.
    UnderWay,
    /// Handed to the other host.
    Delivered(Nanos),
    /// Dropped by a queue.
    Dropped(Nanos),
    /// Lost on a link that was up.
    Lost(Nanos),
    /// Came out of the old link, or wanted into a link, while there was none.
    Disconnected(Nanos),
}

/// A change to the other access link at a known time (ns). `up == down`: make before break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The routes leave the link; break before make: it is gone.
    pub down: Nanos,
    /// The other one carries.
    pub up: Nanos,
    /// Whether what is on the link at `down` is lost.
    pub breaks: bool,
    /// Break before make: its uplink is gone, with the downlink or later.
    pub uplink_down: Nanos,
}

impl Switch {
    /// Both directions at once.
    pub const fn new(down: Nanos, up: Nanos, breaks: bool) -> Self {
        Self { down, up, breaks, uplink_down: down }
    }
}

/// Rate of the wired part, as on the simulator's bench, bit/s.
const WIRED_RATE: u64 = 100_000_000;

/// Where a path reports what became of packets.
pub trait Sink: Clone {
    /// `packet` has come to the queue of an access link and will, if nothing breaks, depart then.
    fn queued(&mut self, packet: usize, link: Which, arrival: Nanos, departure: Nanos);
    /// A queue of an access link has marked `packet`, which has not ended yet.
    fn marked(&mut self, _packet: usize) {}
    /// The end of `packet`.
    fn ended(&mut self, direction: Direction, packet: usize, fate: Fate);
}

/// A packet as links know it.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Octets of the IP packet.
    pub bytes: u32,
    /// Its flow, for queues that tell flows apart.
    pub flow: u16,
    /// Its field of ECN.
    pub ecn: Codepoint,
}

/// A packet of the only flow, which does not understand marks.
impl From<u32> for Content {
    fn from(bytes: u32) -> Self {
        Self { bytes, flow: 0, ecn: Codepoint::NotEct }
    }
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// By which its owner knows it.
    number: usize,
    content: Content,
}

impl Payload for Carried {
    fn size(&self) -> u32 {
        self.content.bytes
    }

    fn flow(&self) -> u16 {
        self.content.flow
    }

    fn ecn(&self) -> Codepoint {
        self.content.ecn
    }

    fn mark(&mut self) {
        self.content.ecn = Codepoint::Ce;
    }
}

/// A part of the path, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    Wired,
    Access(Which),
}

/// The links of the network as it numbers them.
const LINKS: [(Direction, Hop); 6] = [
    (Direction::Down, Hop::Wired),
    (Direction::Down, Hop::Access(Which::Old)),
    (Direction::Down, Hop::Access(Which::New)),
    (Direction::Up, Hop::Wired),
    (Direction::Up, Hop::Access(Which::Old)),
    (Direction::Up, Hop::Access(Which::New)),
];

fn id(direction: Direction, hop: Hop) -> LinkId {
    let place = match hop {
        Hop::Wired => 0,
        Hop::Access(Which::Old) => 1,
        Hop::Access(Which::New) => 2,
    };
    LinkId(direction as u16 * 3 + place)
}

fn place(link: LinkId) -> (Direction, Hop) {
    LINKS[usize::from(link.0)]
}

/// Tells the sink.
#[derive(Clone)]
struct Watch<S>(S);

impl<S: Sink> Observer<Carried> for Watch<S> {
    fn accepted(&mut self, link: LinkId, passage: &Passage, packet: &Carried) {
        if let (_, Hop::Access(which)) = place(link) {
            self.0.queued(packet.number, which, passage.arrival, passage.departure);
        }
    }

    fn lost(&mut self, now: Nanos, link: LinkId, packet: &Carried, cause: LossCause) {
        let fate = match cause {
            LossCause::Queue => Fate::Dropped(now),
            LossCause::Link => Fate::Lost(now),
            LossCause::Disconnection => Fate::Disconnected(now),
        };
        self.0.ended(place(link).0, packet.number, fate);
    }

    /// Nobody takes packets back.
    fn withdrawn(&mut self, _: LinkId, _: &Carried) {}

    /// There are no buffers.
    fn overflowed(&mut self, _: Nanos, _: NodeId, _: &Carried) {}
}

/// Stands at the end of every link: the access router, and the hosts.
#[derive(Clone)]
struct Junction {
    /// Whether there is a wired part.
    wired: bool,
    /// The access link that takes packets, of each direction.
    carrying: [Option<Which>; 2],
}

impl Junction {
    /// The link that takes a packet of a host; `None`: there is none now.
    fn first(&self, direction: Direction) -> Option<LinkId> {
        match direction {
            Direction::Down if self.wired => Some(id(direction, Hop::Wired)),
            _ => self.access(direction),
        }
    }

    fn access(&self, direction: Direction) -> Option<LinkId> {
        self.carrying[direction as usize].map(|which| id(direction, Hop::Access(which)))
    }
}

impl<S: Sink> Node<Carried, Watch<S>> for Junction {
    fn on_packet(&mut self, net: &mut Net<Carried, Watch<S>>, link: LinkId, packet: PacketId) {
        let (next, fate) = match place(link) {
            (Direction::Down, Hop::Wired) => (self.access(Direction::Down), Fate::Disconnected(net.now())),
            (Direction::Up, Hop::Access(_)) if self.wired => {
                (Some(id(Direction::Up, Hop::Wired)), Fate::Delivered(net.now()))
            }
            _ => (None, Fate::Delivered(net.now())),
        };
        match next {
            Some(next) => net.send(next, packet),
            None => {
                let Carried { number, content } = net.packets[packet];
                net.packets.remove(packet);
                if content.ecn == Codepoint::Ce {
                    net.observer.0.marked(number);
                }
                net.observer.0.ended(place(link).0, number, fate);
            }
        }
    }

    fn on_timer(&mut self, _: &mut Net<Carried, Watch<S>>, _: TimerId) {}
}

/// The path at work.
pub struct Path<S> {
    sim: Sim<Junction, Carried, Watch<S>>,
    /// The old access link and the new one.
    links: [AccessLink; 2],
    /// Those to come and the one under way, in order of time.
    switches: VecDeque<Switch>,
    /// The access link that takes packets, or took them last.
    link: Which,
    /// The one that the mobile has left without a break: its uplink still carries.
    left: Option<Which>,
}

impl<S: Sink> Path<S> {
    /// An empty path that uses the old link. `wired`: one-way delay of the wired part, 0 for none.
    pub fn new(old: &AccessLink, new: &AccessLink, wired: Nanos, sink: S) -> Self {
        let mut net = Net::new(Watch(sink));
        let links = [old.clone(), new.clone()];
        for (direction, hop) in LINKS {
            let config = match hop {
                Hop::Wired => LinkConfig::new(Service::Fixed(Rate::new(WIRED_RATE)), Delay::Fixed(wired)),
                Hop::Access(which) => towards(&links, which, direction).clone(),
            };
            net.add_link(NodeId(0), config);
        }
        let junction = Junction { wired: wired > 0, carrying: [Some(Which::Old); 2] };
        let sim = Sim { net, nodes: vec![junction] };
        Self { sim, links, switches: VecDeque::new(), link: Which::Old, left: None }
    }

    /// The listener that hears the fates of packets.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sim.net.observer.0
    }

    /// Adds a handoff; it comes after those that were added before.
    pub fn schedule(&mut self, switch: Switch) {
        self.switches.push_back(switch);
    }

    /// A packet of a host enters, at the time that the path has been [advanced](Self::advance) to.
    pub fn enter(&mut self, direction: Direction, number: usize, content: impl Into<Content>) {
        self.enter_by(None, direction, number, content);
    }

    /// The same, by the mobile's device of this link. That of a link which it has left without a break still carries
    /// what leaves by it; all else takes the link that carries.
    pub fn enter_by(
        &mut self,
        by: Option<Which>,
        direction: Direction,
        number: usize,
        content: impl Into<Content>,
    ) {
        let left = self.left;
        let Sim { net, nodes } = &mut self.sim;
        let now = net.now();
        let over_left = by.filter(|_| direction == Direction::Up).filter(|by| left == Some(*by));
        let over_left = over_left.map(|link| id(direction, Hop::Access(link)));
        match over_left.or_else(|| nodes[0].first(direction)) {
            Some(link) => net.inject(link, Carried { number, content: content.into() }),
            None => net.observer.0.ended(direction, number, Fate::Disconnected(now)),
        }
    }

    /// When the next thing is due.
    pub fn next_due(&self) -> Option<Nanos> {
        self.sim.net.next_event().into_iter().chain(self.next_switch()).min()
    }

    /// Does all that is due until `now`, in order of time. A packet that comes out of a link at the instant of a
    /// switch still gets through.
    pub fn advance(&mut self, now: Nanos) {
        while let Some(at) = self.next_switch().filter(|&at| at <= now) {
            self.run_through(at);
            self.switch();
        }
        self.run_through(now);
    }

    /// Tells of all packets that are still under way; nothing may enter afterwards.
    pub fn stop(&mut self) {
        let net = &mut self.sim.net;
        for (direction, hop) in LINKS {
            let left: Vec<PacketId> = net.link(id(direction, hop)).packets().collect();
            for packet in left {
                net.observer.0.ended(direction, net.packets[packet].number, Fate::UnderWay);
            }
        }
    }

    /// Handles all that happens to packets until `at`, this instant included.
    fn run_through(&mut self, at: Nanos) {
        while self.sim.step(at + 1) {}
        self.sim.run_until(at);
    }

    fn next_switch(&self) -> Option<Nanos> {
        self.switches.front().map(|switch| match self.sim.nodes[0].carrying {
            [Some(_), _] => switch.down,
            [None, Some(_)] => switch.uplink_down.clamp(switch.down, switch.up),
            [None, None] => switch.up,
        })
    }

    /// A direction of the link goes, or both, or another link carries from here on.
    fn switch(&mut self) {
        let Some(&switch) = self.switches.front() else { return };
        if switch.breaks {
            let [down, up] = self.sim.nodes[0].carrying.map(|link| link.is_some());
            if down {
                self.lose(Direction::Down);
            }
            if up && (!down || switch.uplink_down <= switch.down) {
                self.lose(Direction::Up);
            }
            if down || up {
                return;
            }
        }
        self.switches.pop_front();
        self.left = (!switch.breaks).then_some(self.link);
        self.link = self.link.other();
        self.sim.nodes[0].carrying = [Some(self.link); 2];
    }

    /// A direction of the link goes, with all that is on it.
    fn lose(&mut self, direction: Direction) {
        self.sim.nodes[0].carrying[direction as usize] = None;
        let config = towards(&self.links, self.link, direction).clone();
        self.sim.net.replace_link(id(direction, Hop::Access(self.link)), config);
    }
}

fn towards(links: &[AccessLink; 2], which: Which, direction: Direction) -> &LinkConfig {
    let link = &links[which as usize];
    match direction {
        Direction::Down => &link.down,
        Direction::Up => &link.up,
    }
}
