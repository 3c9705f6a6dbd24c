//! The measurements of many handoffs of one point with one scheme, and numbers out of them.

use crate::ledger::{ClassWord, Measure, Stat};
use segue_study::drive::{OfClass, kbps};
use segue_study::quantile::{quantile, quartiles, sorted};
use segue_world::drive::record::{DriveHandoff, DriveRecord};
use segue_world::{Nanos, RunRecord, SECOND};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of each measure, one per handoff or seed; a source may lack some measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    values: BTreeMap<Measure, Vec<f64>>,
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// A time in s, infinite where there is none.
fn or_never(time: Option<Nanos>) -> f64 {
    time.map_or(f64::INFINITY, seconds)
}

impl Sample {
    /// The sample of our runs.
    pub fn of(records: &[&RunRecord]) -> Self {
        let mut sample = Self::default();
        for record in records {
            for (measure, value) in values(record) {
                sample.add(measure, value);
            }
        }
        sample
    }

    /// The sample of one drive with several seeds, by the handoffs of a class or all of them; `None` if none is of
    /// that class.
    pub fn of_drives(records: &[DriveRecord], class: Option<ClassWord>) -> Option<Self> {
        let mut sample = Self::default();
        for record in records {
            if class.is_none() {
                sample.add(Measure::MobileThroughput, kbps(&record.mobile_bytes, record.length));
                sample.add(Measure::CrossThroughput, kbps(&record.cross_bytes, record.length));
            }
            let belongs = |handoff: &&DriveHandoff| class.is_none_or(|class| class.class() == handoff.class);
            let handoffs: Vec<&DriveHandoff> = record.handoffs.iter().filter(belongs).collect();
            if handoffs.is_empty() {
                continue;
            }
            let of_class = OfClass::of(&handoffs);
            sample.add(Measure::LostWithOldLink, of_class.lost);
            sample.add(Measure::OvershootDrops, of_class.overshoot);
            of_class.idle_s.into_iter().for_each(|idle| sample.add(Measure::IdleAfterLinkUp, idle));
            of_class.unused_share.into_iter().for_each(|share| sample.add(Measure::UnusedAtFirst, share));
        }
        (!sample.values.is_empty()).then_some(sample)
    }

    /// Adds the value of one more handoff or seed.
    pub fn add(&mut self, measure: Measure, value: f64) {
        self.values.entry(measure).or_default().push(value);
    }

    /// All values of a measure.
    pub fn values(&self, measure: Measure) -> &[f64] {
        self.values.get(&measure).map_or(&[], Vec::as_slice)
    }

    /// A number out of it; `None` if the source does not have the measure. May be infinite.
    pub fn number(&self, measure: Measure, stat: Stat) -> Option<f64> {
        let values = self.values.get(&measure)?;
        let ascending = || sorted(values.clone());
        let quartile = |index: usize| quartiles(&ascending())[index];
        match stat {
            Stat::Median => quantile(&ascending(), 0.5),
            Stat::Q1 => quartile(0),
            Stat::Q3 => quartile(2),
            Stat::Iqr => Some(quartile(2)? - quartile(0)?),
            Stat::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            Stat::Min => ascending().first().copied(),
            Stat::Max => ascending().last().copied(),
            Stat::Share => {
                Some(values.iter().filter(|&&value| value > 0.0).count() as f64 / values.len() as f64)
            }
        }
    }
}

/// Every measure of one handoff.
fn values(record: &RunRecord) -> impl Iterator<Item = (Measure, f64)> {
    let after = || record.timeouts_after();
    let in_disconnection = record.timeouts.len() - after().count();
    let fast = record.fast_retransmits.iter().filter(|(at, ..)| *at >= record.completion).count();
    let first_timeout = after().next().map(|timeout| timeout.at - record.completion);
    let flight: u32 = record.senders_at.iter().map(|sender| sender.flight).sum();
    let rto = record.senders_at.iter().map(|sender| sender.rto).max();
    let spurious = after().filter(|timeout| timeout.spurious).count();
    let resent = window_resent(
        after().count(),
        spurious,
        f64::from(record.needless_retransmissions),
        f64::from(flight),
    );
    let always = [
        (Measure::Transfer, or_never(record.transfer)),
        (Measure::Bound, seconds(record.bound)),
        (Measure::Timeouts, after().count() as f64),
        (Measure::SpuriousTimeouts, spurious as f64),
        (Measure::TimeoutsInDisconnection, in_disconnection as f64),
        (Measure::TimeoutsFromT, record.timeouts.len() as f64),
        (Measure::FastRetransmits, fast as f64),
        (Measure::FalseFastRetransmits, f64::from(record.false_fast_retransmits)),
        (Measure::Drops, f64::from(record.drops)),
        (Measure::DataDrops, record.data_drops.len() as f64),
        (Measure::LostInDisconnection, f64::from(record.lost_in_disconnection)),
        (Measure::Retransmissions, f64::from(record.retransmissions)),
        (Measure::NeedlessRetransmissions, f64::from(record.needless_retransmissions)),
        (Measure::Unused, or_never(record.first_sent)),
        (Measure::FirstTimeout, or_never(first_timeout)),
        (Measure::FlightAtT, f64::from(flight)),
        (Measure::RtoAtT, or_never(rto)),
        (Measure::SentWhileDraining, f64::from(record.sent_while_draining)),
    ];
    always.into_iter().chain(resent.map(|value| (Measure::WindowResent, value)))
}

/// [`Measure::WindowResent`] of one handoff, if it has a value.
pub(crate) fn window_resent(timeouts: usize, spurious: usize, needless: f64, flight: f64) -> Option<f64> {
    (timeouts == 1 && spurious == 1 && flight > 0.0).then(|| needless / flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_four_handoffs() {
        let mut sample = Sample::default();
        for value in [4.0, 0.0, 1.0, 3.0] {
            sample.add(Measure::Drops, value);
        }
        let number = |stat| sample.number(Measure::Drops, stat);
        assert_eq!([Stat::Q1, Stat::Median, Stat::Q3].map(number), [Some(0.75), Some(2.0), Some(3.25)]);
        assert_eq!([Stat::Iqr, Stat::Mean, Stat::Share].map(number), [Some(2.5), Some(2.0), Some(0.75)]);
        assert_eq!([Stat::Min, Stat::Max].map(number), [Some(0.0), Some(4.0)]);
        assert_eq!(sample.number(Measure::Unused, Stat::Median), None);
    }

    #[test]
    fn a_window_resent_is_of_one_spurious_timeout() {
        assert_eq!(window_resent(1, 1, 18.0, 20.0), Some(0.9));
        for (timeouts, spurious, flight) in [(2, 2, 20.0), (1, 0, 20.0), (0, 0, 20.0), (1, 1, 0.0)] {
            assert_eq!(window_resent(timeouts, spurious, 18.0, flight), None);
        }
    }
}
