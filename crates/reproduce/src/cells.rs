//! Runs in the two cells of Chou and Shin, and what their Markov chain computes: one sample each.

use crate::ledger::{CellPoints, Measure, Panel, Paper};
use crate::point_error::PointError;
use crate::sample::Sample;
use segue_handoff::Scheme;
use segue_model::lcfd::figures::{Compared, RTT_S};
use segue_model::lcfd::{Equation7, Scheme as Modelled, Setting};
use segue_tcp::profile::NS2_NEWRENO;
use segue_world::drive::cells::{Capacity, CellHandoff, Cells, CellsRecord, Step};
use segue_world::{Nanos, SECOND};

const MS: Nanos = 1_000_000;
/// The paper's round trip.
const RTT: Nanos = 200 * MS;
/// Latencies of handoffs without a timeout, and with one. Link-layer handoffs take 300 to 500 ms (section I), and
/// between 1.3 and 2 s an RTO of a second expires once.
const QUICK: (Nanos, Nanos) = (300 * MS, 500 * MS);
const SLOW: (Nanos, Nanos) = (1300 * MS, 2000 * MS);
/// Own names of schemes that the chain computes begin so.
pub const MODEL: &str = "model:";

/// One point: what is run or computed, apart from the scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OneCell {
    /// W_max, packets.
    pub w_max: u32,
    /// B, packets.
    pub buffer: u32,
    /// p, percent.
    pub p_percent: u32,
    /// Shortest and longest sojourn.
    pub sojourn: (Nanos, Nanos),
    /// Handoffs of a run.
    pub handoffs: u32,
    /// Window at the first, packets.
    pub first_window: Option<u32>,
    /// Least RTO, ms.
    pub rto_ms: u32,
    /// Latency of every handoff, ms.
    pub latency_ms: Option<u32>,
    /// Equation 7 as printed.
    pub printed: bool,
}

impl CellPoints {
    /// All points in order: buffers, probabilities, mean sojourns.
    pub fn all(&self) -> Vec<OneCell> {
        let sojourns: Vec<(Nanos, Nanos)> = match (&self.sojourn_rtt, &self.mean_s) {
            (Some([from, to]), _) => vec![(Nanos::from(*from) * RTT, Nanos::from(*to) * RTT)],
            (None, Some(means)) => {
                let around = |&mean: &u32| {
                    let mean = Nanos::from(mean) * SECOND;
                    (mean * 7 / 10, mean * 13 / 10)
                };
                means.all().iter().map(around).collect()
            }
            (None, None) => Vec::new(),
        };
        let handoffs = self.handoffs.as_ref().map_or(vec![200], |several| several.all().to_vec());
        let mut all = Vec::new();
        for &buffer in self.buffer.all() {
            for &p_percent in self.p_percent.all() {
                let runs =
                    sojourns.iter().flat_map(|sojourn| handoffs.iter().map(move |count| (*sojourn, *count)));
                all.extend(runs.map(|(sojourn, handoffs)| OneCell {
                    w_max: self.w_max,
                    buffer,
                    p_percent,
                    sojourn,
                    handoffs,
                    first_window: self.first_window,
                    rto_ms: self.rto_ms.unwrap_or(1000),
                    latency_ms: self.latency_ms,
                    printed: self.printed,
                }));
            }
        }
        all
    }
}

impl OneCell {
    /// The sample of one of Segue's schemes, or of the chain, over so many seeds.
    pub fn sample(&self, scheme: &str, seeds: u64) -> Result<Sample, PointError> {
        match scheme.strip_prefix(MODEL) {
            Some(name) => self.computed(name),
            None => {
                let mut sample = Sample::default();
                for seed in 1..=seeds {
                    let record = self.cells(seed).run(&Scheme::build(scheme, &[])?, self.in_detail())?;
                    self.add(&mut sample, &record);
                }
                Ok(sample)
            }
        }
    }

    /// Whether every step of the sender is kept: in short runs.
    fn in_detail(&self) -> bool {
        self.handoffs <= 2
    }

    /// The simulated run of one seed.
    pub fn cells(&self, seed: u64) -> Cells {
        let mut stack = NS2_NEWRENO;
        stack.receive_window = self.w_max;
        stack.rto.min = Nanos::from(self.rto_ms) * MS;
        let latency = self.latency_ms.map(|latency| (Nanos::from(latency) * MS, Nanos::from(latency) * MS));
        Cells {
            stack,
            capacity: Capacity::Packets(self.buffer),
            rtt: RTT,
            sojourn: self.sojourn,
            quick: latency.unwrap_or(QUICK),
            slow: latency.unwrap_or(SLOW),
            slow_ppm: self.p_percent * 10_000,
            first_window: self.first_window,
            handoffs: self.handoffs,
            seed,
        }
    }

    fn computed(&self, name: &str) -> Result<Sample, PointError> {
        let scheme = Modelled::ALL.into_iter().find(|scheme| scheme.name() == name);
        let scheme = scheme.ok_or(PointError::NoSchemes)?;
        let round_trips = |time: Nanos| time as f64 / RTT as f64;
        let sojourn = (round_trips(self.sojourn.0), round_trips(self.sojourn.1));
        let setting = Setting::new(self.w_max, self.buffer, f64::from(self.p_percent) / 100.0, sojourn)?;
        let equation = if self.printed { Equation7::Printed } else { Equation7::Corrected };
        let compared = Compared::new(setting, (scheme, scheme), equation)?;
        let mut sample = Sample::default();
        sample.add(Measure::CellThroughput, compared.throughputs.0 / RTT_S);
        Ok(sample)
    }

    /// One value per run of what is a mean, one per handoff of the rest.
    fn add(&self, sample: &mut Sample, record: &CellsRecord) {
        let handoffs = &record.handoffs;
        let sum = |of: fn(&CellHandoff) -> u32| handoffs.iter().map(|h| f64::from(of(h))).sum::<f64>();
        let count = handoffs.len() as f64;
        let resent = sum(|handoff| handoff.retransmissions);
        sample.add(Measure::CellThroughput, record.throughput());
        sample.add(Measure::ResentPerWindow, resent / count / f64::from(self.w_max));
        sample.add(Measure::ResentShare, resent / (resent + sum(|handoff| handoff.acknowledged)));
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        for handoff in handoffs {
            sample.add(Measure::Timeouts, f64::from(handoff.timeouts));
            sample.add(Measure::FastRetransmits, f64::from(handoff.fast_retransmits));
            sample.add(Measure::NeedlessRetransmissions, f64::from(handoff.needless));
            sample.add(Measure::BurstOfDuplicates, f64::from(handoff.duplicate_burst));
            sample.add(Measure::SsthreshAfterHandoff, f64::from(handoff.ssthresh));
            sample.add(Measure::FastRetransmitAfter, handoff.fast_after.map_or(f64::INFINITY, seconds));
        }
        if let Some(handoff) = handoffs.last().filter(|_| self.in_detail()) {
            let sent = |until: Nanos| {
                let data = record.steps.iter().filter(|(at, _)| (handoff.up..until).contains(at));
                data.filter(|(_, step)| matches!(step, Step::Sent(..))).count() as f64
            };
            let reaches = |packets: u32| {
                let grown = |step: &Step| matches!(step, Step::Window(window) if *window >= packets);
                let found = record.steps.iter().find(|(at, step)| *at > handoff.up && grown(step));
                found.map_or(f64::INFINITY, |(at, _)| seconds(at - handoff.up))
            };
            sample.add(Measure::PacketsInSojourn, sent(handoff.up + handoff.sojourn));
            sample.add(Measure::AvoidanceAfter, reaches(handoff.ssthresh));
            sample.add(Measure::LargestWindowAfter, reaches(self.w_max));
        }
    }
}

/// Steps of one sender around one handoff.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSteps {
    /// From link-down until the mobile is on the other link, s.
    pub latency_s: f64,
    /// From link-down until three seconds after link-up, s from link-down.
    pub steps: Vec<(f64, Step)>,
}

/// Steps of a panel's one sender around the one handoff of its one point.
pub fn cell_steps(paper: &Paper, panel: &Panel) -> Option<CellSteps> {
    let cell = *panel.cells.as_ref()?.all().first()?;
    let scheme = Scheme::build(&paper.own(panel.senders.first()?), &[]).ok()?;
    let record = cell.cells(1).run(&scheme, true).ok()?;
    let handoff = record.handoffs.first()?;
    let until = handoff.up + 3 * SECOND;
    let since_down = |at: Nanos| (at - handoff.down) as f64 / SECOND as f64;
    let steps = record.steps.iter().filter(|(at, _)| *at < until);
    let steps = steps.map(|(at, step)| (since_down(*at), *step)).collect();
    Some(CellSteps { latency_s: since_down(handoff.up), steps })
}
