//! Comparisons of schemes over many handoffs: what is asked ([`request`]), how it is run
//! ([`compare`]), and the measures of docs/bench.md ([`measure`], [`quantile`]).

pub mod compare;
pub mod measure;
pub mod quantile;
pub mod request;

pub use compare::{Comparison, GroupResult, HandoffRow};
pub use measure::Row;
pub use request::{Plan, Request, RequestError};
