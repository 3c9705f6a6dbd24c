//! Measures the mobile's traffic by class, from T on.

use super::source::Item;
use super::{COUNTED, Class, ClassRecord, LATE, STALL};
use crate::delays::Delays;
use crate::packet::Packet;
use segue_netsim::Nanos;
use segue_tcp::receiver::Arrival;
use std::collections::{BTreeSet, VecDeque};

/// No packet was sent.
const NEVER: Nanos = Nanos::MAX;

/// What is watched of a flow, as it stands at T.
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
    /// What is under way; a long transfer is no item.
    pub items: VecDeque<Item>,
    /// A frame is shown so long after it was made; `None` if nothing is shown.
    pub shown_after: Option<Nanos>,
}

/// A flow.
#[derive(Clone, Debug)]
struct Flow {
    stands: Watched,
    /// When each transmission since T was made.
    sent: Vec<Nanos>,
    /// Since when it waits without progress.
    waits: Option<Nanos>,
    stalled: Nanos,
    /// What the cumulative ACK of a long transfer has to reach, and when it did.
    target: Option<(u32, Option<Nanos>)>,
    times: Vec<Nanos>,
    late: u32,
    delays: Delays,
    /// When the first item came that was awaited at completion, or asked for after it.
    first: Option<Nanos>,
}

impl Flow {
    fn is_bulk(&self) -> bool {
        matches!(self.stands.class, Class::Download | Class::Upload)
    }

    /// A wait ends at `now`.
    fn waited(&mut self, now: Nanos) {
        if let Some(since) = self.waits.take() {
            let wait = now.saturating_sub(since);
            if wait > STALL {
                self.stalled += wait;
            }
        }
    }
}

/// All flows of the mobile, by number.
#[derive(Clone, Debug)]
pub(crate) struct TrafficWatch {
    flows: Vec<Flow>,
    completion: Nanos,
    /// What is asked for later, or moves later, is not counted.
    until: Nanos,
}

impl TrafficWatch {
    /// Begins at T.
    pub fn new(at: Nanos, completion: Nanos, flows: impl Iterator<Item = Watched>) -> Self {
        let flow = |stands: Watched| {
            let mut flow = Flow {
                stands,
                sent: Vec::new(),
                waits: None,
                stalled: 0,
                target: None,
                times: Vec::new(),
                late: 0,
                delays: Delays::default(),
                first: None,
            };
            flow.waits = (flow.is_bulk() || !flow.stands.items.is_empty()).then_some(at);
            flow
        };
        Self { flows: flows.map(flow).collect(), completion, until: completion + COUNTED }
    }

    /// When the time that is counted ends.
    pub fn until(&self) -> Nanos {
        self.until
    }

    /// The long transfer of `flow` has ended when its cumulative ACK is `target`.
    pub fn ends_at(&mut self, flow: u16, target: u32) {
        if let Some(flow) = self.flows.get_mut(usize::from(flow)) {
            flow.target = Some((target, None));
        }
    }

    /// Whether all has come that was asked for in time, and every target is reached.
    pub fn is_settled(&self) -> bool {
        let settled = |flow: &Flow| {
            flow.stands.items.is_empty() && flow.target.is_none_or(|(_, reached)| reached.is_some())
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
        let (until, completion) = (self.until, self.completion);
        let Some(flow) = self.flows.get_mut(usize::from(packet.flow)) else { return };
        let index = packet.copy.checked_sub(flow.stands.first_copy);
        let sent = index.and_then(|index| flow.sent.get(index as usize)).filter(|&&sent| sent != NEVER);
        if let Some(&sent) = sent.filter(|_| now <= until) {
            flow.delays.add(now - sent);
        }
        if arrival == Arrival::Duplicate {
            return;
        }
        let stands = &mut flow.stands;
        stands.beyond.insert(packet.segment.seq);
        let before = stands.next;
        while stands.beyond.remove(&stands.next) {
            stands.next += 1;
        }
        if stands.next == before {
            return;
        }
        flow.waited(now.min(until));
        while let Some(item) = flow.stands.items.front().copied().filter(|item| item.end <= flow.stands.next)
        {
            flow.stands.items.pop_front();
            flow.times.push(now - item.asked);
            let late = flow.stands.shown_after.is_some_and(|after| now > item.asked + after + LATE);
            flow.late += u32::from(late);
            if now >= completion {
                flow.first.get_or_insert(now);
            }
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
        if let Some(Flow { target: Some((target, reached @ None)), .. }) =
            self.flows.get_mut(usize::from(flow))
            && una >= *target
        {
            *reached = Some(now);
        }
    }

    /// From completion until each application has had what it waited for then, or what it asked for next; `None` if
    /// one never had.
    pub fn resumed(&self) -> Option<Nanos> {
        let applications = self.flows.iter().filter(|flow| !flow.is_bulk());
        applications
            .map(|flow| flow.first)
            .try_fold(0, |latest, first| Some(latest.max(first? - self.completion)))
    }

    /// What came of each of `classes`, once nothing more is awaited. `download`: the transfer of the bench's own flows.
    pub fn finish(mut self, classes: &[Class], own: Option<(Class, Option<Nanos>)>) -> Vec<ClassRecord> {
        let (until, completion) = (self.until, self.completion);
        for flow in &mut self.flows {
            flow.waited(until);
        }
        let of = |class: Class| {
            let flows = || self.flows.iter().filter(move |flow| flow.stands.class == class);
            let mut delays = Delays::default();
            flows().for_each(|flow| delays.merge(&flow.delays));
            let unfinished = |flow: &Flow| flow.stands.items.len();
            let mut times: Vec<Option<Nanos>> =
                flows().flat_map(|flow| &flow.times).map(|&time| Some(time)).collect();
            times.extend(flows().flat_map(|flow| flow.stands.items.iter().map(|_| None)));
            if let Some((_, transfer)) = own.filter(|(own, _)| *own == class) {
                times.push(transfer);
            } else if flows().any(|flow| flow.target.is_some()) {
                let mut reached = flows().filter_map(|flow| flow.target).map(|(_, reached)| reached);
                times.push(reached.try_fold(0, |latest, at| Some(latest.max(at? - completion))));
            }
            let shown = |flow: &&Flow| flow.stands.shown_after.is_some();
            ClassRecord {
                class,
                times,
                stalled: flows().map(|flow| flow.stalled).sum::<Nanos>() / (flows().count() as u64).max(1),
                late: flows().filter(shown).map(|flow| flow.late + unfinished(flow) as u32).sum(),
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
        assert_eq!(watch.resumed(), Some(SECOND + 60 * MS));
        let [video] = &watch.finish(&[Class::Video], None)[..] else { panic!("one class") };
        assert_eq!(video.times, [Some(60 * MS), Some(151 * MS)]);
        assert_eq!((video.late, video.stalled), (1, 0));
        // 59, 60, 57, 44 and 157 ms.
        assert_eq!(video.delays.quantile(1.0), Some(0.1575));
        assert_eq!(video.delays.quantile(0.5), Some(0.0595));
    }

    /// From T at 1 s nothing comes for 300 ms, then for 200 ms, which is no stall; after 2 s more the user has all and
    /// asks for nothing for 5 s; then nothing ever comes, and 12 s is when the counted time ends.
    #[test]
    fn waits_of_more_than_200_ms_are_stalls() {
        let mut watch = watch(Class::Page, None);
        watch.asked(0, Item { asked: SECOND, end: 8 });
        watch.arrived(1300 * MS, &packet(5, 3), Arrival::New);
        watch.arrived(1500 * MS, &packet(6, 4), Arrival::New);
        watch.arrived(3500 * MS, &packet(7, 5), Arrival::New);
        watch.asked(0, Item { asked: 8500 * MS, end: 9 });
        watch.asked(0, Item { asked: 12_001 * MS, end: 10 });
        let [page] = &watch.finish(&[Class::Page], None)[..] else { panic!("one class") };
        assert_eq!(page.stalled, (300 + 2000 + 3500) * MS);
        assert_eq!(page.times, [Some(2500 * MS), None]);
        assert_eq!(page.late, 0);
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
        let [upload] = &watch.finish(&[Class::Upload], None)[..] else { panic!("one class") };
        assert_eq!(upload.times, [Some(500 * MS)]);
        assert_eq!(upload.stalled, 900 * MS + 10_100 * MS);
    }
}
