//! The state machine: Open, Disorder, CWR, Recovery, Loss.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_fastretrans_alert`, `tcp_enter_recovery`, `tcp_try_to_open`,
//! `tcp_try_keep_open`, `tcp_identify_packet_loss`, `tcp_mark_skb_lost`, `tcp_check_sack_reneging`).

use super::cc::CongestionOps;
use super::queue::{EVER_RETRANS, LOST, RETRANS, SACKED};
use super::{CaState, LinuxSender, Pending, Rexmit, flag};
use crate::advice::Advisor;

impl<A: Advisor> LinuxSender<A> {
    /// `tcp_set_ca_state`.
    pub(super) fn set_ca_state(&mut self, new: CaState) {
        self.control.set_state(&mut self.sk, new);
        self.sk.ca_state = new;
        if new == CaState::Loss && self.advisor.watching() {
            self.advisor.on_loss();
            self.heed_rto_bound();
        }
        if matches!(new, CaState::Cwr | CaState::Recovery | CaState::Loss) && self.advisor.watching() {
            let view = self.view();
            let advice = self.advisor.on_cut(&view);
            self.take(&advice);
        }
        if new == CaState::Open && self.advisor.watching() {
            let view = self.view();
            if let Some(cwnd) = self.advisor.on_open(&view) {
                self.sk.set_cwnd(cwnd);
            }
        }
    }

    /// Packet `seq` is lost, or its retransmission is (`tcp_mark_skb_lost`).
    pub(super) fn mark_lost(&mut self, seq: u32) {
        let packet = *self.queue.get(seq);
        if packet.has(SACKED) {
            return;
        }
        // `tcp_verify_retransmit_hint`: before the counters change.
        if self.retransmit_hint.is_none_or(|hint| seq < hint)
            && (self.retransmit_hint.is_some() || self.sk.retrans_out >= self.sk.lost_out)
        {
            self.retransmit_hint = Some(seq);
        }
        if packet.has(LOST) {
            if !packet.has(RETRANS) {
                return;
            }
            self.queue.get_mut(seq).flags &= !RETRANS;
            self.sk.retrans_out -= 1;
        } else {
            self.queue.get_mut(seq).flags |= LOST;
            self.sk.lost_out += 1;
        }
        self.sk.lost = self.sk.lost.wrapping_add(1);
        self.note_lost_on_path(seq, &packet);
        self.control.skb_marked_lost(&mut self.sk, &packet.stamp);
    }

    /// `tcp_any_retrans_done`.
    pub(super) fn any_retrans_done(&self) -> bool {
        self.sk.retrans_out > 0
            || (!self.queue.is_empty() && self.queue.get(self.queue.head()).has(EVER_RETRANS))
    }

    /// Fast recovery begins (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, ece: bool) {
        if self.spares_window() {
            return;
        }
        if !self.any_retrans_done() {
            self.undo.retrans_stamp = 0; // `tcp_retrans_stamp_cleanup`
        }
        self.counters.recoveries += 1;
        let advice = self.ask(|advisor, view| advisor.on_fast_retransmit(view));
        let ssthresh = self.sk.snd_ssthresh;
        self.undo.prior_ssthresh = 0;
        self.init_undo();
        if !self.sk.in_cwnd_reduction() {
            if !ece {
                self.undo.prior_ssthresh = self.sk.current_ssthresh();
            }
            self.init_cwnd_reduction();
        }
        if let Some(advice) = advice {
            if advice.keep_window || advice.keep_cwnd {
                self.sk.snd_ssthresh = self.kept(ssthresh); // PRR ends there (bpf/sender/enact.h)
            }
            self.take(&advice);
        }
        self.set_ca_state(CaState::Recovery);
    }

    /// `tcp_try_keep_open`.
    pub(super) fn try_keep_open(&mut self) {
        let state = match self.sk.sacked_out + self.sk.lost_out > 0 || self.any_retrans_done() {
            true => CaState::Disorder,
            false => CaState::Open,
        };
        if self.sk.ca_state != state {
            self.set_ca_state(state);
            self.high_seq = self.sk.snd_nxt;
        }
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, flags: u32) {
        if !self.any_retrans_done() {
            self.undo.retrans_stamp = 0;
        }
        if flags & flag::ECE != 0 {
            self.enter_cwr();
        }
        if self.sk.ca_state != CaState::Cwr {
            self.try_keep_open();
        }
    }

    /// `tcp_identify_packet_loss`.
    fn identify_packet_loss(&mut self, flags: &mut u32) {
        if self.queue.is_empty() {
            return;
        }
        if !self.sack_ok {
            return self.newreno_mark_lost(*flags & flag::SND_UNA_ADVANCED != 0);
        }
        let before = self.sk.retrans_out;
        if self.rack_mark_lost() {
            *flags &= !flag::SET_XMIT_TIMER;
        }
        if before > self.sk.retrans_out {
            *flags |= flag::LOST_RETRANS;
        }
    }

    /// The receiver has dropped what it had SACKed: wait a little (`tcp_check_sack_reneging`).
    fn check_sack_reneging(&mut self, flags: &mut u32) -> bool {
        let both = flag::SACK_RENEGING | flag::SND_UNA_ADVANCED;
        if *flags & both != both {
            return false;
        }
        let wait = self.clock.from_us(u64::from(self.sk.srtt_us >> 4)).max(self.clock.from_us(10_000));
        self.set_timer(Pending::Retrans, wait);
        *flags &= !flag::SET_XMIT_TIMER;
        true
    }

    /// `tcp_fastretrans_alert`: state and losses after an ACK that is not plain.
    pub(super) fn fastretrans_alert(&mut self, prior_una: u32, dup_ack: bool, flags: &mut u32) -> Rexmit {
        let entered_with = *flags;
        if self.sk.packets_out == 0 {
            self.sk.sacked_out = 0;
        }
        // A. A mark: the cut is needed, and nothing undoes it.
        if entered_with & flag::ECE != 0 {
            self.undo.prior_ssthresh = 0;
        }
        if self.check_sack_reneging(flags) {
            return Rexmit::None;
        }
        // D. A state ends when `high_seq` is acknowledged.
        if self.sk.ca_state == CaState::Open {
            self.undo.retrans_stamp = 0;
        } else if self.sk.snd_una >= self.high_seq {
            match self.sk.ca_state {
                CaState::Cwr if self.sk.snd_una != self.high_seq => {
                    self.end_cwnd_reduction();
                    self.set_ca_state(CaState::Open);
                }
                CaState::Recovery => {
                    if !self.sack_ok {
                        self.sk.sacked_out = 0;
                    }
                    if self.try_undo_recovery() {
                        return Rexmit::None;
                    }
                    self.end_cwnd_reduction();
                }
                _ => {}
            }
        }
        // E. The state's own work.
        match self.sk.ca_state {
            CaState::Recovery => {
                if entered_with & flag::SND_UNA_ADVANCED == 0 {
                    if !self.sack_ok && dup_ack {
                        self.add_reno_sack();
                    }
                } else if self.try_undo_partial(prior_una) {
                    return Rexmit::None;
                }
                if self.try_undo_dsack() {
                    self.try_to_open(*flags);
                }
                self.identify_packet_loss(flags);
                if self.sk.ca_state != CaState::Recovery {
                    if self.sk.lost_out == 0 {
                        return Rexmit::None;
                    }
                    self.enter_recovery(entered_with & flag::ECE != 0);
                }
            }
            CaState::Loss => {
                let mut rexmit = Rexmit::None;
                self.process_loss(entered_with, dup_ack, &mut rexmit);
                self.identify_packet_loss(flags);
                if self.sk.ca_state != CaState::Open && *flags & flag::LOST_RETRANS == 0 {
                    return rexmit;
                }
                return self.other_states(flags, dup_ack, rexmit);
            }
            _ => return self.other_states(flags, dup_ack, Rexmit::None),
        }
        Rexmit::Lost
    }

    /// The default branch: Open, Disorder, CWR, and Loss that is over or has lost retransmissions.
    fn other_states(&mut self, flags: &mut u32, dup_ack: bool, rexmit: Rexmit) -> Rexmit {
        if !self.sack_ok {
            if *flags & flag::SND_UNA_ADVANCED != 0 {
                self.sk.sacked_out = 0;
            }
            if dup_ack {
                self.add_reno_sack();
            }
        }
        if self.sk.ca_state <= CaState::Disorder {
            self.try_undo_dsack();
        }
        self.identify_packet_loss(flags);
        if self.sk.lost_out == 0 {
            self.try_to_open(*flags);
            return rexmit;
        }
        self.enter_recovery(*flags & flag::ECE != 0);
        Rexmit::Lost
    }
}
