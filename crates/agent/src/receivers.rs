//! Schemes that act by this host's ACKs alone, and so work with any peer ([`segue_kernel::receiver`]). They are
//! Freeze-TCP before announced gaps, and PHAS while the old access router forwards. No clock: times go in.

use super::Error;
use super::event::Event;
use super::links::Links;
use super::settings::{Gap, Receivers as ReceiverSettings};
use segue_kernel::receiver::{self, Act, Announced, Options, Peers, Receiver};
use serde::Serialize;
use std::time::Duration;

/// A device, as `status` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiverStatus {
    /// Its name.
    pub device: String,
    /// Whether it is there, with our filter.
    pub attached: bool,
    /// Whether the window closes before announced gaps.
    pub freeze: bool,
    /// Whether ACKs of forwarded packets are dropped.
    pub phas: bool,
    /// Segments whose window became zero.
    pub closed: u64,
    /// ACKs that were dropped.
    pub dropped: u64,
    /// Connections that were made to send ACKs, each time.
    pub triggered: u64,
}

struct One {
    device: String,
    receiver: Receiver,
    announced: Option<Announced>,
    phas: bool,
    /// Why the filter could not be put at the device, as told last.
    problem: Option<String>,
}

impl One {
    fn attached(&self) -> bool {
        self.receiver.device().is_some()
    }

    /// Lets go of a device that has gone, has another name, or may have lost the filter.
    fn leave(&mut self, events: &[Event], links: &Links) {
        let Some(index) = self.receiver.device() else { return };
        let there = links.named(&self.device).map(|device| device.index);
        if events.contains(&Event::DeviceGone(index)) {
            // The next one may have its number.
            self.receiver.forget();
        } else if there != Some(index) || events.contains(&Event::Anew) {
            self.receiver.leave();
        }
        if !self.attached() && there.is_none() {
            tracing::warn!(
                device = self.device,
                "the device has gone; its ACKs are ours again when it comes"
            );
        }
    }

    /// Takes the device of its name, if it is there and not taken yet.
    fn enter(&mut self, links: &Links) {
        if self.attached() {
            return;
        }
        let problem = match links.named(&self.device).map(|_| self.receiver.enter()) {
            None => None,
            Some(Ok(())) => {
                tracing::info!(device = self.device, "the device has come: its ACKs are ours");
                None
            }
            Some(Err(error)) => Some(error.to_string()),
        };
        if let Some(error) = problem.as_ref().filter(|_| self.problem != problem) {
            tracing::error!(device = self.device, %error, "the device is there, and its ACKs cannot be ours");
        }
        self.problem = problem;
    }
}

/// All devices of the configuration.
pub(super) struct Receivers {
    all: Vec<One>,
    /// Time up to which all that was due has been done, by the clock of the announcements.
    done_until: Duration,
    /// When what is held is released at the latest, ns of CLOCK_MONOTONIC.
    held_until: Option<u64>,
    hold_for: Duration,
}

impl Receivers {
    /// Loads the programs, and attaches them to the devices that are there; the others may come later. They replace
    /// those that a killed agent has left. `time`: since the Unix epoch.
    ///
    /// # Errors
    /// A device has a filter of somebody else in our place, or the kernel refuses.
    pub(super) fn attach(settings: &ReceiverSettings, links: &Links, time: Duration) -> Result<Self, Error> {
        let mut all: Vec<One> = Vec::new();
        for device in settings.devices() {
            let gap = settings.gaps.iter().find(|gap| gap.device == device);
            let announced = gap.map(|gap: &Gap| gap.announced(settings.freeze_before)).transpose()?;
            let phas = settings.phas.iter().any(|name| name == device);
            let options = Options { device: device.to_owned(), peers: Peers::All, phas };
            let mut receiver = match receiver::load(&options) {
                Ok(receiver) => receiver,
                Err(error) if error.is_user() => return Err(error.into()),
                Err(error) => {
                    tracing::warn!(device, %error, "windows are not closed and ACKs not held back at the device");
                    continue;
                }
            };
            if links.named(device).is_some() {
                if receiver::detach(device)? {
                    tracing::info!(device, "an agent that was killed had left its programs at the device");
                }
                receiver.enter()?;
            } else {
                tracing::warn!(device, "there is no such device; its ACKs are ours when it comes");
            }
            all.push(One { device: device.to_owned(), receiver, announced, phas, problem: None });
        }
        Ok(Self { all, done_until: time, held_until: None, hold_for: settings.hold_for })
    }

    /// Follows devices that come and go. `links`: as they are after these events.
    pub(super) fn on_events(&mut self, events: &[Event], links: &Links) {
        // Names may have been exchanged: all leave before any enters.
        self.all.iter_mut().for_each(|one| one.leave(events, links));
        self.enter(links);
    }

    /// Takes the devices that are there and not taken: what was in the way may be gone.
    pub(super) fn enter(&mut self, links: &Links) {
        self.all.iter_mut().for_each(|one| one.enter(links));
    }

    /// How long until there is something to do; `None`: nothing is announced, and nothing held.
    pub(super) fn wait(&self, time: Duration, now: u64) -> Option<Duration> {
        let announced = self.all.iter().filter_map(|one| one.announced);
        let acts = announced.map(|announced| announced.next(self.done_until).0.saturating_sub(time));
        let held = self.held_until.map(|until| Duration::from_nanos(until.saturating_sub(now)));
        acts.chain(held).min()
    }

    /// Does what is due.
    pub(super) fn act(&mut self, time: Duration, now: u64) {
        let done_until = self.done_until;
        for one in &mut self.all {
            let Some(announced) = one.announced else { continue };
            let Some((at, act)) = last_due(&announced, done_until, time) else { continue };
            match one.receiver.perform(act, &announced) {
                Ok(connections) => tracing::info!(
                    device = one.device,
                    act = if act == Act::Close { "close" } else { "open" },
                    late_us = u64::try_from((time - at).as_micros()).unwrap_or(u64::MAX),
                    connections,
                    "an announced gap"
                ),
                Err(error) => tracing::error!(device = one.device, %error, "an announced gap"),
            }
        }
        self.done_until = time;
        if self.held_until.is_some_and(|until| until <= now) {
            self.release();
        }
    }

    /// A handoff is foreseen: the old access router begins to forward.
    pub(super) fn hold(&mut self, now: u64) {
        let hold_for = self.hold_for;
        for one in self.all.iter_mut().filter(|one| one.phas) {
            match one.receiver.hold(hold_for) {
                Ok(()) if !one.attached() => {
                    tracing::warn!(
                        device = one.device,
                        "no ACKs are held back: the device is not there, or taken"
                    );
                }
                Ok(()) => tracing::info!(device = one.device, "ACKs of forwarded packets are held back"),
                Err(error) => tracing::error!(device = one.device, %error, "ACKs cannot be held back"),
            }
            let for_ns = u64::try_from(hold_for.as_nanos()).unwrap_or(u64::MAX);
            self.held_until = Some(now.saturating_add(for_ns));
        }
    }

    /// The end of forwarding.
    pub(super) fn release(&mut self) {
        if self.held_until.take().is_none() {
            return;
        }
        for one in self.all.iter_mut().filter(|one| one.phas) {
            match one.receiver.release() {
                Ok(connections) => {
                    tracing::info!(device = one.device, connections, "ACKs are held back no more");
                }
                Err(error) => tracing::error!(device = one.device, %error, "ACKs cannot be released"),
            }
        }
    }

    pub(super) fn status(&self) -> Vec<ReceiverStatus> {
        let status = |one: &One| {
            let counts = one.receiver.counts().unwrap_or_default();
            ReceiverStatus {
                device: one.device.clone(),
                attached: one.attached(),
                freeze: one.announced.is_some(),
                phas: one.phas,
                closed: counts.closed,
                dropped: counts.dropped,
                triggered: counts.triggered,
            }
        };
        self.all.iter().map(status).collect()
    }
}

/// The last act that was due after `since`, until `time`. Only that one counts of those that were missed while the
/// host slept; a clock that was set back has nothing due.
fn last_due(announced: &Announced, since: Duration, time: Duration) -> Option<(Duration, Act)> {
    // The act before any instant is no further away than two gaps.
    let since = since.max(time.saturating_sub(announced.every() * 2));
    let acts = std::iter::successors(Some(announced.next(since)), |(at, _)| Some(announced.next(*at)));
    acts.take_while(|(at, _)| *at <= time).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn announced() -> Announced {
        let gaps = "every 15s from 12s".parse().expect("gaps");
        Announced::new(gaps, Duration::from_millis(150), Duration::from_millis(100))
            .expect("a time to be open")
    }

    #[test]
    fn each_act_is_due_once() {
        let announced = announced();
        let (close, open) = (Duration::from_millis(11_850), Duration::from_millis(12_100));
        assert_eq!(last_due(&announced, Duration::ZERO, 11 * SECOND), None);
        assert_eq!(last_due(&announced, 11 * SECOND, close), Some((close, Act::Close)));
        assert_eq!(last_due(&announced, close, close + SECOND / 10), None);
        assert_eq!(last_due(&announced, close, 13 * SECOND), Some((open, Act::Open)));
    }

    #[test]
    fn a_clock_that_jumps_leaves_the_window_open() {
        let announced = announced();
        // A night's sleep: one act, and that opens.
        let morning = 8 * 3600 * SECOND + 5 * SECOND;
        let (at, act) = last_due(&announced, 5 * SECOND, morning).expect("an act");
        assert_eq!((at, act), (8 * 3600 * SECOND - 3 * SECOND + Duration::from_millis(100), Act::Open));
        // Set back by an hour.
        assert_eq!(last_due(&announced, morning, morning - 3600 * SECOND), None);
    }
}
