//! Results of the models as JSON and CSV (docs/papers/models.md). Segments, seconds and parts of one with six
//! decimals.

use segue_export::Origin;
use segue_model::tcp_ho::{Curve, LIMIT_OF_SAVING, Wait};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct CurveDocument {
    class: Option<&'static str>,
    b: f64,
    c: f64,
    equation: u8,
    tcp_segments: f64,
    gain_without_error: f64,
    mean_gain: Vec<Gain>,
}

#[derive(Serialize)]
struct Gain {
    sigma_percent: f64,
    sigma: f64,
    gain: f64,
}

/// Costs of one number of timeouts before the link is back.
#[derive(Deserialize, Serialize)]
pub struct WaitDocument {
    timeouts: u32,
    from_s: f64,
    to_s: f64,
    ratio: f64,
    mean_saving: f64,
    longest_saving_s: f64,
}

/// A line of the CSV.
#[derive(Deserialize, Serialize)]
pub struct GainRow {
    class: Option<&'static str>,
    b: f64,
    c: f64,
    equation: u8,
    sigma_percent: f64,
    sigma: f64,
    gain: f64,
}

/// Six decimals: more than the model is worth, fewer than one machine's logarithm may differ from another's.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn gains(curve: &Curve) -> impl Iterator<Item = Gain> {
    let b = curve.handoff.b();
    curve.gains.iter().map(move |&(percent, gain)| Gain {
        sigma_percent: percent,
        sigma: rounded(b * percent / 100.0),
        gain: rounded(gain),
    })
}

impl From<&Curve> for CurveDocument {
    fn from(curve: &Curve) -> Self {
        let handoff = &curve.handoff;
        let b = handoff.b();
        Self {
            class: handoff.class(),
            b,
            c: handoff.c(),
            equation: handoff.equation(),
            tcp_segments: rounded(handoff.tcp_segments(b)),
            gain_without_error: rounded(handoff.gain(b)),
            mean_gain: gains(curve).collect(),
        }
    }
}

impl From<&Wait> for WaitDocument {
    fn from(wait: &Wait) -> Self {
        Self {
            timeouts: wait.timeouts,
            from_s: rounded(wait.from_s),
            to_s: rounded(wait.to_s),
            ratio: rounded(wait.ratio()),
            mean_saving: rounded(wait.mean_saving()),
            longest_saving_s: rounded(wait.longest_saving_s()),
        }
    }
}

/// The model of TCP-HO as JSON text, one curve or wait a line, with a final line feed.
pub fn tcp_ho_json(curves: &[Curve], waits: &[Wait], origin: &Origin) -> Result<String, serde_json::Error> {
    let curves = curves.iter().map(|curve| serde_json::to_string(&CurveDocument::from(curve)));
    let curves = curves.collect::<Result<Vec<_>, _>>()?.join(",\n");
    let waits = waits.iter().map(|wait| serde_json::to_string(&WaitDocument::from(wait)));
    let waits = waits.collect::<Result<Vec<_>, _>>()?.join(",\n");
    Ok(format!(
        "{{\"version\":1,\"model\":\"tcp-ho\",\"curves\":[\n{curves}\n],\"limit_of_saving\":{},\"waits\":[\n{waits}\n],\n\"origin\":{}}}\n",
        rounded(LIMIT_OF_SAVING),
        origin.json()
    ))
}

/// One per handoff and deviation.
pub fn gain_rows(curves: &[Curve]) -> impl Iterator<Item = GainRow> {
    curves.iter().flat_map(|curve| {
        let handoff = &curve.handoff;
        gains(curve).map(|gain| GainRow {
            class: handoff.class(),
            b: handoff.b(),
            c: handoff.c(),
            equation: handoff.equation(),
            sigma_percent: gain.sigma_percent,
            sigma: gain.sigma,
            gain: gain.gain,
        })
    })
}

/// The mean gains of the model of TCP-HO, one line per handoff and deviation.
pub fn tcp_ho_csv(curves: &[Curve]) -> Result<String, csv::Error> {
    segue_export::csv_text(gain_rows(curves))
}
