//! Sources of measures: the records of one scheme's handoffs, beside those of the first scheme.

use super::Number;
use super::parts::{
    AgainstFirst, NeighboursKept, NewLink, OfTraffic, OfVideo, OverBound, Quartiles, QueueDelay,
};
use crate::quantile::{quantile, quartiles, select, sorted};
use segue_world::delays::Delays;
use segue_world::neighbours::Received;
use segue_world::traffic::{Class, ClassRecord};
use segue_world::{Nanos, RunRecord, SECOND};

/// The records of this and of the first scheme over the same handoffs.
pub(crate) struct Sample<'a> {
    pub handoffs: &'a [&'a RunRecord],
    pub first: &'a [&'a RunRecord],
}

impl Sample<'_> {
    /// Mean per handoff.
    pub fn mean<T: Number>(&self, of_one: impl Fn(&RunRecord) -> T) -> f64 {
        let sum = self.handoffs.iter().map(|one| of_one(one).number().unwrap_or(f64::INFINITY)).sum::<f64>();
        sum / self.handoffs.len() as f64
    }

    /// Share of handoffs of which something holds.
    pub fn share(&self, holds: impl Fn(&RunRecord) -> bool) -> f64 {
        self.handoffs.iter().filter(|one| holds(one)).count() as f64 / self.handoffs.len() as f64
    }

    pub fn transfer_times(&self) -> Quartiles {
        let times = sorted(self.handoffs.iter().map(|one| transfer(one)).collect());
        let [q1, median, q3] = quartiles(&times).map(finite);
        Quartiles { q1, median, q3 }
    }

    pub fn median_bound(&self, bound: fn(&RunRecord) -> Nanos) -> Option<f64> {
        quantile(&sorted(self.handoffs.iter().map(|one| seconds(bound(one))).collect()), 0.5)
    }

    pub fn over_bounds(&self, bound: fn(&RunRecord) -> Nanos) -> OverBound {
        let bounded = self.handoffs.iter().filter(|one| bound(one) > 0);
        let over = sorted(bounded.map(|one| transfer(one) / seconds(bound(one))).collect());
        OverBound { median: finite(quantile(&over, 0.5)), p90: finite(quantile(&over, 0.9)) }
    }

    pub fn link_times(&self) -> NewLink {
        let mean = |class: fn(&RunRecord) -> Nanos| self.mean(|one| seconds(class(one)));
        NewLink {
            useful: mean(|one| one.link_time.useful),
            needless: mean(|one| one.link_time.needless),
            idle_path: mean(|one| one.link_time.idle_path),
            idle_window: mean(|one| one.link_time.idle_window),
            idle_timer: mean(|one| one.link_time.idle_timer),
            idle_other: mean(|one| one.link_time.idle_other),
            neighbours: mean(|one| one.link_time.neighbours),
        }
    }

    pub fn neighbours(&self) -> Option<NeighboursKept> {
        self.handoffs.first()?;
        let sum = |of: fn(&Received) -> u64| {
            let each = self.handoffs.iter().map(|one| one.neighbours.as_ref().map(of));
            each.sum::<Option<u64>>().map(|sum| sum as f64)
        };
        let (received, undisturbed) = (sum(|all| all.bytes)?, sum(|all| all.undisturbed)?);
        let handoffs = self.handoffs.len() as f64;
        Some(NeighboursKept {
            kept: (undisturbed > 0.0).then_some(received / undisturbed),
            received_bytes: received / handoffs,
            undisturbed_bytes: undisturbed / handoffs,
            least_bytes: self.least_of_neighbours().map(|least| least / handoffs),
        })
    }

    fn least_of_neighbours(&self) -> Option<f64> {
        let least = self.handoffs.iter().map(|one| one.neighbours.as_ref()?.least);
        least.sum::<Option<u64>>().map(|sum| sum as f64)
    }

    /// The outcome of a class of traffic, if it is measured.
    pub fn traffic(&self, class: Class) -> Option<OfTraffic> {
        let of_class = |one: &RunRecord| one.traffic.iter().find(|traffic| traffic.class == class).cloned();
        let classes: Vec<ClassRecord> = self.handoffs.iter().filter_map(|one| of_class(one)).collect();
        if classes.is_empty() {
            return None;
        }
        let times = classes.iter().flat_map(|class| &class.times);
        let times = sorted(times.map(|time| time.map_or(f64::INFINITY, seconds)).collect());
        let mut delays = Delays::default();
        classes.iter().for_each(|class| delays.merge(&class.delays));
        let handoffs = classes.len() as f64;
        Some(OfTraffic {
            completion_median_s: finite(quantile(&times, 0.5)),
            completion_p95_s: finite(quantile(&times, 0.95)),
            stall_s: classes.iter().map(|class| seconds(class.stalled)).sum::<f64>() / handoffs,
            delay_p95_s: delays.quantile(0.95),
            count: times.len() as f64 / handoffs,
        })
    }

    pub fn video(&self) -> Option<OfVideo> {
        let OfTraffic { completion_median_s, completion_p95_s, stall_s, delay_p95_s, count } =
            self.traffic(Class::Video)?;
        let classes = self.handoffs.iter().flat_map(|one| &one.traffic);
        let late: u32 = classes.map(|class| class.late).sum();
        let late_frames = f64::from(late) / self.handoffs.len() as f64;
        Some(OfVideo { completion_median_s, completion_p95_s, stall_s, delay_p95_s, late_frames, count })
    }

    pub fn queue_delays(&self) -> QueueDelay {
        let delays: Vec<&[Nanos]> = self.handoffs.iter().map(|one| one.queue_delays.as_slice()).collect();
        let [median, p95] = select(&delays, [0.5, 0.95], seconds);
        QueueDelay { median, p95 }
    }

    pub fn against_first(&self) -> AgainstFirst {
        let pairs = self.handoffs.iter().zip(self.first);
        let ratios: Vec<f64> = pairs.map(|(own, first)| ratio(transfer(own), transfer(first))).collect();
        let share = |holds: fn(f64) -> bool| {
            ratios.iter().filter(|&&ratio| holds(ratio)).count() as f64 / ratios.len() as f64
        };
        let (better, worse) = (share(|ratio| ratio < 0.95), share(|ratio| ratio > 1.05));
        AgainstFirst { ratio_median: finite(quantile(&sorted(ratios), 0.5)), better, worse }
    }
}

/// Seconds.
pub fn seconds(ns: Nanos) -> f64 {
    ns as f64 / SECOND as f64
}

/// Transfer time, s; infinite if incomplete.
fn transfer(record: &RunRecord) -> f64 {
    record.transfer.map_or(f64::INFINITY, seconds)
}

pub(super) fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

pub(super) fn timeouts(record: &RunRecord) -> usize {
    record.timeouts_after().count()
}

pub(super) fn spurious_timeouts(record: &RunRecord) -> usize {
    record.timeouts_after().filter(|timeout| timeout.spurious).count()
}

pub(super) fn timeouts_in_disconnection(record: &RunRecord) -> usize {
    record.timeouts.len() - timeouts(record)
}

/// Entries into fast recovery from completion on.
pub(super) fn fast_retransmits(record: &RunRecord) -> usize {
    record.fast_retransmits.iter().filter(|(at, ..)| *at >= record.completion).count()
}

/// Jain's fairness index: (sum x)^2 / (n sum x^2); 1 if nothing was acknowledged.
pub(super) fn jain(shares: &[u32]) -> f64 {
    let sum: f64 = shares.iter().map(|&x| f64::from(x)).sum();
    let squares: f64 = shares.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// `own / first`, where both may be infinite or zero.
fn ratio(own: f64, first: f64) -> f64 {
    if own == first { 1.0 } else { own / first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_of_equal_and_of_one_sided_shares() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[0, 0]), 1.0);
    }

    #[test]
    fn ratios_of_incomplete_runs() {
        assert_eq!(ratio(f64::INFINITY, f64::INFINITY), 1.0);
        assert_eq!(ratio(1.0, f64::INFINITY), 0.0);
        assert_eq!(ratio(f64::INFINITY, 1.0), f64::INFINITY);
        assert_eq!(ratio(0.0, 0.0), 1.0);
    }
}
