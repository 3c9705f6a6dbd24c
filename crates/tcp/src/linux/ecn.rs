//! Explicit congestion notification at the sender (RFC 3168): who understands marks, and the cut for them.
//!
//! Source: net/ipv4/tcp_output.c (`tcp_ecn_send_syn`, `tcp_ecn_clear_syn`, `tcp_ecn_send`), tcp_input.c
//! (`tcp_ecn_rcv_synack`, `tcp_ecn_rcv_ecn_echo`, `tcp_ecn_queue_cwr`, `tcp_ecn_withdraw_cwr`, `tcp_enter_cwr`).

use super::{CaState, LinuxSender};
use crate::advice::Advisor;
use crate::segment::{Ecn, Segment};

/// A sender's part (`ecn_flags`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// Both ends understand marks (`TCP_ECN_OK`); before the SYN/ACK: this one does.
    ok: bool,
    /// The next new data say that the window has been cut (`TCP_ECN_QUEUE_CWR`).
    queue_cwr: bool,
}

impl EcnState {
    /// A sender that offers to understand marks, or does not.
    pub(super) fn new(offers: bool) -> Self {
        Self { ok: offers, queue_cwr: false }
    }

    /// The words of the SYN: nothing once it has not been answered (`tcp_ecn_clear_syn`).
    fn of_syn(self, retransmission: bool) -> Ecn {
        if self.ok && !retransmission { Ecn::ECE.and(Ecn::CWR) } else { Ecn::default() }
    }

    /// The words of data (`tcp_ecn_send`): those that are sent again are not to be marked.
    fn of_data(&mut self, retransmission: bool) -> Ecn {
        if !self.ok || retransmission {
            return Ecn::default();
        }
        if std::mem::take(&mut self.queue_cwr) { Ecn::ECT.and(Ecn::CWR) } else { Ecn::ECT }
    }

    /// The window has been cut (`tcp_ecn_queue_cwr`).
    pub(super) fn queue_cwr(&mut self) {
        self.queue_cwr = self.ok;
    }

    /// The cut has been taken back (`tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw_cwr(&mut self) {
        self.queue_cwr = false;
    }

    /// The SYN/ACK answers the offer (`tcp_ecn_rcv_synack`).
    pub(super) fn on_syn_ack(&mut self, said: Ecn) {
        self.ok &= said.says(Ecn::ECE) && !said.says(Ecn::CWR);
    }

    /// Whether an ACK echoes a mark (`tcp_ecn_rcv_ecn_echo`).
    #[inline]
    pub(super) fn echoes(self, segment: &Segment) -> bool {
        self.ok && segment.ecn.says(Ecn::ECE) && !segment.syn
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// The words of a packet that goes out now.
    pub(super) fn ecn_of(&mut self, seq: u32, retransmission: bool) -> Ecn {
        if seq == 0 { self.ecn.of_syn(retransmission) } else { self.ecn.of_data(retransmission) }
    }

    /// A mark has come back: one cut a window, as for a loss (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self) {
        self.undo.prior_ssthresh = 0;
        if self.sk.ca_state < CaState::Cwr {
            let advice = self.ask(|advisor, view| advisor.on_mark(view));
            self.undo.marker = None;
            self.init_cwnd_reduction();
            if let Some(advice) = advice {
                self.take(&advice);
            }
            self.set_ca_state(CaState::Cwr);
        }
    }
}
