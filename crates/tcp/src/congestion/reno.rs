//! Linux's Reno (`net/ipv4/tcp_cong.c`): in whole packets, by what an ACK delivers, and only while cwnd is used.
//!
//! Where it departs from RFC 5681: a cut halves cwnd, not FlightSize; slow start has no limit per ACK (RFC 3465).

use super::{Ack, Congestion, CongestionControl, INFINITE, NO_SSTHRESH, PACKET, Start};
use crate::{Nanos, Window256};

/// `tcp_reno`, with what `tcp_sock` keeps for it.
#[derive(Clone, Debug)]
pub struct Reno {
    /// `snd_cwnd`, packets.
    cwnd: u32,
    /// `snd_ssthresh`, packets; [`NO_SSTHRESH`] is Linux's `TCP_INFINITE_SSTHRESH`.
    ssthresh: u32,
    /// `snd_cwnd_cnt`: packets delivered since cwnd last grew in congestion avoidance.
    count: u32,
    /// `prior_cwnd` and `prior_ssthresh`: what an undo brings back.
    prior: Option<(u32, u32)>,
}

impl Reno {
    /// `tcp_init_sock`.
    pub fn new(start: &Start) -> Self {
        Self { cwnd: 1, ssthresh: start.initial_ssthresh.min(NO_SSTHRESH), count: 0, prior: None }
    }

    /// `tcp_slow_start`; what is left of `delivered` is congestion avoidance's.
    fn slow_start(&mut self, delivered: u32) -> u32 {
        let growth = delivered.min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        delivered - growth
    }

    /// `tcp_cong_avoid_ai`: a packet for each `per` packets delivered.
    fn congestion_avoidance(&mut self, per: u32, delivered: u32) {
        if self.count >= per {
            // "If credits accumulated at a higher w, apply them gently now."
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += delivered;
        self.cwnd += self.count / per;
        self.count %= per;
    }

    /// `tcp_current_ssthresh` into `prior_ssthresh`, then `tcp_reno_ssthresh`.
    fn cut(&mut self) {
        self.prior = Some((self.cwnd, self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)));
        self.ssthresh = (self.cwnd / 2).max(2);
    }
}

impl CongestionControl for Reno {
    fn on_established(&mut self, initial_window: u32, _rtt: Option<Nanos>) {
        self.cwnd = initial_window;
    }

    /// `tcp_reno_cong_avoid`.
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.opens_window() || !ack.cwnd_limited {
            return;
        }
        let mut delivered = ack.newly_delivered;
        if self.cwnd < self.ssthresh {
            delivered = self.slow_start(delivered);
            if delivered == 0 {
                return;
            }
        }
        self.congestion_avoidance(self.cwnd, delivered);
    }

    /// `tcp_init_cwnd_reduction` and `tcp_enter_loss`, which alone cuts no more for a segment that is lost again.
    fn on_congestion(&mut self, event: Congestion, _flight: u32, _now: Nanos) {
        self.count = 0;
        match event {
            Congestion::FastRetransmit | Congestion::Ecn => {
                self.cut();
                self.cwnd = self.ssthresh;
            }
            Congestion::Timeout { repeated } => {
                if !repeated {
                    self.cut();
                }
                self.cwnd = 1;
            }
        }
    }

    fn on_recovery_exit(&mut self, _flight: u32, most: u32) {
        self.cwnd = self.cwnd.min(most);
    }

    /// `tcp_undo_cwnd_reduction`.
    fn on_spurious(&mut self) {
        if let Some((cwnd, ssthresh)) = self.prior.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    #[inline]
    fn watches_use(&self) -> bool {
        true
    }

    fn set_window(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>) {
        self.cwnd = cwnd.map_or(self.cwnd, |cwnd| (cwnd / PACKET).max(1));
        self.ssthresh = ssthresh.map_or(self.ssthresh, |ssthresh| ssthresh / PACKET);
    }

    fn cwnd(&self) -> Window256 {
        self.cwnd.saturating_mul(PACKET)
    }

    fn ssthresh(&self) -> Window256 {
        if self.ssthresh < NO_SSTHRESH { self.ssthresh * PACKET } else { INFINITE }
    }

    #[inline]
    fn window(&self) -> u32 {
        self.cwnd
    }
}

#[cfg(test)]
mod tests;
