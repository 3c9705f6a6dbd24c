//! The standard bench: two access links, TCP flows, one handoff; runs, forks and their records.
//!
//! [`access`] reads what the user calls a link, [`bench`] builds the network, [`nodes`] are its hosts and routers.
//! [`handoff_run`] forks a warm network at a handoff and runs it with one scheme. [`router_settings`] gives access
//! routers ([`access_router`]) buffers. [`record`] is what a run leaves behind, [`bound`] what no run can beat.
//! [`trace`] is a run packet by packet, [`after_link_up`] what a laboratory measures of it.
//!
//! [`speed`] holds the networks of the speed measurements. [`drive`] is a mobile that travels: many handoffs in a row,
//! [`fmip`] one download to a mobile node that hands over by FMIPv6.

pub mod access;
pub mod access_router;
pub mod after_link_up;
mod applications;
pub mod bench;
mod bit_set;
pub mod bound;
pub mod clock_phase;
#[cfg(test)]
mod conservation;
pub mod delays;
pub mod drive;
pub mod fmip;
pub mod handoff_run;
mod host_observer;
mod hosts;
mod lead;
mod link_time;
pub mod neighbours;
pub mod nodes;
pub mod notice_error;
mod observer;
pub mod packet;
mod random;
pub mod record;
mod router;
pub mod router_settings;
mod routers;
mod soft;
pub mod speed;
pub mod trace;
pub mod traffic;
mod two_ways;
mod wheel;
mod words;

pub use access::{AccessLink, LinkError};
pub use after_link_up::AfterLinkUp;
pub use bench::Experiment;
pub use handoff_run::{Fork, Handoff, Series, WarmRun, check_scheme};
pub use neighbours::Neighbours;
pub use notice_error::NoticeError;
pub use record::RunRecord;
pub use router_settings::{Routers, Tunnel};
pub use segue_netsim::{Nanos, SECOND};
pub use traffic::Traffic;
pub use words::{
    Address, Definition, Kind, KindWord, NoticeMode, NoticeWord, Overlap, SimulatedKind, SoftWord,
};
