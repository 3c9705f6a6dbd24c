//! RFC 5681: slow start, congestion avoidance and their cuts, in 1/256 packet.

use super::{Ack, Congestion, CongestionControl, INFINITE, NO_SSTHRESH, PACKET, Start};
use crate::{Nanos, Window256};

/// RFC 3465, 2.3: L = 2 packets.
const ABC_LIMIT: Window256 = 2 * PACKET;

/// cwnd and ssthresh of RFC 5681.
#[derive(Clone, Debug)]
pub struct Rfc5681 {
    cwnd: Window256,
    ssthresh: Window256,
    /// Packets acknowledged since cwnd last grew in congestion avoidance, 1/256 packet.
    credit: Window256,
    /// Most that one ACK adds to cwnd in slow start.
    most_per_ack: Window256,
}

impl Rfc5681 {
    /// An initial ssthresh that does not fit is infinite.
    pub fn new(start: &Start) -> Self {
        let ssthresh = start.initial_ssthresh;
        let ssthresh = if ssthresh < NO_SSTHRESH { ssthresh * PACKET } else { INFINITE };
        Self { cwnd: PACKET, ssthresh, credit: 0, most_per_ack: ABC_LIMIT }
    }

    /// RFC 5681, equation (4).
    fn half_flight(flight: u32) -> Window256 {
        (flight * PACKET / 2).max(2 * PACKET)
    }
}

impl CongestionControl for Rfc5681 {
    fn on_established(&mut self, initial_window: u32, _rtt: Option<Nanos>) {
        self.cwnd = initial_window * PACKET;
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.opens_window() {
            return;
        }
        let mut acked = ack.acked * PACKET;
        if self.cwnd < self.ssthresh {
            // RFC 5681, equation (2), and RFC 3465: at most two packets per ACK.
            acked = acked.min(self.most_per_ack);
            let growth = acked.min(self.ssthresh - self.cwnd);
            self.cwnd = self.cwnd.saturating_add(growth);
            acked -= growth;
            if self.cwnd < self.ssthresh {
                return;
            }
        }
        self.most_per_ack = ABC_LIMIT; // slow start is over, whatever has ended it
        // RFC 5681, 3.1: one packet per window of packets acknowledged.
        self.credit = self.credit.saturating_add(acked);
        if self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd = self.cwnd.saturating_add(PACKET);
        }
    }

    fn on_congestion(&mut self, event: Congestion, flight: u32, _now: Nanos) {
        self.credit = 0;
        match event {
            // RFC 3168, 6.1.2: as to a packet that was lost.
            Congestion::FastRetransmit | Congestion::Ecn => {
                self.ssthresh = Self::half_flight(flight);
                self.cwnd = self.ssthresh;
            }
            Congestion::Timeout { repeated } => {
                // RFC 5681, 3.1: a segment that is lost again does not cut ssthresh again.
                if !repeated {
                    self.ssthresh = Self::half_flight(flight);
                }
                self.cwnd = PACKET;
                // RFC 3465, 2.3: L = 1 in the slow start after a timeout, whose ACKs jump over what the
                // receiver had all along.
                self.most_per_ack = PACKET;
            }
        }
    }

    fn on_recovery_exit(&mut self, _flight: u32, most: u32) {
        self.cwnd = self.cwnd.min(most.saturating_mul(PACKET));
    }

    fn set_window(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>) {
        self.cwnd = cwnd.unwrap_or(self.cwnd);
        self.ssthresh = ssthresh.unwrap_or(self.ssthresh);
        self.credit = 0;
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

    const START: Start = Start { mss: 1448, receive_window: 10_000, initial_ssthresh: NO_SSTHRESH };

    #[test]
    fn slow_start_counts_packets_up_to_two_per_ack() {
        let mut window = Rfc5681::new(&START);
        window.on_established(10, None);
        window.on_ack(&Ack::of(2));
        window.on_ack(&Ack::of(5));
        assert_eq!(window.window(), 14);
    }

    #[test]
    fn congestion_avoidance_adds_one_packet_per_window() {
        let mut window = Rfc5681::new(&START);
        window.on_established(10, None);
        window.on_congestion(Congestion::FastRetransmit, 20, 0);
        assert_eq!(window.window(), 10);
        for _ in 0..5 {
            window.on_ack(&Ack::of(2));
        }
        assert_eq!(window.window(), 11);
    }

    #[test]
    fn a_repeated_timeout_keeps_ssthresh() {
        let mut window = Rfc5681::new(&START);
        window.on_established(10, None);
        window.on_congestion(Congestion::Timeout { repeated: false }, 20, 0);
        window.on_congestion(Congestion::Timeout { repeated: true }, 20, 0);
        assert_eq!((window.window(), window.ssthresh()), (1, 10 * PACKET));
    }

    /// Found by a script: an ACK of six packets opened the window by three.
    #[test]
    fn an_ack_adds_no_more_than_its_limit() {
        let mut window = Rfc5681::new(&START);
        window.on_established(10, None);
        window.set_window(None, Some(12 * PACKET));
        window.on_ack(&Ack::of(40));
        assert_eq!(window.window(), 12);
        window.on_congestion(Congestion::Timeout { repeated: false }, 12, 0);
        window.on_ack(&Ack::of(6));
        assert_eq!(window.window(), 2);
    }

    /// RFC 3465, 2.3: L = 1 is for the slow start that a timeout begins. A fast retransmit or a notice ends it as well
    /// as the threshold does. The slow start that a later notice begins has L = 2.
    #[test]
    fn the_limit_after_a_timeout_ends_with_its_slow_start() {
        let by_notice = |window: &mut Rfc5681| window.set_window(Some(20 * PACKET), Some(20 * PACKET));
        let by_fast_retransmit =
            |window: &mut Rfc5681| window.on_congestion(Congestion::FastRetransmit, 20, 0);
        for end in [by_notice, by_fast_retransmit] as [fn(&mut Rfc5681); 2] {
            let mut window = Rfc5681::new(&START);
            window.on_established(10, None);
            window.on_congestion(Congestion::Timeout { repeated: false }, 40, 0);
            window.on_ack(&Ack::of(2));
            assert_eq!(window.cwnd(), 2 * PACKET);
            end(&mut window);
            window.on_ack(&Ack::of(2));
            let before = window.window();
            window.set_window(None, Some(100 * PACKET));
            window.on_ack(&Ack::of(2));
            assert_eq!(window.window(), before + 2);
        }
    }

    #[test]
    fn ssthresh_never_falls_below_two() {
        let mut window = Rfc5681::new(&START);
        window.on_congestion(Congestion::Timeout { repeated: false }, 1, 0);
        assert_eq!(window.ssthresh(), 2 * PACKET);
    }
}
