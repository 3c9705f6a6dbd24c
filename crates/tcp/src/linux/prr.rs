//! The cut: how cwnd falls in CWR and Recovery.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`, `tcp_end_cwnd_reduction`);
//! RFC 9937 with the window before the cut in place of RecoverFS.

use super::cc::{CaEvent, CongestionOps, INFINITE_SSTHRESH};
use super::{CaState, LinuxSender, flag};
use crate::advice::Advisor;

/// Packets since the cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Delivered.
    pub delivered: u32,
    /// Sent.
    pub out: u32,
}

impl<A: Advisor> LinuxSender<A> {
    /// `tcp_init_cwnd_reduction`.
    pub(super) fn init_cwnd_reduction(&mut self) {
        self.high_seq = self.sk.snd_nxt;
        self.tlp.high_seq = 0;
        self.sk.snd_cwnd_cnt = 0;
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.prr.delivered = 0;
        self.prr.out = 0;
        self.sk.snd_ssthresh = self.control.ssthresh(&self.sk);
        self.ecn.queue_cwr();
    }

    /// Sets cwnd by what was delivered (`tcp_cwnd_reduction`).
    pub(super) fn cwnd_reduction(&mut self, newly_delivered: u32, newly_lost: u32, flags: u32) {
        if newly_delivered == 0 || self.sk.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.sk.packets_in_flight();
        let delta = i64::from(self.sk.snd_ssthresh) - i64::from(in_flight);
        self.prr.delivered += newly_delivered;
        let (delivered, out) = (i64::from(self.prr.delivered), i64::from(self.prr.out));
        let mut count = if delta < 0 {
            let share = i64::from(self.sk.snd_ssthresh) * delivered;
            let prior = i64::from(self.sk.prior_cwnd);
            (share + prior - 1) / prior - out
        } else {
            let safe = flags & flag::SND_UNA_ADVANCED != 0 && newly_lost == 0;
            (delivered - out).max(newly_delivered.into()).saturating_add(safe.into()).min(delta)
        };
        count = count.max(i64::from(self.prr.out == 0)); // the first retransmission goes out in any case
        self.sk.set_cwnd((i64::from(in_flight) + count).max(1) as u32);
    }

    /// The reduction is over (`tcp_end_cwnd_reduction`).
    pub(super) fn end_cwnd_reduction(&mut self) {
        if self.has_cong_control() || self.advised.holds_window {
            return;
        }
        if self.sk.snd_ssthresh < INFINITE_SSTHRESH
            && (self.sk.ca_state == CaState::Cwr || self.undo.marker.is_some())
        {
            self.sk.set_cwnd(self.sk.snd_ssthresh);
            self.usage.stamp = self.sk.jiffies;
        }
        self.cwnd_event(CaEvent::CompleteCwr);
    }
}
