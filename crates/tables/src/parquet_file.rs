//! Parquet files of single handoffs: a row group at a time, so that neither side holds the whole. A digest of every
//! byte makes sure that damage is never mistaken for a result. No time, no host: equal rows are equal bytes.

use crate::handoffs::{handoff_schema, is_handoff_schema};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use segue_export::{Draft, folder_of, in_words};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of handoffs cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ParquetFileError {
    /// No room, no folder, no permission.
    #[error("cannot write {}: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        problem: String,
    },
    /// There is no such file, or it cannot be read.
    #[error("cannot read {}: {problem}; expected a file of segue sweep", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        problem: String,
    },
    /// It is none of ours, or not as it was written.
    #[error("{} is damaged or no file of segue sweep: {problem}; expected it as segue sweep has written it", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what way.
        problem: String,
    },
}

/// The key under which a file has its own digest: BLAKE3 of all its bytes with zeros in the digest's place.
const DIGEST: &str = "segue.digest";
/// Hexadecimal digits of a digest.
const DIGITS: usize = 2 * blake3::OUT_LEN;
/// Length and magic number at the end of a Parquet file, bytes.
const TAIL: u64 = 8;
/// Largest footer, bytes: a million parts have names of ten digits.
const LARGEST_FOOTER: u64 = 1 << 28;

/// A file that is being written; it appears when it is finished.
pub struct ParquetWriter {
    target: PathBuf,
    draft: Draft,
    /// From the first row group on, whose columns the file has.
    writer: Option<ArrowWriter<File>>,
}

impl ParquetWriter {
    /// Begins a file that will replace `target`.
    ///
    /// # Errors
    ///
    /// There is no folder to write into.
    pub fn create(target: &Path) -> Result<Self, ParquetFileError> {
        let fail = |problem: String| ParquetFileError::Write { path: target.to_path_buf(), problem };
        std::fs::create_dir_all(folder_of(target)).map_err(|error| fail(in_words(&error)))?;
        let draft = Draft::new(folder_of(target)).map_err(|error| fail(in_words(&error)))?;
        Ok(Self { target: target.to_path_buf(), draft, writer: None })
    }

    /// Makes the writer of columns of this schema, unless it is there.
    fn writer(&mut self, schema: SchemaRef) -> Result<&mut ArrowWriter<File>, String> {
        if self.writer.is_none() {
            let file = self.draft.file().try_clone().map_err(|error| in_words(&error))?;
            let properties = WriterProperties::builder()
                .set_created_by(concat!("segue ", env!("CARGO_PKG_VERSION")).into())
                .set_compression(Compression::SNAPPY)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
                .set_max_row_group_row_count(None)
                .build();
            let writer = ArrowWriter::try_new(file, schema, Some(properties));
            self.writer = Some(writer.map_err(|error| of_parquet(&error))?);
        }
        self.writer.as_mut().ok_or_else(|| "there is no writer".into())
    }

    /// Adds a row group.
    ///
    /// # Errors
    ///
    /// The disk is full.
    pub fn row_group(&mut self, batch: &RecordBatch) -> Result<(), ParquetFileError> {
        let path = self.target.clone();
        let written = self.writer(batch.schema()).and_then(|writer| {
            let written = writer.write(batch).and_then(|()| writer.flush());
            written.map_err(|error| of_parquet(&error))
        });
        written.map_err(|problem| ParquetFileError::Write { path, problem })
    }

    /// Ends the file with what it says of itself, and puts it in its place.
    ///
    /// # Errors
    ///
    /// The disk is full.
    pub fn finish(mut self, says: &[(&str, String)]) -> Result<(), ParquetFileError> {
        let begun = self.writer(handoff_schema()).map(|_| ());
        let Self { target, mut draft, writer } = self;
        let fail = |problem: String| ParquetFileError::Write { path: target.clone(), problem };
        begun.map_err(&fail)?;
        let mut writer = writer.ok_or_else(|| fail("there is no writer".into()))?;
        for (key, value) in says {
            writer.append_key_value_metadata(KeyValue::new(key.to_string(), value.clone()));
        }
        writer.append_key_value_metadata(KeyValue::new(DIGEST.to_string(), "0".repeat(DIGITS)));
        writer.close().map_err(|error| fail(of_parquet(&error)))?;
        let sealed = seal(draft.file()).and_then(|()| draft.file().sync_all());
        sealed.and_then(|()| draft.persist(&target)).map_err(|error| fail(in_words(&error)))
    }
}

/// The library's error in the words of ours.
fn of_parquet(error: &ParquetError) -> String {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<io::Error>() {
            Some(error) => return in_words(error),
            None => cause = error.source(),
        }
    }
    error.to_string()
}

/// Where the digest stands in a whole file, and what stands there.
fn find_digest(file: &mut File) -> io::Result<Option<(u64, String)>> {
    let length = file.seek(SeekFrom::End(0))?;
    if length < 2 * TAIL {
        return Ok(None);
    }
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(length - TAIL))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, ..] = tail;
    let footer_length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if !tail.ends_with(b"PAR1") || footer_length > (length - TAIL).min(LARGEST_FOOTER) {
        return Ok(None);
    }
    let start = length - TAIL - footer_length;
    let mut footer = vec![0; footer_length as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut footer)?;
    let Some(key) = footer.windows(DIGEST.len()).position(|bytes| bytes == DIGEST.as_bytes()) else {
        return Ok(None);
    };
    // Between the two stand the value's type and length.
    let value = (key + DIGEST.len()..).take(4).find_map(|at| {
        let digits = footer.get(at..at + DIGITS)?;
        let hexadecimal = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        hexadecimal.then(|| (start + at as u64, String::from_utf8_lossy(digits).into_owned()))
    });
    Ok(value)
}

/// The digest of a file that has one at `at`.
fn digest(file: &mut File, at: u64) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    file.seek(SeekFrom::Start(0))?;
    hasher.update_reader(Read::by_ref(file).take(at))?;
    hasher.update(&[b'0'; DIGITS]);
    file.seek(SeekFrom::Start(at + DIGITS as u64))?;
    hasher.update_reader(file)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Writes the digest into its place.
fn seal(file: &mut File) -> io::Result<()> {
    let (at, _) = find_digest(file)?.ok_or(io::ErrorKind::InvalidData)?;
    let digest = digest(file, at)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(digest.as_bytes())
}

/// A file whose every byte is as it was written.
#[derive(Debug)]
pub struct ParquetReader {
    path: PathBuf,
    file: File,
    metadata: ArrowReaderMetadata,
}

impl ParquetReader {
    /// Opens a file, and reads it once to see that it is whole.
    ///
    /// # Errors
    ///
    /// There is none, it is damaged, or it was written by something else.
    pub fn open(path: &Path) -> Result<Self, ParquetFileError> {
        let unreadable = |error: io::Error| ParquetFileError::Read {
            path: path.to_path_buf(),
            problem: match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".into(),
                _ => in_words(&error),
            },
        };
        let damaged = |problem: &str| ParquetFileError::Damaged {
            path: path.to_path_buf(),
            problem: problem.to_string(),
        };
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(ParquetFileError::Read {
                path: path.to_path_buf(),
                problem: "it is not a file".into(),
            });
        }
        let mut file = File::open(path).map_err(unreadable)?;
        let found = find_digest(&mut file).map_err(unreadable)?;
        let (at, written) = found.ok_or_else(|| damaged("it ends without a digest"))?;
        if digest(&mut file, at).map_err(unreadable)? != written {
            return Err(damaged("its bytes are not those that were written"));
        }
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())
            .map_err(|error| damaged(&of_parquet(&error)))?;
        if !is_handoff_schema(metadata.schema().fields()) {
            return Err(damaged("its columns are others"));
        }
        Ok(Self { path: path.to_path_buf(), file, metadata })
    }

    /// The file's own value under this key.
    pub fn says(&self, key: &str) -> Option<&str> {
        let pairs = self.metadata.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Number of row groups.
    pub fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// One row group as one batch.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn row_group(&self, index: usize) -> Result<RecordBatch, ParquetFileError> {
        let rows = self.metadata.metadata().row_group(index).num_rows();
        let read = || -> Result<Option<RecordBatch>, ParquetError> {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                self.file.try_clone()?,
                self.metadata.clone(),
            );
            let rows = usize::try_from(rows)?;
            let reader = builder.with_row_groups(vec![index]).with_batch_size(rows).build()?;
            let batch: Option<Result<RecordBatch, ArrowError>> = reader.into_iter().next();
            Ok(batch.transpose()?)
        };
        let fail = |problem| ParquetFileError::Read { path: self.path.clone(), problem };
        let batch = read().map_err(|error| fail(of_parquet(&error)))?;
        batch.ok_or_else(|| fail(format!("row group {index} is empty")))
    }
}
