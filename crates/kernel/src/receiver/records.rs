//! The orders of the receiver's programs (`bpf/receiver/intf.h`).

use crate::layouts::{mapped, segue_tuple};
use std::net::SocketAddr;

/// `SEGUE_RECEIVER_ACKS`
pub(super) const ACKS: u8 = 8;

/// A connection, by the addresses and ports of its packets, in network byte order.
pub(super) fn flow(local: SocketAddr, remote: SocketAddr) -> segue_tuple {
    segue_tuple {
        remote: mapped(remote.ip()),
        local: mapped(local.ip()),
        remote_port: remote.port().to_be(),
        local_port: local.port().to_be(),
    }
}
