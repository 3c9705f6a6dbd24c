//! `segue repeat`: asks the question of a result again, and compares the answers.

use crate::cli::RepeatArgs;
use crate::screen::Screen;
use crate::{Failure, compare, diff, outputs, print};
use segue_console::printable;
use segue_export::{Document, Provenance, Question, comparison_json, digest};
use segue_study::{Difference, Row};
use serde_json::Value;
use std::fmt::Display;
use std::path::Path;

/// Runs the command with this version of the program. Another answer is a failure of ours: a result should not depend on when it was asked for.
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
        print(&diff::render(&Difference::new(&then, &now), names, false, screen))?;
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
        let found = digest(Path::new(path)).map_err(|problem| {
            let problem = segue_export::in_words(&problem);
            Failure::User(format!(
                "{name}: cannot read {path}: {problem}; expected the file it was made from"
            ))
        })?;
        if found != *expected {
            return Err(Failure::User(format!(
                "{name}: {path} has changed: its SHA-256 is {found}; expected {expected}"
            )));
        }
    }
    Ok(())
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
            let comparison = outputs::with_threads(threads, || compare::simulate(&plan, false, screen))?;
            values(comparison_json(&comparison, None))
        }
        #[cfg(feature = "files")]
        Question::Drives(drives) => match crate::run::read(&drives.file, drives.points)? {
            crate::run::Asked::Drives { plan, .. } => {
                let rows = outputs::with_threads(threads, || crate::drive::simulate(&plan, screen))?;
                values(segue_export::drive_json(&rows, None))
            }
            crate::run::Asked::Handoffs { .. } => {
                Err(refuse(&format!("{} describes no drive; expected one", drives.file)))
            }
        },
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
