//! Which rows of two comparisons belong together, and what counts as a difference.

use proptest::prelude::*;
use segue_study::measure::{AgainstFirst, MEASURES, NewLink, OverBound, Quartiles, QueueDelay};
use segue_study::verdict::{Measured, Verdict, judge};
use segue_study::{Difference, Row};

/// 200 handoffs of 2 s or so: the notch of the median is 1.57 * 0.4 / sqrt(200) = 0.0444 s.
fn row() -> Row {
    Row {
        old: "6400kbit/9ms".into(),
        new: "200kbit/300ms".into(),
        kind: "mbb".into(),
        disconnect_s: 0.0,
        flows: 1,
        scheme: "sack".into(),
        stack: "ns2-sack1".into(),
        notice: "instant".into(),
        definition: "after-highest".into(),
        seed: 1,
        seeds: 1,
        settings: Default::default(),
        packets: 100,
        points: 200,
        incomplete: 0,
        transfer_s: Quartiles { q1: Some(1.8), median: Some(2.0), q3: Some(2.2) },
        bound_s: Some(1.0),
        over_bound: OverBound { median: Some(2.0), p90: Some(3.0) },
        bound_told_s: Some(1.0),
        over_bound_told: OverBound { median: Some(2.0), p90: Some(3.0) },
        timeouts: 1.0,
        spurious_timeouts: 0.0,
        spurious_timeout_fraction: 0.0,
        timeouts_in_disconnection: 0.0,
        fast_retransmits: 0.5,
        drops: 20.0,
        lost_in_disconnection: 0.0,
        retransmissions: 10.0,
        needless_retransmissions: 2.0,
        neighbours: None,
        handoff: None,
        new_link_s: NewLink {
            useful: 1.0,
            needless: 0.2,
            idle_path: 0.3,
            idle_window: 0.3,
            idle_timer: 0.2,
            idle_other: 0.0,
            neighbours: 0.0,
        },
        queue_delay_s: QueueDelay { median: Some(0.1), p95: Some(0.4) },
        jain: 1.0,
        against_first: AgainstFirst { ratio_median: Some(1.0), better: 0.0, worse: 0.0 },
        ..Row::default()
    }
}

fn with(change: impl FnOnce(&mut Row)) -> Row {
    let mut row = row();
    change(&mut row);
    row
}

fn median(median: Option<f64>) -> Row {
    with(|r| r.transfer_s.median = median)
}

fn measured(a: &Row, b: &Row, name: &str) -> Measured {
    judge(a, b).into_iter().find(|m| m.measure == name).expect("a measure")
}

fn verdict(a: &Row, b: &Row, name: &str) -> Verdict {
    measured(a, b, name).verdict
}

#[test]
fn medians_differ_where_notches_do_not_overlap() {
    let name = "transfer_s.median";
    assert_eq!(verdict(&row(), &row(), name), Verdict::Equal);
    // Two notches of 0.0444 s.
    assert_eq!(verdict(&row(), &median(Some(2.088)), name), Verdict::Within);
    assert_eq!(verdict(&row(), &median(Some(2.089)), name), Verdict::Beyond);
    assert_eq!(verdict(&row(), &median(Some(1.911)), name), Verdict::Beyond);
    let seen = measured(&row(), &median(Some(2.089)), name);
    assert!((seen.noise.unwrap() - 2.0 * 1.57 * 0.4 / 200f64.sqrt()).abs() < 1e-12);
    assert!((seen.ratio.unwrap() - 1.0445).abs() < 1e-12);
}

#[test]
fn too_few_handoffs_leave_noise_unknown() {
    for (points, expected) in [(1, Verdict::Unknown), (4, Verdict::Unknown), (5, Verdict::Beyond)] {
        let few = with(|r| {
            r.points = points;
            r.transfer_s.median = Some(9.0);
            r.timeouts = 9.0;
            r.spurious_timeout_fraction = 1.0;
        });
        for name in ["transfer_s.median", "timeouts", "spurious_timeout_fraction"] {
            assert_eq!(verdict(&few, &row(), name), expected, "{points} {name}");
            assert_eq!(verdict(&row(), &few, name), expected, "{points} {name}");
        }
        assert_eq!(verdict(&few, &few, "timeouts"), Verdict::Equal, "equal is equal without noise");
    }
}

/// An infinite quartile leaves no notch; then the share of incomplete handoffs decides.
#[test]
fn infinite_medians_compare_as_infinite() {
    let name = "transfer_s.median";
    let stuck = |incomplete, median| {
        with(|r| {
            r.incomplete = incomplete;
            r.transfer_s = Quartiles { q1: Some(1.8), median, q3: None };
        })
    };
    assert_eq!(verdict(&stuck(150, None), &stuck(120, None), name), Verdict::Equal);
    let lost = measured(&row(), &stuck(120, None), name);
    assert_eq!((lost.verdict, lost.ratio, lost.noise), (Verdict::Beyond, None, None));
    let back = measured(&stuck(120, None), &row(), name);
    assert_eq!((back.verdict, back.ratio), (Verdict::Beyond, Some(0.0)));
    // 99 and 101 of 200 are much the same, whatever that makes of the median.
    assert_eq!(verdict(&stuck(99, Some(5.0)), &stuck(101, None), name), Verdict::Unknown);
    // More are incomplete, yet the median falls: the share says nothing for that.
    assert_eq!(verdict(&stuck(60, Some(5.0)), &stuck(90, Some(2.0)), name), Verdict::Unknown);
}

#[test]
fn counts_need_weight_and_more_than_bursts() {
    let drops = |drops| with(|r| r.drops = drops);
    // sqrt(4 * 20 / 100) * 1.96 = 1.753 per handoff.
    assert_eq!(verdict(&drops(20.0), &drops(21.7), "drops"), Verdict::Within);
    assert_eq!(verdict(&drops(20.0), &drops(22.0), "drops"), Verdict::Beyond);
    // With many handoffs the error is small, and 5 % of the larger is asked for.
    let many = |drops| with(|r| (r.points, r.drops) = (1_000_000, drops));
    assert_eq!(verdict(&many(20.0), &many(21.0), "drops"), Verdict::Within);
    assert_eq!(verdict(&many(20.0), &many(21.1), "drops"), Verdict::Beyond);
    // A few events among 200 handoffs against none.
    assert_eq!(verdict(&drops(0.0), &drops(0.03), "drops"), Verdict::Within);
    let rise = measured(&drops(0.0), &drops(0.2), "drops");
    assert_eq!((rise.verdict, rise.ratio), (Verdict::Beyond, None));
    assert!(rise.effect < 0.2, "no infinite effect: {}", rise.effect);
    assert_eq!(measured(&drops(0.0), &drops(0.0), "drops").ratio, Some(1.0));
}

#[test]
fn shares_have_their_binomial_error() {
    let share = |share| with(|r| r.spurious_timeout_fraction = share);
    let name = "spurious_timeout_fraction";
    // 1.96 * sqrt(0.545 * 0.455 * 2 / 200) = 0.0976.
    assert_eq!(verdict(&share(0.5), &share(0.59), name), Verdict::Within);
    assert_eq!(verdict(&share(0.5), &share(0.60), name), Verdict::Beyond);
    assert_eq!(verdict(&share(0.0), &share(0.005), name), Verdict::Within);
    assert_eq!(verdict(&share(0.0), &share(1.0), name), Verdict::Beyond);
}

#[test]
fn measures_without_a_criterion_claim_nothing() {
    let b = with(|r| (r.jain, r.over_bound.p90, r.new_link_s.idle_timer) = (0.25, None, 100.0));
    for name in ["jain", "over_bound.p90", "new_link_s.idle_timer"] {
        let seen = measured(&row(), &b, name);
        assert_eq!((seen.verdict, seen.noise), (Verdict::Unknown, None), "{name}");
    }
}

#[test]
fn beyond_noise_comes_first_then_the_larger_effect_then_transfer_time() {
    let b = with(|r| {
        r.transfer_s.median = Some(4.0);
        r.timeouts = 3.0;
        r.drops = 41.0;
        r.jain = 0.01;
        r.retransmissions = 10.1;
    });
    let difference = Difference::new(&[row()], &[b]);
    let names: Vec<&str> = difference.ranked().iter().map(|(_, m)| m.measure).take(5).collect();
    // Twice the time, and as much on the scale of counts: (41 + 1) / (20 + 1), (3 + 1) / (1 + 1).
    assert_eq!(names, ["transfer_s.median", "timeouts", "drops", "jain", "retransmissions"]);
    assert_eq!(difference.count(Verdict::Equal), 31 - 5);
}

#[test]
fn a_row_finds_its_counterpart_although_the_question_changed() {
    let a = [with(|r| r.scheme = "etcp".into()), row()];
    let b = [
        with(|r| (r.stack, r.seed, r.points) = ("rfc".into(), 2, 100)),
        with(|r| r.flows = 4),
        with(|r| {
            r.scheme = "etcp".into();
            r.settings.insert("a3-cwnd".into(), "2".into());
        }),
    ];
    let difference = Difference::new(&a, &b);
    let changed: Vec<Vec<&str>> =
        difference.pairs.iter().map(|p| p.question.iter().map(|c| c.field).collect()).collect();
    assert_eq!(changed, [vec!["settings"], vec!["stack", "seed", "points"]]);
    assert_eq!(
        (difference.pairs[0].a.scheme.as_str(), difference.pairs[0].b.scheme.as_str()),
        ("etcp", "etcp")
    );
    assert_eq!(difference.pairs[0].question[0].b, "a3-cwnd=2");
    assert!(difference.only_in_a.is_empty());
    assert_eq!(difference.only_in_b.iter().map(|r| r.flows).collect::<Vec<_>>(), [4]);
    assert!(!difference.identical());
}

#[test]
fn no_other_links_kind_flows_or_scheme_will_do() {
    let others: [fn(&mut Row); 6] = [
        |r| r.old = "wlan".into(),
        |r| r.new = "wlan".into(),
        |r| r.kind = "bbm".into(),
        |r| r.disconnect_s = 1.0,
        |r| r.flows = 2,
        |r| r.scheme = "etcp".into(),
    ];
    for change in others {
        let difference = Difference::new(&[row()], &[with(change)]);
        assert!(difference.pairs.is_empty());
        assert_eq!((difference.only_in_a.len(), difference.only_in_b.len()), (1, 1));
    }
}

/// Files put together by hand: further fields decide, equal rows go in their order, and where
/// several would do equally well nothing is guessed.
#[test]
fn several_rows_of_one_handoff_and_scheme() {
    let of = |seed, stack: &str| with(|r| (r.seed, r.stack) = (seed, stack.into()));
    let seeds = |d: &Difference| d.pairs.iter().map(|p| (p.a.seed, p.b.seed)).collect::<Vec<_>>();
    let by_seed = Difference::new(&[of(1, "x"), of(2, "x")], &[of(2, "y"), of(1, "y")]);
    assert_eq!(seeds(&by_seed), [(1, 1), (2, 2)]);
    let one_left = Difference::new(&[of(1, "x"), of(2, "x")], &[of(1, "x"), of(3, "x")]);
    assert_eq!(seeds(&one_left), [(1, 1), (2, 3)]);
    let guess = Difference::new(&[of(1, "x"), of(2, "x")], &[of(3, "x"), of(4, "x")]);
    assert_eq!((guess.pairs.len(), guess.only_in_a.len(), guess.only_in_b.len()), (0, 2, 2));
    let twice = |first, second| [with(|r| r.timeouts = first), with(|r| r.timeouts = second)];
    let in_order = Difference::new(&twice(1.0, 2.0), &twice(1.0, 2.0));
    assert!(in_order.identical());
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..50.0f64, Just(f64::MAX), Just(f64::MIN_POSITIVE)]
}

fn time() -> impl Strategy<Value = Option<f64>> {
    prop::option::weighted(0.8, value())
}

prop_compose! {
    fn any_row()(
        flows in 1..3usize,
        scheme in prop_oneof!["sack", "etcp"],
        seed in 1..4u64,
        points in prop_oneof![Just(0usize), Just(1), Just(5), Just(200)],
        incomplete in 0..300usize,
        (q1, median, q3) in (time(), time(), time()),
        (timeouts, drops, fraction, useful) in (value(), value(), value(), value()),
    ) -> Row {
        with(|r| {
            (r.flows, r.scheme, r.seed, r.points, r.incomplete) = (flows, scheme, seed, points, incomplete);
            r.transfer_s = Quartiles { q1, median, q3 };
            (r.timeouts, r.drops, r.spurious_timeout_fraction) = (timeouts, drops, fraction);
            r.new_link_s.useful = useful;
        })
    }
}

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(any_row(), 1..8)
}

proptest! {
    #[test]
    fn a_result_does_not_differ_from_itself(rows in any_rows()) {
        let difference = Difference::new(&rows, &rows);
        prop_assert!(difference.identical());
        prop_assert_eq!(difference.count(Verdict::Equal), MEASURES.len() * rows.len());
    }

    /// Nothing is lost, numbers stay numbers, and the other way round everything is inverted.
    #[test]
    fn the_other_way_round_ratios_are_inverted_and_verdicts_kept(a in any_rows(), b in any_rows()) {
        let (there, back) = (Difference::new(&a, &b), Difference::new(&b, &a));
        prop_assert_eq!(there.pairs.len() + there.only_in_a.len(), a.len());
        prop_assert_eq!(there.pairs.len() + there.only_in_b.len(), b.len());
        prop_assert_eq!(&there.only_in_a, &back.only_in_b);
        prop_assert_eq!(&there.only_in_b, &back.only_in_a);
        prop_assert_eq!(there.pairs.len(), back.pairs.len());
        for pair in &there.pairs {
            let same = |other: &&segue_study::difference::Pair| other.a == pair.b && other.b == pair.a;
            let other = back.pairs.iter().find(same).expect("the same pair");
            for (one, two) in pair.measures.iter().zip(&other.measures) {
                prop_assert_eq!(one.verdict, two.verdict, "{}", one.measure);
                prop_assert!(one.noise.is_none_or(f64::is_finite) && !one.effect.is_nan());
                match (one.ratio, two.ratio) {
                    (Some(x), Some(y)) if x != 0.0 && y != 0.0 => {
                        prop_assert!((x.ln() + y.ln()).abs() < 1e-6, "{} {x} {y}", one.measure);
                    }
                    // An infinite ratio, and ratios too small or too large for a number.
                    (Some(x), None) | (None, Some(x)) => prop_assert!(x < 1e-300),
                    (x, y) => prop_assert!(x.is_none() || y.is_none() || (x, y) == (Some(0.0), Some(0.0))),
                }
            }
        }
    }
}
