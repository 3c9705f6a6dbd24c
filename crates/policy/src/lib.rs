//! The decisions of a TCP sender on a handoff notice and after it.
//!
//! The decisions are written once, in the C headers of `policy/`. eBPF programs include them, and
//! they are compiled here for the simulator. This crate adds names and types, and no decision of its own.
//!
//! * [`Etcp`]: Enhanced TCP of Daniel and Kojo (A1 to A5, Figures 1 to 3);
//! * [`TcpHo`]: TCP-HO of Wu, Chan and Ananda;
//! * [`headers`]: the table of each policy's header;
//! * [`Near`]: the numbers of `near`;
//! * [`believe`], [`grant`]: how far a sender on Linux believes a notice, and what becomes of the window it grants;
//! * [`Settings`], [`TcpHoSettings`]: which algorithms, and every choice that the papers leave open;
//! * [`Path`]: the round-trip times and BDPs that a notice stands for;
//! * [`wire`]: the notice as a TCP option.
//!
//! Units: windows in 1/256 packet ([`PACKET`]), rates in kbit/s, times in us.

mod belief;
mod etcp;
mod ffi;
pub mod grant;
pub mod headers;
mod near;
mod path;
mod replay_window;
pub mod rules;
mod settings;
mod states;
mod tcp_ho;
mod types;
pub mod wire;

pub use belief::{Grant, believe, window_before};
pub use etcp::Etcp;
pub use near::Near;
pub use path::Path;
pub use rules::Rule;
pub use settings::{
    Algorithms, Kind, SCHEMES, SETTINGS, Setting, SettingError, Settings, TCP_HO_SETTINGS, TcpHoSettings,
    Variant,
};
pub use tcp_ho::TcpHo;
pub use types::{Action, Claim, Link, Notice, Out, PACKET, Sender, What};
