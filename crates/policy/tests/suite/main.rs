//! The policies against what their papers state.

#[path = "../common/mod.rs"]
mod common;

mod etcp_000;
mod etcp_001;
mod events;
mod grant;
mod headers;
mod knobs;
mod ledger;
mod near;
mod near_flow;
mod on_linux;
mod path;
mod rules;
mod tcp_ho;
mod vectors;
mod wire;
mod wire_tcp_ho;
