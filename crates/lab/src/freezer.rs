//! Freeze-TCP at the mobile, before handoffs that are announced: its window closes a while before each, and opens
//! when it has completed (docs/guide/receiver.md).

use super::host::{DEVICES, Host};
use super::path::{Switch, Which};
use super::sender_kind::SenderKind;
use super::{Error, Nanos};
use segue_kernel::receiver::{Options, Peers, Receiver, attach};
use std::time::Duration;

/// A window that nobody opens does so by itself so long after the handoff.
const LATER: Duration = Duration::from_secs(10);

/// Receivers at the mobile's devices.
pub(super) struct Freezer {
    receivers: [Receiver; 2],
    before: Nanos,
}

impl Freezer {
    /// Attaches them, if this sender's mobile freezes.
    pub(super) fn of(sender: &SenderKind, mobile: &Host) -> Result<Option<Self>, Error> {
        let SenderKind::Builtin { freeze_before: Some(before), .. } = sender else { return Ok(None) };
        let [old, new] = DEVICES.map(|device| {
            let options = Options { device: device.into(), peers: Peers::All, phas: false };
            mobile.namespace.within(|| attach(&options).map_err(refused))
        });
        Ok(Some(Self { receivers: [old?, new?], before: before.as_nanos() as Nanos }))
    }

    /// When the window closes before a handoff.
    pub(super) fn closes(&self, switch: &Switch) -> Nanos {
        switch.down.saturating_sub(self.before)
    }

    /// Closes the window of all connections, which leave by the device of this link.
    pub(super) fn close(&mut self, link: Which, switch: &Switch) -> Result<(), Error> {
        let at_most = Duration::from_nanos(switch.up - self.closes(switch)) + LATER;
        self.receivers[link as usize].close(at_most).map(drop).map_err(refused)
    }

    /// Opens the window that was closed on this link.
    pub(super) fn open(&mut self, link: Which) -> Result<(), Error> {
        self.receivers[link as usize].open().map(drop).map_err(refused)
    }
}

fn refused(error: segue_kernel::receiver::Error) -> Error {
    Error::Agent { end: "freeze", said: error.to_string() }
}
