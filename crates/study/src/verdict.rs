//! Whether a measure of two rows differs by more than noise (docs/guide/diff.md).
//!
//! A row is a sample over handoff times. Its figures decide the criterion. A median with its quartiles has the notch of
//! a box plot; a mean count and a share have a model of their spread. The rest has none, so that nothing is claimed
//! about it.

use crate::measure::{MEASURES, Measure, Noise, OPTIONAL, Row, Unit, has};
use serde::Serialize;

/// How a measure differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    /// By more than the sample explains.
    #[serde(rename = "beyond noise")]
    Beyond,
    /// It differs, and nothing in the rows tells how much noise there is.
    #[serde(rename = "noise unknown")]
    Unknown,
    /// By no more than the sample explains.
    #[serde(rename = "within noise")]
    Within,
    /// Not at all.
    #[serde(rename = "equal")]
    Equal,
}

impl Verdict {
    /// All, in the order in which differences are listed.
    pub const ALL: [Self; 4] = [Self::Beyond, Self::Unknown, Self::Within, Self::Equal];

    /// In words, as JSON has it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Beyond => "beyond noise",
            Self::Unknown => "noise unknown",
            Self::Within => "within noise",
            Self::Equal => "equal",
        }
    }
}

/// A measure in both rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its field in the row.
    pub measure: &'static str,
    /// In A; `None` (JSON null) = infinite.
    pub a: Option<f64>,
    /// In B.
    pub b: Option<f64>,
    /// B / A; `None` = infinite.
    pub ratio: Option<f64>,
    /// The largest difference that noise explains; `None` = unknown.
    pub noise: Option<f64>,
    /// The conclusion.
    pub verdict: Verdict,
    /// Size of the difference on a scale of logarithms, for the order of a list.
    #[serde(skip)]
    pub effect: f64,
    /// Whether rows hold what a criterion of this measure needs, given enough handoffs.
    #[serde(skip)]
    pub has_criterion: bool,
}

/// Notch of a box plot: median +- 1.57 IQR / sqrt(n). Two medians differ at about the 5 % level when their notches do
/// not overlap. Source: McGill, Tukey and Larsen, "Variations of box plots", The American Statistician 32(1), 1978,
/// p. 16.
const NOTCH: f64 = 1.57;
/// Standard errors that count as noise: 5 % of samples lie farther out.
const STANDARD_ERRORS: f64 = 1.96;
/// Variance of a count over its mean. One would be Poisson's; losses come in bursts.
const DISPERSION: f64 = 4.0;
/// Share of a mean count below which a difference is of no practical weight.
const LEAST_EFFECT: f64 = 0.05;
/// Fewer handoffs tell nothing about their spread.
pub const FEWEST: usize = 5;

/// All measures of two rows, in a fixed order: transfer time, counts and shares, then what has no criterion, by unit.
/// Where effects are equal, this order decides.
pub fn judge(a: &Row, b: &Row) -> Vec<Measured> {
    let place = |measure: &&Measure| match measure.noise {
        Noise::Notch => (0, None),
        Noise::Count | Noise::Share => (1, None),
        Noise::Unknown => (2, Some(measure.unit)),
    };
    let optional = OPTIONAL.iter().filter(|measure| has(a, measure.field) && has(b, measure.field));
    let mut measures: Vec<&Measure> = MEASURES.iter().chain(optional).collect();
    measures.sort_by_key(place);
    measures.into_iter().map(|measure| measure.judge(a, b)).collect()
}

impl Measure {
    /// Its value; of a number of handoffs, their share.
    fn judged(&self, row: &Row) -> Option<f64> {
        match self.unit {
            Unit::Handoffs if row.points == 0 => Some(0.0),
            Unit::Handoffs => self.value(row).map(|handoffs| handoffs / row.points as f64),
            _ => self.value(row),
        }
    }

    fn judge(&self, a: &Row, b: &Row) -> Measured {
        let (x, y) = (self.judged(a), self.judged(b));
        let noise = self.most_noise(a, b).filter(|noise| noise.is_finite());
        let difference = finite_or_infinite(y) - finite_or_infinite(x);
        let verdict = match noise {
            _ if x == y => Verdict::Equal,
            Some(noise) if difference.abs() > noise => Verdict::Beyond,
            Some(_) => Verdict::Within,
            None if self.noise == Noise::Notch => without_notch(a, b, difference),
            None => Verdict::Unknown,
        };
        Measured {
            measure: self.name,
            a: x,
            b: y,
            ratio: ratio(x, y),
            noise,
            verdict,
            effect: self.effect(x, y),
            has_criterion: self.noise != Noise::Unknown,
        }
    }

    /// The largest difference that noise explains, if the rows tell.
    fn most_noise(&self, a: &Row, b: &Row) -> Option<f64> {
        if a.points < FEWEST || b.points < FEWEST {
            return None;
        }
        let (x, y) = (self.judged(a)?, self.judged(b)?);
        let (n, m) = (a.points as f64, b.points as f64);
        // As if both were one sample, so that no event in one of them is no certainty of none.
        let pooled = (x * n + y * m) / (n + m);
        let standard_error = |variance: f64| (variance.max(0.0) * (1.0 / n + 1.0 / m)).sqrt();
        match self.noise {
            Noise::Notch => Some(notch(a)? + notch(b)?),
            Noise::Count => {
                let noise = STANDARD_ERRORS * standard_error(DISPERSION * pooled);
                Some(noise.max(LEAST_EFFECT * x.max(y)))
            }
            Noise::Share => Some(STANDARD_ERRORS * standard_error(pooled * (1.0 - pooled))),
            Noise::Unknown => None,
        }
    }

    fn effect(&self, x: Option<f64>, y: Option<f64>) -> f64 {
        // A count that rises from 0 to 0.03 is no infinite effect: one event more per handoff is
        // the unit on that scale.
        let offset = if matches!(self.noise, Noise::Count | Noise::Share) { 1.0 } else { 0.0 };
        let ratio = ratio(x.map(|x| x + offset), y.map(|y| y + offset));
        let effect = ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
        if effect.is_nan() { 0.0 } else { effect }
    }
}

/// Half the height of the notch.
fn notch(row: &Row) -> Option<f64> {
    let (q1, q3) = (row.transfer_s.q1?, row.transfer_s.q3?);
    Some(NOTCH * (q3 - q1).max(0.0) / (row.points as f64).sqrt())
}

/// Where a quartile is infinite there is no notch. Then the share of incomplete handoffs decides,
/// if it differs and in the same direction.
fn without_notch(a: &Row, b: &Row, difference: f64) -> Verdict {
    let incomplete = MEASURES.iter().find(|measure| measure.unit == Unit::Handoffs);
    let decides = incomplete.is_some_and(|incomplete| {
        let incomplete = incomplete.judge(a, b);
        incomplete.verdict == Verdict::Beyond && (incomplete.b > incomplete.a) == (difference > 0.0)
    });
    if decides { Verdict::Beyond } else { Verdict::Unknown }
}

fn finite_or_infinite(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::INFINITY)
}

/// B / A; equal values have the ratio 1, be they zero or infinite.
fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let (a, b) = (finite_or_infinite(a), finite_or_infinite(b));
    let ratio = if a == b { 1.0 } else { b / a };
    Some(ratio).filter(|ratio| ratio.is_finite())
}
