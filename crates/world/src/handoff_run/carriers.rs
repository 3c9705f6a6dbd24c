//! The most that the access links can bring the mobile, for the bound (docs/reference/bounds.md). With a soft handoff
//! or a return, the old link carries beside the new one.

use super::completed::Completed;
use crate::bench::{NEW, OLD, WIRED_DELAY};
use crate::nodes::HostObserver;
use crate::words::{Address, Kind};
use segue_netsim::{Nanos, Rate, Service};

/// Bytes of an ACK without options.
pub(super) const ACK_BYTES: u32 = 40;
/// Bytes of a data packet as the bound counts them.
const DATA_BYTES: u32 = 1500;

/// Until when packets can come to a link's queue.
#[derive(Clone, Copy, Debug)]
struct Closing {
    at: Nanos,
    /// How many can wait then, the one being sent included.
    room: u32,
    /// How many full packets can come until then.
    entries: u64,
}

/// A link that is busy from an instant on with needed packets alone.
struct Carrier<'a> {
    service: Service,
    /// When the transmission of the last packet ends.
    departure: Nanos,
    bytes: u32,
    /// From there to the receiver.
    after: Nanos,
    /// Whether the next packet that it sends comes out: of one that does not, the sender may have made the smallest
    /// there is.
    fates: Box<dyn FnMut() -> bool + 'a>,
    closes: Option<Closing>,
}

impl Carrier<'_> {
    /// When the receiver has the next packet, if the link can bring one more.
    fn next(&mut self) -> Option<Nanos> {
        loop {
            let arrives = (self.fates)();
            self.departure =
                self.service.departure(self.departure, if arrives { self.bytes } else { ACK_BYTES });
            if let Some(closing) = self.closes.as_mut().filter(|closing| closing.at < self.departure) {
                closing.room = closing.room.checked_sub(1)?;
            }
            if arrives {
                if let Some(closing) = &mut self.closes {
                    closing.entries = closing.entries.checked_sub(1)?;
                }
                return Some(self.departure + self.after);
            }
        }
    }
}

/// Links side by side.
pub(super) struct Carriers<'a> {
    all: Vec<Carrier<'a>>,
    /// The next packet of each.
    next: Vec<Option<Nanos>>,
    brought: u64,
    last: Nanos,
}

impl<'a> Carriers<'a> {
    fn new(mut all: Vec<Carrier<'a>>) -> Self {
        let next = all.iter_mut().map(Carrier::next).collect();
        Self { all, next, brought: 0, last: 0 }
    }

    /// When the receiver has so many packets at the earliest, whichever link brings each. Asked for growing numbers.
    pub fn brought(&mut self, packets: u64) -> Nanos {
        while self.brought < packets {
            let times =
                self.next.iter().enumerate().filter_map(|(index, next)| Some((next.as_ref()?, index)));
            let Some((&time, index)) = times.min() else { return Nanos::MAX };
            self.next[index] = self.all[index].next();
            self.last = time;
            self.brought += 1;
        }
        self.last
    }
}

/// Until when a link takes new packets, and from when on.
#[derive(Clone, Copy, Debug)]
struct Open {
    from: Nanos,
    until: Option<Nanos>,
}

impl<W: HostObserver> Completed<W> {
    /// When new packets can go over the old and the new link.
    fn open(&self) -> [Option<Open>; 2] {
        let (at, kind) = (self.completion, self.fork.experiment.kind);
        let always = Open { from: at, until: None };
        match (kind.overlap(), kind.returns_after()) {
            (Some(overlap), _) => [Some(Open { until: Some(at + overlap.length), ..always }), Some(always)],
            (_, Some(stay)) => {
                [Some(Open { from: at + stay, until: None }), Some(Open { until: Some(at + stay), ..always })]
            }
            _ => [None, Some(always)],
        }
    }

    /// The links that can bring packets from `reachable` on, when the first can be at the new one. `fates` are those of
    /// the new link's packets; the old one counts as without losses. `busy`: what is under way holds the old link until
    /// then.
    pub(super) fn carriers<'a>(
        &self,
        reachable: Nanos,
        busy: Nanos,
        fates: impl FnMut() -> bool + 'a,
    ) -> Carriers<'a> {
        let mut fates: Option<Box<dyn FnMut() -> bool + 'a>> = Some(Box::new(fates));
        let mut carriers = Vec::new();
        for (link, open) in [NEW, OLD].into_iter().map(|link| (link, self.open()[link])) {
            let Some(open) = open else { continue };
            let begins = match link {
                NEW => reachable,
                _ if open.from > self.completion => busy.max(open.from + self.edge_delay()),
                _ => busy.max(reachable),
            };
            let closes = open.until.map(|until| self.closing(link, until));
            let fates = if link == NEW { fates.take() } else { None };
            carriers.push(self.carrier(link, begins, closes, fates.unwrap_or_else(|| Box::new(|| true))));
        }
        Carriers::new(carriers)
    }

    /// Added delays count as none: a sender may wait until they are small.
    fn carrier<'a>(
        &self,
        link: usize,
        departure: Nanos,
        closes: Option<Closing>,
        fates: Box<dyn FnMut() -> bool + 'a>,
    ) -> Carrier<'a> {
        let experiment = &self.fork.experiment;
        let access = [&experiment.old, &experiment.new][link];
        let bytes = experiment.stack.data_bytes().min(DATA_BYTES);
        let (is_upward, hops) = (experiment.is_upward(), experiment.fixed_hops());
        let (delay, behind) = match is_upward {
            false => (access.delay.min(), Rate::new(hops.last).time(bytes)),
            true => {
                let wired = Rate::new(hops.wired).time(bytes) + WIRED_DELAY;
                (access.up_delay().min(), 2 * wired)
            }
        };
        let service = access.best_service(experiment.link_seed(link), is_upward);
        Carrier { service, departure, bytes, after: delay + behind, fates, closes }
    }

    /// Packets that wait at a link at most, those being sent included.
    fn room(&self, link: usize) -> u32 {
        let access = [&self.fork.experiment.old, &self.fork.experiment.new][link];
        let is_upward = self.fork.experiment.is_upward();
        let queue = if is_upward { access.up_queue.unwrap_or(access.queue) } else { access.queue };
        queue.saturating_add(access.sent_at_once(is_upward))
    }

    /// The least time from where ways part to an access link: the mobile is there.
    fn edge_delay(&self) -> Nanos {
        if self.fork.experiment.is_upward() { 0 } else { WIRED_DELAY }
    }

    /// The least time of an ACK from the receiver to where ways part: none at the mobile, a wired hop from a server to R.
    fn before_fork(&self) -> Nanos {
        let experiment = &self.fork.experiment;
        if !experiment.is_upward() {
            return 0;
        }
        Rate::new(experiment.fixed_hops().wired).time(ACK_BYTES) + WIRED_DELAY
    }

    /// The most that can come to an access link that takes new packets until `until`. Lines from several servers meet
    /// at the router; what comes by all of them until then has left it so much later.
    fn closing(&self, link: usize, until: Nanos) -> Closing {
        let experiment = &self.fork.experiment;
        let (open, hops) = (until - self.completion, experiment.fixed_hops());
        let lines = 1 + self.fork.link_ids.further.iter().flatten().count() as u64;
        let wired = Rate::new(hops.wired).time(DATA_BYTES);
        let at = until + (lines - 1) * open + WIRED_DELAY + (lines + 1) * wired;
        let before = Rate::new(if experiment.is_upward() { hops.last } else { hops.wired });
        let each = before.clone().time(experiment.stack.data_bytes().min(DATA_BYTES)).max(1);
        Closing { at, room: self.room(link), entries: open / each + 2 }
    }

    /// When an ACK can be with the sender that the receiver can send at `at`, or later over a link that opens later.
    /// The link is the one that carries when the ACK comes to where the ways part.
    pub(super) fn acknowledged(&self, at: Nanos) -> Nanos {
        let before = self.before_fork();
        let over = |link: usize| {
            let open = self.open()[link]?;
            let parts = (at + before).max(open.from);
            let in_time = open.until.is_none_or(|until| parts <= until);
            in_time.then(|| self.acknowledged_over(link, parts - before))
        };
        [OLD, NEW].into_iter().filter_map(over).min().unwrap_or(Nanos::MAX)
    }

    /// The same of a packet that came over the old link. The mobile has that link until then, for ACKs, too.
    pub(super) fn old_acknowledged(&self, at: Nanos) -> Nanos {
        let experiment = &self.fork.experiment;
        let over_new = self.acknowledged(at);
        match (experiment.kind, experiment.address) {
            (Kind::Mbb | Kind::PingPong(_), Address::Keep) => over_new.min(self.acknowledged_over(OLD, at)),
            _ => over_new,
        }
    }

    /// When a connection can be open that the mobile opens at completion: SYN, SYN-ACK, and ACK with request.
    pub(super) fn opened(&self) -> Nanos {
        let experiment = &self.fork.experiment;
        let hops = experiment.fixed_hops();
        let syn = self.acknowledged_over(NEW, self.completion);
        let before = 2 * (Rate::new(hops.wired).time(ACK_BYTES) + WIRED_DELAY);
        let mut down = experiment.new.best_service(experiment.link_seed(NEW), false);
        let over = down.departure(syn + before, ACK_BYTES) + experiment.new.delay.min();
        self.acknowledged_over(NEW, over + Rate::new(hops.last).time(ACK_BYTES))
    }

    /// When an ACK can be with the sender that the receiver sends over this link at `at`.
    fn acknowledged_over(&self, link: usize, at: Nanos) -> Nanos {
        let experiment = &self.fork.experiment;
        let access = [&experiment.old, &experiment.new][link];
        let hops = experiment.fixed_hops();
        let ack_hops = Rate::new(hops.last).time(ACK_BYTES);
        let ack_wired = 2 * (Rate::new(hops.wired).time(ACK_BYTES) + WIRED_DELAY);
        if experiment.is_upward() {
            let mut down = access.best_service(experiment.link_seed(link), false);
            return down.departure(at + ack_wired, ACK_BYTES) + access.delay.min() + ack_hops;
        }
        let mut up = access.best_service(experiment.link_seed(link), true);
        up.departure(at + ack_hops, ACK_BYTES) + access.up_delay().min() + ack_wired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of 1500 bytes takes 1.5 ms per 8 Mbit/s.
    fn carrier(mbit: u64, from: Nanos, closes: Option<Closing>) -> Carrier<'static> {
        Carrier {
            service: Service::Fixed(Rate::new(mbit * 1_000_000)),
            departure: from,
            bytes: 1500,
            after: 100,
            fates: Box::new(|| true),
            closes,
        }
    }

    const US: Nanos = 1_000;

    /// 8 Mbit/s from 0 on bring packets at 1500, 3000, 4500, ... us; 4 Mbit/s from 1 ms on at 4000, 7000, ...
    #[test]
    fn two_links_share_the_packets() {
        let mut both = Carriers::new(vec![carrier(8, 0, None), carrier(4, 1_000 * US, None)]);
        let times: Vec<_> = (1..=7).map(|packets| both.brought(packets) - 100).collect();
        assert_eq!(times, [1_500, 3_000, 4_000, 4_500, 6_000, 7_000, 7_500].map(|us| us * US));
        assert_eq!(both.brought(7) - 100, 7_500 * US);
    }

    /// Packets that came by 3 ms are with the receiver or wait: two have left by then, and three more have room.
    #[test]
    fn a_link_that_closes_brings_what_waits() {
        let closing = Closing { at: 3_000 * US, room: 3, entries: 9 };
        let mut one = carrier(8, 0, Some(closing));
        let times: Vec<_> = std::iter::from_fn(|| one.next()).map(|time| time - 100).collect();
        assert_eq!(times, [1_500, 3_000, 4_500, 6_000, 7_500].map(|us| us * US));
        let few = carrier(8, 0, Some(Closing { entries: 1, ..closing }));
        assert_eq!(Carriers::new(vec![few]).brought(2), Nanos::MAX);
    }
}
