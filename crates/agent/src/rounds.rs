//! Rounds of notices: which peers get one, of which link, when, and in what order. No sockets, no clock: events go in
//! with their times, orders come out.
//!
//! A handoff of a watched prefix begins a *round*: its peers are notified. Connections with data under way are notified
//! at once, and so are those that received data since shortly before the old link broke. Half the uplink bounds how
//! many at a time. All others, and those whose turn has not come, carry the notice on their next segments. Handoffs
//! that come too fast (a route that flaps) wait; their notice names the link of that later moment.

use super::estimate::{Estimate, Estimates, Told};
use super::event::Event;
use super::links::Links;
use super::order::{Moved, Order, Outage};
use super::round::{Cause, Refused, Round, WatchStatus};
use super::settings::Settings;
use ipnet::IpNet;
use segue_kernel::mobile::{Notice, Pass};
use segue_mobile::notices::Pace;
use segue_policy::Notice as Handoff;
use segue_policy::wire::ReportType;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

mod watched;

use watched::{Pending, Watched};

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// A connection is busy on which something has come within so long of the old link's end.
const LATELY: u64 = 2_000 * MS;
/// Handoffs of one prefix that may be told at once; afterwards one per interval.
const BURST: u64 = 2;
/// Rounds that `status` still knows.
const REMEMBERED: usize = 32;

/// The round that runs.
#[derive(Clone, Debug)]
struct Running {
    watched: usize,
    round: Round,
    began: u64,
    next: u64,
    pace: Pace,
}

/// The agent's decisions.
#[derive(Clone, Debug)]
pub struct Rounds {
    settings: Settings,
    links: Links,
    estimates: Estimates,
    watched: Vec<Watched>,
    running: Option<Running>,
    orders: VecDeque<Order>,
    numbers: u64,
    started: bool,
    history: VecDeque<Round>,
}

impl Rounds {
    /// Knows nothing of the host yet: the first events tell what is, and are no handoffs.
    pub fn new(settings: Settings) -> Self {
        let watched = settings.watch.iter().map(|to| Watched::new(*to));
        Self {
            watched: watched.collect(),
            estimates: Estimates::new(settings.rules.clone(), settings.station_share),
            links: Links::default(),
            running: None,
            orders: VecDeque::new(),
            numbers: 0,
            started: false,
            history: VecDeque::new(),
            settings,
        }
    }

    /// The host's network, as far as known.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Rounds that are over, the oldest first.
    pub fn history(&self) -> impl Iterator<Item = &Round> {
        self.history.iter()
    }

    /// All that has happened at once.
    pub fn on_events(&mut self, now: u64, events: &[Event]) {
        for event in events {
            self.links.apply(event);
            let watched = &self.watched;
            self.estimates.apply(now, event, |device| {
                let paths = watched.iter().filter(|watched| watched.broken.is_none());
                let over =
                    paths.filter_map(|watched| watched.path.as_ref()).find(|path| path.device == device);
                over.map(|path| path.gateway)
            });
        }
        for index in 0..self.watched.len() {
            self.look(now, index);
        }
        self.started = true;
    }

    /// The host has slept: senders have backed off, and may not have heard of the last handoff.
    pub fn on_resume(&mut self, now: u64) {
        for index in 0..self.watched.len() {
            if self.watched[index].path.is_some() {
                self.expect_round(now, index, Cause::Resumed, None);
            }
        }
    }

    /// Somebody tells what the link of a device is like from now on. Returns the numbers of the rounds in which it will
    /// be told. There are none if no watched prefix leads over the device now; once one does, its peers are told.
    ///
    /// # Errors
    /// There is no such device; those that are.
    pub fn on_told(&mut self, now: u64, device: &str, told: Told) -> Result<Vec<u64>, Vec<String>> {
        let index = self.known(device)?;
        self.estimates.tell(index, told);
        let over = |watched: &Watched| watched.path.as_ref().is_some_and(|path| path.device == index);
        Ok(self.expect_rounds(now, over, Cause::Told, None))
    }

    /// Somebody foresees a handoff to this link; it is told over the present one.
    ///
    /// # Errors
    /// There is no such device.
    pub fn on_foreseen(&mut self, now: u64, device: &str, told: Told) -> Result<Vec<u64>, Vec<String>> {
        self.known(device)?;
        Ok(self.expect_rounds(now, |_| true, Cause::Foreseen, Some(told)))
    }

    fn known(&self, device: &str) -> Result<u32, Vec<String>> {
        let found = self.links.named(device).map(|device| device.index);
        found.ok_or_else(|| self.links.names().map(str::to_owned).collect())
    }

    /// Rounds of all watched prefixes like this; their numbers.
    fn expect_rounds(
        &mut self,
        now: u64,
        like: impl Fn(&Watched) -> bool,
        cause: Cause,
        foreseen: Option<Told>,
    ) -> Vec<u64> {
        let mut numbers = Vec::new();
        for index in 0..self.watched.len() {
            let watched = &self.watched[index];
            if watched.path.is_some() && watched.broken.is_none() && like(watched) {
                numbers.push(match foreseen {
                    Some(link) => self.expect_announcement(now, index, cause, link),
                    None => self.expect_round(now, index, cause, None),
                });
            }
        }
        numbers
    }

    /// A handoff that has been, and that peers do not know of yet, is of more use to them than one to come.
    fn expect_announcement(&mut self, now: u64, index: usize, cause: Cause, link: Told) -> u64 {
        if self.watched[index].pending.is_some_and(|pending| pending.foreseen.is_none()) {
            self.numbers += 1;
            let announced = Pending {
                number: self.numbers,
                cause,
                at: now,
                until: now,
                disconnected: false,
                foreseen: Some(link),
            };
            let round = self.round_of(&announced, index);
            self.over(Round { superseded: true, ..round });
            return self.numbers;
        }
        let number = self.expect_round(now, index, cause, None);
        if let Some(pending) = &mut self.watched[index].pending {
            pending.foreseen = Some(link);
        }
        number
    }

    /// `broken`: when the way before was found to carry nothing more, if it did before this.
    fn expect_round(&mut self, now: u64, index: usize, cause: Cause, broken: Option<u64>) -> u64 {
        let before = self.watched[index].pending;
        self.numbers += 1;
        // Peers that have not been told of the handoff before are silent since then.
        let disconnected = matches!(cause, Cause::Returned | Cause::Resumed)
            || broken.is_some()
            || before.is_some_and(|before| before.disconnected);
        let until = broken.unwrap_or(now);
        let until = before.map_or(until, |before| before.until.min(until));
        self.watched[index].pending =
            Some(Pending { number: self.numbers, cause, at: now, until, disconnected, foreseen: None });
        // Only the newest round is needed of those that nobody waits for.
        if let Some(before) = before.filter(|before| matches!(before.cause, Cause::Told | Cause::Foreseen)) {
            let round = self.round_of(&before, index);
            self.over(Round { superseded: true, ..round });
        }
        self.numbers
    }

    /// Compares the way to a watched prefix with what it was.
    fn look(&mut self, now: u64, index: usize) {
        let path = self.links.path(&self.watched[index].to);
        let watched = &mut self.watched[index];
        let Some(path) = path else {
            if watched.path.is_some() {
                watched.broken.get_or_insert(now);
            }
            if self.running.as_ref().is_some_and(|running| running.watched == index) {
                self.end(now, true);
            }
            return;
        };
        let (broken, before) = (watched.broken.take(), watched.path.replace(path.clone()));
        let Some(before) = before else {
            // The first way is no handoff, but for connections that know another from before.
            if self.settings.inherits && !self.started {
                self.expect_round(now, index, Cause::Restarted, None);
            } else {
                self.report_first(now, index);
            }
            return;
        };
        let moved = path.differs(&before);
        // The kernel may tell later of a carrier that has been lost.
        let dead = self.links.device(before.device).is_none_or(|device| !device.alive);
        let broken = broken.or(dead.then_some(now));
        if moved {
            self.estimates.leave(before.device);
            if before.device != path.device {
                self.estimates.forget(before.device);
            }
        }
        if moved || broken.is_some() || path.carriers != before.carriers {
            let cause = if moved { Cause::Moved } else { Cause::Returned };
            self.expect_round(now, index, cause, broken);
        }
    }

    fn estimate(&self, now: u64, index: usize) -> Option<Estimate> {
        let path = self.watched[index].path.as_ref()?;
        self.estimates.of(now, self.links.device(path.device)?, path)
    }

    fn report_first(&mut self, now: u64, index: usize) {
        if let Some(estimate) = self.estimate(now, index) {
            let watched = &mut self.watched[index];
            watched.uplink = Some(estimate.uplink());
            watched.downlink = watched.path.as_ref().map(|path| (estimate.link(), path.device));
            self.orders.push_back(Order::First(estimate.link()));
        }
    }

    fn round_of(&self, pending: &Pending, index: usize) -> Round {
        let watched = &self.watched[index];
        let device = watched.path.as_ref().and_then(|path| self.links.device(path.device));
        Round {
            number: pending.number,
            cause: pending.cause,
            watch: watched.to,
            device: device.map_or_else(String::new, |device| device.name.clone()),
            estimate: None,
            waited_ns: 0,
            took_ns: 0,
            triggered: 0,
            crafted: 0,
            acked: 0,
            waiting: 0,
            resent: 0,
            governed: 0,
            left: 0,
            helped: 0,
            refused: Refused::default(),
            superseded: false,
        }
    }

    fn over(&mut self, round: Round) {
        self.history.push_back(round.clone());
        if self.history.len() > REMEMBERED {
            self.history.pop_front();
        }
        self.orders.push_back(Order::Done(round));
    }

    /// When the next round of this prefix may begin.
    fn due(&self, index: usize) -> Option<u64> {
        let watched = &self.watched[index];
        let pending = watched.pending?;
        if watched.broken.is_some() || watched.path.is_none() {
            return None;
        }
        // Another prefix's round is not cut short, and none for what is only announced.
        let waits = |running: &Running| running.watched != index || pending.foreseen.is_some();
        if self.running.as_ref().is_some_and(waits) {
            return None;
        }
        Some(watched.paid_until.saturating_sub(self.settings.interval * (BURST - 1)))
    }

    /// When [`Rounds::next`] is to be asked again at the latest; `None`: not before something happens.
    pub fn deadline(&self) -> Option<u64> {
        let due = (0..self.watched.len()).filter_map(|index| self.due(index));
        due.chain(self.running.as_ref().map(|running| running.next)).min()
    }

    /// The next order to carry out now, one at a time. Each pass is answered by [`Rounds::on_pass`].
    pub fn next(&mut self, now: u64) -> Option<Order> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        if let Some(index) =
            (0..self.watched.len()).find(|&index| self.due(index).is_some_and(|due| due <= now))
        {
            self.begin(now, index);
            return self.orders.pop_front();
        }
        let running = self.running.as_mut()?;
        if running.next > now {
            return None;
        }
        if now.saturating_sub(running.began) >= self.settings.limit.max(1) {
            self.end(now, false);
            return self.orders.pop_front();
        }
        let (budget, tick) = running.pace.next()?;
        running.next = (now + tick).min(running.began + self.settings.limit.max(1));
        Some(Order::Pass(budget))
    }

    fn begin(&mut self, now: u64, index: usize) {
        let Some(pending) = self.watched[index].pending.take() else { return };
        if self.running.is_some() {
            self.end(now, true);
        }
        let mut round = self.round_of(&pending, index);
        round.waited_ns = now.saturating_sub(pending.at);
        let present = self.estimate(now, index);
        round.estimate = match pending.foreseen {
            Some(Told { link, up_kbps }) => Some(Estimate {
                rate_kbps: link.rate_kbps,
                delay_us: link.delay_us,
                up_kbps,
                source: super::estimate::Source::Told,
            }),
            None => present,
        };
        let Some(estimate) = round.estimate else { return self.over(round) };
        let watched = &mut self.watched[index];
        watched.paid_until = watched.paid_until.max(now) + self.settings.interval;
        let kind = if pending.foreseen.is_some() { ReportType::Expected } else { ReportType::Completed };
        let device = watched.path.as_ref().map_or(0, |path| path.device);
        let left = watched.downlink.map(|(_, left)| left).filter(|left| *left != device);
        let carries = |left: &u32| self.links.device(*left).is_some_and(|device| device.alive);
        let moved = pending.cause == Cause::Moved && !pending.disconnected;
        let notice = Notice {
            link: estimate.link(),
            kind,
            copies: self.settings.copies,
            way: self.settings.way,
            also: left.filter(|left| moved && carries(left)),
            before: watched.downlink.map(|(link, _)| link),
            since: Duration::from_nanos(pending.until.saturating_sub(LATELY)),
        };
        let (own, before) = match kind {
            ReportType::Completed => (
                watched.uplink.replace(estimate.uplink()),
                watched.downlink.replace((estimate.link(), device)),
            ),
            _ => (None, None),
        };
        let own = own.map(|old_link| Handoff {
            old_link,
            new_link: estimate.uplink(),
            flows: 0,
            disconnected: u32::from(pending.disconnected),
        });
        let scope = self.links.scope(&watched.to);
        // A notice leaves over the present link, also one of a link to come.
        let mut pace = Pace::over(present.unwrap_or(estimate).up_kbps, self.settings.copies.into());
        if kind == ReportType::Completed && pending.disconnected {
            pace = pace.after_outage(estimate.rate_kbps);
        }
        self.running = Some(Running { watched: index, round, began: now, next: now, pace: pace.clone() });
        self.orders.push_back(Order::Begin(notice, scope, own));
        if kind == ReportType::Completed {
            let since = pending.until.saturating_sub(LATELY);
            // Unseen, it may have lasted since something came.
            let length = now.saturating_sub(if pending.disconnected { pending.until } else { since });
            let outage = Outage {
                watch: self.watched[index].to,
                length,
                since,
                delay_us: estimate.delay_us,
                up_kbps: estimate.up_kbps,
                links: before.map(|(old, _)| [old, estimate.link()]),
                pace,
            };
            self.orders.push_back(if pending.disconnected {
                Order::Resume(outage)
            } else {
                Order::Doubt(outage)
            });
        }
        if let Some((old, old_device)) = before {
            self.orders.push_back(Order::Moved(Moved {
                watch: self.watched[index].to,
                devices: [old_device, device],
                links: [old, estimate.link()],
                until: pending.until,
                disconnected: pending.disconnected,
                also: notice.also,
            }));
        }
    }

    /// So many connections are helped whose peers have not negotiated.
    pub fn on_helped(&mut self, connections: u32) {
        if let Some(running) = &mut self.running {
            running.round.helped = connections;
        }
    }

    /// Watched prefixes that there is no way to, and since when.
    pub fn broken(&self) -> impl Iterator<Item = (IpNet, u64)> {
        self.watched.iter().filter_map(|watched| Some((watched.to, watched.broken?)))
    }

    /// Results of a pass.
    pub fn on_pass(&mut self, now: u64, pass: &Pass) {
        let Some(running) = &mut self.running else { return };
        let round = &mut running.round;
        round.triggered += pass.triggered;
        round.crafted += pass.crafted;
        round.acked += pass.acked;
        round.waiting = pass.marked;
        round.resent += pass.resent;
        round.governed += pass.governed.governed;
        round.left += pass.governed.left;
        round.refused.unnegotiated = pass.skipped.unnegotiated;
        round.refused.closing = pass.skipped.closing;
        round.refused.unwritten += pass.skipped.unwritten;
        round.refused.unsent += pass.skipped.unsent;
        if round.refused.reason.is_none() {
            round.refused.reason = pass.skipped.refusal.as_ref().map(ToString::to_string);
        }
        if pass.unpaid == 0 {
            self.end(now, false);
        }
    }

    /// A pass could not be made.
    pub fn on_failed_pass(&mut self, now: u64, reason: String) {
        if let Some(running) = &mut self.running {
            running.round.refused.reason.get_or_insert(reason);
            self.end(now, false);
        }
    }

    fn end(&mut self, now: u64, superseded: bool) {
        if let Some(Running { round, began, .. }) = self.running.take() {
            self.over(Round { superseded, took_ns: now.saturating_sub(began), ..round });
        }
    }

    /// The watched prefixes.
    pub fn watches(&self, now: u64) -> Vec<WatchStatus> {
        let status = |(index, watched): (usize, &Watched)| {
            let path = watched.path.as_ref().filter(|_| watched.broken.is_none());
            let device = path.and_then(|path| self.links.device(path.device));
            WatchStatus {
                to: watched.to,
                device: device.map(|device| device.name.clone()),
                estimate: device.and_then(|_| self.estimate(now, index)),
            }
        };
        self.watched.iter().enumerate().map(status).collect()
    }

    /// Devices that watched prefixes lead over, each once.
    pub fn devices(&self) -> BTreeSet<u32> {
        let alive = self.watched.iter().filter(|watched| watched.broken.is_none());
        alive.filter_map(|watched| watched.path.as_ref().map(|path| path.device)).collect()
    }
}

#[cfg(test)]
mod tests;
