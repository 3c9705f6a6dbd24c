//! `segue compare`.

use crate::cli::{CompareArgs, KindWord, NoticeWord};
use crate::{Failure, print, table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use segue_export::{Output, comparison_csv, comparison_json, handoffs_csv};
use segue_study::{Comparison, Plan, Request};
use segue_world::{AccessLink, Kind, NoticeMode};
use std::io::IsTerminal;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let plan = request(args)?.plan().map_err(Failure::user)?;
    let open = |path: &Option<String>| path.as_deref().map(Output::open).transpose();
    let outputs = [open(&args.json)?, open(&args.csv)?, open(&args.rows)?];
    let on_stdout = outputs.iter().flatten().filter(|output| output.is_stdout()).count();
    if on_stdout > 1 {
        return Err(Failure::User(
            "two results for standard output; expected at most one - among --json, --csv, --rows".into(),
        ));
    }

    let files: Vec<_> = outputs.iter().flatten().filter_map(Output::file).collect();
    if files.iter().enumerate().any(|(index, file)| files[..index].contains(file)) {
        return Err(Failure::User(
            "--json, --csv and --rows name one file twice; expected different files".into(),
        ));
    }

    let comparison = with_threads(args.threads, || simulate(&plan, args.rows.is_some()))?;

    let [json, csv, rows] = outputs;
    if let Some(output) = json {
        output.finish(&comparison_json(&comparison).map_err(Failure::ours)?).map_err(Failure::writing)?;
    }
    if let Some(output) = csv {
        output.finish(&comparison_csv(&comparison).map_err(Failure::ours)?).map_err(Failure::writing)?;
    }
    if let Some(output) = rows {
        output.finish(&handoffs_csv(&comparison).map_err(Failure::ours)?).map_err(Failure::writing)?;
    }
    if on_stdout == 0 {
        print(&table::render(&plan, &comparison, std::io::stdout().is_terminal()))?;
    }
    Ok(())
}

fn request(args: &CompareArgs) -> Result<Request, Failure> {
    if args.notice == NoticeWord::Instant && args.notice_loss > 0 {
        return Err(Failure::User(
            "--notice-loss goes with --notice in-band; an instant notice is never lost".into(),
        ));
    }
    let mut kinds = Vec::new();
    for word in &args.kind {
        let kind = match word {
            KindWord::Mbb => Kind::Mbb,
            KindWord::Bbm => Kind::Bbm(args.disconnect),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(Request {
        old: AccessLink::parse(&args.old).map_err(Failure::user)?,
        new: AccessLink::parse(&args.new).map_err(Failure::user)?,
        both_ways: args.both_ways,
        kinds,
        flows: args.flows.clone(),
        schemes: args.schemes.clone(),
        at: args.at.0.clone(),
        packets: args.packets,
        definition: args.definition.into(),
        notice: match args.notice {
            NoticeWord::Instant => NoticeMode::Instant,
            NoticeWord::InBand => NoticeMode::InBand { lost: args.notice_loss },
        },
        stack: args.stack.clone(),
        settings: args.set.clone(),
        seed: args.seed,
        seeds: args.seeds,
    })
}

/// Runs `work` on so many threads; the result does not depend on their number.
fn with_threads<R: Send>(threads: Option<u16>, work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    match threads {
        None => Ok(work()),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
            Ok(pool.map_err(Failure::ours)?.install(work))
        }
    }
}

/// Runs the plan, with a progress bar if somebody watches.
fn simulate(plan: &Plan, keep_handoffs: bool) -> Comparison {
    let target = if std::io::stderr().is_terminal() && std::io::stdout().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(plan.handoffs()), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} handoffs, {eta} left") {
        bar.set_style(style);
    }
    let comparison = Comparison::run(plan, keep_handoffs, &|done| bar.inc(done));
    bar.finish_and_clear();
    comparison
}
