//! The reference's table of handoffs, and the same measured here: on the reference's bench and on the simulator's.

use super::bench::Bench;
use super::log::{Event, Log};
use super::scenario::{Chain, Scenario};
use crate::Error;
use crate::table::{Row, Table};
use segue_tcp::Nanos;
use segue_tcp::linux::cc::CcName;
use segue_tcp::profile::KERNELS;
use segue_world::{AccessLink, Experiment, Kind, SECOND, WarmRun, check_scheme};
use std::path::Path;

/// Packets of the transfer time.
const PACKETS: u32 = 100;
/// More packets than are ever sent.
const ENDLESS: u32 = 1 << 30;
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
    /// Cuts of the window taken back, until A.
    pub undos: f64,
}

/// A handoff of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Handoff {
    /// Its scenario.
    pub scenario: Scenario,
    /// Its measures with the kernel.
    pub kernel: Outcome,
}

/// Reads a table: `results.csv.gz`, or `heldout.csv.gz`.
pub fn read(table: &Path) -> Result<Vec<Handoff>, Error> {
    Table::read(table)?.rows().map(|row| handoff(&row)).collect()
}

/// The kernel's counters of cuts that it takes back. Tables of logs lack them.
const UNDOS: [&str; 4] = ["TCPLossUndo_A", "TCPFullUndo_A", "TCPPartialUndo_A", "TCPDSACKUndo_A"];

/// Columns of a table that [`write`] makes.
const COLUMNS: [&str; 15] = [
    "cc",
    "flows",
    "old_kbps",
    "old_ms",
    "new_kbps",
    "new_ms",
    "kind",
    "disc_s",
    "T",
    "A",
    "t_first_data",
    "t_first_rtx",
    "rtx_A",
    "TCPTimeouts_A",
    "TCPLossProbes_A",
];

/// Writes a table that [`read`] reads.
pub fn write(table: &Path, handoffs: &[Handoff]) -> Result<(), Error> {
    let wrong = |e: csv::Error| Error::file(table, e);
    let mut out = csv::Writer::from_path(table).map_err(wrong)?;
    out.write_record(COLUMNS).map_err(wrong)?;
    let s = |ns: Nanos| (ns as f64 / SECOND as f64).to_string();
    // As the reference writes what is missing.
    let or =
        |value: f64, none: &str| if value.is_finite() { format!("{value:.6}") } else { none.to_string() };
    let count = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
    for Handoff { scenario, kernel } in handoffs {
        let Scenario { old, new, control, flows, outage, at, jitter: _, bursts: _ } = scenario;
        let kind = if outage.is_some() { "bbm" } else { "mbb" };
        out.write_record([
            control.name().to_string(),
            flows.to_string(),
            old.kbps.to_string(),
            old.ms.to_string(),
            new.kbps.to_string(),
            new.ms.to_string(),
            kind.to_string(),
            s(outage.unwrap_or(0)),
            s(*at),
            or(kernel.a, "nan"),
            or(kernel.first_data, "nan"),
            or(kernel.first_rtx, "-1"),
            count(kernel.retransmissions),
            count(kernel.timeouts),
            count(kernel.probes),
        ])
        .map_err(wrong)?;
    }
    out.flush().map_err(|e| Error::file(table, e))
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
        jitter: 0,
        bursts: false,
    };
    // Counters were not read of a run that was given up.
    let count = |column| if row.text(column)?.is_empty() { Ok(f64::NAN) } else { row.value(column) };
    let kernel = Outcome {
        a: if row.text("A")? == "nan" { f64::INFINITY } else { row.value("A")? },
        first_data: row.value("t_first_data")?,
        // -1: none was sent again.
        first_rtx: Some(row.value("t_first_rtx")?).filter(|&at: &f64| at >= 0.0).unwrap_or(f64::INFINITY),
        timeouts: count("TCPTimeouts_A")?,
        probes: count("TCPLossProbes_A")?,
        retransmissions: row.value("rtx_A")?,
        undos: match row.has(UNDOS[0]) {
            true => UNDOS.iter().map(|column| count(column)).sum::<Result<f64, Error>>()?,
            false => f64::NAN,
        },
    };
    Ok(Handoff { scenario, kernel })
}

/// The handoff as its log tells it. A log does not tell which timer has sent a packet.
pub fn of_log(log: &Log) -> Outcome {
    let completion = log.scenario.completion();
    let s = |at: Nanos| (at as f64 - completion as f64) / 1e9;
    // By flow: one beyond the highest packet sent before completion, and whether the transfer is complete.
    let mut flows = vec![(1, false); log.scenario.flows];
    let mut outcome = Outcome {
        a: f64::INFINITY,
        first_data: f64::INFINITY,
        first_rtx: f64::INFINITY,
        timeouts: f64::NAN,
        probes: f64::NAN,
        retransmissions: 0.0,
        undos: f64::NAN,
    };
    for instant in &log.instants {
        let after = instant.at >= completion;
        for (flow, event) in &instant.events {
            match *event {
                Event::Sent { seq, .. } if !after => flows[*flow].0 = flows[*flow].0.max(seq + 1),
                Event::Sent { again, .. } => {
                    outcome.first_data = outcome.first_data.min(s(instant.at));
                    if again {
                        outcome.first_rtx = outcome.first_rtx.min(s(instant.at));
                        outcome.retransmissions += 1.0;
                    }
                }
                Event::Acked { ack, .. } => {
                    let (high, done) = &mut flows[*flow];
                    *done |= after && ack >= *high + PACKETS;
                }
                Event::Windows { .. } => {}
            }
        }
        if flows.iter().all(|&(_, done)| done) {
            outcome.a = s(instant.at);
            break;
        }
    }
    outcome
}

/// Packets that are sent again in the 10 s from completion on.
pub fn again_in_10_s(log: &Log) -> usize {
    let completion = log.scenario.completion();
    let instants = log.instants.iter().filter(|instant| instant.at >= completion);
    let instants = instants.take_while(|instant| instant.at < completion + 10 * SECOND);
    instants.map(|instant| instant.events.iter().filter(|(_, event)| is_again(event)).count()).sum()
}

/// The handoff on the reference's bench.
pub fn on_its_bench(scenario: Scenario, seed: u64) -> Outcome {
    let completion = scenario.completion();
    let (log, spent) = Bench::new(scenario, &KERNELS[0], seed).transfer(completion + PATIENCE, PACKETS);
    let s = |at: Nanos| (at as f64 - completion as f64) / 1e9;
    Outcome {
        a: spent.end.map_or(f64::INFINITY, s),
        first_data: first(&log, |event| matches!(event, Event::Sent { .. })),
        first_rtx: first(&log, is_again),
        timeouts: spent.timeouts.into(),
        probes: spent.probes.into(),
        retransmissions: spent.retransmissions.into(),
        undos: spent.undos.into(),
    }
}

/// When the first packet is sent again on the reference's bench, s from completion, though the transfer be over. It is
/// waited for until `end`.
pub fn first_rtx_on_its_bench(scenario: Scenario, seed: u64, end: f64) -> f64 {
    let end = scenario.completion() + (end * 1e9) as Nanos;
    first(&Bench::new(scenario, &KERNELS[0], seed).run(end, ENDLESS), is_again)
}

fn is_again(event: &Event) -> bool {
    matches!(event, Event::Sent { again: true, .. })
}

/// The first such event from completion on, s after it.
fn first(log: &Log, wanted: fn(&Event) -> bool) -> f64 {
    let completion = log.scenario.completion();
    let mut after = log.instants.iter().filter(|instant| instant.at >= completion);
    let found = after.find(|instant| instant.events.iter().any(|(_, event)| wanted(event)));
    found.map_or(f64::INFINITY, |instant| (instant.at - completion) as f64 / 1e9)
}

/// Handoffs of the same scenario on the simulator's bench, at each of `times`. Measures that it lacks are `NAN`.
pub fn on_our_bench(scenario: &Scenario, times: &[Nanos]) -> Result<Vec<Outcome>, Error> {
    let link = |chain: &Chain| AccessLink::parse(&format!("{}kbit/{}ms", chain.kbps, chain.ms));
    let stack = KERNELS.iter().find(|stack| stack.kernel.is_some_and(|k| k.control == scenario.control));
    let stack = *stack.ok_or_else(|| Error::Scheme(format!("no stack has {}", scenario.control.name())))?;
    let mut warm = WarmRun::new(Experiment {
        kind: scenario.outage.map_or(Kind::Mbb, Kind::Bbm),
        flows: scenario.flows,
        packets: PACKETS,
        ..Experiment::usual(link(&scenario.old)?, link(&scenario.new)?, stack)
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
            undos: f64::NAN,
        }
    });
    Ok(outcomes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packets are out at completion; the goal is 100 beyond the second. Earlier retransmissions do not count.
    #[test]
    fn a_log_is_measured_from_completion() {
        let text = "6400 9 10 200 300 10 cubic 1 bbm 1 8.2\n\
            8200000 0>1-2\n500000 0*1\n600000 0*1\n100000 0<3 0>3-102\n200000 0<102\n1000 0<103 0*103\n1000 0*103\n";
        let outcome = of_log(&Log::parse(text).unwrap());
        assert_eq!((outcome.first_data, outcome.first_rtx, outcome.a), (0.1, 0.1, 0.401));
        assert_eq!(outcome.retransmissions, 2.0);
        assert!(outcome.timeouts.is_nan());
    }

    /// That at 9.2 s comes before completion, that at 19.201 s more than 10 s after it.
    #[test]
    fn packets_sent_again_in_ten_seconds() {
        let text = "6400 9 10 200 300 10 cubic 1 bbm 1 8.2\n\
            9199000 0>1-2 0*1\n1000 0*1-2\n9999000 0*1\n1000 0*1-2\n";
        assert_eq!(again_in_10_s(&Log::parse(text).unwrap()), 3);
    }

    #[test]
    fn a_table_is_written_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let scenario = Scenario::parse("6400 9 10 1600 75 20 cubic 4 bbm 0.5 8.9").unwrap();
        let kernel = Outcome {
            a: 1.25,
            first_data: 0.5,
            first_rtx: f64::INFINITY,
            timeouts: 1.0,
            probes: 2.0,
            retransmissions: 0.0,
            undos: f64::NAN,
        };
        write(&path, &[Handoff { scenario, kernel }]).unwrap();
        let read = read(&path).unwrap();
        assert!(read[0].kernel.undos.is_nan());
        let read = (read[0].scenario, Outcome { undos: 0.0, ..read[0].kernel });
        assert_eq!(read, (scenario, Outcome { undos: 0.0, ..kernel }));
    }
}
