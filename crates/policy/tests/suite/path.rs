//! algorithms.md section 0 and table 3.6: derived link quantities and decisions.

use crate::common::*;
use proptest::prelude::*;
use segue_policy::{Algorithms, Link, Notice, Path, Settings};

/// Table 3.6, one line of it.
struct Row {
    old: &'static str,
    new: &'static str,
    new_rtt_ms: f64,
    old_new_rtt_ms: f64,
    bdp_new: f64,
    factor: f64,
    /// Threshold and W for N = 1, 2, 4.
    per_flows: [(f64, f64); 3],
    /// dupthresh_ho, where the bandwidth grows.
    reorder: Option<f64>,
}

#[rustfmt::skip]
const TABLE_3_6: [Row; 8] = [
    Row { old: "6400/9", new: "200/300", new_rtt_ms: 661.6, old_new_rtt_ms: 312.475, bdp_new: 11.03, factor: 1.5,
          per_flows: [(16.54, 11.03), (8.27, 5.51), (4.13, 2.76)], reorder: None },
    Row { old: "54000/2", new: "2000/50", new_rtt_ms: 106.16, old_new_rtt_ms: 52.382, bdp_new: 17.69, factor: 1.5,
          per_flows: [(26.54, 17.69), (13.27, 8.85), (6.63, 4.42)], reorder: None },
    Row { old: "11000/10", new: "700/75", new_rtt_ms: 167.6, old_new_rtt_ms: 86.548, bdp_new: 9.78, factor: 1.5,
          per_flows: [(14.67, 9.78), (7.33, 4.89), (3.67, 2.44)], reorder: None },
    Row { old: "54000/4", new: "6000/50", new_rtt_ms: 102.053, old_new_rtt_ms: 54.276, bdp_new: 51.03, factor: 1.5,
          per_flows: [(76.54, 51.03), (38.27, 25.51), (19.13, 12.76)], reorder: None },
    Row { old: "200/300", new: "6400/9", new_rtt_ms: 19.925, old_new_rtt_ms: 369.05, bdp_new: 10.63, factor: 2.0,
          per_flows: [(21.25, 10.63), (10.63, 5.31), (5.31, 2.66)], reorder: Some(32.0) },
    Row { old: "2000/50", new: "54000/2", new_rtt_ms: 4.228, old_new_rtt_ms: 58.006, bdp_new: 19.03, factor: 2.0,
          per_flows: [(38.05, 19.03), (19.03, 9.51), (9.51, 4.76)], reorder: Some(27.0) },
    Row { old: "700/75", new: "11000/10", new_rtt_ms: 21.12, old_new_rtt_ms: 102.172, bdp_new: 19.36, factor: 2.0,
          per_flows: [(38.72, 19.36), (19.36, 9.68), (9.68, 4.84)], reorder: Some(15.71) },
    Row { old: "6000/50", new: "54000/4", new_rtt_ms: 8.228, old_new_rtt_ms: 56.006, bdp_new: 37.03, factor: 2.0,
          per_flows: [(74.05, 37.03), (37.03, 18.51), (18.51, 9.26)], reorder: Some(9.0) },
];

#[test]
fn section_0_round_trip_times_of_table_3_6() {
    for row in &TABLE_3_6 {
        let path = path(row.old, row.new);
        close(path.new_rtt_ns() as f64 / 1e6, row.new_rtt_ms, 0.000_501);
        close(path.old_new_rtt_ns() as f64 / 1e6, row.old_new_rtt_ms, 0.000_501);
    }
}

#[test]
fn section_0_old_rtt_is_symmetric_to_new_rtt() {
    for row in &TABLE_3_6 {
        assert_eq!(path(row.old, row.new).old_rtt_ns(), path(row.new, row.old).new_rtt_ns());
        assert_eq!(path(row.old, row.new).bdp_old(), path(row.new, row.old).bdp_new());
    }
}

#[test]
fn section_0_bdp_of_table_3_6() {
    for row in &TABLE_3_6 {
        let (bits, unit) = path(row.old, row.new).bdp_new();
        close(bits as f64 / unit as f64, row.bdp_new, 0.005_001);
    }
}

#[test]
fn section_0_quoted_bdp_excludes_serialisation() {
    for (quoted, link) in
        [(20.0, "1600/75"), (10.0, "200/300"), (80.0, "1600/300"), (320.0, "6400/300"), (8.75, "700/75")]
    {
        close(in_packets(path("6400/9", link).bdp_quoted_new()), quoted, 1.0 / 512.0);
    }
}

#[test]
fn table_3_6_thresholds_and_windows() {
    let settings = scheme("etcp-v1");
    for row in &TABLE_3_6 {
        let path = path(row.old, row.new);
        assert_eq!(f64::from(path.factor()) / 256.0, row.factor, "{} to {}", row.old, row.new);
        for (flows, (threshold, window)) in [1, 2, 4].into_iter().zip(row.per_flows) {
            close(in_packets(path.window(&settings, flows)), window, PRINTED);
            let below = threshold.floor() as u32;
            assert!(!path.flight_exceeds(below, path.factor(), flows));
            assert!(path.flight_exceeds(below + 1, path.factor(), flows));
        }
    }
}

/// The same decisions through Fig. 1 itself, as listed and alone.
#[test]
fn table_3_6_figure_1_acts_above_the_threshold_only() {
    let settings = scheme("etcp:fig1");
    for row in &TABLE_3_6 {
        for (flows, (threshold, window)) in [1, 2, 4].into_iter().zip(row.per_flows) {
            let notice = with_flows(mbb(row.old, row.new), flows);
            let below = threshold.floor() as u32;
            assert_eq!(reduced_to(&hear(&settings, &sender(below), &notice).0), None);
            let window_set = reduced_to(&hear(&settings, &sender(below + 1), &notice).0);
            close(window_set.expect("a reduction"), window, PRINTED);
        }
    }
}

#[test]
fn table_3_6_reorder_thresholds() {
    let settings = scheme("etcp-v1");
    for row in &TABLE_3_6 {
        let (_, flow) = hear(&settings, &sender(3), &mbb(row.old, row.new));
        assert_eq!(flow.expects_reordering(), row.reorder.is_some(), "{} to {}", row.old, row.new);
        if let Some(threshold) = row.reorder {
            close(in_packets(flow.dupthresh_ho()), threshold, PRINTED);
        }
    }
}

/// 9.6: 300 to 150 ms is 2.0 by delay, 1.83 by RTT at 200 kbit/s, 1.97 at 1600.
#[test]
fn section_9_6_ratios() {
    for (rate, by_rtt) in [("200", 1.83), ("1600", 1.97)] {
        let (old, new) = (format!("{rate}/300"), format!("{rate}/150"));
        let path = path(&old, &new);
        close(path.old_rtt_ns() as f64 / path.new_rtt_ns() as f64, by_rtt, 0.005);
        assert!(path.delay_changed(&scheme("etcp"), false));
        assert!(!path.delay_changed(&set("etcp", "significant-by-delay", "off"), false));
    }
}

#[test]
fn section_9_6_two_delays_of_zero_are_no_change() {
    assert!(!path("200/0", "200/0").delay_changed(&scheme("etcp"), false));
    assert!(path("200/0", "200/1").delay_changed(&scheme("etcp"), false));
}

fn any_link() -> impl Strategy<Value = Link> {
    (1u32..=1 << 27, 0u32..=1 << 24).prop_map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us })
}

/// bw * new_rtt / 8P in wide integers: numerator and denominator in 1/1000 bit.
fn wide_bdp(link: Link) -> (u128, u128) {
    let (rate, delay) = (u128::from(link.rate_kbps), u128::from(link.delay_us));
    (2 * delay * rate + 8000 * 1540, 8000 * 1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

    #[test]
    fn flight_is_compared_without_rounding(
        old_link in any_link(), new_link in any_link(), flows in 1u32..=65535,
        factor in prop::sample::select(vec![384u32, 512]), offset in -2i64..=2,
    ) {
        let path = Path::new(&Settings::new(Algorithms::ETCP),
            &Notice { old_link, new_link, flows, disconnected: 0 });
        let (bits, unit) = wide_bdp(new_link);
        let (left, right) = (unit * 256 * u128::from(flows), bits * u128::from(factor));
        // around the threshold, where an error would show
        let flight = (right / left) as i64 + offset;
        if let Ok(flight) = u32::try_from(flight) {
            prop_assert_eq!(
                path.flight_exceeds(flight, factor, flows),
                u128::from(flight) * left > right
            );
        }
    }

    #[test]
    fn windows_are_the_nearest_256th(
        old_link in any_link(), new_link in any_link(), flows in 1u32..=65535,
    ) {
        let settings = Settings::new(Algorithms::ETCP);
        let path = Path::new(&settings, &Notice { old_link, new_link, flows, disconnected: 0 });
        let (bits, unit) = wide_bdp(new_link);
        let unit = unit * u128::from(flows);
        let nearest = ((bits * 256 + unit / 2) / unit).clamp(512, u128::from(u32::MAX));
        prop_assert_eq!(u128::from(path.window(&settings, flows)), nearest);
    }

    #[test]
    fn the_fraction_is_rate_times_round_trip_time(old_link in any_link(), new_link in any_link()) {
        let path = Path::new(&Settings::new(Algorithms::ETCP),
            &Notice { old_link, new_link, flows: 1, disconnected: 0 });
        let (bits, unit) = path.bdp_new();
        prop_assert_eq!((u128::from(bits), u128::from(unit)), wide_bdp(new_link));
        // in kbit/s * ns; the RTT is rounded down to the ns
        let product = u128::from(new_link.rate_kbps) * u128::from(path.new_rtt_ns());
        prop_assert!(product <= u128::from(bits) * 1000);
        prop_assert!(u128::from(bits) * 1000 - product < u128::from(new_link.rate_kbps));
    }
}
