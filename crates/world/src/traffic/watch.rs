//! Measures the mobile's traffic by class, from T on. Each of several handoffs in a run has its part of the time, until
//! the next begins. Things that are asked for, sent or waiting in a part are counted there, whenever they come.

use super::source::Item;
use super::{COUNTED, Class, ClassRecord, LATE, STALL};
use crate::delays::Delays;
use crate::packet::Packet;
use segue_netsim::Nanos;
use segue_tcp::receiver::Arrival;
use std::collections::{BTreeSet, VecDeque};

/// No packet was sent.
const NEVER: Nanos = Nanos::MAX;

/// A watched flow as it stands at T.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Its class.
    pub class: Class,
    /// Number of its next transmission.
    pub first_copy: u32,
    /// The receiver has all packets below.
    pub next: u32,
    /// Packets from there on that it has.
    pub beyond: BTreeSet<u32>,
    /// Items under way; a long transfer is none.
    pub items: VecDeque<Item>,
    /// A frame is shown so long after it was made; `None` if nothing is shown.
    pub shown_after: Option<Nanos>,
}

/// Counts of a flow for one handoff.
#[derive(Clone, Debug, Default)]
struct Tally {
    stalled: Nanos,
    /// Number that the cumulative ACK of a long transfer has to reach, and when it did.
    target: Option<(u32, Option<Nanos>)>,
    times: Vec<Nanos>,
    late: u32,
    delays: Delays,
    /// When the first item came that was awaited at completion, or asked for after it.
    first: Option<Nanos>,
}

/// A flow.
#[derive(Clone, Debug)]
struct Flow {
    stands: Watched,
    /// When each transmission since T was made.
    sent: Vec<Nanos>,
    /// Since when it waits without progress.
    waits: Option<Nanos>,
    /// One for each handoff.
    tallies: Vec<Tally>,
}

/// A handoff of the run.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// T.
    from: Nanos,
    completion: Nanos,
}

/// The part that a time belongs to: the last that has begun, or the first.
fn part_of(parts: &[Part], time: Nanos) -> usize {
    parts.partition_point(|part| part.from <= time).saturating_sub(1)
}

impl Flow {
    fn is_bulk(&self) -> bool {
        matches!(self.stands.class, Class::Download | Class::Upload)
    }

    /// A wait ends at `now`: each handoff has what lies in its part.
    fn waited(&mut self, parts: &[Part], now: Nanos) {
        let Some(since) = self.waits.take().filter(|&since| now.saturating_sub(since) > STALL) else {
            return;
        };
        for (index, (part, tally)) in parts.iter().zip(&mut self.tallies).enumerate() {
            let end = parts.get(index + 1).map_or(now, |next| next.from.min(now));
            tally.stalled += end.saturating_sub(since.max(part.from));
        }
    }

    fn last(&mut self) -> Option<&mut Tally> {
        self.tallies.last_mut()
    }
}

/// All flows of the mobile, by number.
#[derive(Clone, Debug)]
pub(crate) struct TrafficWatch {
    flows: Vec<Flow>,
    /// The handoffs of the run.
    parts: Vec<Part>,
    /// Nothing counts that is asked for later, or moves later.
    until: Nanos,
}

impl TrafficWatch {
    /// Begins at T.
    pub fn new(at: Nanos, completion: Nanos, flows: impl Iterator<Item = Watched>) -> Self {
        let flow = |stands: Watched| {
            let mut flow = Flow { stands, sent: Vec::new(), waits: None, tallies: vec![Tally::default()] };
            flow.waits = (flow.is_bulk() || !flow.stands.items.is_empty()).then_some(at);
            flow
        };
        let parts = vec![Part { from: at, completion }];
        Self { flows: flows.map(flow).collect(), parts, until: completion + COUNTED }
    }

    /// Another handoff of the run begins.
    pub fn begin(&mut self, at: Nanos, completion: Nanos) {
        self.parts.push(Part { from: at, completion });
        self.until = completion + COUNTED;
        self.flows.iter_mut().for_each(|flow| flow.tallies.push(Tally::default()));
    }

    /// Another will begin: until then everything is counted.
    pub fn goes_on(&mut self) {
        self.until = Nanos::MAX;
    }

    /// When the time that is counted ends, unless another handoff follows.
    pub fn until(&self) -> Option<Nanos> {
        Some(self.until).filter(|&until| until < Nanos::MAX)
    }

    /// The long transfer of `flow` has ended when its cumulative ACK is `target`.
    pub fn ends_at(&mut self, flow: u16, target: u32) {
        if let Some(tally) = self.flows.get_mut(usize::from(flow)).and_then(Flow::last) {
            tally.target = Some((target, None));
        }
    }

    /// Whether all has come that was asked for in time, and every target is reached.
    pub fn is_settled(&self) -> bool {
        let settled = |flow: &Flow| {
            let target = flow.tallies.last().and_then(|tally| tally.target);
            flow.stands.items.is_empty() && target.is_none_or(|(_, reached)| reached.is_some())
        };
        self.flows.iter().all(settled)
    }

    pub fn sent(&mut self, now: Nanos, packet: &Packet) {
        let Some(flow) = self.flows.get_mut(usize::from(packet.flow)) else { return };
        if packet.data
            && let Some(index) = packet.copy.checked_sub(flow.stands.first_copy)
        {
            let index = index as usize;
            if flow.sent.len() <= index {
                flow.sent.resize(index + 1, NEVER);
            }
            flow.sent[index] = now;
        }
    }

    pub fn arrived(&mut self, now: Nanos, packet: &Packet, arrival: Arrival) {
        let (until, parts) = (self.until, &self.parts);
        let Some(flow) = self.flows.get_mut(usize::from(packet.flow)) else { return };
        let index = packet.copy.checked_sub(flow.stands.first_copy);
        let sent = index.and_then(|index| flow.sent.get(index as usize)).filter(|&&sent| sent != NEVER);
        if let Some(&sent) = sent.filter(|_| now <= until) {
            flow.tallies[part_of(parts, sent)].delays.add(now - sent);
        }
        if arrival != Arrival::New {
            return;
        }
        let stands = &mut flow.stands;
        let before = stands.next;
        match packet.segment.seq == before {
            true => stands.next += 1, // mostly
            false => _ = stands.beyond.insert(packet.segment.seq),
        }
        while !stands.beyond.is_empty() && stands.beyond.remove(&stands.next) {
            stands.next += 1;
        }
        if stands.next == before {
            return;
        }
        flow.waited(parts, now.min(until));
        while let Some(item) = flow.stands.items.front().copied().filter(|item| item.end <= flow.stands.next)
        {
            flow.stands.items.pop_front();
            let tally = &mut flow.tallies[part_of(parts, item.asked)];
            tally.times.push(now - item.asked);
            let late = flow.stands.shown_after.is_some_and(|after| now > item.asked + after + LATE);
            tally.late += u32::from(late);
            let completed = parts.iter().zip(&mut flow.tallies).filter(|(part, _)| part.completion <= now);
            completed.for_each(|(_, tally)| {
                tally.first.get_or_insert(now);
            });
        }
        if now < until && (flow.is_bulk() || !flow.stands.items.is_empty()) {
            flow.waits = Some(now);
        }
    }

    /// The user of `flow` asks for something, or an application makes it.
    pub fn asked(&mut self, flow: u16, item: Item) {
        let until = self.until;
        let Some(flow) = self.flows.get_mut(usize::from(flow)) else { return };
        if item.asked <= until {
            flow.stands.items.push_back(item);
            flow.waits.get_or_insert(item.asked);
        }
    }

    pub fn acknowledged(&mut self, now: Nanos, flow: u16, una: u32) {
        let tally = self.flows.get_mut(usize::from(flow)).and_then(Flow::last);
        if let Some(Tally { target: Some((target, reached @ None)), .. }) = tally
            && una >= *target
        {
            *reached = Some(now);
        }
    }

    /// From a handoff's completion until each application has had what it waited for then, or what it asked for next;
    /// `None` if one never had.
    pub fn resumed(&self, handoff: usize) -> Option<Nanos> {
        let completion = self.parts.get(handoff)?.completion;
        let applications = self.flows.iter().filter(|flow| !flow.is_bulk());
        applications
            .map(|flow| flow.tallies.get(handoff)?.first)
            .try_fold(0, |latest, first| Some(latest.max(first? - completion)))
    }

    /// Nothing more is awaited.
    pub fn end(&mut self) {
        for flow in &mut self.flows {
            flow.waited(&self.parts, self.until);
        }
    }

    /// The outcome of each of `classes` in the part of a handoff, once the watch has ended. `own`: the transfer of the
    /// bench's own flows.
    pub fn records(
        &self,
        handoff: usize,
        classes: &[Class],
        own: Option<(Class, Option<Nanos>)>,
    ) -> Vec<ClassRecord> {
        let Some(&Part { completion, .. }) = self.parts.get(handoff) else { return Vec::new() };
        let of = |class: Class| {
            let flows = || self.flows.iter().filter(move |flow| flow.stands.class == class);
            let tallies = || flows().filter_map(|flow| flow.tallies.get(handoff));
            let mut delays = Delays::default();
            tallies().for_each(|tally| delays.merge(&tally.delays));
            let unfinished = |flow: &Flow| {
                let items = flow.stands.items.iter();
                items.filter(|item| part_of(&self.parts, item.asked) == handoff).count()
            };
            let mut times: Vec<Option<Nanos>> =
                tallies().flat_map(|tally| &tally.times).map(|&time| Some(time)).collect();
            times.extend(flows().flat_map(|flow| std::iter::repeat_n(None, unfinished(flow))));
            if let Some((_, transfer)) = own.filter(|(own, _)| *own == class) {
                times.push(transfer);
            } else if tallies().any(|tally| tally.target.is_some()) {
                let mut reached = tallies().filter_map(|tally| tally.target).map(|(_, reached)| reached);
                times.push(reached.try_fold(0, |latest, at| Some(latest.max(at? - completion))));
            }
            let shown = |flow: &&Flow| flow.stands.shown_after.is_some();
            let late = |flow: &Flow| flow.tallies.get(handoff).map_or(0, |tally| tally.late);
            ClassRecord {
                class,
                times,
                stalled: tallies().map(|tally| tally.stalled).sum::<Nanos>()
                    / (flows().count() as u64).max(1),
                late: flows().filter(shown).map(|flow| late(flow) + unfinished(flow) as u32).sum(),
                delays,
            }
        };
        classes.iter().map(|&class| of(class)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use segue_netsim::SECOND;
    use segue_tcp::segment::{CarriedOption, SackList};
    use segue_tcp::{Segment, Transmit};

    const MS: Nanos = 1_000_000;

    /// Packet `seq` of the only flow, sent for the `copy`-th time.
    fn packet(seq: u32, copy: u32) -> Packet {
        let segment = Segment {
            seq,
            ack: 1,
            window: 100,
            payload: 1460,
            syn: false,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: Default::default(),
            sack: SackList::default(),
            timestamps: None,
            option: CarriedOption::default(),
        };
        Packet::data(0, Transmit { segment, bytes: 1500, copy, retransmission: false })
    }

    fn watch(class: Class, shown_after: Option<Nanos>) -> TrafficWatch {
        let stands = Watched {
            class,
            first_copy: 10,
            next: 5,
            beyond: BTreeSet::new(),
            items: VecDeque::new(),
            shown_after,
        };
        TrafficWatch::new(SECOND, 2 * SECOND, std::iter::once(stands))
    }

    /// Frames of two packets, shown 50 ms after they were made. The first comes in order after 60 ms, the second's
    /// first packet is lost and sent again: 151 ms are 1 ms too late.
    #[test]
    fn frames_are_complete_in_order_and_late_by_more_than_100_ms() {
        let mut watch = watch(Class::Video, Some(50 * MS));
        let t = 3 * SECOND;
        watch.asked(0, Item { asked: t, end: 7 });
        watch.sent(t, &packet(5, 10));
        watch.sent(t, &packet(6, 11));
        watch.asked(0, Item { asked: t + 33 * MS, end: 9 });
        watch.sent(t + 33 * MS, &packet(7, 12));
        watch.sent(t + 33 * MS, &packet(8, 13));
        watch.arrived(t + 59 * MS, &packet(5, 10), Arrival::New);
        watch.arrived(t + 60 * MS, &packet(6, 11), Arrival::New);
        watch.arrived(t + 90 * MS, &packet(8, 13), Arrival::New);
        watch.sent(t + 140 * MS, &packet(7, 14));
        assert!(!watch.is_settled());
        watch.arrived(t + 184 * MS, &packet(7, 14), Arrival::New);
        watch.arrived(t + 190 * MS, &packet(7, 12), Arrival::Duplicate);
        assert!(watch.is_settled());
        assert_eq!(watch.resumed(0), Some(SECOND + 60 * MS));
        watch.end();
        let [video] = &watch.records(0, &[Class::Video], None)[..] else { panic!("one class") };
        assert_eq!(video.times, [Some(60 * MS), Some(151 * MS)]);
        assert_eq!((video.late, video.stalled), (1, 0));
        // 59, 60, 57, 44 and 157 ms.
        assert_eq!(video.delays.quantile(1.0), Some(0.1575));
        assert_eq!(video.delays.quantile(0.5), Some(0.0595));
    }

    /// From T at 1 s nothing comes for 300 ms, then for 200 ms, which is no stall. After 2 s more the user has all and
    /// asks for nothing for 5 s. Then nothing ever comes, and 12 s is when the counted time ends.
    #[test]
    fn waits_of_more_than_200_ms_are_stalls() {
        let mut watch = watch(Class::Page, None);
        watch.asked(0, Item { asked: SECOND, end: 8 });
        watch.arrived(1300 * MS, &packet(5, 3), Arrival::New);
        watch.arrived(1500 * MS, &packet(6, 4), Arrival::New);
        watch.arrived(3500 * MS, &packet(7, 5), Arrival::New);
        watch.asked(0, Item { asked: 8500 * MS, end: 9 });
        watch.asked(0, Item { asked: 12_001 * MS, end: 10 });
        watch.end();
        let [page] = &watch.records(0, &[Class::Page], None)[..] else { panic!("one class") };
        assert_eq!(page.stalled, (300 + 2000 + 3500) * MS);
        assert_eq!(page.times, [Some(2500 * MS), None]);
        assert_eq!(page.late, 0);
    }

    /// Two handoffs in a run, the second at 3 s. Data that was asked for before it is the first one's, whenever it
    /// comes, and of a stall each has its part.
    #[test]
    fn each_handoff_has_its_part_of_the_time() {
        let mut watch = watch(Class::Video, Some(20 * MS));
        watch.goes_on();
        watch.asked(0, Item { asked: 2900 * MS, end: 8 });
        watch.sent(2900 * MS, &packet(5, 3));
        watch.begin(3 * SECOND, 4 * SECOND);
        watch.asked(0, Item { asked: 3300 * MS, end: 9 });
        watch.sent(3300 * MS, &packet(8, 4));
        watch.arrived(3600 * MS, &packet(5, 3), Arrival::New);
        watch.arrived(3600 * MS, &packet(6, 3), Arrival::New);
        watch.arrived(3600 * MS, &packet(7, 3), Arrival::New);
        watch.arrived(4200 * MS, &packet(8, 4), Arrival::New);
        watch.end();
        let [first] = &watch.records(0, &[Class::Video], None)[..] else { panic!("one class") };
        let [second] = &watch.records(1, &[Class::Video], None)[..] else { panic!("one class") };
        assert_eq!((&first.times[..], first.late), (&[Some(700 * MS)][..], 1));
        assert_eq!((&second.times[..], second.late), (&[Some(900 * MS)][..], 1));
        // Waiting began with the asking, at 2.9 s, and again at 3.6 s.
        assert_eq!((first.stalled, second.stalled), (100 * MS, 600 * MS + 600 * MS));
        assert_eq!((watch.resumed(0), watch.resumed(1)), (Some(1600 * MS), Some(200 * MS)));
        assert!(watch.records(2, &[Class::Video], None).is_empty());
    }

    /// A long transfer always waits; its time ends at its target.
    #[test]
    fn a_long_transfer_ends_at_its_target() {
        let mut watch = watch(Class::Upload, None);
        watch.ends_at(0, 7);
        watch.arrived(1900 * MS, &packet(5, 3), Arrival::New);
        watch.acknowledged(1950 * MS, 0, 6);
        assert!(!watch.is_settled());
        watch.acknowledged(2500 * MS, 0, 7);
        watch.acknowledged(2600 * MS, 0, 8);
        assert!(watch.is_settled());
        watch.end();
        let [upload] = &watch.records(0, &[Class::Upload], None)[..] else { panic!("one class") };
        assert_eq!(upload.times, [Some(500 * MS)]);
        assert_eq!(upload.stalled, 900 * MS + 10_100 * MS);
    }
}
