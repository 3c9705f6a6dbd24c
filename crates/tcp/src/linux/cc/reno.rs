//! Reno (`tcp_cong.c`): slow start, then one packet per window; half of cwnd after a loss.

use super::{CongestionOps, Sock};

/// It remembers nothing.
#[derive(Clone, Debug)]
pub struct Reno;

impl Reno {
    /// Nothing is drawn by lot.
    pub fn new(_seed: u64) -> Self {
        Self
    }
}

impl CongestionOps for Reno {
    /// `tcp_reno_ssthresh`.
    fn ssthresh(&mut self, sk: &Sock) -> u32 {
        (sk.snd_cwnd >> 1).max(2)
    }

    /// `tcp_reno_cong_avoid`.
    #[inline]
    fn cong_avoid(&mut self, sk: &mut Sock, mut acked: u32) {
        if !sk.cwnd_limited() {
            return;
        }
        if sk.in_slow_start() {
            acked = sk.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        sk.cong_avoid_ai(sk.snd_cwnd, acked);
    }

    /// `tcp_reno_undo_cwnd`.
    fn undo_cwnd(&mut self, sk: &Sock) -> u32 {
        sk.snd_cwnd.max(sk.prior_cwnd)
    }
}

#[cfg(test)]
mod tests;
