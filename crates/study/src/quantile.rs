//! Quantiles by linear interpolation (type 7 of Hyndman and Fan, The American Statistician 50(4),
//! 1996). An infinite value stands for an incomplete run.

/// The `p`-quantile of ascending `sorted`; `None` if there is no value. Between a finite and an
/// infinite value it is infinite.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = p * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let weight = position - below as f64;
    Some(if weight == 0.0 || low == high { low } else { low + weight * (high - low) })
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
        fn lies_between_its_neighbours(values in proptest::collection::vec(-1e6f64..1e6, 1..50), p in 0.0f64..=1.0) {
            let values = sorted(values);
            let q = quantile(&values, p).unwrap();
            let position = p * (values.len() - 1) as f64;
            prop_assert!(q >= values[position.floor() as usize] - 1e-6 && q <= values[position.ceil() as usize] + 1e-6);
        }
    }
}
