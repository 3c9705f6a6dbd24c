//! A laboratory under programs, from their start until it has been taken down: what a run and a drive have in common.

use super::ends::Ends;
use super::freezer::Freezer;
use super::interrupt;
use super::laboratory::Laboratory;
use super::path::{Switch, Which};
use super::punctual::{Punctual, Rank};
use super::sender_kind::SenderKind;
use super::{Error, Nanos, emulator};
use segue_policy::Link;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a waiting session looks whether all is well.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Looks at the programs; true: the session is over before its time.
pub(super) type Over<'a> = dyn FnMut() -> Result<bool, Error> + 'a;

/// Programs that run in it must be dropped before.
pub(super) struct Session<'a> {
    // Programs inherit it.
    punctual: Punctual,
    freezer: Option<Freezer>,
    lab: Laboratory,
    stop: &'a AtomicBool,
}

/// Results of a session.
pub(super) struct Left {
    /// Counts of the agent's notices, where there is one.
    pub notified: Option<BTreeMap<String, u64>>,
    /// The sender's counters.
    pub sender_counters: BTreeMap<String, u64>,
    /// The emulator's packets.
    pub emulator: emulator::Record,
}

impl<'a> Session<'a> {
    /// Makes ready for the programs. It ends with an error when it is told to stop.
    pub(super) fn begin(lab: Laboratory, sender: &SenderKind, stop: &'a AtomicBool) -> Result<Self, Error> {
        let freezer = Freezer::of(sender, lab.mobile())?;
        Ok(Self { punctual: Punctual::of(Rank::Program), freezer, lab, stop })
    }

    pub(super) fn lab(&self) -> &Laboratory {
        &self.lab
    }

    /// Lets time pass until then, or until it is over; whether it is.
    pub(super) fn until(&self, at: Nanos, over: &mut Over<'_>) -> Result<bool, Error> {
        loop {
            interrupt::check()?;
            if self.stop.load(Ordering::Acquire) {
                return Err(Error::Interrupted);
            }
            self.lab.check()?;
            let (over, left) = (over()?, self.lab.clock.until(at));
            if over || left.is_zero() {
                return Ok(over);
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Lets time pass until this link goes: a mobile that freezes closes its window before. Whether it is over.
    pub(super) fn leave(&mut self, link: Which, switch: &Switch, over: &mut Over<'_>) -> Result<bool, Error> {
        let closes = self.freezer.as_ref().map(|freezer| freezer.closes(switch));
        if let Some(closes) = closes
            && self.until(closes, over)?
        {
            return Ok(true);
        }
        if let Some(freezer) = &mut self.freezer {
            freezer.close(&mut self.lab, link, switch)?;
        }
        // This host sees the old link end when its uplink ends.
        let over = self.until(switch.uplink_down, over)?;
        if !over && switch.breaks {
            self.lab.lose(link)?;
        }
        Ok(over)
    }

    /// Lets time pass until so long before the other link carries, and has the mobile announce the handoff to it, where
    /// its sender is told. Whether it is over.
    pub(super) fn foresee(
        &mut self,
        link: Which,
        switch: &Switch,
        (before, notice): (Duration, Link),
        over: &mut Over<'_>,
    ) -> Result<bool, Error> {
        // The others have nothing to wait for, or something else.
        if self.lab.ends.is_none() {
            return Ok(false);
        }
        if self.until(switch.up.saturating_sub(before.as_nanos() as Nanos), over)? {
            return Ok(true);
        }
        let left = self.lab.clock.until(switch.up);
        self.lab.foresee(link, notice, left)?;
        Ok(false)
    }

    /// Lets time pass until this link carries, and completes the handoff to it. The counts of the laboratory's own
    /// notice; `None`: it is over.
    pub(super) fn arrive(
        &mut self,
        link: Which,
        switch: &Switch,
        notice: Option<Link>,
        over: &mut Over<'_>,
    ) -> Result<Option<BTreeMap<String, u64>>, Error> {
        if self.until(switch.up, over)? {
            return Ok(None);
        }
        let notified = self.lab.complete(link, notice)?;
        if let Some(freezer) = &mut self.freezer {
            freezer.open(link.other())?;
        }
        Ok(Some(notified))
    }

    /// Takes all down.
    pub(super) fn finish(self) -> Result<Left, Error> {
        let Self { punctual, freezer, mut lab, .. } = self;
        drop(punctual);
        drop(freezer);
        let drops = lab.device_drops()?;
        let notified = lab.end_agent()?;
        let sender_counters = lab.ends.take().map(Ends::finish).transpose()?.unwrap_or_default();
        let emulator = lab.close().stop()?;
        if drops > 0 {
            return Err(Error::Overloaded { drops });
        }
        Ok(Left { notified, sender_counters, emulator })
    }
}
