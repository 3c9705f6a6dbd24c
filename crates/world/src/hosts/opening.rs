//! Connections that begin after a handoff to another address: what ends, and how the mobile opens the next.
//!
//! The mobile sends SYN, the correspondent node SYN-ACK, the mobile ACK and request; then data comes. The bench's senders
//! open by a SYN of their own and have the receiver's answer before they send data. So the mobile's SYN is a message
//! ahead of that exchange, and the exchange stands for SYN-ACK and ACK, in the same directions.

use super::{Correspondent, Mobile, receiving_flow, sending_flow};
use crate::host_observer::HostObserver;
use crate::packet::{Packet, Signal};
use crate::wheel::Wheel;
use segue_handoff::{Link, Scheme};
use segue_netsim::{Nanos, Net, SECOND};
use segue_tcp::StackProfile;

/// RTO of a SYN before any round trip is known (RFC 6298, 2.1).
const FIRST_RTO: Nanos = SECOND;
/// And at most (RFC 6298, 2.5).
const MAX_RTO: Nanos = 60 * SECOND;

/// A SYN of the mobile that has no answer.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    sent: Nanos,
    rto: Nanos,
}

impl Opening {
    /// When it is sent again.
    pub(super) fn due(&self) -> Nanos {
        self.sent + self.rto
    }

    /// Whether it is sent again at `now`; the timer then backs off.
    pub(super) fn expires(&mut self, now: Nanos) -> bool {
        let expires = self.due() <= now;
        if expires {
            *self = Self { sent: now, rto: (2 * self.rto).min(MAX_RTO) };
        }
        expires
    }
}

impl Correspondent {
    /// By flow: whether its SYN has left and has no answer. On the bench the sender's stands for the mobile's own.
    pub fn connecting(&self) -> Vec<bool> {
        let connects = |flow: &super::SendingFlow| {
            let view = flow.sender.view();
            view.snd_una == 0 && view.transmissions > 0
        };
        self.flows.iter().map(connects).collect()
    }

    /// Its connections have ended, and others take their places, which the mobile opens. `phases`: of their clocks.
    pub(crate) fn begin_anew(&mut self, stack: &StackProfile, phases: impl Iterator<Item = Nanos>) {
        for (flow, phase) in self.flows.iter_mut().zip(phases) {
            let logs = flow.sender.advisor().keeps_log();
            let plain = Scheme::Regular(segue_handoff::regular::Regular);
            *flow = sending_flow(flow.id, stack, phase, 0, flow.timer, plain);
            flow.opens = None;
            if logs {
                flow.sender.advisor().keep_log();
            }
        }
        (self.wheel, self.claim) = (Wheel::default(), None);
    }
}

impl Mobile {
    /// Its connections have ended; it opens others, whose first report names `link`.
    pub(crate) fn begin_anew<O: HostObserver>(
        &mut self,
        net: &mut Net<Packet, O>,
        stack: &StackProfile,
        link: Link,
    ) {
        self.wheel = Wheel::default();
        for index in 0..self.flows.len() {
            let id = self.first.0 + index as u16;
            let opening = Some(Opening { sent: net.now(), rto: FIRST_RTO });
            let timer = self.flows[index].timer;
            self.flows[index] = super::ReceivingFlow { opening, ..receiving_flow(id, stack, timer, link) };
            self.open(net, index);
            self.pump(net, id);
        }
    }

    /// Sends the SYN of a flow.
    pub(super) fn open<O: HostObserver>(&mut self, net: &mut Net<Packet, O>, index: usize) {
        net.originate(self.out, Packet::of_signal(self.first.0 + index as u16, Signal::Open, 0));
    }
}
