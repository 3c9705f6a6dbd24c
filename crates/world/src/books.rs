//! The books of the bench after every event (algorithms.md, 6.1): what was sent has arrived, was dropped by a queue, overflowed
//! a buffer, was lost with the link, or is under way.

use crate::bench::{Experiment, Kind};
use crate::handoff_run::{WarmRun, check_scheme};
use crate::nodes::{BenchSim, HostObserver};
use crate::packet::Packet;
use crate::routers::{self, Routers};
use crate::{AccessLink, Definition, NoticeMode};
use proptest::prelude::*;
use segue_handoff::Advised;
use segue_netsim::{LinkId, Nanos, NodeId, Observer, Passage, SECOND};
use segue_tcp::Sender;
use segue_tcp::profile::NS2_NEWRENO;
use segue_tcp::receiver::Arrival;

const MS: Nanos = 1_000_000;

/// Data packets.
#[derive(Clone, Debug, Default)]
struct Books {
    sent: usize,
    arrived: usize,
    dropped: usize,
    lost: usize,
    overflowed: usize,
}

impl Observer<Packet> for Books {
    fn dropped(&mut self, _: Nanos, _: LinkId, packet: &Packet) {
        self.dropped += usize::from(packet.data);
    }
    fn accepted(&mut self, _: LinkId, _: &Passage, _: &Packet) {}
    fn lost(&mut self, _: Nanos, _: LinkId, packet: &Packet) {
        self.lost += usize::from(packet.data);
    }
    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}
    fn overflowed(&mut self, _: Nanos, _: NodeId, packet: &Packet) {
        self.overflowed += usize::from(packet.data);
    }
}

impl HostObserver for Books {
    fn timeout(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}
    fn fast_retransmit(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}
    fn sent(&mut self, _: Nanos, packet: &Packet) {
        self.sent += usize::from(packet.data);
    }
    fn heard(&mut self, _: Nanos, packet: &Packet) {
        self.arrived += usize::from(packet.data);
    }
    fn changed(&mut self, _: Nanos, _: u16, _: &mut Sender<Advised>) {}
    fn acknowledged(&mut self, _: Nanos, _: u16, _: u32) {}
    fn arrived(&mut self, _: Nanos, _: LinkId, _: &Packet, _: Arrival) {}
}

fn assert_whole(sim: &BenchSim<Books>) {
    let Books { sent, arrived, dropped, lost, overflowed } = sim.net.observer.watch;
    let data = |id: &_| sim.net.packets[*id].data;
    let on_links = sim.net.on_links().filter(data).count();
    let held = routers::held(sim).filter(data).count();
    let found = arrived + dropped + lost + overflowed + on_links + held;
    assert_eq!(
        sent,
        found,
        "at {} ns: {:?}, {on_links} on links, {held} held",
        sim.net.now(),
        sim.net.observer.watch
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any buffer at either router. The outage is of any length, so completion samples all of its moments; from then on every
    /// event is followed.
    #[test]
    fn the_books_are_whole_after_every_event(
        (old, new) in (50u32..4000, 50u32..4000),
        (at, outage, hint) in (100u64..5_000, 1u64..2_500, 0u64..300),
        (packets, flows, seed) in (1u32..60, 1usize..=3, any::<u64>()),
        rule in prop::sample::select(vec!["previous-fcfd", "previous-lcfd", "new-fcfd", "new-lcfd"]),
        name in prop::sample::select(vec!["sack", "freeze", "buffer-fcfd", "buffer-fcfd+phas", "buffer-lcfd+phas"]),
    ) {
        let mut routers = Routers::default();
        let (size, hint) = (format!("{packets}p"), format!("{hint}ms"));
        for (key, value) in [("router-buffer", rule), ("router-buffer-size", &size), ("handoff-hint", &hint)] {
            routers.set(key, value).unwrap().unwrap();
        }
        let experiment = Experiment {
            old: AccessLink::parse(&format!("{old}kbit/30ms")).unwrap(),
            new: AccessLink::parse(&format!("{new}kbit/60ms")).unwrap(),
            kind: Kind::Bbm(outage * MS),
            flows,
            stack: NS2_NEWRENO,
            notice: NoticeMode::Instant,
            notice_delay: 0,
            packets: 50,
            definition: Definition::AfterHighest,
            routers,
            seed,
        };
        let scheme = check_scheme(name, &[]).unwrap();
        let mut warm = WarmRun::watched(experiment, Books::default(), |_, _| {});
        let handoff = warm.fork(at * MS).complete();
        let (mut sim, _) = handoff.start(&scheme);
        assert_whole(&sim);
        handoff.notify_all(&mut sim, &scheme);
        assert_whole(&sim);
        while sim.step(handoff.completion() + 20 * SECOND) {
            assert_whole(&sim);
        }
    }
}
