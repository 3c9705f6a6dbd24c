//! How near is near enough: the table that every verdict uses, fixed before the first run.
//!
//! docs/papers/reproduction.md gives each entry its reason. A claim carries a tolerance of its own only where the text
//! states one, or where the ledger took one over with the claim.

/// "About x %": points of a percentage.
pub const ABOUT_POINTS: f64 = 10.0;
/// "35 to 65 %": what each end may be off. The papers print percentages in steps of 5, so an end is known to
/// half of that.
pub const RANGE_POINTS: f64 = 2.5;
/// "About x" of anything but a percentage: relative.
pub const ABOUT_RELATIVE: f64 = 0.25;
/// "a is lower than b", "no higher": what a may be above b, relative.
pub const SLACK: f64 = 0.02;
/// "Alike", "no difference", members of a tie: percent, unless the claim says more exactly.
pub const ALIKE_PERCENT: f64 = 10.0;
/// "Flat": largest over smallest, at most.
pub const FLAT: f64 = 1.25;
/// "Grows", "falls": Spearman's rank correlation with the order of the points, at least.
pub const SPEARMAN: f64 = 0.8;
/// "Does not depend on": rank correlation between the orders, at least.
pub const SAME_ORDER: f64 = 0.8;
/// Times of events are printed with one decimal: half of it, and a tick of the clock (10 ms); s.
pub const EVENT: f64 = 0.06;
