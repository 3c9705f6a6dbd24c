//! Quantiles by linear interpolation (type 7 of Hyndman and Fan, The American Statistician 50(4),
//! 1996). An infinite value stands for an incomplete run.

use segue_world::Nanos;

/// The `p`-quantile of ascending `sorted`; `None` if there is no value. Between a finite and an
/// infinite value it is infinite.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let (below, weight) = position(sorted.len(), p)?;
    Some(between(sorted[below], sorted[(below + 1).min(sorted.len() - 1)], weight))
}

/// The `p`-quantile of `times`, ns, in any order, each taken `in_unit`. Their order is changed, but they are not sorted:
/// there may be millions.
pub fn select(times: &mut [Nanos], p: f64, in_unit: fn(Nanos) -> f64) -> Option<f64> {
    let (below, weight) = position(times.len(), p)?;
    let (_, &mut low, above) = times.select_nth_unstable(below);
    let high = above.iter().copied().min().unwrap_or(low);
    Some(between(in_unit(low), in_unit(high), weight))
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
        fn a_selection_is_that_of_the_sorted(times in proptest::collection::vec(0..50u64, 0..50), p in 0.0f64..=1.0) {
            let in_unit = |time| time as f64 / 7.0;
            let all = sorted(times.iter().copied().map(in_unit).collect());
            let mut times = times;
            prop_assert_eq!(select(&mut times, p, in_unit), quantile(&all, p));
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
