//! ICMP destination unreachable takes one back-off step back.
//!
//! Source: net/ipv4/tcp_ipv4.c (`tcp_v4_err`, `tcp_ld_RTO_revert`); RFC 6069.

use super::{LinuxSender, Pending};
use crate::Nanos;
use crate::advice::Advisor;

impl<A: Advisor> LinuxSender<A> {
    /// A router or the network has no way to the receiver for packet `seq`, which the ICMP message quotes. Whether that
    /// took a back-off back.
    pub fn on_unreachable(&mut self, now: Nanos, seq: u32) -> bool {
        self.refresh(now);
        let first = seq == self.sk.snd_una && !self.una_octet;
        if !first || self.retries.retransmits == 0 || self.retries.backoff == 0 || self.queue.is_empty() {
            return false;
        }
        self.retries.backoff -= 1;
        let base = match self.sk.srtt_us {
            0 => u64::from(self.clock.hz()),
            _ => self.rtt.base(&self.sk, &self.clock),
        };
        self.rtt.rto = (base << self.retries.backoff).min(self.rtt.rto_max);
        let waited = self.sk.tcp_mstamp.saturating_sub(self.queue.get(self.queue.head()).sent_us());
        match self.rtt.rto.saturating_sub(self.clock.from_us(waited)) {
            0 => self.retransmit_timer(),
            remaining => self.set_timer(Pending::Retrans, remaining),
        }
        self.leave_host();
        true
    }
}
