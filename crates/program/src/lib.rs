//! Which program this is: results that are kept are of use to the same program only.

/// BLAKE3 of the simulator's sources and of the versions of its libraries, in hexadecimal (`build.rs`). It is the same
/// for all that is built of them, the command line or the Python package, on any machine.
pub const PROGRAM: &str = env!("SEGUE_PROGRAM");
