//! The correspondent node: the bulk senders, and what their scheme hears and decides.

use crate::host_observer::HostObserver;
use crate::link_time::Standing;
use crate::packet::{Packet, Signal};
use crate::wheel::Wheel;
use segue_handoff::claim::{Claim, FlowState};
use segue_handoff::{Act, Announcement, Clock, Group, Listener, LoggedScheme, News, Notice};
use segue_netsim::{LinkId, Nanos, Net, PacketId, TimerId};
use segue_tcp::segment::Timestamps;
use segue_tcp::{AnySender, Segment, View};

/// One flow at the correspondent node.
#[derive(Clone, Debug)]
pub struct SendingFlow {
    /// Its number.
    pub id: u16,
    /// The TCP.
    pub sender: AnySender<LoggedScheme>,
    /// Recognises in-band notices.
    pub listener: Listener,
    /// Retransmission timer, and opening of the connection.
    pub timer: TimerId,
    /// When the application opens the connection, until it has.
    pub opens: Option<Nanos>,
}

/// The correspondent node: the bulk senders.
#[derive(Clone, Debug)]
pub struct Correspondent {
    /// The flows.
    pub flows: Vec<SendingFlow>,
    /// Where packets leave.
    pub out: LinkId,
    /// Number of the first flow and of the first timer: a host's flows are numbered in a row.
    pub first: (u16, u16),
    /// Facts that an in-band notice does not carry: N and the kind of handoff.
    pub sharing: (u32, bool),
    /// Its timers, where a kernel has them.
    pub wheel: Wheel,
    /// Its flows tell each other here how far they are behind, from the first notice on.
    pub group: Option<Group>,
    /// Sends for all flows once a notice has come, where their scheme has it so.
    pub claim: Option<Box<Claim>>,
}

impl Correspondent {
    /// Flow `index` is about to act, or has acted.
    #[inline]
    fn meet(&mut self, index: usize) {
        if let Some(group) = &mut self.group {
            self.flows[index].sender.advisor().meet(group);
        }
    }

    #[inline]
    fn pump<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        let now = net.now();
        self.meet(index);
        let flow = &mut self.flows[index];
        net.observer.changed(now, flow.id, &mut flow.sender);
        let id = flow.id;
        while let Some(packet) =
            flow.sender.transmit_with(now, |sent| net.packets.insert(Packet::data(id, sent)))
        {
            net.observer.sent(now, &net.packets[packet]);
            net.send(self.out, packet);
        }
        net.observer.changed(now, flow.id, &mut flow.sender);
        net.observer.stands(flow.id, || Standing::of(&flow.sender));
        if let Some(deadline) = flow.sender.deadline() {
            net.arm(flow.timer, deadline);
        }
        self.wheel.note(index, flow.sender.place());
        self.meet(index);
    }

    /// The application of flow `index` has given it so many packets in all.
    pub(crate) fn supply<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize, packets: u32) {
        self.flows[index].sender.open(packets);
        self.pump(net, index);
        self.send_by_claim(net);
    }

    /// A notice reaches flow `index` outside any packet.
    pub fn notify<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize, notice: &Notice) {
        let flow = &mut self.flows[index];
        if !flow.sender.is_established() {
            return;
        }
        let view = flow.sender.view_at(net.now());
        self.advise(net, index, notice, &view, None);
    }

    /// The mobile tells flow `index` of a handoff to come, or that it is over, outside any packet.
    pub fn announce<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize, what: Announcement) {
        let flow = &mut self.flows[index];
        if !flow.sender.is_established() {
            return;
        }
        let now = net.now();
        let view = flow.sender.view_at(now);
        let advice = match what {
            Announcement::Start(start) => flow.sender.advisor().on_start(now, &view, &start),
            Announcement::Finish => flow.sender.advisor().on_finish(&view),
        };
        flow.sender.enact(now, &advice);
        self.pump(net, index);
    }

    /// The schedule of flow `index` has a handoff that begins at `at`.
    pub(crate) fn read_schedule<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        index: usize,
        at: Nanos,
    ) {
        self.flows[index].sender.advisor().on_schedule(at);
        self.pump(net, index);
    }

    /// From now on packets of flow `index` go over a link that is reconfigured by this clock, if it is.
    pub(crate) fn on_link<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        index: usize,
        clock: Option<Clock>,
    ) {
        self.flows[index].sender.advisor().on_link(net.now(), clock);
        self.pump(net, index);
    }

    /// The scheme of flow `index` hears a notice with the sender as `view` shows it.
    fn advise<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        index: usize,
        notice: &Notice,
        view: &View,
        ack: Option<&Segment>,
    ) {
        self.group.get_or_insert_default();
        let (now, flow) = (net.now(), &mut self.flows[index]);
        let advice = flow.sender.advisor().on_notice(view, notice);
        flow.sender.enact(now, &advice);
        let claim = self.claim.take().or_else(|| flow.sender.advisor().scheme().claim().map(Box::new));
        if let Some(mut claim) = claim {
            claim.on_notice(now, index, notice, ack, &mut self.flows);
            self.claim = Some(claim);
        }
        self.pump(net, index);
        self.send_by_claim(net);
    }

    /// Sends what the claim has for now, and sets its timer, which is that of the first flow.
    #[inline]
    fn send_by_claim<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        if let Some(mut claim) = self.claim.take() {
            self.send_slots(net, &mut claim);
            self.claim = Some(claim);
        }
    }

    #[cold]
    fn send_slots<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, claim: &mut Claim) {
        let now = net.now();
        for index in claim.on_time(now, &mut self.flows) {
            let flow = &self.flows[index];
            net.observer.timeout(now, flow.id, flow.sender.snd_una(), flow.sender.head_copy());
        }
        while let Some((index, seq)) = claim.next(now, &self.flows) {
            let flow = &mut self.flows[index];
            let Some(sent) = flow.sender.send(now, seq) else { break };
            let packet = net.packets.insert(Packet::data(flow.id, sent));
            net.observer.sent(now, &net.packets[packet]);
            net.send(self.out, packet);
            net.observer.changed(now, flow.id, &mut flow.sender);
        }
        self.flows.iter().for_each(|flow| net.observer.stands(flow.id, || Standing::of(&flow.sender)));
        if let Some(deadline) = claim.deadline(&self.flows) {
            net.arm(self.flows[0].timer, deadline);
        }
    }

    /// The claim hears an ACK of flow `index`.
    #[cold]
    fn tell_claim<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize, ack: &Segment) {
        if let Some(mut claim) = self.claim.take() {
            claim.on_ack(net.now(), index, ack, &mut self.flows);
            self.send_slots(net, &mut claim);
            self.claim = Some(claim);
        }
    }

    /// An ACK has arrived.
    #[inline(never)] // or its registers would be saved for every packet that comes to a host
    pub(crate) fn on_ack<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        let now = net.now();
        let packet = &net.packets[id];
        if packet.signal().is_some() {
            return self.on_message(net, id);
        }
        net.observer.heard(now, packet);
        let index = usize::from(packet.flow - self.first.0);
        let Some(flow) = self.flows.get_mut(index) else {
            net.packets.remove(id); // of a connection that has ended
            return;
        };
        let before = (flow.sender.snd_una(), flow.sender.counters().fast_retransmits);
        let option = packet.segment.option;
        let told = (!option.is_empty()).then(|| {
            let (flows, disconnected) = self.sharing;
            (flow.sender.view(), flow.listener.listen(option.as_slice(), flows, disconnected))
        });
        // The programs of a kernel answer a notice while its segment is processed.
        let pends = match &told {
            Some((view, Some(News::Notice(notice)))) if flow.sender.is_established() => {
                flow.sender.advisor().pend(view, notice)
            }
            Some((view, Some(News::Expected(notice)))) => {
                flow.sender.advisor().expect(view, notice);
                false
            }
            _ => false,
        };
        if pends {
            self.group.get_or_insert_default();
        }
        if let Some(group) = &mut self.group {
            flow.sender.advisor().meet(group);
        }
        // A claim decides what this ACK lets out, too (near.md 3.2).
        if matches!(told, Some((_, Some(News::Notice(_)))))
            && flow.sender.is_established()
            && (self.claim.is_some() || flow.sender.advisor().scheme().claim().is_some())
        {
            flow.silence(now);
        }
        let claimed = if self.claim.is_some() || told.is_some() { Some(packet.segment) } else { None };
        // The segment that a notice echoes was sent before the break: no round trip of any path (algorithms.md 4.3
        // [C]).
        let stale = matches!(told, Some((_, Some(News::Notice(_)))))
            && !pends
            && !flow.sender.profile().notice_sample;
        let without_echo = stale.then(|| {
            let timestamps = packet.segment.timestamps.map(|stamps| Timestamps { echo: 0, ..stamps });
            Segment { timestamps, ..packet.segment }
        });
        flow.sender.on_segment(now, without_echo.as_ref().unwrap_or(&packet.segment));
        let una = flow.sender.snd_una();
        if una != before.0 {
            net.observer.acknowledged(now, flow.id, una);
        }
        if flow.sender.counters().fast_retransmits != before.1 {
            net.observer.fast_retransmit(now, flow.id, una, flow.sender.head_copy());
        }
        net.packets.remove(id);
        if let Some((_, Some(News::Announcement(what)))) = told {
            return self.announce(net, index, what);
        }
        if let Some((before, Some(News::Notice(notice)))) = told
            && flow.sender.is_established()
            && !pends
        {
            // The ACK that tells of a handoff mostly also acknowledges what came before the break. Whether a timeout
            // preceded it is asked of the time before it (algorithms.md 4.3 [C]).
            let View { timeouts_since_ack, srtt_before, .. } = before;
            let view = View { timeouts_since_ack, srtt_before, ..flow.sender.view() };
            return self.advise(net, index, &notice, &view, claimed.as_ref());
        }
        if let Some(ack) = claimed {
            self.tell_claim(net, index, &ack);
        }
        if pends && self.flows[index].sender.advisor().scheme().asks_icmp() {
            self.try_head(net, index);
        }
        self.pump(net, index);
    }

    /// Flow `index` is told by ICMP to try its head (RFC 6069): as often as its timer has backed off, and once more, which
    /// finds it expired.
    #[cold]
    fn try_head<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        let now = net.now();
        let SendingFlow { id, sender, .. } = &mut self.flows[index];
        let head = (sender.snd_una(), sender.head_copy(), sender.counters().timeouts);
        while sender.counters().timeouts == head.2 && sender.on_unreachable(now, head.0) {}
        if sender.counters().timeouts != head.2 {
            net.observer.timeout(now, *id, head.0, head.1);
        }
    }

    /// The host itself tells its flows by ICMP to try their heads, as an agent does when the link is back.
    pub(crate) fn resume<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        for index in 0..self.flows.len() {
            self.try_head(net, index);
            self.pump(net, index);
        }
    }

    /// Somebody says by ICMP that a packet did not arrive (RFC 6069).
    #[cold]
    fn on_message<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        let now = net.now();
        let packet = &net.packets[id];
        let (signal, flow, seq) = (packet.signal(), packet.flow, packet.segment.seq);
        net.packets.remove(id);
        let index = usize::from(flow - self.first.0);
        let Some(state) = self.flows.get_mut(index) else { return };
        if signal == Some(Signal::Open) {
            return self.supply(net, index, u32::MAX - 1);
        }
        if signal != Some(Signal::Unreachable) {
            return;
        }
        let head = (state.sender.snd_una(), state.sender.head_copy(), state.sender.counters().timeouts);
        let heeded = state.sender.on_unreachable(now, seq);
        net.observer.acted(now, flow, Act::MessageHeard { seq, heeded });
        if state.sender.counters().timeouts != head.2 {
            net.observer.timeout(now, flow, head.0, head.1);
        }
        self.pump(net, index);
    }

    /// A flow's timer has fired.
    pub(crate) fn on_timer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        let now = net.now();
        let index = usize::from(timer.0 - self.first.1);
        let mut expired = false;
        // A flow's timer fires at its deadline or before. If nothing else happens now, no other flow is due, unless a
        // claim has sent for it.
        let is_alone = self.claim.is_none() && net.next_event() != Some(now);
        let only = is_alone.then_some(index);
        for _ in 0..self.flows.len() {
            let flows = &self.flows;
            let first = self.wheel.first(now, only, |index| flows[index].sender.deadline());
            let Some(first) = first else { break };
            self.expire(net, first);
            expired |= first == index;
        }
        if !expired {
            self.expire(net, index);
        }
    }

    /// It is time for what flow `index` waits for.
    fn expire<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        let now = net.now();
        self.meet(index);
        let flow = &mut self.flows[index];
        if flow.opens.is_some_and(|at| at <= now) {
            flow.opens = None;
            flow.sender.open(u32::MAX - 1);
        }
        let head = (flow.sender.snd_una(), flow.sender.head_copy());
        if flow.sender.on_timer(now) {
            net.observer.timeout(now, flow.id, head.0, head.1);
        }
        self.pump(net, index);
        self.send_by_claim(net);
    }
}
