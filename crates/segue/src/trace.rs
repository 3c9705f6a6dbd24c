//! `segue trace`.

use crate::cli::TraceArgs;
use crate::{Failure, events, outputs, print};
use segue_export::capture::capture;
use segue_export::{Output, trace_lines};
use segue_report::handoff_page;
use segue_study::Request;
use segue_study::explain::{Moment, explain};
use std::path::Path;

/// Runs the command.
pub fn run(args: &TraceArgs) -> Result<(), Failure> {
    let request = Request {
        kinds: args.bench.kinds(&[args.kind]),
        flows: vec![args.flows],
        at: vec![args.at],
        ..args.bench.request()?
    };
    let plan = request.plan().map_err(Failure::user)?;
    let captures = args.pcap.as_deref().map(|folder| captures(folder, &args.bench.schemes)).transpose()?;
    outputs::make_folder_of(&args.report)?;
    let ([json, report], on_stdout) = outputs::open([("--json", &args.json), ("--report", &args.report)])?;

    let traces = explain(&plan, Moment { group: 0, seed: args.bench.seed, at: args.at });

    for (output, told) in captures.into_iter().flatten().zip(&traces) {
        outputs::write(Some(output), || capture(&told.scheme, &told.trace))?;
    }
    outputs::write(report, || Ok::<_, Failure>(handoff_page(&plan, &traces, &outputs::origin())))?;
    outputs::write(json, || traces.iter().map(trace_lines).collect::<Result<String, _>>())?;
    if !on_stdout {
        for told in &traces {
            print(&if args.story { events::story(told) } else { events::render(told, args.all) })?;
        }
    }
    Ok(())
}

/// One file per scheme in `folder`, which is made: `sack.pcapng`, `etcp-a1+a3.pcapng`.
fn captures(folder: &str, schemes: &[String]) -> Result<Vec<Output>, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::User(format!(
            "--pcap {folder}: cannot write captures there: {error}; expected a writable folder"
        ))
    })?;
    let file = |scheme: &String| format!("{}.pcapng", scheme.replace(':', "-"));
    schemes
        .iter()
        .map(|scheme| Ok(Output::open(&Path::new(folder).join(file(scheme)).to_string_lossy())?))
        .collect()
}
