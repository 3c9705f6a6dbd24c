//! Sending: new data, retransmissions, pacing, cwnd validation, slow start after idle time.
//!
//! Source: net/ipv4/tcp_output.c (`tcp_write_xmit`, `__tcp_transmit_skb`, `tcp_retransmit_skb`,
//! `tcp_xmit_retransmit_queue`, `tcp_cwnd_validate`, `tcp_cwnd_restart`, `tcp_pacing_check`,
//! `tcp_update_skb_after_send`, `tcp_small_queue_check`, `tcp_tsq_write`), include/net/tcp.h
//! (`tcp_slow_start_after_idle_check`).
//! The host's own queue is never full.

use super::burst::Burst;
use super::cc::{CaEvent, PacingStatus};
use super::queue::{ANY_RETRANS, EVER_RETRANS, LOST, PUSH, RETRANS, SACKED};
use super::writing::{MSS, OVERHEAD, TRUESIZE, Written};
use super::{CaState, LinuxSender, Out, OutKind, Pending};
use crate::Nanos;
use crate::advice::Advisor;
use crate::segment::Ecn;

/// Data packets at the start that are not paced.
const UNPACED: u32 = 10;

/// Memory of a packet that is cut from a burst, bytes (`skb_segment`).
const TRUESIZE_CUT: u32 = 2304;
/// Most bytes that may wait in the host while nothing is paced (`tcp_limit_output_bytes`).
const LIMIT_OUTPUT: u64 = 1 << 20;

/// Why data is sent (`push_one`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// As much as the windows allow.
    All,
    /// One burst, and one packet whatever cwnd says.
    Probe,
    /// One packet, whatever cwnd says.
    One,
}

/// Where in its burst a packet is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is all of it.
    Alone,
    /// Others follow.
    Within,
    Last,
}

impl Place {
    /// Packet `seq` of a burst of so many that ends before `end`.
    fn of(seq: u32, segments: u32, end: u32) -> Self {
        match (segments, seq + 1 == end) {
            (1, _) => Self::Alone,
            (_, last) => [Self::Within, Self::Last][usize::from(last)],
        }
    }
}

/// Use of cwnd since the application or cwnd last held the sender back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Jiffies (`snd_cwnd_stamp`).
    pub stamp: u32,
    /// Most packets out (`snd_cwnd_used`).
    pub used: u32,
    /// The round ends there (`cwnd_usage_seq`).
    pub seq: u32,
}

/// Packets that have not left the host yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InHost {
    /// Memory of the packets that this event has sent (`sk_wmem_alloc`), bytes.
    pub memory: u32,
    /// More wait until they have left (`TSQ_THROTTLED`).
    pub throttled: bool,
    /// When pacing lets the next one go.
    pub pacing_timer: Option<Nanos>,
}

impl<A: Advisor> LinuxSender<A> {
    /// `tcp_wnd_end`: one beyond what the receiver can take.
    #[inline]
    pub(super) fn wnd_end(&self) -> u32 {
        self.sk.snd_una.saturating_add(self.snd_wnd)
    }

    /// Whether a new packet waits (`tcp_send_head`). Where packets leave in bursts, it must be in the send buffer; the
    /// first write finds room.
    #[inline]
    pub(super) fn has_send_head(&self) -> bool {
        self.sk.snd_nxt < self.send_head_end()
    }

    /// Behind the last packet that could leave (`write_seq`).
    #[inline]
    pub(super) fn send_head_end(&self) -> u32 {
        let Written { buffered, end, .. } = self.written;
        if self.bursts && buffered > 1 { buffered } else { end }
    }

    /// Whether a new packet waits that the receiver can take (`tcp_snd_wnd_test`).
    #[inline]
    pub(super) fn may_send_new(&self) -> bool {
        self.has_send_head() && self.sk.snd_nxt < self.wnd_end()
    }

    /// Whether pacing holds the next packet back; its timer runs then (`tcp_pacing_check`).
    #[inline]
    fn is_held_by_pacing(&mut self) -> bool {
        if self.sk.pacing_status != PacingStatus::Needed || self.sk.tcp_wstamp_ns <= self.sk.tcp_clock_cache {
            return false;
        }
        if self.host.pacing_timer.is_none() {
            let wait = self.sk.tcp_wstamp_ns - self.sk.tcp_clock_cache;
            self.host.pacing_timer = Some(self.now + wait);
        }
        true
    }

    /// Whether what this event has sent must leave the host first (`tcp_small_queue_check`).
    fn is_held_in_host(&mut self, segments: u32, factor: u32) -> bool {
        // `sk_pacing_shift` is 10: what is sent in about 1 ms.
        let mut limit = u64::from(2 * (OVERHEAD + segments * MSS)).max(self.sk.pacing_rate >> 10);
        if self.sk.pacing_status == PacingStatus::None {
            limit = limit.min(LIMIT_OUTPUT);
        }
        // `tcp_rtx_queue_empty_or_single_skb`
        let head = self.queue.head();
        let several = self.sk.packets_out > 1 && self.queue.burst_end(head) < self.queue.end();
        let held = u64::from(self.host.memory) + 1 > limit << factor && several;
        self.host.throttled |= held;
        held
    }

    /// All that this event has sent has left the host, in the same instant. Packets that had to wait for that are
    /// sent: first lost ones, whether the ACK asked for them or not (`tcp_wfree`, `tcp_tasklet_func`).
    #[inline]
    pub(super) fn leave_host(&mut self) {
        self.host.memory = 0;
        while std::mem::take(&mut self.host.throttled) {
            self.tsq_write();
            self.host.memory = 0;
        }
    }

    /// Packets have left the host, or the pacing timer has expired (`tcp_tsq_write`, `tcp_pace_kick`).
    pub(super) fn tsq_write(&mut self) {
        if self.sk.lost_out > self.sk.retrans_out && self.sk.snd_cwnd > self.sk.packets_in_flight() {
            self.xmit_retransmit_queue();
        }
        self.push_pending();
    }

    /// `__tcp_push_pending_frames`.
    pub(super) fn push_pending(&mut self) {
        if self.established && self.has_send_head() && !self.advised.suspends {
            self.write_xmit(Push::All);
            self.check_probe_timer();
        }
    }

    /// Sends new data (`tcp_write_xmit`).
    pub(super) fn write_xmit(&mut self, push: Push) {
        let mut sent = 0;
        let mut deferred_for_cwnd = false;
        self.ask_before_sending();
        let most = if push == Push::One { 1 } else { self.burst_limit() };
        while self.has_send_head() {
            if self.is_held_by_pacing() {
                break;
            }
            let full = self.sk.packets_in_flight() >= self.sk.snd_cwnd;
            if (full && push == Push::All) || self.sk.snd_nxt >= self.wnd_end() {
                break;
            }
            let segments = match self.burst(most, push == Push::All) {
                Burst::Leaves(segments) => segments,
                Burst::Waits { for_cwnd } => {
                    deferred_for_cwnd = for_cwnd;
                    break;
                }
            };
            if self.is_held_in_host(segments, 0) {
                break;
            }
            self.transmit_burst(segments);
            sent += segments;
            if push != Push::All {
                break;
            }
        }
        let limited = deferred_for_cwnd || self.sk.packets_in_flight() >= self.sk.snd_cwnd;
        if sent > 0 || limited {
            self.cwnd_validate(limited);
        }
        if sent > 0 {
            if self.sk.in_cwnd_reduction() {
                self.prr.out += sent;
            }
            if push == Push::All {
                self.schedule_loss_probe(false);
            }
        }
    }

    /// Packet `snd_nxt` goes out.
    pub(super) fn transmit_new(&mut self) {
        self.transmit_burst(1);
    }

    /// So many new packets go out as one (`tcp_transmit_skb`, `tcp_event_new_data_sent`).
    fn transmit_burst(&mut self, segments: u32) {
        let prior = self.sk.packets_out;
        let sent_ns = self.pace(self.sk.snd_nxt, segments);
        let end = self.sk.snd_nxt + segments;
        let pushes = self.written.pieces.leave(end);
        while self.sk.snd_nxt < end {
            let seq = self.queue.push();
            if segments > 1 && seq + 1 == end {
                self.queue.bind(end - segments, end);
            }
            if pushes && seq + 1 == end {
                self.queue.get_mut(seq).flags |= PUSH;
            }
            self.put_on_wire(seq, sent_ns, false, Place::of(seq, segments, end));
            self.sk.snd_nxt += 1;
            self.sk.packets_out += 1;
        }
        if prior == 0 || self.xmit.pending == Pending::LossProbe {
            self.rearm_rto();
        }
    }

    /// The time stamp of a burst from packet `seq` on, and when the next may leave (`tcp_update_skb_after_send`).
    fn pace(&mut self, seq: u32, segments: u32) -> u64 {
        let prior_wstamp = self.sk.tcp_wstamp_ns;
        self.sk.tcp_wstamp_ns = prior_wstamp.max(self.sk.tcp_clock_cache);
        let sent_ns = self.sk.tcp_wstamp_ns;
        if seq > 0 {
            if self.sk.packets_in_flight() == 0 {
                self.cwnd_event(CaEvent::TxStart); // `tcp_event_data_sent`
            }
            self.sk.lsndtime = self.sk.jiffies;
            self.data_segs_out = self.data_segs_out.saturating_add(segments);
        }
        if self.sk.pacing_status != PacingStatus::None {
            let rate = self.sk.pacing_rate;
            if rate != u64::MAX && rate > 0 && self.data_segs_out >= UNPACED {
                let mut length = u64::from(segments * self.sk.mss_cache) * 1_000_000_000 / rate;
                let credit = self.sk.tcp_wstamp_ns - prior_wstamp;
                length -= credit.min(length / 2);
                self.sk.tcp_wstamp_ns += length;
            }
        }
        sent_ns
    }

    /// `__tcp_transmit_skb`, `tcp_rate_skb_sent`. The last packet of a burst has PSH, and does not keep it.
    fn put_on_wire(&mut self, seq: u32, sent_ns: u64, retransmission: bool, place: Place) {
        let cut = place != Place::Alone;
        self.host.memory += if cut { TRUESIZE_CUT } else { TRUESIZE };
        self.queue.list_last(seq);
        let stamp = self.sk.rate_skb_sent(sent_ns / 1_000);
        let copy = self.next_copy();
        let packet = self.queue.get_mut(seq);
        packet.sent_ns = sent_ns;
        packet.stamp = stamp;
        packet.copy = copy;
        if retransmission {
            self.counters.retransmissions += 1;
        }
        if self.written.pushes.front() == Some(&seq) {
            self.written.pushes.pop_front();
            packet.flags |= PUSH;
        }
        let push = packet.has(PUSH) || place == Place::Last;
        let stamp = (sent_ns / 1_000_000) as u32;
        let ecn = self.ecn_of(seq, retransmission);
        self.out.push_back(Out { seq, copy, stamp, push, cut, ecn, kind: OutKind::Data { retransmission } });
    }

    /// Puts a packet on the wire (`__tcp_transmit_skb`).
    pub(super) fn transmit(&mut self, seq: u32, retransmission: bool) {
        let sent_ns = self.pace(seq, 1);
        self.put_on_wire(seq, sent_ns, retransmission, Place::Alone);
    }

    /// `__tcp_retransmit_skb` of so many packets; false if the receiver has no room for it.
    pub(super) fn retransmit_packets(&mut self, seq: u32, segments: u32) -> bool {
        if seq >= self.wnd_end() && seq != self.sk.snd_una {
            return false;
        }
        let burst = seq..seq + segments;
        self.total_retrans += segments;
        for seq in burst.clone() {
            self.leave_old_path(seq);
            self.queue.isolate(seq);
        }
        if self.bursts {
            self.queue.bind(burst.start, burst.end);
        }
        let sent_ns = self.pace(seq, segments);
        for seq in burst.clone() {
            self.put_on_wire(seq, sent_ns, true, Place::of(seq, segments, burst.end));
            self.queue.get_mut(seq).flags |= EVER_RETRANS;
        }
        true
    }

    /// `tcp_retransmit_skb` of one packet.
    pub(super) fn retransmit(&mut self, seq: u32) -> bool {
        self.retransmit_burst(seq, 1)
    }

    /// `tcp_retransmit_skb`.
    fn retransmit_burst(&mut self, seq: u32, segments: u32) -> bool {
        let sent = self.retransmit_packets(seq, segments);
        if sent {
            for seq in seq..seq + segments {
                // After an undo the timer may find the head under way again, and counts it twice: "retrans_out leaked".
                self.leaked += u32::from(self.queue.get(seq).has(RETRANS));
                self.queue.get_mut(seq).flags |= ANY_RETRANS;
            }
            self.sk.retrans_out += segments;
        }
        if self.undo.retrans_stamp == 0 {
            self.undo.retrans_stamp = (self.queue.get(seq).sent_ns / 1_000_000) as u32;
        }
        self.undo.retrans = self.undo.retrans.max(0) + segments as i32;
        sent
    }

    /// Sends lost packets again as far as cwnd allows (`tcp_xmit_retransmit_queue`).
    pub(super) fn xmit_retransmit_queue(&mut self) {
        if self.sk.packets_out == 0 || self.advised.holds_holes || self.advised.suspends {
            return;
        }
        self.ask_before_sending();
        let most = self.burst_limit();
        let head = self.queue.head();
        let mut hole = false;
        let mut rearm = false;
        let mut seq = self.retransmit_hint.unwrap_or(head);
        while seq < self.queue.end() {
            if self.is_held_by_pacing() {
                break;
            }
            if !hole {
                self.retransmit_hint = Some(seq);
            }
            if self.sk.snd_cwnd <= self.sk.packets_in_flight() || self.sk.retrans_out >= self.sk.lost_out {
                break;
            }
            let packet = self.queue.get(seq);
            if !packet.has(LOST) {
                let sacked = packet.has(SACKED);
                hole |= !packet.has(SACKED | RETRANS);
                seq = if sacked { self.queue.buffer_end(self.queue.buffer_of(seq)) } else { seq + 1 };
                continue;
            }
            if !packet.has(SACKED | RETRANS) {
                let segments = self.burst_again(seq, most);
                if self.is_held_in_host(self.queue.burst_end(seq) - seq, 1)
                    || !self.retransmit_burst(seq, segments)
                {
                    break;
                }
                if self.sk.in_cwnd_reduction() {
                    self.prr.out += segments;
                }
                rearm |= seq == head && self.xmit.pending != Pending::Reo;
                seq += segments;
                continue;
            }
            seq += 1;
        }
        if rearm {
            self.reset_xmit_timer(Pending::Retrans, self.rtt.rto);
        }
    }

    /// Whether cwnd holds the sender back, or how much of it is used (`tcp_cwnd_validate`).
    pub(super) fn cwnd_validate(&mut self, limited: bool) {
        let sk = &mut self.sk;
        if sk.snd_una >= self.usage.seq
            || limited
            || (!sk.is_cwnd_limited && sk.packets_out > sk.max_packets_out)
        {
            sk.is_cwnd_limited = limited;
            sk.max_packets_out = sk.packets_out;
            self.usage.seq = sk.snd_nxt;
        }
        if sk.cwnd_limited() {
            self.usage.used = 0;
            self.usage.stamp = sk.jiffies;
            return;
        }
        self.usage.used = self.usage.used.max(sk.packets_out);
        let idle = sk.jiffies.wrapping_sub(self.usage.stamp);
        if self.slow_start_after_idle && u64::from(idle) >= self.rtt.rto && !self.has_cong_control() {
            self.cwnd_application_limited();
        }
    }

    /// `tcp_cwnd_application_limited`. A sender with data waiting fills its buffer (`SOCK_NOSPACE`).
    fn cwnd_application_limited(&mut self) {
        if self.sk.ca_state == CaState::Open && self.sk.snd_nxt >= self.written.end {
            let used = self.usage.used.max(self.profile.initial_window);
            if used < self.sk.snd_cwnd {
                self.sk.snd_ssthresh = self.sk.current_ssthresh();
                self.sk.set_cwnd((self.sk.snd_cwnd + used) >> 1);
            }
            self.usage.used = 0;
        }
        self.usage.stamp = self.sk.jiffies;
    }

    /// `tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`: cwnd halves with every RTO of idle time.
    pub(super) fn slow_start_after_idle_check(&mut self) {
        if !self.slow_start_after_idle || self.sk.packets_out > 0 || self.has_cong_control() {
            return;
        }
        let mut idle = i64::from(self.sk.jiffies.wrapping_sub(self.sk.lsndtime));
        let rto = self.rtt.rto as i64;
        if idle <= rto {
            return;
        }
        let mut cwnd = self.sk.snd_cwnd;
        let restart = self.profile.initial_window.min(cwnd);
        self.cwnd_event(CaEvent::CwndRestart);
        self.sk.snd_ssthresh = self.sk.current_ssthresh();
        idle -= rto;
        while idle > 0 && cwnd > restart {
            cwnd >>= 1;
            idle -= rto;
        }
        self.sk.set_cwnd(cwnd.max(restart));
        self.usage.stamp = self.sk.jiffies;
        self.usage.used = 0;
    }

    /// A pure ACK (`tcp_send_ack`).
    pub(super) fn send_ack(&mut self) {
        self.send_bare(self.sk.snd_nxt);
    }

    /// A number below the window and no data, which must be answered (`tcp_xmit_probe_skb`).
    pub(super) fn send_window_probe(&mut self) {
        self.send_bare(self.sk.snd_una - 1);
    }

    fn send_bare(&mut self, seq: u32) {
        self.sk.tcp_wstamp_ns = self.sk.tcp_wstamp_ns.max(self.sk.tcp_clock_cache);
        let stamp = (self.sk.tcp_wstamp_ns / 1_000_000) as u32;
        let copy = self.next_copy();
        let ecn = Ecn::default();
        self.out.push_back(Out { seq, copy, stamp, push: false, cut: false, ecn, kind: OutKind::Bare });
    }
}
