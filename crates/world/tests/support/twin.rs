//! A twin of the bench of docs/reference/bench.md, put together a second time from the engine, the hosts and the
//! router. Every event is written down and every sender is open to view. It is there for two things. It has the parts
//! that a run's record lacks (windows, timers, single packets). It checks `bench.rs` and `handoff_run.rs`, whose
//! records must tell the same story.

use super::{MS, run, scheme};
use segue_handoff::alone::window::Path;
use segue_handoff::{AloneRule, Link, LoggedScheme, Notice, Scheme};
use segue_netsim::{
    Delay, LinkConfig, LinkId, LossCause, Nanos, Net, NodeId, Passage, Rate, SECOND, Service, Sim,
};
use segue_tcp::AnySender;
use segue_tcp::advice::{Advisor, View};
use segue_tcp::receiver::Arrival;
use segue_world::access::{AccessLink, Capacity, LinkDelay};
use segue_world::nodes::{
    Also, Arrived, BenchNode, Correspondent, HostObserver, Mobile, Route, Router, Wheel, receiving_flow,
    sending_flow,
};
use segue_world::packet::Packet;
use segue_world::{Definition, Experiment, Kind, RunRecord, clock_phase};

/// Kinds of events on the twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The sender put a data packet on the wire; the number counts the flow's transmissions.
    Sent { seq: u32, copy: u32 },
    /// One of those was a retransmission (comes before `Sent`).
    Resent { seq: u32 },
    /// A data packet reached the mobile over the old or the new link. It has which transmission of its flow, whether it
    /// was a retransmission and whether it brought anything new.
    Arrived { seq: u32, copy: u32, again: bool, over_new: bool, new: bool },
    /// A data packet entered the queue of the new access link, where it waits so long for its transmission.
    Queued { waits: Nanos },
    /// A data packet found the queue of the old or new access link full.
    Dropped { seq: u32, on_new: bool },
    /// An ACK found it full.
    AckDropped { ack: u32, on_new: bool },
    /// A packet came out of the old link after it had gone.
    Lost { seq: u32, data: bool },
    /// The sender's cumulative ACK moved.
    Acked { una: u32 },
    /// Retransmission timer.
    Timeout { head: u32 },
    /// Third duplicate ACK.
    FastRetransmit { head: u32 },
    /// The sender has heard of the handoff.
    Notice,
}

/// When, which flow, what.
pub type Event = (Nanos, u16, What);

#[derive(Clone, Debug, Default)]
pub struct Diary {
    pub events: Vec<Event>,
    access: [Option<LinkId>; 2],
    access_up: [Option<LinkId>; 2],
    core_down: Option<LinkId>,
    last: [Option<LinkId>; 2],
}

impl Diary {
    fn note(&mut self, at: Nanos, flow: u16, what: What) {
        self.events.push((at, flow, what));
    }
}

impl segue_netsim::Observer<Packet> for Diary {
    fn lost(&mut self, now: Nanos, link: LinkId, p: &Packet, cause: LossCause) {
        let seq = if p.data { p.segment.seq } else { p.segment.ack };
        match cause {
            LossCause::Queue => {}
            LossCause::Link => panic!("no link of the twin loses packets"),
            LossCause::Disconnection => return self.note(now, p.flow, What::Lost { seq, data: p.data }),
        }
        let on_new = Some(link) == self.access[1] || Some(link) == self.access_up[1];
        assert!(
            on_new || Some(link) == self.access[0] || Some(link) == self.access_up[0],
            "only access links drop"
        );
        let what = match p.data {
            true => What::Dropped { seq, on_new },
            false => What::AckDropped { ack: seq, on_new },
        };
        self.note(now, p.flow, what);
    }
    fn accepted(&mut self, link: LinkId, passage: &Passage, p: &Packet) {
        if Some(link) == self.core_down {
            self.note(passage.arrival, p.flow, What::Sent { seq: p.segment.seq, copy: p.copy });
        }
        if Some(link) == self.access[1] && p.data {
            self.note(passage.arrival, p.flow, What::Queued { waits: passage.start - passage.arrival });
        }
    }
    fn withdrawn(&mut self, link: LinkId, _: &Packet) {
        panic!("nobody takes anything back from {link:?} of the twin");
    }
    fn overflowed(&mut self, _: Nanos, at: NodeId, _: &Packet) {
        panic!("the twin's router {at:?} has no buffer");
    }
}

impl HostObserver for Diary {
    fn timeout(&mut self, now: Nanos, flow: u16, head: u32, _: u32) {
        self.note(now, flow, What::Timeout { head });
    }
    fn fast_retransmit(&mut self, now: Nanos, flow: u16, head: u32, _copy: u32) {
        self.note(now, flow, What::FastRetransmit { head });
    }
    fn sent(&mut self, now: Nanos, packet: &Packet) {
        if packet.retransmission {
            self.note(now, packet.flow, What::Resent { seq: packet.segment.seq });
        }
    }

    fn heard(&mut self, _now: Nanos, _packet: &Packet) {}

    fn changed(&mut self, _now: Nanos, _flow: u16, _sender: &mut AnySender<LoggedScheme>) {}
    fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32) {
        self.note(now, flow, What::Acked { una });
    }
    fn arrived(&mut self, now: Nanos, link: LinkId, p: &Packet, arrival: Arrival) {
        let over_new = Some(link) == self.last[1];
        let Packet { copy, retransmission: again, .. } = *p;
        let new = arrival == Arrival::New;
        self.note(now, p.flow, What::Arrived { seq: p.segment.seq, copy, again, over_new, new });
    }
}

const CN: NodeId = NodeId(0);
const R: NodeId = NodeId(1);
const AR: [NodeId; 2] = [NodeId(2), NodeId(3)];
const WIR: [NodeId; 2] = [NodeId(4), NodeId(5)];
const MN: NodeId = NodeId(6);

/// The bench, written a second time.
#[derive(Clone)]
pub struct Twin {
    pub sim: Sim<BenchNode, Packet, Diary>,
    experiment: Experiment,
    /// R -> access router, both links.
    edge_down: [LinkId; 2],
    core_down: LinkId,
    pub access_down: [LinkId; 2],
    pub access_up: [LinkId; 2],
    last_up: [LinkId; 2],
    last_down: [LinkId; 2],
    pub at: Nanos,
    pub completion: Nanos,
    /// Packets outstanding then: `snd_una` and `snd_max` of each flow.
    pub una: Vec<u32>,
    pub max: Vec<u32>,
    /// How many packets each flow had sent by then.
    pub sent: Vec<u32>,
    /// Where each flow's transfer ends: regular TCP's marks.
    targets: Vec<u32>,
}

fn service(capacity: &Capacity) -> Service {
    match capacity {
        Capacity::Fixed(rate) => Service::Fixed(Rate::new(*rate)),
        Capacity::Trace(trace) => Service::trace(trace.clone()),
    }
}

impl Twin {
    /// The bench at time zero.
    pub fn new(experiment: &Experiment) -> Self {
        let mut net = Net::new(Diary::default());
        let hops = experiment.fixed_hops();
        let line = |rate, delay| LinkConfig::new(Service::Fixed(Rate::new(rate)), Delay::Fixed(delay));
        let links = [&experiment.old, &experiment.new];
        let air = |capacity: &Capacity, link: &AccessLink| {
            let delay = match &link.delay {
                LinkDelay::Fixed(delay) => Delay::Fixed(*delay),
                LinkDelay::Trace(trace) => Delay::Trace(trace.clone()),
            };
            LinkConfig::new(service(capacity), delay).drop_tail(link.queue)
        };
        let core_down = net.add_link(R, line(hops.wired, 2 * MS));
        let core_up = net.add_link(CN, line(hops.wired, 2 * MS));
        let edge_down = [0, 1].map(|i| net.add_link(AR[i], line(hops.wired, 2 * MS)));
        let edge_up = [0, 1].map(|_| net.add_link(R, line(hops.wired, 2 * MS)));
        let access_down = [0, 1].map(|i| net.add_link(WIR[i], air(&links[i].down, links[i])));
        let access_up = [0, 1].map(|i| net.add_link(AR[i], air(&links[i].up, links[i])));
        let last_down = [0, 1].map(|_| net.add_link(MN, line(hops.last, 0)));
        let last_up = [0, 1].map(|i| net.add_link(WIR[i], line(hops.last, 0)));
        net.observer = Diary {
            events: Vec::new(),
            access: access_down.map(Some),
            access_up: access_up.map(Some),
            core_down: Some(core_down),
            last: last_down.map(Some),
        };

        let plain = scheme("sack");
        let starts = clock_phase::starts(experiment.flows, experiment.seed, experiment.starts);
        let mut sending = Vec::new();
        for (id, start) in starts.iter().enumerate() {
            let timer = net.add_timer(CN);
            net.arm(timer, start.opens);
            let flow =
                sending_flow(id as u16, &experiment.stack, start.phase, start.opens, timer, plain.clone());
            sending.push(flow);
        }
        let reported = experiment.old.reported(experiment.link_seed(0), 0, SECOND, 0);
        let mut receiving = Vec::new();
        for id in 0..experiment.flows {
            let timer = net.add_timer(MN);
            receiving.push(receiving_flow(id as u16, &experiment.stack, timer, reported));
        }
        let cn = Correspondent {
            group: None,
            first: (0, sending[0].timer.0),
            flows: sending,
            out: core_down,
            sharing: (0, false),
            wheel: Wheel::default(),
            claim: None,
        };
        let mn = Mobile::new((0, receiving[0].timer.0), receiving, last_up[0]);
        let mut r = Router::default();
        r.route(core_down, Route::To(edge_down[0]));
        for up in edge_up {
            r.route(up, Route::To(core_up));
        }
        let mut nodes = vec![BenchNode::Correspondent(cn), BenchNode::Router(r)];
        for i in 0..2 {
            let mut ar = Router::default();
            ar.route(edge_down[i], Route::To(access_down[i]));
            ar.route(access_up[i], Route::To(edge_up[i]));
            nodes.push(BenchNode::Router(ar));
        }
        for i in 0..2 {
            let mut wir = Router::default();
            wir.route(access_down[i], Route::To(last_down[i]));
            wir.route(last_up[i], Route::To(access_up[i]));
            nodes.push(BenchNode::Router(wir));
        }
        nodes.push(BenchNode::Mobile(mn));
        Self {
            sim: Sim { net, nodes },
            experiment: experiment.clone(),
            edge_down,
            core_down,
            access_down,
            access_up,
            last_up,
            last_down,
            at: 0,
            completion: 0,
            una: Vec::new(),
            max: Vec::new(),
            sent: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn cn(&mut self) -> &mut Correspondent {
        match &mut self.sim.nodes[0] {
            BenchNode::Correspondent(cn) => cn,
            _ => unreachable!("node 0 is the correspondent node"),
        }
    }

    pub fn mn(&mut self) -> &mut Mobile {
        match &mut self.sim.nodes[6] {
            BenchNode::Mobile(mn) => mn,
            _ => unreachable!("node 6 is the mobile"),
        }
    }

    /// The TCP of a flow.
    pub fn sender(&mut self, flow: usize) -> &mut AnySender<LoggedScheme> {
        &mut self.cn().flows[flow].sender
    }

    pub fn view(&mut self, flow: usize) -> View {
        self.sender(flow).view()
    }

    /// RTO as the timer is set.
    pub fn rto(&mut self, flow: usize) -> Nanos {
        self.sender(flow).timing().1
    }

    /// When the retransmission timer of a flow will expire.
    pub fn deadline(&mut self, flow: usize) -> Option<Nanos> {
        self.sender(flow).deadline()
    }

    /// The notice of the handoff.
    pub fn notice(&self) -> Notice {
        let at = self.completion;
        Notice {
            old_link: self.experiment.old.reported(
                self.experiment.link_seed(0),
                at.saturating_sub(SECOND),
                at,
                at,
            ),
            new_link: self.experiment.new.reported(self.experiment.link_seed(1), at, at + SECOND, at),
            flows: self.experiment.flows as u32,
            disconnected: u32::from(self.experiment.kind != Kind::Mbb),
        }
    }

    /// Handoff at `at`, up to its completion: the routes have moved, nobody has been told.
    pub fn hand_over(experiment: &Experiment, at: Nanos) -> Self {
        Self::hand_over_with(experiment, at, &scheme("sack"))
    }

    /// The same; the mobile closes and opens its window as `scheme` has it.
    pub fn hand_over_with(experiment: &Experiment, at: Nanos, scheme: &Scheme) -> Self {
        let mut twin = Self::new(experiment);
        let rule = scheme.mobile().window.filter(|_| experiment.kind != Kind::Mbb);
        if let Some(rule) = rule.filter(|rule| rule.foresees(1)) {
            let path = 2 * (experiment.old.delay.at(at) + 4 * MS);
            twin.sim.run_until(at.saturating_sub(rule.closes.on_path(path)));
            twin.advertise(0, 1);
        }
        twin.sim.run_until(at);
        twin.at = at;
        twin.completion = at;
        if let Kind::Bbm(outage) = experiment.kind {
            for link in [twin.access_down[0], twin.access_up[0]] {
                twin.sim.net.cut(link, at);
            }
            twin.completion += outage;
            let completion = twin.completion;
            twin.sim.run_until(completion);
        }
        let flows = 0..experiment.flows;
        twin.una = flows.clone().map(|flow| twin.sender(flow).snd_una()).collect();
        twin.max = flows.clone().map(|flow| twin.sender(flow).snd_max()).collect();
        twin.sent = flows.map(|flow| twin.sender(flow).counters().transmissions).collect();
        let (core, edge) = (twin.core_down, twin.edge_down[1]);
        match &mut twin.sim.nodes[1] {
            BenchNode::Router(r) => r.route(core, Route::To(edge)),
            _ => unreachable!("node 1 is R"),
        }
        let out = twin.last_up[1];
        twin.mn().out = out;
        if let Some(rule) = scheme.mobile().alone {
            twin.help(rule);
        }
        let marks = match rule {
            Some(rule) => {
                twin.advertise(experiment.stack.receive_window, rule.reopen_acks);
                Self::hand_over(experiment, at).targets
            }
            None => match experiment.definition {
                Definition::AfterHighest => twin.max.iter().map(|max| max + experiment.packets).collect(),
                Definition::AfterAck => twin.una.iter().map(|una| una + experiment.packets).collect(),
            },
        };
        twin.targets = marks;
        let sharing = (experiment.flows as u32, experiment.kind != Kind::Mbb);
        twin.cn().sharing = sharing;
        twin
    }

    /// The new link is up for a mobile that acts alone.
    fn help(&mut self, rule: AloneRule) {
        let (experiment, notice, over) = (&self.experiment, self.notice(), self.last_down[1]);
        let ways = [&experiment.old, &experiment.new].map(|link| link.up_delay().at(self.completion));
        let also = (experiment.kind == Kind::Mbb).then_some(Also { out: self.last_up[0], ways });
        let path = |index: usize, rate_kbps: u32| {
            let link = [&experiment.old, &experiment.new][index];
            Path {
                rate: u64::from(rate_kbps) * 1000,
                // Both ways over the link and two wired hops of 2 ms.
                round_trip: 2 * (link.delay.at([self.at, self.completion][index]) + 4 * MS),
                queue: link.queue,
                packet_bits: 8 * u64::from(experiment.stack.data_bytes()),
            }
        };
        let arrived = Arrived {
            gone: self.at,
            disconnected: experiment.kind != Kind::Mbb,
            paths: [path(0, notice.old_link.rate_kbps), path(1, notice.new_link.rate_kbps)],
            access: 2 * experiment.new.delay.at(self.completion),
            up_kbps: (experiment.new.up.mean_rate() / 1000) as u32,
            over: [Some(over), None],
            also,
        };
        let usual = experiment.stack.receive_window;
        self.sim.with_node(MN, |node, net| {
            let BenchNode::Mobile(mn) = node else { return };
            mn.help(rule, net.add_timer(MN), usual);
            mn.link_up(net, &arrived);
        });
    }

    fn advertise(&mut self, window: u32, copies: u32) {
        self.sim.with_node(MN, |node, net| {
            let BenchNode::Mobile(mn) = node else { return };
            mn.advertise(net, window, copies);
        });
    }

    /// Gives every sender a scheme, deaf so far.
    pub fn equip(mut self, scheme: &Scheme) -> Self {
        for flow in &mut self.cn().flows {
            flow.sender.advisor().replace(scheme.clone());
        }
        if scheme.needs_dsack() {
            self.mn().flows.iter_mut().for_each(|flow| flow.receiver.set_dsack(true));
        }
        self
    }

    /// Tells every sender now.
    pub fn notify(mut self) -> Self {
        let notice = self.notice();
        self.sim.with_node(CN, |node, net| {
            let BenchNode::Correspondent(cn) = node else { return };
            for flow in 0..cn.flows.len() {
                cn.notify(net, flow, &notice);
            }
        });
        let now = self.sim.net.now();
        for flow in 0..self.experiment.flows {
            if self.sender(flow).advisor().listening() {
                self.sim.net.observer.note(now, flow as u16, What::Notice);
            }
        }
        self
    }

    /// Lets the mobile tell them, by `copies` ACKs over the new link.
    pub fn announce(mut self, copies: u32) -> Self {
        let new: Link = self.notice().new_link;
        let connecting = self.cn().connecting();
        self.sim.with_node(MN, |node, net| {
            let BenchNode::Mobile(mn) = node else { return };
            mn.announce(net, new, copies, None, &connecting);
        });
        self
    }

    /// A handoff at `at` of which `scheme` has heard at completion.
    pub fn told(experiment: &Experiment, at: Nanos, scheme: &Scheme) -> Self {
        Self::hand_over(experiment, at).equip(scheme).notify()
    }

    /// One event.
    pub fn step(&mut self) -> bool {
        let flows = self.experiment.flows;
        let deaf: Vec<bool> = (0..flows).map(|flow| !self.sender(flow).advisor().listening()).collect();
        let more = self.sim.step(self.completion + 400 * SECOND);
        let now = self.sim.net.now();
        for (flow, deaf) in deaf.into_iter().enumerate() {
            if deaf && self.sender(flow).advisor().listening() {
                self.sim.net.observer.note(now, flow as u16, What::Notice);
            }
        }
        more
    }

    /// Goes on until `until`.
    pub fn run_until(&mut self, until: Nanos) {
        while self.sim.net.next_event().is_some_and(|next| next < until) && self.step() {}
        self.sim.run_until(until);
    }

    /// Goes on until something is true after an event; says when.
    pub fn run_while(&mut self, mut goes_on: impl FnMut(&mut Self) -> bool) -> Nanos {
        while goes_on(self) {
            assert!(self.step(), "nothing more happens");
        }
        self.sim.net.now()
    }

    /// Runs to the end of the slowest flow's transfer; says how long it took from completion.
    pub fn finish(&mut self) -> Nanos {
        let targets = self.targets.clone();
        let end =
            self.run_while(|twin| (0..targets.len()).any(|flow| twin.sender(flow).snd_una() < targets[flow]));
        end - self.completion
    }

    /// Events from the handoff on.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.sim.net.observer.events.iter().copied().filter(|event| event.0 >= self.at)
    }

    /// Their times, flows and a number, where `pick` gives one.
    pub fn picked<T>(&self, pick: impl Fn(What) -> Option<T>) -> Vec<(Nanos, u16, T)> {
        self.events().filter_map(|(at, flow, what)| Some((at, flow, pick(what)?))).collect()
    }

    pub fn timeouts(&self) -> Vec<(Nanos, u16, u32)> {
        self.picked(|what| match what {
            What::Timeout { head } => Some(head),
            _ => None,
        })
    }

    pub fn fast_retransmits(&self) -> Vec<(Nanos, u16, u32)> {
        self.picked(|what| match what {
            What::FastRetransmit { head } => Some(head),
            _ => None,
        })
    }

    /// Data packets that queues dropped from completion on.
    pub fn drops(&self) -> Vec<(Nanos, u16, u32)> {
        let mut drops = self.picked(|what| match what {
            What::Dropped { seq, .. } => Some(seq),
            _ => None,
        });
        drops.retain(|drop| drop.0 >= self.completion);
        drops
    }

    /// Packets sent again from completion on.
    pub fn resent(&self) -> Vec<(Nanos, u16, u32)> {
        let mut resent = self.picked(|what| match what {
            What::Resent { seq } => Some(seq),
            _ => None,
        });
        resent.retain(|event| event.0 >= self.completion);
        resent
    }

    /// The record of the same handoff on the bench itself tells the same story.
    pub fn agrees_with(&self, record: &RunRecord) {
        assert_eq!((self.at, self.completion), (record.at, record.completion));
        let timeouts: Vec<_> = record.timeouts.iter().map(|t| (t.at, t.flow, t.head)).collect();
        assert_eq!(self.timeouts(), timeouts, "timeouts");
        assert_eq!(self.fast_retransmits(), record.fast_retransmits, "fast retransmits");
        let drops: Vec<_> = record.data_drops.iter().map(|d| (d.at, d.flow, d.seq)).collect();
        assert_eq!(self.drops(), drops, "drops");
        assert_eq!(self.resent().len(), record.retransmissions as usize, "retransmissions");
        let lost = self.events().filter(|event| matches!(event.2, What::Lost { .. })).count();
        assert_eq!(lost, record.lost_in_disconnection as usize, "lost in the disconnection");
    }
}

/// Runs a handoff on the twin and on the bench, to the end of the transfer, and has them agree.
pub fn both(experiment: &Experiment, at: Nanos, name: &str) -> (Twin, RunRecord) {
    let scheme = scheme(name);
    let record = run(experiment, at, &scheme);
    let mut twin = Twin::told(experiment, at, &scheme);
    let transfer = twin.finish();
    assert_eq!(Some(transfer), record.transfer, "{name} at {at}");
    twin.agrees_with(&record);
    (twin, record)
}
