//! Bursts: packets that TCP hands over as one, and that leave together (TSO, or GSO in software).
//!
//! Source: net/ipv4/tcp_output.c (`tcp_tso_autosize`, `tcp_tso_segs`, `tcp_cwnd_test`, `tcp_tso_should_defer`,
//! `tcp_xmit_retransmit_queue`, `__tcp_retransmit_skb`). Where a device takes one segment at a time (`gso_max_segs` 1),
//! as on the reference's bench, each packet is its own burst.

use super::cc::CongestionOps;
use super::{CaState, LinuxSender};
use crate::Nanos;
use crate::advice::Advisor;

/// Least segments of a burst (`tcp_min_tso_segs`).
const MIN_TSO_SEGS: u32 = 2;
/// Bursts are longer where the round trip is shorter (`tcp_tso_rtt_log`).
const TSO_RTT_LOG: u32 = 9;
/// Part of a window that is worth sending at once (`tcp_tso_win_divisor`).
const WIN_DIVISOR: u32 = 3;
/// Bursts wait only so long after the last one, and only for an ACK that is no farther. Kernels before October 2025 wait
/// for one that is half a round trip away.
const NEAR: Nanos = 1_000_000;

/// The fate of the next burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Burst {
    /// So many packets may leave.
    Leaves(u32),
    /// It waits until an ACK makes room for a longer one.
    Waits {
        /// cwnd is what holds it back (`is_cwnd_limited`), not the receiver's window.
        for_cwnd: bool,
    },
}

impl<A: Advisor> LinuxSender<A> {
    /// Most packets of a burst (`tcp_tso_segs`). As long as a claim of programs lasts, each may leave by itself
    /// (`segue_before_sending` of bpf/sender/claim.h).
    pub(super) fn burst_limit(&self) -> u32 {
        if !self.bursts {
            return 1;
        }
        let sk = &self.sk;
        let longest = u64::from(sk.gso_max_size);
        let halvings = sk.min_rtt_us() >> TSO_RTT_LOG;
        let near = if halvings < u32::BITS { longest >> halvings } else { 0 };
        let bytes = (sk.pacing_rate >> sk.pacing_shift).saturating_add(near).min(longest);
        let of_control = || self.control.min_tso_segs(sk).unwrap_or(MIN_TSO_SEGS);
        let least = if self.advisor.claims() { 1 } else { of_control() };
        ((bytes / u64::from(sk.mss_cache)) as u32).max(least)
    }

    /// The next burst of new data, of `most` packets, where cwnd has room: half a window at most (`tcp_cwnd_test`).
    /// A probe may not wait.
    pub(super) fn burst(&mut self, most: u32, may_wait: bool) -> Burst {
        if most == 1 {
            return Burst::Leaves(1);
        }
        let sk = &self.sk;
        let receiver = self.wnd_end() - sk.snd_nxt;
        let room = sk.snd_cwnd.saturating_sub(sk.packets_in_flight());
        let quota = room.min((sk.snd_cwnd / 2).max(1)).min(most).max(1);
        self.written.pieces.grow(sk.snd_nxt, quota);
        let (length, is_last) = self.written.piece(sk.snd_nxt);
        if may_wait && length > 1 && room > 0 && self.defers(most, room.min(receiver), length, is_last) {
            return Burst::Waits { for_cwnd: room < receiver && room <= length };
        }
        Burst::Leaves(quota.min(length).min(receiver))
    }

    /// Packets, at most `most`, that leave again as one from the lost one `seq` on. They left with it before, and cwnd
    /// and the receiver have room for them.
    pub(super) fn burst_again(&self, seq: u32, most: u32) -> u32 {
        if most == 1 {
            return 1;
        }
        let room = self.sk.snd_cwnd.saturating_sub(self.sk.packets_in_flight());
        let receiver = self.wnd_end().saturating_sub(seq);
        (self.queue.burst_end(seq) - seq).min(most).min(room).min(receiver).max(1)
    }

    /// Whether the next ACK, which is near, will make room for a longer burst than `limit` (`tcp_tso_should_defer`). The
    /// piece of writing that waits has `length` packets. A last one may become longer.
    fn defers(&self, most: u32, limit: u32, length: u32, is_last: bool) -> bool {
        let sk = &self.sk;
        let wrote_long_ago = sk.tcp_clock_cache > sk.tcp_wstamp_ns.saturating_add(NEAR);
        if sk.ca_state >= CaState::Recovery
            || wrote_long_ago
            || limit >= most
            || (!is_last && limit >= length)
        {
            return false;
        }
        if limit * WIN_DIVISOR >= self.snd_wnd.min(sk.snd_cwnd) || self.queue.is_empty() {
            return false;
        }
        let srtt_ns = 1_000 / 8 * u64::from(sk.srtt_us);
        let expected = self.queue.get(self.queue.head()).sent_ns + srtt_ns;
        expected.saturating_sub(sk.tcp_clock_cache) <= (srtt_ns / 2).min(NEAR)
    }
}
