//! The Loss state: what an expiry marks and cuts, F-RTO, and the ACKs after it.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_enter_loss`, `tcp_timeout_mark_lost`, `tcp_process_loss`); RFC 5682, SACK
//! variant, with full undo in response.

use super::cc::{CaEvent, CongestionOps};
use super::queue::SACKED;
use super::{CaState, LinuxSender, REORDERING, Rexmit, flag};
use crate::advice::Advisor;

impl<A: Advisor> LinuxSender<A> {
    /// `tcp_timeout_mark_lost`: the head, and whatever has had its time.
    fn timeout_mark_lost(&mut self) {
        let head = self.queue.head();
        let reneged = !self.queue.is_empty() && self.queue.get(head).has(SACKED);
        if reneged {
            self.sk.sacked_out = 0;
            self.is_sack_reneg = true;
            self.queue.split_all();
        } else if !self.sack_ok {
            self.sk.sacked_out = 0;
        }
        let behind_head = if self.queue.is_empty() { head } else { self.queue.burst_end(head) };
        for seq in head..self.queue.end() {
            if reneged {
                self.queue.get_mut(seq).flags &= !SACKED;
            } else if seq >= behind_head && self.rack_timeout(self.queue.get(seq).sent_us(), 0) > 0 {
                continue; // sent a moment ago
            }
            self.mark_lost(seq);
        }
        self.recount_elsewhere();
        self.retransmit_hint = None;
    }

    /// The timer has expired (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self) {
        let new_recovery = self.sk.ca_state < CaState::Recovery;
        self.spare_no_more();
        self.timeout_mark_lost();
        if self.sk.ca_state <= CaState::Disorder
            || self.high_seq <= self.sk.snd_una
            || (self.sk.ca_state == CaState::Loss && self.retries.retransmits == 0)
        {
            self.undo.prior_ssthresh = self.sk.current_ssthresh();
            self.sk.prior_cwnd = self.sk.snd_cwnd;
            self.sk.snd_ssthresh = self.control.ssthresh(&self.sk);
            self.cwnd_event(CaEvent::Loss);
            self.init_undo();
        }
        self.sk.set_cwnd(self.sk.packets_in_flight() + 1);
        self.sk.snd_cwnd_cnt = 0;
        self.usage.stamp = self.sk.jiffies;
        // The degree of reordering was over-estimated.
        if self.sk.ca_state <= CaState::Disorder && self.sk.sacked_out >= REORDERING {
            self.reorder.degree = self.reorder.degree.min(REORDERING);
        }
        self.set_ca_state(CaState::Loss);
        self.high_seq = self.sk.snd_nxt;
        self.tlp.high_seq = 0;
        self.ecn.queue_cwr();
        self.frto = new_recovery || self.retries.retransmits > 0;
    }

    /// An ACK in Loss (`tcp_process_loss`).
    pub(super) fn process_loss(&mut self, flags: u32, dup_ack: bool, rexmit: &mut Rexmit) {
        let recovered = self.sk.snd_una >= self.high_seq;
        if flags & flag::SND_UNA_ADVANCED != 0 && self.try_undo_loss(false) {
            return;
        }
        if self.frto {
            // Step 3.b: something that was sent once has arrived, so not all was lost.
            if flags & flag::ORIG_SACK_ACKED != 0 && self.try_undo_loss(true) {
                return;
            }
            if self.sk.snd_nxt > self.high_seq {
                if flags & flag::DATA_SACKED != 0 || dup_ack {
                    self.frto = false; // step 3.a: the loss was real
                }
            } else if flags & flag::SND_UNA_ADVANCED != 0 && !recovered {
                self.high_seq = self.sk.snd_nxt;
                // Step 2.b: new data, once cwnd is set.
                if self.may_send_new() {
                    *rexmit = Rexmit::New;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery();
            return;
        }
        if !self.sack_ok {
            // A duplicate ACK tells of new data of step 2.b.
            if self.sk.snd_nxt > self.high_seq && dup_ack {
                self.add_reno_sack();
            } else if flags & flag::SND_UNA_ADVANCED != 0 {
                self.sk.sacked_out = 0;
            }
        }
        *rexmit = Rexmit::Lost;
    }
}
