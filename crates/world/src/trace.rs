//! One handoff packet by packet: every event of hosts and access links. It lasts from the first SYN or from a later
//! time on to the end of the slowest transfer.

mod heard;

use self::heard::Heard;
use crate::bench::{AR, CN, Experiment, LinkIds, NEW, OLD};
use crate::handoff_run::{Ended, Handoff, WarmRun};
use crate::nodes::{BenchNode, HostObserver};
use crate::notice_error::Told;
use crate::packet::{Packet, Signal};
use crate::record::RunRecord;
use segue_handoff::{Act, Decision, LoggedScheme, Scheme};
pub use segue_netsim::LossCause;
use segue_netsim::{LinkId, Nanos, NodeId, Observer, Passage};
use segue_tcp::linux::cc::{HyStartEnd, HyStartSign};
use segue_tcp::receiver::Arrival;
use segue_tcp::{AnySender, Window256};

/// Which access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one before the handoff.
    Old,
    /// The one after it.
    New,
}

/// A sender as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// First unacknowledged packet.
    pub snd_una: u32,
    /// One beyond the highest packet ever sent.
    pub snd_max: u32,
    /// Congestion window.
    pub cwnd: Window256,
    /// Slow-start threshold.
    pub ssthresh: Window256,
    /// Smoothed round-trip time, if there is one.
    pub srtt: Option<Nanos>,
    /// Retransmission timeout, back-off included.
    pub rto: Nanos,
    /// When the timer will expire, if it runs.
    pub timer: Option<Nanos>,
    /// In fast recovery.
    pub in_fast_recovery: bool,
    /// In RTO recovery.
    pub in_rto_recovery: bool,
    /// Cuts that a kernel has taken back so far.
    pub undos: u32,
}

impl SenderState {
    /// Packets sent and not cumulatively acknowledged.
    pub fn flight(&self) -> u32 {
        self.snd_max - self.snd_una
    }

    fn of(sender: &AnySender<LoggedScheme>) -> Self {
        let view = sender.view();
        let (srtt, rto, _) = sender.timing();
        Self {
            snd_una: view.snd_una,
            snd_max: view.snd_max,
            cwnd: view.cwnd,
            ssthresh: view.ssthresh,
            srtt,
            rto,
            timer: sender.deadline(),
            in_fast_recovery: view.in_fast_recovery,
            in_rto_recovery: view.in_rto_recovery,
            undos: sender.undos(),
        }
    }
}

/// Kinds of events.
#[derive(Clone, Debug)]
pub enum What {
    /// A host sends: data from the correspondent node, ACKs from the mobile.
    Sent(Packet),
    /// It reaches the other host. `arrival` says of data whether its bytes are new.
    Received {
        /// The packet.
        packet: Packet,
        /// Whether the bytes are new; for data only.
        arrival: Option<Arrival>,
    },
    /// An access link takes it in and will send it so.
    Queued {
        /// Which link.
        side: Side,
        /// The packet; `data` tells the direction.
        packet: Packet,
        /// When its transmission begins.
        start: Nanos,
        /// When it ends.
        departure: Nanos,
        /// When it reaches the far end.
        delivery: Nanos,
    },
    /// The queue of an access link dropped it.
    Dropped {
        /// Which link.
        side: Side,
        /// The packet.
        packet: Packet,
    },
    /// An access link lost it.
    Lost {
        /// Which link.
        side: Side,
        /// The packet.
        packet: Packet,
        /// On the link while it was up, or in the disconnection.
        cause: LossCause,
    },
    /// The buffer of an access router was full.
    Overflowed {
        /// The router's side.
        side: Side,
        /// The packet.
        packet: Packet,
    },
    /// A retransmission timer expired.
    Timeout {
        /// Number of the flow.
        flow: u16,
        /// First unacknowledged packet.
        head: u32,
        /// Its last transmission.
        copy: u32,
    },
    /// A sender entered fast recovery.
    FastRetransmit {
        /// Number of the flow.
        flow: u16,
        /// First unacknowledged packet.
        head: u32,
        /// Duplicate ACKs heard since that packet became the first.
        dup_acks: u32,
    },
    /// HyStart ended a sender's slow start.
    HyStart {
        /// Number of the flow.
        flow: u16,
        /// Why.
        sign: HyStartSign,
        /// Slow-start threshold before.
        before: Window256,
        /// Slow-start threshold from then on.
        ssthresh: Window256,
    },
    /// A scheme answered an event.
    Decided {
        /// Number of the flow.
        flow: u16,
        /// Event, answer and rules; large, and few.
        decision: Box<Decision>,
    },
    /// The mobile has helped a sender that knows nothing, or the sender has heard of it.
    Acted {
        /// Number of the flow.
        flow: u16,
        /// The act.
        act: Act,
    },
    /// A sender has changed.
    State {
        /// Number of the flow.
        flow: u16,
        /// As it stands now.
        state: SenderState,
    },
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Time, ns.
    pub at: Nanos,
    /// Kind of the event, with its packet or state.
    pub what: What,
}

/// One handoff with one scheme.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The simulated network.
    pub experiment: Experiment,
    /// The new link as it was told, and how late, where that may be wrong.
    pub told: Option<Told>,
    /// The measures.
    pub record: RunRecord,
    /// When the run ended.
    pub end: Nanos,
    /// The packet that each flow's cumulative ACK has to reach.
    pub targets: Vec<u32>,
    /// Everything from the time that was asked for, in the order in which it happened. Earlier events are gone, but
    /// for each sender's last state and what was then still in an access link.
    pub events: Vec<Event>,
    /// Packets sent again before those events.
    pub resent_before: u32,
    /// Data packets on links and in buffers at the end: flow and number of the transmission, ascending.
    pub under_way: Vec<(u16, u32)>,
    /// Whether the events are here: they were not too many.
    pub whole: bool,
}

/// Runs the handoff at `at` with each of `schemes`; the part before completion is shared. Everything is kept.
pub fn trace(experiment: &Experiment, at: Nanos, schemes: &[&Scheme]) -> Vec<Trace> {
    trace_since(experiment, at, schemes, 0)
}

/// The same; events before `since`, which is not after `at`, are not kept: a fast link has many.
pub fn trace_since(experiment: &Experiment, at: Nanos, schemes: &[&Scheme], since: Nanos) -> Vec<Trace> {
    let handoff = TracedHandoff::new(experiment, at, since, usize::MAX, &|| {});
    schemes.iter().map(|scheme| handoff.run(scheme, &|| {})).collect()
}

/// A handoff whose events are kept, before it is run with a scheme.
pub struct TracedHandoff {
    experiment: Experiment,
    handoff: Handoff<Tracer>,
}

impl TracedHandoff {
    /// The handoff at `at`; events before `since`, which is not after `at`, are not kept, and of a run with more than
    /// `most` none. `looks` is called now and then: it may unwind, for what nobody wants any more.
    pub fn new(experiment: &Experiment, at: Nanos, since: Nanos, most: usize, looks: &dyn Fn()) -> Self {
        let flows = experiment.flows;
        let tracer = Tracer { since: since.min(at), flows, most, whole: true, ..Tracer::default() };
        let mut warm = WarmRun::watched(experiment.clone(), tracer, |sim, link_ids| {
            sim.net.observer.watch.link_ids = Some(link_ids);
            if let BenchNode::Correspondent(cn) = &mut sim.nodes[usize::from(CN.0)] {
                cn.flows.iter_mut().for_each(|flow| flow.sender.advisor().keep_log());
            }
        });
        let handoff = warm.fork_watched(at, looks).complete_watched();
        Self { experiment: experiment.clone(), handoff }
    }

    /// Runs it with one scheme; `looks` as before.
    pub fn run(&self, scheme: &Scheme, looks: &dyn Fn()) -> Trace {
        let Ended { record, at: end, under_way, watch: tracer, .. } = self.handoff.run_watched(scheme, looks);
        let targets = self.handoff.targets().to_vec();
        let whole = tracer.whole;
        let (events, resent_before) = tracer.finish();
        let (experiment, told) = (self.experiment.clone(), self.handoff.told());
        Trace { experiment, told, record, end, targets, events, resent_before, under_way, whole }
    }
}

/// Writes everything down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracer {
    link_ids: Option<LinkIds>,
    /// The mobile's; neighbours have the numbers behind them, and nothing of them is written down.
    flows: usize,
    /// The state of each flow's sender that was written down last.
    states: Vec<Option<SenderState>>,
    /// How HyStart ended each flow's slow start last.
    hystart_ends: Vec<Option<HyStartEnd>>,
    /// First unacknowledged packet of each flow, and duplicate ACKs heard since it is.
    duplicates: Vec<(u32, u32)>,
    /// Events before this time are not kept, ns.
    since: Nanos,
    /// Packets sent again before `since`.
    resent_before: u32,
    /// The last states before `since`, by flow, and since when they are.
    early_states: Vec<Option<(Nanos, SenderState)>>,
    /// Packets that access links took in before `since` and had not sent by then.
    early_packets: Vec<Event>,
    events: Heard,
    /// If there are more than so many, none is kept.
    most: usize,
    whole: bool,
}

/// `list[index]`, which is made if it is not there.
fn slot<T: Clone + Default>(list: &mut Vec<T>, index: u16) -> &mut T {
    let index = usize::from(index);
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

impl Tracer {
    fn push(&mut self, at: Nanos, what: What) {
        if at < self.since {
            return;
        }
        if self.events.count() == self.most {
            // Nobody wants a part.
            (self.events, self.most, self.whole) = (Heard::default(), 0, false);
            return;
        }
        self.events.push(Event { at, what });
    }

    fn is_own(&self, flow: u16) -> bool {
        usize::from(flow) < self.flows
    }

    /// All events that were kept, and how many packets had been sent again before.
    fn finish(self) -> (Vec<Event>, u32) {
        let states = (0..).zip(self.early_states).filter_map(|(flow, last)| {
            let (at, state) = last?;
            Some(Event { at, what: What::State { flow, state } })
        });
        let mut earlier: Vec<Event> = states.chain(self.early_packets).collect();
        earlier.sort_by_key(|event| event.at);
        let events = self.events.behind(earlier);
        (events, self.resent_before)
    }

    /// The access link that `link` is a direction of, if `packet` is of a flow.
    fn side(&self, link: LinkId, packet: &Packet) -> Option<Side> {
        let link_ids = self.link_ids.filter(|_| packet.signal().is_none() && self.is_own(packet.flow))?;
        let is = |index: usize| [link_ids.access[index].down, link_ids.access[index].up].contains(&link);
        if is(OLD) {
            Some(Side::Old)
        } else if is(NEW) {
            Some(Side::New)
        } else {
            None
        }
    }
}

impl Observer<Packet> for Tracer {
    fn accepted(&mut self, link: LinkId, passage: &Passage, packet: &Packet) {
        let &Passage { arrival, start, departure, delivery, .. } = passage;
        if departure < self.since {
            return;
        }
        if let Some(side) = self.side(link, packet) {
            let what = What::Queued { side, packet: *packet, start, departure, delivery };
            match arrival < self.since {
                true => self.early_packets.push(Event { at: arrival, what }),
                false => self.push(arrival, what),
            }
        }
    }

    fn lost(&mut self, now: Nanos, link: LinkId, packet: &Packet, cause: LossCause) {
        if packet.signal() == Some(Signal::Unreachable) {
            let act = Act::MessageLost { seq: packet.segment.seq };
            return self.push(now, What::Acted { flow: packet.flow, act });
        }
        let Some(side) = self.side(link, packet) else { return };
        let packet = *packet;
        self.push(
            now,
            match cause {
                LossCause::Queue => What::Dropped { side, packet },
                LossCause::Link | LossCause::Disconnection => What::Lost { side, packet, cause },
            },
        );
    }

    /// It has not happened.
    fn withdrawn(&mut self, link: LinkId, taken_back: &Packet) {
        let Some(its_side) = self.side(link, taken_back) else { return };
        let is_it = |event: &Event| match &event.what {
            What::Queued { side, packet, .. } => {
                *side == its_side
                    && packet.data == taken_back.data
                    && (packet.flow, packet.copy, packet.segment)
                        == (taken_back.flow, taken_back.copy, taken_back.segment)
            }
            _ => false,
        };
        if !self.events.remove(is_it)
            && let Some(index) = self.early_packets.iter().rposition(is_it)
        {
            self.early_packets.remove(index);
        }
    }

    fn overflowed(&mut self, now: Nanos, at: NodeId, packet: &Packet) {
        let side = if at == AR[OLD] { Side::Old } else { Side::New };
        self.push(now, What::Overflowed { side, packet: *packet });
    }
}

impl HostObserver for Tracer {
    fn set_aside(&mut self) -> Option<Self> {
        Some(std::mem::take(self))
    }

    fn timeout(&mut self, now: Nanos, flow: u16, head: u32, copy: u32) {
        if self.is_own(flow) {
            self.push(now, What::Timeout { flow, head, copy });
        }
    }

    fn fast_retransmit(&mut self, now: Nanos, flow: u16, head: u32, _copy: u32) {
        if !self.is_own(flow) {
            return;
        }
        let dup_acks = slot(&mut self.duplicates, flow).1;
        self.push(now, What::FastRetransmit { flow, head, dup_acks });
    }

    fn sent(&mut self, now: Nanos, packet: &Packet) {
        if !self.is_own(packet.flow) {
            return;
        }
        match now < self.since {
            true => self.resent_before += u32::from(packet.retransmission),
            false => self.push(now, What::Sent(*packet)),
        }
    }

    fn heard(&mut self, now: Nanos, packet: &Packet) {
        if !self.is_own(packet.flow) {
            return;
        }
        let (una, duplicates) = slot(&mut self.duplicates, packet.flow);
        let ack = packet.segment.ack;
        if !packet.data && ack > *una {
            (*una, *duplicates) = (ack, 0);
        } else if !packet.data && ack == *una && packet.segment.option.is_empty() {
            *duplicates += 1;
        }
        if now >= self.since {
            self.push(now, What::Received { packet: *packet, arrival: None });
        }
    }

    fn changed(&mut self, now: Nanos, flow: u16, sender: &mut AnySender<LoggedScheme>) {
        if !self.is_own(flow) {
            return;
        }
        for decision in sender.advisor().take_log() {
            self.push(now, What::Decided { flow, decision: Box::new(decision) });
        }
        if let Some(end) = sender.hystart_end()
            && slot(&mut self.hystart_ends, flow).replace(end) != Some(end)
        {
            let [before, ssthresh] = [end.before, end.ssthresh].map(|packets| packets.saturating_mul(256));
            self.push(now, What::HyStart { flow, sign: end.sign, before, ssthresh });
        }
        let state = SenderState::of(sender);
        if slot(&mut self.states, flow).replace(state) == Some(state) {
            return;
        }
        match now < self.since {
            true => *slot(&mut self.early_states, flow) = Some((now, state)),
            false => self.push(now, What::State { flow, state }),
        }
    }

    fn acted(&mut self, now: Nanos, flow: u16, act: Act) {
        if self.is_own(flow) {
            self.push(now, What::Acted { flow, act });
        }
    }

    fn acknowledged(&mut self, _now: Nanos, _flow: u16, _una: u32) {}

    /// Comes right after `heard` of the same packet.
    fn arrived(&mut self, now: Nanos, _link: LinkId, packet: &Packet, news: Arrival) {
        if now < self.since || !self.is_own(packet.flow) {
            return;
        }
        if let Some(Event { what: What::Received { arrival, .. }, .. }) = self.events.last_mut() {
            *arrival = Some(news);
        }
    }
}
