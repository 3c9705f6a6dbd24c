//! The mobile agent: it watches the host's links and tells the peers of its connections of handoffs.
//!
//! * [`event`], [`netlink`], [`wifi`]: what the kernel says of devices, addresses, routes and stations.
//! * [`links`]: which way packets take.
//! * [`estimate`]: what a link can carry.
//! * [`rounds`]: who is told what, when, in which order; [`round`]: what that came to; [`order`]: what the
//!   agent is to do; `pace`: how fast. Only [`netlink`] and [`wifi`] touch the world.
//! * `receivers`: what it does by this host's ACKs alone.
//! * `others`: what it does for connections whose peers run nothing of ours. `doubts`: which of them a handoff may have
//!   harmed unseen. `windows`: how far it bounds their windows.
//! * [`settings`]: how it is set; [`config`]: the same as a file.
//! * [`control`], [`socket`], [`status`]: how it is asked; [`lock`], [`rights`]: how it is kept in its place.
//! * [`cli`]: the words of the command line; [`log`]: what it says while it works.
//! * [`Agent`]: the loop that connects them to [`segue_kernel::mobile`].

pub mod cli;
pub mod config;
pub mod control;
mod doubts;
pub mod error;
pub mod estimate;
pub mod event;
mod freezes;
pub mod links;
pub mod lock;
pub mod log;
pub mod netlink;
pub mod order;
mod others;
mod over_old;
mod pace;
pub mod quantity;
mod receivers;
pub mod rights;
pub mod round;
pub mod rounds;
mod run;
pub mod settings;
pub mod socket;
pub mod status;
pub mod wifi;
mod windows;

pub use error::Error;
pub use others::OthersStatus;
pub use receivers::ReceiverStatus;
pub use run::Agent;
pub use settings::Config;
