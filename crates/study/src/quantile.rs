//! Quantiles by linear interpolation (type 7 of Hyndman and Fan, The American Statistician 50(4),
//! 1996). An infinite value stands for an incomplete run.

use segue_world::Nanos;
use std::cmp::Ordering;

/// The `p`-quantile of ascending `sorted`; `None` if there is no value. Between a finite and an
/// infinite value it is infinite.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let (below, weight) = position(sorted.len(), p)?;
    Some(between(sorted[below], sorted[(below + 1).min(sorted.len() - 1)], weight))
}

/// The quantiles `ps` of all `times`, ns, in parts and in any order, each taken `in_unit`. They are neither sorted nor
/// copied as a whole: there may be millions.
pub fn select<const N: usize>(
    times: &[&[Nanos]],
    ps: [f64; N],
    in_unit: fn(Nanos) -> f64,
) -> [Option<f64>; N] {
    let classes = Classes::of(times);
    let values = times.iter().map(|part| part.len()).sum();
    ps.map(|p| {
        let (below, weight) = position(values, p)?;
        let (low, high) = classes.at(times, below)?;
        Some(between(in_unit(low), in_unit(high), weight))
    })
}

/// Number of bits by which times are classed.
const CLASS_BITS: u32 = 12;

/// How many times have the same leading bits: a quantile lies among those of one class, which are few.
struct Classes {
    shift: u32,
    counts: Vec<usize>,
}

impl Classes {
    fn of(times: &[&[Nanos]]) -> Self {
        let mut bits = 0;
        for part in times {
            for &time in *part {
                bits |= time;
            }
        }
        let shift = (Nanos::BITS - bits.leading_zeros()).saturating_sub(CLASS_BITS);
        let mut counts = vec![0; 1 << CLASS_BITS];
        for part in times {
            for &time in *part {
                counts[(time >> shift) as usize] += 1;
            }
        }
        Self { shift, counts }
    }

    /// The time with so many before it in ascending order, and the next one, or itself if it is the last.
    fn at(&self, times: &[&[Nanos]], mut before: usize) -> Option<(Nanos, Nanos)> {
        let class = self.counts.iter().position(|&count| {
            let is_here = before < count;
            if !is_here {
                before -= count;
            }
            is_here
        })? as Nanos;
        let (mut own, mut next) = (Vec::new(), None);
        for part in times {
            for &time in *part {
                match (time >> self.shift).cmp(&class) {
                    Ordering::Less => {}
                    Ordering::Equal => own.push(time),
                    Ordering::Greater => next = Some(next.map_or(time, |next: Nanos| next.min(time))),
                }
            }
        }
        let (_, &mut low, above) = own.select_nth_unstable(before);
        Some((low, above.iter().copied().min().or(next).unwrap_or(low)))
    }
}

/// The position of the value below the `p`-quantile, and the weight of the one above it.
fn position(values: usize, p: f64) -> Option<(usize, f64)> {
    let position = p * values.checked_sub(1)? as f64;
    let below = position.floor() as usize;
    Some((below, position - below as f64))
}

fn between(low: f64, high: f64, weight: f64) -> f64 {
    if weight == 0.0 || low == high { low } else { low + weight * (high - low) }
}

/// `values` in ascending order.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Lower quartile, median, upper quartile.
pub fn quartiles(sorted: &[f64]) -> [Option<f64>; 3] {
    [0.25, 0.5, 0.75].map(|p| quantile(sorted, p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn type_7_of_the_textbook() {
        // R: quantile(c(1, 2, 3, 4), type = 7) is 1.75, 2.5, 3.25.
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0]), [Some(1.75), Some(2.5), Some(3.25)]);
        assert_eq!(quartiles(&[7.0]), [Some(7.0); 3]);
        assert_eq!(quartiles(&[]), [None; 3]);
    }

    #[test]
    fn incomplete_runs_are_infinite() {
        let values = sorted(vec![f64::INFINITY, 1.0, 2.0]);
        assert_eq!(quartiles(&values), [Some(1.5), Some(2.0), Some(f64::INFINITY)]);
        assert_eq!(quantile(&[f64::INFINITY, f64::INFINITY], 0.5), Some(f64::INFINITY));
    }

    proptest! {
        #[test]
        fn a_selection_is_that_of_the_sorted(
            // Times of one class, of many, and beyond all that happens; many alike.
            times in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![0..50u64, 0..50_000_000_000u64, Just(Nanos::MAX)], 0..20),
                0..5,
            ),
            ps in [0.0f64..=1.0, 0.0..=1.0],
        ) {
            let in_unit = |time| time as f64 / 7.0;
            let all = sorted(times.concat().into_iter().map(in_unit).collect());
            let parts: Vec<&[Nanos]> = times.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(select(&parts, ps, in_unit), ps.map(|p| quantile(&all, p)));
        }

        #[test]
        fn lies_between_its_neighbours(values in proptest::collection::vec(-1e6f64..1e6, 1..50), p in 0.0f64..=1.0) {
            let values = sorted(values);
            let q = quantile(&values, p).unwrap();
            let position = p * (values.len() - 1) as f64;
            prop_assert!(q >= values[position.floor() as usize] - 1e-6 && q <= values[position.ceil() as usize] + 1e-6);
        }
    }
}
