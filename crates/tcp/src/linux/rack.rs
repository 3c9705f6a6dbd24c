//! RACK: a packet is lost if one sent later has arrived and it has had time enough.
//!
//! Source: net/ipv4/tcp_recovery.c; RFC 8985, section 6.

use super::cc::RateSample;
use super::cc::rate::{sent_after, stamp_delta};
use super::queue::{ANY_RETRANS, LOST, RETRANS};
use super::{CaState, LinuxSender, Pending};
use crate::advice::Advisor;

/// Recoveries for which a widened window stays (`TCP_RACK_RECOVERY_THRESH`).
pub(super) const RECOVERY_THRESH: u32 = 16;
/// Least wait of the reordering and the probe timer (`TCP_TIMEOUT_MIN_US`).
pub(super) const TIMEOUT_MIN_US: u32 = 2_000;

/// `tp->rack`.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// Send time, us, and end of the packet sent last of those known to have arrived.
    mstamp: u64,
    end_seq: u32,
    /// Its round trip, us.
    rtt_us: u32,
    /// Something has arrived since the last search for losses.
    pub advanced: bool,
    /// The reordering window in quarters of the smallest round trip.
    reo_wnd_steps: u32,
    /// Recoveries for which that stays.
    pub reo_wnd_persist: u32,
    /// A D-SACK has come since the window was last set.
    pub dsack_seen: bool,
    /// `delivered` then.
    last_delivered: u32,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            mstamp: 0,
            end_seq: 0,
            rtt_us: 0,
            advanced: false,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            dsack_seen: false,
            last_delivered: 0,
        }
    }
}

impl Rack {
    /// Microseconds since that packet was sent.
    pub fn age_us(&self, now_us: u64) -> u64 {
        now_us.saturating_sub(self.mstamp)
    }

    /// Its round trip.
    pub fn rtt_us(&self) -> u32 {
        self.rtt_us
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// `tcp_rack_reo_wnd`, us.
    fn rack_reo_wnd(&self) -> u32 {
        if self.reorder.seen == 0
            && (self.sk.ca_state >= CaState::Recovery || self.sk.sacked_out >= self.reorder.degree)
        {
            return 0;
        }
        let wanted = (self.sk.min_rtt_us() >> 2).wrapping_mul(self.rack.reo_wnd_steps);
        wanted.min(self.sk.srtt_us >> 3)
    }

    /// How much longer a packet sent at `sent_us` may take, us (`tcp_rack_skb_timeout`).
    #[inline]
    pub(super) fn rack_timeout(&self, sent_us: u64, reo_wnd: u32) -> i64 {
        i64::from(self.rack.rtt_us) + i64::from(reo_wnd) - i64::from(stamp_delta(self.sk.tcp_mstamp, sent_us))
    }

    /// A packet has arrived (`tcp_rack_advance`).
    #[inline]
    pub(super) fn rack_advance(&mut self, flags: u8, end_seq: u32, sent_us: u64) {
        let rtt_us = stamp_delta(self.sk.tcp_mstamp, sent_us);
        // Sooner than any round trip: it was the original.
        if rtt_us < self.sk.min_rtt_us() && flags & ANY_RETRANS != 0 {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt_us = rtt_us;
        if sent_after(sent_us, self.rack.mstamp, end_seq, self.rack.end_seq) {
            self.rack.mstamp = sent_us;
            self.rack.end_seq = end_seq;
        }
    }

    /// Marks what is lost and returns the longest wait of what may be, us (`tcp_rack_detect_loss`).
    fn rack_detect_loss(&mut self) -> u32 {
        let reo_wnd = self.rack_reo_wnd();
        let mut timeout = 0;
        let mut next = self.queue.oldest_open();
        while let Some(seq) = next {
            let packet = *self.queue.get(seq);
            next = self.queue.sent_next(seq);
            if packet.has(LOST) && !packet.has(RETRANS) {
                continue; // not yet sent again
            }
            if !sent_after(self.rack.mstamp, packet.sent_us(), self.rack.end_seq, seq + 1) {
                break;
            }
            let remaining = self.rack_timeout(packet.sent_us(), reo_wnd);
            if remaining <= 0 {
                self.mark_lost(seq);
                self.queue.unlist(seq);
            } else {
                timeout = timeout.max(remaining as u32);
            }
        }
        timeout
    }

    /// The same after an ACK; says whether the reordering timer runs now (`tcp_rack_mark_lost`).
    pub(super) fn rack_mark_lost(&mut self) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let timeout = self.rack_detect_loss();
        if timeout > 0 {
            let wait = self.clock.from_us(u64::from(timeout + TIMEOUT_MIN_US));
            self.set_timer(Pending::Reo, wait.min(self.rtt.rto));
        }
        timeout > 0
    }

    /// The reordering timer has expired (`tcp_rack_reo_timeout`).
    pub(super) fn rack_reo_timeout(&mut self) {
        let lost = self.sk.lost;
        let prior_in_flight = self.sk.packets_in_flight();
        self.rack_detect_loss();
        if prior_in_flight != self.sk.packets_in_flight() {
            if self.sk.ca_state != CaState::Recovery {
                self.enter_recovery(false);
                if !self.has_cong_control() && self.sk.in_cwnd_reduction() {
                    self.cwnd_reduction(1, self.sk.lost.wrapping_sub(lost), 0);
                }
            }
            self.xmit_retransmit_queue();
        }
        if self.xmit.pending != Pending::Retrans {
            self.rearm_rto();
        }
    }

    /// Widens or narrows the reordering window (`tcp_rack_update_reo_wnd`).
    pub(super) fn rack_update_reo_wnd(&mut self, rs: &RateSample) {
        if rs.prior_delivered == 0 {
            return;
        }
        if (rs.prior_delivered.wrapping_sub(self.rack.last_delivered) as i32) < 0 {
            self.rack.dsack_seen = false; // not yet a round trip since the last change
        }
        if self.rack.dsack_seen {
            self.rack.reo_wnd_steps = (self.rack.reo_wnd_steps + 1).min(0xff);
            self.rack.dsack_seen = false;
            self.rack.last_delivered = self.sk.delivered;
            self.rack.reo_wnd_persist = RECOVERY_THRESH;
        } else if self.rack.reo_wnd_persist == 0 {
            self.rack.reo_wnd_steps = 1;
        }
    }
}
