//! `kernel`: what the kernel did in a run of the reference, and beside it what the stack `linux-6.12` does.

use clap::Parser;
use rayon::prelude::*;
use segue_fidelity::Error;
use segue_fidelity::kernel::compare::{self, agreement};
use segue_fidelity::kernel::log::Log;
use segue_fidelity::kernel::outcome::{self, Handoff};
use segue_fidelity::measure::quartiles;
use std::path::PathBuf;
use std::process::ExitCode;

/// The kernel's packets beside those of linux-6.12, and the first difference; of several runs a line each.
#[derive(Parser)]
struct Arguments {
    /// Logs of the kernel
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Instants that are shown before and after the first difference; 0: every instant of the run
    #[arg(long, value_name = "N", default_value_t = 8)]
    around: usize,
    /// Seed of what the congestion control draws by lot; a scenario that comes again has the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Take that of so many seeds which draws most like the kernel
    #[arg(long, value_name = "N", default_value_t = 0)]
    search: u64,
    /// Write what the kernel did to this table, as reference/linux/results.csv.gz has it
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kernel: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let logs = arguments.logs.iter().map(|path| Log::read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &arguments.table {
        let handoff = |log: &Log| Handoff { scenario: log.scenario, kernel: outcome::of_log(log) };
        outcome::write(path, &logs.iter().map(handoff).collect::<Vec<_>>())?;
    }
    let seeds = seeds(&logs, arguments);
    match &logs[..] {
        [theirs] => side_by_side(theirs, seeds[0], arguments),
        _ => one_by_one(&logs, &seeds),
    }
    Ok(())
}

/// The seed of our run beside each log.
fn seeds(logs: &[Log], arguments: &Arguments) -> Vec<u64> {
    let Arguments { seed, search, .. } = *arguments;
    if search > 0 {
        let best = |log: &Log| compare::best_seed(log, seed..seed.saturating_add(search));
        return logs.par_iter().map(best).collect();
    }
    let before = |nth: usize| logs[..nth].iter().filter(|log| log.scenario == logs[nth].scenario).count();
    (0..logs.len()).map(|nth| seed.wrapping_add(before(nth) as u64)).collect()
}

fn side_by_side(theirs: &Log, seed: u64, arguments: &Arguments) {
    let ours = compare::ours(theirs, seed);
    println!("{}", theirs.scenario);
    if arguments.search > 0 {
        println!("of {} seeds: {seed}", arguments.search);
    }
    print!("{}", compare::SideBySide { ours: &ours, theirs, around: arguments.around });
    println!("{}", agreement(&ours, theirs));
}

/// A line for each handoff, and medians.
fn one_by_one(logs: &[Log], seeds: &[u64]) {
    println!("old and new link, control, flows, kind, outage: {}", logs[0].scenario);
    println!("A: s from completion until all sent before it and 100 packets more are acknowledged");
    println!("again: packets sent again in the 10 s from completion on");
    println!(
        "{:>8} {:>9} {:>9} {:>12} {:>9} {:>7} {:>7}  packets alike",
        "at, s", "A, ours", "kernel", "first data", "kernel", "again", "kernel"
    );
    let (mut medians, mut again) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (theirs, &seed) in logs.iter().zip(seeds) {
        let ours = compare::ours(theirs, seed);
        let same = agreement(&ours, theirs);
        // Not by our log, which ends with the kernel's.
        let (left, right) = (outcome::on_its_bench(theirs.scenario, seed), outcome::of_log(theirs));
        let at = theirs.scenario.at as f64 / 1e9;
        let (first, of) = (left.first_data, right.first_data);
        let (a, of_a) = (left.a, right.a);
        let (more, of_more) = (outcome::again_in_10_s(&ours), outcome::again_in_10_s(theirs));
        print!("{at:>8} {a:>9.3} {of_a:>9.3} {first:>12.6} {of:>9.6} {more:>7} {of_more:>7}  ");
        println!("{} of {}", same.packets, same.of_packets);
        for (side, (a, more)) in [(a, more), (of_a, of_more)].into_iter().enumerate() {
            medians[side].push(a);
            again[side].push(more as f64);
        }
    }
    let [ours, kernel] = medians.map(|values| quartiles(values).median);
    println!("  median {ours:>9.3} {kernel:>9.3}; ours is {:+.1} % off", 100.0 * (ours / kernel - 1.0));
    let [ours, kernel] = again.map(|counts| {
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
        (mean, (squares / (counts.len() - 1) as f64 / counts.len() as f64).sqrt())
    });
    println!(
        "  mean of packets sent again in 10 s {:.1} +- {:.1}, kernel {:.1} +- {:.1} (standard errors)",
        ours.0, ours.1, kernel.0, kernel.1
    );
}
