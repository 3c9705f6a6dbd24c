//! The reference's table of handoffs, and the same measured here: on the reference's bench and on the simulator's.

use super::bench::Bench;
use super::log::Event;
use super::scenario::{Chain, Scenario};
use crate::Error;
use crate::table::{Row, Table};
use segue_tcp::Nanos;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::KERNELS;
use segue_world::{
    AccessLink, Definition, Experiment, Kind, NoticeMode, Routers, SECOND, WarmRun, check_scheme,
};
use std::path::Path;

/// Packets of the transfer time.
const PACKETS: u32 = 100;
/// A transfer is given up so long after completion, as in the reference.
const PATIENCE: Nanos = 150 * SECOND;

/// Measures of a handoff, s from completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Until all that was sent before completion and 100 packets more are acknowledged, by the slowest flow.
    pub a: f64,
    /// Until the first data packet.
    pub first_data: f64,
    /// Until the first packet that is sent again.
    pub first_rtx: f64,
    /// Expiries of the retransmission timer, until A.
    pub timeouts: f64,
    /// Tail loss probes, until A.
    pub probes: f64,
    /// Packets sent again, until A.
    pub retransmissions: f64,
}

/// A handoff of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Handoff {
    /// Its scenario.
    pub scenario: Scenario,
    /// Its measures with the kernel.
    pub kernel: Outcome,
}

/// Reads `results.csv.gz`.
pub fn read(folder: &Path) -> Result<Vec<Handoff>, Error> {
    Table::read(&folder.join("results.csv.gz"))?.rows().map(|row| handoff(&row)).collect()
}

fn handoff(row: &Row) -> Result<Handoff, Error> {
    let ns = |column: &str| {
        let seconds: f64 = row.value(column)?;
        Ok::<_, Error>((seconds * 1000.0).round() as Nanos * (SECOND / 1000))
    };
    let chain = |kbps: &str, ms: &str| Ok::<_, Error>(Chain::new(row.value(kbps)?, row.value(ms)?));
    let control = row.text("cc")?;
    let scenario = Scenario {
        old: chain("old_kbps", "old_ms")?,
        new: chain("new_kbps", "new_ms")?,
        control: CcName::named(control)
            .ok_or_else(|| row.wrong(format!("`{control}` is no congestion control")))?,
        flows: row.value("flows")?,
        outage: if row.text("kind")? == "bbm" { Some(ns("disc_s")?) } else { None },
        at: ns("T")?,
    };
    // Counters were not read of a run that was given up.
    let count = |column| if row.text(column)?.is_empty() { Ok(f64::NAN) } else { row.value(column) };
    let kernel = Outcome {
        a: if row.text("A")? == "nan" { f64::INFINITY } else { row.value("A")? },
        first_data: row.value("t_first_data")?,
        first_rtx: row.value("t_first_rtx")?,
        timeouts: count("TCPTimeouts_A")?,
        probes: count("TCPLossProbes_A")?,
        retransmissions: row.value("rtx_A")?,
    };
    Ok(Handoff { scenario, kernel })
}

/// The handoff on the reference's bench.
pub fn on_its_bench(scenario: Scenario, seed: u64) -> Outcome {
    let completion = scenario.completion();
    let (log, spent) = Bench::new(scenario, &KERNELS[0], seed).transfer(completion + PATIENCE, PACKETS);
    let s = |at: Nanos| (at as f64 - completion as f64) / 1e9;
    let first = |wanted: fn(&Event) -> bool| {
        let mut after = log.instants.iter().filter(|instant| instant.at >= completion);
        let found = after.find(|instant| instant.events.iter().any(|(_, event)| wanted(event)));
        found.map_or(f64::INFINITY, |instant| s(instant.at))
    };
    Outcome {
        a: spent.end.map_or(f64::INFINITY, s),
        first_data: first(|event| matches!(event, Event::Sent { .. })),
        first_rtx: first(|event| matches!(event, Event::Sent { again: true, .. })),
        timeouts: spent.timeouts.into(),
        probes: spent.probes.into(),
        retransmissions: spent.retransmissions.into(),
    }
}

/// Handoffs of the same scenario on the simulator's bench, at each of `times`. Measures that it lacks are `NAN`.
pub fn on_our_bench(scenario: &Scenario, times: &[Nanos]) -> Result<Vec<Outcome>, Error> {
    let link = |chain: &Chain| AccessLink::parse(&format!("{}kbit/{}ms", chain.kbps, chain.ms));
    let stack = KERNELS.iter().find(|stack| stack.kernel.is_some_and(|k| k.control == scenario.control));
    let mut warm = WarmRun::new(Experiment {
        old: link(&scenario.old)?,
        new: link(&scenario.new)?,
        kind: scenario.outage.map_or(Kind::Mbb, Kind::Bbm),
        flows: scenario.flows,
        stack: *stack.ok_or_else(|| Error::Scheme(format!("no stack has {}", scenario.control.name())))?,
        notice: NoticeMode::Instant,
        notice_delay: 0,
        notice_error: Default::default(),
        neighbours: None,
        packets: PACKETS,
        definition: Definition::AfterHighest,
        routers: Routers::default(),
        seed: 1,
        before: 0,
    });
    let sack = check_scheme("sack", &[]).map_err(|e| Error::Scheme(e.to_string()))?;
    let outcomes = times.iter().map(|&at| {
        let record = warm.fork(at).complete().run(&sack);
        Outcome {
            a: crate::measure::seconds(record.after_highest),
            first_data: crate::measure::seconds(record.first_sent),
            first_rtx: f64::NAN,
            timeouts: record.timeouts_after().count() as f64,
            probes: f64::NAN,
            retransmissions: record.retransmissions.into(),
        }
    });
    Ok(outcomes.collect())
}
