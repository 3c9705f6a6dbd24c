//! Packets that all flows of a mobile send on the new link, slot by slot: the list of packets of `near`
//! (docs/reference/near.md). Its numbers are `policy/near.h`.

mod flow;
mod ledger;
mod rate;
mod slots;

pub use flow::FlowState;

use crate::notice::Notice;
use ledger::{Fate, Ledger, Packet};
use rate::{PROBE_PAUSE, Queue, RateProbe, START, Sample};
use segue_policy::{Near, PACKET};
use segue_tcp::Nanos;
use segue_tcp::segment::Segment;

/// Nothing is to be done at any time.
const NEVER: Nanos = Nanos::MAX;

/// How notices err, in 1/1000; for studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Distortion {
    pub rate: u32,
    pub delay: u32,
    pub flows: u32,
}

impl Default for Distortion {
    fn default() -> Self {
        Self { rate: 1000, delay: 1000, flows: 1000 }
    }
}

impl Distortion {
    pub fn of(self, notice: &Notice) -> Notice {
        let scaled =
            |value: u32, by: u32| (u64::from(value) * u64::from(by) / 1000).min(u64::from(u32::MAX)) as u32;
        let mut notice = *notice;
        notice.new_link.rate_kbps = scaled(notice.new_link.rate_kbps, self.rate).max(1);
        notice.new_link.delay_us = scaled(notice.new_link.delay_us, self.delay);
        notice.flows = scaled(notice.flows, self.flows).max(1);
        notice
    }
}

/// The rule for how much may be out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The claim of the notice; it lasts until then, and until lost packets are sent again.
    Claim(Nanos),
    /// A window of all flows together, which a loss cuts.
    Window,
    /// The control of each flow.
    Controls,
}

/// One clock of the new link.
#[derive(Clone, Debug)]
pub struct Claim {
    distortion: Distortion,
    /// As reported, and as the clock runs.
    reported: Near,
    near: Near,
    /// Least round trip of the old path, and of the new one.
    min_rtt: Nanos,
    least_rtt: Nanos,
    /// Steps by which it runs faster; whether it may run faster still, for which copies up to this one do not count.
    steps: u32,
    probe: RateProbe,
    round: u32,
    /// The time that the rate probe has saved so far, and its flow.
    probe_saved: Nanos,
    probe_flow: usize,
    rule: Rule,
    /// It runs faster since flows were given their part.
    raised: bool,
    notice: Notice,
    /// When the handoff completed.
    completion: Nanos,
    /// Flows of this host.
    own: u32,
    /// Packets that may be out, 1/256, and where slow start ends.
    window: u64,
    threshold: u64,
    /// The window was what kept the last slot empty, after the claim.
    held_back: bool,
    /// The queue of the new link.
    queue: Queue,
    /// When the clock has the next slot.
    slot: Nanos,
    /// Copies sent over the new link so far.
    copies: u32,
    /// How much later than expected the old link has delivered.
    slip: Nanos,
    /// When flows without a notice of their own join (4.6).
    all_join: Nanos,
    flows: Vec<Ledger>,
}

impl Default for Claim {
    fn default() -> Self {
        let nowhere = segue_policy::Link::default();
        Self {
            distortion: Distortion::default(),
            reported: Near::default(),
            near: Near::default(),
            min_rtt: 0,
            least_rtt: NEVER,
            steps: 0,
            probe: START,
            round: 0,
            probe_saved: 0,
            probe_flow: 0,
            rule: Rule::Window,
            raised: false,
            notice: Notice { old_link: nowhere, new_link: nowhere, flows: 1, disconnected: 0 },
            completion: NEVER,
            own: 1,
            window: 0,
            held_back: false,
            queue: Queue::None,
            threshold: 0,
            slot: 0,
            copies: 0,
            slip: 0,
            all_join: NEVER,
            flows: Vec::new(),
        }
    }
}

impl Claim {
    /// A claim whose notices err.
    pub(crate) fn distorted(distortion: Distortion) -> Self {
        Self { distortion, ..Self::default() }
    }

    /// Flow `index` has received a notice, on an ACK if `ack` is one.
    pub fn on_notice<F: FlowState>(
        &mut self,
        now: Nanos,
        index: usize,
        notice: &Notice,
        ack: Option<&Segment>,
        flows: &mut [F],
    ) {
        let notice = &self.distortion.of(notice);
        let same = self.completion != NEVER && self.notice == *notice && !self.flows[index].notified;
        if !same {
            self.begin(now, notice, ack.is_some(), flows);
        }
        self.flows[index].notified = true;
        let everyone = ack.is_some() && self.all_join == now;
        self.join(now, flows, |flow, ledger| flow == index || (everyone && !ledger.joined));
        if let Some(ack) = ack {
            self.acknowledge(now, index, ack);
        }
        self.slot = self.slot.max(now);
        if !same {
            self.rule = Rule::Claim(self.slot + self.near.rtt_ns);
        }
        self.replan(now);
    }

    /// The first notice of a handoff (section 2).
    fn begin<F: FlowState>(&mut self, now: Nanos, notice: &Notice, in_band: bool, flows: &mut [F]) {
        let open = flows.iter().filter(|flow| flow.is_open());
        self.min_rtt = open.filter_map(FlowState::min_rtt).min().unwrap_or(0);
        self.least_rtt = NEVER;
        self.notice = *notice;
        self.measure(flows);
        self.completion = if in_band { self.near.completion(now) } else { now };
        (self.steps, self.probe, self.round, self.probe_saved) = (0, START, self.copies, 0);
        self.slot = self.completion;
        (self.slip, self.queue) = (0, Queue::None);
        self.all_join = if in_band { now + Near::join_delay_ns(notice, self.own) } else { NEVER };
        self.flows.resize_with(flows.len(), Ledger::default);
        // Facts that an earlier claim has learnt of single packets stay; its flows join anew.
        self.flows.iter_mut().for_each(|ledger| {
            ledger.notified = false;
            ledger.fresh = 0;
            ledger.answered = self.copies;
        });
        let again: Vec<_> = self.flows.iter().map(|ledger| ledger.joined).collect();
        self.join(now, flows, |flow, _| again[flow]);
    }

    /// The path of these flows (section 2).
    fn measure<F: FlowState>(&mut self, flows: &[F]) {
        let open = || flows.iter().filter(|flow| flow.is_open());
        let bytes = open().map(FlowState::packet_bytes).max().unwrap_or(1500);
        self.own = open().count() as u32;
        self.reported = Near::new(&self.notice, self.min_rtt, bytes, self.own);
        self.near = self.reported.with_steps(self.steps);
        (self.window, self.threshold) = (self.near.window, self.near.window);
    }

    /// Takes over flows: where is what they have sent? (2.6, 4.1)
    fn join<F: FlowState>(&mut self, now: Nanos, flows: &mut [F], who: impl Fn(usize, &Ledger) -> bool) {
        let mut on_new = Vec::new();
        for (index, flow) in flows.iter_mut().enumerate() {
            let ledger = &mut self.flows[index];
            if !flow.is_open() || !who(index, ledger) {
                continue;
            }
            flow.silence(now);
            let before = std::mem::take(ledger);
            let was_sacked = |seq: u32| {
                let place = seq.checked_sub(before.una).and_then(|place| before.packets.get(place as usize));
                place.is_some_and(|packet| packet.fate == Fate::Sacked)
            };
            ledger.joined = true;
            ledger.notified = before.notified;
            ledger.stamped = flow.has_timestamps();
            ledger.answered = self.copies;
            ledger.una = flow.snd_una();
            for seq in flow.snd_una()..flow.snd_max() {
                let sent = flow.sent_at(now, seq);
                let fate = if was_sacked(seq) || flow.is_sacked(seq) {
                    Fate::Sacked
                } else if !self.near.on_old_link(self.completion, sent) {
                    on_new.push((sent, index, (seq - flow.snd_una()) as usize));
                    Fate::Out(0)
                } else if self.notice.disconnected != 0 {
                    Fate::Lost
                } else {
                    Fate::Old(0)
                };
                // The stack may have sent it before, over the old link.
                ledger.push(Packet { fate, sent, again: true });
            }
        }
        // Packets that the stack has sent over the new link are there in that order; the clock begins behind them
        // (3.2).
        on_new.sort_unstable();
        for (sent, index, place) in on_new {
            if self.near.overflows(self.slot, sent) {
                self.flows[index].set(place, Fate::Lost);
                continue;
            }
            self.copies += 1;
            self.flows[index].set(place, Fate::Out(self.copies));
            self.slot = self.slot.max(sent) + self.near.slot_ns;
            self.flows[index].expires = Some(now + self.near.rto_ns(0));
        }
    }

    /// When what is on the old link arrives, and what of it comes too late (4.3, 4.4).
    fn replan(&mut self, now: Nanos) {
        let mut old: Vec<(Nanos, usize, usize)> = Vec::new();
        for (index, ledger) in self.flows.iter().enumerate().filter(|(_, ledger)| ledger.old > 0) {
            let on_old = ledger.packets.iter().enumerate();
            let on_old = on_old.filter(|(_, packet)| matches!(packet.fate, Fate::Old(_)));
            old.extend(on_old.map(|(place, packet)| (packet.sent, index, place)));
        }
        if old.is_empty() {
            return;
        }
        old.sort_unstable();
        // A flow has received a notice: packets that its ACK left unacknowledged had not arrived on completion.
        let front = old.iter().find(|&&(_, index, _)| self.flows[index].notified).map(|&(sent, ..)| sent);
        let known =
            if front.is_some() { self.completion } else { self.completion.min(self.acked_until(now)) };
        let mut before = known.saturating_sub(self.near.old_slot_ns);
        let mut arrivals = Vec::with_capacity(old.len());
        for (sent, index, place) in old {
            // First in, first out: with the mobile by then, or lost.
            let passed = front.is_some_and(|front| sent < front);
            if !passed {
                before = self.near.old_arrival(sent, before);
            }
            let arrives = if passed { self.completion } else { before };
            self.flows[index].set(place, Fate::Old(arrives));
            arrivals.push((arrives, index, place));
        }
        let lost: u32 = self.flows.iter().map(|ledger| ledger.lost).sum();
        let packets = lost + self.near.horizon(arrivals.len() as u32);
        for (again, (arrives, index, place)) in arrivals.into_iter().rev().enumerate() {
            if !self.near.too_late(self.slot, packets + again as u32, arrives) {
                break;
            }
            self.flows[index].set(place, Fate::Lost);
        }
    }

    /// Until when what has arrived over the old link has been acknowledged.
    fn acked_until(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.near.old_data_owd_ns - self.near.old_slot_ns)
    }

    /// An ACK of flow `index` has arrived. A flow that has opened since the notice joins.
    pub fn on_ack<F: FlowState>(&mut self, now: Nanos, index: usize, ack: &Segment, flows: &mut [F]) {
        let joined = self.flows.get(index).is_some_and(|ledger| ledger.joined);
        // Before that time it may receive a notice of its own.
        if !joined && self.all_join == NEVER && flows[index].is_open() {
            self.flows.resize_with(flows.len(), Ledger::default);
            if self.notice.flows > self.own {
                self.measure(flows); // its part of the slots is this host's, too
                self.least_rtt = NEVER;
            }
            self.own = flows.iter().filter(|flow| flow.is_open()).count() as u32;
            self.join(now, flows, |flow, _| flow == index);
        }
        if self.acknowledge(now, index, ack) {
            flows[index].loses_one(now);
        }
        self.hand_over(now, flows);
    }

    /// One round trip of the new path is over, and what was lost is sent again: each flow's control goes on (7.1).
    fn hand_over<F: FlowState>(&mut self, now: Nanos, flows: &mut [F]) {
        let busy = |ledger: &Ledger| ledger.lost > 0 || ledger.old > 0;
        match self.rule {
            Rule::Claim(until) if until <= now && self.all_join == NEVER && !self.flows.iter().any(busy) => {
                (self.rule, self.raised) = (Rule::Window, false);
                self.share(now, flows);
                // Competing traffic (7.2).
                if self.competing_traffic() {
                    self.window = self.window.min(self.near.window / 2).max(u64::from(PACKET));
                    self.threshold = self.window;
                }
            }
            Rule::Controls if std::mem::take(&mut self.raised) => self.share(now, flows),
            _ => {}
        }
    }

    /// Whether the least round trip shows competing traffic (7.2).
    fn competing_traffic(&self) -> bool {
        self.least_rtt != NEVER && self.near.competing_traffic(self.least_rtt)
    }

    /// Each flow has its part of the path (7.2).
    fn share<F: FlowState>(&mut self, now: Nanos, flows: &mut [F]) {
        let packets = self.near.share(if self.competing_traffic() { 2 * self.own } else { self.own });
        let packet = self.near.slot_ns * Nanos::from(self.own);
        for (flow, ledger) in flows.iter_mut().zip(&self.flows) {
            if ledger.joined && flow.goes_on(now, packets, packet, self.near.rtt_ns) {
                self.rule = Rule::Controls;
            }
        }
    }

    /// Says whether a packet was lost on the new link, and no loss since the last that was answered.
    fn acknowledge(&mut self, now: Nanos, index: usize, ack: &Segment) -> bool {
        let (near, slip, completion) = (self.near, self.slip, self.completion);
        let Some(ledger) = self.flows.get_mut(index).filter(|ledger| ledger.joined) else { return false };
        let arrived_at = now.saturating_sub(near.ack_owd_ns);
        let before = ledger.una;
        let news = ledger.acknowledge(
            ack.ack,
            ack.sack.as_slice(),
            now,
            |elapsed| near.acks_original(elapsed),
            |sent| arrived_at >= completion && near.too_early(sent, arrived_at),
            |expected| arrived_at.saturating_sub(expected),
        );
        if let Some(since) = news.on_new_since {
            for ledger in &mut self.flows {
                ledger.on_new(since);
                if ledger.out > 0 && ledger.expires.is_none() {
                    ledger.expires = Some(now + near.rto_ns(ledger.backoff));
                }
            }
        }
        let ledger = &mut self.flows[index];
        if news.arrived > 0 || ledger.una > before || ledger.out == 0 {
            ledger.expires = (ledger.out > 0).then(|| now + near.rto_ns(ledger.backoff));
        }
        self.slip = slip.max(news.slip);
        if self.window < self.threshold {
            self.window = (self.window + u64::from(news.arrived * PACKET)).min(self.threshold);
        } else if news.arrived > 0 && (self.window < near.window || self.held_back) {
            let most = if self.held_back { u64::MAX } else { near.window };
            self.window = Near::after_acks(self.window, news.arrived, self.own).min(most);
        }
        // The second of two packets has not waited for a delayed ACK.
        if let Some(rtt) = news.rtt.filter(|_| news.arrived > 1) {
            let in_flight = self.in_flight() + news.arrived;
            self.watch_queue(Sample { number: news.number, sent: now - rtt, rtt }, in_flight);
        }
        if news.congested {
            self.pause_probe(PROBE_PAUSE, Near::steps_after_queue(self.steps));
            self.window = Near::after_loss(self.window, self.own);
            self.threshold = self.window;
            self.flows[index].answered = self.copies;
        }
        news.congested
    }

    /// Time has passed. Flows that are due to join do; says whose packets are all taken for lost.
    pub fn on_time<F: FlowState>(&mut self, now: Nanos, flows: &mut [F]) -> Vec<usize> {
        if self.all_join <= now {
            self.all_join = NEVER;
            self.join(now, flows, |_, ledger| !ledger.joined);
            self.replan(now);
        }
        let (near, slip) = (self.near, self.slip);
        let mut expired = Vec::new();
        for (index, ledger) in self.flows.iter_mut().enumerate() {
            for place in 0..if ledger.old > 0 { ledger.packets.len() } else { 0 } {
                let Fate::Old(arrives) = ledger.packets[place].fate else { continue };
                if near.loss_deadline(arrives + slip) <= now {
                    ledger.set(place, Fate::Lost);
                }
            }
            if ledger.expires.is_some_and(|expires| expires <= now) {
                ledger.expire();
                ledger.answered = self.copies;
                flows[index].loses_all(now);
                expired.push(index);
            }
        }
        if !expired.is_empty() {
            self.pause_probe(PROBE_PAUSE, 0);
            self.queue = Queue::None;
            self.threshold = Near::after_loss(self.window, self.own);
            self.window = u64::from(PACKET * self.own).min(self.threshold);
        }
        expired
    }
}
