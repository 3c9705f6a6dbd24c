//! A receiver without SACK: every duplicate ACK stands for one packet that has arrived somewhere behind the hole.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_reset_reno_sack`,
//! `tcp_limit_reno_sacked`, `tcp_check_reno_reordering`, `tcp_is_non_sack_preventing_reopen`), tcp_recovery.c
//! (`tcp_newreno_mark_lost`); RFC 6582.

use super::queue::LOST;
use super::sack::MAX_REORDERING;
use super::{CaState, LinuxSender};
use crate::advice::Advisor;

impl<A: Advisor> LinuxSender<A> {
    /// More duplicates than packets that can have caused them: reordering (`tcp_check_reno_reordering`).
    fn check_reno_reordering(&mut self, acked: u32) {
        let holes = self.sk.lost_out.max(1).min(self.sk.packets_out);
        if self.sk.sacked_out + holes > self.sk.packets_out {
            self.sk.sacked_out = self.sk.packets_out - holes;
            self.reorder.degree = (self.sk.packets_out + acked).min(MAX_REORDERING);
            self.reorder.seen += 1;
        }
    }

    /// A duplicate ACK has come (`tcp_add_reno_sack`).
    pub(super) fn add_reno_sack(&mut self) {
        let before = self.sk.sacked_out;
        self.sk.sacked_out += 1;
        self.check_reno_reordering(0);
        self.sk.delivered = self.sk.delivered.wrapping_add(self.sk.sacked_out.saturating_sub(before));
    }

    /// `acked` packets are acknowledged: one was the hole, the others sent duplicates (`tcp_remove_reno_sacks`).
    pub(super) fn remove_reno_sacks(&mut self, acked: u32) {
        if acked > 0 {
            let news = acked.saturating_sub(self.sk.sacked_out).max(1);
            self.sk.delivered = self.sk.delivered.wrapping_add(news);
            self.sk.sacked_out = self.sk.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(acked);
    }

    /// The first packet is lost: after so many duplicates, or after a partial ACK (`tcp_newreno_mark_lost`).
    pub(super) fn newreno_mark_lost(&mut self, advanced: bool) {
        let enough = match self.sk.ca_state {
            CaState::Recovery => advanced,
            state => state < CaState::Recovery && self.sk.sacked_out >= self.reorder.degree,
        };
        let head = self.queue.head();
        if enough && !self.queue.get(head).has(LOST) {
            self.queue.cut(head + 1);
            self.mark_lost(head);
        }
    }

    /// The state stays until something above `high_seq` is acknowledged, against false fast retransmits
    /// (`tcp_is_non_sack_preventing_reopen`).
    pub(super) fn prevents_reopen(&mut self) -> bool {
        let prevents = !self.sack_ok && self.sk.snd_una == self.high_seq;
        if prevents && !self.any_retrans_done() {
            self.undo.retrans_stamp = 0;
        }
        prevents
    }
}
