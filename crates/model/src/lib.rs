//! The papers' analytic models, one file per paper. They compute; they know nothing of the simulator.

pub mod lcfd;
mod stationary;
pub mod tcp_ho;
