//! `segue repeat`: asks the question of a result again, and compares the answers.

use crate::screen::Screen;
use crate::{Failure, compare, diff, outputs, print};
use clap::Args;
use segue_console::printable;
use segue_export::{Document, LinkRecord, Provenance, Question, comparison_json, digest};
use segue_study::{Difference, Row};
use serde_json::Value;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// `segue repeat`.
#[derive(Debug, Args)]
pub struct RepeatArgs {
    /// A result of `segue compare --json` or `segue run --json` (- for standard input)
    pub result: String,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Runs the command with this version of the program. Another answer is a failure of ours: a result does not depend on
/// when it is asked for.
pub fn run(args: &RepeatArgs, program: &str, screen: &Screen) -> Result<(), Failure> {
    let name = if args.result == "-" { "standard input" } else { &args.result };
    let document = Document::<Value>::read(&args.result).map_err(Failure::user)?;
    let Some(origin) = &document.origin else {
        return Err(Failure::User(format!(
            "{name}: it does not say which question it answers; expected a result with `origin`"
        )));
    };
    check_files(name, origin)?;
    let answer = ask(name, origin, args.threads, screen)?;
    let total = answer.len().max(document.rows.len());
    let same = answer.iter().zip(&document.rows).filter(|(now, then)| now == then).count();
    let rows = if total == 1 { "row" } else { "rows" };
    let programs = format!("{} then, {program} now", printable(&origin.program));
    if same == total {
        return print(&format!("the same: {total} {rows}, equal in every field (segue {programs})\n"));
    }
    // Rows of handoffs have measures, whose differences can be ranked.
    if let (Ok(then), Ok(now)) = (rows_of(&document.rows), rows_of(&answer)) {
        let names = [format!("{}, then", printable(name)), "now".to_string()];
        let difference = Difference::new(&then, &now);
        // The order of rows, and fields that no program knows, are no measures.
        if !difference.identical() {
            print(&diff::render(&difference, names, false, screen))?;
        }
    }
    Err(Failure::Ours(format!(
        "{name}: {} of {total} {rows} differ (segue {programs}); expected the same",
        total - same
    )))
}

fn rows_of(rows: &[Value]) -> Result<Vec<Row>, serde_json::Error> {
    rows.iter().map(|row| serde_json::from_value(row.clone())).collect()
}

/// Refuses to repeat what was asked of other files.
fn check_files(name: &str, origin: &Provenance) -> Result<(), Failure> {
    for (path, expected) in &origin.files {
        let file = Path::new(path);
        let refuse = |problem: &str| {
            let path = printable(path);
            Failure::User(format!(
                "{name}: cannot read {path}: {problem}; expected the file it was made from"
            ))
        };
        match std::fs::metadata(file) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(refuse("it is not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refuse("there is no such file"));
            }
            Err(error) => return Err(refuse(&segue_export::in_words(&error))),
        }
        let found = digest(file).map_err(|error| refuse(&segue_export::in_words(&error)))?;
        if found != *expected {
            return Err(Failure::User(format!(
                "{name}: {path} has changed: its SHA-256 is {found}; expected {expected}"
            )));
        }
    }
    Ok(())
}

/// Refuses to repeat what was asked of other links: a name may stand for another one now.
fn check_links(name: &str, origin: &Provenance, now: &Provenance) -> Result<(), Failure> {
    let differs = now.links.iter().find(|(text, link)| origin.links.get(*text) != Some(link));
    let Some((text, link)) = differs else { return Ok(()) };
    let meaning = |link: Option<&LinkRecord>| match link {
        Some(LinkRecord { meaning: Some(meaning), .. }) => format!("`{}`", printable(meaning)),
        Some(link) => format!("{} bit/s down", link.down.rate_bps),
        None => "nothing".to_string(),
    };
    let (is, was) = (meaning(Some(link)), meaning(origin.links.get(text)));
    Err(Failure::User(format!("{name}: link `{text}` is {is} now; expected {was}, as it was then")))
}

/// The rows that the question has now, as JSON has them.
fn ask(
    name: &str,
    origin: &Provenance,
    threads: Option<u16>,
    screen: &Screen,
) -> Result<Vec<Value>, Failure> {
    let refuse = |error: &dyn Display| Failure::User(format!("{name}: its question: {error}"));
    match &origin.question {
        Question::Handoffs(question) => {
            let request = question.request().map_err(|error| refuse(&error))?;
            let plan = request.plan().map_err(|error| refuse(&error))?;
            let now = Provenance::of_plan("", &plan, Path::new(&question.folder)).map_err(Failure::ours)?;
            check_links(name, origin, &now)?;
            let comparison = outputs::with_threads(threads, || compare::simulate(&plan, false, screen))?;
            values(comparison_json(&comparison, None))
        }
        #[cfg(feature = "files")]
        Question::Drives(drives) => match crate::run::read(&drives.file, drives.points)? {
            crate::run::Question::Drives { plan, .. } => {
                let rows = outputs::with_threads(threads, || crate::drive::simulate(&plan, screen))?;
                values(segue_export::drive_json(&rows, None))
            }
            crate::run::Question::Handoffs { .. } => {
                Err(refuse(&format!("{} describes no drive; expected one", drives.file)))
            }
        },
        Question::Lab(lab) => Err(refuse(&format!(
            "a laboratory measures anew each time; expected a simulated result, or run: segue lab run {}",
            printable(&lab.file)
        ))),
        #[cfg(not(feature = "files"))]
        Question::Drives(_) => {
            Err(refuse(&"this program was built without drives; `make build` builds all of it"))
        }
    }
}

/// The rows of a document as it is read, so that numbers have gone the same way on both sides.
fn values(document: Result<String, serde_json::Error>) -> Result<Vec<Value>, Failure> {
    let text = document.map_err(Failure::ours)?;
    Ok(Document::parse(text.as_bytes(), "the answer").map_err(Failure::ours)?.rows)
}
