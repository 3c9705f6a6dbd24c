//! The reference's bench: one bulk sender or several, two access chains, a handoff. Serial links and drop-tail queues
//! as netem serves them; of an arrival and a departure in the same instant, the departure comes first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use segue_tcp::linux::cc::CcName;
use segue_tcp::linux::receiver::LinuxReceiver;
use segue_tcp::linux::{LinuxSender, LinuxSettings, Release};
use segue_tcp::{Nanos, Segment, StackProfile};

pub const MS: Nanos = 1_000_000;
const HZ: u32 = 250;

/// A scenario: the chains' rates (kbit/s), delays (ms) and queues (packets), control, flows, outage.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub control: CcName,
    pub flows: usize,
    pub old: (u64, u64, usize),
    pub new: (u64, u64, usize),
    /// Outage; none: make before break.
    pub outage: Option<Nanos>,
    /// Start of the handoff.
    pub at: Nanos,
}

/// A netem queue: packet k leaves at max(now, end of k - 1) + bits / rate, and `delay` later arrives.
struct Hop {
    bits_per_s: u64,
    delay: Nanos,
    limit: usize,
    /// When what is inside leaves.
    inside: VecDeque<Nanos>,
    free: Nanos,
}

impl Hop {
    fn new(bits_per_s: u64, delay: Nanos, limit: usize) -> Self {
        Self { bits_per_s, delay, limit, inside: VecDeque::new(), free: 0 }
    }

    fn pass(&mut self, now: Nanos, bytes: u32) -> Option<Nanos> {
        while self.inside.front().is_some_and(|&out| out <= now) {
            self.inside.pop_front();
        }
        if self.inside.len() >= self.limit {
            return None;
        }
        self.free = self.free.max(now) + u64::from(bytes) * 8 * 1_000_000_000 / self.bits_per_s;
        self.inside.push_back(self.free);
        Some(self.free + self.delay)
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Open,
    AtRouter,
    AtBase(usize),
    AtMobile(usize),
    /// An ACK at the router again, from a chain.
    AckAtRouter(usize),
    AtSender,
    Break,
    Complete,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    flow: usize,
    segment: Segment,
    bytes: u32,
}

/// A packet at CN: when, which, whether sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub at: Nanos,
    pub seq: u32,
    pub again: bool,
}

#[derive(Default)]
pub struct Flow {
    pub sent: Vec<Sent>,
    /// Each advance of `snd_una`.
    pub una: Vec<(Nanos, u32)>,
    /// One beyond the highest packet sent before completion.
    pub hi: u32,
}

pub struct Bench {
    scenario: Scenario,
    heap: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    events: Vec<(Event, Packet)>,
    order: u64,
    out_wire: Hop,
    wires: [Hop; 2],
    down: [Hop; 2],
    up: [Hop; 2],
    back: [Hop; 2],
    chain: usize,
    broken: bool,
    senders: Vec<LinuxSender<()>>,
    receivers: Vec<LinuxReceiver>,
    pub flows: Vec<Flow>,
}

impl Bench {
    pub fn new(scenario: Scenario, profile: &StackProfile) -> Self {
        let wire = || Hop::new(100_000_000, 2 * MS, usize::MAX);
        let access = |(kbps, ms, queue): (u64, u64, usize)| Hop::new(kbps * 1000, ms * MS, queue);
        let settings =
            LinuxSettings { release: Release::V6_12, control: scenario.control, hz: HZ, seed: 1, phase: 0 };
        let mut bench = Self {
            scenario,
            heap: BinaryHeap::new(),
            events: Vec::new(),
            order: 0,
            out_wire: wire(),
            wires: [wire(), wire()],
            down: [access(scenario.old), access(scenario.new)],
            up: [access(scenario.old), access(scenario.new)],
            back: [wire(), wire()],
            chain: 0,
            broken: false,
            senders: (0..scenario.flows).map(|_| LinuxSender::new(profile, settings, ())).collect(),
            receivers: (0..scenario.flows).map(|_| LinuxReceiver::new(profile, settings)).collect(),
            flows: (0..scenario.flows).map(|_| Flow::default()).collect(),
        };
        for flow in 0..scenario.flows {
            bench.schedule(flow as u64 * MS, Event::Open, bench.nothing(flow));
        }
        if let Some(outage) = scenario.outage {
            bench.schedule(scenario.at, Event::Break, bench.nothing(0));
            bench.schedule(scenario.at + outage, Event::Complete, bench.nothing(0));
        } else {
            bench.schedule(scenario.at, Event::Complete, bench.nothing(0));
        }
        bench
    }

    /// Completion of the handoff.
    pub fn completion(&self) -> Nanos {
        self.scenario.at + self.scenario.outage.unwrap_or(0)
    }

    fn nothing(&self, flow: usize) -> Packet {
        let segment = Segment {
            seq: 0,
            ack: 0,
            window: 0,
            payload: 0,
            syn: false,
            push: false,
            has_ack: false,
            sack: Default::default(),
            timestamps: None,
            option: Default::default(),
        };
        Packet { flow, segment, bytes: 0 }
    }

    fn schedule(&mut self, at: Nanos, event: Event, packet: Packet) {
        self.order += 1;
        self.heap.push(Reverse((at, self.order, self.events.len())));
        self.events.push((event, packet));
    }

    /// Runs until `end`, or until every flow has passed `goal` packets beyond its number at completion.
    pub fn run(&mut self, end: Nanos, goal: u32) {
        loop {
            let event = self.heap.peek().map(|Reverse((at, ..))| *at);
            let timers = (0..self.senders.len()).flat_map(|flow| {
                [
                    self.senders[flow].deadline().map(|at| (at, flow, true)),
                    self.receivers[flow].deadline().map(|at| (at, flow, false)),
                ]
            });
            let timer = timers.flatten().min_by_key(|&(at, flow, sender)| (at, flow, sender));
            let now = match (event, timer) {
                (Some(event), Some(timer)) => event.min(timer.0),
                (Some(event), None) => event,
                (None, Some(timer)) => timer.0,
                (None, None) => return,
            };
            let done = |flow: &Flow| flow.una.last().is_some_and(|una| una.1 >= flow.hi.saturating_add(goal));
            if now > end || (now > self.completion() && self.flows.iter().all(done)) {
                return;
            }
            if event.is_some_and(|event| timer.is_none_or(|timer| event <= timer.0)) {
                let Reverse((at, _, index)) = self.heap.pop().unwrap();
                let (event, packet) = self.events[index];
                self.handle(at, event, packet);
            } else if let Some((at, flow, sender)) = timer {
                if sender {
                    self.senders[flow].on_timer(at);
                    self.drain(at, flow);
                } else {
                    self.receivers[flow].on_timer(at);
                    self.acknowledge(at, flow);
                }
            }
        }
    }

    fn handle(&mut self, now: Nanos, event: Event, packet: Packet) {
        let flow = packet.flow;
        match event {
            Event::Open => {
                self.senders[flow].open(u32::MAX / 2);
                self.drain(now, flow);
            }
            Event::AtRouter => {
                let chain = self.chain;
                let at = self.wires[chain].pass(now, packet.bytes).unwrap();
                self.schedule(at, Event::AtBase(chain), packet);
            }
            Event::AtBase(chain) => {
                if let Some(at) = self.down[chain].pass(now, packet.bytes) {
                    self.schedule(at, Event::AtMobile(chain), packet);
                }
            }
            Event::AtMobile(chain) => {
                if chain == 0 && self.broken {
                    return;
                }
                self.receivers[flow].on_segment(now, &packet.segment);
                self.acknowledge(now, flow);
            }
            Event::AckAtRouter(chain) => {
                if chain == 0 && self.broken {
                    return;
                }
                let at = self.back[0].pass(now, packet.bytes).unwrap();
                let at = self.back[1].pass(at, packet.bytes).unwrap();
                self.schedule(at, Event::AtSender, packet);
            }
            Event::AtSender => {
                let before = self.senders[flow].snd_una();
                self.senders[flow].on_segment(now, &packet.segment);
                let una = self.senders[flow].snd_una();
                if una > before {
                    self.flows[flow].una.push((now, una));
                }
                self.drain(now, flow);
            }
            Event::Break => self.broken = true,
            Event::Complete => {
                self.chain = 1;
                for (flow, sender) in self.flows.iter_mut().zip(&self.senders) {
                    flow.hi = sender.snd_max();
                }
            }
        }
    }

    fn drain(&mut self, now: Nanos, flow: usize) {
        while let Some(sent) = self.senders[flow].poll_transmit(now) {
            if sent.segment.payload > 0 {
                let again = sent.retransmission;
                self.flows[flow].sent.push(Sent { at: now, seq: sent.segment.seq, again });
            }
            let at = self.out_wire.pass(now, sent.bytes).unwrap();
            let packet = Packet { flow, segment: sent.segment, bytes: sent.bytes };
            self.schedule(at, Event::AtRouter, packet);
        }
    }

    fn acknowledge(&mut self, now: Nanos, flow: usize) {
        while let Some((segment, bytes)) = self.receivers[flow].poll_transmit() {
            let chain = self.chain;
            if let Some(at) = self.up[chain].pass(now, bytes) {
                let packet = Packet { flow, segment, bytes };
                self.schedule(at, Event::AckAtRouter(chain), packet);
            }
        }
    }
}
