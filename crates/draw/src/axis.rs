//! One axis: values to pixels, and ticks.
//!
//! plotters supplies the coordinates and the linear ticks. Its mesh, series and SVG backend are not used:
//! they write colours as numbers where our pictures have CSS variables, whole pixels, one element per
//! mark, and tick labels that cannot make room for others. Its logarithmic ticks are decades or nothing,
//! and most of our ranges are about one decade; 1, 2, 5 are made here.

use crate::text;
use plotters::coord::ranged1d::{BoldPoints, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{IntoLogRange, LogCoord};

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are; values must be above 0.
    Log,
}

enum Coordinate {
    Linear(RangedCoordf64),
    Log(LogCoord<f64>),
}

/// plotters maps to whole units; ours are tenths of a pixel.
const UNITS: f64 = 10.0;
/// Values beyond this are drawn as this, so that differences remain exact.
const LARGEST: f64 = 1e15;

/// A range of values laid over a range of pixels.
pub(crate) struct Axis {
    coordinate: Coordinate,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// `low` and `high` lie at `start` and `end` px. A range without extent, or not made of numbers, is
    /// widened to one that has.
    pub(crate) fn new(spacing: Spacing, low: f64, high: f64, start: f64, end: f64) -> Axis {
        let (low, high) = sound_range(spacing, low, high);
        let coordinate = match spacing {
            Spacing::Linear => Coordinate::Linear((low..high).into()),
            Spacing::Log => Coordinate::Log((low..high).log_scale().into()),
        };
        Axis { coordinate, low, high, start, end }
    }

    /// Least value.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    /// Greatest value.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// Whether the value lies on the axis.
    pub(crate) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Pixel of a value; what lies outside is at the end next to it, what is no number at the start.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if value.is_nan() { self.low } else { value.clamp(self.low, self.high) };
        let limits = ((self.start * UNITS).round() as i32, (self.end * UNITS).round() as i32);
        let units = match &self.coordinate {
            Coordinate::Linear(coordinate) => coordinate.map(&value, limits),
            Coordinate::Log(coordinate) => coordinate.map(&value, limits),
        };
        f64::from(units) / UNITS
    }

    /// At most `most` ticks with their labels, in order.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.clamp(2, 20);
        match &self.coordinate {
            Coordinate::Linear(coordinate) => linear_labels(&coordinate.key_points(BoldPoints(most))),
            Coordinate::Log(_) => {
                log_ticks(self.low, self.high, most).into_iter().map(|tick| (tick, plain(tick))).collect()
            }
        }
    }
}

/// A range that has an extent and that f64 resolves.
fn sound_range(spacing: Spacing, low: f64, high: f64) -> (f64, f64) {
    let least = if spacing == Spacing::Log { 1e-9 } else { -LARGEST };
    let sound = |value: f64, other: f64| if value.is_nan() { other } else { value.clamp(least, LARGEST) };
    let (low, high) = (sound(low, 0.0), sound(high, 1.0));
    let (low, high) = (low.min(high).max(least), high.max(low));
    match spacing {
        Spacing::Linear => {
            let extent = (low.abs().max(high.abs()) * 1e-6).max(1e-6);
            if high - low >= extent {
                (low, high)
            } else if low == high {
                (low - (low.abs() * 0.1).max(0.5), high + (high.abs() * 0.1).max(0.5))
            } else {
                (low - extent, high + extent)
            }
        }
        Spacing::Log => {
            if high >= low * 1.01 {
                (low, high)
            } else {
                (low / 2.0, high.max(low) * 2.0)
            }
        }
    }
}

/// Labels with as many decimals as the distance of ticks needs.
fn linear_labels(ticks: &[f64]) -> Vec<(f64, String)> {
    let step = match ticks {
        [first, second, ..] => second - first,
        [only] => only.abs(),
        [] => 1.0,
    };
    let largest = ticks.iter().fold(0.0_f64, |largest, tick| largest.max(tick.abs()));
    // The tolerance takes 0.99999 for 1.
    let decimals = if step > 0.0 { (-step.log10() - 1e-4).ceil().clamp(0.0, 9.0) as usize } else { 0 };
    ticks
        .iter()
        .map(|&tick| {
            // No "-0".
            let tick = if tick.abs() < step.abs() * 1e-6 { 0.0 } else { tick };
            let label = if largest >= 1e7 { format!("{tick:.2e}") } else { format!("{tick:.decimals$}") };
            (tick, label)
        })
        .collect()
}

/// 1, 2 and 5 times the powers of ten if those are some ticks but not too many; else more or fewer; linear
/// ones where the range is so small that it makes no difference.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let within = |digits: &[f64], stride: i32| -> Vec<f64> {
        let powers = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
        let all = powers.flat_map(|power| {
            digits.iter().map(move |digit| {
                // Dividing gives 0.2 where multiplying gives 0.2000...01.
                if power < 0 { digit / 10_f64.powi(-power) } else { digit * 10_f64.powi(power) }
            })
        });
        all.filter(|tick| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9)).collect()
    };
    let choices: [(usize, &[f64], i32); 8] = [
        (3, &[1.0, 2.0, 5.0], 1),
        (3, &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1),
        (2, &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], 1),
        (2, &[1.0, 2.0, 5.0], 1),
        (2, &[1.0, 3.0], 1),
        (2, &[1.0], 1),
        (2, &[1.0], 3),
        (2, &[1.0], 6),
    ];
    choices
        .into_iter()
        .map(|(least, digits, stride)| (least, within(digits, stride)))
        .find(|(least, ticks)| (*least..=most).contains(&ticks.len()))
        .map(|(_, ticks)| ticks)
        .unwrap_or_else(|| RangedCoordf64::from(low..high).key_points(BoldPoints(most)))
}

/// The shortest form of a number.
pub(crate) fn plain(value: f64) -> String {
    if !value.is_finite() {
        return text::number(value);
    }
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:e}");
    }
    let short = format!("{value}");
    if short.len() > 8 { text::number(value) } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(spacing: Spacing, low: f64, high: f64, most: usize) -> String {
        let axis = Axis::new(spacing, low, high, 0.0, 100.0);
        axis.ticks(most).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(Spacing::Linear, 0.0, 13.96, 6), "0 5 10");
        assert_eq!(labels(Spacing::Linear, 0.0, 1.0, 6), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(Spacing::Log, 0.2, 20.0, 9), "0.2 0.5 1 2 5 10 20");
        assert_eq!(labels(Spacing::Log, 5.8, 20.6, 8), "6 7 8 9 10 15 20");
        assert_eq!(labels(Spacing::Log, 5.8, 20.6, 4), "7 10 15 20");
        assert_eq!(labels(Spacing::Log, 1e-3, 1e6, 5), "0.001 1 1000 1000000");
        assert_eq!(labels(Spacing::Log, 1.01, 1.09, 5), "1.02 1.04 1.06 1.08");
    }

    #[test]
    fn ranges_without_extent_are_widened() {
        let axis = Axis::new(Spacing::Linear, 3.0, 3.0, 0.0, 100.0);
        assert_eq!((axis.low(), axis.high(), axis.at(3.0)), (2.5, 3.5, 50.0));
    }
}
