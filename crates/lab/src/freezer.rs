//! Freeze-TCP at the mobile, before handoffs that are announced: its window closes a while before each, and opens
//! when it has completed (docs/guide/receiver.md). Where the mobile has an agent, that hears what is announced, and does it.

use super::host::{DEVICES, Host};
use super::laboratory::Laboratory;
use super::path::{Switch, Which};
use super::sender_kind::SenderKind;
use super::{Error, Nanos};
use segue_kernel::receiver::{Options, Peers, Receiver, attach};
use std::time::Duration;

/// A window that nobody opens does so by itself so long after the handoff.
const LATER: Duration = Duration::from_secs(10);

/// The part that closes the window.
enum Closer {
    /// Receivers at the mobile's devices.
    Receivers(Box<[Receiver; 2]>),
    /// The agent: the break is announced to it.
    Agent,
}

/// A mobile that freezes.
pub(super) struct Freezer {
    closer: Closer,
    before: Nanos,
}

impl Freezer {
    /// Attaches them, if this sender's mobile freezes.
    pub(super) fn of(sender: &SenderKind, mobile: &Host) -> Result<Option<Self>, Error> {
        let SenderKind::Builtin { freeze_before: Some(before), agent, .. } = sender else { return Ok(None) };
        let before = before.as_nanos() as Nanos;
        if !agent.is_empty() {
            return Ok(Some(Self { closer: Closer::Agent, before }));
        }
        let [old, new] = DEVICES.map(|device| {
            let options = Options { device: device.into(), peers: Peers::All, phas: false };
            mobile.namespace.within(|| attach(&options).map_err(refused))
        });
        Ok(Some(Self { closer: Closer::Receivers(Box::new([old?, new?])), before }))
    }

    /// When the window closes before a handoff.
    pub(super) fn closes(&self, switch: &Switch) -> Nanos {
        switch.down.saturating_sub(self.before)
    }

    /// Closes the window of all connections, which leave by the device of this link.
    pub(super) fn close(&mut self, lab: &mut Laboratory, link: Which, switch: &Switch) -> Result<(), Error> {
        match &mut self.closer {
            Closer::Receivers(receivers) => {
                let at_most = Duration::from_nanos(switch.up - switch.down + self.before) + LATER;
                receivers[link as usize].close(at_most).map(drop).map_err(refused)
            }
            Closer::Agent => {
                lab.announce(link.other(), Duration::from_nanos(switch.up - switch.down));
                Ok(())
            }
        }
    }

    /// Opens the window that was closed on this link.
    pub(super) fn open(&mut self, link: Which) -> Result<(), Error> {
        match &mut self.closer {
            Closer::Receivers(receivers) => receivers[link as usize].open().map(drop).map_err(refused),
            // It sees the new link by itself.
            Closer::Agent => Ok(()),
        }
    }
}

fn refused(error: segue_kernel::receiver::Error) -> Error {
    Error::Agent { end: "freeze", said: error.to_string() }
}
