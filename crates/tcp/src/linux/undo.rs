//! Undo: a cut that time stamps or D-SACKs show to have been needless is taken back.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_init_undo`, `tcp_may_undo`, `tcp_packet_delayed`, `tcp_undo_cwnd_reduction`,
//! `tcp_try_undo_recovery`, `_dsack`, `_loss`, `_partial`); RFC 3522, RFC 3708.

use super::cc::CongestionOps;
use super::queue::LOST;
use super::rack::RECOVERY_THRESH;
use super::{CaState, LinuxSender};
use crate::advice::Advisor;

/// State from before the cut, for an undo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// `snd_una` then; `None`: there is nothing to undo.
    pub marker: Option<u32>,
    /// Retransmissions that no D-SACK has reported; -1: there was none.
    pub retrans: i32,
    /// ssthresh before it; 0 = it stays.
    pub prior_ssthresh: u32,
    /// Time stamp of the first retransmission of an episode, ms; 0 = none.
    pub retrans_stamp: u32,
}

impl Default for Undo {
    fn default() -> Self {
        Self { marker: None, retrans: -1, prior_ssthresh: 0, retrans_stamp: 0 }
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// `tcp_init_undo`.
    pub(super) fn init_undo(&mut self) {
        self.undo.marker = Some(self.sk.snd_una);
        self.undo.retrans = self.sk.retrans_out as i32;
        if self.tlp.high_seq != 0 && self.tlp.retrans {
            self.undo.retrans += 1;
        }
        if self.undo.retrans == 0 {
            self.undo.retrans = -1; // 0 would mean "all were needless"
        }
    }

    /// The ACK echoes a time before the first retransmission, or there was none (`tcp_packet_delayed`).
    fn packet_delayed(&self) -> bool {
        if self.undo.retrans_stamp != 0 {
            return self.stamps.echo_before(self.undo.retrans_stamp);
        }
        self.established && (self.sack_ok || self.sk.snd_una < self.high_seq)
    }

    /// `tcp_may_undo`.
    fn may_undo(&self) -> bool {
        self.undo.marker.is_some() && (self.undo.retrans == 0 || self.packet_delayed())
    }

    /// `tcp_undo_cwnd_reduction`.
    pub(super) fn undo_cwnd_reduction(&mut self, unmark_loss: bool) {
        if unmark_loss {
            if self.sk.lost_out > 0 {
                for seq in self.queue.head()..self.queue.end() {
                    self.queue.get_mut(seq).flags &= !LOST;
                }
                self.queue.reopen();
            }
            self.sk.lost_out = 0;
            self.recount_elsewhere();
            self.retransmit_hint = None;
        }
        if self.undo.prior_ssthresh > 0 {
            let mut cwnd = self.control.undo_cwnd(&self.sk);
            if self.advisor.watching() {
                let view = self.view();
                cwnd = self.advisor.on_undo(&view, cwnd);
                self.heed_rto_bound();
            }
            self.sk.set_cwnd(cwnd);
            if self.undo.prior_ssthresh > self.sk.snd_ssthresh {
                self.sk.snd_ssthresh = self.undo.prior_ssthresh;
                self.ecn.withdraw_cwr();
            }
        }
        self.usage.stamp = self.sk.jiffies;
        self.undo.marker = None;
        self.rack.advanced = true; // losses are searched for anew
        self.counters.undos += 1;
    }

    /// At the end of a recovery (`tcp_try_undo_recovery`): whether the state stays nevertheless.
    pub(super) fn try_undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_cwnd_reduction(false);
        } else {
            self.rack.reo_wnd_persist = self.rack.reo_wnd_persist.saturating_sub(1);
        }
        if self.prevents_reopen() {
            return true;
        }
        self.set_ca_state(CaState::Open);
        self.is_sack_reneg = false;
        false
    }

    /// D-SACKs have reported all retransmissions (`tcp_try_undo_dsack`).
    pub(super) fn try_undo_dsack(&mut self) -> bool {
        if self.undo.marker.is_none() || self.undo.retrans != 0 {
            return false;
        }
        self.rack.reo_wnd_persist = (self.rack.reo_wnd_persist + 1).min(RECOVERY_THRESH);
        self.undo_cwnd_reduction(false);
        true
    }

    /// In Loss (`tcp_try_undo_loss`).
    pub(super) fn try_undo_loss(&mut self, frto_undo: bool) -> bool {
        if !frto_undo && !self.may_undo() {
            return false;
        }
        self.undo_cwnd_reduction(true);
        self.retries.retransmits = 0;
        if !self.prevents_reopen() && (frto_undo || self.sack_ok) {
            self.set_ca_state(CaState::Open);
            self.is_sack_reneg = false;
        }
        true
    }

    /// A partial ACK in Recovery (`tcp_try_undo_partial`): whether to leave everything else for now.
    pub(super) fn try_undo_partial(&mut self, prior_una: u32) -> bool {
        if self.undo.marker.is_none() || !self.packet_delayed() {
            return false;
        }
        // The hole was filled by a late packet, not by the retransmission.
        self.check_reordering(prior_una);
        if self.sk.retrans_out > 0 {
            return true;
        }
        if !self.any_retrans_done() {
            self.undo.retrans_stamp = 0;
        }
        self.undo_cwnd_reduction(true);
        self.try_keep_open();
        false
    }
}
