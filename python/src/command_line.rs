//! The command line, for the wheel's program `segue` and `python -m segue`.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Does what `sys.argv` asks for, as the program `segue` does, and gives its exit status.
///
/// Ctrl-C ends the process as it does the program: no Python runs that could hear of it.
#[pyfunction]
pub fn main(py: Python<'_>) -> PyResult<u8> {
    let signal = py.import("signal")?;
    signal.call_method1("signal", (signal.getattr("SIGINT")?, signal.getattr("SIG_DFL")?))?;
    let words: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    Ok(py.detach(|| segue::main(words)))
}
