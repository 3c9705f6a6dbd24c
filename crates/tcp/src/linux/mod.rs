//! TCP as Linux 6.12 has it.

pub mod cc;
