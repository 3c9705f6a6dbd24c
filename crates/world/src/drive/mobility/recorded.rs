//! Drives as CSV, one stay a line:
//!
//! ```text
//! from_s,until_s,link,queue,network
//! 0,48.5,200kbit/150ms,20,WCDMA
//! 51.5,60,"trace:lte.down,up=lte.up",,LTE
//! 60,62,none,,
//! ```
//!
//! `link` is anything that [`AccessLink::parse_in`] takes, paths starting from the file's folder.
//! `queue` (packets, default the link's) and `network` (default the link's text) may be left out. The
//! link `none` is no coverage, which need be written only at the end: the last line gives the length.

use super::{Drive, DriveError, LONGEST_DRIVE, Stay, in_order, seconds};
use crate::access::{AccessLink, LinkNames, printable};
use csv::StringRecord;
use segue_netsim::{Nanos, SECOND};
use segue_words::quantity;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Largest file, bytes.
const LARGEST: u64 = 64 << 20;
/// A line without coverage.
const NONE: &str = "none";
/// The columns, as they are written.
const COLUMNS: [&str; 5] = ["from_s", "until_s", "link", "queue", "network"];
/// How many of them must be there.
const NEEDED: usize = 3;

/// A recorded drive cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordedError {
    /// There is nothing to read.
    #[error("cannot read {path}: {problem}; expected a drive in CSV")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        problem: String,
    },
    /// A line as a whole is wrong.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// The file.
        path: String,
        /// From 1.
        line: u64,
        /// The fault, and what was expected.
        problem: String,
    },
    /// One value is wrong.
    #[error("{path}, line {line}, column {column}: {problem}")]
    Value {
        /// The file.
        path: String,
        /// From 1.
        line: u64,
        /// Its name in the first line.
        column: &'static str,
        /// The fault, and what was expected.
        problem: String,
    },
}

impl Drive {
    /// Reads a recorded drive, and the traces that it names; `names`: those that links have beside the presets'.
    pub fn read(path: &Path, names: &LinkNames) -> Result<Self, RecordedError> {
        let name = path.display().to_string();
        let unreadable = |problem| RecordedError::Unreadable { path: name.clone(), problem };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() as u64 > LARGEST {
            return Err(unreadable(format!("more than {} MiB", LARGEST >> 20)));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| unreadable(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Table::parse(name, text.trim_start_matches('\u{feff}'), (folder, names))?.drive()
    }

    /// Writes it as [`Self::read`] reads it; paths of traces as they once were written.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(to);
        table.write_record(COLUMNS)?;
        for stay in &self.stays {
            let (from, until, queue) = (seconds(stay.from), seconds(stay.until), stay.link.queue.to_string());
            table.write_record([&from, &until, &stay.link.text, &queue, &self.networks[stay.network]])?;
        }
        let covered = self.stays.last().map_or(0, |stay| stay.until);
        if covered < self.length {
            table.write_record([&seconds(covered), &seconds(self.length), NONE, "", ""])?;
        }
        table.flush()
    }
}

/// A line of the file.
struct Row {
    line: u64,
    from: Nanos,
    until: Nanos,
    /// Unless there is no coverage.
    attached: Option<(String, AccessLink)>,
}

/// The file's lines.
struct Table {
    path: String,
    /// Where each of [`COLUMNS`] stands.
    columns: [Option<usize>; 5],
    rows: Vec<Row>,
}

impl Table {
    fn parse(path: String, text: &str, place: (&Path, &LinkNames)) -> Result<Self, RecordedError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut table = Self { path, columns: [None; 5], rows: Vec::new() };
        let mut links = BTreeMap::new();
        let mut width = 0;
        for (index, record) in reader.records().enumerate() {
            let record = record.map_err(|error| table.line(1, error.to_string()))?;
            let line = record.position().map_or(1, |position| line_of(text, position));
            if index == 0 {
                width = record.len();
                table.header(line, &record)?;
                continue;
            }
            if record.len() != width {
                let problem = format!("{} values; expected {width}, as in the first line", record.len());
                return Err(table.line(line, problem));
            }
            let row = table.row(line, &record, place, &mut links)?;
            table.rows.push(row);
        }
        if width == 0 {
            return Err(table.line(1, format!("nothing in it; expected columns {}", COLUMNS.join(", "))));
        }
        Ok(table)
    }

    fn header(&mut self, line: u64, names: &StringRecord) -> Result<(), RecordedError> {
        for (place, name) in names.iter().enumerate() {
            let Some(column) = COLUMNS.iter().position(|column| *column == name) else {
                let problem = format!("unknown column `{name}`; expected {}", COLUMNS.join(", "));
                return Err(self.line(line, problem));
            };
            if self.columns[column].replace(place).is_some() {
                return Err(self.line(line, format!("column `{name}` is given twice; expected it once")));
            }
        }
        match COLUMNS[..NEEDED].iter().zip(self.columns).find(|(_, place)| place.is_none()) {
            Some((missing, _)) => {
                Err(self.line(line, format!("no column `{missing}`; expected {}", COLUMNS.join(", "))))
            }
            None => Ok(()),
        }
    }

    fn row(
        &self,
        line: u64,
        record: &StringRecord,
        (folder, names): (&Path, &LinkNames),
        links: &mut BTreeMap<String, AccessLink>,
    ) -> Result<Row, RecordedError> {
        let [from, until, link, queue, network] =
            self.columns.map(|place| place.and_then(|place| record.get(place)).unwrap_or_default());
        let time = |column, word: &str| {
            quantity::decimal(word, SECOND).filter(|time| *time <= LONGEST_DRIVE).ok_or_else(|| {
                let problem = format!("bad time `{word}`; expected seconds, 0 to {}", seconds(LONGEST_DRIVE));
                self.value(line, column, problem)
            })
        };
        let (from, until) = (time(COLUMNS[0], from)?, time(COLUMNS[1], until)?);
        if link == NONE {
            return Ok(Row { line, from, until, attached: None });
        }
        if !links.contains_key(link) {
            let parsed = AccessLink::parse_in(link, folder, names)
                .map_err(|error| self.value(line, COLUMNS[2], error.to_string()))?;
            links.insert(link.to_string(), parsed);
        }
        let mut link = links[link].clone();
        if !queue.is_empty() {
            let packets = queue.parse().ok().filter(|packets| (1..=10_000_000).contains(packets));
            link.queue = packets.ok_or_else(|| {
                let problem = format!("bad queue `{queue}`; expected 1 to 10000000 packets");
                self.value(line, COLUMNS[3], problem)
            })?;
        }
        let network = if network.is_empty() { link.text.clone() } else { printable(network) };
        Ok(Row { line, from, until, attached: Some((network, link)) })
    }

    fn drive(self) -> Result<Drive, RecordedError> {
        let lines: Vec<u64> = self.rows.iter().map(|row| row.line).collect();
        in_order(self.rows.iter().map(|row| (row.from, row.until)))
            .map_err(|error| self.of_drive(&lines, error))?;
        let length = self.rows.last().map_or(0, |row| row.until);
        let (mut networks, mut numbers) = (Vec::new(), BTreeMap::new());
        let (mut stays, mut lines) = (Vec::new(), Vec::new());
        for Row { line, from, until, attached } in &self.rows {
            let Some((name, link)) = attached else { continue };
            let network = *numbers.entry(name).or_insert_with(|| {
                networks.push(name.clone());
                networks.len() - 1
            });
            stays.push(Stay { network, from: *from, until: *until, link: link.clone() });
            lines.push(*line);
        }
        if stays.is_empty() {
            return Err(self.line(self.last_line(), DriveError::NoStays.to_string()));
        }
        Drive::new(length, networks, stays).map_err(|error| self.of_drive(&lines, error))
    }

    /// A drive's error at its place; `lines` are those of its stays.
    fn of_drive(&self, lines: &[u64], error: DriveError) -> RecordedError {
        match error {
            DriveError::Stay { stay, column, problem } => self.value(lines[stay - 1], column, problem),
            error => self.value(self.last_line(), COLUMNS[1], error.to_string()),
        }
    }

    fn last_line(&self) -> u64 {
        self.rows.last().map_or(1, |row| row.line)
    }

    fn line(&self, line: u64, problem: String) -> RecordedError {
        RecordedError::Line { path: self.path.clone(), line, problem: printable(&problem) }
    }

    fn value(&self, line: u64, column: &'static str, problem: String) -> RecordedError {
        RecordedError::Value { path: self.path.clone(), line, column, problem: printable(&problem) }
    }
}

/// The line of a record. Its position is that of the end of the record before it: empty lines follow.
fn line_of(text: &str, position: &csv::Position) -> u64 {
    let rest = text.as_bytes().iter().skip(position.byte() as usize);
    let ends = rest.take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| **byte == b'\n');
    position.line() + ends.count() as u64
}
