//! Hosts: the correspondent node with its senders, and the mobile with its receivers.

mod alone;
mod correspondent;
mod first_report;
mod flow;
mod flow_state;
mod opening;
mod pending;

pub use alone::{Also, Arrived};
pub use correspondent::{Correspondent, SendingFlow};
pub use flow::{receiving_flow, sending_flow};
pub use opening::Opening;
pub use pending::Copies;

use crate::host_observer::HostObserver;
use crate::packet::{Packet, Signal};
use crate::wheel::Wheel;
use segue_handoff::{Act, Announcement, Announcer, Encoding, Phas};
use segue_netsim::{LinkId, Nanos, Net, PacketId, TimerId};
use segue_tcp::AnyReceiver;
use segue_tcp::receiver::Arrival;
use segue_tcp::segment::CarriedOption;

/// One flow at the mobile node.
#[derive(Clone, Debug)]
pub struct ReceivingFlow {
    /// The TCP.
    pub receiver: AnyReceiver,
    /// Delayed ACK.
    pub timer: TimerId,
    /// Makes notices.
    pub announcer: Announcer,
    /// The first report, as long as it may not have arrived.
    pub first_report: Option<first_report::FirstReport>,
    /// A notice for which it is not yet this flow's turn.
    pending: Option<pending::Pending>,
    /// Opens the connection, where the mobile has to.
    pub opening: Option<Opening>,
    /// Suppresses ACKs of what routers forwarded, where a scheme has it so.
    pub phas: Option<Phas>,
    /// State that it needs to help a sender that knows nothing.
    memory: alone::Memory,
}

/// The mobile node: the receivers.
#[derive(Clone, Debug)]
pub struct Mobile {
    /// The flows, by number.
    pub flows: Vec<ReceivingFlow>,
    /// Where ACKs leave at present.
    pub out: LinkId,
    /// Number of the first flow and of the first timer: a host's flows are numbered in a row.
    pub first: (u16, u16),
    /// Its timers, where a kernel has them.
    pub wheel: Wheel,
    /// Helps senders that know nothing, where a scheme has it so.
    helper: Option<Box<alone::Helper>>,
    /// Stamps that were first echoed before this are not echoed.
    stale: Nanos,
    /// Further receivers of the same device, whose flows and timers have higher numbers.
    pub beside: Option<Box<Mobile>>,
}

impl Mobile {
    /// A mobile with these flows, at least one, whose ACKs leave by `out`.
    pub fn new(first: (u16, u16), flows: Vec<ReceivingFlow>, out: LinkId) -> Self {
        Self { flows, out, first, wheel: Wheel::default(), helper: None, stale: 0, beside: None }
    }

    #[inline(never)]
    fn pump<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, flow: u16) {
        self.pump_here(net, flow);
    }

    #[inline(always)] // in the one function that every data packet comes to
    fn pump_here<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, flow: u16) {
        let index = usize::from(flow - self.first.0);
        if self.flows[index].receiver.may_transmit() {
            self.acknowledge(net, index);
        }
        let state = &mut self.flows[index];
        if let Some(deadline) = state.receiver.deadline() {
            net.arm(state.timer, deadline);
        }
        if let Some(at) = state.pending.as_ref().and_then(pending::Pending::due) {
            net.arm(state.timer, at);
        }
        if let Some(opening) = &state.opening {
            net.arm(state.timer, opening.due());
        }
        self.wheel.note(index, state.receiver.place());
        self.after_ack(net, index);
    }

    /// Sends the ACKs that are due.
    #[inline(never)] // not every data packet calls for one
    fn acknowledge<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        let flow = self.first.0 + index as u16;
        let state = &mut self.flows[index];
        if state.first_report.is_some() || state.pending.is_some() || state.phas.is_some() {
            return self.acknowledge_otherwise(net, index);
        }
        let (now, stale) = (net.now(), self.stale);
        let ReceivingFlow { receiver, memory, .. } = state;
        while let Some(packet) = receiver.transmit_with(|ack| {
            if memory.acknowledges(now, &ack.0, stale) {
                net.observer.acted(now, flow, Act::NotEchoed { ack: ack.0.ack });
                return alone::put_unechoed(&mut net.packets, flow, ack);
            }
            net.packets.insert(Packet::ack(flow, ack))
        }) {
            net.observer.sent(now, &net.packets[packet]);
            net.send(self.out, packet);
        }
    }

    /// The same where something rides on ACKs, or filters them.
    #[cold]
    #[inline(never)]
    fn acknowledge_otherwise<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        let flow = self.first.0 + index as u16;
        let state = &mut self.flows[index];
        while let Some(mut ack) = state.receiver.poll_transmit() {
            if state.first_report.is_some() {
                ack = state.count_ack(ack);
            }
            if let Some(pending) = &mut state.pending {
                ack = pending.on_own_ack(&state.receiver, ack);
            }
            if state.phas.as_mut().is_none_or(|filter| filter.on_ack(ack.0.ack)) {
                if state.memory.acknowledges(net.now(), &ack.0, self.stale) {
                    ack.0 = alone::unechoed(ack.0);
                    net.observer.acted(net.now(), flow, Act::NotEchoed { ack: ack.0.ack });
                }
                let packet = net.packets.insert(Packet::ack(flow, ack));
                net.observer.sent(net.now(), &net.packets[packet]);
                net.send(self.out, packet);
            }
        }
    }

    /// A data packet has arrived.
    #[inline(never)] // or its registers would be saved for every packet that comes to a host
    pub(crate) fn on_data<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, link: LinkId, id: PacketId) {
        let now = net.now();
        let packet = &net.packets[id];
        if packet.signal().is_some() {
            return self.on_signal(net, id);
        }
        net.observer.heard(now, packet);
        self.receive(net, link, id);
    }

    /// The same once it has been heard of.
    #[inline(always)] // on the path of every packet
    fn receive<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, link: LinkId, id: PacketId) {
        let (now, packet) = (net.now(), &net.packets[id]);
        let flow = packet.flow;
        let index = usize::from(flow - self.first.0);
        let Some(state) = self.flows.get_mut(index) else {
            return self.receive_beside(net, link, id);
        };
        state.opening = None;
        state.memory.hears(now);
        if let Some(helper) = &mut self.helper {
            helper.on_data(link, index);
        }
        if let Some(filter) = &mut state.phas {
            filter.on_packet(packet.forwarded);
        }
        let bare_ack = packet.is_bare_ack(state.receiver.rcv_nxt());
        if state.first_report.is_some() {
            state.hear_answer(&packet.segment);
        }
        let arrival = state.receiver.on_segment(now, &packet.segment);
        match bare_ack {
            true => net.observer.bare_ack(now, link, packet),
            // A window probe brings nothing.
            false => net.observer.arrived(now, link, packet, arrival.unwrap_or(Arrival::Duplicate)),
        }
        net.packets.remove(id);
        self.pump_here(net, flow);
    }

    /// A data packet for further receivers, or of a connection that has ended.
    #[inline(never)]
    fn receive_beside<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, link: LinkId, id: PacketId) {
        let flow = net.packets[id].flow;
        match self.beside.as_deref_mut().filter(|beside| beside.first.0 <= flow) {
            Some(beside) => {
                let index = self.flows.len() + usize::from(flow - beside.first.0);
                if let Some(helper) = &mut self.helper {
                    helper.on_data(link, index);
                }
                beside.receive(net, link, id);
                self.after_ack(net, index);
            }
            None => net.packets.remove(id),
        }
    }

    /// A message of a router has come: what was held for a flow has all been sent.
    fn on_signal<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, id: PacketId) {
        let packet = &net.packets[id];
        let (flow, signal) = (packet.flow, packet.signal());
        if let Some(beside) = self.beside.as_deref_mut().filter(|beside| beside.first.0 <= flow) {
            return beside.on_signal(net, id);
        }
        net.packets.remove(id);
        let index = usize::from(flow - self.first.0);
        let (Some(Signal::EndOfForwarding), Some(state)) = (signal, self.flows.get_mut(index)) else {
            return;
        };
        for _ in 0..state.phas.as_mut().map_or(0, Phas::on_end) {
            self.flows[index].receiver.announce_window(net.now());
            self.pump(net, flow);
        }
    }

    /// Has every flow's ACKs filtered from now on (algorithms.md, 6.2).
    pub fn filter_acks(&mut self, extra_dup: bool) {
        for flow in &mut self.flows {
            flow.phas = Some(Phas::new(extra_dup, flow.receiver.last_ack()));
        }
        if let Some(beside) = &mut self.beside {
            beside.filter_acks(extra_dup);
        }
    }

    /// Asks for what routers hold (algorithms.md, 6.1).
    pub fn request_forwarding<O: HostObserver>(&mut self, net: &mut Net<Packet, O>) {
        net.originate(self.out, Packet::of_signal(self.first.0, Signal::ForwardingRequest, 0));
    }

    /// A flow's delayed ACK is due.
    pub(crate) fn on_timer<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, timer: TimerId) {
        if self.helps_by(timer) {
            return self.act(net);
        }
        if let Some(beside) = self.beside.as_deref_mut().filter(|beside| beside.first.1 <= timer.0) {
            return beside.on_timer(net, timer);
        }
        let (now, index) = (net.now(), timer.0 - self.first.1);
        let mut expired = false;
        // As with senders.
        let only = (net.next_event() != Some(now)).then_some(usize::from(index));
        for _ in 0..self.flows.len() {
            let flows = &self.flows;
            let first = self.wheel.first(now, only, |index| flows[index].receiver.deadline());
            let Some(first) = first else { break };
            self.expire(net, first as u16);
            expired |= first == usize::from(index);
        }
        if !expired {
            self.expire(net, index);
        }
    }

    /// It is time for what flow `index` waits for.
    fn expire<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: u16) {
        let (now, state) = (net.now(), &mut self.flows[usize::from(index)]);
        state.receiver.on_timer(now);
        if state.opening.as_mut().is_some_and(|opening| opening.expires(now)) {
            self.open(net, index.into());
        }
        let state = &mut self.flows[usize::from(index)];
        if let Some(pending) = state.pending.take_if(|pending| pending.due().is_some_and(|at| at <= now)) {
            self.take_turn(net, index.into(), pending);
        }
        self.pump(net, self.first.0 + index);
    }

    /// Advertises `window` packets to every sender by `copies` pure ACKs of each flow.
    pub fn advertise<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, window: u32, copies: u32) {
        for index in 0..self.flows.len() {
            self.flows[index].receiver.set_window(window);
            for _ in 0..copies {
                self.flows[index].receiver.announce_window(net.now());
                self.pump(net, self.first.0 + index as u16);
            }
        }
        if let Some(beside) = &mut self.beside {
            beside.advertise(net, window, copies);
        }
    }

    /// An outage is over: from now on no ACK of the device echoes a stamp from before it (mobile.md 1.1).
    pub(crate) fn withhold_stamps(&mut self, now: Nanos) {
        self.stale = now;
        if let Some(beside) = &mut self.beside {
            beside.stale = now;
        }
    }

    /// Sends `copies` pure ACKs of each flow that tell of a handoff to come, or that it is over.
    pub fn foretell<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        what: Announcement,
        encoding: Encoding,
        copies: u32,
    ) {
        for flow in 0..self.flows.len() {
            self.tell(net, flow, copies, |announcer| announcer.announce(what, encoding));
        }
    }

    /// Sends `copies` pure ACKs of a flow with what its announcer says. A flow whose SYN has not come has nothing to
    /// acknowledge, and nobody to report to.
    fn tell<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        flow: usize,
        copies: u32,
        says: impl FnOnce(&mut Announcer) -> CarriedOption,
    ) {
        let state = &mut self.flows[flow];
        if state.receiver.rcv_nxt() == 0 {
            return;
        }
        let (now, number) = (net.now(), self.first.0 + flow as u16);
        let option = says(&mut state.announcer);
        for _ in 0..copies {
            let mut ack = state.receiver.notify(now, option);
            if state.memory.acknowledges(now, &ack.0, self.stale) {
                // Blocks of before the outage would have the sender undo its timeouts (mobile.md 1.1).
                ack = state.receiver.as_crafted(&ack.0);
                net.observer.acted(now, number, Act::NotEchoed { ack: ack.0.ack });
            }
            let packet = Packet::ack(number, ack);
            net.observer.sent(now, &packet);
            net.originate(self.out, packet);
        }
    }
}
