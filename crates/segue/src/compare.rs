//! `segue compare`.

use crate::cli::CompareArgs;
use crate::screen::Screen;
use crate::{Failure, outputs, print, progress, table, warn};
use segue_export::{Origin, Output, Provenance, comparison_csv, comparison_json, handoffs_csv};
#[cfg(feature = "report")]
use segue_report::comparison_page;
use segue_study::{Comparison, GroupResult, Plan, Presentation, Request};
use std::path::Path;

/// Runs the command.
pub fn run(args: &CompareArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let plan = plan(args)?;
    let to = &args.results;
    let (files, on_stdout) = outputs::open([
        ("--json", &to.json),
        ("--csv", &to.csv),
        ("--rows", &to.rows),
        ("--report", &to.report),
    ])?;
    let mut shown = Presentation::default();
    if let Some(columns) = args.table.columns()? {
        shown.columns = columns;
    }
    let comparison = deliver(&plan, &shown, files, args.threads, origin, screen, "".as_ref())?;
    if on_stdout {
        warn(comparison.groups.iter().flat_map(GroupResult::warnings));
    } else {
        print(&table::render(&plan, &comparison, &shown, screen))?;
    }
    Ok(())
}

/// Runs the plan and writes what was asked for: JSON, CSV, single handoffs, page. Paths of
/// links start from `folder`.
#[cfg_attr(not(feature = "report"), expect(unused_variables, reason = "pages are not built"))]
pub(crate) fn deliver(
    plan: &Plan,
    shown: &Presentation,
    [json, csv, rows, report]: [Option<Output>; 4],
    threads: Option<u16>,
    origin: &Origin,
    screen: &Screen,
    folder: &Path,
) -> Result<Comparison, Failure> {
    let links = plan.request.pairs.iter().flat_map(|(old, new)| [old, new]);
    outputs::spare_links(links, [&json, &csv, &rows, &report])?;
    let keep_handoffs = rows.is_some() || report.is_some();
    let comparison = outputs::with_threads(threads, || simulate(plan, keep_handoffs, screen))?;
    outputs::write(json, || {
        let provenance = Provenance::of_plan(origin.version, plan, folder).map_err(Failure::ours)?;
        comparison_json(&comparison, Some(&provenance)).map_err(Failure::ours)
    })?;
    outputs::write(csv, || comparison_csv(&comparison))?;
    outputs::write(rows, || handoffs_csv(&comparison))?;
    #[cfg(feature = "report")]
    outputs::write(report, || {
        outputs::with_threads(threads, || comparison_page(plan, &comparison, shown, origin))
    })?;
    Ok(comparison)
}

/// The comparison that the options ask for, checked.
pub fn plan(args: &CompareArgs) -> Result<Plan, Failure> {
    let mut request = args.bench.request()?;
    if args.both_ways {
        let back = request.pairs.iter().map(|(old, new)| (new.clone(), old.clone())).collect::<Vec<_>>();
        request.pairs.extend(back);
    }
    let request = Request {
        kinds: args.bench.kinds(&args.kind)?,
        flows: args.flows.clone(),
        at: args.at.clone().after(args.warm_up).0,
        seeds: args.seeds,
        ..request
    };
    request.plan().map_err(Failure::user)
}

/// Runs the plan, with a progress bar if somebody watches.
pub(crate) fn simulate(plan: &Plan, keep_handoffs: bool, screen: &Screen) -> Comparison {
    let bar = progress::bar(screen, plan.handoffs(), "handoffs");
    let comparison = Comparison::run(plan, keep_handoffs, &|done| bar.inc(done));
    bar.finish_and_clear();
    comparison
}
