//! Five senders and four buffers at an access router, run together. It is no figure of a paper. Two papers about
//! buffers ask for it when they are read beside those about senders (docs/reference/schemes.md, Senders and buffers).
//!
//! The scenarios are those of `examples/buffers/` themselves, so that `segue run` of each gives the same numbers.

use segue_files::{FileError, ScenarioFile};
use segue_study::{Comparison, Plan, Row};

/// Path and text of the scenarios, in the order of the columns. They differ in `router-buffer` alone.
const FILES: [(&str, &str); 4] = [
    ("examples/buffers/off.toml", include_str!("../../../examples/buffers/off.toml")),
    ("examples/buffers/previous-fcfd.toml", include_str!("../../../examples/buffers/previous-fcfd.toml")),
    ("examples/buffers/previous-lcfd.toml", include_str!("../../../examples/buffers/previous-lcfd.toml")),
    ("examples/buffers/new-lcfd.toml", include_str!("../../../examples/buffers/new-lcfd.toml")),
];

/// One column: a buffer and the scenario that has it.
#[derive(Clone, Debug)]
pub struct Column {
    /// The scenario's path in the repository.
    pub file: &'static str,
    /// The plan of the file.
    pub plan: Plan,
}

impl Column {
    /// `router-buffer`.
    pub fn buffer(&self) -> &str {
        let mut settings = self.plan.request.settings.iter();
        settings.find(|(key, _)| key == "router-buffer").map_or("off", |(_, value)| value)
    }
}

/// The columns, over at most `points` handoffs each.
pub fn columns(points: usize) -> Result<Vec<Column>, FileError> {
    let column = |&(file, text): &(&'static str, &str)| {
        let (plan, _) = ScenarioFile::parse(text, file)?.plan(Some(points))?;
        Ok(Column { file, plan })
    };
    FILES.iter().map(column).collect()
}

/// The table.
#[derive(Clone, Debug)]
pub struct SendersAndBuffers {
    /// The columns, and their results.
    pub columns: Vec<(Column, Comparison)>,
}

impl SendersAndBuffers {
    /// Runs all columns on all cores; `done` hears how many more handoffs are finished.
    pub fn run(columns: Vec<Column>, done: &(dyn Fn(u64) + Sync)) -> Self {
        let run = |column: Column| {
            let comparison = Comparison::run(&column.plan, false, done);
            (column, comparison)
        };
        Self { columns: columns.into_iter().map(run).collect() }
    }

    /// Rows of all columns, for each block of links and disconnection and each sender in it.
    pub fn rows(&self) -> impl Iterator<Item = Vec<&Row>> {
        let first = self.columns.first().map_or(0, |(_, comparison)| comparison.rows().count());
        (0..first).map(|index| {
            self.columns.iter().filter_map(|(_, comparison)| comparison.rows().nth(index)).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four buffers, five senders, and nothing else between the files.
    #[test]
    fn the_scenarios_differ_in_the_buffer_alone() {
        let columns = columns(3).unwrap();
        let buffers: Vec<&str> = columns.iter().map(Column::buffer).collect();
        assert_eq!(buffers, ["off", "previous-fcfd", "previous-lcfd", "new-lcfd"]);
        for column in &columns {
            assert!(column.file.ends_with(&format!("/{}.toml", column.buffer())), "{}", column.file);
            let mut request = column.plan.request.clone();
            request.settings.iter_mut().filter(|(key, _)| key == "router-buffer").for_each(|(_, value)| {
                *value = "off".into();
            });
            assert_eq!(format!("{request:?}"), format!("{:?}", columns[0].plan.request), "{}", column.file);
            assert_eq!(request.schemes.len(), 5, "{}", column.file);
        }
    }
}
