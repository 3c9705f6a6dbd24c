//! `segue run`.

use crate::args::RunArgs;
use crate::compare::{Delivery, deliver};
use crate::outputs::CsvOrigin;
use crate::screen::Screen;
use crate::{Failure, drive, outputs, print, table, warn};
#[cfg(feature = "report")]
use segue_draw::{Size, standalone};
use segue_export::{Origin, Output};
use segue_files::drive as drive_file;
use segue_files::{DriveFile, ScenarioFile, scenario};
#[cfg(feature = "report")]
use segue_report::quartiles;
#[cfg(feature = "report")]
use segue_study::Comparison;
use segue_study::drive::DrivePlan;
use segue_study::{GroupResult, Plan, Presentation};
use segue_world::access::LinkNames;
use std::path::Path;

/// Size of the chart, px.
#[cfg(feature = "report")]
const CHART: Size = Size { width: 860, height: 460 };

/// Runs the command.
pub fn run(args: &RunArgs, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    let Some(path) = args.scenario.as_deref() else {
        let schema = if args.drive_schema { drive_file::schema() } else { scenario::schema() };
        let schema = serde_json::to_string_pretty(&schema).map_err(Failure::ours)?;
        return print(&format!("{schema}\n"));
    };
    let (file, plan, mut shown) = match read(path, args.points, &args.names)? {
        Question::Handoffs { file, plan, shown } => (file, plan, shown),
        Question::Drives { file, plan } => return drive::run(args, path, &file, &plan, origin, screen),
    };
    if let Some(columns) = args.table.columns()? {
        shown.columns = columns;
    }
    let destinations = Destinations::new(args, &file)?;
    let ([json, csv, rows, report, svg], on_stdout) = outputs::open([
        ("json", &destinations.json),
        ("csv", &destinations.csv),
        ("rows", &destinations.rows),
        ("report", &destinations.report),
        ("svg", &destinations.svg),
    ])?;
    outputs::spare(path.as_ref(), [&json, &csv, &rows, &report, &svg])?;
    outputs::origin_needs_csv(args.results.origin, csv.is_some() || rows.is_some())?;
    let delivery = Delivery {
        files: [json, csv, rows, report],
        csv_origin: CsvOrigin::asked(args.results.origin),
        threads: args.threads,
        folder: folder_of_links(path),
    };
    let comparison = deliver(&plan, &shown, delivery, origin, screen)?;
    #[cfg(feature = "report")]
    outputs::write(svg, || Ok::<_, Failure>(chart(&comparison, &shown)))?;
    let Destinations { json, csv, rows, report, svg } = &destinations;
    outputs::tell_written(screen, [json, csv, rows, report, svg], []);
    if on_stdout {
        warn(comparison.groups.iter().flat_map(GroupResult::warnings));
    } else {
        print(&table::render(&plan, &comparison, &shown, screen))?;
    }
    Ok(())
}

/// The folder that paths in a file start from.
pub fn folder_of_links(file: &str) -> &Path {
    Path::new(file).parent().unwrap_or(Path::new(""))
}

/// The experiment that a file asks for, checked.
pub enum Question {
    /// Handoffs, each by itself (docs/guide/run.md).
    Handoffs {
        /// The file.
        file: Box<ScenarioFile>,
        /// The handoffs to run.
        plan: Box<Plan>,
        /// How it is shown.
        shown: Presentation,
    },
    /// Whole drives (docs/guide/drives.md).
    Drives {
        /// The file.
        file: Box<DriveFile>,
        /// The drives to run.
        plan: DrivePlan,
    },
}

/// Reads a file; `points` limits its handoff times, or the seeds of a drive. `names`: those that links have beside the
/// presets'.
pub fn read(path: &str, points: Option<u32>, names: &LinkNames) -> Result<Question, Failure> {
    if let Some(file) = DriveFile::read(path, names).map_err(Failure::user)? {
        let plan = file.plan(points.map(u64::from)).map_err(Failure::user)?;
        return Ok(Question::Drives { file: Box::new(file), plan });
    }
    let file = ScenarioFile::read(path, names).map_err(Failure::user)?;
    let (plan, shown) = file.plan(points.map(|points| points as usize)).map_err(Failure::user)?;
    Ok(Question::Handoffs { file: Box::new(file), plan: Box::new(plan), shown })
}

/// The chart as a picture that stands alone.
#[cfg(feature = "report")]
fn chart(comparison: &Comparison, shown: &Presentation) -> String {
    standalone(&quartiles(comparison, shown).svg(CHART))
}

/// Where results go, the command line before the file.
struct Destinations {
    json: Option<String>,
    csv: Option<String>,
    rows: Option<String>,
    report: Option<String>,
    svg: Option<String>,
}

impl Destinations {
    fn new(args: &RunArgs, file: &ScenarioFile) -> Result<Self, Failure> {
        let of_file = &file.scenario.output;
        let choose = |option: &Option<String>, written: &Option<scenario::OutputWord>| {
            match (option, written) {
                (Some(path), _) => Ok(Some(path.clone())),
                (None, None) => Ok(None),
                (None, Some(written)) => {
                    let path = Some(written.get_ref().clone());
                    // Tried here as well: the file's words have a line and a column.
                    match Output::open(written.get_ref()) {
                        Ok(_) => Ok(path),
                        Err(error) => Err(Failure::user(file.bad_output(written, error))),
                    }
                }
            }
        };
        Ok(Self {
            json: choose(&args.results.json, &of_file.json)?,
            csv: choose(&args.results.csv, &of_file.csv)?,
            rows: choose(&args.results.rows, &of_file.rows)?,
            report: choose(&args.results.report, &of_file.report)?,
            svg: choose(&args.svg, &of_file.svg)?,
        })
    }
}
