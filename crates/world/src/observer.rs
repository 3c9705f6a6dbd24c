//! The bench's observer: fate of every copy, and the record while one is kept.

use crate::bit_set::BitSet;
use crate::host_observer::HostObserver;
use crate::link_time::{IdleTime, Standing};
use crate::packet::Packet;
use crate::record::Recorder;
use crate::traffic::source::Item;
use crate::traffic::watch::TrafficWatch;
use segue_handoff::{Act, LoggedScheme};
use segue_netsim::{LinkId, LossCause, Nanos, NodeId, Observer as LinkObserver, Passage};
use segue_tcp::AnySender;
use segue_tcp::receiver::Arrival;
use std::collections::BTreeSet;

/// Some links; for speed also those whose numbers are the same in the last six bits.
#[derive(Clone, Copy, Debug, Default)]
struct LinkSet(u64);

impl LinkSet {
    fn insert(&mut self, link: LinkId) {
        self.0 |= 1 << (link.0 % 64);
    }

    #[inline]
    fn has(self, link: LinkId) -> bool {
        self.0 >> (link.0 % 64) & 1 == 1
    }
}

/// The observer of the bench.
#[derive(Clone, Debug)]
pub struct Observer<W> {
    /// Copies that were lost, for whatever cause, by flow.
    lost: Vec<BitSet>,
    /// Copies of which one twin was lost, and the other not yet.
    halves: BTreeSet<(u16, u32)>,
    /// Kept from the start of the handoff on ([`Self::record`]).
    pub recorder: Option<Box<Recorder>>,
    /// Kept from completion on, while a record is ([`Self::follow`]).
    pub(crate) idle: Option<Box<IdleTime>>,
    /// Links that record or idle time want to know the packets of: those that enter, and those that leave.
    entering: LinkSet,
    leaving: LinkSet,
    /// Kept from the start of the handoff on, where traffic is measured by class.
    pub(crate) traffic: Option<Box<TrafficWatch>>,
    /// Hears everything from the start; `()` costs nothing.
    pub watch: W,
    /// How many flows are the mobile's, those of the bench first; neighbours have the numbers behind them.
    pub(crate) mine: u16,
}

impl<W> Observer<W> {
    pub(crate) fn new(flows: usize, watch: W) -> Self {
        Self {
            lost: vec![BitSet::default(); flows],
            halves: BTreeSet::new(),
            recorder: None,
            idle: None,
            entering: LinkSet::default(),
            leaving: LinkSet::default(),
            traffic: None,
            watch,
            mine: flows as u16,
        }
    }

    /// Whether a flow is one of the bench's own: further traffic and neighbours have the numbers behind them.
    #[inline]
    pub(crate) fn is_own(&self, flow: u16) -> bool {
        usize::from(flow) < self.lost.len()
    }

    /// Whether one of two twins is known to have been lost.
    pub(crate) fn is_half_lost(&self, flow: u16, copy: u32) -> bool {
        self.halves.contains(&(flow, copy))
    }

    /// Whether a copy is known to have been lost, or refused by the receiver.
    pub(crate) fn is_lost(&self, flow: u16, copy: u32) -> bool {
        self.lost[usize::from(flow)].contains(copy)
    }

    /// Keeps a record from now on.
    pub(crate) fn record(&mut self, recorder: Recorder) {
        self.entering.insert(recorder.new_access());
        self.recorder = Some(Box::new(recorder));
    }

    /// Counts idle time from now on.
    pub(crate) fn follow(&mut self, idle: IdleTime) {
        for link in idle.entering() {
            self.entering.insert(link);
        }
        for link in idle.leaving() {
            self.leaving.insert(link);
        }
        self.idle = Some(Box::new(idle));
    }

    /// The connections have ended: other copies bear the same numbers from now on. `doomed`: copies that will be lost.
    pub(crate) fn begin_anew(&mut self, doomed: &BTreeSet<(u16, u32)>) {
        if let Some(recorder) = &mut self.recorder {
            let lost = &self.lost;
            recorder.begin_anew(|flow, copy| {
                !lost[usize::from(flow)].contains(copy) && !doomed.contains(&(flow, copy))
            });
        }
        self.lost.fill(BitSet::default());
        self.halves.clear();
    }

    /// The idle time, where it is kept and the packet is the mobile's.
    #[inline]
    fn idle_of(&mut self, packet: &Packet) -> Option<&mut IdleTime> {
        let idle = self.idle.as_deref_mut()?;
        (usize::from(packet.flow) < self.lost.len()).then_some(idle)
    }

    /// The record takes note of a passage, and of a packet's way in if the link takes it in just now. The times are
    /// single arguments: a [`Passage`] would lie in memory for every packet, also where nobody keeps it.
    #[inline(never)] // off the path of a packet before the handoff
    fn note_accepted<const ADMITTED: bool>(
        &mut self,
        link: LinkId,
        packet: &Packet,
        arrival: Nanos,
        start: Nanos,
        departure: Nanos,
    ) {
        let enters = ADMITTED && self.is_own(packet.flow);
        if let Some(idle) = &mut self.idle {
            if ADMITTED {
                idle.clock(arrival);
            }
            if enters {
                idle.entered(link, packet);
            }
            idle.busy(link, departure);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.accepted(link, packet, arrival, start, departure);
        }
    }

    #[inline(never)] // off the path of a packet before the handoff
    fn note_left(&mut self, now: Nanos, link: LinkId, packet: &Packet) {
        let own = self.is_own(packet.flow);
        if let Some(idle) = &mut self.idle {
            idle.clock(now);
            if own {
                idle.left(link, packet);
            }
        }
    }

    /// Whether anything is kept of what comes to the mobile.
    #[inline]
    fn keeps(&self) -> bool {
        self.recorder.is_some() || self.idle.is_some() || self.traffic.is_some()
    }

    #[inline(never)] // off the path of a packet before the handoff
    fn note_arrived(&mut self, now: Nanos, link: LinkId, packet: &Packet, arrival: Arrival) {
        if arrival == Arrival::Refused && self.is_own(packet.flow) {
            self.lost[usize::from(packet.flow)].insert(packet.copy);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(now, link, packet, arrival);
        }
        if let Some(traffic) = &mut self.traffic {
            traffic.arrived(now, packet, arrival);
        }
        if arrival == Arrival::New
            && let Some(idle) = self.idle_of(packet)
        {
            idle.received(packet.flow, packet.segment.seq);
        }
    }

    #[cold]
    fn note_doomed(&mut self, now: Nanos, link: LinkId, packet: &Packet) {
        if let Some(idle) = self.idle_of(packet) {
            idle.clock(now);
            idle.doomed(link, packet);
        }
    }

    fn note_loss(&mut self, packet: &Packet) {
        if packet.data && (!packet.twin || !self.halves.insert((packet.flow, packet.copy))) {
            self.lost[usize::from(packet.flow)].insert(packet.copy);
        }
    }
}

impl<W: HostObserver> LinkObserver<Packet> for Observer<W> {
    #[inline]
    fn clock(&mut self, now: Nanos) {
        if let Some(idle) = &mut self.idle {
            idle.clock(now);
        }
    }

    #[inline]
    fn entered(&mut self, now: Nanos, link: LinkId, packet: &Packet) {
        self.clock(now);
        if let Some(idle) = self.idle_of(packet) {
            idle.entered(link, packet);
        }
    }

    #[inline]
    fn left<'a>(&mut self, now: Nanos, link: LinkId, packet: impl FnOnce() -> &'a Packet) {
        if self.leaving.has(link) {
            self.note_left(now, link, packet());
        }
    }

    fn held(&mut self, packet: &Packet) {
        if let Some(idle) = self.idle_of(packet) {
            idle.held();
        }
    }

    fn released(&mut self, packet: &Packet) {
        if let Some(idle) = self.idle_of(packet) {
            idle.released();
        }
    }

    #[inline]
    fn accepted(&mut self, link: LinkId, passage: &Passage, packet: &Packet) {
        self.watch.accepted(link, passage, packet);
        let &Passage { arrival, start, departure, comes_out, .. } = passage;
        if self.entering.has(link) {
            self.note_accepted::<false>(link, packet, arrival, start, departure);
        }
        if !comes_out {
            self.note_doomed(arrival, link, packet);
        }
    }

    #[inline]
    fn admitted(&mut self, link: LinkId, passage: &Passage, packet: &Packet) {
        self.watch.accepted(link, passage, packet);
        let &Passage { arrival, start, departure, comes_out, .. } = passage;
        if self.entering.has(link) {
            self.note_accepted::<true>(link, packet, arrival, start, departure);
        }
        if !comes_out {
            self.note_doomed(arrival, link, packet);
        }
    }

    fn lost(&mut self, now: Nanos, link: LinkId, packet: &Packet, cause: LossCause) {
        if !self.is_own(packet.flow) {
            return;
        }
        self.watch.lost(now, link, packet, cause);
        self.note_loss(packet);
        if let Some(idle) = &mut self.idle {
            idle.lost(link, packet, cause);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.lost(now, link, packet, cause);
        }
    }

    fn withdrawn(&mut self, link: LinkId, packet: &Packet) {
        self.watch.withdrawn(link, packet);
    }

    fn overflowed(&mut self, now: Nanos, at: NodeId, packet: &Packet) {
        if !self.is_own(packet.flow) {
            return;
        }
        self.watch.overflowed(now, at, packet);
        self.note_loss(packet);
        if let Some(idle) = self.idle_of(packet) {
            idle.released();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.buffer_drops += 1;
        }
    }
}

impl<W: HostObserver> HostObserver for Observer<W> {
    fn timeout(&mut self, now: Nanos, flow: u16, head: u32, copy: u32) {
        self.watch.timeout(now, flow, head, copy);
        if let Some(recorder) = &mut self.recorder {
            recorder.timeout(now, flow, head, copy);
        }
    }

    fn fast_retransmit(&mut self, now: Nanos, flow: u16, head: u32, copy: u32) {
        self.watch.fast_retransmit(now, flow, head, copy);
        if let Some(recorder) = &mut self.recorder {
            recorder.fast_retransmit(now, flow, head, copy);
        }
    }

    #[inline]
    fn sent(&mut self, now: Nanos, packet: &Packet) {
        self.watch.sent(now, packet);
        if let Some(recorder) = &mut self.recorder {
            recorder.sent(now, packet);
        }
        if let Some(traffic) = &mut self.traffic {
            traffic.sent(now, packet);
        }
    }

    #[inline]
    fn heard(&mut self, now: Nanos, packet: &Packet) {
        self.watch.heard(now, packet);
    }

    #[inline]
    fn changed(&mut self, now: Nanos, flow: u16, sender: &mut AnySender<LoggedScheme>) {
        self.watch.changed(now, flow, sender);
    }

    #[inline]
    fn stands(&mut self, flow: u16, standing: impl FnOnce() -> Standing) {
        if self.idle.is_some()
            && self.is_own(flow)
            && let Some(idle) = &mut self.idle
        {
            idle.stands(flow, standing());
        }
    }

    #[inline]
    fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32) {
        self.watch.acknowledged(now, flow, una);
        if let Some(recorder) = &mut self.recorder {
            recorder.acknowledged(now, flow, una);
        }
        if let Some(traffic) = &mut self.traffic {
            traffic.acknowledged(now, flow, una);
        }
    }

    fn asked(&mut self, now: Nanos, flow: u16, item: Item) {
        self.watch.asked(now, flow, item);
        if let Some(traffic) = &mut self.traffic {
            traffic.asked(flow, item);
        }
    }

    fn acted(&mut self, now: Nanos, flow: u16, act: Act) {
        self.watch.acted(now, flow, act);
    }

    fn joined(&mut self, now: Nanos, link: LinkId, packet: &Packet, is_first: bool) {
        if packet.data
            && let Some(recorder) = &mut self.recorder
        {
            recorder.joined(now, link, packet, is_first);
        }
    }

    fn bare_ack(&mut self, now: Nanos, link: LinkId, packet: &Packet) {
        if let Some(recorder) = &mut self.recorder {
            recorder.bare_ack(now, link, packet);
        }
    }

    #[inline(always)] // on the path of every packet
    fn arrived(&mut self, now: Nanos, link: LinkId, packet: &Packet, arrival: Arrival) {
        self.watch.arrived(now, link, packet, arrival);
        if arrival == Arrival::Refused || self.keeps() {
            self.note_arrived(now, link, packet, arrival);
        }
    }
}
