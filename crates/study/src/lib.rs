//! Comparisons of schemes over many handoffs: what is asked ([`request`]), how it is run
//! ([`compare`]), the measures of docs/bench.md ([`measure`], [`quantile`]), and single handoffs packet by
//! packet ([`explain`]) and in words ([`story`]). Two comparisons side by side: [`difference`], [`verdict`].
//! A comparison written down as a file: [`scenario`], and how it is shown: [`presentation`].

pub mod compare;
pub mod decision_words;
pub mod difference;
pub mod drive;
pub mod drive_file;
pub mod explain;
pub mod measure;
pub mod numbers;
pub mod parameter;
pub mod planned;
pub mod presentation;
pub mod quantile;
pub mod request;
pub mod scenario;
pub mod story;
pub mod times;
pub mod verdict;

pub use compare::{Comparison, GroupResult, HandoffRow};
pub use difference::Difference;
pub use measure::Row;
pub use parameter::Parameter;
pub use presentation::Presentation;
pub use request::{Plan, Request, RequestError};
pub use scenario::{ScenarioError, ScenarioFile};
pub use times::Times;
