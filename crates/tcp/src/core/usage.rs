//! How far the window is used: a window that nobody fills may not grow.
//!
//! Source: net/ipv4/tcp_output.c (`tcp_cwnd_validate`), include/net/tcp.h (`tcp_is_cwnd_limited`); RFC 7661.

use super::Core;
use crate::advice::Advisor;
use crate::congestion::CongestionControl;

/// How far cwnd has been used in the round trip under way (Linux's `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// It was full once (`is_cwnd_limited`).
    limited: bool,
    /// Most packets outstanding while it was not (`max_packets_out`).
    most: u32,
    /// The round trip ends when `snd_una` reaches this (`cwnd_usage_seq`).
    until: u32,
    /// Something was sent since the last look.
    pub(super) sent: bool,
}

impl<A: Advisor> Core<A> {
    /// Linux's `tcp_is_cwnd_limited`: in slow start cwnd may grow to twice what was used.
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        if !self.congestion.watches_use() {
            return true;
        }
        let slow_start = || self.congestion.cwnd() < self.congestion.ssthresh();
        self.usage.limited || (self.congestion.window() < 2 * self.usage.most && slow_start())
    }

    /// Nothing more can be sent now, with `in_flight` packets held against the window (Linux's `tcp_cwnd_validate`).
    #[inline]
    pub fn note_usage(&mut self, in_flight: u32) {
        let limited = in_flight >= self.congestion.window();
        let flight = self.flight();
        let usage = &mut self.usage;
        if !limited && !std::mem::take(&mut usage.sent) {
            return;
        }
        if limited || self.snd_una >= usage.until || (!usage.limited && flight > usage.most) {
            *usage = Usage { limited, most: flight, until: self.snd_max, sent: false };
        }
    }
}
