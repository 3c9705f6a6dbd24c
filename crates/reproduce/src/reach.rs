//! Whether any sender could make a claim true: the bound leaves no more gain than this beside ns-2's regular TCP.
//!
//! No transfer is shorter than its bound (docs/reference/bench.md). So no median, quartile or mean of transfer times is
//! below that of the bounds, and no reduction is larger than that of a sender that meets the bound in each handoff.

use crate::judge::{REGULAR, Source, agreed, least_accepted, reduction};
use crate::ledger::{Claim, Defaults, Expect, Measure, Stat};

/// Whether a gain that the claim states over regular TCP exceeds what the bound leaves beside ns-2's. `ours` has the
/// bounds, `ns2` the times; where either has none, nothing is known and the answer is no.
pub fn beyond_the_bound(claim: &Claim, defaults: &Defaults, ours: &dyn Source, ns2: &dyn Source) -> bool {
    if claim.points.as_ref().is_some_and(|points| points.single(defaults).is_some()) {
        return false;
    }
    let points = claim.all_points(defaults);
    claim.expect.iter().any(|expect| {
        let Expect::Reduction { against, of: None | Some(Measure::Transfer), stat, at, is, .. } = expect
        else {
            return false;
        };
        let regular = defaults.schemes.get(against).is_some_and(|own| own == REGULAR);
        if points.is_empty() || !regular || matches!(stat, Stat::Iqr | Stat::Share) {
            return false;
        }
        let most = |point| {
            let bound = ours.sample(point, REGULAR)?.number(Measure::Bound, *stat)?;
            let time = ns2.sample(point, REGULAR)?.number(Measure::Transfer, *stat)?;
            Some(reduction(bound, time))
        };
        let most: Option<Vec<f64>> = points.iter().map(most).collect();
        most.is_some_and(|most| !agreed(*at, &most, |value| value >= least_accepted(is)))
    })
}
