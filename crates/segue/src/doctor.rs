//! `segue doctor`: what this machine can do, and what is missing.

use crate::screen::Screen;
use crate::{Failure, outputs, print};
use clap::Args;
use segue_console::{lines, plain_table};
use segue_kernel::host::{Feature, probe};
use serde_json::json;

/// `segue doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Write the report as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Runs the command.
pub fn run(args: &DoctorArgs, screen: &Screen) -> Result<(), Failure> {
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    let features = probe();
    outputs::write(json, || {
        let text = serde_json::to_string(&json!({ "version": 1, "features": features }));
        text.map(|text| text + "\n").map_err(Failure::ours)
    })?;
    if on_stdout { Ok(()) } else { print(&text(&features, screen.width)) }
}

fn text(features: &[Feature], width: usize) -> String {
    let mut table = plain_table(&["FEATURE", "", "FOUND", "NEEDED FOR", "WORKS WITHOUT IT"], width);
    for feature in features {
        let there = if feature.present { "present" } else { "missing" };
        table.add_row([feature.name, there, &feature.found, feature.needed_for, feature.without]);
    }
    lines(&table)
}
