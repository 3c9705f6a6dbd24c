//! The rules by hand, and properties: one program. `rules` runs the scripts.

mod alone;
mod backoff_reset;
mod belief;
mod careful_resume;
mod hn;
mod hn_option;
mod leocc;
mod line;
mod mobile;
mod near;
mod on_linux;
mod on_paper;
mod phas;
mod phas_losses;
mod quic_reset;
mod satcp;
mod tcp_ho;
