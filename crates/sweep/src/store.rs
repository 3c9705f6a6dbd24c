//! The parts that are done, kept beside the file that they will make: `OUT.parts/` while `OUT` is being computed. A
//! process that is killed, or a full disk, costs no more than the parts that were running.

use crate::piece::{Piece, PieceError, Whole};
use crate::{Plan, Shard};
use arrow_array::RecordBatch;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use segue_export::in_words;
use segue_tables::ParquetFileError;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Parts cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A part or the whole cannot be written or read.
    #[error(transparent)]
    Piece(#[from] PieceError),
    /// The folder cannot be made or read.
    #[error("cannot keep parts in {}: {problem}; expected --out to name a file in a writable folder", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        problem: String,
    },
    /// The run that was begun there is another.
    #[error(
        "{} holds parts of another run: {problem}; remove the folder to begin anew, or give another --out",
        folder.display()
    )]
    Another {
        /// The folder.
        folder: PathBuf,
        /// The first of its parts, and what is wrong with it.
        problem: String,
    },
    /// Another process computes the same file.
    #[error("another segue is at work in {}; expected one at a time, or another --out", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
}

/// The lock of the process that works in the folder.
const LOCK: &str = "lock";
/// Prefix and suffix of the names of parts.
const NAMES: (&str, &str) = ("part-", ".parquet");
/// Prefix of the names of files that are not yet whole.
const DRAFT: &str = ".segue-";

/// The folder of the parts of one file.
#[derive(Debug)]
pub struct Store {
    out: PathBuf,
    folder: PathBuf,
    whole: Whole,
    /// The parts that make the file, ascending.
    wanted: Vec<usize>,
    /// Those of them that were there when the folder was opened.
    there: BTreeSet<usize>,
    /// Held as long as this lives, and no longer than the process.
    _lock: File,
}

impl Store {
    /// Opens the folder of `out`, makes it if there is none, and looks at what an earlier run has left. A damaged
    /// part counts as absent.
    ///
    /// # Errors
    ///
    /// No writable folder; parts of another sweep or version; another process at work.
    pub fn open(plan: &Plan, shard: Shard, out: &Path) -> Result<Self, StoreError> {
        let mut name = out.as_os_str().to_owned();
        name.push(".parts");
        let folder = PathBuf::from(name);
        let fail =
            |error: io::Error| StoreError::Folder { folder: folder.clone(), problem: in_words(&error) };
        match std::fs::create_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail(error)),
            _ => {}
        }
        // A link by that name leads to a file that is not ours.
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = rustix::fs::open(folder.join(LOCK), flags, Mode::from_raw_mode(0o666));
        let lock = File::from(lock.map_err(|error| fail(error.into()))?);
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(StoreError::Busy { folder }),
            Err(error) => return Err(fail(error.into())),
            Ok(()) => {}
        }
        let whole = Whole::of(plan);
        let mut there = BTreeSet::new();
        for part in parts_in(&folder).map_err(fail)? {
            match Piece::open_of(&part_file(&folder, part), &whole) {
                Ok(piece) if piece.holds == [part] => _ = there.insert(part),
                Ok(_) | Err(PieceError::File(ParquetFileError::Damaged { .. })) => {}
                Err(PieceError::File(error)) => return Err(PieceError::File(error).into()),
                Err(problem) => {
                    let problem = problem.to_string();
                    return Err(StoreError::Another { folder: folder.clone(), problem });
                }
            }
        }
        let wanted: Vec<usize> = shard.parts(plan).collect();
        there.retain(|part| wanted.binary_search(part).is_ok());
        Ok(Self { out: out.to_path_buf(), folder, whole, wanted, there, _lock: lock })
    }

    /// The parts that have to be computed, ascending.
    pub fn missing(&self) -> Vec<usize> {
        self.wanted.iter().copied().filter(|part| !self.there.contains(part)).collect()
    }

    /// The parts that an earlier run has left, ascending.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.there.iter().copied()
    }

    /// Keeps a part; any thread may, in any order.
    ///
    /// # Errors
    ///
    /// The disk is full.
    pub fn keep(&self, part: usize, batch: &RecordBatch) -> Result<(), StoreError> {
        let file = part_file(&self.folder, part);
        Ok(self.whole.write(&file, [part], |_| Ok(batch.clone()))?)
    }

    /// Makes the file of the parts, which must all be kept, and removes them; says how many rows it has.
    ///
    /// # Errors
    ///
    /// The disk is full, or a part is gone. The parts stay.
    pub fn finish(self) -> Result<u64, StoreError> {
        let mut rows = 0;
        self.whole.write(&self.out, self.wanted.iter().copied(), |part| {
            let batch = Piece::open_of(&part_file(&self.folder, part), &self.whole)?.batch(0)?;
            rows += batch.num_rows() as u64;
            Ok(batch)
        })?;
        // The result is there: what cannot be removed now is only in the way.
        let _ = self.remove();
        Ok(rows)
    }

    /// Removes what is ours, and the folder if nothing else is in it.
    fn remove(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            if part_of(&name.to_string_lossy()).is_some() || name.to_string_lossy().starts_with(DRAFT) {
                std::fs::remove_file(self.folder.join(name))?;
            }
        }
        std::fs::remove_file(self.folder.join(LOCK))?;
        std::fs::remove_dir(&self.folder)
    }
}

fn part_file(folder: &Path, part: usize) -> PathBuf {
    folder.join(format!("{}{part:06}{}", NAMES.0, NAMES.1))
}

/// The part that a file's name says.
fn part_of(name: &str) -> Option<usize> {
    name.strip_prefix(NAMES.0)?.strip_suffix(NAMES.1)?.parse().ok()
}

fn parts_in(folder: &Path) -> io::Result<BTreeSet<usize>> {
    let mut parts = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        parts.extend(part_of(&entry?.file_name().to_string_lossy()));
    }
    Ok(parts)
}
