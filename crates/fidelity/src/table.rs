//! Comma-separated tables with a heading line, packed or not.

use crate::Error;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A table in memory.
pub struct Table {
    path: PathBuf,
    columns: HashMap<String, usize>,
    records: Vec<csv::StringRecord>,
}

/// One line of it.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table,
    record: &'a csv::StringRecord,
}

impl Table {
    /// Reads a file; `.gz` is unpacked.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|e| Error::file(path, e))?;
        let packed = path.extension().is_some_and(|e| e == "gz");
        let source: Box<dyn Read> =
            if packed { Box::new(flate2::read::GzDecoder::new(file)) } else { Box::new(file) };
        let mut reader = csv::Reader::from_reader(source);
        let headings = reader.headers().map_err(|e| Error::file(path, e))?;
        let columns = headings.iter().enumerate().map(|(i, name)| (name.to_string(), i)).collect();
        let records = reader.records().collect::<Result<_, _>>().map_err(|e| Error::file(path, e))?;
        Ok(Self { path: path.to_path_buf(), columns, records })
    }

    /// Its lines, in order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.records.iter().map(move |record| Row { table: self, record })
    }
}

impl<'a> Row<'a> {
    /// An error of this row.
    pub fn wrong(&self, problem: String) -> Error {
        let line = self.record.position().map_or(0, csv::Position::line);
        Error::Content { path: self.table.path.clone(), line, problem }
    }

    /// Whether the table has that column.
    pub fn has(&self, column: &str) -> bool {
        self.table.columns.contains_key(column)
    }

    /// The cell of that column.
    pub fn text(&self, column: &str) -> Result<&'a str, Error> {
        let index = self.table.columns.get(column).copied();
        index.and_then(|i| self.record.get(i)).ok_or_else(|| self.wrong(format!("no column `{column}`")))
    }

    /// The cell of that column as a number, or whatever else is asked for.
    pub fn value<T: FromStr>(&self, column: &str) -> Result<T, Error> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.wrong(format!("column `{column}`: `{text}` is no valid value")))
    }
}
