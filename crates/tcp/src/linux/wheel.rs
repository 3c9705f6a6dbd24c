//! Jiffies and the timer wheel: most timers of Linux fire late, by up to an eighth of their length.
//!
//! Source: kernel/time/timer.c (`calc_index`, `calc_wheel_index`, `forward_timer_base`), include/linux/jiffies.h.

use crate::Nanos;

/// Jiffies at the start of the clock, modulo 4096: with phase 0 the reference's runs start here.
const FIRST_JIFFY: u64 = 2824;
/// Jiffies between the start of the clock and time zero; the clock never stands at zero.
const LEAD: u64 = 4096;

/// A host's clock: nanoseconds since boot, jiffies and milliseconds for time stamps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Length of a jiffy, ns.
    tick: Nanos,
    /// Jiffies per second (`HZ`).
    hz: u32,
    /// Time since boot at time zero.
    boot: Nanos,
}

impl Clock {
    /// A clock of `hz` jiffies per second. `phase`: how far beyond a boundary of 4096 jiffies time zero lies.
    pub fn new(hz: u32, phase: Nanos) -> Self {
        let tick = 1_000_000_000 / Nanos::from(hz);
        Self { tick, hz, boot: LEAD * tick + phase }
    }

    /// Jiffies per second.
    pub fn hz(&self) -> u32 {
        self.hz
    }

    /// Time since boot (`ktime_get_ns`).
    #[inline]
    pub fn since_boot(&self, now: Nanos) -> Nanos {
        now + self.boot
    }

    /// `jiffies`.
    #[inline]
    pub fn jiffies(&self, now: Nanos) -> u64 {
        FIRST_JIFFY + (now + self.boot) / self.tick
    }

    /// When `jiffies` becomes `jiffy`.
    #[inline]
    pub fn at(&self, jiffy: u64) -> Nanos {
        ((jiffy - FIRST_JIFFY) * self.tick).saturating_sub(self.boot)
    }

    /// `usecs_to_jiffies`: rounds up.
    #[inline]
    pub fn from_us(&self, us: u64) -> u64 {
        (us * u64::from(self.hz)).div_ceil(1_000_000)
    }

    /// `nsecs_to_jiffies`: rounds down.
    #[inline]
    pub fn from_ns(&self, ns: u64) -> u64 {
        ns / self.tick
    }

    /// `jiffies_to_usecs`.
    #[inline]
    pub fn to_us(&self, jiffies: u64) -> u64 {
        jiffies * 1_000_000 / u64::from(self.hz)
    }

    /// `jiffies_to_msecs`.
    #[inline]
    pub fn to_ms(&self, jiffies: u64) -> u64 {
        jiffies * 1_000 / u64::from(self.hz)
    }
}

/// The bucket of a timer set for `expires`: the jiffy in which it fires, and three times its level. `clk`: the wheel's
/// clock, which is `jiffies`, or one more while a timer's function runs.
#[inline]
fn bucket(expires: u64, clk: u64) -> (u64, u32) {
    // `LVL_START(n)`: 63 << 3 (n - 1); a level's granule is 8 times that of the one below.
    let distance = expires.saturating_sub(clk);
    let mut shift = 0;
    while shift < 24 && distance >= 63 << shift {
        shift += 3;
    }
    (((expires >> shift) + 1) << shift, shift)
}

/// The jiffy in which a timer set for `expires` fires.
#[inline]
pub fn fires(expires: u64, clk: u64) -> u64 {
    bucket(expires, clk).0
}

/// A timer and its place in the wheel (`struct timer_list`).
#[derive(Clone, Copy, Debug, Default)]
pub struct WheelTimer {
    expires: u64,
    fires: u64,
    shift: u32,
    moves: u32,
}

/// Where a timer lies: its level, and how often it was put into a bucket until then.
///
/// Timers of a host that fire in the same jiffy run by level, higher ones first (`collect_expired_timers`,
/// `__run_timers`). Within one bucket, the one put there last is first (`enqueue_timer`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerSlot {
    /// Three times the level.
    pub level: u32,
    /// Differs from that of the same timer in an earlier place.
    pub moves: u32,
}

impl WheelTimer {
    /// Sets it for jiffy `expires`, and returns the one in which it fires (`__mod_timer`).
    #[inline]
    pub fn set(&mut self, expires: u64, jiffies: u64, clk: u64) -> u64 {
        let waits = self.fires > jiffies;
        // One that waits for the same jiffy stays where it is, on a coarser level perhaps.
        if waits && self.expires == expires {
            return self.fires;
        }
        let (fires, shift) = bucket(expires, clk);
        self.expires = expires;
        if !waits || (self.fires, self.shift) != (fires, shift) {
            (self.fires, self.shift) = (fires, shift);
            self.moves = self.moves.wrapping_add(1);
        }
        fires
    }

    /// Where it lies, or lay last.
    #[inline]
    pub fn place(&self) -> TimerSlot {
        TimerSlot { level: self.shift, moves: self.moves }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinuxSettings;
    use super::*;

    /// TV-4: least and greatest delay over all phases of a timer set for so many ms.
    #[test]
    fn tv_4_delay_of_timers() {
        let delays = |hz: u32, ms: u64| {
            let clock = Clock::new(hz, 0);
            let set = clock.from_us(ms * 1000);
            let late = (0..4096).map(|now| clock.to_ms(fires(now + set, now) - now));
            (late.clone().min().unwrap(), late.max().unwrap())
        };
        let hz_250 = [
            (250, 256, 284),
            (304, 308, 336),
            (608, 612, 640),
            (1216, 1220, 1248),
            (2432, 2436, 2688),
            (6400, 6404, 6656),
            (25600, 25604, 27648),
        ];
        for (ms, least, most) in hz_250 {
            assert_eq!(delays(250, ms), (least, most), "{ms} ms at 250 Hz");
        }
        let hz_1000 = [
            (250, 251, 258),
            (608, 609, 672),
            (1216, 1217, 1280),
            (2432, 2433, 2496),
            (6400, 6401, 6912),
            (51200, 51201, 55296),
        ];
        for (ms, least, most) in hz_1000 {
            assert_eq!(delays(1000, ms), (least, most), "{ms} ms at 1000 Hz");
        }
    }

    /// A timer that is set for another jiffy of its bucket stays where it is; else it moves.
    #[test]
    fn places() {
        let mut timer = WheelTimer::default();
        assert_eq!(timer.set(1_000 + 100, 1_000, 1_000), 1_104);
        let place = timer.place();
        assert_eq!(place, TimerSlot { level: 3, moves: 1 });
        assert_eq!(timer.set(1_000 + 103, 1_000, 1_000), 1_104);
        assert_eq!(timer.place(), place);
        assert_eq!(timer.set(1_000 + 104, 1_000, 1_000), 1_112);
        assert_eq!(timer.place(), TimerSlot { level: 3, moves: 2 });
        // It has fired: a new place, though it is like the old one.
        assert_eq!(timer.set(1_112 + 60, 1_112, 1_113), 1_173);
        assert_eq!(timer.place(), TimerSlot { level: 0, moves: 3 });
    }

    /// The timers of the reference's cubic run 6400/9 -> 200/300, BBM 1 s at 8.2 s. The last ACK is at 8.203175 with an
    /// SRTT of 41.242 ms, TLP at 8.292, time-outs at 8.540, 9.056 and 10.048.
    #[test]
    fn timers_of_a_reference_run() {
        let clock = Clock::new(250, 0);
        let ms = |jiffy| clock.at(jiffy) / 1_000_000;
        let now = clock.jiffies(8_203_175_000);
        let probe = fires(now + clock.from_us(2 * 41_242 + 2000), now);
        assert_eq!(ms(probe), 8292);
        let rto = clock.from_us(41_242 + 200_000);
        let mut at = fires(probe + rto, probe + 1);
        assert_eq!(ms(at), 8540);
        for (k, expected) in [(1, 9056), (2, 10048)] {
            at = fires(at + (rto << k), at + 1);
            assert_eq!(ms(at), expected);
        }
    }

    /// Seed 1 has the reference's phase; the others stand anywhere in the 4096 jiffies of the wheel's first levels.
    #[test]
    fn the_phase_follows_from_the_seed() {
        let profile = crate::profile::LINUX_6_12;
        for hz in [100, 250, 300, 1000] {
            let settings = LinuxSettings { hz, ..profile.kernel.expect("a kernel") };
            let phases: Vec<Nanos> = (1..=100).map(|seed| settings.seeded(seed).phase).collect();
            let period = 4096 * 1_000_000_000 / Nanos::from(hz);
            assert_eq!(phases[0], 0);
            assert!(phases.iter().all(|&phase| phase < period), "{hz}");
            let early = phases[1..].iter().filter(|&&phase| phase < period / 2).count();
            assert!((30..70).contains(&early), "{hz}: {early} of 99 in the first half");
        }
    }
}
