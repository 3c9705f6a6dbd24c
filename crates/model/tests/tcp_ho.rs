//! The models of paper 003 against docs/reference/algorithms.md 4.7, and numbers computed independently.

use proptest::prelude::*;
use segue_model::tcp_ho::*;

fn handoff(b: f64, c: f64) -> Handoff {
    Handoff::new(b, c).expect("a handoff")
}

/// The mean gain for an error of so many percent of the BDP.
fn mean_gain(b: f64, c: f64, percent: f64) -> f64 {
    handoff(b, c).mean_gain(b * percent / 100.0).expect("a deviation")
}

/// Equal in so many significant digits.
fn same(a: f64, b: f64, digits: i32) -> bool {
    (a - b).abs() <= 0.5 * 10_f64.powi(1 - digits) * b.abs()
}

/// docs/reference/algorithms.md 4.7, all digits of the table.
#[test]
fn the_table_of_the_specification() {
    let text = include_str!("../../../docs/reference/algorithms.md");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("| sigma/b % |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 9);
    for row in rows {
        for ((_, b, c), printed) in PAPER_HANDOFFS.into_iter().zip(&row[1..]) {
            let gain = match row[0].parse() {
                Ok(percent) => mean_gain(b, c, percent),
                Err(_) => handoff(b, c).gain(b),
            };
            let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            assert_eq!(format!("{gain:.decimals$}"), **printed, "b = {b}, c = {c}, sigma {} %", row[0]);
        }
    }
}

/// Equations 1 and 2 as printed, Delta and nabla written out, by mpmath 1.3 with 30 digits. The range of
/// `quad(delta * npdf) / quad(npdf)` is 0..2b, cut at 1, c, b and every whole standard deviation.
#[test]
fn mean_gains_have_nine_digits() {
    let computed = [
        (117.0, 8.0, 0.1, 5596.68461115),
        (117.0, 8.0, 1.0, 5596.53600166),
        (117.0, 8.0, 5.0, 5589.25641166),
        (117.0, 8.0, 25.0, 5391.98771033),
        (117.0, 8.0, 35.0, 5209.93626618),
        (117.0, 8.0, 50.0, 4963.03462469),
        (58.0, 8.0, 5.0, 1132.70206479),
        (58.0, 8.0, 45.0, 1002.38713421),
        (58.0, 50.0, 15.0, 10.7623170196),
        (58.0, 50.0, 20.0, -2.9151077524),
        (58.0, 50.0, 50.0, -121.043836908),
        (58.0, 66.0, 0.001, 0.000102351658028),
        (58.0, 66.0, 5.0, -1.53503749418),
        (58.0, 66.0, 50.0, -148.624598198),
        (58.0, 66.0, 1000.0, -252.667569335),
        (20.0, 30.0, 35.0, -8.99141552256),
        (0.5, 0.3, 40.0, -0.0699344086479),
        (1000.0, 1.0, 30.0, 467870.627572),
    ];
    for (b, c, percent, expected) in computed {
        let gain = mean_gain(b, c, percent);
        assert!(same(gain, expected, 9), "b = {b}, c = {c}, sigma {percent} %: {gain} for {expected}");
    }
}

/// 4.6, by mpmath: k ln k/(k - 1) - 1 for k = (2^(n+1) - 1)/(2^n - 1).
#[test]
fn savings_by_timeout() {
    let computed = [0.647918433, 0.482771256, 0.429012598, 0.406502944, 0.396134184, 0.391150777];
    for (wait, expected) in waits(0.5).expect("an RTO").zip(computed) {
        let n = wait.timeouts as i32;
        assert_eq!((wait.from_s, wait.to_s), (0.5 * (2_f64.powi(n) - 1.0), 0.5 * (2_f64.powi(n + 1) - 1.0)));
        assert!(same(wait.mean_saving(), expected, 9), "after {n}: {}", wait.mean_saving());
    }
    assert!(same(LIMIT_OF_SAVING, 0.386294361119891, 15));
    let twice = Wait { timeouts: 1, from_s: 7.0, to_s: 14.0 };
    assert!(same(twice.mean_saving(), LIMIT_OF_SAVING, 12));
}

/// Section 5: once the timeout has reached 64 s, between 0 and 64 s are saved.
#[test]
fn the_cap() {
    let waits: Vec<Wait> = waits(1.0).expect("an RTO").take(9).collect();
    let lengths: Vec<f64> = waits.iter().map(Wait::longest_saving_s).collect();
    assert_eq!(lengths, [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0, 64.0, 64.0]);
    assert_eq!((waits[6].from_s, waits[6].to_s), (127.0, 191.0));
    assert!(waits[6].mean_saving() < LIMIT_OF_SAVING);
    assert_eq!(LONGEST_RTO_S, 64.0);
}

#[test]
fn without_error_the_gain_is_that_of_the_true_bdp() {
    for (_, b, c) in PAPER_HANDOFFS {
        let exact = handoff(b, c).gain(b);
        for sigma in [1e-3, 1e-9, 1e-18, f64::MIN_POSITIVE] {
            let gain = handoff(b, c).mean_gain(sigma).expect("a deviation");
            assert!((gain - exact).abs() <= sigma.max(1e-11), "b = {b}, c = {c}, sigma {sigma}: {gain}");
        }
    }
    // A table of 4.7's last line: what TCP sends itself until then.
    let sent = PAPER_HANDOFFS.map(|(_, b, c)| handoff(b, c).tcp_segments(b));
    assert_eq!(sent, [6820.5, 1658.0, 482.0, 58.0]);
}

#[test]
fn impossible_input_is_named() {
    let nan = f64::NAN;
    for (b, c, part) in [
        (0.0, 8.0, "b = 0: no BDP"),
        (-1.0, 8.0, "b = -1: no BDP"),
        (nan, 8.0, "b = NaN"),
        (1e7, 8.0, "at most 1000000"),
        (58.0, 0.0, "c = 0: no threshold"),
        (58.0, nan, "c = NaN"),
        (58.0, f64::INFINITY, "c = inf"),
        (
            58.0,
            116.0,
            "c = 116 with b = 58: TCP would lose segments, which the model leaves out; expected c below 2b = 116",
        ),
    ] {
        let message = Handoff::new(b, c).expect_err("no handoff").to_string();
        assert!(message.contains(part) && !message.contains('\n'), "{message}");
    }
    for sigma in [0.0, -1.0, nan, f64::INFINITY] {
        let message = handoff(58.0, 8.0).mean_gain(sigma).expect_err("no deviation").to_string();
        assert!(message.starts_with("sigma = "), "{message}");
    }
    for rto in [0.0, 64.1, nan] {
        assert!(waits(rto).err().expect("no RTO").to_string().starts_with("an RTO of "));
    }
}

/// Computed from the formulas as they are printed, with three decimals at most: b, c, x and the gain.
#[test]
fn vectors_of_all_regions() {
    let vectors = [
        // x < c < b
        (117.0, 8.0, 4.0, "-331.0"),
        // c < x < b
        (117.0, 8.0, 60.0, "4027.894"),
        (117.0, 8.0, 100.0, "5461.669"),
        (58.0, 50.0, 55.0, "24.525"),
        // x < b < c
        (58.0, 63.8, 30.0, "-364.837"),
        (58.0, 63.8, 50.0, "-27.581"),
    ];
    // c < b < x: whatever x is.
    let beyond = [(117.0, 8.0, "5596.667"), (58.0, 8.0, "1134.24"), (58.0, 50.0, "27.58")];
    let beyond = beyond.into_iter().flat_map(|(b, c, gain)| [b, 1.3 * b, 2.0 * b].map(|x| (b, c, x, gain)));
    for (b, c, x, expected) in vectors.into_iter().chain(beyond) {
        let decimals = expected.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let gain = handoff(b, c).gain(x);
        assert_eq!(format!("{gain:.decimals$}"), expected, "b = {b}, c = {c}, x = {x}");
    }
}

/// The figure by the paper's text. In U-VH the gain is large, and an error of 50 % changes it little. In H-HH it is a
/// little less than TCP once the error is large. The bounds are ours.
#[test]
fn what_figure_15_shows() {
    let change = |b: f64, c: f64| mean_gain(b, c, 50.0) / mean_gain(b, c, 5.0) - 1.0;
    for (b, c) in [(117.0, 8.0), (58.0, 8.0)] {
        assert!(change(b, c).abs() <= 0.15, "{}", change(b, c));
        // More than half of what TCP sends meanwhile.
        assert!((1..=10).all(|k| mean_gain(b, c, 5.0 * f64::from(k)) > 0.5 * handoff(b, c).tcp_segments(b)));
    }
    for (b, c) in [(58.0, 50.0), (58.0, 66.0)] {
        assert!((1..=10).all(|k| (-150.0..=30.0).contains(&mean_gain(b, c, 5.0 * f64::from(k)))));
    }
    assert!(mean_gain(58.0, 50.0, 15.0) > 0.0 && mean_gain(58.0, 50.0, 20.0) < 0.0);
}

/// The windows of Figures 13 and 14 carry in round trips what the counts say. The exception is the exponential part, of
/// which the paper takes the threshold for the area.
#[test]
fn windows_grow_as_the_paper_draws_them() {
    let handoff = handoff(58.0, 15.0);
    assert_eq!((handoff.window(15.0, 0.0), handoff.window(15.0, 3.0)), (1.0, 8.0));
    let knee = 15.0_f64.log2();
    assert!(same(handoff.window(15.0, knee), 15.0, 12) && same(handoff.window(15.0, knee + 10.0), 25.0, 12));
    assert!(same(handoff.full_after(15.0), knee + 43.0, 12));
    assert_eq!(handoff.window(15.0, handoff.full_after(15.0) + 1.0), 58.0);
    assert_eq!(handoff.full_after(70.0), 58.0_f64.log2(), "a threshold beyond b is none");
    assert_eq!(handoff.window(70.0, 5.0), 32.0);
}

/// Delta_1 = Delta_2, Delta_3 and nabla_1 as the paper prints them.
fn printed_gain(b: f64, c: f64, x: f64) -> f64 {
    match (c < b, x < b) {
        (true, true) => {
            -x * x / 2.0 + (b + 1.0) * x - b * x.log2() + c * c / 2.0 - (b + 1.0) * c + b * c.log2()
        }
        (true, false) => (b * b + c * c) / 2.0 + b - c - b * c + b * c.log2() - b * b.log2(),
        (false, true) => -x * x / 2.0 + (b + 1.0) * x - b * x.log2() - b * b / 2.0 - b + b * b.log2(),
        (false, false) => 0.0,
    }
}

/// N_tcp of Section 6.2.1, region 1, with the slip corrected (docs/reference/algorithms.md 8), and the other counts.
fn printed_segments(b: f64, c: f64, x: f64) -> (f64, f64) {
    let area = |s: f64| s + (b * b - s * s) / 2.0;
    if c < b {
        if x < c {
            (area(c) + b * (c - x + x.log2() - c.log2()), area(x))
        } else if x < b {
            (area(c), area(x) + b * (x - c + c.log2() - x.log2()))
        } else {
            (area(c), b + b * (b - c + c.log2() - b.log2()))
        }
    } else if x < b {
        (b + b * (b - x + x.log2() - b.log2()), area(x))
    } else {
        // Both curves are one; the paper counts nothing.
        (b, b)
    }
}

/// The printed N_tcp, its bracket closed too early, would leave (b - 1) log2(x/c) between N_tcp-ho - N_tcp and Delta_1.
#[test]
fn the_printed_slip_contradicts_delta_1() {
    let (b, c, x) = (117.0_f64, 8.0_f64, 4.0_f64);
    let as_printed = c + (b * b - c * c) / 2.0 + b * (c - x) + x.log2() - c.log2();
    let residual = handoff(b, c).tcp_ho_segments(x) - as_printed - handoff(b, c).gain(x);
    assert!(same(residual, (b - 1.0) * (x / c).log2(), 12), "{residual}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_gain_is_the_difference_of_the_counts(b in 0.1..5000.0_f64, c in 0.001..1.999_f64, x in 0.001..2.0_f64) {
        let (c, x) = (c * b, x * b);
        let handoff = handoff(b, c);
        let slack = 1e-11 * (b * b + b) + 1e-11;
        let (tcp, tcp_ho) = (handoff.tcp_segments(x), handoff.tcp_ho_segments(x));
        prop_assert!((tcp_ho - tcp - handoff.gain(x)).abs() <= slack);
        prop_assert!((handoff.gain(x) - printed_gain(b, c, x)).abs() <= slack);
        let printed = printed_segments(b, c, x);
        prop_assert!((tcp - printed.0).abs() <= slack && (tcp_ho - printed.1).abs() <= slack);
    }

    #[test]
    fn the_gain_is_continuous_at_c_and_b(b in 0.1..5000.0_f64, c in 0.001..1.999_f64) {
        let handoff = handoff(b, c * b);
        for knee in [handoff.c(), b] {
            let step = 1e-9 * knee;
            // The slope is at most b + 1 + b/(x ln 2).
            let slack = 2.0 * step * (b + 2.0 + 1.5 * b / knee) + 1e-11 * (b * b + b);
            prop_assert!((handoff.gain(knee - step) - handoff.gain(knee + step)).abs() <= slack);
        }
    }

    /// The mean lies between the extremes of the gain.
    #[test]
    fn means_are_means(b in 2.0..1000.0_f64, c in 0.01..1.99_f64, percent in 0.01..200.0_f64) {
        let handoff = handoff(b, c * b);
        let mean = handoff.mean_gain(b * percent / 100.0).expect("a deviation");
        let all = (1..=2000).map(|k| handoff.gain(2.0 * b * f64::from(k) / 2000.0));
        let most = all.clone().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(mean.is_finite() && mean <= most.max(handoff.gain(1e-3)) + 1.0);
        prop_assert!(mean >= all.fold(f64::INFINITY, f64::min) - 1.0);
    }

    /// An immediate transmission saves between 0 and 64 s, whatever the outage.
    #[test]
    fn waits_follow_each_other(rto in 0.01..64.0_f64) {
        let waits: Vec<Wait> = waits(rto).expect("an RTO").take(30).collect();
        prop_assert_eq!(waits[0].from_s, rto);
        prop_assert!(waits.windows(2).all(|pair| pair[0].to_s == pair[1].from_s));
        for wait in waits {
            prop_assert!(wait.longest_saving_s() > 0.0 && wait.longest_saving_s() <= LONGEST_RTO_S + 1e-9);
            prop_assert!(wait.mean_saving() > 0.0 && wait.mean_saving() < 0.648);
        }
    }
}

/// Figure 5: all of T is saved at T, nothing at 2T. The mean over x is 2 ln 2 - 1 (midpoints, 10,000 of them).
#[test]
fn figure_5() {
    assert_eq!((saving_at(1.0, 2.0), saving_at(2.0, 2.0)), (1.0, 0.0));
    let steps = 10_000;
    let sum: f64 = (0..steps).map(|i| saving_at(1.0 + (f64::from(i) + 0.5) / f64::from(steps), 2.0)).sum();
    assert!((sum / f64::from(steps) - LIMIT_OF_SAVING).abs() < 1e-8);
}
