//! `segue compare`.

use crate::args::{BenchArgs, ResultArgs, TableArgs, choice, word};
use crate::outputs::CsvOrigin;
use crate::screen::Screen;
use crate::{Failure, outputs, print, progress, table, warn};
use clap::Args;
use segue_export::{
    Origin, Output, Provenance, comparison_csv, comparison_json, comparison_notes, handoffs_csv,
};
#[cfg(feature = "report")]
use segue_report::comparison_page;
use segue_study::bench_words::{EVERY, HANDOFFS, TRAFFIC};
use segue_study::times::{Times, time};
use segue_study::{Comparison, GroupResult, Plan, Presentation, Request};
use segue_world::{Nanos, SimulatedKind};
use std::path::Path;

/// `segue compare`.
#[derive(Debug, Args)]
#[command(
    mut_arg("schemes", |arg| arg.help("Schemes, in the order in which they are shown; the others are compared with the first")),
    mut_arg("disconnect", |arg| arg.value_name("TIME,...").help("How long there is no link in break-before-make; 1s unless given"))
)]
pub struct CompareArgs {
    /// Links and schemes.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// Also compare from NEW to OLD
    #[arg(long)]
    pub both_ways: bool,
    /// Kinds of handoff
    #[arg(long, value_name = "KIND,...", value_parser = choice::<SimulatedKind>(), value_delimiter = ',', default_value = "mbb")]
    pub kind: Vec<SimulatedKind>,
    /// Numbers of flows
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = flow_count, default_value = "1", allow_negative_numbers = true)]
    pub flows: Vec<usize>,
    /// Handoff times: one, FIRST..LAST/STEP, or several of these behind commas
    #[arg(long, value_name = "TIMES", value_parser = Times::parse, default_value = "0.1s..20s/0.1s", allow_hyphen_values = true)]
    pub at: Times,
    /// Number of handoffs in a row: to NEW, back, to NEW and so on; each is counted by itself
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub handoffs: Option<String>,
    /// Time between the starts of two handoffs in a row
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub every: Option<String>,
    /// Traffic of the user, each class measured by itself: a list of download, upload, both, request(14kB,200ms), video(4mbit,30fps), page
    #[arg(long, value_name = "WORD,...", value_parser = word, allow_hyphen_values = true)]
    pub traffic: Option<String>,
    /// Let connections run this long first; handoff times count from the end of the warm-up
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0s", hide_default_value = true, allow_hyphen_values = true)]
    pub warm_up: Nanos,
    /// Number of seeds, whose handoffs are pooled
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true)]
    pub seeds: u64,
    /// Where results go.
    #[command(flatten)]
    pub results: ResultArgs,
    /// Columns of the table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), allow_negative_numbers = true)]
    pub threads: Option<u16>,
}

fn flow_count(word: &str) -> Result<usize, String> {
    word.trim().parse().map_err(|_| "expected whole numbers such as 1,2,4".to_string())
}

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
    outputs::origin_needs_csv(to.origin, files[1].is_some() || files[2].is_some())?;
    let delivery = Delivery {
        files,
        csv_origin: CsvOrigin::asked(to.origin),
        threads: args.threads,
        folder: "".as_ref(),
    };
    let comparison = deliver(&plan, &shown, delivery, origin, screen)?;
    outputs::tell_written(screen, [&to.report], []);
    if on_stdout {
        warn(comparison.groups.iter().flat_map(GroupResult::warnings));
    } else {
        print(&table::render(&plan, &comparison, &shown, screen))?;
    }
    Ok(())
}

/// How the results of a comparison are delivered.
pub(crate) struct Delivery<'a> {
    /// JSON, CSV, single handoffs, page.
    pub files: [Option<Output>; 4],
    /// How CSV says where it comes from.
    pub csv_origin: CsvOrigin,
    /// Threads that compute it.
    pub threads: Option<u16>,
    /// Paths of links start from here.
    pub folder: &'a Path,
}

/// Runs the plan and writes what was asked for.
#[cfg_attr(not(feature = "report"), expect(unused_variables, reason = "pages are not built"))]
pub(crate) fn deliver(
    plan: &Plan,
    shown: &Presentation,
    to: Delivery,
    origin: &Origin,
    screen: &Screen,
) -> Result<Comparison, Failure> {
    let Delivery { files: [json, csv, rows, report], csv_origin, threads, folder } = to;
    let links = plan.request.pairs.iter().flat_map(|(old, new)| [old, new]);
    outputs::spare_links(links, [&json, &csv, &rows, &report])?;
    if report.is_some() && plan.traffic.as_ref().is_some_and(|traffic| !traffic.download) {
        return Err(Failure::User(
            "--traffic: a page shows handoffs of downloads packet by packet; expected download among the traffic"
                .into(),
        ));
    }
    let keep_handoffs = rows.is_some() || report.is_some();
    let comparison = outputs::with_threads(threads, || simulate(plan, keep_handoffs, screen))?;
    let provenance = || {
        let provenance = Provenance::of_plan(origin.version, plan, folder).map_err(Failure::ours)?;
        Ok::<_, Failure>(provenance.or_command(origin))
    };
    outputs::write(json, || comparison_json(&comparison, Some(&provenance()?)).map_err(Failure::ours))?;
    let notes = comparison_notes(&comparison);
    outputs::write_table(csv, csv_origin, &notes, provenance, || comparison_csv(&comparison))?;
    outputs::write_table(rows, csv_origin, &notes, provenance, || handoffs_csv(&comparison))?;
    #[cfg(feature = "report")]
    outputs::write(report, || {
        outputs::with_threads(threads, || comparison_page(plan, &comparison, shown, origin))
    })?;
    Ok(comparison)
}

/// The comparison that the options ask for, checked.
pub fn plan(args: &CompareArgs) -> Result<Plan, Failure> {
    let mut request = args.bench.request()?;
    for (key, word) in [(HANDOFFS, &args.handoffs), (EVERY, &args.every), (TRAFFIC, &args.traffic)] {
        request.settings.extend(word.iter().map(|word| (key.to_string(), word.clone())));
    }
    crate::settings::only_once(&request.settings)?;
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

/// Runs the plan, and tells of its progress.
pub(crate) fn simulate(plan: &Plan, keep_handoffs: bool, screen: &Screen) -> Comparison {
    let progress = progress::of(screen, plan.handoffs(), "simulated handoffs");
    Comparison::run(plan, keep_handoffs, &|done| progress.inc(done))
}
