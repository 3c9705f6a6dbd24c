//! Tables that other libraries take without copying: Arrow's PyCapsule interface.

use crate::failure::ours;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

/// Columns with names and types.
#[pyclass(frozen, module = "segue", subclass)]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A table.
    pub fn new(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl Table {
    /// The rows as a stream of Arrow arrays, not copied (Arrow PyCapsule interface).
    ///
    /// `requested_schema` is not heeded, which the interface allows: who asks for it casts.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let rows = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), c"arrow_array_stream")
    }

    /// The schema as an Arrow schema (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule(py, &self.batch.schema())
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let batch = &slf.get().batch;
        Ok(format!(
            "<segue.{}: {} rows, {} columns>",
            slf.get_type().name()?,
            batch.num_rows(),
            batch.num_columns()
        ))
    }

    /// Names and types of the columns.
    #[getter]
    fn schema(&self) -> Schema {
        Schema(self.batch.schema())
    }

    /// The rows as a `polars.DataFrame`.
    ///
    /// Errors: `ImportError` without polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The rows as a `pandas.DataFrame` with columns of Arrow types, which tell null (infinite) from every number.
    ///
    /// Errors: `ImportError` without pandas or pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let pandas = slf.py().import("pandas")?;
        let table = slf.py().import("pyarrow")?.call_method1("table", (slf,))?;
        let types = PyDict::new(slf.py());
        types.set_item("types_mapper", pandas.getattr("ArrowDtype")?)?;
        table.call_method("to_pandas", (), Some(&types))
    }
}

/// Names and types of the columns of a table.
#[pyclass(frozen, module = "segue")]
pub struct Schema(SchemaRef);

#[pymethods]
impl Schema {
    /// Names of the columns, in order. Those that end in `_s` are in seconds, in `_ns` in nanoseconds.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Arrow types of the columns, in the same order.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.0.fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    /// The schema as an Arrow schema (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let columns = self.0.fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type()));
        format!("<segue.Schema {}>", columns.collect::<Vec<_>>().join(", "))
    }
}

fn capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(ours)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}
