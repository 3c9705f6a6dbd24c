//! A rate that changes with the weather: a table of (time, rate) that repeats.

use crate::random::{happens, normal, stream};
use crate::{Nanos, SECOND};
use std::cell::RefCell;
use std::sync::Arc;

/// Length of the table: after it the weather repeats.
const PERIOD: Nanos = 600 * SECOND;
/// A rate lasts so long.
const STEP: Nanos = SECOND / 10;
/// Share of a deviation from the mean that a step keeps.
const KEPT: f64 = 0.9;
/// A walk stays between these shares of its mean.
const WALK: [f64; 2] = [0.05, 2.0];

/// How the rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Each 100 ms 0.9 of the deviation from the mean stays, and a normal variable is added: a random walk that is
    /// pulled back, AR(1). `deviation`: standard deviation in the long run, parts per million of the mean. Rates stay
    /// within 5 % and 200 % of the mean.
    Walk {
        /// Parts per million.
        deviation: u32,
    },
    /// Two states, Markov's chain: each 100 ms it may change. Probabilities and the rate of the bad one in parts per
    /// million.
    Markov {
        /// Rate of the bad state, of the good one's.
        bad: u32,
        /// From good to bad.
        worsens: u32,
        /// From bad to good.
        mends: u32,
    },
    /// None, but for gaps.
    Constant,
}

/// Times without a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// From one beginning to the next, ns.
    pub every: Nanos,
    /// The first, ns.
    pub first: Nanos,
    /// ns.
    pub length: Nanos,
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryingRate {
    steps: Steps,
    /// Where the last transmission began: mostly the next one does, too.
    near: usize,
}

/// Until when (exclusive) and what, bit/s; ascending, the last ends the period.
type Steps = Arc<[(Nanos, u64)]>;

/// All that a table depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    rate: u64,
    changes: Changes,
    gaps: Option<Gaps>,
    seed: u64,
    number: u64,
}

/// Tables that a thread keeps, of some 100 kB each: those of a run that goes to and fro several times.
const KEPT_TABLES: usize = 16;

thread_local! {
    /// The latest, last. Bound and notices of each handoff ask for those of its links, and a table is 6,000 draws.
    static LATEST: RefCell<Vec<(Origin, Steps)>> = const { RefCell::new(Vec::new()) };
}

impl VaryingRate {
    /// A rate of so many bit/s (of a chain in its good state) with these changes. `number` is the link's own.
    pub fn new(rate: u64, changes: Changes, gaps: Option<Gaps>, seed: u64, number: u64) -> Self {
        let origin = Origin { rate, changes, gaps, seed, number };
        let steps = LATEST.with_borrow_mut(|latest| {
            let found = latest.iter().rposition(|(other, _)| *other == origin);
            let table = match found {
                Some(index) => latest.remove(index),
                None => (origin, origin.steps()),
            };
            if latest.len() == KEPT_TABLES {
                latest.remove(0);
            }
            let steps = table.1.clone();
            latest.push(table);
            steps
        });
        Self { steps, near: 0 }
    }

    /// When a transmission of `bytes` ends that begins at `start`.
    pub fn departure(&mut self, start: Nanos, bytes: u32) -> Nanos {
        let within = start % PERIOD;
        self.seek(within);
        let (end, rate) = self.steps[self.near];
        let need = u64::from(bytes) * 8 * SECOND;
        // All of it at one rate, as mostly. The same as below, in half as many bits.
        if rate > 0 && need.div_ceil(rate) <= end - within {
            return start + need.div_ceil(rate);
        }
        self.departure_over_steps(start, need)
    }

    /// Finds the step in which `within` lies.
    #[inline]
    fn seek(&mut self, within: Nanos) {
        let begin = self.near.checked_sub(1).map_or(0, |before| self.steps[before].0);
        if within < begin || self.steps[self.near].0 <= within {
            self.near = self.steps.partition_point(|step| step.0 <= within);
        }
    }

    /// The same of a transmission for which one rate does not last; `need` in bits times ns per second.
    fn departure_over_steps(&self, start: Nanos, need: u64) -> Nanos {
        let mut need = u128::from(need);
        let (mut round, mut within) = (start / PERIOD * PERIOD, start % PERIOD);
        let mut index = self.near;
        loop {
            let (end, rate) = self.steps[index];
            let room = u128::from(end - within) * u128::from(rate);
            if need <= room && rate > 0 {
                return round + within + need.div_ceil(u128::from(rate)) as Nanos;
            }
            need -= room;
            within = end;
            index += 1;
            if index == self.steps.len() {
                (round, within, index) = (round + PERIOD, 0, 0);
            }
        }
    }

    /// Bytes that it can carry within `[from, to)`.
    pub fn bytes_between(&self, from: Nanos, to: Nanos) -> u64 {
        let bits = |until: Nanos| {
            let whole = u128::from(until / PERIOD) * self.bits_until(PERIOD);
            whole + self.bits_until(until % PERIOD)
        };
        ((bits(to) - bits(from)) / (8 * u128::from(SECOND))) as u64
    }

    /// Capacity of the first period up to `time`, in bits times ns per second.
    fn bits_until(&self, time: Nanos) -> u128 {
        let mut begin = 0;
        let mut sum = 0;
        for &(end, rate) in &*self.steps {
            if begin >= time {
                break;
            }
            sum += u128::from(end.min(time).saturating_sub(begin)) * u128::from(rate);
            begin = end;
        }
        sum
    }

    /// Mean rate, bit/s.
    pub fn mean_rate(&self) -> u64 {
        ((self.bits_until(PERIOD) / u128::from(PERIOD)) as u64).max(1)
    }
}

impl Origin {
    /// Draws the table.
    fn steps(self) -> Steps {
        let Self { rate, changes, gaps, seed, number } = self;
        let mut random = stream(seed, number);
        let mean = rate as f64;
        let mut steps: Vec<(Nanos, u64)> = Vec::new();
        let mut push = |until: Nanos, rate: u64| match steps.last_mut() {
            Some(last) if last.1 == rate => last.0 = until,
            _ => steps.push((until, rate)),
        };
        // Both begin as they are in the long run.
        let mut deviation = match changes {
            Changes::Walk { deviation } => f64::from(deviation) / 1e6 * normal(&mut random),
            _ => 0.0,
        };
        let mut is_bad = match changes {
            Changes::Markov { worsens, mends, .. } => {
                let share = u64::from(worsens) * 1_000_000 / (u64::from(worsens) + u64::from(mends)).max(1);
                happens(&mut random, share as u32)
            }
            _ => false,
        };
        for start in (0..PERIOD).step_by(STEP as usize) {
            let present = match changes {
                Changes::Constant => rate,
                Changes::Walk { deviation: size } => {
                    let spread = f64::from(size) / 1e6 * libm::sqrt(1.0 - KEPT * KEPT);
                    let present = (1.0 + deviation).clamp(WALK[0], WALK[1]);
                    deviation = KEPT * deviation + spread * normal(&mut random);
                    (mean * present).round() as u64
                }
                Changes::Markov { bad, worsens, mends } => {
                    let present =
                        if is_bad { u128::from(rate) * u128::from(bad) / 1_000_000 } else { rate.into() };
                    is_bad ^= happens(&mut random, if is_bad { mends } else { worsens });
                    present as u64
                }
            };
            let (end, present) = (start + STEP, present.max(1));
            let Some(Gaps { every, first, length }) = gaps else {
                push(end, present);
                continue;
            };
            // The gap that began last, and the next one: `phase` is the time since.
            let mut at = start;
            while at < end {
                let phase = (at + every - first % every) % every;
                let (until, rate) =
                    if phase < length { (at + length - phase, 0) } else { (at + every - phase, present) };
                at = until.min(end);
                push(at, rate);
            }
        }
        steps.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Nanos = 1_000_000;

    fn rates(changes: Changes, seed: u64) -> Vec<f64> {
        let varying = VaryingRate::new(10_000_000, changes, None, seed, 0);
        let mut steps = varying.steps.iter().peekable();
        let at = (0..6000).map(|step| step * STEP);
        at.map(|at| {
            while steps.next_if(|step| step.0 <= at).is_some() {}
            steps.peek().unwrap().1 as f64 / 1e7
        })
        .collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// AR(1) with 0.9: mean 1, standard deviation 0.2, neighbours correlated by 0.9. Twenty runs of 600 s: the mean's
    /// standard error is 0.2 * sqrt((1 + 0.9) / (1 - 0.9) / 120000) = 0.0025.
    #[test]
    fn a_walk_has_its_moments() {
        let runs: Vec<Vec<f64>> =
            (1..=20).map(|seed| rates(Changes::Walk { deviation: 200_000 }, seed)).collect();
        let all: Vec<f64> = runs.iter().flatten().map(|rate| rate - 1.0).collect();
        assert!(mean(&all).abs() < 0.01, "{}", mean(&all));
        let squares = mean(&all.iter().map(|x| x * x).collect::<Vec<_>>());
        assert!((squares.sqrt() - 0.2).abs() < 0.01, "{}", squares.sqrt());
        let pairs: Vec<f64> =
            runs.iter().flat_map(|run| run.windows(2).map(|w| (w[0] - 1.0) * (w[1] - 1.0))).collect();
        assert!((mean(&pairs) / squares - 0.9).abs() < 0.02, "{}", mean(&pairs) / squares);
    }

    /// From good to bad in one step of fifty, back in one of ten. It is bad for 1/6 of the time, for 10 steps in a row.
    #[test]
    fn a_chain_has_its_shares() {
        let changes = Changes::Markov { bad: 200_000, worsens: 20_000, mends: 100_000 };
        let all: Vec<f64> = (1..=40).flat_map(|seed| rates(changes, seed)).collect();
        assert!(all.iter().all(|rate| [0.2, 1.0].contains(rate)));
        let bad = all.iter().filter(|rate| **rate < 0.5).count() as f64;
        let bursts = all.windows(2).filter(|w| w[0] > 0.5 && w[1] < 0.5).count() as f64;
        assert!((bad / all.len() as f64 - 1.0 / 6.0).abs() < 0.01, "{bad}");
        assert!((bad / bursts - 10.0).abs() < 0.7, "{}", bad / bursts);
    }

    /// 8 Mbit/s, a byte each us, but nothing from 12 s to 12.05 s and 15 s later.
    #[test]
    fn nothing_leaves_in_a_gap() {
        let gaps = Gaps { every: 15 * SECOND, first: 12 * SECOND, length: 50 * MS };
        let mut varying = VaryingRate::new(8_000_000, Changes::Constant, Some(gaps), 1, 0);
        assert_eq!(varying.departure(0, 1000), MS);
        assert_eq!(varying.departure(12 * SECOND - MS / 2, 1000), 12 * SECOND + 50 * MS + MS / 2);
        assert_eq!(varying.departure(27 * SECOND, 1000), 27 * SECOND + 51 * MS);
        assert_eq!(varying.bytes_between(11 * SECOND, 13 * SECOND), 1_950_000);
        // The table begins again.
        assert_eq!(varying.departure(612 * SECOND, 1000), 612 * SECOND + 51 * MS);
        assert_eq!(varying.mean_rate(), 8_000_000 * 14_950 / 15_000);
    }

    /// A table is the same whether it was kept or is drawn anew, and no other is taken for it.
    #[test]
    fn kept_tables_are_those_that_were_asked_for() {
        let of = |seed: u64, number: u64| {
            VaryingRate::new(1_000_000, Changes::Walk { deviation: 300_000 }, None, seed, number)
        };
        let drawn = |seed: u64, number: u64| {
            std::thread::spawn(move || of(seed, number)).join().expect("a thread of its own has kept none")
        };
        let many = KEPT_TABLES as u64 + 3;
        for (seed, number) in (0..many).chain([2, many - 1, many - 1]).flat_map(|seed| [(seed, 0), (seed, 1)])
        {
            assert_eq!(of(seed, number), drawn(seed, number), "{seed} {number}");
        }
        assert_ne!(of(1, 0), of(1, 1));
        assert!(Arc::ptr_eq(&of(1, 0).steps, &of(1, 0).steps));
        let gaps = Gaps { every: 15 * SECOND, first: 12 * SECOND, length: 50 * MS };
        let constant = |gaps| VaryingRate::new(1_000_000, Changes::Constant, gaps, 1, 0);
        assert_ne!(constant(None), constant(Some(gaps)));
        assert!(LATEST.with_borrow(Vec::len) <= KEPT_TABLES);
    }

    proptest! {
        /// A transmission takes the time that the capacity gives, to the byte.
        #[test]
        fn departures_agree_with_the_capacity(seed: u64, start in 0..1300 * SECOND, bytes in 40u32..100_000) {
            let gaps = Gaps { every: 3 * SECOND, first: SECOND, length: 70 * MS };
            let changes = Changes::Walk { deviation: 500_000 };
            let mut varying = VaryingRate::new(3_000_000, changes, Some(gaps), seed, 2);
            let departure = varying.departure(start, bytes);
            let carried = varying.bytes_between(start, departure);
            prop_assert!(carried.abs_diff(u64::from(bytes)) <= 1, "{} of {}", carried, bytes);
        }

        /// A rate that has been asked before, for times in any order, says what a new one does.
        #[test]
        fn earlier_departures_change_nothing(
            asked in proptest::collection::vec((0..1300 * SECOND, 0..SECOND, 40u32..100_000), 1..30),
        ) {
            let gaps = Gaps { every: 3 * SECOND, first: SECOND, length: 70 * MS };
            let fresh = VaryingRate::new(3_000_000, Changes::Walk { deviation: 500_000 }, Some(gaps), 1, 2);
            let mut varying = fresh.clone();
            for (start, later, bytes) in asked {
                for start in [start, start + later] {
                    prop_assert_eq!(varying.departure(start, bytes), fresh.clone().departure(start, bytes));
                }
            }
        }
    }
}
