//! The path between the two hosts: for each direction a wired part and the access link, and the handoff.
//!
//! Pure: packets are `P`, time is passed in, so that tests need neither devices nor clocks. As on the
//! simulator's bench the wired part lies between the server and the access link.

use super::Nanos;
use super::link::{Capacity, OneWay, Passage, Server};
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
    /// Of before.
    Old,
    /// Of after.
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

/// What became of a packet, and when (ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Still under way when the emulator stopped.
    UnderWay,
    /// Handed to the other host.
    Delivered(Nanos),
    /// Dropped by a full queue.
    Dropped(Nanos),
    /// Came out of the old link, or wanted into a link, while there was none.
    Disconnected(Nanos),
}

/// Both directions of an access link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLink {
    /// To the mobile.
    pub down: OneWay,
    /// To the server.
    pub up: OneWay,
}

impl AccessLink {
    /// One of the two directions.
    pub fn towards(&self, direction: Direction) -> &OneWay {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// Whether its rate or its delay is a measured one, and so another one at another time.
    pub fn is_measured(&self) -> bool {
        [&self.down, &self.up]
            .iter()
            .any(|way| way.delays.is_some() || matches!(way.capacity, Capacity::Trace(_)))
    }
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
}

struct Travelling<P> {
    packet: P,
    bytes: u32,
    passage: Passage,
}

struct Way<P> {
    direction: Direction,
    /// The wired hop, if the plan has one: its queue never drops.
    wired: Option<Server>,
    /// On the wired hop before the access link.
    approach: VecDeque<Travelling<P>>,
    /// In or on the old and the new access link.
    old: VecDeque<Travelling<P>>,
    new: VecDeque<Travelling<P>>,
    /// Behind the access link, on the wired hop to the server.
    beyond: VecDeque<Travelling<P>>,
    servers: [Server; 2],
}

#[derive(Clone, Copy)]
enum Step {
    Approach(usize),
    Old(usize),
    New(usize),
    Beyond(usize),
    Down,
    Up,
}

/// Rate of the wired part, as on the simulator's bench.
const WIRED_KBPS: u32 = 100_000;

/// Where a path reports what became of packets.
pub trait Sink<P> {
    /// `packet` has come to the queue of an access link and will, if nothing breaks, depart then.
    fn queued(&mut self, packet: &P, link: Which, arrival: Nanos, departure: Nanos);
    /// The end of `packet`.
    fn ended(&mut self, direction: Direction, packet: P, fate: Fate);
}

/// The path at work.
pub struct Path<P> {
    ways: [Way<P>; 2],
    /// Those to come and the one under way, in order of time.
    switches: VecDeque<Switch>,
    /// The access link that takes packets, or took them last.
    link: Which,
    /// Whether there is one now.
    connected: bool,
}

impl<P> Path<P> {
    /// An empty path that uses the old link. `wired_us`: one-way delay of the wired part, 0 for none.
    pub fn new(old: &AccessLink, new: &AccessLink, wired_us: u32) -> Self {
        let wired = || {
            (wired_us > 0).then(|| {
                Server::new(&OneWay { queue: Some(u32::MAX), ..OneWay::constant(WIRED_KBPS, wired_us) })
            })
        };
        let way = |direction| Way {
            direction,
            wired: wired(),
            approach: VecDeque::new(),
            old: VecDeque::new(),
            new: VecDeque::new(),
            beyond: VecDeque::new(),
            servers: [Server::new(old.towards(direction)), Server::new(new.towards(direction))],
        };
        Self {
            ways: [way(Direction::Down), way(Direction::Up)],
            switches: VecDeque::new(),
            link: Which::Old,
            connected: true,
        }
    }

    /// Adds a handoff; it comes after those that were added before.
    pub fn schedule(&mut self, switch: Switch) {
        self.switches.push_back(switch);
    }

    /// The access link that takes packets.
    fn carrying(&self) -> Option<Which> {
        self.connected.then_some(self.link)
    }

    /// A packet of a host enters. Everything due before `now` must have been [advanced](Self::advance).
    pub fn enter(
        &mut self,
        direction: Direction,
        now: Nanos,
        packet: P,
        bytes: u32,
        sink: &mut impl Sink<P>,
    ) {
        let carrying = self.carrying();
        let way = &mut self.ways[direction as usize];
        match (direction, &mut way.wired) {
            (Direction::Down, Some(wired)) => {
                if let Some(passage) = wired.arrive(now, bytes) {
                    way.approach.push_back(Travelling { packet, bytes, passage });
                }
            }
            _ => way.arrive(carrying, now, packet, bytes, sink),
        }
    }

    /// When the next thing is due.
    pub fn next_due(&self) -> Option<Nanos> {
        self.next_step().map(|(at, _)| at)
    }

    /// Does all that is due at `now`, in order of time.
    pub fn advance(&mut self, now: Nanos, sink: &mut impl Sink<P>) {
        while let Some((at, step)) = self.next_step() {
            if at > now {
                break;
            }
            self.step(at, step, sink);
        }
    }

    /// Ends all packets that are still under way.
    pub fn stop(&mut self, sink: &mut impl Sink<P>) {
        for way in &mut self.ways {
            for queue in [&mut way.approach, &mut way.old, &mut way.new, &mut way.beyond] {
                for travelling in queue.drain(..) {
                    sink.ended(way.direction, travelling.packet, Fate::UnderWay);
                }
            }
        }
    }

    /// The earliest; of equals packets before switches: what comes out of the old link at T still gets through.
    fn next_step(&self) -> Option<(Nanos, Step)> {
        let mut earliest: Option<(Nanos, Step)> = None;
        let mut consider = |at: Option<Nanos>, step| {
            if let Some(at) = at
                && earliest.is_none_or(|(first, _)| at < first)
            {
                earliest = Some((at, step));
            }
        };
        let delivery = |queue: &VecDeque<Travelling<P>>| queue.front().map(|first| first.passage.delivery);
        for (index, way) in self.ways.iter().enumerate() {
            consider(delivery(&way.beyond), Step::Beyond(index));
            consider(delivery(&way.old), Step::Old(index));
            consider(delivery(&way.new), Step::New(index));
            consider(delivery(&way.approach), Step::Approach(index));
        }
        if let Some(switch) = self.switches.front() {
            match self.connected {
                true => consider(Some(switch.down), Step::Down),
                false => consider(Some(switch.up), Step::Up),
            }
        }
        earliest
    }

    fn step(&mut self, at: Nanos, step: Step, sink: &mut impl Sink<P>) {
        match step {
            Step::Approach(index) => {
                let carrying = self.carrying();
                let way = &mut self.ways[index];
                if let Some(Travelling { packet, bytes, .. }) = way.approach.pop_front() {
                    way.arrive(carrying, at, packet, bytes, sink);
                }
            }
            Step::Old(index) => {
                let way = &mut self.ways[index];
                let packet = way.old.pop_front();
                way.cross(at, packet, sink);
            }
            Step::New(index) => {
                let way = &mut self.ways[index];
                let packet = way.new.pop_front();
                way.cross(at, packet, sink);
            }
            Step::Beyond(index) => {
                let way = &mut self.ways[index];
                if let Some(travelling) = way.beyond.pop_front() {
                    sink.ended(way.direction, travelling.packet, Fate::Delivered(at));
                }
            }
            Step::Down => match self.switches.front() {
                Some(Switch { breaks: true, .. }) => {
                    self.connected = false;
                    for way in &mut self.ways {
                        way.break_off(self.link, at, sink);
                    }
                }
                _ => self.change(),
            },
            Step::Up => self.change(),
        }
    }

    /// The other link carries from here on.
    fn change(&mut self) {
        self.switches.pop_front();
        self.link = self.link.other();
        self.connected = true;
    }
}

impl<P> Way<P> {
    /// A link is gone, and what is on it is lost.
    fn break_off(&mut self, link: Which, at: Nanos, sink: &mut impl Sink<P>) {
        let (queue, server) = self.of(link);
        server.forget();
        for travelling in std::mem::take(queue) {
            sink.ended(self.direction, travelling.packet, Fate::Disconnected(at));
        }
    }

    fn of(&mut self, link: Which) -> (&mut VecDeque<Travelling<P>>, &mut Server) {
        let [old, new] = &mut self.servers;
        match link {
            Which::Old => (&mut self.old, old),
            Which::New => (&mut self.new, new),
        }
    }

    fn arrive(
        &mut self,
        carrying: Option<Which>,
        now: Nanos,
        packet: P,
        bytes: u32,
        sink: &mut impl Sink<P>,
    ) {
        let Some(which) = carrying else {
            return sink.ended(self.direction, packet, Fate::Disconnected(now));
        };
        let (queue, server) = self.of(which);
        let Some(passage) = server.arrive(now, bytes) else {
            return sink.ended(self.direction, packet, Fate::Dropped(now));
        };
        sink.queued(&packet, which, now, passage.departure);
        queue.push_back(Travelling { packet, bytes, passage });
    }

    /// A packet comes out of an access link.
    fn cross(&mut self, at: Nanos, travelling: Option<Travelling<P>>, sink: &mut impl Sink<P>) {
        let Some(Travelling { packet, bytes, .. }) = travelling else { return };
        match (self.direction, &mut self.wired) {
            (Direction::Up, Some(wired)) => {
                if let Some(passage) = wired.arrive(at, bytes) {
                    self.beyond.push_back(Travelling { packet, bytes, passage });
                }
            }
            _ => sink.ended(self.direction, packet, Fate::Delivered(at)),
        }
    }
}
