//! `policy/belief.h` in Rust: how far a sender on Linux believes a notice.

use crate::ffi;
use crate::{Action, Notice, Sender};

/// The grant that a notice has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Nothing that the sender did not have before.
    Nothing,
    /// A window that only the link can prove.
    Unproven,
}

/// The window that a notice finds outside an outage, 1/256 packet: in a recovery what that leads to, else cwnd.
pub fn window_before(tcp: &Sender) -> u32 {
    ffi::segue_shim_window_before(tcp)
}

/// The part of a policy's answer to a notice that is believed. Without a disconnection cwnd and ssthresh may shrink.
/// After one, at most 64 packets leave at once. `proven`: what an earlier grant has been found to be worth, 1/256
/// packet; 0: nothing is known.
pub fn believe(tcp: &Sender, notice: &Notice, proven: u32, asked: Action) -> (Action, Grant) {
    let mut act = asked;
    let grant = match ffi::segue_shim_believe(tcp, notice.disconnected, proven, &mut act) {
        0 => Grant::Nothing,
        _ => Grant::Unproven,
    };
    (act, grant)
}
