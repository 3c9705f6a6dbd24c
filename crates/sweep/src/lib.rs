//! Sweeps: very many handoffs, one row each, computed in parts that any thread, process or machine may take.
//!
//! A [`Plan`] is what a file asks for ([`plan`]), split by warm-up; [`warm_up`] computes one part. [`run`] takes all
//! cores over the parts. A [`Store`] keeps those that are done and makes the file of them ([`store`]), [`shard`] is one
//! file's share and [`merge`] puts shares together. [`piece`] is the file of any of them. The file is the same to the
//! byte whoever computed a part, wherever and in whatever order.

pub mod merge;
pub mod piece;
pub mod plan;
pub mod run;
pub mod shard;
pub mod store;
pub mod warm_up;

pub use merge::merge;
pub use piece::PieceError;
pub use plan::Plan;
pub use run::run;
pub use shard::Shard;
pub use store::{Store, StoreError};

/// Version of the program that makes files. Those of another version, or of another
/// [program](segue_program::PROGRAM) of the same version, are no parts of ours.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
