//! The papers' figures and claims, run and judged (docs/papers/reproduction.md).
//!
//! * [`ledger`] is what papers state, as data; [`papers`] are its files.
//! * [`points`] is what that means for the bench.
//! * [`run`] runs it, each point once, [`progress`] short routes, [`downloads`] downloads during a fast handover.
//! * [`sample`] and [`facts`] measure; [`judge`] compares by [`tolerance`]; [`verdict`] concludes.
//! * [`ns2`] is the other source of measurements; [`cache`] keeps results.
//! * [`buffers`] is the gallery's own table.

pub mod buffers;
pub mod cache;
pub mod cells;
pub mod downloads;
pub mod facts;
pub mod judge;
pub mod ledger;
pub mod ns2;
pub mod papers;
pub mod point_error;
pub mod points;
pub mod progress;
mod reach;
pub mod run;
pub mod sample;
pub mod settings;
pub mod tolerance;
pub mod verdict;
