//! The file of some parts of a sweep, or of all: Parquet, a row group for each part, and what it is written into it.

use crate::{Plan, VERSION};
use arrow_array::RecordBatch;
use segue_program::PROGRAM;
use segue_tables::{ParquetFileError, ParquetReader, ParquetWriter};
use std::path::{Path, PathBuf};

/// Version of the program that computed it.
const MADE_BY: &str = "segue.version";
/// That program.
const BY_PROGRAM: &str = "segue.program";
/// Fingerprint of the sweep.
const SWEEP: &str = "segue.sweep";
/// Number of parts of the whole sweep.
const PARTS: &str = "segue.parts";
/// The parts that it holds, ascending, a row group each.
const HOLDS: &str = "segue.holds";

/// A file is no piece of the sweep.
#[derive(Debug, thiserror::Error)]
pub enum PieceError {
    /// It cannot be written or read, or it is damaged.
    #[error(transparent)]
    File(#[from] ParquetFileError),
    /// Another program's results.
    #[error("{} was made by segue {made_by}, this is {VERSION}; expected pieces of one version", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        made_by: String,
    },
    /// Results of another program of the same version.
    #[error(
        "{} was made by another build of segue {VERSION} (its sources' hash begins with {theirs}, expected {}); \
         expected pieces of one program, for results may differ",
        path.display(), beginning(PROGRAM)
    )]
    Program {
        /// The file.
        path: PathBuf,
        /// The beginning of its program's hash.
        theirs: String,
    },
    /// Another sweep's results.
    #[error("{} belongs to another sweep (its fingerprint begins with {theirs}, expected {ours})", path.display())]
    Sweep {
        /// The file.
        path: PathBuf,
        /// The beginning of its fingerprint.
        theirs: String,
        /// The beginning of the sweep's.
        ours: String,
    },
    /// A good file, but none of a sweep.
    #[error("{} does not say which parts of a sweep it holds; expected a file of segue sweep", path.display())]
    Nameless {
        /// The file.
        path: PathBuf,
    },
}

/// Enough of a hash to tell it from others.
fn beginning(hash: &str) -> String {
    hash.chars().take(12).collect()
}

impl PieceError {
    /// Whether the machine could not take a result: not the fault of what was read.
    pub fn is_about_writing(&self) -> bool {
        matches!(self, Self::File(ParquetFileError::Write { .. }))
    }
}

/// A piece's description of its sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub fingerprint: String,
    /// Number of parts.
    pub parts: usize,
}

impl Whole {
    pub fn of(plan: &Plan) -> Self {
        Self { fingerprint: plan.fingerprint().to_string(), parts: plan.parts() }
    }

    /// Writes the parts, each of which `batch` brings, in ascending order: the file appears when it is whole.
    pub fn write(
        &self,
        target: &Path,
        parts: impl IntoIterator<Item = usize>,
        mut batch: impl FnMut(usize) -> Result<RecordBatch, PieceError>,
    ) -> Result<(), PieceError> {
        let mut writer = ParquetWriter::create(target)?;
        let mut holds = Vec::new();
        for part in parts {
            writer.row_group(&batch(part)?)?;
            holds.push(part.to_string());
        }
        let says = [
            (MADE_BY, VERSION.to_string()),
            (BY_PROGRAM, PROGRAM.to_string()),
            (SWEEP, self.fingerprint.clone()),
            (PARTS, self.parts.to_string()),
            (HOLDS, holds.join(" ")),
        ];
        Ok(writer.finish(&says)?)
    }
}

/// A piece that is there.
#[derive(Debug)]
pub(crate) struct Piece {
    pub path: PathBuf,
    pub whole: Whole,
    /// The parts that it holds, ascending.
    pub holds: Vec<usize>,
    reader: ParquetReader,
}

impl Piece {
    /// Opens a piece of this program.
    pub fn open(path: &Path) -> Result<Self, PieceError> {
        let reader = ParquetReader::open(path)?;
        let path = path.to_path_buf();
        let nameless = || PieceError::Nameless { path: path.clone() };
        let made_by = reader.says(MADE_BY).ok_or_else(nameless)?;
        if made_by != VERSION {
            return Err(PieceError::Version { path, made_by: made_by.to_string() });
        }
        let program = reader.says(BY_PROGRAM).unwrap_or("none");
        if program != PROGRAM {
            return Err(PieceError::Program { path, theirs: beginning(program) });
        }
        let fingerprint = reader.says(SWEEP).ok_or_else(nameless)?.to_string();
        let parts = reader.says(PARTS).and_then(|parts| parts.parse().ok()).ok_or_else(nameless)?;
        let holds = reader.says(HOLDS).ok_or_else(nameless)?.split_whitespace().map(str::parse);
        let holds: Vec<usize> = holds.collect::<Result<_, _>>().map_err(|_| nameless())?;
        let ascending = holds.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || holds.last().is_some_and(|&part| part >= parts) || holds.len() != reader.row_groups()
        {
            return Err(nameless());
        }
        Ok(Self { path, whole: Whole { fingerprint, parts }, holds, reader })
    }

    /// The same, of this sweep.
    pub fn open_of(path: &Path, whole: &Whole) -> Result<Self, PieceError> {
        let piece = Self::open(path)?;
        if piece.whole == *whole {
            return Ok(piece);
        }
        Err(PieceError::Sweep {
            path: piece.path,
            theirs: beginning(&piece.whole.fingerprint),
            ours: beginning(&whole.fingerprint),
        })
    }

    /// The rows of the `index`-th part that it holds.
    pub fn batch(&self, index: usize) -> Result<RecordBatch, PieceError> {
        Ok(self.reader.row_group(index)?)
    }
}
