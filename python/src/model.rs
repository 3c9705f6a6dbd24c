//! `segue.model`: what the papers' analytic models compute.

use crate::failure::{exception, ours};
use crate::table::Table;
use crate::words::{Count, Number, Range, Several, Time, Word, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use segue::cli::Command;
use segue::model::Model;
use segue::{Failure, model, model_lcfd, outputs};
use segue_gallery::{WaitDocument, gain_rows, lcfd_rows, tcp_ho_json};
use segue_tables::records_arrow;

/// Result of `segue.model.tcp_ho` (docs/papers/models.md).
#[pyclass(frozen, module = "segue")]
pub struct TcpHo {
    gains: Py<Table>,
    savings: Py<Table>,
    json: String,
}

#[pymethods]
impl TcpHo {
    /// Mean gains over TCP in segments: a row per handoff and deviation of the estimate.
    #[getter]
    fn gains(&self, py: Python<'_>) -> Py<Table> {
        self.gains.clone_ref(py)
    }

    /// Part of a disconnection that sending at once saves: a row per number of timeouts before the link is back.
    #[getter]
    fn savings(&self, py: Python<'_>) -> Py<Table> {
        self.savings.clone_ref(py)
    }

    /// The very text that `segue model tcp-ho --json` writes.
    fn to_json(&self) -> &str {
        &self.json
    }
}

fn of_model(words: &Words) -> PyResult<Model> {
    match words.command()? {
        Command::Model(args) => Ok(args.model),
        _ => Err(ours("no model")),
    }
}

/// TCP-HO: the cost of an error of its bandwidth estimate, and the gain of an immediate transmission.
///
/// Parameters
///     b: bandwidth-delay product of the new path, segments, one or a list; the paper's four handoffs unless given.
///     c: TCP's threshold from before the handoff, segments, as many.
///     sigma: standard deviations of the estimate in % of b, one or 'FIRST..LAST/STEP'; '5..50/5' unless given.
///     rto: retransmission timeout when the link breaks; '1s' unless given.
///
/// Returns
///     TcpHo: tables `gains` and `savings`.
///
/// Raises
///     ValueError: what the command line would refuse, with its line.
///
/// Source
///     X. Wu, M. C. Chan and A. L. Ananda; docs/papers/models.md.
#[pyfunction]
#[pyo3(signature = (*, b=None, c=None, sigma=None, rto=None))]
pub fn tcp_ho(
    py: Python<'_>,
    b: Option<Several<Number>>,
    c: Option<Several<Number>>,
    sigma: Option<Bound<'_, PyAny>>,
    rto: Option<Time>,
) -> PyResult<TcpHo> {
    let sigma = sigma.map(|sigma| match sigma.extract::<Number>() {
        Ok(percent) => Ok(percent.as_ref().to_string()),
        Err(_) => sigma.extract::<Word>().map(|word| word.0),
    });
    let mut words = Words::of(&["model", "tcp-ho"]);
    words.each("b", b.as_ref()).each("c", c.as_ref()).option("sigma", sigma.transpose()?).option("rto", rto);
    let Model::TcpHo(args) = of_model(&words)? else { return Err(ours("another model")) };
    let origin = outputs::origin(words.as_slice());
    let compute = || {
        let (curves, waits) = model::gains_and_savings(&args)?;
        let gains = records_arrow(gain_rows(&curves)).map_err(Failure::ours)?;
        let savings = records_arrow(waits.iter().map(WaitDocument::from)).map_err(Failure::ours)?;
        Ok((gains, savings, tcp_ho_json(&curves, &waits, &origin).map_err(Failure::ours)?))
    };
    let (gains, savings, json) = py.detach(compute).map_err(exception)?;
    Ok(TcpHo { gains: Py::new(py, Table::new(gains))?, savings: Py::new(py, Table::new(savings))?, json })
}

/// LCFD and PHAS: TCP throughput over frequent handoffs with buffers, a Markov chain.
///
/// Parameters
///     mode: 'corrected' (unless given) or 'printed': how Equation 7 is read.
///     figure: a figure of the paper, 5, 6, 8 or 11; all of them unless a setting is given.
///     w_max, buffer: packets; 32 and 24 unless given.
///     p: probability that a handoff lets the timer expire; 0.9 unless given.
///     sojourn: stay in a cell, uniform, a pair in round trips.
///     latency: of a handoff, uniform, a pair in seconds, which gives p by Equation 1 with `rto` ('1s' unless given).
///
/// Returns
///     Table: a row per setting and pair of schemes; throughputs in packets per round trip and per second.
///
/// Raises
///     ValueError: what the command line would refuse, with its line.
///
/// Source
///     C.-T. Chou and K. G. Shin; docs/papers/models.md.
#[pyfunction]
#[pyo3(signature = (*, mode=None, figure=None, w_max=None, buffer=None, p=None, sojourn=None, latency=None, rto=None))]
#[allow(clippy::too_many_arguments, reason = "those of the command line, each by its name")]
pub fn lcfd(
    py: Python<'_>,
    mode: Option<Word>,
    figure: Option<Count>,
    w_max: Option<Count>,
    buffer: Option<Count>,
    p: Option<Number>,
    sojourn: Option<Range>,
    latency: Option<Range>,
    rto: Option<Time>,
) -> PyResult<Table> {
    let mut words = Words::of(&["model", "lcfd"]);
    words.option("mode", mode).option("figure", figure).option("w-max", w_max).option("buffer", buffer);
    words.option("p", p).option("sojourn", sojourn).option("latency", latency).option("rto", rto);
    let Model::Lcfd(args) = of_model(&words)? else { return Err(ours("another model")) };
    if args.figure == Some(3) {
        return Err(PyValueError::new_err("figure 3 has two windows, no settings; expected 5, 6, 8 or 11"));
    }
    let equation = args.mode.equation();
    let compute = || {
        let blocks = model_lcfd::blocks(&args, equation)?;
        records_arrow(lcfd_rows(&blocks, equation)).map_err(Failure::ours)
    };
    py.detach(compute).map(Table::new).map_err(exception)
}
