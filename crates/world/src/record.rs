//! The record of one handoff: what happened from completion to the end of the slowest transfer.

use crate::neighbours::Received;
use crate::packet::Packet;
use crate::traffic::ClassRecord;
use segue_netsim::{LinkId, LossCause, Nanos};
use segue_tcp::receiver::Arrival;
use std::collections::{BTreeSet, VecDeque};

/// Where the time of the new link's data direction went; the classes add up (docs/reference/bench.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTime {
    /// Carrying bytes first received by this packet.
    pub useful: Nanos,
    /// Carrying what brought the mobile no new bytes: bytes that had been received, or a packet that the link lost.
    pub needless: Nanos,
    /// Idle: data is on its way to the link, or only ACKs of the last target packets are awaited.
    pub idle_path: Nanos,
    /// Idle: some sender has data that its window forbids, not in RTO recovery.
    pub idle_window: Nanos,
    /// Idle: every sender waits for a timer.
    pub idle_timer: Nanos,
    /// Idle for another reason.
    pub idle_other: Nanos,
    /// Carrying packets of neighbours.
    pub neighbours: Nanos,
}

impl LinkTime {
    /// The sum of all classes.
    pub fn total(&self) -> Nanos {
        let idle = self.idle_path + self.idle_window + self.idle_timer + self.idle_other;
        self.useful + self.needless + idle + self.neighbours
    }

    /// Adds the idle time of `other`.
    pub(crate) fn add_idle(&mut self, other: &Self) {
        self.idle_path += other.idle_path;
        self.idle_window += other.idle_window;
        self.idle_timer += other.idle_timer;
        self.idle_other += other.idle_other;
    }
}

/// Lower bounds of a run: whatever its senders know, and if they know nothing before a notice can be with them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    pub physical: Nanos,
    pub told: Nanos,
}

/// An expiry of a retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// Time, ns.
    pub at: Nanos,
    /// The flow's number.
    pub flow: u16,
    /// First unacknowledged packet.
    pub head: u32,
    /// The last copy of `head` sent before is eventually delivered.
    pub spurious: bool,
}

/// A timeout, flow, packet and copy, whose copy `arrives` or does not.
fn judged((at, flow, head, copy): (Nanos, u16, u32, u32), arrives: impl Fn(u16, u32) -> bool) -> Timeout {
    Timeout { at, flow, head, spurious: arrives(flow, copy) }
}

/// A dropped data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drop {
    /// Time, ns.
    pub at: Nanos,
    /// The flow's number.
    pub flow: u16,
    /// Which packet.
    pub seq: u32,
}

/// One handoff with one scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// The handoff's T.
    pub at: Nanos,
    /// Its completion.
    pub completion: Nanos,
    /// From completion until the slowest flow reached its target; `None` = incomplete.
    pub transfer: Option<Nanos>,
    /// The same by either definition.
    pub after_highest: Option<Nanos>,
    /// The same by either definition.
    pub after_ack: Option<Nanos>,
    /// Shortest possible time, whatever the senders know, ns.
    pub bound: Nanos,
    /// Shortest possible time for senders that know nothing before a notice can be with them, ns.
    pub bound_told: Nanos,
    /// Timeouts from T on, in order; those before completion included.
    pub timeouts: Vec<Timeout>,
    /// Fast retransmits from T on: when, whose, which packet.
    pub fast_retransmits: Vec<(Nanos, u16, u32)>,
    /// Drops in queues from completion to the end, data and ACKs.
    pub drops: u32,
    /// Dropped data packets, in order.
    pub data_drops: Vec<Drop>,
    /// Packets of both directions that came out of the old link between T and completion or later.
    pub lost_in_disconnection: u32,
    /// Packets of both directions that links lost while they were up, from completion to the end.
    pub link_losses: u32,
    /// Packets that the buffer of a router dropped for want of room, from T to the end.
    pub buffer_drops: u32,
    /// Packets sent again from completion to the end.
    pub retransmissions: u32,
    /// Packets sent again that arrived and carried nothing new.
    pub needless_retransmissions: u32,
    /// Where the new link's time went.
    pub link_time: LinkTime,
    /// Queueing delay of each data packet at the new access queue, ns.
    pub queue_delays: Vec<Nanos>,
    /// Packets that each flow newly acknowledged from completion to the end.
    pub acknowledged: Vec<u32>,
    /// Fast retransmits from completion on whose packet was not lost: its last copy sent before is delivered.
    pub false_fast_retransmits: u32,
    /// From completion until some sender first sends anything but a window probe; `None` if none did.
    pub first_sent: Option<Nanos>,
    /// Packets that the flows sent for the first time from completion until all that each had sent before was
    /// acknowledged.
    pub sent_while_draining: u32,
    /// How each flow's sender stood at T.
    pub senders_at: Vec<SenderAt>,
    /// Neighbours on the new link, if there are any.
    pub neighbours: Option<Received>,
    /// Outcome of each class of traffic, where it is measured.
    pub traffic: Vec<ClassRecord>,
}

/// A sender at T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderAt {
    /// Packets outstanding.
    pub flight: u32,
    /// Retransmission timeout with back-off.
    pub rto: Nanos,
    /// In recovery, with no more than one fast retransmit so far: mostly the overshoot of the first slow start.
    pub in_first_recovery: bool,
}

impl RunRecord {
    /// Timeouts from completion to the end.
    pub fn timeouts_after(&self) -> impl Iterator<Item = &Timeout> {
        self.timeouts.iter().filter(|t| t.at >= self.completion)
    }
}

/// A transmission on the new link whose packet has not arrived yet.
#[derive(Clone, Copy, Debug)]
struct Carriage {
    start: Nanos,
    end: Nanos,
    flow: u16,
    /// Number of the transmission within its flow.
    copy: u32,
}

/// Links a recorder distinguishes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedLinks {
    /// New access link towards the mobile.
    pub new_access: LinkId,
    /// Last hop behind it.
    pub new_last_hop: LinkId,
    /// It is the last hop behind the old link, too.
    pub shared_last_hop: bool,
    /// By which what has come over the new link is at the end of both, where second copies are discarded.
    pub new_end: LinkId,
}

/// A packet that reached the mobile over the old link, for the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldDelivery {
    pub at: Nanos,
    pub flow: u16,
    pub seq: u32,
}

/// Keeps the record while a handoff runs.
#[derive(Clone, Debug)]
pub struct Recorder {
    links: RecordedLinks,
    /// Infinite until the handoff completes.
    completion: Nanos,
    /// `snd_una` of each flow at completion, and its two targets.
    start_una: Vec<u32>,
    /// Number of the first copy that each flow sends after completion.
    first_copies: Vec<u32>,
    targets: [Vec<u32>; 2],
    reached: [Vec<Option<Nanos>>; 2],
    /// Flows that have not, by definition.
    unreached: [usize; 2],
    /// Which definition ends the run: index into `targets`.
    ends_by: usize,
    una: Vec<u32>,
    pub(crate) timeouts: Vec<(Nanos, u16, u32, u32)>,
    /// Those of connections that have ended.
    past_timeouts: Vec<Timeout>,
    fast_retransmits: Vec<(Nanos, u16, u32)>,
    drops: u32,
    data_drops: Vec<Drop>,
    lost_in_disconnection: u32,
    link_losses: u32,
    pub(crate) buffer_drops: u32,
    retransmissions: u32,
    needless_retransmissions: u32,
    pub(crate) link_time: LinkTime,
    carried: VecDeque<Carriage>,
    /// First copies that have come over the old link and are on their way to the receiver.
    by_old: BTreeSet<(u16, u32)>,
    /// Messages of routers on the new link.
    signals: Vec<Carriage>,
    queue_delays: Vec<Nanos>,
    pub(crate) old_deliveries: Vec<OldDelivery>,
    /// Fast retransmits: when, whose, and the last copy sent before it.
    fast_copies: Vec<(Nanos, u16, u32)>,
    first_sent: Option<Nanos>,
    /// One beyond the highest packet that each flow sent before completion.
    sent_before: Vec<u32>,
    sent_while_draining: u32,
    senders_at: Vec<SenderAt>,
}

impl Recorder {
    pub(crate) fn new(links: RecordedLinks, senders_at: Vec<SenderAt>) -> Self {
        let flows = senders_at.len();
        Self {
            links,
            completion: Nanos::MAX,
            start_una: vec![0; flows],
            first_copies: vec![u32::MAX; flows],
            targets: [vec![u32::MAX; flows], vec![u32::MAX; flows]],
            reached: [vec![None; flows], vec![None; flows]],
            unreached: [flows; 2],
            ends_by: 0,
            una: vec![0; flows],
            timeouts: Vec::new(),
            past_timeouts: Vec::new(),
            fast_retransmits: Vec::new(),
            drops: 0,
            data_drops: Vec::new(),
            lost_in_disconnection: 0,
            link_losses: 0,
            buffer_drops: 0,
            retransmissions: 0,
            needless_retransmissions: 0,
            link_time: LinkTime::default(),
            carried: VecDeque::new(),
            by_old: BTreeSet::new(),
            signals: Vec::new(),
            queue_delays: Vec::new(),
            old_deliveries: Vec::new(),
            fast_copies: Vec::new(),
            first_sent: None,
            sent_before: vec![0; flows],
            sent_while_draining: 0,
            senders_at,
        }
    }

    /// The handoff completes now. `una`: what is acknowledged; `sent_before`: one beyond the highest packets
    /// sent; `first_copies`: numbers of the next transmissions; `targets` by both definitions.
    pub(crate) fn complete(
        &mut self,
        now: Nanos,
        una: Vec<u32>,
        sent_before: Vec<u32>,
        first_copies: Vec<u32>,
        targets: [Vec<u32>; 2],
        ends_by: usize,
    ) {
        self.completion = now;
        self.start_una.clone_from(&una);
        self.una = una;
        self.sent_before = sent_before;
        self.first_copies = first_copies;
        self.targets = targets;
        self.ends_by = ends_by;
        for by in 0..2 {
            for flow in 0..self.una.len() {
                self.reached[by][flow] = (self.una[flow] >= self.targets[by][flow]).then_some(now);
            }
            self.unreached[by] = self.reached[by].iter().filter(|at| at.is_none()).count();
        }
    }

    /// The connections have ended; `arrives` tells of their copies, by flow and number.
    pub(crate) fn begin_anew(&mut self, arrives: impl Fn(u16, u32) -> bool) {
        let past = std::mem::take(&mut self.timeouts).into_iter();
        self.past_timeouts.extend(past.map(|timeout| judged(timeout, &arrives)));
        // They tell of what happened at completion and before it, by numbers that mean others now.
        (self.fast_copies, self.old_deliveries) = (Vec::new(), Vec::new());
        self.carried.clear();
    }

    #[inline]
    fn completed(&self) -> bool {
        self.completion != Nanos::MAX
    }

    /// Keeps the deliveries of all links from now on as if they were the old link's, for the bound.
    pub(crate) fn keep_deliveries(&mut self) {
        self.links.new_last_hop = LinkId(u16::MAX);
        self.old_deliveries.clear();
    }

    /// When the slowest flow reached its target, by definition `by`.
    fn end(&self, by: usize) -> Option<Nanos> {
        self.reached[by].iter().copied().try_fold(self.completion, |latest, at| Some(latest.max(at?)))
    }

    /// The new access link towards the mobile.
    pub(crate) fn new_access(&self) -> LinkId {
        self.links.new_access
    }

    /// Whether all flows have reached the target that ends the run.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.unreached[self.ends_by] == 0
    }

    pub(crate) fn lost(&mut self, at: Nanos, link: LinkId, packet: &Packet, cause: LossCause) {
        match cause {
            LossCause::Queue if self.completed() => {
                self.drops += 1;
                if packet.data {
                    self.data_drops.push(Drop { at, flow: packet.flow, seq: packet.segment.seq });
                }
            }
            LossCause::Queue => {}
            LossCause::Link => {
                self.link_losses += u32::from(self.completed());
                if link == self.links.new_access
                    && let Some(carriage) = self.take_carriage(packet.flow, packet.copy)
                {
                    self.charge(carriage, true, at);
                }
            }
            LossCause::Disconnection => self.lost_in_disconnection += 1,
        }
    }

    /// The transmission that carried a packet.
    #[inline]
    fn take_carriage(&mut self, flow: u16, copy: u32) -> Option<Carriage> {
        let is_first = self.carried.front().is_some_and(|first| (first.flow, first.copy) == (flow, copy));
        if is_first { self.carried.pop_front() } else { self.take_later_carriage(flow, copy) }
    }

    /// The same if it is not the first. A loss on the link leaves it behind those on the last hop, or a packet that
    /// overtook it.
    #[cold]
    fn take_later_carriage(&mut self, flow: u16, copy: u32) -> Option<Carriage> {
        let is_it = |carriage: &Carriage| (carriage.flow, carriage.copy) == (flow, copy);
        let index = self.carried.iter().position(is_it)?;
        self.carried.remove(index)
    }

    #[inline]
    pub(crate) fn accepted(
        &mut self,
        link: LinkId,
        packet: &Packet,
        arrival: Nanos,
        start: Nanos,
        departure: Nanos,
    ) {
        if link != self.links.new_access {
            return;
        }
        let &Packet { flow, copy, .. } = packet;
        if usize::from(flow) >= self.una.len() {
            return; // a neighbour's
        }
        let carriage = Carriage { start, end: departure, flow, copy };
        if packet.signal().is_some() {
            self.signals.push(carriage);
        } else if packet.data {
            self.carried.push_back(carriage);
            self.queue_delays.push(start - arrival);
        }
    }

    pub(crate) fn timeout(&mut self, at: Nanos, flow: u16, head: u32, copy: u32) {
        if usize::from(flow) < self.una.len() {
            self.timeouts.push((at, flow, head, copy));
        }
    }

    pub(crate) fn fast_retransmit(&mut self, at: Nanos, flow: u16, head: u32, copy: u32) {
        if usize::from(flow) >= self.una.len() {
            return;
        }
        self.fast_retransmits.push((at, flow, head));
        self.fast_copies.push((at, flow, copy));
    }

    /// A host sends a packet.
    #[inline]
    pub(crate) fn sent(&mut self, at: Nanos, packet: &Packet) {
        if !packet.data || packet.is_probe() || !self.completed() {
            return;
        }
        let flow = usize::from(packet.flow);
        let Some(&una) = self.una.get(flow) else { return };
        self.first_sent.get_or_insert(at);
        self.retransmissions += u32::from(packet.retransmission);
        let draining = una < self.sent_before[flow];
        self.sent_while_draining += u32::from(draining && !packet.retransmission);
    }

    #[inline]
    pub(crate) fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32) {
        let flow = usize::from(flow);
        let Some(own) = self.una.get_mut(flow) else { return };
        *own = una;
        for by in 0..2 {
            if una >= self.targets[by][flow] && self.reached[by][flow].is_none() {
                self.reached[by][flow] = Some(now);
                self.unreached[by] -= 1;
            }
        }
    }

    #[inline]
    pub(crate) fn arrived(&mut self, now: Nanos, link: LinkId, packet: &Packet, arrival: Arrival) {
        let needless = arrival != Arrival::New;
        // Counted like retransmissions: what was sent before completion belongs to the past.
        let Some(&first_copy) = self.first_copies.get(usize::from(packet.flow)) else { return };
        let sent_since = packet.copy >= first_copy;
        if arrival == Arrival::Duplicate && packet.retransmission && sent_since {
            self.needless_retransmissions += 1;
        }
        // Data from the mobile have the same last hop by either link.
        let over_new = link == self.links.new_last_hop;
        let by_new = over_new && (self.by_old.is_empty() || !self.by_old.remove(&(packet.flow, packet.copy)));
        let by_new = if by_new { self.take_carriage(packet.flow, packet.copy) } else { None };
        if let Some(carriage) = by_new {
            self.charge(carriage, needless, now);
        } else if link != self.links.new_last_hop || self.links.shared_last_hop {
            self.old_deliveries.push(OldDelivery { at: now, flow: packet.flow, seq: packet.segment.seq });
        }
    }

    /// A copy of data has come, the first of two or the second. A second one over the new link has taken time, and
    /// brought nothing. A first one over the old link is not what the new link carries.
    pub(crate) fn joined(&mut self, now: Nanos, link: LinkId, packet: &Packet, is_first: bool) {
        let &Packet { flow, copy, .. } = packet;
        if link != self.links.new_end {
            self.by_old.extend(is_first.then_some((flow, copy)));
        } else if !is_first && let Some(carriage) = self.take_carriage(flow, copy) {
            self.charge(carriage, true, now);
        }
    }

    /// A sender's ACK without data has arrived: it has taken time, and brought nothing.
    pub(crate) fn bare_ack(&mut self, now: Nanos, link: LinkId, packet: &Packet) {
        if link == self.links.new_last_hop
            && let Some(carriage) = self.take_carriage(packet.flow, packet.copy)
        {
            self.charge(carriage, true, now);
        }
    }

    /// Counts a transmission, as far as it lies between completion and `end`.
    fn charge(&mut self, carriage: Carriage, needless: bool, end: Nanos) {
        let from = carriage.start.max(self.completion);
        let time = carriage.end.min(end).saturating_sub(from);
        if needless {
            self.link_time.needless += time;
        } else {
            self.link_time.useful += time;
        }
    }

    /// Counts what is still on the new link at `end`. `rest` has flow and copy of each packet, and whether it will be
    /// the first with its bytes.
    pub(crate) fn charge_rest(&mut self, end: Nanos, rest: impl Iterator<Item = (u16, u32, bool)>) {
        for (flow, copy, useful) in rest {
            if let Some(carriage) = self.take_carriage(flow, copy) {
                self.charge(carriage, !useful, end);
            }
        }
        // A message brings the mobile no bytes.
        for signal in std::mem::take(&mut self.signals) {
            self.charge(signal, true, end);
        }
    }

    /// The finished record. `spurious` tells of each timeout, by flow and copy, whether the copy
    /// was or will be delivered.
    pub(crate) fn finish(self, at: Nanos, bounds: Bounds, spurious: impl Fn(u16, u32) -> bool) -> RunRecord {
        let since = |end: Option<Nanos>| end.map(|end| end - self.completion);
        let [after_highest, after_ack] = [since(self.end(0)), since(self.end(1))];
        RunRecord {
            at,
            completion: self.completion,
            transfer: [after_highest, after_ack][self.ends_by],
            after_highest,
            after_ack,
            bound: bounds.physical,
            bound_told: bounds.told,
            timeouts: {
                let judged = self.timeouts.iter().map(|&timeout| judged(timeout, &spurious));
                self.past_timeouts.into_iter().chain(judged).collect()
            },
            fast_retransmits: self.fast_retransmits,
            drops: self.drops,
            data_drops: self.data_drops,
            lost_in_disconnection: self.lost_in_disconnection,
            link_losses: self.link_losses,
            buffer_drops: self.buffer_drops,
            retransmissions: self.retransmissions,
            needless_retransmissions: self.needless_retransmissions,
            link_time: self.link_time,
            queue_delays: self.queue_delays,
            false_fast_retransmits: self
                .fast_copies
                .iter()
                .filter(|&&(at, flow, copy)| at >= self.completion && spurious(flow, copy))
                .count() as u32,
            first_sent: self.first_sent.map(|at| at - self.completion),
            sent_while_draining: self.sent_while_draining,
            senders_at: self.senders_at,
            neighbours: None,
            traffic: Vec::new(),
            acknowledged: self.una.iter().zip(&self.start_una).map(|(una, start)| una - start).collect(),
        }
    }
}
