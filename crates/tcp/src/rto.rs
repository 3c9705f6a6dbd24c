//! Retransmission timeout: RFC 6298, with the clock's tick as a parameter. The scaled integer arithmetic is that of
//! Jacobson and Karels (SIGCOMM 1988, appendix A), which BSD and ns-2 use.
//!
//! With a tick of 1 ns it is RFC 6298 to the nanosecond; with 10 ms it is ns-2's and BSD's.

use crate::Nanos;
use crate::advice::MinRto;

/// RFC 6298, 5.7.
const AFTER_SYN_TIMEOUT: Nanos = 3_000_000_000;

/// The timer rules of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoRules {
    /// Clock granularity; 1 = exact.
    pub tick: Nanos,
    /// Floor.
    pub min: Nanos,
    /// Added to every RTO (BSD).
    pub slop: Nanos,
    /// Ceiling, back-off included.
    pub max: Nanos,
    /// Before the first sample (RFC 6298, 2.1).
    pub initial: Nanos,
    /// Whether back-off stops at 64 (BSD's table) or only at `max` (RFC 6298, 5.5).
    pub backoff_stops_at_64: bool,
    /// SRTT is moved into RTTVAR once the back-off factor exceeds this (BSD, ns-2); 0 = never.
    pub forget_srtt_beyond: u32,
}

/// SRTT, RTTVAR and back-off of one sender.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    rules: RtoRules,
    /// Where in a tick the stack's clock stood at time zero.
    phase: Nanos,
    /// 8 SRTT in ticks; 0 = no sample yet.
    srtt8: i64,
    /// 4 RTTVAR in ticks.
    rttvar4: i64,
    /// RTO without floor and back-off.
    unclamped: Nanos,
    backoff: u32,
    floor: Option<Nanos>,
}

impl RtoEstimator {
    /// No sample yet.
    pub fn new(rules: RtoRules, phase: Nanos) -> Self {
        Self { rules, phase, srtt8: 0, rttvar4: 0, unclamped: rules.initial, backoff: 1, floor: None }
    }

    /// A round trip of a packet sent at `sent` and acknowledged at `now` (RFC 6298, 2.2 and 2.3).
    pub fn on_sample(&mut self, sent: Nanos, now: Nanos) {
        let tick = self.rules.tick;
        self.on_ticks(((sent + self.phase) % tick + (now - sent)) / tick);
    }

    /// A round trip by time stamps, in the nearest ticks (ns-2's `rtt_update` with `ts_option_`).
    pub fn on_stamp(&mut self, rtt: Nanos) {
        self.on_ticks((rtt + self.rules.tick / 2) / self.rules.tick);
    }

    #[inline(always)]
    fn on_ticks(&mut self, rtt: Nanos) {
        let tick = self.rules.tick;
        let rtt = rtt.max(1) as i64;
        if self.srtt8 != 0 {
            let mut delta = rtt - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + delta).max(1); // 7/8 SRTT + 1/8 R
            delta = delta.abs() - (self.rttvar4 >> 2);
            self.rttvar4 = (self.rttvar4 + delta).max(1); // 3/4 RTTVAR + 1/4 |SRTT - R|
        } else {
            self.srtt8 = rtt << 3;
            self.rttvar4 = rtt << 1; // RTTVAR = R/2
        }
        // SRTT + 4 RTTVAR
        self.unclamped = (((self.rttvar4 << 3) + self.srtt8) >> 3) as Nanos * tick + self.rules.slop;
    }

    /// RTO without back-off.
    pub fn base(&self) -> Nanos {
        self.unclamped.max(self.floor.unwrap_or(self.rules.min))
    }

    /// RTO with back-off, as the timer is set.
    pub fn rto(&self) -> Nanos {
        (self.base().saturating_mul(u64::from(self.backoff))).min(self.rules.max).max(2 * self.rules.tick)
    }

    /// The timer expired (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        self.back_off_probe();
        if self.rules.forget_srtt_beyond != 0 && self.backoff > self.rules.forget_srtt_beyond {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The persist timer expired: the next probe comes later (RFC 9293, 3.8.6.1). The path need not
    /// have changed, so SRTT stays.
    pub fn back_off_probe(&mut self) {
        if self.backoff < 64 || (!self.rules.backoff_stops_at_64 && self.rto() < self.rules.max) {
            self.backoff *= 2;
        }
    }

    /// Back-off ends.
    #[inline]
    pub fn clear_backoff(&mut self) {
        self.backoff = 1;
    }

    /// Factor of the exponential back-off.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The SYN was lost and is acknowledged now; without a sample data begins with an RTO of at
    /// least 3 s (RFC 6298, 5.7). A stack that starts with as much keeps its back-off.
    pub fn on_established_after_timeout(&mut self) {
        if self.srtt8 == 0 && self.rules.initial < AFTER_SYN_TIMEOUT {
            self.unclamped = AFTER_SYN_TIMEOUT;
            self.backoff = 1;
        }
    }

    /// Forgets SRTT and RTTVAR; the RTO keeps its value until the next sample.
    pub fn reinit(&mut self) {
        self.srtt8 = 0;
        self.rttvar4 = 0;
    }

    /// Changes the floor.
    pub fn set_min(&mut self, min: MinRto) {
        self.floor = match min {
            MinRto::Own => None,
            MinRto::AtLeast(floor) => Some(floor),
        };
    }

    /// The floor in force.
    pub fn min(&self) -> Nanos {
        self.floor.unwrap_or(self.rules.min)
    }

    /// SRTT, if there was a sample.
    pub fn srtt(&self) -> Option<Nanos> {
        (self.srtt8 != 0).then(|| (self.srtt8 >> 3) as Nanos * self.rules.tick)
    }

    /// RTTVAR.
    pub fn rttvar(&self) -> Nanos {
        (self.rttvar4 as Nanos * self.rules.tick) / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    const EXACT: RtoRules = RtoRules {
        tick: 1,
        min: 200 * MS,
        slop: 0,
        max: 60_000 * MS,
        initial: 1_000 * MS,
        backoff_stops_at_64: false,
        forget_srtt_beyond: 0,
    };

    #[test]
    fn rfc6298_2_1_initial() {
        assert_eq!(RtoEstimator::new(EXACT, 0).rto(), 1_000 * MS);
    }

    #[test]
    fn rfc6298_2_2_first_sample() {
        let mut rto = RtoEstimator::new(EXACT, 0);
        rto.on_sample(0, 100 * MS);
        // SRTT 100, RTTVAR 50, RTO = 100 + 4 * 50
        assert_eq!((rto.srtt(), rto.rttvar(), rto.rto()), (Some(100 * MS), 50 * MS, 300 * MS));
    }

    #[test]
    fn rfc6298_2_3_further_samples() {
        let mut rto = RtoEstimator::new(EXACT, 0);
        rto.on_sample(0, 160 * MS);
        rto.on_sample(0, 240 * MS);
        // RTTVAR = 3/4 * 80 + 1/4 * |160 - 240| = 80, SRTT = 7/8 * 160 + 1/8 * 240 = 170
        assert_eq!((rto.srtt(), rto.rttvar(), rto.rto()), (Some(170 * MS), 80 * MS, 490 * MS));
    }

    /// ns-2 counts 144 ms as 14 ticks and 145 ms as 15, wherever in a tick the packet was sent.
    #[test]
    fn stamps_are_rounded_to_the_nearest_tick() {
        let rules = RtoRules { tick: 10 * MS, ..EXACT };
        for (rtt, srtt) in [(144, 140), (145, 150), (4, 10)] {
            let mut rto = RtoEstimator::new(rules, 9 * MS);
            rto.on_stamp(rtt * MS);
            assert_eq!(rto.srtt(), Some(srtt * MS), "{rtt} ms");
        }
        let mut timed = RtoEstimator::new(rules, 9 * MS);
        timed.on_sample(0, 144 * MS);
        assert_eq!(timed.srtt(), Some(150 * MS), "by the ticks of the clock");
    }

    #[test]
    fn rfc6298_2_4_floor_and_2_5_ceiling() {
        let mut rto = RtoEstimator::new(EXACT, 0);
        rto.on_sample(0, 10 * MS);
        assert_eq!(rto.rto(), 200 * MS);
        for _ in 0..20 {
            rto.back_off();
        }
        assert_eq!(rto.rto(), 60_000 * MS);
    }

    #[test]
    fn rfc6298_5_5_doubles() {
        let mut rto = RtoEstimator::new(EXACT, 0);
        rto.on_sample(0, 100 * MS);
        let seen: Vec<_> = (0..4)
            .map(|_| {
                let now = rto.rto() / MS;
                rto.back_off();
                now
            })
            .collect();
        assert_eq!(seen, [300, 600, 1200, 2400]);
    }

    /// ns-2 counts ticks that begin during the round trip: 41 ms sent 9 ms into a tick are 5.
    #[test]
    fn ticks_round_as_the_clock_falls() {
        let rules = RtoRules { tick: 10 * MS, forget_srtt_beyond: 8, ..EXACT };
        let mut rto = RtoEstimator::new(rules, 0);
        rto.on_sample(9 * MS, 50 * MS);
        assert_eq!(rto.srtt(), Some(50 * MS));
        let mut rto = RtoEstimator::new(rules, 0);
        rto.on_sample(0, 41 * MS);
        assert_eq!(rto.srtt(), Some(40 * MS));
        for backoff in [2, 4, 8] {
            rto.back_off();
            assert_eq!((rto.backoff(), rto.srtt()), (backoff, Some(40 * MS)));
        }
        rto.back_off();
        assert_eq!(rto.srtt(), None, "clobbered at 16, as in BSD");
    }
}
