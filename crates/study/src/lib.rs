//! Comparisons of schemes over many handoffs: what is asked ([`request`]), how it is run ([`compare`]), and the
//! measures of docs/reference/bench.md ([`measure`], [`quantile`]). Single handoffs packet by packet ([`explain`]) and
//! in words ([`story`]). Two comparisons side by side: [`difference`], [`verdict`]. How a comparison is shown:
//! [`presentation`]. A comparison that is looked at while it grows: [`gradual`]. A run that is ended before its end:
//! [`stop`]. When nothing comes: [`stalls`]. Real senders in a laboratory: what is asked ([`lab_plan`]) and what was
//! measured ([`live`]).

mod address;
pub mod bench;
pub mod bench_words;
pub mod compare;
pub mod decision_words;
pub mod difference;
pub mod drive;
pub mod explain;
pub mod gradual;
mod lab_conditions;
pub mod lab_drive;
pub mod lab_plan;
pub mod lab_sender;
pub mod live;
mod live_run;
pub mod measure;
mod neighbours;
pub mod numbers;
pub mod parameter;
pub mod planned;
pub mod presentation;
pub mod quantile;
pub mod request;
mod request_error;
pub mod router_words;
mod series;
mod soft;
pub mod specification;
pub mod stalls;
pub mod stop;
pub mod story;
pub mod tcp_rules;
pub mod times;
mod traffic;
pub mod verdict;
pub mod warnings;

pub use compare::{Comparison, GroupResult};
pub use difference::Difference;
pub use gradual::Gradual;
pub use lab_drive::{DriveRow, DriveRun, LabDrive};
pub use lab_plan::LabPlan;
pub use live::{LiveComparison, LiveGroup, LiveRow, LiveRun, LiveRuns, Moment};
pub use measure::{HandoffRow, Row};
pub use parameter::Parameter;
pub use presentation::Presentation;
pub use request::{Plan, Request, RequestError};
pub use times::Times;
