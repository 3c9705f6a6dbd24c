//! The stationary distribution of a Markov chain: pi P = pi, its sum is 1.
//!
//! Gaussian elimination as W. K. Grassmann, M. I. Taksar, D. P. Heyman, "Regenerative analysis and steady state
//! distributions for Markov chains", Operations Research 33(5), 1985. State by state, the chain is watched only while
//! it is in one of the others. Nothing is ever subtracted, so that no digits are lost however seldom states are left.

/// Shares of time in each state; `rows[i][j]` is the probability of state j after state i. `None` if more than one set
/// of states is closed, so that the shares depend on where the chain starts. `None` also if no f64 can tell the chain
/// from such a one.
pub(crate) fn stationary(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let states = rows.len();
    let mut order: Vec<usize> = (0..states).collect();
    for last in (1..states).rev() {
        // A state that leads to no other one is all that is left of a closed set: it cannot be taken out.
        let mut leaving = (0..=last).rev().map(|state| (state, leaving(&rows[state][..=last], state)));
        let (out, leaves) = leaving.find(|&(_, leaves)| leaves > 0.0)?;
        order.swap(out, last);
        rows.swap(out, last);
        rows.iter_mut().for_each(|row| row.swap(out, last));
        let (left, taken) = rows.split_at_mut(last);
        for row in left {
            // Visits to the state per step from this one. From there the chain goes on to the others.
            row[last] /= leaves;
            let visits = row[last];
            if visits > 0.0 {
                row[..last].iter_mut().zip(&taken[0]).for_each(|(to, onward)| *to += visits * onward);
            }
        }
    }
    let mut shares = vec![0.0; states];
    let mut visits = vec![1.0; states];
    for state in 1..states {
        visits[state] = (0..state).map(|before| visits[before] * rows[before][state]).sum();
    }
    let sum: f64 = visits.iter().sum();
    order.into_iter().zip(visits).for_each(|(state, visits)| shares[state] = visits / sum);
    sum.is_finite().then_some(shares)
}

/// Probability of another state after this one.
fn leaving(row: &[f64], state: usize) -> f64 {
    row[..state].iter().chain(&row[state + 1..]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found<const N: usize>(rows: [[f64; N]; N]) -> Option<Vec<f64>> {
        stationary(rows.map(Vec::from).into())
    }

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-15)
    }

    /// By hand: balance across each cut. Between 0 and 1, pi0/2 = pi1/4; between 1 and 2, pi1/4 = pi2/8.
    #[test]
    fn a_walk_on_a_line() {
        let shares = found([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.125, 0.875]]).unwrap();
        assert!(near(&shares, &[1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]), "{shares:?}");
    }

    /// A cycle has a distribution though it never settles.
    #[test]
    fn a_cycle() {
        assert_eq!(found([[0.0, 1.0], [1.0, 0.0]]), Some(vec![0.5, 0.5]));
    }

    /// Wherever the one closed set lies among the states, those that lead into it have no share.
    #[test]
    fn states_left_for_good_have_no_share() {
        assert_eq!(found([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]), Some(vec![1.0, 0.0, 0.0]));
        assert_eq!(found([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]), Some(vec![0.0, 1.0, 0.0]));
        assert_eq!(found([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), Some(vec![0.0, 0.5, 0.5]));
    }

    #[test]
    fn two_closed_sets_have_no_one_distribution() {
        assert_eq!(found([[1.0, 0.0], [0.0, 1.0]]), None);
        assert_eq!(found([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), None);
        assert_eq!(
            found([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]),
            None
        );
    }

    /// A solver that subtracts 1 - 1e-20 from 1 has nothing left. By balance, pi0 a = pi1 b: 1 to 3.
    #[test]
    fn states_that_are_hardly_ever_left() {
        let shares = found([[1.0, 3e-20], [1e-20, 1.0]]).unwrap();
        assert!(near(&shares, &[0.25, 0.75]), "{shares:?}");
    }

    /// 1e310 times as often in one state as in the other is infinitely more often to f64.
    #[test]
    fn what_f64_cannot_tell_from_a_closed_set_is_one() {
        assert_eq!(found([[0.5, 0.5], [1e-310, 1.0]]), None);
    }

    #[test]
    fn one_state() {
        assert_eq!(found([[1.0]]), Some(vec![1.0]));
    }

    /// Rows of up to `most` states; many entries are 0, but each state may lead to the first one.
    fn chain(most: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let weight = || prop_oneof![Just(0.0), 0.0..1.0_f64, 0.0..1e-9_f64];
        (1..=most).prop_flat_map(move |states| {
            let row =
                (1e-6..1.0_f64, prop::collection::vec(weight(), states - 1)).prop_map(|(first, others)| {
                    let sum = first + others.iter().sum::<f64>();
                    std::iter::once(first).chain(others).map(|weight| weight / sum).collect()
                });
            prop::collection::vec(row, states)
        })
    }

    proptest! {
        // A chain of sixty states takes a while.
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

        #[test]
        fn the_distribution_is_one_and_the_chain_leaves_it_as_it_is(rows in chain(60)) {
            let shares = stationary(rows.clone()).unwrap();
            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (state, share) in shares.iter().enumerate() {
                let next: f64 = shares.iter().zip(&rows).map(|(share, row)| share * row[state]).sum();
                prop_assert!((next - share).abs() < 1e-12, "state {state}: {share}, then {next}");
            }
        }

        /// The states' numbers do not matter.
        #[test]
        fn another_order_gives_the_same_shares(rows in chain(20)) {
            let turned = rows.iter().rev().map(|row| row.iter().rev().copied().collect()).collect();
            let (shares, mut other) = (stationary(rows).unwrap(), stationary(turned).unwrap());
            other.reverse();
            for (a, b) in shares.iter().zip(&other) {
                prop_assert!((a - b).abs() < 1e-12, "{shares:?} {other:?}");
            }
        }
    }
}
