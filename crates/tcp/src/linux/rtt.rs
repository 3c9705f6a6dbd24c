//! Round trips and the retransmission timeout.
//!
//! Source: net/ipv4/tcp_input.c (`tcp_rtt_estimator`, `tcp_set_rto`, `tcp_ack_update_rtt`, `tcp_update_rtt_min`),
//! include/net/tcp.h (`__tcp_set_rto`, `tcp_bound_rto`); RFC 6298 with a floor under the variance alone.

use super::cc::{MinMax, RateSample, Sock};
use super::wheel::Clock;
use super::{LinuxSender, flag};
use crate::advice::{Advisor, MinRto};

/// Window of the smallest round trip, s (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: u32 = 300;

/// The estimator: mean and deviation in us, scaled as the kernel has them. `srtt_us` is the socket's.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    /// 4 times the mean deviation.
    pub mdev_us: u32,
    /// Largest deviation of the present round.
    mdev_max_us: u32,
    /// The variance term of the RTO.
    pub rttvar_us: u32,
    /// The round ends when `snd_una` passes this.
    rtt_seq: u32,
    /// Floor of the variance term (`tcp_rto_min_us`).
    pub rto_min_us: u32,
    /// Floor of the RTO as a whole, jiffies, which only advice sets; 0 = none.
    pub floor: u64,
    /// Ceiling of the RTO, jiffies (`TCP_RTO_MAX`).
    pub rto_max: u64,
    /// RTO, jiffies, doubled by every expiry (`icsk_rto`).
    pub rto: u64,
}

impl Rtt {
    /// Before the first sample (`tcp_init_sock`): a RTO of `initial_us`.
    pub fn new(clock: &Clock, initial_us: u32, rto_min_us: u32, rto_max_us: u64) -> Self {
        Self {
            mdev_us: initial_us,
            mdev_max_us: 0,
            rttvar_us: 0,
            rtt_seq: 0,
            rto_min_us,
            floor: 0,
            rto_max: clock.from_us(rto_max_us),
            rto: clock.from_us(initial_us.into()),
        }
    }

    /// Takes a round trip of `mrtt_us` (`tcp_rtt_estimator`).
    pub fn estimate(&mut self, sk: &mut Sock, mrtt_us: u32) {
        if sk.srtt_us == 0 {
            sk.srtt_us = (mrtt_us << 3).max(1);
            self.mdev_us = mrtt_us << 1;
            self.rttvar_us = self.mdev_us.max(self.rto_min_us);
            self.mdev_max_us = self.rttvar_us;
            self.rtt_seq = sk.snd_nxt;
            return;
        }
        let mut m = i64::from(mrtt_us) - i64::from(sk.srtt_us >> 3);
        sk.srtt_us = (i64::from(sk.srtt_us) + m).max(1) as u32;
        let quarter = i64::from(self.mdev_us >> 2);
        if m < 0 {
            // A falling RTT widens the deviation by an eighth only (Eifel).
            m = -m - quarter;
            if m > 0 {
                m >>= 3;
            }
        } else {
            m -= quarter;
        }
        self.mdev_us = (i64::from(self.mdev_us) + m) as u32;
        if self.mdev_us > self.mdev_max_us {
            self.mdev_max_us = self.mdev_us;
            self.rttvar_us = self.rttvar_us.max(self.mdev_max_us);
        }
        if sk.snd_una > self.rtt_seq {
            if self.mdev_max_us < self.rttvar_us {
                self.rttvar_us -= (self.rttvar_us - self.mdev_max_us) >> 2;
            }
            self.rtt_seq = sk.snd_nxt;
            self.mdev_max_us = self.rto_min_us;
        }
    }

    /// RTO without back-off, jiffies (`__tcp_set_rto`, `tcp_bound_rto`).
    pub fn base(&self, sk: &Sock, clock: &Clock) -> u64 {
        let rto = clock.from_us(u64::from(sk.srtt_us >> 3) + u64::from(self.rttvar_us));
        rto.max(self.floor).min(self.rto_max)
    }

    /// Nothing is known of the path: a RTO of `rto_us` until the first sample.
    pub fn forget(&mut self, clock: &Clock, sk: &mut Sock, rto_us: u64) {
        sk.srtt_us = 0;
        sk.rtt_min = MinMax::new(sk.jiffies, u32::MAX);
        self.rttvar_us = rto_us as u32;
        self.rto = clock.from_us(rto_us).min(self.rto_max);
    }

    /// The handshake gave no sample (`tcp_init_metrics`): 3 s.
    pub fn fall_back(&mut self, clock: &Clock) {
        const FALLBACK_US: u32 = 3_000_000;
        self.rttvar_us = FALLBACK_US;
        self.mdev_us = FALLBACK_US;
        self.mdev_max_us = FALLBACK_US;
        self.rto = clock.from_us(FALLBACK_US.into());
    }
}

impl<A: Advisor> LinuxSender<A> {
    /// An ACK's round trip: by the packets it acknowledges, else by the time stamp it echoes (`tcp_ack_update_rtt`).
    /// Says whether there was one.
    pub(super) fn ack_update_rtt(
        &mut self,
        flags: u32,
        mut seq_rtt_us: i64,
        sack_rtt_us: i64,
        mut ca_rtt_us: i64,
        rs: &mut RateSample,
    ) -> bool {
        if seq_rtt_us < 0 {
            seq_rtt_us = sack_rtt_us;
        }
        // RFC 7323, 4.1: only an ACK that advances measures by its echo.
        if seq_rtt_us < 0 && self.stamps.saw && self.stamps.echo != 0 && flags & flag::ACKED != 0 {
            let delta = self.time_stamp().wrapping_sub(self.stamps.echo);
            if delta < i32::MAX as u32 / 1000 && !self.is_of_old_path(delta) {
                seq_rtt_us = i64::from(delta.max(1)) * 1000;
                ca_rtt_us = seq_rtt_us;
            }
        }
        rs.rtt_us = ca_rtt_us;
        if seq_rtt_us < 0 {
            return false;
        }
        if self.advisor.listening() {
            let view = self.view();
            let advice = self.advisor.on_rtt_sample(&view, self.sk.snd_una - 1, seq_rtt_us as u64 * 1000);
            self.take(&advice);
            if advice.ignore_sample {
                return false;
            }
        }
        self.update_rtt_min(ca_rtt_us as u32);
        self.rtt.estimate(&mut self.sk, seq_rtt_us as u32);
        self.rtt.rto = self.rtt.base(&self.sk, &self.clock);
        self.retries.backoff = 0; // RFC 6298, section 5
        true
    }

    /// Advice bounds the RTO from below, at once. Without a sample, a bound that falls waits for one.
    pub(super) fn set_rto_floor(&mut self, min: MinRto) {
        self.rtt.floor = match min {
            MinRto::Own => 0,
            MinRto::AtLeast(least) => self.clock.from_us(least.div_ceil(1_000)),
        };
        let rto = match self.sk.srtt_us {
            0 => self.rtt.rto.max(self.rtt.floor),
            _ => self.rtt.base(&self.sk, &self.clock) << self.retries.backoff,
        };
        self.rtt.rto = rto.min(self.rtt.rto_max);
    }

    /// `tcp_update_rtt_min`. ACKs of full packets are never suspected to be delayed.
    fn update_rtt_min(&mut self, rtt_us: u32) {
        let window = MIN_RTT_WINDOW * self.clock.hz();
        let least = self.clock.to_us(1) as u32;
        let rtt_us = if rtt_us == 0 { least } else { rtt_us };
        self.sk.rtt_min.running_min(window, self.sk.jiffies, rtt_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket and an estimator that has taken `first` ms; HZ 1000 or 10000 for RTOs as fine as the vectors.
    fn after(first: u32) -> (Sock, Rtt, Clock) {
        let clock = Clock::new(10_000, 0);
        let mut sk = Sock::new(10_000, 1448);
        let mut rtt = Rtt::new(&clock, 1_000_000, 200_000, 120_000_000);
        sk.snd_nxt = 1;
        rtt.estimate(&mut sk, first * 1000);
        (sk, rtt, clock)
    }

    /// Takes `ms` as the only sample of a round, and returns the RTO in tenths of ms.
    fn round(sk: &mut Sock, rtt: &mut Rtt, clock: &Clock, ms: u32) -> u64 {
        sk.snd_una = sk.snd_nxt + 1;
        sk.snd_nxt += 2;
        rtt.estimate(sk, ms * 1000);
        rtt.base(sk, clock)
    }

    /// Whether all are within a tenth of ms, to which the vectors are rounded.
    fn close(got: &[u64], expected: &[u64]) {
        let near = got.iter().zip(expected).all(|(&a, &b)| a.abs_diff(b) <= 1);
        assert!(near && got.len() == expected.len(), "{got:?} is not {expected:?}");
    }

    #[test]
    fn tv_1_a_path_that_becomes_slow() {
        let (mut sk, mut rtt, clock) = after(20);
        assert_eq!((sk.srtt_us, rtt.rttvar_us, rtt.base(&sk, &clock)), (160_000, 200_000, 2200));
        for _ in 0..5 {
            assert_eq!(round(&mut sk, &mut rtt, &clock, 20), 2200);
        }
        assert_eq!(rtt.mdev_us / 100, 94); // 9.49 ms, printed as 9.5
        let mut got: Vec<u64> = (0..11).map(|_| round(&mut sk, &mut rtt, &clock, 620)).collect();
        close(&got.drain(..1).collect::<Vec<_>>(), &[7021]);
        close(&got, &[11410, 14127, 15662, 16374, 16700, 16852, 16819, 16615, 16268, 15810]);
    }

    #[test]
    fn tv_2_a_path_that_becomes_fast() {
        let (mut sk, mut rtt, clock) = after(600);
        assert_eq!(rtt.base(&sk, &clock), 18_000);
        let got: Vec<u64> = (0..12).map(|_| round(&mut sk, &mut rtt, &clock, 20)).collect();
        close(&got, &[17625, 17239, 16845, 16447, 16045, 15613, 15103, 14495, 13794, 13017, 12187, 11329]);
    }

    #[test]
    fn tv_3_one_echo_as_old_as_an_outage() {
        let (mut sk, mut rtt, clock) = after(50);
        while rtt.mdev_us > 100 {
            round(&mut sk, &mut rtt, &clock, 50);
        }
        assert_eq!(rtt.base(&sk, &clock), 2500);
        close(&[round(&mut sk, &mut rtt, &clock, 1050)], &[11752]);
        let got: Vec<u64> = (0..8).map(|_| round(&mut sk, &mut rtt, &clock, 50)).collect();
        close(&got, &[11283, 10639, 9899, 9119, 8339, 7581, 6863, 6193]);
    }
}
