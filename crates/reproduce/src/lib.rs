//! The papers' figures and claims, run and judged.

pub mod ledger;
pub mod tolerance;
