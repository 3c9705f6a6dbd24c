//! `fidelity`: the `sack` profile against the real ns-2 (`reference/ns2/`).

use clap::Parser;
use segue_fidelity::kernel::draws::Draws;
use segue_fidelity::kernel::scenario::Scenario;
use segue_fidelity::kernel::verdict::Place;
use segue_fidelity::measure::Quartiles;
use segue_fidelity::reference::Reference;
use segue_fidelity::verdict::{self, Agreement, Comparison, STEPS, Target};
use segue_fidelity::{Error, kernel, narrated, reference, reference_folder, same_weather, weather};
use segue_tcp::linux::cc::CcName;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How near regular TCP in the simulator comes to regular TCP in ns-2.
#[derive(Parser)]
struct Arguments {
    /// 24 scenarios instead of 236 and 6
    #[arg(long)]
    subset: bool,
    /// Judge by the tables heldout.csv: link pairs on which nothing was tuned
    #[arg(long, conflicts_with = "subset")]
    heldout: bool,
    /// Write what is printed of every scenario to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write every handoff whose A differs by more than 1 ms to this file
    #[arg(long, value_name = "FILE")]
    differences: Option<PathBuf>,
    /// The part against ns-2 alone, that against the Linux kernel, or that with losses and RED
    #[arg(long, value_name = "NAME")]
    only: Option<Part>,
    /// With --only linux: on the reference's own bench, which is the simulator's without the last hop
    #[arg(long)]
    its_bench: bool,
    /// With --only linux: so many times the handoffs of each median that is too far off, with other lots of bbr
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    draws: Option<u32>,
    /// Print which packets links lose, for reference/ns2/weather.py same, and do nothing else
    #[arg(long)]
    losses: bool,
    /// Folder of the reference tables
    #[arg(long, value_name = "DIR", default_value_os_t = reference_folder())]
    reference: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("fidelity: {error}");
            ExitCode::from(2)
        }
    }
}

/// A part of the report.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// `ns2-sack1` against ns-2
    Ns2,
    /// `linux-6.12` against the kernel
    Linux,
    /// Losses and RED against ns-2's, over many seeds
    Weather,
}

/// Measures, prints, and says whether all targets are met.
fn run(arguments: &Arguments) -> Result<bool, Error> {
    if arguments.losses {
        print!("{}", same_weather::losses(&arguments.reference)?);
        return Ok(true);
    }
    let wanted = |part| arguments.only.is_none_or(|only| only == part);
    let ns2 = !wanted(Part::Ns2) || beside_ns2(arguments)?;
    let place = if arguments.its_bench { Place::Reference } else { Place::Simulator };
    // The subset is one of ns-2.
    let whole = arguments.only.is_some() || !arguments.subset;
    let differences = arguments.only.and(arguments.differences.as_deref());
    let table = if arguments.heldout { "heldout.csv" } else { "results.csv.gz" };
    let linux = !(whole && wanted(Part::Linux)) || beside_linux(table, place, differences, arguments.draws)?;
    let weather = !(whole && wanted(Part::Weather)) || beside_weather(&arguments.reference)?;
    Ok(ns2 && linux && weather)
}

/// Losses and RED against ns-2's ErrorModel and RED.
fn beside_weather(folder: &Path) -> Result<bool, Error> {
    println!("{:<72} {:>9} {:>9} {:>8}", "ns-2 with losses and RED: median of A, s", "ours", "ns-2", "error");
    let mut met = true;
    for line in weather::read(folder)? {
        let ours = line.ours()?;
        let error = line.error(&ours);
        met &= line.is_met(&ours);
        let interval = line.interval.map_or(String::new(), |(low, high)| {
            format!("  ns-2's own {low:.3} to {high:.3}, {} seeds", line.seeds)
        });
        println!(
            "{line:<72} {:>9.3} {:>9.3} {:>+7.1}%{interval}",
            ours.median,
            line.ns2.median,
            100.0 * error
        );
        if error.abs() > weather::TARGET {
            let of = |q: &Quartiles| format!("{:.3} and {:.3}", q.q1, q.q3);
            println!("{:>72} {}, ns-2's {}", "quartiles", of(&ours), of(&line.ns2));
        }
    }
    println!(
        "\n{:<72} {:>9} {:>9} {:>8} {:>11}",
        "the same losses in ns-2", "ours", "ns-2", "error", "within 1 ms"
    );
    for same in same_weather::read(folder)? {
        let outcome = same.outcome()?;
        met &= outcome.is_met();
        println!(
            "{:<72} {:>9.3} {:>9.3} {:>+7.1}% {:>10.1}%",
            same.line,
            outcome.ours,
            outcome.ns2,
            100.0 * outcome.error(),
            100.0 * outcome.alike
        );
    }
    Ok(met)
}

/// `linux-6.12` against the kernel.
fn beside_linux(
    table: &str,
    place: Place,
    differences: Option<&Path>,
    draws: Option<u32>,
) -> Result<bool, Error> {
    let comparisons =
        kernel::verdict::compare(&kernel::outcome::read(&kernel::folder().join(table))?, place)?;
    if let Some(path) = differences {
        write_kernel_differences(path, &comparisons)?;
    }
    println!("{:<46} {:>9} {:>9} {:>8}", "kernel 6.12: median of A, s", "ours", "kernel", "error");
    for c in &comparisons {
        let (ours, kernel) = c.medians();
        let name = name(&c.scenario);
        println!("{name:<46} {ours:>9.3} {kernel:>9.3} {:>+7.1}%", 100.0 * c.error());
    }
    for (control, flows) in [(CcName::Cubic, 1), (CcName::Reno, 1), (CcName::Bbr, 1), (CcName::Cubic, 4)] {
        let of = kernel::verdict::of(&comparisons, control, flows);
        let s = kernel::verdict::singles(of.iter().copied());
        let share = |count: usize| 100.0 * count as f64 / s.all.max(1) as f64;
        println!(
            "{:5} {flows} flow(s): A within 5 % in {} of {} handoffs ({:.1} %), within 1 ms in {:.1} %; first data \
             within 1 ms in {:.1} %; mean absolute error of timeouts {:.3}",
            control.name(),
            s.near,
            s.all,
            share(s.near),
            share(s.same),
            share(s.first_data),
            s.timeouts / s.all as f64
        );
        if place == Place::Reference {
            println!(
                "  first packet sent again within 1 ms in {:.1} %; mean absolute error of probes {:.3}, of cuts taken \
                 back {:.3}",
                share(s.first_rtx),
                s.probes / s.all as f64,
                s.undos / s.all as f64
            );
        }
    }
    if let Some(count) = draws {
        print_draws(&comparisons, count);
    }
    println!();
    let targets = kernel::verdict::judge(&comparisons);
    print_targets(&targets);
    Ok(targets.iter().all(|target| target.met))
}

/// A scenario without its handoff time.
fn name(scenario: &Scenario) -> String {
    let head = scenario.to_string();
    head.rsplit_once(' ').map_or("", |(name, _)| name).to_string()
}

/// Where the kernel lies among medians of ours that differ by their lots alone.
fn print_draws(comparisons: &[kernel::verdict::Comparison], count: u32) {
    let far = comparisons.iter().filter(|c| c.error().abs() > c.step());
    for c in far.filter(|c| c.scenario.control == CcName::Bbr) {
        let draws = Draws::of(c, count);
        let (least, most) = (draws.medians[0], draws.medians[draws.medians.len() - 1]);
        let (_, kernel) = c.medians();
        println!(
            "{}: {count} medians of ours by other lots: {least:.3} to {most:.3}; {:.1} % are at most the kernel's \
             {kernel:.3}",
            name(&c.scenario),
            100.0 * draws.rank(kernel)
        );
    }
}

fn print_targets(targets: &[Target]) {
    for target in targets {
        println!("{:<7} {}: {}", if target.met { "met" } else { "MISSED" }, target.what, target.found);
    }
}

/// Regular TCP on `ns2-sack1` against ns-2.
fn beside_ns2(arguments: &Arguments) -> Result<bool, Error> {
    let folder = &arguments.reference;
    let (name, spread) = match arguments.heldout {
        true => ("heldout.csv", "heldout_spread.csv"),
        false => ("summary.csv", "spread.csv"),
    };
    let mut reference = reference::read(folder, name, Some(spread))?;
    if arguments.subset {
        reference.summaries = reference::subset(&reference.summaries);
    }
    println!(
        "{name}, {} scenarios: transfer time of 100 packets in s, ours and then ns-2's",
        reference.summaries.len()
    );
    let comparisons = verdict::compare(&reference.summaries, 100)?;
    print_table(&comparisons);
    let mut all = comparisons.clone();
    if !arguments.heldout && !arguments.subset {
        println!("\nsummary_n500.csv: the same with 500 packets, not judged");
        let more = reference::read(folder, "summary_n500.csv", None)?;
        let more = verdict::compare(&more.summaries, 500)?;
        print_table(&more);
        all.extend(more);
    }

    println!();
    print_within(&comparisons);
    print_outliers(&comparisons, &reference);
    if !arguments.heldout {
        let agreement = verdict::agreement(&comparisons, &reference::handoffs(folder)?);
        print_agreement(&agreement);
        if let Some(path) = &arguments.differences {
            write_differences(path, &agreement)?;
        }
    }
    let mut targets = verdict::judge(&comparisons, &reference);
    targets.push(judge_narrated(folder)?);
    if let Some(path) = &arguments.csv {
        write_comparisons(path, &all)?;
    }
    println!();
    print_targets(&targets);
    Ok(targets.iter().all(|target| target.met))
}

fn print_table(comparisons: &[Comparison]) {
    println!(
        "{:<28} {:>26} {:>26} {:>7}   {:>26} {:>26}   {:>12} {:>14} {:>14}",
        "kbit/s/ms, kind, flows",
        "A q1 median q3",
        "ns-2",
        "error",
        "B q1 median q3",
        "ns-2",
        "timeouts",
        "drops",
        "resent"
    );
    for c in comparisons {
        let three = |q: &Quartiles| format!("{:>8.3} {:>8.3} {:>8.3}", q.q1, q.median, q.q3);
        println!(
            "{:<28} {} {} {:>+6.1}%   {} {}   {:>5.2} {:>6.2} {:>7.2} {:>6.2} {:>7.2} {:>6.2}",
            c.scenario.to_string(),
            three(&c.ours.a),
            three(&c.ns2.a),
            100.0 * c.error(),
            three(&c.ours.b),
            three(&c.ns2.b),
            c.ours.timeouts,
            c.ns2.timeouts,
            c.ours.drops,
            c.ns2.drops,
            c.ours.retransmissions,
            c.ns2.retransmissions
        );
    }
}

fn print_within(comparisons: &[Comparison]) {
    println!("medians of A within      5 %     10 %     15 %   of");
    for flows in [1, 2, 4] {
        let (counts, all) = verdict::within(comparisons, flows);
        if all > 0 {
            let cells: Vec<String> = counts.iter().map(|count| format!("{count:>8}")).collect();
            println!("{flows} flow(s)         {} {all:>4}", cells.join(" "));
        }
    }
}

fn print_outliers(comparisons: &[Comparison], reference: &Reference) {
    for (comparison, range) in verdict::outliers(comparisons, &reference.ranges) {
        let range_text = match range {
            Some((low, high)) => format!("{low:.3} to {high:.3}"),
            None => "not measured".to_string(),
        };
        println!(
            "farther off than {:.0} %: {} median of A {:.3}, ns-2 {:.3}; range of ns-2 itself {range_text}: {}",
            100.0 * STEPS[2],
            comparison.scenario,
            comparison.ours.a.median,
            comparison.ns2.a.median,
            if verdict::inside(comparison, range) { "inside" } else { "OUTSIDE" }
        );
    }
}

fn print_agreement(agreement: &Agreement) {
    let all = agreement.all.max(1) as f64;
    let same = agreement.all - agreement.differences.len();
    println!(
        "handoff by handoff (results.csv.gz): A agrees within 1 ms in {same} of {} ({:.2} %); timeouts, drops and \
         retransmissions are all equal in {} ({:.2} %); mean absolute error of timeouts {:.4}",
        agreement.all,
        100.0 * same as f64 / all,
        agreement.same_counts,
        100.0 * agreement.same_counts as f64 / all,
        agreement.timeout_error as f64 / all
    );
}

fn judge_narrated(folder: &Path) -> Result<Target, Error> {
    let mut equal = 0;
    let handoffs = narrated::read(folder)?;
    for handoff in &handoffs {
        let found = narrated::differences(&narrated::ours(handoff)?, &handoff.story);
        equal += usize::from(found.is_empty());
        let at = handoff.at as f64 / 1e9;
        let outcome = if found.is_empty() { "equal".to_string() } else { found.join("; ") };
        println!("narrated {:<6} {} at {at:>4}: {outcome}", handoff.name, handoff.scenario);
    }
    Ok(Target {
        what: "narrated handoffs: timeouts, fast retransmits and losses within 1 ms, the same lost segments"
            .to_string(),
        found: format!("{equal} of {} equal", handoffs.len()),
        met: equal == handoffs.len() && equal == 7,
    })
}

fn writer(path: &Path) -> Result<csv::Writer<std::fs::File>, Error> {
    csv::Writer::from_path(path).map_err(|e| wrong(path, e))
}

fn wrong(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::File { path: path.to_path_buf(), problem: problem.to_string() }
}

fn write_comparisons(path: &Path, comparisons: &[Comparison]) -> Result<(), Error> {
    let mut out = writer(path)?;
    let mut heading = vec!["scenario".to_string()];
    for side in ["ours", "ns2"] {
        for column in
            ["A_q1", "A_med", "A_q3", "B_q1", "B_med", "B_q3", "timeouts", "drops", "retransmissions"]
        {
            heading.push(format!("{side}_{column}"));
        }
    }
    out.write_record(&heading).map_err(|e| wrong(path, e))?;
    for c in comparisons {
        let mut line = vec![c.scenario.to_string().split_whitespace().collect::<Vec<_>>().join(" ")];
        for side in [&c.ours, &c.ns2] {
            let (a, b) = (&side.a, &side.b);
            let values =
                [a.q1, a.median, a.q3, b.q1, b.median, b.q3, side.timeouts, side.drops, side.retransmissions];
            line.extend(values.map(|value| format!("{value:.5}")));
        }
        out.write_record(&line).map_err(|e| wrong(path, e))?;
    }
    out.flush().map_err(|e| wrong(path, e))
}

/// Handoffs whose A or first data differ by more than 1 ms.
fn write_kernel_differences(path: &Path, comparisons: &[kernel::verdict::Comparison]) -> Result<(), Error> {
    let mut out = writer(path)?;
    let heading = ["scenario", "T", "ours_A", "kernel_A", "ours_first_data", "kernel_first_data"];
    out.write_record(heading).map_err(|e| wrong(path, e))?;
    for c in comparisons {
        let name = name(&c.scenario);
        for ((at, ours), kernel) in c.times.iter().zip(&c.ours).zip(&c.kernel) {
            let far = |a: f64, b: f64| (a - b).abs() > 0.001;
            if far(ours.a, kernel.a) || far(ours.first_data, kernel.first_data) {
                let numbers = [*at as f64 / 1e9, ours.a, kernel.a, ours.first_data, kernel.first_data];
                let line = [name.clone()].into_iter().chain(numbers.map(|number| number.to_string()));
                out.write_record(line).map_err(|e| wrong(path, e))?;
            }
        }
    }
    out.flush().map_err(|e| wrong(path, e))
}

fn write_differences(path: &Path, agreement: &Agreement) -> Result<(), Error> {
    let mut out = writer(path)?;
    out.write_record([
        "old_kbps",
        "old_ms",
        "new_kbps",
        "new_ms",
        "kind",
        "disc_ms",
        "flows",
        "T",
        "ours_A",
        "ns2_A",
        "ours_timeouts",
        "ns2_timeouts",
        "ours_drops",
        "ns2_drops",
        "ours_retransmissions",
        "ns2_retransmissions",
    ])
    .map_err(|e| wrong(path, e))?;
    for d in &agreement.differences {
        let s = &d.scenario;
        let line = [
            s.old.kbps.to_string(),
            s.old.ms.to_string(),
            s.new.kbps.to_string(),
            s.new.ms.to_string(),
            s.kind_name().to_string(),
            s.disconnection_ms.unwrap_or(0).to_string(),
            s.flows.to_string(),
            format!("{:.1}", f64::from(d.ours.tenths) / 10.0),
            format!("{:.5}", d.ours.a),
            format!("{:.5}", d.ns2.a),
            d.ours.timeouts.to_string(),
            d.ns2.timeouts.to_string(),
            d.ours.drops.to_string(),
            d.ns2.drops.to_string(),
            d.ours.retransmissions.to_string(),
            d.ns2.retransmissions.to_string(),
        ];
        out.write_record(&line).map_err(|e| wrong(path, e))?;
    }
    out.flush().map_err(|e| wrong(path, e))
}
