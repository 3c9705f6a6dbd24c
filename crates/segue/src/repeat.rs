//! `segue repeat`: asks the question of a result again, and compares the answers.

use crate::screen::Screen;
use crate::{Failure, compare, diff, layout, outputs, print, warn};
use clap::Args;
use segue_console::printable;
use segue_export::{
    DirectionRecord, Document, LinkRecord, Provenance, Question, command_of_another, comparison_csv,
    comparison_json, digest, handoffs_csv, metadata_file, origin_in_comments, origin_in_metadata,
    without_comments,
};
#[cfg(feature = "files")]
use segue_study::drive::DriveRow;
use segue_study::{Comparison, Difference, Row};
use segue_world::access::LinkNames;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// `segue repeat`.
#[derive(Debug, Args)]
pub struct RepeatArgs {
    /// A result of `segue compare` or `segue run`, written with --json, --csv or --rows (- for standard input)
    pub result: String,
    /// Worker threads; all cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), allow_negative_numbers = true)]
    pub threads: Option<u16>,
    /// Names of the user's own links.
    #[arg(skip)]
    pub names: LinkNames,
}

/// Runs the command with this version of the program. Another answer is a failure of ours: a result does not depend on
/// when it is asked for.
pub fn run(args: &RepeatArgs, program: &str, screen: &Screen) -> Result<(), Failure> {
    let name = if args.result == "-" { "standard input" } else { &args.result };
    let bytes = segue_export::read_document(&args.result).map_err(Failure::user)?;
    if is_page(&bytes) {
        return Err(Failure::User(format!(
            "{name}: a page, which does not hold its numbers for another program; expected the result of the same \
             command with --json or --csv; the page names its command"
        )));
    }
    if let Some(table) = CsvResult::among(&bytes, &args.result, name)? {
        return repeat_table(args, &table, program, screen);
    }
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Failure::User(format!(
            "{name}: neither JSON nor CSV of Segue; expected a result of segue compare or segue run, written with \
             --json, --csv or --rows"
        )));
    }
    if let Some(command) = command_of_another(&bytes) {
        return Err(Failure::User(format!(
            "{name}: the output of `{}`; expected a result of segue compare or segue run: run that command again instead",
            printable(&command)
        )));
    }
    let document = Document::<Value>::parse(&bytes, name).map_err(Failure::user)?;
    let Some(origin) = &document.origin else {
        return Err(Failure::User(format!(
            "{name}: it does not say which question it answers, as with --origin=none; expected a result with `origin`"
        )));
    };
    check_files(name, origin)?;
    let names = adopt_names(name, origin, &args.names)?;
    let answer = Answer::to(name, origin, &names, false, (args.threads, screen))?.rows()?;
    warn(adopted(name, &names));
    let total = answer.len().max(document.rows.len());
    let same = answer.iter().zip(&document.rows).filter(|(now, then)| now == then).count();
    let rows = if total == 1 { "row" } else { "rows" };
    let programs = format!("{} then, {program} now", printable(&origin.program));
    if same == total {
        return tell_equal(total, &programs, screen);
    }
    // Rows of handoffs have measures, whose differences can be ranked.
    if let (Ok(then), Ok(now)) = (rows_of(&document.rows), rows_of(&answer)) {
        let names = [format!("{}, then", printable(name)), "now".to_string()];
        let difference = Difference::new(&then, &now);
        // The order of rows, and fields that no program knows, are no measures.
        if !difference.identical() {
            let unlike = if origin.program == program { "" } else { "program" };
            print(&diff::render(&difference, names, Some(unlike), false, screen))?;
        }
    }
    Err(Failure::Ours(format!(
        "{name}: {} of {total} {rows} differ (segue {programs}); expected the same",
        total - same
    )))
}

/// Whether a document is a page of `--report`.
fn is_page(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(200)];
    let head = String::from_utf8_lossy(head).to_lowercase();
    ["<!doctype html", "<html"].iter().any(|begin| head.trim_start().starts_with(begin))
}

/// The one line of an equal answer, broken where the terminal is narrower.
fn tell_equal(total: usize, programs: &str, screen: &Screen) -> Result<(), Failure> {
    let rows = if total == 1 { "row" } else { "rows" };
    let line = format!("the same: {total} {rows}, equal in every field (segue {programs})\n");
    print(&screen.terminal.map_or(line.clone(), |width| layout::fitted(&line, width)))
}

/// A result as CSV, and where it comes from.
struct CsvResult<'a> {
    name: &'a str,
    origin: Provenance,
    table: &'a str,
}

impl<'a> CsvResult<'a> {
    /// The one in a file, unless that may be JSON. Every table has a column `scheme`.
    fn among(bytes: &'a [u8], path: &str, name: &'a str) -> Result<Option<Self>, Failure> {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
        let table = without_comments(text);
        let head = table.lines().next().unwrap_or_default();
        if !head.split(',').any(|column| column == "scheme") || text.trim_start().starts_with(['{', '[']) {
            return Ok(None);
        }
        let refuse = |problem: String| Failure::User(format!("{name}: {problem}"));
        let inside = origin_in_comments(text).map_err(refuse)?;
        let origin = match inside {
            Some(origin) => origin,
            None => Self::beside(path, name)?,
        };
        Ok(Some(Self { name, origin, table }))
    }

    /// The origin in the file beside the table.
    fn beside(path: &str, name: &str) -> Result<Provenance, Failure> {
        let refuse = |problem: String| {
            Failure::User(format!(
                "{name}: it does not say which question it answers, as with --origin=none; expected lines that begin with # \
                 (--origin), or {problem}"
            ))
        };
        if path == "-" {
            return Err(refuse("a file in place of standard input".into()));
        }
        let beside = metadata_file(Path::new(path));
        let shown = beside.display();
        let text = std::fs::read_to_string(&beside).map_err(|error| {
            refuse(format!("{shown} beside it, which cannot be read: {}", segue_export::in_words(&error)))
        })?;
        origin_in_metadata(&text)
            .map_err(|problem| refuse(format!("an origin in {shown}, which has {problem}")))
    }
}

/// Asks the question of a table again, and compares line by line.
fn repeat_table(args: &RepeatArgs, then: &CsvResult, program: &str, screen: &Screen) -> Result<(), Failure> {
    let CsvResult { name, origin, table } = then;
    check_files(name, origin)?;
    let names = adopt_names(name, origin, &args.names)?;
    let head = table.lines().next().unwrap_or_default();
    let answers = Answer::to(name, origin, &names, true, (args.threads, screen))?.tables()?;
    warn(adopted(name, &names));
    let Some(now) = answers.iter().find(|answer| answer.lines().next() == Some(head)) else {
        return Err(Failure::Ours(format!(
            "{name}: its columns are others than those of today (segue {} then, {program} now); expected the same",
            printable(&origin.program)
        )));
    };
    let (then, now): (Vec<&str>, Vec<&str>) =
        (table.lines().skip(1).collect(), now.lines().skip(1).collect());
    let total = then.len().max(now.len());
    let same = then.iter().zip(&now).filter(|(then, now)| then == now).count();
    let rows = if total == 1 { "row" } else { "rows" };
    let programs = format!("{} then, {program} now", printable(&origin.program));
    if same == total {
        return tell_equal(total, &programs, screen);
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

/// Takes the meanings of links that have no name on this machine from the result.
fn adopt_names(name: &str, origin: &Provenance, names: &LinkNames) -> Result<LinkNames, Failure> {
    let told = origin.links.iter().filter_map(|(text, link)| {
        let head = text.split(',').next()?;
        Some((head.to_string(), link.meaning.clone()?))
    });
    let told: BTreeSet<(String, String)> = told.collect();
    names.clone().adopting(told).map_err(|error| Failure::User(format!("{name}: {}", error.problem)))
}

/// A warning for each of them.
fn adopted(name: &str, names: &LinkNames) -> Vec<String> {
    let told = names.adopted().iter().map(|(link, meaning)| {
        format!("no link is called `{link}` here; it is `{}`, as {name} says", printable(meaning))
    });
    told.collect()
}

/// Refuses to repeat what was asked of other links: a name may stand for another one now.
fn check_links(name: &str, origin: &Provenance, now: &Provenance) -> Result<(), Failure> {
    let differs = now.links.iter().find(|(text, link)| origin.links.get(*text) != Some(link));
    let Some((text, link)) = differs else { return Ok(()) };
    let then = origin.links.get(text);
    let same_words = then.is_some_and(|then| then.meaning == link.meaning);
    let told = |link: &LinkRecord| match &link.meaning {
        Some(meaning) if !same_words => format!("`{}`", printable(meaning)),
        _ => format!("{} down, {} up", in_numbers(&link.down), in_numbers(&link.up)),
    };
    let (is, was) = (told(link), then.map_or("nothing".to_string(), told));
    Err(Failure::User(format!("{name}: link `{text}` is {is} now; expected {was}, as it was then")))
}

fn in_numbers(direction: &DirectionRecord) -> String {
    let DirectionRecord { rate_bps, delay_s, queue, queue_packets } = direction;
    format!("{rate_bps} bit/s with {delay_s} s and a {} queue of {queue_packets} packets", printable(queue))
}

/// The answer that a question has now.
enum Answer {
    Handoffs(Comparison),
    #[cfg(feature = "files")]
    Drives(Vec<DriveRow>),
}

impl Answer {
    fn to(
        name: &str,
        origin: &Provenance,
        names: &LinkNames,
        keep_handoffs: bool,
        (threads, screen): (Option<u16>, &Screen),
    ) -> Result<Self, Failure> {
        let refuse = |error: &dyn Display| Failure::User(format!("{name}: its question: {error}"));
        match &origin.question {
            Question::Handoffs(question) => {
                let request = question.request(names).map_err(|error| refuse(&error))?;
                let plan = request.plan().map_err(|error| refuse(&error))?;
                let now =
                    Provenance::of_plan("", &plan, Path::new(&question.folder)).map_err(Failure::ours)?;
                check_links(name, origin, &now)?;
                outputs::with_threads(threads, || compare::simulate(&plan, keep_handoffs, screen))
                    .map(Self::Handoffs)
            }
            #[cfg(feature = "files")]
            Question::Drives(drives) => match crate::run::read(&drives.file, drives.points, names)? {
                crate::run::Question::Drives { plan, .. } => {
                    outputs::with_threads(threads, || crate::drive::simulate(&plan, screen)).map(Self::Drives)
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

    /// Its rows as JSON has them.
    fn rows(&self) -> Result<Vec<Value>, Failure> {
        match self {
            Self::Handoffs(comparison) => values(comparison_json(comparison, None)),
            #[cfg(feature = "files")]
            Self::Drives(rows) => values(segue_export::drive_json(rows, None)),
        }
    }

    /// Its tables as CSV.
    fn tables(&self) -> Result<Vec<String>, Failure> {
        let tables = match self {
            Self::Handoffs(comparison) => vec![comparison_csv(comparison), handoffs_csv(comparison)],
            #[cfg(feature = "files")]
            Self::Drives(rows) => vec![segue_export::drive_csv(rows)],
        };
        tables.into_iter().collect::<Result<_, _>>().map_err(Failure::ours)
    }
}

/// The rows of a document as it is read, so that numbers have gone the same way on both sides.
fn values(document: Result<String, serde_json::Error>) -> Result<Vec<Value>, Failure> {
    let text = document.map_err(Failure::ours)?;
    Ok(Document::parse(text.as_bytes(), "the answer").map_err(Failure::ours)?.rows)
}
