//! Handoff notices and handoff schemes: what a sender does when the mobile's access link changes.
//!
//! A scheme is one file here, and one header in `policy/` if a kernel sender is to run it, too. One line of
//! [`registry`] registers it. Schemes know nothing of scenarios, files or screens.

pub mod alone;
pub mod backoff_reset;
pub mod buffered;
pub mod careful_resume;
pub mod claim;
mod clock;
pub mod decision;
pub mod etcp;
pub mod fmipv6;
pub mod freeze;
mod group;
pub mod header;
pub mod hn;
pub mod hn_option;
mod kernel;
pub mod leocc;
pub mod mobile;
pub mod near;
pub mod notice;
mod on_linux;
pub mod phas;
pub mod quic_reset;
pub mod registry;
pub mod regular;
pub mod rlci;
pub mod router;
pub mod rtt_jump;
pub mod satcp;
mod schedule;
pub mod scheme;
pub mod tcp_ho;

pub use alone::Act;
pub use clock::Clock;
pub use decision::{Decision, LoggedScheme, Occasion};
pub use group::Group;
pub use hn_option::{Announcement, Encoding, Start};
pub use mobile::{AloneRule, Lead, MobileRule, StartRule, WindowRule};
pub use notice::{Announcer, Listener, News, Notice};
pub use phas::Phas;
pub use registry::Scheme;
pub use router::{Holder, RouterRule};
pub use scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo};
pub use segue_mobile::notices::Pace;
pub use segue_policy::{Link, Rule};
