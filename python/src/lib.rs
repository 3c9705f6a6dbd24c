//! `segue._segue`, the compiled part of the Python package: the command line's words with Python's values, its results
//! as Arrow tables. Signatures with types are in `segue/_segue.pyi`, which the tests hold against this.

mod command_line;
mod comparison;
mod failure;
mod model;
mod reproduce;
mod sweep;
mod table;
mod trace;
mod watched;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _segue {
    #[pymodule_export]
    use crate::command_line::main;
    #[pymodule_export]
    use crate::comparison::{Comparison, compare, run};
    #[pymodule_export]
    use crate::model::{TcpHo, lcfd, tcp_ho};
    #[pymodule_export]
    use crate::reproduce::{Claims, reproduce};
    #[pymodule_export]
    use crate::sweep::{SweepPlan, SweepStore};
    #[pymodule_export]
    use crate::table::{Schema, Table};
    #[pymodule_export]
    use crate::trace::{Trace, trace};

    /// The version of Segue.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "as Python names it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
