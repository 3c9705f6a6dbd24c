//! Octets of our TCP options, and the replay window of those that a connection accepts (`policy/notice.h`).

/// Octets of a report.
pub const REPORT_LENGTH: usize = 12;
/// Octets of a capability.
pub const CAPABILITY_LENGTH: usize = 8;

/// The reports that one connection has accepted: the nonce must match, and each counts once.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplayWindow {
    pub(crate) nonce: u16,
    pub(crate) last_seq: u8,
    pub(crate) heard: u8,
}
