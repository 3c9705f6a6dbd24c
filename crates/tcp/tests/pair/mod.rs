//! A sender, a receiver, a virtual clock and a path between them that does what it is told: no
//! sockets, no threads. After every event the pair checks what must hold for any TCP.

use segue_tcp::profile::HeaderSize;
use segue_tcp::receiver::Arrival;
use segue_tcp::segment::CarriedOption;
use segue_tcp::{Advice, Advisor, Nanos, Receiver, Segment, Sender, StackProfile, Transmit, encode};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::{self, Debug};

pub const MS: Nanos = 1_000_000;

/// Fate of one packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Deliver,
    Lose,
    /// Arrives twice, the second copy this many ms later.
    Twice(u64),
    /// Arrives this many ms late, and is overtaken.
    Late(u64),
}

/// Something that happens at a time, whatever TCP does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// New one-way delay, ms, and time per data packet, us.
    Path(u64, u64),
    /// All packets sent in the next so many ms are lost.
    Blackout(u64),
    /// The receiver advertises this window.
    Window(u32),
    /// The receiver sends an ACK with an option for somebody else.
    Notice,
    /// The sender is advised.
    Advise(Advice),
}

/// The path's faults: of the n-th data packet, of the n-th ACK, at times (ms). Beyond the lists everything is
/// delivered.
#[derive(Clone, Default)]
pub struct Plan {
    pub data: Vec<Fate>,
    pub acks: Vec<Fate>,
    pub changes: Vec<(u64, Change)>,
    pub packets: u32,
    pub clock_phase_us: u64,
}

/// Shorter than derived: what is delivered is a dot, so that a failing case can be read.
impl Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |fates: &[Fate]| -> String {
            let short = |fate: &Fate| match fate {
                Fate::Deliver => ".".into(),
                Fate::Lose => "x".into(),
                Fate::Twice(ms) => format!(" +{ms} "),
                Fate::Late(ms) => format!(" >{ms} "),
            };
            fates.iter().map(short).collect()
        };
        let Self { packets, clock_phase_us, changes, .. } = self;
        writeln!(f, "{packets} packets, clock at {clock_phase_us} us, changes {changes:?}")?;
        writeln!(f, "data {}\nacks {}", line(&self.data), line(&self.acks))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Change(usize),
    Data(usize),
    Ack(usize),
}

pub struct Pair<A> {
    pub sender: Sender<A>,
    pub receiver: Receiver,
    pub now: Nanos,
    /// All that the sender has put on the wire.
    pub log: Vec<(Nanos, Transmit)>,
    /// All ACKs, and when each was sent.
    pub acks: Vec<(Nanos, Segment)>,
    plan: Plan,
    profile: StackProfile,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    order: u64,
    delay: Nanos,
    per_packet: Nanos,
    link_free: Nanos,
    dark_until: Nanos,
    /// First packet that has not arrived, by our own book-keeping, and those beyond that have.
    first_missing: u32,
    arrived: BTreeMap<u32, ()>,
}

impl<A: Advisor + Debug> Pair<A> {
    pub fn new(profile: &StackProfile, plan: Plan, advisor: A) -> Self {
        let mut pair = Self {
            sender: Sender::new(profile, plan.clock_phase_us * 1_000, advisor),
            receiver: Receiver::new(profile),
            now: 0,
            log: Vec::new(),
            acks: Vec::new(),
            profile: *profile,
            events: BinaryHeap::new(),
            order: 0,
            delay: 50 * MS,
            per_packet: 2 * MS,
            link_free: 0,
            dark_until: 0,
            first_missing: 0,
            arrived: BTreeMap::new(),
            plan,
        };
        for (k, &(at, _)) in pair.plan.changes.clone().iter().enumerate() {
            pair.at(at * MS, Event::Change(k));
        }
        pair
    }

    fn at(&mut self, time: Nanos, event: Event) {
        self.order += 1;
        self.events.push(Reverse((time, self.order, event)));
    }

    /// Opens the connection and runs until everything is acknowledged; says at what time.
    ///
    /// # Panics
    /// If that does not happen, or something that must hold does not.
    pub fn run(&mut self) -> Nanos {
        self.sender.open(self.plan.packets);
        self.drain();
        for _ in 0..2_000_000 {
            self.check();
            if !self.sender.has_data() {
                assert_eq!(self.receiver.rcv_nxt(), self.plan.packets + 1, "delivered");
                return self.now;
            }
            self.step();
        }
        panic!("no end at {} ms: {:?}", self.now / MS, self.sender);
    }

    /// The next event in time: a change or an arrival, then the receiver's timer, then the sender's.
    fn step(&mut self) {
        let event = self.events.peek().map(|Reverse((time, ..))| *time);
        let (receiver, sender) = (self.receiver.deadline(), self.sender.deadline());
        let next = [event, receiver, sender].into_iter().flatten().min().expect("it waits for nothing");
        assert!(next < 1_000_000_000 * MS, "stalled at {} s: {:?}", self.now / MS / 1000, self.sender);
        self.now = self.now.max(next);
        if event == Some(next) {
            let Reverse((_, _, event)) = self.events.pop().unwrap();
            self.handle(event);
        } else if receiver == Some(next) {
            self.receiver.on_timer(self.now);
        } else {
            self.sender.on_timer(self.now);
            assert!(self.sender.deadline().is_none_or(|next| next > self.now), "a timer that fires for ever");
        }
        self.drain();
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Change(k) => match self.plan.changes[k].1 {
                Change::Path(delay, per_packet) => {
                    self.delay = delay * MS;
                    self.per_packet = per_packet * 1_000;
                }
                Change::Blackout(length) => self.dark_until = self.now + length * MS,
                Change::Window(window) => {
                    self.receiver.set_window(window);
                    self.receiver.announce_window(self.now);
                }
                Change::Notice if self.receiver.rcv_nxt() == 0 => {} // no connection yet
                Change::Notice => {
                    let option = CarriedOption::new(&[253, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
                    let (ack, _) = self.receiver.notify(self.now, option);
                    self.send_ack(ack);
                }
                Change::Advise(advice) => self.sender.enact(self.now, &advice),
            },
            Event::Data(k) => {
                let segment = self.log[k].1.segment;
                let before = self.receiver.rcv_nxt();
                let arrival = self.receiver.on_segment(self.now, &segment);
                if segment.is_data() {
                    self.check_arrival(segment.seq, arrival, before);
                }
            }
            Event::Ack(k) => {
                let ack = self.acks[k].1;
                self.sender.on_segment(self.now, &ack);
            }
        }
    }

    fn drain(&mut self) {
        while let Some(transmit) = self.sender.poll_transmit(self.now) {
            let k = self.log.len();
            assert!(k < 1_000_000, "a sender that never stops");
            self.log.push((self.now, transmit));
            self.link_free = self.link_free.max(self.now) + self.per_packet;
            let fate = self.plan.data.get(k).copied();
            self.carry(self.link_free + self.delay, fate, Event::Data(k));
        }
        while let Some((ack, _)) = self.receiver.poll_transmit() {
            self.send_ack(ack);
        }
    }

    fn send_ack(&mut self, ack: Segment) {
        self.check_ack(&ack);
        let k = self.acks.len();
        self.acks.push((self.now, ack));
        let fate = self.plan.acks.get(k).copied();
        self.carry(self.now + self.delay, fate, Event::Ack(k));
    }

    /// An ACK reports only what has arrived, and no more than fits on the wire.
    fn check_ack(&self, ack: &Segment) {
        for &(left, right) in ack.sack.as_slice() {
            assert!(left < right && (left..right).all(|seq| self.receiver.has(seq)), "{ack:?}");
        }
        if self.profile.header == HeaderSize::Encoded {
            let options = encode::options(&self.profile, ack);
            assert_eq!(options.sack.len(), ack.sack.len(), "SACK blocks on the wire");
            assert!(options.encoded_len() <= 40, "{options:?}");
        }
    }

    fn carry(&mut self, arrival: Nanos, fate: Option<Fate>, event: Event) {
        if self.now < self.dark_until {
            return;
        }
        match fate.unwrap_or(Fate::Deliver) {
            Fate::Deliver => self.at(arrival, event),
            Fate::Lose => {}
            Fate::Twice(later) => {
                self.at(arrival, event);
                self.at(arrival + later * MS, event);
            }
            Fate::Late(later) => self.at(arrival + later * MS, event),
        }
    }

    /// Every packet is new exactly once, and the application has all before the first missing one.
    fn check_arrival(&mut self, seq: u32, arrival: Option<Arrival>, before: u32) {
        let new = seq >= self.first_missing && self.arrived.insert(seq, ()).is_none();
        while self.arrived.remove(&self.first_missing).is_some() {
            self.first_missing += 1;
        }
        assert_eq!(arrival == Some(Arrival::New), new, "packet {seq}");
        assert_eq!(self.receiver.rcv_nxt(), self.first_missing, "in order, nothing left out");
        assert!(self.receiver.rcv_nxt() >= before, "nothing delivered is taken back");
    }

    /// Invariants that hold between any two events.
    fn check(&self) {
        let (sender, view) = (&self.sender, self.sender.view());
        assert_eq!(view.flight, view.snd_max - view.snd_una, "FlightSize");
        assert!(view.snd_una <= self.receiver.rcv_nxt(), "acknowledged is delivered");
        if let Some((counted, recomputed)) = sender.pipes() {
            assert_eq!(counted, recomputed, "Pipe equals its recomputation");
        }
        let (_, rto, floor) = sender.timing();
        assert!(view.rto >= floor && rto >= floor.min(self.profile.rto.max), "RTO {rto} under {floor}");
        if sender.has_data() {
            assert!(sender.deadline().is_some(), "data, but nothing to wait for: {sender:?}");
        }
    }
}
