//! Packets that all flows of a mobile send on the new link, slot by slot: the list of packets of `near`
//! (docs/reference/near.md). Its numbers are `policy/near.h`.

mod flow;
mod ledger;

pub use flow::FlowState;

use crate::notice::Notice;
use ledger::{Fate, Ledger, Packet};
use segue_policy::{Near, PACKET};
use segue_tcp::Nanos;
use segue_tcp::segment::Segment;

/// Nothing is to be done at any time.
const NEVER: Nanos = Nanos::MAX;

/// Round trips from a queue to the next rate probe (6.4).
const PROBE_PAUSE: u32 = 8;

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

/// A copy that has come back: its number, when it left, and its round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    number: u32,
    sent: Nanos,
    rtt: Nanos,
}

/// The rate probe: a packet train that shows whether the link is faster than reported (section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RateProbe {
    /// So many of its packets are still to leave. `last` is the number of the last one, once it has left.
    Sending { left: u32, last: u32, first: Option<Sample> },
    /// The next one follows after so many round trips.
    Paused(u32),
}

/// Packets that wait for the new link (7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    /// No more than two.
    None,
    /// Those of this host explain it. Copies after this one leave when it has drained.
    Own { until: u32 },
    /// Others wait there, too.
    Shared,
}

const START: RateProbe = RateProbe::Sending { left: Near::PROBE_PACKETS, last: 0, first: None };

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

    /// A copy has come back, before which so many packets were in flight: is there a queue, and is the link faster than
    /// reported? (section 6)
    fn watch_queue(&mut self, sample: Sample, in_flight: u32) {
        let Sample { number, rtt, .. } = sample;
        let longer = self.least_rtt == NEVER
            && rtt > self.near.rtt_ns + self.near.slot_ns // which the probe may have waited
            && !self.near.competing_traffic(rtt);
        self.least_rtt = self.least_rtt.min(rtt);
        if rtt < self.reported.rtt_ns || longer {
            self.reported = self.reported.with_rtt(rtt);
            self.run_at(self.steps);
        }
        let queued = self.near.queued(rtt);
        // The packets of a rate probe wait for each other.
        if number <= self.round || matches!(self.probe, RateProbe::Paused(_)) {
            self.judge_queue(queued, sample, in_flight);
        }
        if number <= self.round {
            return;
        }
        match self.probe {
            // None of its packets was measured.
            RateProbe::Sending { left: 0, last, first: None } if number >= last => {
                self.pause_probe(0, self.steps)
            }
            RateProbe::Sending { left, last, first: None } => {
                self.probe = RateProbe::Sending { left, last, first: Some(sample) };
            }
            RateProbe::Sending { left: 0, last, first: Some(first) } if number + 1 >= last => {
                let (packets, apart) = (number - first.number, sample.sent - first.sent);
                if self.near.probe_passes(packets, apart, first.rtt, rtt) && !queued {
                    self.run_at(Near::steps_after_probe(self.steps));
                    (self.probe, self.round, self.raised) = (START, self.copies, true);
                } else {
                    self.pause_probe(PROBE_PAUSE, self.steps);
                }
            }
            RateProbe::Sending { .. } => {}
            RateProbe::Paused(_) if queued => {
                self.pause_probe(PROBE_PAUSE, Near::steps_after_queue(self.steps))
            }
            RateProbe::Paused(0) => (self.probe, self.round) = (START, self.copies),
            RateProbe::Paused(rounds) => self.pause_probe(rounds - 1, self.steps),
        }
    }

    /// Whose queue is it? (7.5)
    fn judge_queue(&mut self, queued: bool, sample: Sample, in_flight: u32) {
        self.queue = match self.queue {
            _ if self.near.queue_of_others(sample.rtt, in_flight) => Queue::Shared,
            _ if !queued => Queue::None,
            // It had drained when that copy left: it is not theirs alone.
            Queue::Own { until } if sample.number > until => Queue::Shared,
            Queue::None => Queue::Own { until: u32::MAX },
            same => same,
        };
        if let Queue::Own { until: until @ u32::MAX } = &mut self.queue
            && u64::from(in_flight) <= self.near.drain_limit(u64::MAX, self.own)
        {
            *until = self.copies;
        }
    }

    /// No rate probe for so many round trips, and these steps.
    fn pause_probe(&mut self, rounds: u32, steps: u32) {
        (self.probe, self.round) = (RateProbe::Paused(rounds), self.copies);
        self.slot += std::mem::take(&mut self.probe_saved);
        self.run_at(steps);
    }

    /// The clock and the window with so many steps.
    fn run_at(&mut self, steps: u32) {
        let (before, full) = (self.near.window, self.window >= self.near.window);
        self.steps = steps;
        self.near = self.reported.with_steps(steps);
        let now = self.near.window;
        if (full && now > before) || (now < before && self.window > now) {
            (self.window, self.threshold) = (now, now);
        }
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

    /// Packets of all flows on the new link.
    fn in_flight(&self) -> u32 {
        self.flows.iter().map(|ledger| ledger.out).sum()
    }

    /// The claim is over: flows have their windows.
    fn is_over(&self) -> bool {
        !matches!(self.rule, Rule::Claim(_))
    }

    /// Whether one more packet may be out (3.1, 7.5).
    fn has_room(&self) -> bool {
        let most = match (self.rule, self.queue) {
            (Rule::Window, Queue::Own { .. }) => self.near.drain_limit(self.window, self.own),
            (Rule::Controls, Queue::Own { .. }) => self.near.drain_limit(u64::MAX, self.own),
            (Rule::Controls, _) => return true,
            (Rule::Window, Queue::Shared) => self.window / u64::from(PACKET),
            _ => Near::flight_limit(self.window, self.own),
        };
        u64::from(self.in_flight()) < most
    }

    /// Whether one more packet of this flow may be out (7.3).
    fn lets<F: FlowState>(&self, flow: &F, ledger: &Ledger) -> bool {
        let most = || match u64::from(flow.window()) {
            window if flow.reduces() || self.queue == Queue::Shared => window,
            window => Near::flight_limit(window * u64::from(PACKET), 1),
        };
        ledger.joined && (self.rule != Rule::Controls || u64::from(ledger.out) < most())
    }

    /// Until when the first unacknowledged packet of a flow waits, so that the mobile does not refuse what the old link
    /// still brings (4.7).
    fn head_waits(&self, ledger: &Ledger) -> Option<Nanos> {
        let last = ledger.refused_until()? + self.slip;
        let (lost, old) = self.flows.iter().fold((0, 0), |sum, flow| (sum.0 + flow.lost, sum.1 + flow.old));
        let waits = !self.near.too_late(self.slot, lost + self.near.horizon(old), last);
        // The first of them may be under way for a whole slot after completion.
        waits.then(|| (last + self.near.old_slot_ns).saturating_sub(self.near.data_owd_ns))
    }

    /// The packet of a flow that is sent again first at that time.
    fn first_lost(&self, at: Nanos, ledger: &Ledger) -> Option<usize> {
        if ledger.lost == 0 {
            return None;
        }
        let waits = self.head_waits(ledger).is_some_and(|until| at < until);
        ledger.first_lost(usize::from(waits))
    }

    /// The flow that has a slot at that time: lost packets first; then the flow with the fewest new packets (3.3).
    fn choose<F: FlowState>(&self, at: Nanos, flows: &[F]) -> Option<usize> {
        let all = self.flows.iter().enumerate();
        let joined = || all.clone().filter(|&(index, ledger)| self.lets(&flows[index], ledger));
        let lost = joined().filter(|(_, ledger)| self.first_lost(at, ledger).is_some());
        let new = || joined().filter(|&(index, _)| flows[index].has_new());
        let least = |(index, ledger): &(usize, &Ledger)| (ledger.fresh, *index);
        let next = || match self.probe {
            RateProbe::Sending { left: 1..Near::PROBE_PACKETS, .. } => {
                new().find(|&(index, _)| index == self.probe_flow)
            }
            _ => None,
        };
        let choice = lost.min_by_key(least).or_else(next).or_else(|| new().min_by_key(least));
        choice.map(|(index, _)| index)
    }

    /// How long a slot is. Beside others, controls that pace decide that, too (7.5).
    fn slot_length<F: FlowState>(&self, flows: &[F]) -> Nanos {
        if self.queue != Queue::Shared || !self.is_over() {
            return self.near.slot_ns;
        }
        let joined = flows.iter().zip(&self.flows).filter(|(_, ledger)| ledger.joined);
        let paced: Option<Nanos> = joined.map(|(flow, _)| flow.packets_per_second()).sum();
        let pace = paced.filter(|&paced| paced > 0).map_or(0, |paced| 1_000_000_000 / paced);
        self.near.shared_slot_ns().max(pace)
    }

    /// The time of the next slot after this one of `slot`, where a packet of flow `index` takes it, perhaps `again`.
    fn gap(&mut self, index: usize, again: bool, slot: Nanos) -> Nanos {
        let RateProbe::Sending { left: left @ 1.., first, .. } = self.probe else { return slot };
        if again {
            return slot;
        }
        // The rate probe leaves at double speed, and what that saves is waited for behind it (6.3).
        (self.probe_flow, self.probe_saved) = (index, self.probe_saved + slot / 2);
        let last = if left == 1 { self.copies + 1 } else { 0 };
        self.probe = RateProbe::Sending { left: left - 1, last, first };
        let waits = if left == 1 { std::mem::take(&mut self.probe_saved) } else { 0 };
        slot - slot / 2 + waits
    }

    /// When the next packet may leave. After the claim two may leave at once, as an ACK for two lets them (7.3).
    fn next_slot(&self) -> Nanos {
        let probes = matches!(self.probe, RateProbe::Sending { left: 1.., .. });
        if self.is_over() && !probes { self.slot.saturating_sub(self.near.slot_ns) } else { self.slot }
    }

    /// The packet that takes the slot at `now`, if there is one: of which flow, and its number.
    pub fn next<F: FlowState>(&mut self, now: Nanos, flows: &[F]) -> Option<(usize, u32)> {
        if now < self.next_slot() {
            return None;
        }
        let has_room = self.has_room();
        let drains = matches!(self.queue, Queue::Own { .. });
        self.held_back = !has_room && self.rule == Rule::Window && !drains;
        if !has_room {
            return None;
        }
        let index = self.choose(now, flows)?;
        let lost = self.first_lost(now, &self.flows[index]);
        self.slot = now.max(self.slot) + self.gap(index, lost.is_some(), self.slot_length(flows));
        self.copies += 1;
        let number = self.copies;
        let ledger = &mut self.flows[index];
        if ledger.expires.is_none() {
            ledger.expires = Some(now + self.near.rto_ns(ledger.backoff));
        }
        let Some(place) = lost else {
            ledger.fresh += 1;
            ledger.push(Packet { fate: Fate::Out(number), sent: now, again: false });
            return Some((index, ledger.end() - 1));
        };
        ledger.set(place, Fate::Out(number));
        (ledger.packets[place].sent, ledger.packets[place].again) = (now, true);
        Some((index, ledger.una + place as u32))
    }

    /// When something is to be done next.
    pub fn deadline<F: FlowState>(&self, flows: &[F]) -> Option<Nanos> {
        let mut at = self.all_join;
        for ledger in &self.flows {
            at = at.min(ledger.expires.unwrap_or(NEVER));
            if ledger.old > 0 {
                let old = ledger.packets.iter().filter_map(|packet| match packet.fate {
                    Fate::Old(arrives) => Some(self.near.loss_deadline(arrives + self.slip)),
                    _ => None,
                });
                at = at.min(old.min().unwrap_or(NEVER));
            }
        }
        if self.next_slot() < at && self.has_room() {
            if self.choose(self.next_slot(), flows).is_some() {
                at = self.next_slot();
            } else {
                let lets = |&(index, ledger): &(usize, &Ledger)| self.lets(&flows[index], ledger);
                let heads = self.flows.iter().enumerate().filter(lets);
                let heads = heads.filter_map(|(_, ledger)| self.head_waits(ledger));
                at = at.min(heads.min().unwrap_or(NEVER).max(self.slot));
            }
        }
        (at != NEVER).then_some(at)
    }
}
