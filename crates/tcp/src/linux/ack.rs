//! Steps of an ACK, in the kernel's order, which results depend on.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_ack`, `tcp_clean_rtx_queue`, `tcp_ack_update_window`, `tcp_cong_control`,
//! `tcp_xmit_recovery`).

use super::cc::rate::stamp_delta;
use super::cc::{AckSample, CongestionOps, RateSample};
use super::queue::{ANY_RETRANS, LOST, RETRANS, SACKED};
use super::sack::SackTag;
use super::transmit::Push;
use super::{CaState, LinuxSender, REORDERING, Rexmit, flag};
use crate::advice::Advisor;
use crate::segment::Segment;
use std::cmp::Ordering;

/// Pacing rate in percent of cwnd / srtt (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const PACING_SS_RATIO: u32 = 200;
const PACING_CA_RATIO: u32 = 120;

/// News in the cumulative number of an ACK.
struct Cleaned {
    /// Send times, us, of the first and the last packet that was sent once; 0 = none.
    first_ackt: u64,
    last_ackt: u64,
    /// Lowest packet that was sent once and not SACKed before.
    reord: u32,
    pkts_acked: u32,
    flags: u32,
}

impl<A: Advisor> LinuxSender<A> {
    /// Before, at or after the kernel's `snd_una`.
    #[inline]
    pub(super) fn compare_una(&self, segment: &Segment) -> Ordering {
        (segment.ack, segment.has_octet()).cmp(&(self.sk.snd_una, self.una_octet))
    }

    /// `tcp_may_update_window`. The receiver sends no data, so its sequence number stands still.
    #[inline]
    pub(super) fn may_update_window(&self, segment: &Segment) -> bool {
        self.compare_una(segment).is_gt() || segment.window > self.snd_wnd || segment.window == 0
    }

    /// `tcp_ack_update_window`.
    #[inline]
    fn update_window(&mut self, segment: &Segment) -> u32 {
        let updates = self.may_update_window(segment);
        if updates && self.snd_wnd != segment.window {
            self.snd_wnd = segment.window;
            if self.has_send_head() {
                self.slow_start_after_idle_check();
            }
            self.max_window = self.max_window.max(segment.window);
        }
        if updates { flag::WIN_UPDATE } else { 0 }
    }

    /// `tcp_ack`; false if the segment is to be dropped.
    pub(super) fn ack(&mut self, segment: &Segment) -> bool {
        let ack = segment.ack;
        let prior_una = self.sk.snd_una;
        let prior_packets = self.sk.packets_out;
        let prior_delivered = self.sk.delivered;
        let prior_lost = self.sk.lost;
        let prior_path = self.path;
        let was_reneg = self.is_sack_reneg;
        let mut rs = RateSample { rtt_us: -1, ..RateSample::default() };
        let mut tag = SackTag::default();
        let mut flags = 0;
        let order = self.compare_una(segment);
        if order.is_lt() {
            self.replace_ts_recent();
            self.old_ack(segment, prior_una, &mut tag, &mut rs);
            return true;
        }
        if ack + u32::from(segment.has_octet()) > self.sk.snd_nxt {
            return false;
        }
        if order.is_gt() {
            flags |= flag::SND_UNA_ADVANCED;
            self.retries.retransmits = 0;
        }
        let prior_fack = if self.sack_ok { self.highest_sack_seq() } else { prior_una };
        rs.prior_in_flight = self.sk.packets_in_flight();
        self.replace_ts_recent();
        flags |= self.update_window(segment);
        self.sk.snd_una = ack;
        self.una_octet = segment.has_octet();
        if order.is_gt() {
            self.note_progress();
        }
        if !segment.sack.is_empty() {
            self.sacktag(segment, prior_una, &mut tag, &mut rs);
            flags |= tag.flags;
            self.sk.delivered = self.sk.delivered.wrapping_add(tag.delivered);
        }
        if self.ecn.echoes(segment) {
            flags |= flag::ECE;
        }
        self.probes_out = 0;
        if prior_packets == 0 {
            self.ack_with_nothing_out(prior_una, ack, flags);
            return true;
        }
        flags |= self.clean_rtx_queue(prior_fack, &tag, &mut rs);
        self.rack_update_reo_wnd(&rs);
        if self.established {
            self.tell_ack();
        }
        if self.tlp.high_seq != 0 {
            rs.is_acking_tlp_retrans_seq = self.tlp.retrans && ack >= self.tlp.high_seq;
            self.process_tlp_ack(ack, flags);
        }
        let mut rexmit = Rexmit::None;
        // `tcp_ack_is_dubious`
        if flags & flag::NOT_DUP == 0 || flags & flag::CA_ALERT != 0 || self.sk.ca_state != CaState::Open {
            let dup_ack = flags & (flag::SND_UNA_ADVANCED | flag::NOT_DUP | flag::DSACKING_ACK) == 0;
            if dup_ack && self.sk.ca_state == CaState::Recovery {
                let advice = self.ask(|advisor, view| advisor.on_dup_ack(view));
                if let Some(advice) = advice {
                    self.take(&advice);
                    self.send_as_advised(&advice);
                }
            }
            rexmit = self.fastretrans_alert(prior_una, dup_ack, &mut flags);
        }
        if self.path_has_lost(prior_path) {
            rexmit = Rexmit::Lost;
        }
        if flags & flag::SET_XMIT_TIMER != 0 {
            self.set_xmit_timer();
        }
        let delivered = self.sk.delivered.wrapping_sub(prior_delivered);
        let lost = self.sk.lost.wrapping_sub(prior_lost);
        let [delivered, lost] = self.of_path(prior_path, [delivered, lost]);
        self.sk.rate_gen(delivered, lost, was_reneg, &mut rs);
        if delivered + lost > 0 || !self.is_on_two_paths() {
            self.cong_control(delivered, flags, &rs);
        }
        self.xmit_recovery(rexmit);
        true
    }

    /// An ACK below `snd_una`: only its SACK blocks are news.
    fn old_ack(&mut self, segment: &Segment, prior_una: u32, tag: &mut SackTag, rs: &mut RateSample) {
        if segment.sack.is_empty() {
            return;
        }
        self.sacktag(segment, prior_una, tag, rs);
        self.recount_elsewhere();
        let mut flags = tag.flags;
        let rexmit = self.fastretrans_alert(prior_una, false, &mut flags);
        self.xmit_recovery(rexmit);
    }

    /// `no_queue`: nothing was out.
    fn ack_with_nothing_out(&mut self, prior_una: u32, ack: u32, mut flags: u32) {
        if flags & flag::DSACKING_ACK != 0 {
            self.fastretrans_alert(prior_una, false, &mut flags);
        }
        self.ack_probe();
        if self.tlp.high_seq != 0 {
            self.process_tlp_ack(ack, flags);
        }
    }

    /// Takes off what is acknowledged cumulatively (`tcp_clean_rtx_queue`).
    fn clean_rtx_queue(&mut self, prior_fack: u32, tag: &SackTag, rs: &mut RateSample) -> u32 {
        let una = self.sk.snd_una;
        let now = self.sk.tcp_mstamp;
        let mut cleaned =
            Cleaned { first_ackt: 0, last_ackt: 0, reord: self.sk.snd_nxt, pkts_acked: 0, flags: 0 };
        while self.queue.head() < una {
            self.clean_head(&mut cleaned, rs);
        }
        let Cleaned { first_ackt, last_ackt, reord, pkts_acked, mut flags } = cleaned;
        self.recount_elsewhere();
        if !self.queue.is_empty() && self.queue.get(self.queue.head()).has(SACKED) {
            flags |= flag::SACK_RENEGING;
        }
        let (mut seq_rtt, mut sack_rtt, mut ca_rtt) = (-1, -1, -1);
        if first_ackt > 0 && flags & flag::RETRANS_DATA_ACKED == 0 {
            seq_rtt = i64::from(stamp_delta(now, first_ackt));
            ca_rtt = i64::from(stamp_delta(now, last_ackt));
        }
        if tag.first_sackt > 0 {
            sack_rtt = i64::from(stamp_delta(now, tag.first_sackt));
            ca_rtt = i64::from(stamp_delta(now, tag.last_sackt));
        }
        let sampled = self.ack_update_rtt(flags, seq_rtt, sack_rtt, ca_rtt, rs);
        if flags & flag::ACKED != 0 {
            flags |= flag::SET_XMIT_TIMER;
            if !self.sack_ok {
                self.remove_reno_sacks(pkts_acked);
                if flags & flag::RETRANS_DATA_ACKED != 0 {
                    flags &= !flag::ORIG_SACK_ACKED; // nothing tells which of them were originals
                }
            } else if reord < prior_fack {
                // A hole that was never sent again is filled: reordering.
                self.check_reordering(reord);
            }
        } else if sampled && sack_rtt >= 0 && !self.queue.is_empty() {
            // Not by data sent after the head, or the timer would be put off again and again.
            let head_us = self.queue.get(self.queue.head()).sent_us();
            if sack_rtt > i64::from(stamp_delta(now, head_us)) {
                flags |= flag::SET_XMIT_TIMER;
            }
        }
        if self.established {
            let sample = AckSample { pkts_acked, rtt_us: rs.rtt_us };
            let recovers = self.sk.ca_state >= CaState::Recovery;
            if self.advisor.watching() && self.advisor.hides_slow_start(recovers) {
                let ssthresh = std::mem::take(&mut self.sk.snd_ssthresh);
                self.control.pkts_acked(&mut self.sk, &sample);
                self.sk.snd_ssthresh = ssthresh;
            } else {
                self.control.pkts_acked(&mut self.sk, &sample);
            }
        }
        if self.sk.packets_out == 0 && self.sack_ok {
            self.forget_leaks();
        }
        flags
    }

    /// Takes the first packet off: the body of the loop in `tcp_clean_rtx_queue`.
    #[inline]
    fn clean_head(&mut self, cleaned: &mut Cleaned, rs: &mut RateSample) {
        let seq = self.queue.head();
        let packet = *self.queue.get(seq);
        if packet.has(ANY_RETRANS) {
            if packet.has(RETRANS) {
                self.sk.retrans_out -= 1;
            }
            cleaned.flags |= flag::RETRANS_DATA_ACKED;
        } else if !packet.has(SACKED) {
            if !self.is_old(&packet) {
                cleaned.last_ackt = packet.sent_us();
                if cleaned.first_ackt == 0 {
                    cleaned.first_ackt = cleaned.last_ackt;
                }
            }
            cleaned.reord = cleaned.reord.min(seq);
            if seq < self.high_seq {
                cleaned.flags |= flag::ORIG_SACK_ACKED;
            }
        }
        if packet.has(SACKED) {
            self.sk.sacked_out -= 1;
        } else if self.sack_ok {
            self.sk.delivered = self.sk.delivered.wrapping_add(1);
            self.note_on_path(&packet);
            // `tcp_skb_spurious_retrans`: what is echoed was sent before the retransmission.
            let spurious =
                packet.has(ANY_RETRANS) && self.stamps.echo_before((packet.sent_ns / 1_000_000) as u32);
            if !spurious {
                self.rack_advance(packet.flags, seq + 1, packet.sent_us());
            }
        }
        if packet.has(LOST) {
            self.sk.lost_out -= 1;
        }
        self.sk.packets_out -= 1;
        cleaned.pkts_acked += 1;
        self.note_delivered(seq, rs);
        cleaned.flags |= if seq == 0 { flag::SYN_ACKED } else { flag::DATA_ACKED };
        if seq == 0 {
            self.undo.retrans_stamp = 0;
        }
        if self.retransmit_hint == Some(seq) {
            self.retransmit_hint = None;
        }
        if self.highest_sack == seq {
            self.highest_sack = seq + 1; // `tcp_highest_sack_replace`
        }
        self.queue.pop();
    }

    /// With the last packet what `retrans_out` counts for good is forgotten, or a small cwnd would send nothing more
    /// (`FASTRETRANS_DEBUG`).
    fn forget_leaks(&mut self) {
        (self.sk.lost_out, self.sk.sacked_out, self.sk.retrans_out) = (0, 0, 0);
        self.leaked = 0;
    }

    /// `tcp_cong_control`.
    fn cong_control(&mut self, delivered: u32, flags: u32, rs: &RateSample) {
        if self.has_cong_control() {
            if self.established {
                self.control.cong_control(&mut self.sk, rs);
            }
            return;
        }
        if self.advised.holds_window {
            // Advice has set it.
        } else if self.sk.in_cwnd_reduction() {
            self.cwnd_reduction(delivered, rs.losses, flags);
        } else if self.may_raise_cwnd(flags) || self.is_on_two_paths() {
            self.control.cong_avoid(&mut self.sk, delivered);
            self.usage.stamp = self.sk.jiffies;
        }
        self.sk.update_pacing_rate(PACING_SS_RATIO, PACING_CA_RATIO);
    }

    /// `tcp_may_raise_cwnd`: with much reordering, any delivery opens the window.
    #[inline]
    fn may_raise_cwnd(&self, flags: u32) -> bool {
        let news = if self.reorder.degree > REORDERING { flag::FORWARD_PROGRESS } else { flag::DATA_ACKED };
        flags & news != 0
    }

    /// `tcp_xmit_recovery`.
    fn xmit_recovery(&mut self, rexmit: Rexmit) {
        match rexmit {
            Rexmit::None => return,
            Rexmit::New if self.advised.suspends => return,
            Rexmit::New => {
                self.write_xmit(Push::All);
                if self.sk.snd_nxt > self.high_seq {
                    return;
                }
                self.frto = false;
            }
            Rexmit::Lost => {}
        }
        self.xmit_retransmit_queue();
    }
}
