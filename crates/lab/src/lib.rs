//! The laboratory: a server and a mobile, each in a network namespace, and an emulated access link between them
//! that changes under real TCP flows.
//!
//! * [`plan`], [`sender_kind`]: what is to be run. [`run`]: runs it, senders interleaved, many laboratories at once;
//!   `session`: one of them.
//! * [`access_link`]: links as the simulator knows them; [`path`]: a network of them, pure. [`emulator`]: carries real
//!   packets along a path.
//! * [`namespace`], [`netlink`], [`host`], [`cgroup`]: the hosts. [`hosts`], [`child`], [`programs`]: what runs on them.
//! * [`drive`]: several handoffs in a row; [`shell`]: an ssh session in which somebody types; `freezer`: Freeze-TCP.
//! * [`uplinks`]: what the mobile's own host sees of a handoff: carriers and the default route.
//! * [`unheard`]: loss of what the mobile says first. `gateway`: a NAT and a firewall before the server.
//! * [`ends`]: a sender that is told of handoffs, and the mobile that tells it. [`segue`]: ours. `agent`: the mobile's
//!   agent, a process that finds out by itself and tells in the place of the latter.
//! * [`cost`]: what a sender costs where there is no handoff; [`veth`], [`traffic`], [`socket_memory`].
//! * [`sweep`]: what a killed run leaves behind, removed by the next.
//! * [`measures`]: from what the emulator saw to a [`RunRecord`].

pub mod access_link;
mod agent;
pub mod bulk;
pub mod cgroup;
pub mod child;
pub mod cost;
pub mod drive;
pub mod emulator;
pub mod ends;
mod error;
mod freezer;
mod gateway;
pub mod host;
pub mod hosts;
mod interrupt;
mod kernel_counters;
pub mod laboratory;
pub mod measures;
#[cfg(test)]
mod measures_tests;
pub mod namespace;
pub mod netlink;
pub mod packet;
pub mod page;
pub mod path;
#[cfg(test)]
mod path_tests;
pub mod plan;
mod prefix;
pub mod programs;
pub mod punctual;
pub mod record;
mod run;
pub mod segue;
pub mod sender_kind;
mod session;
pub mod shell;
mod site;
pub mod socket_memory;
pub mod sweep;
pub mod traffic;
pub mod unheard;
pub mod uplinks;
pub mod veth;

pub use error::Error;
pub use laboratory::Laboratory;
pub use plan::{Kind, Plan};
pub use record::{Counts, Exactness, FlowRecord, RunRecord};
pub use run::{Progress, run, run_with};
pub use segue_words::lab::{Dead, Family, Gateway, Load, Program};
pub use sender_kind::{NoticeBy, Segue, SenderKind};

/// Time in ns since a laboratory's time zero, or a span of it.
pub type Nanos = u64;
