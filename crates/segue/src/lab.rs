//! `segue lab`: real senders in a laboratory, with the simulator's numbers beside theirs.

use crate::lab_drive::LabDriveArgs;
use crate::lab_machine::{Measured, Use, kernel, laboratory};
use crate::outputs::{CsvOrigin, Folder};
use crate::screen::Screen;
use crate::{Failure, lab_senders, lab_table, outputs, print, progress};
use clap::{Args, Subcommand};
use segue_capture::{SNAPLEN, live_capture};
use segue_export::{Lab, Origin, Provenance, file_name, live_csv, live_json};
use segue_files::kind;
use segue_report::live_page;
use segue_study::{LabPlan, LiveComparison, LiveGroup, LiveRuns};
use segue_world::access::LinkNames;
use segue_world::{Kind, SECOND};
use std::time::Duration;

/// `segue lab`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
pub struct LabArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: LabCommand,
}

/// Commands for a laboratory.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Run a plan: senders side by side, with the simulator's results beside them
    Run(LabRunArgs),
    /// Run a drive: several handoffs in a row under a real program, over measured links if the plan names any
    Drive(LabDriveArgs),
    /// Measure what senders cost without a handoff: throughput, connections per second, memory
    Cost(crate::lab_cost::LabCostArgs),
}

/// `segue lab run`.
#[derive(Debug, Args)]
pub struct LabRunArgs {
    /// Plan (TOML)
    pub plan: String,
    /// Write the rows as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the rows as CSV (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write one page with tables and charts (HTML; - for standard output)
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Write a capture of the first run of each sender into a folder (pcapng)
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<String>,
    /// Bytes of each packet that captures keep; all unless given
    #[arg(long, value_name = "BYTES", requires = "pcap", value_parser = clap::value_parser!(u32).range(96..=65535))]
    pub snap: Option<u32>,
    /// Number of runs of each sender, in place of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Number of laboratories at once
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// `segue lab run`.
pub fn run(args: &LabRunArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let file = kind::plan(&args.plan, &args.names).map_err(Failure::user)?;
    let mut plan = file.plan(args.runs).map_err(Failure::user)?;
    lab_senders::leave_out(&mut plan)?;
    let folder = Folder { option: "--pcap", path: &args.pcap, names: capture_names(&plan) };
    let asked = [("--json", &args.json), ("--csv", &args.csv), ("--report", &args.report)];
    let ([json, csv, report], [captures], on_stdout) = outputs::open_with_folders(asked, [folder])?;
    outputs::spare(args.plan.as_ref(), [&json, &csv, &report])?;
    outputs::spare_links([&plan.old, &plan.new].into_iter(), [&json, &csv, &report])?;

    let progress = progress::lasting(screen, plan.count(), "runs", at_least(&plan, args.jobs));
    let how = Use { jobs: args.jobs, keep_packets: args.pcap.is_some() };
    let Finished { kinds, measured, failure } =
        finished(&plan.kinds, |kind| laboratory(&plan, kind, how, &mut |more| progress.inc(more)))?;
    drop(progress);
    plan.kinds = kinds;
    let comparison = compared(&plan, &kernel(), &measured);

    let snap = args.snap.unwrap_or(SNAPLEN);
    for (output, of) in captures.into_iter().zip(each(&plan)) {
        outputs::write(Some(output), || capture(&plan, of, &measured, snap))?;
    }
    let provenance = || {
        let lab = Lab { file: args.plan.clone(), runs: args.runs };
        Provenance::of_lab(origin, lab, [&plan.old, &plan.new]).map_err(Failure::ours)
    };
    outputs::write(json, || live_json(&comparison, Some(&provenance()?)).map_err(Failure::ours))?;
    outputs::write_table(csv, CsvOrigin::Usual, &[], provenance, || live_csv(&comparison))?;
    outputs::write(report, || Ok::<_, Failure>(live_page(&plan, &comparison, origin)))?;
    outputs::tell_written(screen, [&args.report], [(&args.pcap, each(&plan).count())]);
    if !on_stdout {
        print(&lab_table::render(&plan, &comparison, screen.width))?;
    }
    failure.map_or(Ok(()), Err)
}

/// The time that a plan waits, in so many laboratories: the warm-up, the outage and what is observed of each run.
pub fn at_least(plan: &LabPlan, jobs: u16) -> Duration {
    let outage = |kind: &Kind| if let Kind::Bbm(time) = kind { *time } else { 0 };
    let rounds = plan.count().div_ceil(plan.kinds.len() as u64).div_ceil(jobs.into());
    let one_of_each = plan.kinds.iter().map(|kind| plan.warm_up + outage(kind) + plan.observe).sum();
    Duration::from_nanos(one_of_each) * u32::try_from(rounds).unwrap_or(u32::MAX)
}

/// Measurements that are complete when all is over.
#[derive(Debug)]
struct Finished {
    /// The kinds of handoff whose runs are all done; one at least.
    kinds: Vec<Kind>,
    /// Their runs.
    measured: Vec<Measured>,
    /// The failure that ended it before the rest.
    failure: Option<Failure>,
}

/// Measures one kind of handoff after the other. Results are kept when a later kind fails: an outage of minutes is
/// not to be waited for twice.
fn finished(
    kinds: &[Kind],
    mut measure: impl FnMut(Kind) -> Result<Vec<Measured>, Failure>,
) -> Result<Finished, Failure> {
    let mut done = Finished { kinds: Vec::new(), measured: Vec::new(), failure: None };
    for &kind in kinds {
        match measure(kind) {
            Ok(runs) => done.measured.extend(runs),
            Err(failure) if done.kinds.is_empty() => return Err(failure),
            Err(failure) => {
                done.failure = Some(failure);
                break;
            }
        }
        done.kinds.push(kind);
    }
    Ok(done)
}

/// Rows of what was measured, with the simulator's numbers; it is asked only now, so as not to disturb the laboratory.
fn compared(plan: &LabPlan, kernel: &str, measured: &[Measured]) -> LiveComparison {
    let group = |&kind: &Kind| {
        let runs = plan.senders.iter().map(|sender| {
            let of = measured.iter().filter(|run| run.kind == kind && run.sender == sender.name);
            LiveRuns { sender: sender.name.clone(), runs: of.map(|run| run.measures).collect() }
        });
        LiveGroup::new(plan, kind, kernel, &runs.collect::<Vec<_>>())
    };
    LiveComparison { groups: plan.kinds.iter().map(group).collect() }
}

/// Where packets of a capture are seen.
const PLACE: &str = "server";

/// Every kind with every sender, as captures have them.
fn each(plan: &LabPlan) -> impl Iterator<Item = (Kind, &str)> {
    let senders = || plan.senders.iter().map(|sender| sender.name.as_str());
    plan.kinds.iter().flat_map(move |&kind| senders().map(move |sender| (kind, sender)))
}

/// A capture for each kind and sender: `etcp-v1.pcapng`, with several outages `etcp-v1-bbm-10s.pcapng`.
fn capture_names(plan: &LabPlan) -> Vec<String> {
    let name = |(kind, sender): (Kind, &str)| {
        let sender = sender.replace('/', "_");
        match kind {
            Kind::Bbm(time) if plan.kinds.len() > 1 => {
                file_name(&format!("{sender}-bbm-{}s", time as f64 / SECOND as f64), "pcapng")
            }
            _ => file_name(&sender, "pcapng"),
        }
    };
    each(plan).map(name).collect()
}

/// The first run of a sender, as the emulator saw it.
fn capture(
    plan: &LabPlan,
    (kind, sender): (Kind, &str),
    measured: &[Measured],
    snap: u32,
) -> Result<Vec<u8>, Failure> {
    let run = measured.iter().find(|run| run.kind == kind && run.sender == sender && run.run == 0);
    let packets = run.map_or(&[][..], |run| &run.packets);
    let title = format!("{}, sender {sender}, a laboratory's first run", lab_table::headline(plan, kind));
    live_capture(&title, PLACE, packets, snap).map_err(Failure::ours)
}

#[cfg(test)]
#[path = "../tests/schema/validator.rs"]
mod validator;

#[cfg(test)]
mod tests {
    use super::validator::validate;
    use super::*;
    use segue_capture::LivePacket;
    use segue_files::LabFile;
    use segue_study::{LiveRun, Moment};

    const PLAN: &str = "old = \"6400kbit/9ms\"\nnew = \"6400kbit/9ms\"\ndisconnect = [\"1s\", \"3s\"]\n\
                        senders = [\"cubic+agent\", \"etcp-v1\"]\nruns = 3\nobserve = \"10s\"\n";

    fn plan() -> LabPlan {
        LabFile::parse(PLAN, "plan.toml").and_then(|file| file.plan(None)).unwrap_or_else(|e| panic!("{e}"))
    }

    /// 10 s observed after 1 or 3 s; 6 runs of each outage, four at once.
    #[test]
    fn a_plan_knows_how_long_it_waits() {
        let mut plan = plan();
        plan.warm_up = 5 * SECOND;
        assert_eq!([1, 4].map(|jobs| at_least(&plan, jobs).as_secs()), [6 * (16 + 18), 2 * (16 + 18)]);
    }

    /// Runs that can be told from each other.
    fn measured(plan: &LabPlan) -> Vec<Measured> {
        let mut all = Vec::new();
        for &kind in &plan.kinds {
            for run in 0..plan.runs {
                for (index, sender) in plan.senders.iter().enumerate() {
                    let number = u64::from(run) + 1;
                    let measures = LiveRun {
                        moment: Moment { age: plan.warm_up, clock: plan.warm_up, notice: None },
                        first_send_s: (index > 0).then_some(0.01 * number as f64),
                        first_retransmission_s: None,
                        first_data_s: None,
                        share_after_round_trip: None,
                        bytes_1s: Some(1000 * (1 + index as u64)),
                        bytes_5s: Some(5000),
                        bytes_10s: Some(10_000 * (1 + index as u64) * number),
                        drops: 7,
                        lost_in_disconnection: 30,
                        retransmissions: 31,
                        ..LiveRun::default()
                    };
                    let bytes = vec![0x45; 20 + index];
                    let at = Duration::from_nanos(1);
                    let packet = LivePacket { at, length: 1500, bytes, comment: None };
                    let packets = vec![packet];
                    all.push(Measured { sender: sender.name.clone(), kind, run, measures, packets });
                }
            }
        }
        all
    }

    /// A comparison's row (docs/reference/results.md), what a laboratory cannot measure null, and its own measures;
    /// beside them the simulator's for the sender that it has.
    #[test]
    fn the_json_keeps_the_contract() {
        let plan = plan();
        let comparison = compared(&plan, "linux-test", &measured(&plan));
        let text = live_json(&comparison, None).unwrap_or_else(|e| panic!("{e}"));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}"));
        let schema = segue_export::schema::schema(segue_export::schema::OutputWord::Lab);
        assert_eq!(validate(&schema, &document, "lab"), Ok(()));
        assert_eq!(document["version"], 1);
        let rows = document["rows"].as_array().map_or(&[][..], |rows| rows);
        assert_eq!(rows.len(), 4);
        let keys = [
            "old",
            "new",
            "kind",
            "disconnect_s",
            "flows",
            "scheme",
            "stack",
            "notice",
            "definition",
            "seed",
            "settings",
            "packets",
            "points",
            "incomplete",
            "transfer_s",
            "bound_s",
            "over_bound",
            "timeouts",
            "spurious_timeouts",
            "spurious_timeout_fraction",
            "timeouts_in_disconnection",
            "fast_retransmits",
            "drops",
            "lost_in_disconnection",
            "retransmissions",
            "needless_retransmissions",
            "new_link_s",
            "queue_delay_s",
            "jain",
            "against_first",
            "bound_told_s",
            "over_bound_told",
            "live",
            "simulated",
            "conditions",
            "program",
            "simulated_noise_s",
        ];
        let line = text.lines().nth(1).unwrap_or_default();
        let mut from = 0;
        for key in keys {
            let at =
                line[from..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} in its place"));
            from += at;
        }
        assert_eq!(rows[0].as_object().map(|row| row.len()), Some(keys.len()));
        let [cubic, etcp] = [&rows[2], &rows[3]];
        assert_eq!(
            (&cubic["scheme"], &cubic["disconnect_s"], &cubic["stack"]),
            (&"cubic+agent".into(), &3.0.into(), &"linux-test".into())
        );
        assert!(cubic["transfer_s"].is_null() && cubic["definition"].is_null());
        assert_eq!(cubic["simulated"]["runs"], 3, "the simulator has the mobile alone");
        assert_eq!(
            (&cubic["points"], &cubic["incomplete"], &cubic["notice"]),
            (&3.into(), &3.into(), &"withheld".into())
        );
        assert!(cubic["live"]["first_send_after_link_up_s"]["median"].is_null());
        assert_eq!((&etcp["live"]["runs"], &etcp["live"]["bytes_1s"]), (&3.into(), &2000.0.into()));
        assert_eq!(etcp["live"]["first_send_after_link_up_s"]["median"], 0.02);
        assert_eq!(etcp["live"]["bytes_10s"], 40_000.0);
        assert_eq!(etcp["live"]["against_first"]["bytes_10s"]["mean"], 2.0);
        // what the simulator says: at the latest the notice's way, and a link that is used
        let simulated = &etcp["simulated"];
        assert_eq!(simulated["runs"], 3);
        assert_eq!(etcp["simulated_noise_s"], 0.000_05, "the laboratory's own noise");
        let first = simulated["first_send_after_link_up_s"]["median"].as_f64().unwrap_or(f64::NAN);
        assert!(first < 0.02, "{first}");
        let bytes = simulated["bytes_10s"].as_f64().unwrap_or(f64::NAN);
        assert!(bytes > 6e6 && bytes < 8e6, "6400 kbit/s for 10 s: {bytes}");
    }

    #[test]
    fn table_csv_and_page_show_every_sender() {
        let plan = plan();
        let comparison = compared(&plan, "linux-test", &measured(&plan));
        let table = lab_table::render(&plan, &comparison, 200);
        assert!(
            table.contains("6400kbit/9ms -> 6400kbit/9ms, break-before-make 3 s, 1 flow; linux-test"),
            "{table}"
        );
        let line = |sender: &str| {
            table.lines().find(|line| line.trim_start().starts_with(sender)).unwrap_or_default()
        };
        let cells: Vec<&str> = line("cubic+agent").split_whitespace().collect();
        assert_eq!(cells[..4], ["cubic+agent", "inf", "inf", "inf"], "{table}");
        assert!(!cells[cells.len() - 3..].contains(&"-"), "the simulator has the mobile alone: {table}");
        assert!(!line("etcp-v1").trim_end().ends_with('-'), "{table}");
        let csv = live_csv(&comparison).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(csv.lines().count(), 5);
        assert!(csv.starts_with("old,new,kind,disconnect_s,flows,sender,stack"));
        let origin = segue_export::Origin { command: "segue lab run plan.toml".into(), version: "0" };
        let page = live_page(&plan, &comparison, &origin);
        for part in ["etcp-v1, simulated", "first-send", "bytes-10s", "linux-test", "break-before-make, 3 s"]
        {
            assert!(page.contains(part), "{part}");
        }
    }

    /// The second of two outages fails: results of the first are shown, as if nothing else had been asked for.
    #[test]
    fn what_is_finished_is_kept() {
        let mut plan = plan();
        let all = measured(&plan);
        let of = |kind| all.iter().filter(|run| run.kind == kind).cloned().collect::<Vec<_>>();
        let [first, second] = plan.kinds[..] else { panic!("two outages") };
        let failing = |last: Kind, kind: Kind| {
            if kind == last { Err(Failure::ours("iperf3 is gone")) } else { Ok(of(kind)) }
        };
        let done = finished(&plan.kinds, |kind| failing(second, kind)).expect("one is done");
        assert_eq!((&done.kinds[..], done.measured.len()), (&[first][..], 6));
        assert!(matches!(&done.failure, Some(Failure::Ours(line)) if line == "iperf3 is gone"), "{done:?}");
        plan.kinds = done.kinds;
        let comparison = compared(&plan, "linux-test", &done.measured);
        let table = lab_table::render(&plan, &comparison, 200);
        assert!(
            table.contains("break-before-make 1 s") && !table.contains("break-before-make 3 s"),
            "{table}"
        );
        let csv = live_csv(&comparison).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(csv.lines().count(), 3);
        // Nothing is done, nothing is told.
        let failure = finished(&plan.kinds, |kind| failing(first, kind)).expect_err("nothing is done");
        assert_eq!(failure.to_string(), "iperf3 is gone");
    }

    #[test]
    fn captures_are_the_first_runs() {
        let plan = plan();
        let names = ["cubic+agent-bbm-1s", "etcp-v1-bbm-1s", "cubic+agent-bbm-3s", "etcp-v1-bbm-3s"];
        assert_eq!(capture_names(&plan), names.map(|name| format!("{name}.pcapng")));
        let measured = measured(&plan);
        let bytes =
            capture(&plan, (plan.kinds[1], "etcp-v1"), &measured, SNAPLEN).unwrap_or_else(|e| panic!("{e}"));
        let count = |of: &[u8]| bytes.windows(of.len()).filter(|window| *window == of).count();
        assert_eq!(count(&[0x45; 21]), 1, "one packet, of this sender");
    }
}
