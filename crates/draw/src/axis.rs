//! One axis: values to pixels, and ticks at round numbers (P. S. Heckbert, "Nice numbers for graph labels", Graphics
//! Gems, 1990).

use crate::text;

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are; values must be above 0.
    Log,
}

/// Positions are whole tenths of a pixel.
const UNITS: f64 = 10.0;
/// A position is rounded towards the start of the axis; so much below the next unit counts as there.
const ALMOST: f64 = 1e-3;
/// Values beyond this are drawn as this, so that differences remain exact.
const LARGEST: f64 = 1e15;

/// A range of values laid over a range of pixels.
pub(crate) struct Axis {
    spacing: Spacing,
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
        Axis { spacing, low, high, start, end }
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
        let share = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        let (start, end) = ((self.start * UNITS).round(), (self.end * UNITS).round());
        let along = (end - start) * share;
        let along = if end < start { (along - ALMOST).ceil() } else { (along + ALMOST).floor() };
        (start + along) / UNITS
    }

    /// At most `most` ticks with their labels, in order.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.clamp(2, 20);
        match self.spacing {
            Spacing::Linear => {
                let (ticks, step) = linear_ticks(self.low, self.high, most);
                linear_labels(&ticks, step)
            }
            Spacing::Log => {
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

/// Multiples of 1, 2 or 5 times a power of ten, the closest ones of which there are not too many; and their distance.
fn linear_ticks(low: f64, high: f64, most: usize) -> (Vec<f64>, f64) {
    let ticks = |digit: f64, power: i32| {
        let step = times_power(digit, power);
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        let tick = |multiple| times_power(multiple as f64 * digit, power);
        ((first..=last).map(tick).collect::<Vec<f64>>(), step)
    };
    // A range has at most two multiples of a number that is as large: the first choice always fits.
    let largest = (high - low).log10().ceil() as i32;
    let closer = (1..).flat_map(|below| [10.0, 5.0, 2.0].map(|digit| ticks(digit, largest - below)));
    closer.take_while(|(ticks, _)| ticks.len() <= most).last().unwrap_or_default()
}

/// A number times a power of ten; dividing gives 0.2 where multiplying gives 0.2000...01.
fn times_power(number: f64, power: i32) -> f64 {
    if power < 0 { number / 10_f64.powi(-power) } else { number * 10_f64.powi(power) }
}

/// Labels with as many decimals as the distance of ticks needs.
fn linear_labels(ticks: &[f64], step: f64) -> Vec<(f64, String)> {
    let largest = ticks.iter().fold(0.0_f64, |largest, tick| largest.max(tick.abs()));
    // The tolerance takes 0.99999 for 1.
    let decimals = (-step.log10() - 1e-4).ceil().clamp(0.0, 9.0) as usize;
    ticks
        .iter()
        .map(|&tick| {
            // No "-0".
            let tick = if tick.abs() < step * 1e-6 { 0.0 } else { tick };
            let label = if largest >= 1e7 { format!("{tick:.2e}") } else { format!("{tick:.decimals$}") };
            (tick, label)
        })
        .collect()
}

/// 1, 2 and 5 times the powers of ten if those are some ticks but not too many; else more or fewer. They are linear
/// ones where the range is so small that it makes no difference.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let within = |digits: &[f64], stride: i32| -> Vec<f64> {
        let powers = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
        let all = powers.flat_map(|power| digits.iter().map(move |&digit| times_power(digit, power)));
        all.filter(|tick| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9)).collect()
    };
    let choices: [(usize, &[f64], i32); 9] = [
        (3, &[1.0, 2.0, 5.0], 1),
        (3, &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1),
        (2, &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], 1),
        (2, &[1.0, 2.0, 5.0], 1),
        (2, &[1.0, 3.0], 1),
        (2, &[1.0], 1),
        (2, &[1.0], 3),
        (2, &[1.0], 6),
        (2, &[1.0], 2),
    ];
    choices
        .into_iter()
        .map(|(least, digits, stride)| (least, within(digits, stride)))
        .find(|(least, ticks)| (*least..=most).contains(&ticks.len()))
        .map(|(_, ticks)| ticks)
        .unwrap_or_else(|| linear_ticks(low, high, most).0)
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
        assert_eq!(labels(Spacing::Linear, -2.5, 2.5, 5), "-2 -1 0 1 2");
        assert_eq!(labels(Spacing::Linear, 0.0, 0.3, 3), "0.0 0.2", "no more than three");
        assert_eq!(labels(Spacing::Linear, 99.9, 100.6, 8), "99.9 100.0 100.1 100.2 100.3 100.4 100.5 100.6");
        assert_eq!(labels(Spacing::Linear, 0.11, 0.18, 3), "0.15", "as many decimals for a single one");
        assert_eq!(labels(Spacing::Linear, 1.3e7, 3.2e7, 4), "1.50e7 2.00e7 2.50e7 3.00e7");
        assert_eq!(labels(Spacing::Log, 0.2, 20.0, 9), "0.2 0.5 1 2 5 10 20");
        assert_eq!(labels(Spacing::Log, 5.8, 20.6, 8), "6 7 8 9 10 15 20");
        assert_eq!(labels(Spacing::Log, 5.8, 20.6, 4), "7 10 15 20");
        assert_eq!(labels(Spacing::Log, 1e-3, 1e6, 5), "0.001 1 1000 1000000");
        assert_eq!(labels(Spacing::Log, 1.01, 1.09, 5), "1.02 1.04 1.06 1.08");
    }

    /// Tenths of a pixel: a third of 100 px is 33.3, two thirds 66.6; from the bottom up they are counted from there.
    #[test]
    fn places_are_rounded_towards_the_start() {
        let right = Axis::new(Spacing::Linear, 0.0, 3.0, 0.0, 100.0);
        let up = Axis::new(Spacing::Linear, 0.0, 3.0, 100.0, 0.0);
        let places = |axis: &Axis| [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, f64::NAN].map(|value| axis.at(value));
        assert_eq!(places(&right), [0.0, 0.0, 33.3, 66.6, 100.0, 100.0, 0.0]);
        assert_eq!(places(&up), [100.0, 100.0, 66.7, 33.4, 0.0, 0.0, 100.0]);
        let decades = Axis::new(Spacing::Log, 0.1, 100.0, 0.0, 300.0);
        assert_eq!([0.1, 1.0, 10.0, 100.0].map(|value| decades.at(value)), [0.0, 100.0, 200.0, 300.0]);
    }

    #[test]
    fn ranges_without_extent_are_widened() {
        let axis = Axis::new(Spacing::Linear, 3.0, 3.0, 0.0, 100.0);
        assert_eq!((axis.low(), axis.high(), axis.at(3.0)), (2.5, 3.5, 50.0));
    }
}
