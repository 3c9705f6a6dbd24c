//! The orders of the receiver's programs (`bpf/receiver/intf.h`).

/// `SEGUE_RECEIVER_ACKS`
pub(super) const ACKS: u8 = 8;
