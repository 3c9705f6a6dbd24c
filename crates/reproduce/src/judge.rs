//! The operations: whether what a claim expects is true in what a source measured.

use crate::cells::OneCell;
use crate::facts;
use crate::ledger::{At, Bounds, Claim, Defaults, Direction, Expect, Measure, Operand, Part, Several, Stat};
use crate::points::{Point, Single};
use crate::sample::Sample;
use crate::tolerance as table;
use segue_study::explain::SchemeTrace;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Where measurements come from: our runs, or ns-2's.
pub trait Source {
    /// All handoffs of a point with one of Segue's schemes; `None` if the source has none.
    fn sample(&self, point: &Point, scheme: &str) -> Option<&Sample>;
    /// One handoff, packet by packet.
    fn trace(&self, single: &Single, scheme: &str) -> Option<&SchemeTrace>;
}

/// Result of one expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it is true.
    pub holds: bool,
    /// The numbers it was judged by.
    pub measured: String,
}

/// Judges every expectation of a claim; `None` if the source cannot tell of one of them.
pub fn judge(claim: &Claim, defaults: &Defaults, source: &dyn Source) -> Option<Vec<Outcome>> {
    let single = claim.points.as_ref().and_then(|points| points.single(defaults));
    let bench = Bench { all: claim.all_points(defaults), single, defaults, source };
    if bench.all.is_empty() {
        return None;
    }
    claim.expect.iter().map(|expect| bench.judge(expect)).collect()
}

/// The paper's names of all schemes that a claim speaks of.
pub fn schemes(claim: &Claim) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for expect in &claim.expect {
        match expect {
            Expect::Reduction { scheme, against, .. }
            | Expect::Similar { scheme, against, .. }
            | Expect::Spread { scheme, against, .. } => {
                names.extend([scheme.as_str(), against]);
            }
            Expect::Value { scheme, .. }
            | Expect::Contrast { scheme, .. }
            | Expect::Steeper { scheme, .. }
            | Expect::Event { scheme, .. }
            | Expect::Fact { scheme, .. } => {
                names.insert(scheme);
            }
            Expect::Ratio { over, under, .. } => names.extend([over.scheme.as_str(), &under.scheme]),
            Expect::Order { low_to_high, .. } => {
                names.extend(low_to_high.iter().flat_map(Several::all).map(String::as_str));
            }
            Expect::Trend { scheme, against, .. } => {
                names.insert(scheme);
                names.extend(against.as_deref());
            }
            Expect::Insensitive { schemes } => names.extend(schemes.iter().map(String::as_str)),
        }
    }
    names
}

/// A number with as many digits as one reads.
pub fn number(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "undefined".into(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.into(),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn list(values: &[f64], unit: &str) -> String {
    let texts: Vec<String> = values.iter().map(|&value| number(value)).collect();
    format!("{}{unit}", texts.join(", "))
}

/// How far a value may lie from what is stated.
#[derive(Clone, Copy)]
pub(crate) enum Scale {
    Percent,
    Plain,
}

/// Segue's name of the papers' regular TCP.
pub(crate) const REGULAR: &str = "sack";

/// Error that floating point may add to a value that lies on a bound.
const ROUNDING: f64 = 1e-9;

/// How far both ends of a range may be off.
fn range(bounds: &Bounds, scale: Scale) -> f64 {
    match (scale, bounds.min, bounds.max) {
        (Scale::Percent, Some(_), Some(_)) => table::RANGE_POINTS,
        _ => 0.0,
    }
}

/// How far a value may be off that is stated as about so much.
fn tolerance(bounds: &Bounds, stated: f64, scale: Scale) -> f64 {
    bounds.within.unwrap_or(match scale {
        Scale::Percent => table::ABOUT_POINTS,
        Scale::Plain => table::ABOUT_RELATIVE * stated.abs(),
    })
}

fn within(bounds: &Bounds, value: f64, scale: Scale) -> bool {
    let range = range(bounds, scale);
    let about = |stated: f64| (value - stated).abs() <= tolerance(bounds, stated, scale) + ROUNDING;
    bounds.min.is_none_or(|min| value >= min - range - ROUNDING)
        && bounds.max.is_none_or(|max| value <= max + range + ROUNDING)
        && bounds.about.is_none_or(about)
}

/// The least value that is within these bounds.
pub(crate) fn least_accepted(bounds: &Bounds, scale: Scale) -> f64 {
    let least = bounds.min.map_or(f64::NEG_INFINITY, |min| min - range(bounds, scale));
    let about = bounds.about.map(|stated| stated - tolerance(bounds, stated, scale));
    about.map_or(least, |about| least.max(about)) - ROUNDING
}

pub(crate) fn agreed(at: At, values: &[f64], is: impl Fn(f64) -> bool) -> bool {
    let count = values.iter().filter(|&&value| is(value)).count();
    match at {
        At::Each => count == values.len(),
        At::Some => count > 0,
        At::Most => 2 * count > values.len(),
        At::Largest => values.iter().copied().reduce(f64::max).is_some_and(is),
    }
}

/// `a` over `b`; two zeros are equal.
pub(crate) fn quotient(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { a / b }
}

/// By how much a time is shorter than another, percent of the other.
pub(crate) fn reduction(own: f64, other: f64) -> f64 {
    100.0 * (1.0 - quotient(own, other))
}

fn not_above(low: f64, high: f64, slack: f64) -> bool {
    low <= high * (1.0 + slack)
}

struct Bench<'a> {
    all: Vec<Point>,
    single: Option<Single>,
    defaults: &'a Defaults,
    source: &'a dyn Source,
}

impl Bench<'_> {
    /// Segue's name of a scheme.
    fn own<'a>(&'a self, scheme: &'a str) -> &'a str {
        self.defaults.schemes.get(scheme).map_or(scheme, String::as_str)
    }

    fn trace(&self, scheme: &str) -> Option<&SchemeTrace> {
        self.source.trace(self.single.as_ref()?, self.own(scheme))
    }

    fn sample(&self, point: &Point, scheme: &str) -> Option<Cow<'_, Sample>> {
        match &self.single {
            Some(_) => Some(Cow::Owned(Sample::of(&[&self.trace(scheme)?.trace.record]))),
            None => self.source.sample(point, self.own(scheme)).map(Cow::Borrowed),
        }
    }

    fn at(&self, point: &Point, scheme: &str, of: Option<Measure>, stat: Stat) -> Option<f64> {
        self.sample(point, scheme)?.number(of.unwrap_or(Measure::Transfer), stat)
    }

    fn values(&self, scheme: &str, of: Option<Measure>, stat: Stat) -> Option<Vec<f64>> {
        self.all.iter().map(|point| self.at(point, scheme, of, stat)).collect()
    }

    fn judge(&self, expect: &Expect) -> Option<Outcome> {
        let (holds, measured) = match expect {
            Expect::Reduction { scheme, against, of, stat, at, is } => {
                let values = self.reductions(scheme, against, *of, *stat)?;
                let holds = agreed(*at, &values, |value| within(is, value, Scale::Percent));
                let possible = self.possible(against, *of, *stat).filter(|_| !holds);
                let possible = possible.map(|most| format!(", of {} possible", list(&most, " %")));
                (holds, list(&values, " %") + &possible.unwrap_or_default())
            }
            Expect::Value { scheme, of, stat, at, is } => {
                let values = self.values(scheme, Some(*of), *stat)?;
                (agreed(*at, &values, |value| within(is, value, Scale::Plain)), list(&values, ""))
            }
            Expect::Spread { scheme, against, of, stat, at, is } => {
                let values = self.spreads(&self.reductions(scheme, against, *of, *stat)?);
                (agreed(*at, &values, |value| within(is, value, Scale::Plain)), list(&values, " points"))
            }
            Expect::Ratio { over, under, at, is } => {
                let side = |side: &Operand| self.values(&side.scheme, side.of, side.stat);
                let values: Vec<f64> = side(over)?
                    .into_iter()
                    .zip(side(under)?)
                    .map(|(over, under)| quotient(over, under))
                    .collect();
                (agreed(*at, &values, |value| within(is, value, Scale::Plain)), list(&values, ""))
            }
            Expect::Order { low_to_high, of, stat, at } => self.order(low_to_high, *of, *stat, *at)?,
            Expect::Similar { scheme, against, of, stat, at, percent } => {
                let percent = percent.unwrap_or(table::ALIKE_PERCENT);
                let pairs =
                    self.values(scheme, *of, *stat)?.into_iter().zip(self.values(against, *of, *stat)?);
                let values: Vec<f64> = pairs.map(|(a, b)| 100.0 * (quotient(a, b) - 1.0)).collect();
                (agreed(*at, &values, |value| value.abs() <= percent + ROUNDING), list(&values, " %"))
            }
            Expect::Contrast { scheme, of, stat, low, high, at, slack_percent } => {
                let slack = slack_percent.map_or(table::SLACK, |percent| percent / 100.0);
                self.contrast(scheme, *of, *stat, (low, high), *at, slack)?
            }
            Expect::Trend { scheme, against, of, stat, direction, peak } => {
                let values = match against {
                    Some(against) => self.reductions(scheme, against, *of, *stat)?,
                    None => self.values(scheme, *of, *stat)?,
                };
                (self.trend(&values, *direction, peak.as_deref()), list(&values, ""))
            }
            Expect::Steeper { scheme, of, stat, from_s } => {
                let values = self.values(scheme, Some(*of), *stat)?;
                self.steeper(&values, *from_s)?
            }
            Expect::Insensitive { schemes } => self.insensitive(schemes)?,
            Expect::Event { scheme, event, at_s, within } => {
                let times = facts::times(self.trace(scheme)?, *event);
                let tolerance = within.unwrap_or(table::EVENT);
                let nearest =
                    times.iter().copied().min_by(|a, b| (a - at_s).abs().total_cmp(&(b - at_s).abs()));
                let measured = nearest.map_or("none".to_string(), |time| format!("{time:.3} s"));
                (nearest.is_some_and(|time| (time - at_s).abs() <= tolerance), measured)
            }
            Expect::Fact { scheme, fact, is } => {
                let value = facts::fact(self.trace(scheme)?, *fact);
                let holds = value.is_some_and(|value| within(is, value, Scale::Plain));
                (holds, value.map_or("none".to_string(), number))
            }
        };
        Some(Outcome { holds, measured })
    }

    fn reductions(&self, scheme: &str, against: &str, of: Option<Measure>, stat: Stat) -> Option<Vec<f64>> {
        let pairs = self.values(scheme, of, stat)?.into_iter().zip(self.values(against, of, stat)?);
        Some(pairs.map(|(own, other)| reduction(own, other)).collect())
    }

    /// Reduction of this number of the transfer times that the physical bound allows, percent.
    fn possible(&self, against: &str, of: Option<Measure>, stat: Stat) -> Option<Vec<f64>> {
        if of.is_some_and(|of| of != Measure::Transfer) || matches!(stat, Stat::Iqr | Stat::Share) {
            return None;
        }
        let bounds = self.values(against, Some(Measure::Bound), stat)?;
        let times = self.values(against, None, stat)?;
        Some(bounds.into_iter().zip(times).map(|(bound, time)| reduction(bound, time)).collect())
    }

    /// Largest less smallest of the values at points of cells that differ in their buffer alone.
    fn spreads(&self, values: &[f64]) -> Vec<f64> {
        let mut groups: BTreeMap<OneCell, (f64, f64)> = BTreeMap::new();
        for (point, &value) in self.all.iter().zip(values) {
            let Point::Cell(cell) = point else { continue };
            let ends = groups.entry(OneCell { buffer: 0, ..*cell }).or_insert((value, value));
            *ends = (ends.0.min(value), ends.1.max(value));
        }
        groups.into_values().map(|(least, most)| most - least).collect()
    }

    fn order(
        &self,
        groups: &[Several<String>],
        of: Option<Measure>,
        stat: Stat,
        at: At,
    ) -> Option<(bool, String)> {
        let mut told = Vec::new();
        let mut right = Vec::new();
        for point in &self.all {
            let values: Vec<Vec<f64>> = groups
                .iter()
                .map(|group| group.all().iter().map(|scheme| self.at(point, scheme, of, stat)).collect())
                .collect::<Option<_>>()?;
            let rises = values.windows(2).all(|pair| {
                pair[0].iter().all(|&low| pair[1].iter().all(|&high| not_above(low, high, table::SLACK)))
            });
            let alike = |a: f64, b: f64| 100.0 * (quotient(a, b) - 1.0).abs() <= table::ALIKE_PERCENT;
            let ties = values.iter().all(|group| group.iter().all(|&a| alike(a, group[0])));
            right.push(f64::from(u8::from(rises && ties)));
            let texts: Vec<String> = values.concat().into_iter().map(number).collect();
            told.push(texts.join(" < "));
        }
        // Where all are judged by one number, the largest has no meaning: it is as good as some.
        let at = if at == At::Largest { At::Some } else { at };
        Some((agreed(at, &right, |value| value == 1.0), told.join("; ")))
    }

    fn contrast(
        &self,
        scheme: &str,
        of: Option<Measure>,
        stat: Stat,
        (low, high): (&Part, &Part),
        at: At,
        slack: f64,
    ) -> Option<(bool, String)> {
        let part = |part: &Part| -> Option<Vec<f64>> {
            let points = self.all.iter().filter(|point| part.has(point));
            points.map(|point| self.at(point, scheme, of, stat)).collect()
        };
        let (mut low, mut high) = (part(low)?, part(high)?);
        if low.is_empty() || high.is_empty() {
            return None;
        }
        if low.len() != high.len() {
            let mean = |values: &[f64]| vec![values.iter().sum::<f64>() / values.len() as f64];
            (low, high) = (mean(&low), mean(&high));
        }
        let right: Vec<f64> = low
            .iter()
            .zip(&high)
            .map(|(&low, &high)| f64::from(u8::from(not_above(low, high, slack))))
            .collect();
        let measured = format!("{} against {}", list(&low, ""), list(&high, ""));
        Some((agreed(at, &right, |value| value == 1.0), measured))
    }

    fn trend(&self, values: &[f64], direction: Direction, peak: Option<&str>) -> bool {
        let order: Vec<f64> = (0..values.len()).map(|index| index as f64).collect();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        let flat = quotient(high, low) <= table::FLAT;
        match direction {
            Direction::Increasing => spearman(&order, values) >= table::SPEARMAN,
            Direction::Decreasing => spearman(&order, values) <= -table::SPEARMAN,
            Direction::NonIncreasing => {
                values.windows(2).all(|pair| pair[1] <= pair[0] + table::SLACK * pair[0].abs())
            }
            Direction::Flat => flat,
            Direction::Varies => !flat,
            Direction::Peak => {
                let at_peak =
                    |index: &usize| peak.is_some_and(|links| self.all[*index].links() == Some(links));
                let top = (0..values.len()).filter(at_peak).map(|index| values[index]).reduce(f64::max);
                top.is_some_and(|top| not_above(high, top, table::SLACK))
            }
        }
    }

    /// Whether the values fall faster, per second of handoff delay, beyond `from_s` than up to it.
    fn steeper(&self, values: &[f64], from_s: f64) -> Option<(bool, String)> {
        let delay = |point: &Point| match point {
            Point::Download(download) => Some(download.disconnect as f64 / 1e9),
            Point::Handoffs(_) | Point::Drive(_) | Point::Cell(_) => None,
        };
        let delays: Vec<f64> = self.all.iter().map(delay).collect::<Option<_>>()?;
        let knee = delays.iter().position(|&seconds| seconds == from_s)?;
        let last = delays.len() - 1;
        let fall = |from: usize, to: usize| (values[from] - values[to]) / (delays[to] - delays[from]);
        let (before, beyond) = (fall(0, knee), fall(knee, last));
        let measured =
            format!("{} per s up to it, {} beyond, of {}", number(before), number(beyond), list(values, ""));
        Some((knee > 0 && knee < last && beyond > before.max(0.0), measured))
    }

    /// Whether the points keep their order by median transfer time whatever P is.
    fn insensitive(&self, schemes: &[String]) -> Option<(bool, String)> {
        let lengths: Vec<u32> =
            self.all.iter().filter_map(Point::packets).collect::<BTreeSet<_>>().into_iter().collect();
        let of = |packets: u32| -> Option<Vec<f64>> {
            let points = || self.all.iter().filter(|point| point.packets() == Some(packets));
            let each = schemes.iter().flat_map(|scheme| points().map(move |point| (point, scheme)));
            each.map(|(point, scheme)| self.at(point, scheme, None, Stat::Median)).collect()
        };
        let reference = of(self.defaults.packets)?;
        let mut told = Vec::new();
        let mut same = true;
        for packets in lengths.into_iter().filter(|&packets| packets != self.defaults.packets) {
            let rank = spearman(&reference, &of(packets)?);
            same &= rank >= table::SAME_ORDER;
            told.push(format!("rank correlation {} for P {packets}", number(rank)));
        }
        Some((same, told.join(", ")))
    }
}

/// Spearman's rank correlation; ties share their ranks. NaN where one side does not vary.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        values
            .iter()
            .map(|value| {
                let below = values.iter().filter(|other| *other < value).count() as f64;
                let same = values.iter().filter(|other| *other == value).count() as f64;
                below + (same - 1.0) / 2.0
            })
            .collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let covariance = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    let own = |x: &[f64], mx: f64| covariance(x, mx, x, mx);
    covariance(&a, mean_a, &b, mean_b) / (own(&a, mean_a) * own(&b, mean_b)).sqrt()
}

#[cfg(test)]
mod tests;
