//! `kernel`: what the kernel did in a run of the reference, and beside it what the stack `linux-6.12` does.

use clap::Parser;
use segue_fidelity::Error;
use segue_fidelity::kernel::compare::{self, agreement};
use segue_fidelity::kernel::log::Log;
use std::path::PathBuf;
use std::process::ExitCode;

/// The kernel's packets beside those of linux-6.12, and the first difference.
#[derive(Parser)]
struct Arguments {
    /// Logs of the kernel
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Instants that are shown before and after the first difference; 0: every instant of the run
    #[arg(long, value_name = "N", default_value_t = 8)]
    around: usize,
    /// Seed of what the congestion control draws by lot
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
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
    for path in &arguments.logs {
        let theirs = Log::read(path)?;
        let ours = compare::ours(&theirs, arguments.seed);
        let agreement = agreement(&ours, &theirs);
        println!("{}", theirs.scenario);
        print!("{}", compare::SideBySide { ours: &ours, theirs: &theirs, around: arguments.around });
        println!("{agreement}");
    }
    Ok(())
}
