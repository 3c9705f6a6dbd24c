use super::*;

/// TV-31: a maximum is kept for the ten rounds after it was last seen.
#[test]
fn a_maximum_lasts_for_the_window() {
    let mut max = MinMax::new(0, 0);
    for t in 1..=20 {
        let seen = if t <= 5 { 1000 } else { 200 };
        assert_eq!(max.running_max(10, t, seen), if t <= 15 { 1000 } else { 200 }, "round {t}");
    }
}

/// TV-32: the second choice after 130 (t = 4) is the best of the window's second quarter, not of all of it.
#[test]
fn a_falling_series_leaves_three_choices() {
    let mut max = MinMax::new(0, 0);
    let series = [100, 110, 120, 130, 125, 120, 115, 110, 105, 100, 95, 90, 85, 80, 75, 70, 65, 60];
    let result: Vec<u32> = (1..).zip(series).map(|(t, v)| max.running_max(10, t, v)).collect();
    assert_eq!(result[..4], series[..4]);
    assert_eq!(result[4..14], [130; 10]);
    assert_eq!(result[14..], [115, 115, 115, 100]);
}

/// The minimum of `v` is `K` - the maximum of `K - v`.
#[test]
fn the_minimum_mirrors_the_maximum() {
    let (mut min, mut max) = (MinMax::new(0, u32::MAX), MinMax::new(0, 0));
    let mut v = 7_u32;
    for t in 0..2_000 {
        v = v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let least = min.running_min(40, t * 3, v);
        assert_eq!(least, u32::MAX - max.running_max(40, t * 3, u32::MAX - v));
    }
}

/// Time wraps at 2^32.
#[test]
fn the_window_spans_the_wrap_of_time() {
    let mut max = MinMax::new(u32::MAX - 2, 9);
    assert_eq!(max.running_max(10, 5, 1), 9); // 8 later
    assert_eq!(max.running_max(10, 9, 1), 1); // 12 later
}
