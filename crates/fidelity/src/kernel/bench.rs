//! The reference's bench: one bulk sender or several, two access chains, a handoff. Serial links and drop-tail queues
//! as netem serves them; of an arrival and a departure in the same instant, the departure comes first.

use super::log::{Event as Seen, INFINITE, Instant, Log, blocks};
use super::scenario::{Chain, Scenario};
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use segue_tcp::linux::receiver::LinuxReceiver;
use segue_tcp::linux::wheel::TimerSlot;
use segue_tcp::linux::{LinuxSender, LinuxSettings, Tally};
use segue_tcp::{Nanos, Segment, StackProfile};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// When a timer fires, and its order among those of that instant: level of the wheel, and when it was put there.
type Rank = (Nanos, Reverse<(u32, u64)>);

const MS: Nanos = 1_000_000;
const HZ: u32 = 250;

/// A netem queue: packet k leaves at max(now, end of k - 1) + bits / rate, and `delay` later arrives.
struct Hop {
    bits_per_s: u64,
    delay: Nanos,
    /// Longer or shorter by up to so much, each as likely (`tabledist`); packets keep their order.
    jitter: Nanos,
    random: Pcg64Mcg,
    limit: usize,
    /// When the last packet arrives.
    last: Nanos,
    /// When what is inside leaves.
    inside: VecDeque<Nanos>,
    free: Nanos,
}

impl Hop {
    fn new(bits_per_s: u64, delay: Nanos, limit: usize) -> Self {
        let random = Pcg64Mcg::seed_from_u64(0);
        Self { bits_per_s, delay, jitter: 0, random, limit, last: 0, inside: VecDeque::new(), free: 0 }
    }

    /// The same with jitter, drawn by the lots of `seed`.
    fn varied(self, jitter: Nanos, seed: u64) -> Self {
        Self { jitter, random: Pcg64Mcg::seed_from_u64(seed), ..self }
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
        let mut arrival = self.free + self.delay;
        if self.jitter > 0 {
            arrival = self.last.max(arrival + self.random.next_u64() % (2 * self.jitter) - self.jitter);
            self.last = arrival;
        }
        Some(arrival)
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

/// A flow from completion on.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// First unacknowledged packet.
    una: u32,
    /// One beyond the highest packet sent before completion.
    hi: u32,
    /// Windows that the log has.
    windows: (u32, u32),
    /// Events until completion.
    before: Tally,
    /// When the transfer was complete.
    done: Option<Nanos>,
}

/// Costs of a transfer from completion to its end.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// When the slowest flow was done, if all were.
    pub end: Option<Nanos>,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Tail loss probes.
    pub probes: u32,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Cuts taken back.
    pub undos: u32,
}

/// The network, hosts and all.
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
    /// Timers of each flow's sender and receiver: where each lies, and the order in which it came there.
    places: Vec<[(TimerSlot, u64); 2]>,
    flows: Vec<Flow>,
    instants: Vec<Instant>,
}

/// Settings of a flow's sender, which draws lots of its own.
fn of_flow(settings: LinuxSettings, flow: usize) -> LinuxSettings {
    LinuxSettings { seed: settings.seed.wrapping_add(flow as u64), ..settings }
}

impl Bench {
    /// Before time zero. The congestion control is that of `scenario`; what it draws by lot follows from `seed`.
    pub fn new(scenario: Scenario, profile: &StackProfile, seed: u64) -> Self {
        let wire = || Hop::new(100_000_000, 2 * MS, usize::MAX);
        let access = |chain: Chain, number: u64| {
            let seed = seed.wrapping_mul(4).wrapping_add(number);
            Hop::new(chain.kbps * 1000, chain.ms * MS, chain.queue).varied(scenario.jitter, seed)
        };
        let settings = LinuxSettings {
            control: scenario.control,
            hz: HZ,
            seed,
            phase: 0,
            bursts: scenario.bursts,
            ..profile.kernel.expect("a kernel")
        };
        let mut bench = Self {
            scenario,
            heap: BinaryHeap::new(),
            events: Vec::new(),
            order: 0,
            out_wire: wire(),
            wires: [wire(), wire()],
            down: [access(scenario.old, 0), access(scenario.new, 1)],
            up: [access(scenario.old, 2), access(scenario.new, 3)],
            back: [wire(), wire()],
            chain: 0,
            broken: false,
            senders: (0..scenario.flows)
                .map(|flow| LinuxSender::new(profile, of_flow(settings, flow), ()))
                .collect(),
            receivers: (0..scenario.flows).map(|_| LinuxReceiver::new(profile, settings)).collect(),
            places: vec![Default::default(); scenario.flows],
            flows: vec![Flow::default(); scenario.flows],
            instants: Vec::new(),
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

    fn nothing(&self, flow: usize) -> Packet {
        let segment = Segment {
            seq: 0,
            ack: 0,
            window: 0,
            payload: 0,
            syn: false,
            push: false,
            has_ack: false,
            detail: Default::default(),
            ecn: Default::default(),
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

    /// Runs until `end`, or until every flow has `goal` packets acknowledged beyond those sent before completion.
    pub fn run(mut self, end: Nanos, goal: u32) -> Log {
        self.go_on(end, goal);
        self.note_windows();
        Log { scenario: self.scenario, instants: self.instants }
    }

    /// The same, and how long and with how much trouble from completion on.
    pub fn transfer(mut self, end: Nanos, goal: u32) -> (Log, Spent) {
        self.go_on(end, goal);
        self.note_windows();
        let sum = |of: fn(&Tally) -> u32| {
            let each = self.flows.iter().zip(&self.senders);
            each.map(|(flow, sender)| of(&sender.tally()) - of(&flow.before)).sum()
        };
        let ends = self.flows.iter().map(|flow| flow.done).collect::<Option<Vec<_>>>();
        let spent = Spent {
            end: ends.and_then(|ends| ends.into_iter().max()),
            timeouts: sum(|tally| tally.timeouts),
            probes: sum(|tally| tally.probes),
            retransmissions: sum(|tally| tally.retransmissions),
            undos: sum(|tally| tally.undos),
        };
        (Log { scenario: self.scenario, instants: self.instants }, spent)
    }

    fn go_on(&mut self, end: Nanos, goal: u32) {
        loop {
            let event = self.heap.peek().map(|Reverse((at, ..))| *at);
            let timer = self.first_timer();
            let now = match (event, timer) {
                (Some(event), Some(timer)) => event.min(timer.0),
                (Some(event), None) => event,
                (None, Some(timer)) => timer.0,
                (None, None) => return,
            };
            if now > end || self.flows.iter().all(|flow| flow.done.is_some()) {
                return;
            }
            if self.instants.last().is_some_and(|instant| instant.at < now) {
                self.note_windows();
            }
            // In one interrupt timers come first, and packets are then handed to TCP (`handle_softirqs`).
            if event.is_some_and(|event| timer.is_none_or(|timer| event < timer.0)) {
                let Reverse((at, _, index)) = self.heap.pop().expect("an event");
                let (event, packet) = self.events[index];
                self.handle(at, event, packet);
                self.see_goal(at, packet.flow, goal);
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

    /// The timer that fires first: when, whose, and whether it is a sender's.
    fn first_timer(&mut self) -> Option<(Nanos, usize, bool)> {
        let mut first: Option<(Rank, usize, bool)> = None;
        for flow in 0..self.senders.len() {
            let (sender, receiver) = (&self.senders[flow], &self.receivers[flow]);
            let timers =
                [(sender.deadline(), sender.place(), true), (receiver.deadline(), receiver.place(), false)];
            for (known, (deadline, place, is_sender)) in self.places[flow].iter_mut().zip(timers) {
                if known.0 != place {
                    self.order += 1;
                    *known = (place, self.order);
                }
                let Some(at) = deadline else { continue };
                let key = (at, Reverse((place.level, known.1)));
                if first.is_none_or(|(least, ..)| key < least) {
                    first = Some((key, flow, is_sender));
                }
            }
        }
        first.map(|((at, _), flow, is_sender)| (at, flow, is_sender))
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
                let at = self.wires[chain].pass(now, packet.bytes).expect("a wire never drops");
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
                let at = self.back[0].pass(now, packet.bytes).expect("a wire never drops");
                let at = self.back[1].pass(at, packet.bytes).expect("a wire never drops");
                self.schedule(at, Event::AtSender, packet);
            }
            Event::AtSender => {
                self.senders[flow].on_segment(now, &packet.segment);
                self.flows[flow].una = self.senders[flow].snd_una();
                if !packet.segment.syn {
                    let blocks = blocks(&packet.segment.sack);
                    self.see(now, flow, Seen::Acked { ack: packet.segment.ack, blocks });
                }
                self.drain(now, flow);
            }
            Event::Break => self.broken = true,
            Event::Complete => {
                self.chain = 1;
                for (flow, sender) in self.flows.iter_mut().zip(&self.senders) {
                    flow.hi = sender.snd_max();
                    flow.before = sender.tally();
                }
            }
        }
    }

    fn see(&mut self, now: Nanos, flow: usize, event: Seen) {
        match self.instants.last_mut().filter(|instant| instant.at == now) {
            Some(instant) => instant.events.push((flow, event)),
            None => self.instants.push(Instant { at: now, events: vec![(flow, event)] }),
        }
    }

    /// Has `flow` as much acknowledged as it is to have?
    fn see_goal(&mut self, now: Nanos, flow: usize, goal: u32) {
        let flow = &mut self.flows[flow];
        if flow.hi > 0 && flow.una >= flow.hi.saturating_add(goal) {
            flow.done = flow.done.or(Some(now));
        }
    }

    /// The last instant is over: which windows have changed?
    fn note_windows(&mut self) {
        let Some(instant) = self.instants.last_mut() else { return };
        for (id, (flow, sender)) in self.flows.iter_mut().zip(&self.senders).enumerate() {
            let sock = sender.sock();
            let windows = (sock.snd_cwnd, sock.snd_ssthresh.min(INFINITE));
            if windows != flow.windows && sender.is_established() {
                flow.windows = windows;
                let (cwnd, ssthresh) = windows;
                instant.events.push((id, Seen::Windows { cwnd, ssthresh }));
            }
        }
    }

    fn drain(&mut self, now: Nanos, flow: usize) {
        while let Some(sent) = self.senders[flow].poll_transmit(now) {
            if sent.segment.payload > 0 {
                let (seq, again) = (sent.segment.seq, sent.retransmission);
                self.see(now, flow, Seen::Sent { seq, again });
            }
            let at = self.out_wire.pass(now, sent.bytes).expect("a wire never drops");
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

#[cfg(test)]
mod tests {
    use super::*;
    use segue_tcp::profile::LINUX_6_12;

    /// Packets of 1 us each, with 2 ms more or less than 9. With one each 4 ms none can overtake, and all values
    /// come. With one each 0.1 ms many could.
    #[test]
    fn jitter_keeps_the_order() {
        let arrivals = |apart: Nanos| -> Vec<(Nanos, Nanos)> {
            let mut hop = Hop::new(12_000_000_000, 9 * MS, 1_000).varied(2 * MS, 1);
            (0..10_000).map(|nth| (nth * apart, hop.pass(nth * apart, 1500).expect("room"))).collect()
        };
        let delays = arrivals(4 * MS).into_iter().map(|(now, at)| (at - now - 1_000) as f64 / MS as f64);
        let (least, most, sum) = delays
            .fold((f64::MAX, 0.0_f64, 0.0), |(least, most, sum), ms| (least.min(ms), most.max(ms), sum + ms));
        assert!((7.0..7.01).contains(&least) && (10.99..11.0).contains(&most), "{least} {most}");
        assert!((sum / 10_000.0 - 9.0).abs() < 0.05, "{sum}");
        assert!(arrivals(MS / 10).windows(2).all(|pair| pair[0].1 <= pair[1].1));
    }

    /// As connections of the kernel do. With the same lots all probe for bandwidth in the same round trips.
    #[test]
    fn flows_draw_lots_of_their_own() {
        let settings = LINUX_6_12.kernel.expect("a kernel");
        let seeds = |seed| [0, 1, 2].map(|flow| of_flow(LinuxSettings { seed, ..settings }, flow).seed);
        assert_eq!(seeds(7), [7, 8, 9]);
        assert_eq!(seeds(u64::MAX), [u64::MAX, 0, 1]);
    }
}
