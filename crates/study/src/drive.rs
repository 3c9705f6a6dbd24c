//! Comparisons of schemes over whole drives (docs/guide/drives.md): many handoffs, cross traffic, several seeds.

use crate::planned::PlannedScheme;
use crate::quantile::{quantile, sorted};
use rayon::prelude::*;
use segue_world::delays::Delays;
use segue_world::drive::course::Course;
use segue_world::drive::mobility::Class;
use segue_world::drive::record::{DriveHandoff, DriveRecord};
use segue_world::drive::run::DriveExperiment;
use segue_world::{Nanos, SECOND};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// A mean over seeds with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval, by Student's t; `None` with one seed.
    pub ci95: Option<f64>,
}

impl Mean {
    /// Mean of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let t = StudentsT::new(0.0, 1.0, n - 1.0).ok().map(|t| t.inverse_cdf(0.975));
        Self { mean, ci95: t.map(|t| t * (variance / n).sqrt()) }
    }
}

/// Handoffs of one class, all seeds pooled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfClass {
    /// Number of handoffs.
    pub handoffs: usize,
    /// Data packets lost with the old link, mean.
    pub lost: f64,
    /// From link-up until data reaches the new link, s: mean of those in which some did.
    pub idle_s: Option<f64>,
    /// Share of handoffs without any data until the next.
    pub never_used: f64,
    /// In the first five seconds of data over the new link: the share of the time in which it sent nothing.
    pub unused_share: Option<f64>,
    /// Data packets that its queue dropped meanwhile, mean.
    pub overshoot: f64,
}

impl OfClass {
    /// Means of at least one handoff.
    pub fn of(handoffs: &[&DriveHandoff]) -> Self {
        let count = handoffs.len() as f64;
        let (whole, sending) = handoffs
            .iter()
            .fold((0, 0), |(whole, sending), handoff| (whole + handoff.ramp.0, sending + handoff.ramp.1));
        Self {
            handoffs: handoffs.len(),
            lost: handoffs.iter().map(|handoff| f64::from(handoff.lost)).sum::<f64>() / count,
            idle_s: mean_of(handoffs.iter().filter_map(|handoff| handoff.idle).map(seconds)),
            never_used: handoffs.iter().filter(|handoff| handoff.idle.is_none()).count() as f64 / count,
            unused_share: (whole > 0).then(|| 1.0 - sending as f64 / whole as f64),
            overshoot: handoffs.iter().map(|handoff| f64::from(handoff.overshoot)).sum::<f64>() / count,
        }
    }
}

/// The web beside the drive, all seeds pooled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Web {
    /// Objects that came, mean per drive.
    pub objects: f64,
    /// From the opening of a connection to the last ACK, s: median.
    pub completion_median_s: Option<f64>,
    /// The same, 95 %.
    pub completion_p95_s: Option<f64>,
}

/// One scheme over one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveRow {
    /// The drive.
    pub drive: String,
    /// Its length, s.
    pub length_s: f64,
    /// One-way delay of the wide area, s.
    pub wan_delay_s: f64,
    /// Largest error of the reported bandwidth, a share.
    pub bandwidth_error: f64,
    /// Scheme.
    pub scheme: String,
    /// Its stack, which all other traffic has, too.
    pub stack: String,
    /// `instant` or `in-band`.
    pub notice: String,
    /// First seed of the traffic.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// Settings that concern this scheme.
    pub settings: BTreeMap<String, String>,
    /// Throughput of all flows to the mobile, kbit/s.
    pub mobile_kbps: Mean,
    /// Throughput of all cross traffic, kbit/s.
    pub cross_kbps: Option<Mean>,
    /// Jain's index of the throughputs of all bulk flows.
    pub jain: Mean,
    /// Timeouts of the mobile's flows, mean per drive, as are the next two.
    pub timeouts: f64,
    /// Packets sent again.
    pub retransmissions: f64,
    /// Entries into fast recovery.
    pub fast_retransmits: f64,
    /// From link-up until data reaches the new link, s: mean of all handoffs in which some did.
    pub idle_s: Option<f64>,
    /// By class (`L-HH`, `H-HH`, `U-VH`, `D-VH`), those that occur.
    pub classes: BTreeMap<String, OfClass>,
    /// Queueing delay of data at the access link, s: median, all seeds pooled.
    pub queue_delay_median_s: Option<f64>,
    /// The same, 95 %.
    pub queue_delay_p95_s: Option<f64>,
    /// Data packets that the wide area's queue dropped, mean per drive.
    pub wan_drops: f64,
    /// Notices that the server took, mean per drive.
    pub notices_accepted: f64,
    /// Notices refused, mean per drive.
    pub notices_refused: f64,
    /// The web, if there is any.
    pub web: Option<Web>,
}

/// The simulated drive, over one wide area.
#[derive(Clone, Debug)]
pub struct DriveBlock {
    /// The drive's name.
    pub name: String,
    /// The experiment; stack and seed are the plan's.
    pub experiment: DriveExperiment,
}

/// A checked comparison over drives.
#[derive(Clone, Debug)]
pub struct DrivePlan {
    /// Stands above the table.
    pub title: Option<String>,
    /// In the order of the rows.
    pub blocks: Vec<DriveBlock>,
    /// In order.
    pub schemes: Vec<PlannedScheme>,
    /// First seed of the traffic.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
}

impl DrivePlan {
    /// Drives to simulate.
    pub fn drives(&self) -> u64 {
        self.blocks.len() as u64 * self.schemes.len() as u64 * self.seeds
    }

    /// Runs all of them on all cores; `done` hears of each that is finished, and may end the run ([`crate::stop`]).
    pub fn run(&self, done: &(dyn Fn(u64) + Sync)) -> Vec<DriveRow> {
        let rows: Vec<_> =
            self.blocks.iter().flat_map(|block| self.schemes.iter().map(move |s| (block, s))).collect();
        rows.into_par_iter()
            .map(|(block, scheme)| self.row(block, scheme, &self.records(block, scheme, done)))
            .collect()
    }

    /// One drive with one scheme, a record per seed; `done` hears of each.
    pub fn records(
        &self,
        block: &DriveBlock,
        scheme: &PlannedScheme,
        done: &(dyn Fn(u64) + Sync),
    ) -> Vec<DriveRecord> {
        (self.seed..self.seed + self.seeds)
            .into_par_iter()
            .map(|seed| {
                done(0);
                let experiment = DriveExperiment { seed, stack: scheme.stack, ..block.experiment.clone() };
                let record = experiment.run(&scheme.scheme);
                done(1);
                record
            })
            .collect()
    }

    /// The data that come to the mobile in each of at most `bins` parts of one drive, that of the first seed.
    pub fn course(&self, block: &DriveBlock, scheme: &PlannedScheme, bins: u32) -> Course {
        let experiment = DriveExperiment { seed: self.seed, stack: scheme.stack, ..block.experiment.clone() };
        experiment.course(&scheme.scheme, bins)
    }

    fn row(&self, block: &DriveBlock, scheme: &PlannedScheme, records: &[DriveRecord]) -> DriveRow {
        let experiment = &block.experiment;
        let mean =
            |value: fn(&DriveRecord) -> f64| records.iter().map(value).sum::<f64>() / records.len() as f64;
        let over_seeds =
            |value: fn(&DriveRecord) -> f64| Mean::of(&records.iter().map(value).collect::<Vec<_>>());
        let handoffs: Vec<&DriveHandoff> = records.iter().flat_map(|record| &record.handoffs).collect();
        let mut classes: BTreeMap<Class, Vec<&DriveHandoff>> = BTreeMap::new();
        handoffs.iter().for_each(|handoff| classes.entry(handoff.class).or_default().push(handoff));
        let mut delays = Delays::default();
        records.iter().for_each(|record| delays.merge(&record.access_delay));
        DriveRow {
            drive: block.name.clone(),
            length_s: seconds(experiment.drive.length),
            wan_delay_s: seconds(experiment.wan.delay),
            bandwidth_error: experiment.bandwidth_error,
            scheme: scheme.name.clone(),
            stack: scheme.stack.name.to_string(),
            notice: experiment.notice.word().to_string(),
            seed: self.seed,
            seeds: self.seeds,
            settings: scheme.settings.iter().cloned().collect(),
            mobile_kbps: over_seeds(|record| kbps(&record.mobile_bytes, record.length)),
            cross_kbps: (experiment.cross > 0)
                .then(|| over_seeds(|record| kbps(&record.cross_bytes, record.length))),
            jain: over_seeds(jain),
            timeouts: mean(|record| f64::from(record.timeouts)),
            retransmissions: mean(|record| f64::from(record.retransmissions)),
            fast_retransmits: mean(|record| f64::from(record.fast_retransmits)),
            idle_s: mean_of(handoffs.iter().filter_map(|handoff| handoff.idle).map(seconds)),
            classes: classes
                .into_iter()
                .map(|(class, handoffs)| (class.name().to_string(), OfClass::of(&handoffs)))
                .collect(),
            queue_delay_median_s: delays.quantile(0.5),
            queue_delay_p95_s: delays.quantile(0.95),
            wan_drops: mean(|record| record.wan_drops as f64),
            notices_accepted: mean(|record| f64::from(record.notices.accepted)),
            notices_refused: mean(|record| f64::from(record.notices.refused)),
            web: experiment.web.as_ref().map(|_| web(records)),
        }
    }
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// Throughput of `bytes` in `length`, kbit/s.
pub fn kbps(bytes: &[u64], length: Nanos) -> f64 {
    bytes.iter().sum::<u64>() as f64 * 8.0 / 1000.0 / seconds(length)
}

/// (sum x)^2 / (n sum x^2) of the bulk flows; 1 if nothing came.
fn jain(record: &DriveRecord) -> f64 {
    let bytes = || record.mobile_bytes.iter().chain(&record.cross_bytes).map(|&bytes| bytes as f64);
    let squares: f64 = bytes().map(|bytes| bytes * bytes).sum();
    if squares == 0.0 { 1.0 } else { bytes().sum::<f64>().powi(2) / (bytes().count() as f64 * squares) }
}

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn web(records: &[DriveRecord]) -> Web {
    let fetched = || records.iter().flat_map(|record| &record.web);
    let times = sorted(fetched().map(|object| seconds(object.done - object.opened)).collect());
    Web {
        objects: fetched().count() as f64 / records.len() as f64,
        completion_median_s: quantile(&times, 0.5),
        completion_p95_s: quantile(&times, 0.95),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, 3, 4: mean 2.5, s = 1.2910, t(3, 0.975) = 3.1824 (tables), half width 2.0543.
    #[test]
    fn a_confidence_interval_of_the_textbook() {
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean.mean, 2.5);
        assert!((mean.ci95.expect("four values") - 2.0543).abs() < 1e-4, "{mean:?}");
        assert_eq!(Mean::of(&[7.0]), Mean { mean: 7.0, ci95: None });
    }
}
