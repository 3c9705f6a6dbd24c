//! A sending flow as one clock for all flows sees it.

use super::SendingFlow;
use segue_handoff::claim::FlowState;
use segue_netsim::Nanos;
use segue_tcp::{Advice, AnySender};

impl FlowState for SendingFlow {
    fn is_open(&self) -> bool {
        self.sender.is_established()
    }

    fn snd_una(&self) -> u32 {
        self.sender.snd_una()
    }

    fn snd_max(&self) -> u32 {
        self.sender.snd_max()
    }

    fn sent_at(&self, now: Nanos, seq: u32) -> Nanos {
        self.sender.sent_at(now, seq)
    }

    fn is_sacked(&self, seq: u32) -> bool {
        self.sender.is_sacked(seq)
    }

    fn min_rtt(&self) -> Option<Nanos> {
        self.sender.min_rtt()
    }

    fn has_new(&self) -> bool {
        self.sender.has_new()
    }

    fn has_timestamps(&self) -> bool {
        matches!(self.sender, AnySender::Linux(_))
    }

    fn packet_bytes(&self) -> u32 {
        self.sender.profile().data_bytes()
    }

    fn silence(&mut self, now: Nanos) {
        self.sender.enact(now, &Advice { suspend: true, ..Advice::default() });
    }

    fn goes_on(&mut self, now: Nanos, packets: u32, packet: Nanos, rtt: Nanos) -> bool {
        match &mut self.sender {
            AnySender::Rules(_) => false,
            AnySender::Linux(tcp) => {
                tcp.goes_on(now, packets, packet, rtt);
                true
            }
        }
    }

    fn window(&self) -> u32 {
        self.sender.window()
    }

    fn packets_per_second(&self) -> Option<u64> {
        match &self.sender {
            AnySender::Rules(_) => None,
            AnySender::Linux(tcp) => tcp.packets_per_second(),
        }
    }

    fn reduces(&self) -> bool {
        matches!(&self.sender, AnySender::Linux(tcp) if tcp.reduces())
    }

    fn loses_one(&mut self, now: Nanos) {
        if let AnySender::Linux(tcp) = &mut self.sender {
            tcp.loses_one(now);
        }
    }

    fn loses_all(&mut self, now: Nanos) {
        if let AnySender::Linux(tcp) = &mut self.sender {
            tcp.loses_all(now);
        }
    }
}
