//! One download to a mobile node that hands over by FMIPv6 (Espi and others 2010; algorithms.md, 5; RFC 5568):
//!
//! ```text
//!                                 +--e-- PAR --c--+
//!   CN --a-- R --b-- HA ----------+       |t      +-- MN        a, b, e, t: Gigabit Ethernet, Gamma-distributed delays
//!                                 +--e-- NAR --d--+             c, d: 802.11g
//! ```
//!
//! Data for the MN goes through its home agent, which sends to the care-of address that it knows. That is PAR until a
//! Binding Update has come from the new link. Signalling is packets with the delays and losses of their links; it is of
//! [`segue_handoff::fmipv6`]. Encapsulation is not charged, and from the new link what the MN sends goes to HA
//! directly.

mod download;
mod network;
mod nodes;
pub mod record;
pub mod run;
mod settings;

pub use record::{DownloadRecord, Host, SenderState, Signalled};
pub use run::{Download, Loss};
pub use settings::{DOWNLOAD_SETTINGS, DownloadSetting};
