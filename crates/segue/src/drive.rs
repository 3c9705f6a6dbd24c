//! `segue run` of a file with a `[drive]`.

use crate::args::RunArgs;
use crate::layout::wrapped;
use crate::outputs::CsvOrigin;
use crate::screen::Screen;
use crate::{Failure, outputs, print, progress, warn};
use comfy_table::CellAlignment;
use segue_console::{WHOLE, plain_table};
use segue_export::{Drives, Origin, Provenance, drive_csv, drive_json, drive_notes};
use segue_files::DriveFile;
use segue_files::scenario::OutputWord;
#[cfg(feature = "report")]
use segue_report::drive_page;
use segue_study::drive::{DrivePlan, DriveRow, Mean};
use segue_study::numbers::{count, time};
use segue_study::warnings::{stack_warnings, unproven};
use segue_world::AccessLink;
use std::io;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(
    args: &RunArgs,
    path: &str,
    file: &DriveFile,
    plan: &DrivePlan,
    origin: &Origin,
    screen: &Screen,
) -> Result<(), Failure> {
    let written = &file.scenario.output;
    for (word, what) in [(&written.rows, "rows"), (&written.svg, "svg")] {
        if let Some(word) = word {
            let problem = format!("a drive has no `{what}`; expected `json`, `csv` or `report`");
            return Err(Failure::user(file.bad_output(word, problem)));
        }
    }
    for (option, what) in [(&args.results.rows, "--rows"), (&args.svg, "--svg")] {
        if option.is_some() {
            return Err(Failure::user(format!("a drive has no {what}; expected --json, --csv or --report")));
        }
    }
    let of = |option: &Option<String>, word: &Option<OutputWord>| {
        option.clone().or(word.as_ref().map(|word| word.get_ref().clone()))
    };
    let [to_json, to_csv, page] = [
        of(&args.results.json, &written.json),
        of(&args.results.csv, &written.csv),
        of(&args.results.report, &written.report),
    ];
    let ([json, csv, report], on_stdout) =
        outputs::open([("json", &to_json), ("csv", &to_csv), ("report", &page)])?;
    outputs::origin_needs_csv(args.results.origin, csv.is_some())?;
    for read in read_for(path, file) {
        outputs::spare(&read, [&json, &csv, &report])?;
    }
    outputs::spare_links(links(plan), [&json, &csv, &report])?;
    warn(stack_warnings(plan.schemes.iter().map(|scheme| scheme.stack.name)));
    let rows = outputs::with_threads(args.threads, || simulate(plan, screen))?;
    let provenance = || provenance(origin.version, (path, args.points), file, plan).map_err(Failure::ours);
    outputs::write(json, || drive_json(&rows, Some(&provenance()?)).map_err(Failure::ours))?;
    let place = CsvOrigin::asked(args.results.origin);
    outputs::write_table(csv, place, &drive_notes(&rows), provenance, || drive_csv(&rows))?;
    #[cfg(feature = "report")]
    outputs::write(report, || outputs::with_threads(args.threads, || drive_page(plan, &rows, origin)))?;
    outputs::tell_written(screen, [&to_json, &to_csv, &page], []);
    if !on_stdout {
        print(&table(plan, &rows, screen.width))?;
    }
    Ok(())
}

/// Files that a drive is in.
fn read_for(path: &str, file: &DriveFile) -> Vec<PathBuf> {
    [Some(path.into()), file.recorded()].into_iter().flatten().collect()
}

fn links(plan: &DrivePlan) -> impl Iterator<Item = &AccessLink> + Clone {
    let drives = plan.blocks.iter().map(|block| &block.experiment.drive);
    drives.flat_map(|drive| drive.stays.iter().map(|stay| &stay.link))
}

/// Everything that the result of a drive depends on; `path` and `points` are those of the command line.
///
/// Errors: a file cannot be read again.
pub fn provenance(
    program: &str,
    (path, points): (&str, Option<u32>),
    file: &DriveFile,
    plan: &DrivePlan,
) -> io::Result<Provenance> {
    let read = read_for(path, file);
    let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    Provenance::of_drives(program, Drives { file: path.to_string(), points }, links(plan), &read)
}

pub(crate) fn simulate(plan: &DrivePlan, screen: &Screen) -> Vec<DriveRow> {
    let progress = progress::of(screen, plan.drives(), "drives");
    plan.run(&|more| progress.inc(more))
}

fn mean(value: &Mean) -> String {
    match value.ci95 {
        Some(ci95) => format!("{:.0} ± {ci95:.0}", value.mean),
        None => format!("{:.0}", value.mean),
    }
}

/// Columns after the scheme's name, and what they mean.
pub(crate) const COLUMNS: [(&str, &str); 8] = [
    ("kbit/s", "throughput of the mobile's flows, data in order"),
    ("cross", "throughput of the cross traffic, data in order, kbit/s"),
    ("Jain", "index of fairness of all bulk flows"),
    ("idle", "from link-up until data reaches the new link, s, mean"),
    ("RTO", "retransmission timeouts per drive"),
    ("rexmit", "packets sent again, per drive"),
    ("queue", "median delay at the access link, s"),
    ("web", "median time of an object, s"),
];

/// One block per drive, wide area and error of the bandwidth.
fn table(plan: &DrivePlan, rows: &[DriveRow], width: usize) -> String {
    let head: Vec<&str> = std::iter::once("scheme").chain(COLUMNS.map(|(heading, _)| heading)).collect();
    let mut text = plan.title.iter().map(|title| format!("{title}\n\n")).collect::<String>();
    for block in rows.chunks(plan.schemes.len()) {
        let first = &block[0];
        let error = match first.bandwidth_error {
            0.0 => String::new(),
            error => format!(", bandwidth within {:.0} %", 100.0 * error),
        };
        let classes: Vec<String> = first
            .classes
            .iter()
            .map(|(class, of)| format!("{} {}", of.handoffs as u64 / first.seeds, class))
            .collect();
        let unproven = unproven(block.iter().map(|row| row.stack.as_str()));
        let unproven: String = unproven.iter().map(|warning| format!("; {warning}")).collect();
        let heading = format!(
            "{}, {:.0} s; wide area {:.0} ms{error}; handoffs: {}{unproven}",
            first.drive,
            first.length_s,
            1000.0 * first.wan_delay_s,
            if classes.is_empty() { "none".to_string() } else { classes.join(", ") }
        );
        text.push_str(&wrapped("", &heading, width));
        let mut table = plain_table(&head, WHOLE);
        for row in block {
            table.add_row([
                row.scheme.clone(),
                mean(&row.mobile_kbps),
                row.cross_kbps.as_ref().map_or("-".into(), mean),
                format!("{:.2}", row.jain.mean),
                time(row.idle_s),
                count(row.timeouts),
                count(row.retransmissions),
                time(row.queue_delay_median_s),
                row.web.as_ref().map_or("-".into(), |web| time(web.completion_median_s)),
            ]);
        }
        for column in 1..9 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_string()).collect();
        text.push_str(&format!("{}\n\n", lines.join("\n")));
    }
    let seeds = match plan.seeds {
        1 => "one seed".to_string(),
        seeds => format!("{seeds} seeds, mean ± 95 % confidence interval"),
    };
    let classes = "Handoffs: horizontal with a small BDP (L-HH), with large ones (H-HH); vertical to a larger BDP (U-VH), \
                   to a smaller one (D-VH).";
    let mut legend = wrapped("", &format!("Each row: {seeds}. {classes}"), width);
    for (heading, meaning) in COLUMNS {
        legend.push_str(&wrapped(&format!("{heading:8}"), meaning, width));
    }
    text + &legend
}
