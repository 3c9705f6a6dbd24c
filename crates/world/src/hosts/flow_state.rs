//! A sending flow as one clock for all flows sees it.

use super::SendingFlow;
use segue_handoff::claim::FlowState;
use segue_netsim::Nanos;
use segue_tcp::{Advice, AnySender, Sender};

impl FlowState for SendingFlow {
    fn is_open(&self) -> bool {
        matches!(self.sender, AnySender::Rules(_)) && self.sender.is_established()
    }

    fn snd_una(&self) -> u32 {
        self.sender.snd_una()
    }

    fn snd_max(&self) -> u32 {
        self.sender.snd_max()
    }

    fn sent_at(&self, now: Nanos, seq: u32) -> Nanos {
        self.sender.rules().map_or(now, |sender| sender.sent_at(now, seq))
    }

    fn is_sacked(&self, seq: u32) -> bool {
        self.sender.rules().is_some_and(|sender| sender.is_sacked(seq))
    }

    fn min_rtt(&self) -> Option<Nanos> {
        self.sender.rules().and_then(Sender::min_rtt)
    }

    fn has_new(&self) -> bool {
        self.sender.rules().is_some_and(Sender::has_new)
    }

    fn packet_bytes(&self) -> u32 {
        self.sender.profile().data_bytes()
    }

    fn silence(&mut self, now: Nanos) {
        self.sender.enact(now, &Advice { suspend: true, ..Advice::default() });
    }
}
