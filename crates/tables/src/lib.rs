//! Results as Arrow record batches and Parquet files, for polars, pandas and pyarrow.

mod bytes;
mod events;
mod handoffs;
mod parquet_file;
mod rows;

pub use bytes::{batch_from_bytes, batch_to_bytes};
pub use events::events_arrow;
pub use handoffs::{Layout, Question, SweptHandoff, handoff_batch, handoff_schema, is_handoff_schema};
pub use parquet_file::{ParquetFileError, ParquetReader, ParquetWriter};
pub use rows::{ArrowError, comparison_arrow, drive_arrow, handoffs_arrow, records_arrow};
