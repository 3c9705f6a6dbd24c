//! The bench, its schemes, routers, drives and records.

#[path = "../support/mod.rs"]
mod support;

mod abuse;
mod after_link_up;
mod alone;
mod bench;
mod bound;
mod buffers;
mod cells;
mod drive;
mod fmip;
mod forks;
mod freeze;
mod hn;
mod links;
mod measured;
mod mobile_traffic;
mod neighbours;
mod new_address;
mod notice_error;
mod notices;
mod properties;
mod reminders;
mod rivals;
mod schemes;
mod series;
mod spaced;
mod stamps;
mod trace;
mod traffic;
mod two_links;
