//! Whether any sender could make a claim true: the bound leaves no more gain than this beside ns-2's regular TCP.
//!
//! No transfer is shorter than its bound (docs/reference/bounds.md). So no median, quartile or mean of transfer times is
//! below that of the bounds. No gain is larger than that of a sender that meets the bound in each handoff.

use crate::judge::{REGULAR, Scale, Source, agreed, least_accepted, quotient, reduction};
use crate::ledger::{At, Bounds, Claim, Defaults, Expect, Measure, Stat};

/// A gain over regular TCP, as a claim states it: by which number of the transfer times, at which points, of what size.
struct Gain<'a> {
    stat: Stat,
    at: At,
    is: &'a Bounds,
    scale: Scale,
    /// From the time of another sender and that of regular TCP.
    of: fn(f64, f64) -> f64,
}

/// The gain that an expectation is about, if it is one.
fn gain<'a>(expect: &'a Expect, defaults: &Defaults) -> Option<Gain<'a>> {
    let regular = |scheme: &str| defaults.schemes.get(scheme).is_some_and(|own| own == REGULAR);
    let transfer = |of: Option<Measure>| of.is_none_or(|of| of == Measure::Transfer);
    match expect {
        Expect::Reduction { against, of, stat, at, is, .. } if regular(against) && transfer(*of) => {
            Some(Gain { stat: *stat, at: *at, is, scale: Scale::Percent, of: reduction })
        }
        Expect::Ratio { over, under, at, is }
            if regular(&over.scheme)
                && !regular(&under.scheme)
                && over.stat == under.stat
                && transfer(over.of)
                && transfer(under.of) =>
        {
            let of = |own, regular| quotient(regular, own);
            Some(Gain { stat: over.stat, at: *at, is, scale: Scale::Plain, of })
        }
        _ => None,
    }
    .filter(|gain| !matches!(gain.stat, Stat::Iqr | Stat::Share))
}

/// Whether a gain that the claim states over regular TCP exceeds what the bound leaves beside ns-2's. `ours` has the
/// bounds, `ns2` the times; where either has none, nothing is known and the answer is no.
pub fn beyond_the_bound(claim: &Claim, defaults: &Defaults, ours: &dyn Source, ns2: &dyn Source) -> bool {
    let points = claim.all_points(defaults);
    if points.is_empty() || claim.points.as_ref().is_some_and(|points| points.single(defaults).is_some()) {
        return false;
    }
    claim.expect.iter().filter_map(|expect| gain(expect, defaults)).any(|gain| {
        let most = |point| {
            let bound = ours.sample(point, REGULAR)?.number(Measure::Bound, gain.stat)?;
            let time = ns2.sample(point, REGULAR)?.number(Measure::Transfer, gain.stat)?;
            Some((gain.of)(bound, time))
        };
        let most: Option<Vec<f64>> = points.iter().map(most).collect();
        most.is_some_and(|most| !agreed(gain.at, &most, |value| value >= least_accepted(gain.is, gain.scale)))
    })
}
