//! A record batch as bytes for another process: a stream of Arrow's IPC format.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

/// Bytes that [`batch_from_bytes`] reads.
pub fn batch_to_bytes(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(batch)?;
    writer.into_inner()
}

/// The one batch of such a stream.
///
/// # Errors
///
/// No stream, or one with another number of batches.
pub fn batch_from_bytes(bytes: &[u8]) -> Result<RecordBatch, ArrowError> {
    let mut batches = StreamReader::try_new(bytes, None)?.collect::<Result<Vec<_>, _>>()?;
    match (batches.pop(), batches.is_empty()) {
        (Some(batch), true) => Ok(batch),
        (None, _) | (Some(_), false) => Err(ArrowError::IpcError("expected one record batch".into())),
    }
}
