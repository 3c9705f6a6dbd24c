//! The window of 4.4BSD's TCP as FreeBSD 5 still has it (`tcp_input.c`, `tcp_timer.c`).
//!
//! Where it departs from RFC 5681:
//! * the window grows per ACK, not per packet acknowledged, so delayed ACKs slow it down;
//! * a cut leaves half of the smaller of cwnd and the receiver's window, in whole packets, not half of FlightSize.
//!   Every timeout cuts: a second one for the same segment leaves an ssthresh of two packets.

use super::{Ack, Congestion, CongestionControl, INFINITE, PACKET, Start};
use crate::{Nanos, Window256};

/// cwnd and ssthresh of BSD, in bytes: where its integer division rounds decides how fast a large window grows.
#[derive(Clone, Debug)]
pub struct Bsd {
    cwnd: u64,
    ssthresh: u64,
    /// `t_maxseg`.
    mss: u64,
    /// The receiver's window as the sender is configured, packets.
    limit: u32,
}

impl Bsd {
    /// ssthresh is infinite before the first cut.
    pub fn new(start: &Start) -> Self {
        let mss = u64::from(start.mss);
        let mut fresh = Self { cwnd: mss, ssthresh: 0, mss, limit: start.receive_window };
        fresh.ssthresh = fresh.bytes(INFINITE);
        fresh
    }

    /// `min(snd_wnd, snd_cwnd) / 2 / t_maxseg`, at least 2, in bytes.
    fn cut(&self) -> u64 {
        u64::from((self.window().min(self.limit) / 2).max(2)) * self.mss
    }

    /// Rounded up, so that [`Self::of_packet`] leads back to the same number.
    fn bytes(&self, window: Window256) -> u64 {
        (u64::from(window) * self.mss).div_ceil(u64::from(PACKET))
    }

    fn of_packet(&self, bytes: u64) -> Window256 {
        u32::try_from(bytes * u64::from(PACKET) / self.mss).unwrap_or(u32::MAX)
    }
}

impl CongestionControl for Bsd {
    fn on_established(&mut self, initial_window: u32, _rtt: Option<Nanos>) {
        self.cwnd = u64::from(initial_window) * self.mss;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.opens_window() {
            return;
        }
        // `cw > snd_ssthresh` grows linearly: at ssthresh itself once more by a packet.
        let linear = self.cwnd > self.ssthresh;
        // At least a byte, as FreeBSD's later `cc_newreno.c` has it.
        self.cwnd += if linear { (self.mss * self.mss / self.cwnd).max(1) } else { self.mss };
    }

    fn on_congestion(&mut self, event: Congestion, _flight: u32, _now: Nanos) {
        self.ssthresh = self.cut();
        self.cwnd = match event {
            Congestion::FastRetransmit | Congestion::Ecn => self.ssthresh,
            Congestion::Timeout { .. } => self.mss,
        };
    }

    fn on_recovery_exit(&mut self, _flight: u32, most: u32) {
        self.cwnd = self.cwnd.min(u64::from(most) * self.mss);
    }

    fn set_window(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>) {
        self.cwnd = cwnd.map_or(self.cwnd, |cwnd| self.bytes(cwnd));
        self.ssthresh = ssthresh.map_or(self.ssthresh, |ssthresh| self.bytes(ssthresh));
    }

    #[inline]
    fn window(&self) -> u32 {
        u32::try_from(self.cwnd / self.mss).unwrap_or(u32::MAX)
    }

    fn cwnd(&self) -> Window256 {
        self.of_packet(self.cwnd)
    }

    fn ssthresh(&self) -> Window256 {
        self.of_packet(self.ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NO_SSTHRESH;
    use super::*;

    const MSS: u64 = 1448;
    const START: Start = Start { mss: MSS as u16, receive_window: 10_000, initial_ssthresh: NO_SSTHRESH };

    fn at(packets: u32) -> Bsd {
        Bsd { cwnd: u64::from(packets) * MSS, ..Bsd::new(&START) }
    }

    /// 21 packets: 10 in whole packets, then one packet, whose half is below the floor of 2.
    #[test]
    fn every_timeout_cuts() {
        let mut window = at(21);
        window.on_congestion(Congestion::Timeout { repeated: false }, 5, 0);
        assert_eq!((window.cwnd(), window.ssthresh()), (PACKET, 10 * PACKET));
        window.on_congestion(Congestion::Timeout { repeated: true }, 5, 0);
        assert_eq!((window.cwnd(), window.ssthresh()), (PACKET, 2 * PACKET));
    }

    #[test]
    fn a_fast_retransmit_halves_the_smaller_of_cwnd_and_the_receivers_window() {
        let mut window = at(40);
        window.on_congestion(Congestion::FastRetransmit, 3, 0);
        assert_eq!((window.cwnd(), window.ssthresh()), (20 * PACKET, 20 * PACKET));
        let mut window = Bsd { limit: 16, ..at(40) };
        window.on_congestion(Congestion::FastRetransmit, 16, 0);
        assert_eq!(window.ssthresh(), 8 * PACKET);
    }

    /// One packet per ACK up to ssthresh, then 1448 * 1448 / (3 * 1448) = 482 bytes, which are 85.2 of 256.
    #[test]
    fn growth_is_per_ack() {
        let mut window = Bsd { ssthresh: 2 * MSS, ..at(1) };
        for expected in [2 * PACKET, 3 * PACKET, 3 * PACKET + 85] {
            window.on_ack(&Ack::of(2));
            assert_eq!(window.cwnd(), expected);
        }
    }

    /// `incr * incr / cw` of `tcp_input.c`, in `u_int` bytes, for a window of ACKs. The first of them adds
    /// `t_maxseg / packets`, rounded down, and later ones less as cw grows.
    #[test]
    fn growth_is_that_of_freebsd_in_bytes() {
        let t_maxseg: u32 = 1448;
        for (packets, first) in [(3, 482), (64, 22), (86, 16), (129, 11), (256, 5), (1_000, 1)] {
            let mut window = Bsd { ssthresh: 2 * MSS, ..at(packets) };
            let mut cw = packets * t_maxseg;
            assert_eq!(t_maxseg * t_maxseg / cw, first);
            for ack in 1..=packets {
                cw += t_maxseg * t_maxseg / cw;
                window.on_ack(&Ack::of(2));
                assert_eq!(window.cwnd(), cw * 256 / t_maxseg, "ACK {ack} at {packets} packets");
            }
        }
    }

    /// Above `t_maxseg` packets the quotient is 0, and a byte is added.
    #[test]
    fn growth_is_at_least_a_byte() {
        let mut window = Bsd { ssthresh: 2 * MSS, ..at(2_000) };
        for _ in 0..MSS {
            window.on_ack(&Ack::of(2));
        }
        assert_eq!(window.cwnd(), 2_001 * PACKET);
    }

    /// Advice counts in 1/256 packet: cwnd taken from the window and given back stays, and so does no threshold.
    #[test]
    fn advice_gives_back_what_it_was_shown() {
        let mut window = Bsd::new(&START);
        for cwnd in [256, 257, 999, 1000, 25_601, u32::MAX] {
            window.set_window(Some(cwnd), None);
            assert_eq!((window.cwnd(), window.ssthresh()), (cwnd, u32::MAX));
            window.set_window(None, Some(u32::MAX));
            assert_eq!(window.ssthresh(), u32::MAX);
        }
    }
}
