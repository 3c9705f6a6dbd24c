//! Explicit congestion notification at the receiver (RFC 3168, 6.1.3): marks are echoed until the sender has cut.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_ecn_create_request`, `tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`), tcp_output.c
//! (`tcp_ecn_make_synack`, `tcp_ecn_send`).

use super::LinuxReceiver;
use crate::segment::{Ecn, Segment};

/// ACKs that are sent at once for a mark: the sender's window may be small.
const QUICK: u32 = 2;

/// A receiver's part (`ecn_flags`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// Takes up an offer (`tcp_ecn`).
    takes_up: bool,
    /// Both ends understand marks (`TCP_ECN_OK`).
    ok: bool,
    /// Data that can be marked have come (`TCP_ECN_SEEN`).
    seen: bool,
    /// Every ACK echoes a mark (`TCP_ECN_DEMAND_CWR`).
    demand_cwr: bool,
}

impl EcnState {
    /// A receiver that takes up offers, or does not.
    pub(super) fn new(takes_up: bool) -> Self {
        Self { takes_up, ..Self::default() }
    }

    /// The SYN has come (`tcp_ecn_create_request`).
    pub(super) fn on_syn(&mut self, said: Ecn) {
        self.ok = self.takes_up && said.says(Ecn::ECE.and(Ecn::CWR)) && !said.says(Ecn::ECT);
    }

    /// The words of an ACK, or of the SYN/ACK.
    pub(super) fn says(&self, syn: bool) -> Ecn {
        let echoes = if syn { self.ok } else { self.demand_cwr };
        if echoes { Ecn::ECE } else { Ecn::default() }
    }
}

impl LinuxReceiver {
    /// The sender has cut its window (`tcp_ecn_accept_cwr`).
    pub(super) fn accept_cwr(&mut self, segment: &Segment) {
        if segment.ecn.says(Ecn::CWR) {
            self.ecn.demand_cwr = false;
            // Its window may be one packet.
            self.ack.now = true;
        }
    }

    /// Whether data are marked (`tcp_ecn_check_ce`).
    pub(super) fn check_ce(&mut self, said: Ecn) {
        if !self.ecn.ok {
            return;
        }
        if said.says(Ecn::CE) {
            if !self.ecn.demand_cwr {
                self.enter_quickack_mode(QUICK);
                self.ecn.demand_cwr = true;
            }
            self.ecn.seen = true;
        } else if said.says(Ecn::ECT) {
            self.ecn.seen = true;
        } else if self.ecn.seen {
            // Not to be marked after some that were: it is probably sent again.
            self.enter_quickack_mode(QUICK);
        }
    }
}
