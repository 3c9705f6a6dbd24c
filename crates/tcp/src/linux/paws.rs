//! Time stamps of the other side: protection against wrapped sequence numbers.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_paws_discard`, `tcp_disordered_ack`, `tcp_tsval_replay`,
//! `tcp_replace_ts_recent`, `tcp_oow_rate_limited`), include/net/tcp.h (`tcp_paws_check`); RFC 7323, section 5.

use super::LinuxSender;
use crate::advice::Advisor;
use crate::segment::Segment;

/// By how much a time stamp may lag (`TCP_PAWS_WINDOW`).
const WINDOW: i32 = 1;

/// Time stamps of the segment at hand, and the last accepted (`tp->rx_opt`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    /// The segment at hand carries them (`saw_tstamp`).
    pub saw: bool,
    /// `rcv_tsval`.
    pub value: u32,
    /// `rcv_tsecr`.
    pub echo: u32,
    /// `ts_recent`; 0 = none.
    pub recent: u32,
}

impl Stamps {
    /// `tcp_paws_check`. The wrap after 24 days is left out.
    fn check(&self, window: i32) -> bool {
        self.recent == 0 || self.recent.wrapping_sub(self.value) as i32 <= window
    }

    /// `tcp_tsopt_ecr_before`.
    pub fn echo_before(&self, when: u32) -> bool {
        self.saw && self.echo != 0 && (self.echo.wrapping_sub(when) as i32) < 0
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// Whether the segment is too old to be taken (`tcp_paws_discard`).
    pub(super) fn paws_discard(&self, segment: &Segment) -> bool {
        if !self.stamps.saw || self.stamps.check(WINDOW) {
            return false;
        }
        // `tcp_disordered_ack`: a plain duplicate ACK may be somewhat older.
        let replay = self.rtt.rto * 1200 / u64::from(self.clock.hz());
        let age = self.stamps.recent.wrapping_sub(self.stamps.value) as i32;
        let disordered = !segment.is_data()
            && self.compare_una(segment).is_eq()
            && !self.may_update_window(segment)
            && i64::from(age) <= replay as i64;
        !disordered
    }

    /// `tcp_replace_ts_recent`: pure ACKs are always at the left edge.
    pub(super) fn replace_ts_recent(&mut self) {
        if self.stamps.saw && self.stamps.check(0) {
            self.stamps.recent = self.stamps.value;
        }
    }

    /// Whether a segment outside the window was answered within half a second (`tcp_oow_rate_limited`).
    pub(super) fn oow_rate_limited(&mut self) -> bool {
        let elapsed = self.sk.jiffies.wrapping_sub(self.last_oow_ack) as i32;
        if self.last_oow_ack != 0 && (0..self.clock.hz() as i32 / 2).contains(&elapsed) {
            return true;
        }
        self.last_oow_ack = self.sk.jiffies;
        false
    }
}
