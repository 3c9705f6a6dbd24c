//! Properties, and rules that no script can test: one program. `rules` and `packetdrill` run the scripts.

mod ack;
mod advice;
mod events;
mod freeze;
mod linux_bursts;
mod linux_claim;
mod linux_ecn;
mod linux_outage;
mod linux_properties;
mod linux_receiver;
mod linux_writes;
mod pair;
mod properties;
mod wire_roundtrip;
