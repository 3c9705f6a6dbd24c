//! Sans-IO TCP: a bulk [`Sender`] and a [`Receiver`], driven by `on_segment`, `on_timer` and
//! `poll_transmit` with the time passed in. No clocks, links, threads or handoffs here.
//!
//! Sequence numbers count packets, as in the papers and in ns-2. Packet 0 is the SYN, packet `k > 0` carries the k-th
//! full segment of the stream. [`wire`] maps them to bytes. Stacks differ in data, a [`StackProfile`]: loss recovery
//! ([`rules`]), window ([`congestion`]), timers ([`rto`]), acknowledgement policy, options. Somebody who knows more
//! than TCP does, such as a handoff scheme, may advise a sender through the [`Advisor`] trait.

pub mod advice;
mod any;
pub mod congestion;
mod core;
pub mod encode;
pub mod linux;
pub mod profile;
mod ranges;
pub mod receiver;
mod recovery;
pub mod rto;
pub mod rules;
pub mod segment;
mod sender;
pub mod wire;

pub use advice::{Advice, Advisor, View};
pub use any::{AnyReceiver, AnySender};
pub use profile::StackProfile;
pub use receiver::Receiver;
pub use segment::{Detail, SackList, Segment};
pub use sender::{Sender, Transmit};

/// Time: whole nanoseconds.
pub type Nanos = u64;

/// A window in 1/256 packet.
pub type Window256 = u32;
