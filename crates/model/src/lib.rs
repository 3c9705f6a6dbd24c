//! The papers' analytic models, one file per paper. They compute; they know nothing of the simulator.

pub mod lcfd;
pub mod tcp_ho;
