//! The window of ns-2 2.35's one-way TCP agents (`opencwnd`, `slowdown`), `precisionReduce_` off.
//!
//! Where it departs from RFC 5681:
//! * the window grows per ACK, not per packet acknowledged, so delayed ACKs slow it down;
//! * a cut halves the integer part of cwnd, not FlightSize. It does so at every timeout, also at a second one for the
//!   same segment and at one inside fast recovery (algorithms.md, section 1);
//! * a cut in fast recovery may leave a window of 0, from which only the timer leads out;
//! * cwnd is a real number and ssthresh an integer.

use super::{Ack, Congestion, CongestionControl, PACKET, Start};
use crate::{Nanos, Window256};

/// cwnd and ssthresh of ns-2.
#[derive(Clone, Debug)]
pub struct Ns2 {
    cwnd: f64,
    ssthresh: u32,
    /// `window_`: the receiver's window as the sender is configured.
    limit: u32,
}

impl Ns2 {
    /// Slow start ends at the receiver's window.
    pub fn new(start: &Start) -> Self {
        let limit = start.receive_window;
        Self { cwnd: 1.0, ssthresh: limit, limit }
    }

    fn half(&self) -> u32 {
        self.window() / 2
    }
}

impl CongestionControl for Ns2 {
    fn on_established(&mut self, initial_window: u32, _rtt: Option<Nanos>) {
        self.cwnd = f64::from(initial_window);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.opens_window() {
            return;
        }
        if self.cwnd < f64::from(self.ssthresh) {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
    }

    fn on_congestion(&mut self, event: Congestion, _flight: u32, _now: Nanos) {
        match event {
            Congestion::FastRetransmit | Congestion::Ecn => {
                let half = self.half();
                self.ssthresh = half.max(2);
                self.cwnd = f64::from(half);
            }
            Congestion::Timeout { .. } => {
                if self.cwnd < 1.0 {
                    self.cwnd = 1.0;
                }
                self.ssthresh = self.half().max(2);
                self.cwnd = 1.0;
            }
        }
    }

    fn on_recovery_exit(&mut self, flight: u32, _most: u32) {
        // With nothing outstanding a window of 0 would wait for ever. ns-2 does; but only advice can
        // lead there.
        if flight == 0 {
            self.cwnd = self.cwnd.max(1.0);
        }
    }

    fn set_window(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>) {
        if let Some(cwnd) = cwnd {
            self.cwnd = f64::from(cwnd) / f64::from(PACKET);
        }
        if let Some(ssthresh) = ssthresh {
            self.ssthresh = (ssthresh / PACKET).max(2);
        }
    }

    #[inline]
    fn window(&self) -> u32 {
        (self.cwnd as u32).min(self.limit)
    }

    fn cwnd(&self) -> Window256 {
        (self.cwnd * f64::from(PACKET)) as u32
    }

    fn ssthresh(&self) -> Window256 {
        self.ssthresh * PACKET
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cwnd: u32, ssthresh: u32) -> Ns2 {
        Ns2 { cwnd: f64::from(cwnd), ssthresh, limit: 10_000 }
    }

    /// Figure 14a of Daniel and Kojo (2008): 20 packets, first timeout 10, second 2.
    #[test]
    fn second_timeout_leaves_two() {
        let mut window = at(20, 12);
        window.on_congestion(Congestion::Timeout { repeated: false }, 20, 0);
        assert_eq!((window.window(), window.ssthresh), (1, 10));
        window.on_congestion(Congestion::Timeout { repeated: true }, 20, 0);
        assert_eq!((window.window(), window.ssthresh), (1, 2));
    }

    /// Figure 20a: 61 at the fast retransmit, then 30, 6 and 3 as the window regrows in between.
    #[test]
    fn a_timeout_in_fast_recovery_cuts_again() {
        let mut window = at(123, 121);
        window.on_congestion(Congestion::FastRetransmit, 123, 0);
        assert_eq!((window.window(), window.ssthresh), (61, 61));
        window.on_congestion(Congestion::Timeout { repeated: false }, 123, 0);
        assert_eq!(window.ssthresh, 30);
    }

    /// Found by the random advice of `tests/properties.rs`. Advised to a window of 1, three duplicate ACKs halve it to
    /// 0, and the ACK that ends recovery is the last one.
    #[test]
    fn recovery_leaves_a_window_when_nothing_is_outstanding() {
        let mut window = at(1, 2);
        window.on_congestion(Congestion::FastRetransmit, 4, 0);
        assert_eq!(window.window(), 0);
        window.on_recovery_exit(1, u32::MAX);
        assert_eq!(window.window(), 0);
        window.on_recovery_exit(0, u32::MAX);
        assert_eq!(window.window(), 1);
    }

    #[test]
    fn grows_by_one_per_ack_then_by_one_per_window() {
        let mut window = at(3, 5);
        window.on_ack(&Ack::of(2));
        window.on_ack(&Ack::of(2));
        assert_eq!(window.window(), 5);
        for _ in 0..6 {
            window.on_ack(&Ack::of(2));
        }
        assert_eq!(window.window(), 6);
    }
}
