//! Notices of a completed handoff that are told at a pace: who is told when, and what flows do whose turn has not come.
//! As the agent does it (docs/internals/agent.md, "Recipients and times of notices").

use super::first_report::FirstReport;
use super::{HostObserver, Mobile, ReceivingFlow};
use crate::packet::Packet;
use segue_handoff::{Link, Pace};
use segue_netsim::{LinkId, Nanos, Net, SECOND};
use segue_tcp::AnyReceiver;
use segue_tcp::segment::{CarriedOption, Segment};

/// So long after the handoff the agent stops to send ACKs for a notice (its `limit`, unless set).
const LIMIT: Nanos = SECOND;

/// The ACKs of each flow that carry a notice.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    /// So many take the link in use.
    pub number: u32,
    /// One more takes this uplink, if there is one: that of the link before.
    pub also: Option<LinkId>,
}

impl From<u32> for Copies {
    fn from(number: u32) -> Self {
        Self { number, also: None }
    }
}

/// A flow's notice until its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The turn; none: only the flow's own ACKs carry the notice.
    turn: Option<Nanos>,
    /// The link that it tells of.
    link: Link,
    pub(super) option: CarriedOption,
    /// ACKs for it when the turn comes; 0: it has been.
    pub(super) copies: u32,
    /// One more takes this uplink.
    also: Option<LinkId>,
    /// The flow's own ACKs that still carry it.
    marked: u32,
    /// So many of them carry it after the turn.
    again: u32,
    /// A first report without an answer. An ACK before these carries it.
    ahead: Option<CarriedOption>,
}

impl Pending {
    pub(super) fn due(&self) -> Option<Nanos> {
        self.turn
    }

    /// An ACK that the flow sends anyway, and the bytes that links charge for it. SACK blocks go before.
    pub(super) fn on_own_ack(&mut self, receiver: &AnyReceiver, ack: (Segment, u32)) -> (Segment, u32) {
        if self.marked == 0 || ack.0.syn {
            return ack;
        }
        let Some(with) = receiver.beside(&ack.0, self.ahead.unwrap_or(self.option)) else { return ack };
        self.marked -= u32::from(self.ahead.take().is_none());
        with
    }
}

impl Mobile {
    /// Announces a handoff to `link` over the link in use, at `pace` or to all flows at once. Each flow that is established
    /// has `copies` pure ACKs for it. At a pace its own ACKs carry it, too, until its turn.
    pub fn expect<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        link: Link,
        copies: u32,
        pace: Option<Pace>,
    ) {
        let now = net.now();
        for (flow, turn) in turns(pace, self.flows.len(), now).into_iter().enumerate() {
            let state = &mut self.flows[flow];
            if state.receiver.rcv_nxt() == 0 || state.pending.is_some() {
                continue;
            }
            let option = state.announcer.expected(link);
            let pending =
                Pending { turn, link, option, copies, also: None, marked: copies, again: 0, ahead: None };
            self.wait_or_tell(net, flow, pending);
        }
    }

    /// Tells a flow's notice if it is its turn.
    fn wait_or_tell<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, flow: usize, pending: Pending) {
        if pending.turn == Some(net.now()) {
            return self.take_turn(net, flow, pending);
        }
        let state = &mut self.flows[flow];
        if let Some(at) = pending.turn {
            net.arm(state.timer, at);
        }
        state.pending = Some(pending);
    }

    /// Reports a completed handoff to `link` by `copies` pure ACKs of each flow: at `pace`, or of all at once. At a pace a
    /// flow's own ACKs carry the notice, too: as many until its turn, and as many after it. As with the agent, first
    /// reports without an answer go ahead then. `connecting`: flows whose SYN has left.
    pub fn announce<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        link: Link,
        copies: impl Into<Copies>,
        pace: Option<Pace>,
        connecting: &[bool],
    ) {
        let now = net.now();
        let Copies { number: copies, also } = copies.into();
        let paced = pace.is_some();
        let again = if paced { copies } else { 0 };
        let turns = turns(pace, self.flows.len(), now);
        for (flow, turn) in turns.into_iter().enumerate() {
            let state = &mut self.flows[flow];
            let ahead = state.unheard_report().filter(|_| paced);
            if state.receiver.rcv_nxt() == 0 {
                let is_connecting = connecting.get(flow).copied().unwrap_or_default();
                state.await_connection(link, ahead, copies, is_connecting);
                continue;
            }
            state.first_report = None;
            if ahead.is_some() {
                state.receiver.carry(CarriedOption::default());
            }
            let option = state.announcer.completed(link);
            // Over the old link it might overtake the first report.
            let also = also.filter(|_| ahead.is_none());
            self.wait_or_tell(
                net,
                flow,
                Pending { turn, link, option, copies, also, marked: copies, again, ahead },
            );
        }
    }

    /// Tells a flow's notice. The first report takes the place of the first copy, as the sender would ignore the notice
    /// without it. Nobody knows what of it arrives, so the flow's own ACKs carry all again.
    pub(super) fn take_turn<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        flow: usize,
        pending: Pending,
    ) {
        let mut copies = pending.copies;
        if let Some(first) = pending.ahead.filter(|_| copies > 0) {
            self.tell(net, flow, 1, |_| first);
            copies = (copies - 1).max(1);
        }
        self.tell(net, flow, copies, |_| pending.option);
        if let Some(old) = pending.also {
            let new = std::mem::replace(&mut self.out, old);
            self.tell(net, flow, 1, |_| pending.option);
            self.out = new;
        }
        if pending.again > 0 {
            self.flows[flow].pending =
                Some(Pending { turn: None, copies: 0, marked: pending.again, ..pending });
        }
    }
}

impl ReceivingFlow {
    /// Forgets a notice that waits. If the sender may know no link, a report goes ahead of the next notice. It is the first
    /// report, or tells the link of the notice that has not left.
    fn unheard_report(&mut self) -> Option<CarriedOption> {
        let unsent = self.pending.take().filter(|pending| pending.copies > 0 && pending.ahead.is_some());
        match unsent {
            Some(pending) => Some(self.announcer.first_report(pending.link)),
            None => self.first_report.map(FirstReport::option),
        }
    }

    /// A handoff to `link` completes before the SYN has come. A flow that is connecting was one of the old link: `ahead`, if
    /// it is to tell, is the report of that. The notice follows on its next `own` ACKs. Any other flow opens over `link`.
    fn await_connection(&mut self, link: Link, ahead: Option<CarriedOption>, own: u32, is_connecting: bool) {
        if !is_connecting {
            self.first_report = Some(FirstReport::new(self.announcer.first_report(link)));
        } else if ahead.is_some() && own > 0 {
            self.first_report = None;
            let option = self.announcer.completed(link);
            self.pending = Some(Pending {
                turn: None,
                link,
                option,
                copies: own,
                also: None,
                marked: own,
                again: 0,
                ahead,
            });
        }
    }
}

/// When each flow's turn is; none beyond [`LIMIT`].
fn turns(pace: Option<Pace>, flows: usize, now: Nanos) -> Vec<Option<Nanos>> {
    let Some(pace) = pace else { return vec![Some(now); flows] };
    let mut turns = Vec::with_capacity(flows);
    let mut at = now;
    for (budget, tick) in pace {
        if turns.len() >= flows || at >= now + LIMIT {
            break;
        }
        turns.extend(std::iter::repeat_n(Some(at), (budget as usize).min(flows - turns.len())));
        at += tick;
    }
    turns.resize(flows, None);
    turns
}
