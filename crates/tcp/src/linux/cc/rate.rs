//! Delivery-rate samples (`tcp_rate.c`).

use super::Sock;
use super::sock::after;

/// Counters that a packet carries from its last transmission to its (S)ACK (`tcp_skb_cb.tx`). The send queue embeds
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxStamp {
    /// Send time of the packet (s)acked last, then.
    pub first_tx_mstamp: u64,
    /// Time of the last delivery, then; 0 = this packet has given its sample.
    pub delivered_mstamp: u64,
    /// Packets delivered, then.
    pub delivered: u32,
    /// Packets lost, then (BBRv3).
    pub lost: u32,
    /// Packets in flight with this one (BBRv3).
    pub tx_in_flight: u32,
    /// Whether the application limited the sender, then.
    pub is_app_limited: bool,
}

/// Rate and round trip that an ACK shows (`struct rate_sample`). Fresh for every ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// `delivered_mstamp` of the packet that gives the sample, when it was sent; 0 = no packet gives one.
    pub prior_mstamp: u64,
    /// `delivered`, then.
    pub prior_delivered: u32,
    /// `lost`, then (BBRv3).
    pub prior_lost: u32,
    /// In flight with it (BBRv3).
    pub tx_in_flight: u32,
    /// Packets delivered since; -1 = no sample.
    pub delivered: i32,
    /// Packets lost since (BBRv3).
    pub lost: i32,
    /// In so many us; -1 = no sample.
    pub interval_us: i64,
    /// Its sending phase.
    pub snd_interval_us: u32,
    /// Its ACK phase.
    pub rcv_interval_us: u32,
    /// Round trip of the last packet (s)acked, us; -1 = none.
    pub rtt_us: i64,
    /// Packets that this ACK marked lost.
    pub losses: u32,
    /// Packets that it acknowledged, cumulatively or selectively.
    pub acked_sacked: u32,
    /// In flight before it.
    pub prior_in_flight: u32,
    /// End of the packet that gives the sample: its number + 1.
    pub last_end_seq: u32,
    /// The application limited that packet.
    pub is_app_limited: bool,
    /// That packet was retransmitted.
    pub is_retrans: bool,
    /// The ACK was probably delayed (`FLAG_ACK_MAYBE_DELAYED`).
    pub is_ack_delayed: bool,
    /// It acknowledges a tail loss probe that was a retransmission (BBRv3).
    pub is_acking_tlp_retrans_seq: bool,
}

impl Default for RateSample {
    /// As `tcp_ack` starts it, without a round trip.
    fn default() -> Self {
        Self {
            prior_mstamp: 0,
            prior_delivered: 0,
            prior_lost: 0,
            tx_in_flight: 0,
            delivered: 0,
            lost: 0,
            interval_us: 0,
            snd_interval_us: 0,
            rcv_interval_us: 0,
            rtt_us: -1,
            losses: 0,
            acked_sacked: 0,
            prior_in_flight: 0,
            last_end_seq: 0,
            is_app_limited: false,
            is_retrans: false,
            is_ack_delayed: false,
            is_acking_tlp_retrans_seq: false,
        }
    }
}

impl RateSample {
    /// Whether it measures a rate.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.delivered >= 0 && self.interval_us > 0
    }
}

/// A packet that an ACK delivers, for [`Sock::rate_skb_delivered`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// When it was last sent, us (`tcp_skb_timestamp_us`).
    pub sent_us: u64,
    /// Its number + 1.
    pub end_seq: u32,
    /// It was retransmitted (`TCPCB_RETRANS`).
    pub retransmitted: bool,
    /// It is SACKed, and so stays in the queue (`TCPCB_SACKED_ACKED`).
    pub sacked: bool,
}

impl Sock {
    /// The stamp of a packet that leaves at `sent_us`, before it counts as outstanding (`tcp_rate_skb_sent`).
    #[inline]
    pub fn rate_skb_sent(&mut self, sent_us: u64) -> TxStamp {
        // With nothing outstanding, a sample's interval begins now and not at the last ACK.
        if self.packets_out == 0 {
            self.first_tx_mstamp = sent_us;
            self.delivered_mstamp = sent_us;
        }
        TxStamp {
            first_tx_mstamp: self.first_tx_mstamp,
            delivered_mstamp: self.delivered_mstamp,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: self.packets_in_flight() + 1,
            is_app_limited: self.app_limited != 0,
        }
    }

    /// A packet is newly SACKed, or cumulatively acknowledged (`tcp_rate_skb_delivered`): the one sent last gives
    /// the sample.
    #[inline]
    pub fn rate_skb_delivered(&mut self, stamp: &mut TxStamp, packet: &Delivered, rs: &mut RateSample) {
        if stamp.delivered_mstamp == 0 {
            return;
        }
        if rs.prior_delivered == 0
            || sent_after(packet.sent_us, self.first_tx_mstamp, packet.end_seq, rs.last_end_seq)
        {
            rs.prior_delivered = stamp.delivered;
            rs.prior_lost = stamp.lost;
            rs.prior_mstamp = stamp.delivered_mstamp;
            rs.tx_in_flight = stamp.tx_in_flight;
            rs.is_app_limited = stamp.is_app_limited;
            rs.is_retrans = packet.retransmitted;
            rs.last_end_seq = packet.end_seq;
            self.first_tx_mstamp = packet.sent_us;
            rs.interval_us = i64::from(stamp_delta(packet.sent_us, stamp.first_tx_mstamp));
        }
        if packet.sacked {
            stamp.delivered_mstamp = 0;
        }
    }

    /// Completes the sample of an ACK that delivered and lost so many packets (`tcp_rate_gen`). `reneged`: the
    /// receiver has dropped what it had SACKed.
    #[inline]
    pub fn rate_gen(&mut self, delivered: u32, lost: u32, reneged: bool, rs: &mut RateSample) {
        if self.app_limited != 0 && after(self.delivered, self.app_limited) {
            self.app_limited = 0; // the bubble has come back
        }
        if delivered > 0 {
            self.delivered_mstamp = self.tcp_mstamp;
        }
        rs.acked_sacked = delivered;
        rs.losses = lost;
        if rs.prior_mstamp == 0 || reneged {
            rs.delivered = -1;
            rs.interval_us = -1;
            return;
        }
        rs.delivered = self.delivered.wrapping_sub(rs.prior_delivered) as i32;
        rs.lost = self.lost.wrapping_sub(rs.prior_lost) as i32;
        // The longer of the sending and the ACK phase: ACKs may come compressed.
        rs.snd_interval_us = rs.interval_us as u32;
        rs.rcv_interval_us = stamp_delta(self.tcp_mstamp, rs.prior_mstamp);
        rs.interval_us = i64::from(rs.snd_interval_us.max(rs.rcv_interval_us));
        // Less than a round trip: a retransmission was acknowledged that the original had answered for.
        if rs.interval_us < i64::from(self.min_rtt_us()) {
            rs.interval_us = -1;
            return;
        }
        let (new, old) = (rs.delivered as u32, self.rate_delivered);
        let rises =
            u64::from(new) * u64::from(self.rate_interval_us) >= u64::from(old) * rs.interval_us as u64;
        if !rs.is_app_limited || rises {
            self.rate_delivered = new;
            self.rate_interval_us = rs.interval_us as u32;
            self.rate_app_limited = rs.is_app_limited;
        }
    }

    /// The sender has less than a segment to send: from now on the application limits it, unless cwnd or lost
    /// packets do (`tcp_rate_check_app_limited`).
    pub fn rate_check_app_limited(&mut self) {
        if self.packets_in_flight() < self.snd_cwnd && self.lost_out <= self.retrans_out {
            self.mark_app_limited();
        }
    }

    /// Samples of what is in flight count as limited by the application.
    pub fn mark_app_limited(&mut self) {
        self.app_limited = self.delivered.wrapping_add(self.packets_in_flight()).max(1);
    }
}

/// `tcp_skb_sent_after`: later, or at the same time but further in the stream.
#[inline]
pub fn sent_after(t1: u64, t2: u64, seq1: u32, seq2: u32) -> bool {
    t1 > t2 || (t1 == t2 && after(seq1, seq2))
}

/// `tcp_stamp_us_delta`: us from `t0` to `t1`, 0 if that is negative.
#[inline]
pub(crate) fn stamp_delta(t1: u64, t0: u64) -> u32 {
    (t1 as i64 - t0 as i64).max(0) as u32
}

#[cfg(test)]
mod tests;
