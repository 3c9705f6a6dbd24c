//! The window of 4.4BSD's TCP as FreeBSD 5 still has it (`tcp_input.c`, `tcp_timer.c`).
//!
//! Where it departs from RFC 5681:
//! * the window grows per ACK, not per packet acknowledged, so delayed ACKs slow it down;
//! * a cut leaves half of the smaller of cwnd and the receiver's window, in whole packets, not half of
//!   FlightSize, and every timeout cuts: a second one for the same segment leaves an ssthresh of two packets.

use super::CongestionControl;
use crate::Window256;

const PACKET: Window256 = 256;

/// cwnd and ssthresh of BSD.
#[derive(Clone, Debug)]
pub struct BsdWindow {
    cwnd: Window256,
    ssthresh: Window256,
    /// The receiver's window as the sender is configured, packets.
    limit: u32,
}

impl BsdWindow {
    /// A connection that has not been opened: one packet, the SYN.
    pub fn new(limit: u32) -> Self {
        Self { cwnd: PACKET, ssthresh: u32::MAX, limit }
    }

    /// `min(snd_wnd, snd_cwnd) / 2 / t_maxseg`, at least 2.
    fn cut(&self) -> Window256 {
        (self.window().min(self.limit) / 2).max(2) * PACKET
    }
}

impl CongestionControl for BsdWindow {
    #[inline]
    fn on_new_ack(&mut self, _acked: u32) {
        // `cw > snd_ssthresh` grows linearly: at ssthresh itself once more by a packet.
        let growth = if self.cwnd > self.ssthresh { (PACKET * PACKET / self.cwnd).max(1) } else { PACKET };
        self.cwnd = self.cwnd.saturating_add(growth);
    }

    fn on_fast_retransmit(&mut self, _flight: u32) {
        self.ssthresh = self.cut();
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, _flight: u32, _repeated: bool) {
        self.ssthresh = self.cut();
        self.cwnd = PACKET;
    }

    fn on_little_outstanding(&mut self, most: u32) {
        self.cwnd = self.cwnd.min(most.saturating_mul(PACKET));
    }

    fn on_notice(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>) {
        self.cwnd = cwnd.unwrap_or(self.cwnd);
        self.ssthresh = ssthresh.unwrap_or(self.ssthresh);
    }

    fn on_established(&mut self, initial_window: u32) {
        self.cwnd = initial_window * PACKET;
    }

    #[inline]
    fn window(&self) -> u32 {
        self.cwnd / PACKET
    }

    fn cwnd(&self) -> Window256 {
        self.cwnd
    }

    fn ssthresh(&self) -> Window256 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(packets: u32) -> BsdWindow {
        BsdWindow { cwnd: packets * PACKET, ..BsdWindow::new(10_000) }
    }

    /// 21 packets: 10 in whole packets, then one packet, whose half is below the floor of 2.
    #[test]
    fn every_timeout_cuts() {
        let mut window = at(21);
        window.on_timeout(5, false);
        assert_eq!((window.cwnd, window.ssthresh), (PACKET, 10 * PACKET));
        window.on_timeout(5, true);
        assert_eq!((window.cwnd, window.ssthresh), (PACKET, 2 * PACKET));
    }

    #[test]
    fn a_fast_retransmit_halves_the_smaller_of_cwnd_and_the_receivers_window() {
        let mut window = at(40);
        window.on_fast_retransmit(3);
        assert_eq!((window.cwnd, window.ssthresh), (20 * PACKET, 20 * PACKET));
        let mut window = BsdWindow { limit: 16, ..at(40) };
        window.on_fast_retransmit(16);
        assert_eq!(window.ssthresh, 8 * PACKET);
    }

    /// One packet per ACK up to ssthresh, then 1/cwnd: 256 * 256 / 768 = 85 of 256.
    #[test]
    fn growth_is_per_ack() {
        let mut window = BsdWindow { ssthresh: 2 * PACKET, ..at(1) };
        for expected in [2 * PACKET, 3 * PACKET, 3 * PACKET + 85] {
            window.on_new_ack(2);
            assert_eq!(window.cwnd, expected);
        }
    }
}
