//! `segue compare`.

use crate::cli::CompareArgs;
use crate::{Failure, outputs, print, progress, table};
use segue_export::{comparison_csv, comparison_json, handoffs_csv};
use segue_report::comparison_page;
use segue_study::{Comparison, Plan, Presentation, Request};
use std::io::IsTerminal;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let plan = request(args)?.plan().map_err(Failure::user)?;
    let ([json, csv, rows, report], on_stdout) = outputs::open([
        ("--json", &args.json),
        ("--csv", &args.csv),
        ("--rows", &args.rows),
        ("--report", &args.report),
    ])?;

    let shown = Presentation::default();
    let keep_handoffs = args.rows.is_some() || args.report.is_some();
    let (comparison, page) = outputs::with_threads(args.threads, || {
        let comparison = simulate(&plan, keep_handoffs);
        let page = report.as_ref().map(|_| comparison_page(&plan, &comparison, &shown, &outputs::origin()));
        (comparison, page)
    })?;

    outputs::write(json, || comparison_json(&comparison))?;
    outputs::write(csv, || comparison_csv(&comparison))?;
    outputs::write(rows, || handoffs_csv(&comparison))?;
    outputs::write(report, || Ok::<_, Failure>(page.unwrap_or_default()))?;
    if !on_stdout {
        print(&table::render(&plan, &comparison, &shown, std::io::stdout().is_terminal()))?;
    }
    Ok(())
}

fn request(args: &CompareArgs) -> Result<Request, Failure> {
    let mut request = args.bench.request()?;
    if args.both_ways {
        let back = request.pairs.iter().map(|(old, new)| (new.clone(), old.clone())).collect::<Vec<_>>();
        request.pairs.extend(back);
    }
    Ok(Request {
        kinds: args.bench.kinds(&args.kind),
        flows: args.flows.clone(),
        at: args.at.0.clone(),
        seeds: args.seeds,
        ..request
    })
}

/// Runs the plan, with a progress bar if somebody watches.
pub fn simulate(plan: &Plan, keep_handoffs: bool) -> Comparison {
    let bar = progress::bar(plan.handoffs(), "handoffs");
    let comparison = Comparison::run(plan, keep_handoffs, &|done| bar.inc(done));
    bar.finish_and_clear();
    comparison
}
