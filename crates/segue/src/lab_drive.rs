//! `segue lab drive`: several handoffs in a row under a real program.

use crate::lab_machine::{drive, kernel};
use crate::screen::Screen;
use crate::{Failure, lab_senders, lab_table, outputs, print, progress};
use clap::Args;
use comfy_table::CellAlignment;
use segue_console::{WHOLE, plain_table};
use segue_export::{Lab, Origin, Provenance, lab_drive_json};
use segue_files::kind;
use segue_study::measure::Quartiles;
use segue_study::numbers::{kilobytes, time};
use segue_study::{DriveRow, LabDrive};
use segue_words::lab::Load;
use segue_world::Kind;
use segue_world::access::LinkNames;

/// `segue lab drive`.
#[derive(Debug, Args)]
pub struct LabDriveArgs {
    /// Plan (TOML)
    pub plan: String,
    /// Write the rows as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Number of runs of each sender, in place of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Number of laboratories at once
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// `segue lab drive`.
pub fn run(args: &LabDriveArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let file = kind::plan(&args.plan, &args.names).map_err(Failure::user)?;
    let mut plan = file.drive(args.runs).map_err(Failure::user)?;
    lab_senders::leave_out(&mut plan.plan)?;
    let ([json], on_stdout) = outputs::open([("--json", &args.json)])?;
    outputs::spare(args.plan.as_ref(), [&json])?;
    outputs::spare_links([&plan.plan.old, &plan.plan.new].into_iter(), [&json])?;
    let progress = progress::of(screen, plan.plan.count(), "runs");
    let mut groups = Vec::new();
    for &kind in &plan.plan.kinds {
        let runs = drive(&plan, kind, args.jobs, &mut |more| progress.inc(more))?;
        let senders = plan.plan.senders.iter().zip(&runs);
        let rows = senders.map(|(sender, runs)| DriveRow::new(&plan, kind, &kernel(), sender, runs));
        groups.push((kind, rows.collect::<Vec<_>>()));
    }
    drop(progress);
    let rows: Vec<DriveRow> = groups.iter().flat_map(|(_, rows)| rows.clone()).collect();
    outputs::write(json, || {
        let lab = Lab { file: args.plan.clone(), runs: args.runs };
        let links = [&plan.plan.old, &plan.plan.new];
        let origin = Provenance::of_lab(origin, lab, links).map_err(Failure::ours)?;
        lab_drive_json(&rows, Some(&origin)).map_err(Failure::ours)
    })?;
    if !on_stdout {
        print(&render(&plan, &groups))?;
    }
    Ok(())
}

/// Headings of the columns, that of the senders first.
fn head(load: Load) -> &'static [&'static str] {
    match load {
        Load::Bulk => &["sender", "Q1", "median", "Q3", "1 s", "MB"],
        Load::File(_) | Load::Page(_) => {
            &["sender", "Q1", "median", "Q3", "1 s", "done Q1", "done", "done Q3", "intact"]
        }
        Load::Typing | Load::Watching => &["sender", "echo", "first Q1", "first", "first Q3", "worst"],
    }
}

fn cells(row: &DriveRow) -> Vec<String> {
    let three = |of: Quartiles| [of.q1, of.median, of.q3].map(time);
    let mut cells = vec![row.scheme.clone()];
    if let Some(handoffs) = &row.handoffs {
        cells.extend(three(handoffs.first_send_after_link_up_s));
        cells.push(kilobytes(handoffs.bytes_1s));
    }
    match (&row.completed_s, row.intact, &row.echo_s, &row.first_echo_s) {
        (Some(completed), Some(intact), _, _) => {
            cells.extend(three(*completed));
            cells.push(format!("{intact} of {}", row.runs));
        }
        (_, _, Some(echo), Some(first)) => {
            cells.push(time(echo.median));
            cells.extend(three(*first));
            cells.push(time(row.worst_first_echo_s));
        }
        _ => cells.push(format!("{:.2}", row.octets.median.unwrap_or_default() / 1e6)),
    }
    cells
}

fn render(plan: &LabDrive, groups: &[(Kind, Vec<DriveRow>)]) -> String {
    let mut text = plan.plan.title.iter().map(|title| format!("{title}\n\n")).collect::<String>();
    let head = head(plan.load);
    for (kind, rows) in groups {
        let stack = rows.first().map(|row| format!("; {}", row.stack)).unwrap_or_default();
        let stays =
            rows.first().map(|row| row.stays_s.iter().map(f64::to_string).collect::<Vec<_>>().join(", "));
        text.push_str(&format!(
            "{}, {}, stays of {} s{stack}\n",
            lab_table::headline(&plan.plan, *kind),
            plan.load.program(),
            stays.unwrap_or_default()
        ));
        let mut table = plain_table(head, WHOLE);
        for row in rows {
            table.add_row(cells(row));
        }
        for column in 1..head.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text.push_str(
            &table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>(),
        );
        for row in rows.iter().filter(|row| row.gave_up > 0) {
            text.push_str(&format!(
                "{}: connection held for dead by the kernel (tcp_retries2) in {} of {} runs\n",
                row.scheme, row.gave_up, row.runs
            ));
        }
        text.push('\n');
    }
    let columns = match plan.load {
        Load::Typing | Load::Watching => {
            "echo: from a keystroke to its echo, median, s. first: from link-up to the first echo after it, s; worst: the longest\n\
             of them (inf: there was none)."
        }
        _ => {
            "Q1, median, Q3: from each link-up until the first data packet leaves the sender, s (inf: none did). 1 s: kB of new data\n\
             that reached the mobile within 1 s of it, median. MB: in the whole drive, median. done: until the file was complete, s."
        }
    };
    text + &format!("Runs a row: {}, interleaved. {columns}\n", plan.plan.runs)
}
