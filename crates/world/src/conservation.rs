//! Conservation of packets on the bench after every event (algorithms.md, 6.1). A packet that was sent has arrived or
//! is under way. Or it was lost in a queue, on a link or in the disconnection, or overflowed a buffer.

use crate::bench::{Duplex, Experiment, LinkIds};
use crate::handoff_run::{WarmRun, check_scheme};
use crate::nodes::{BenchSim, HostObserver};
use crate::packet::Packet;
use crate::router_settings::Routers;
use crate::routers;
use crate::words::Kind;
use proptest::prelude::*;
use segue_handoff::LoggedScheme;
use segue_netsim::loss::random::RandomLoss;
use segue_netsim::queue::codel::{Codel, CodelConfig};
use segue_netsim::{LinkId, LossCause, Nanos, NodeId, Observer, Passage, SECOND};
use segue_tcp::AnySender;
use segue_tcp::profile::{LINUX_6_12, NS2_NEWRENO};
use segue_tcp::receiver::Arrival;

const MS: Nanos = 1_000_000;

/// Data packets.
#[derive(Clone, Debug, Default)]
struct Counts {
    sent: usize,
    arrived: usize,
    lost: usize,
    overflowed: usize,
    /// Losses of data and ACKs, with their times.
    losses: Vec<(Nanos, LossCause)>,
}

impl Observer<Packet> for Counts {
    fn accepted(&mut self, _: LinkId, _: &Passage, _: &Packet) {}
    fn lost(&mut self, now: Nanos, _: LinkId, packet: &Packet, cause: LossCause) {
        self.lost += usize::from(packet.data);
        self.losses.push((now, cause));
    }
    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}
    fn overflowed(&mut self, _: Nanos, _: NodeId, packet: &Packet) {
        self.overflowed += usize::from(packet.data);
    }
}

impl HostObserver for Counts {
    fn timeout(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}
    fn fast_retransmit(&mut self, _: Nanos, _: u16, _: u32, _: u32) {}
    fn sent(&mut self, _: Nanos, packet: &Packet) {
        self.sent += usize::from(packet.data);
    }
    fn heard(&mut self, _: Nanos, packet: &Packet) {
        self.arrived += usize::from(packet.data);
    }
    fn changed(&mut self, _: Nanos, _: u16, _: &mut AnySender<LoggedScheme>) {}
    fn acknowledged(&mut self, _: Nanos, _: u16, _: u32) {}
    fn arrived(&mut self, _: Nanos, _: LinkId, _: &Packet, _: Arrival) {}
}

fn assert_whole(sim: &BenchSim<Counts>) {
    let &Counts { sent, arrived, lost, overflowed, .. } = &sim.net.observer.watch;
    let data = |id: &_| sim.net.packets[*id].data;
    let on_links = sim.net.on_links().filter(data).count();
    let held = routers::held(sim).filter(data).count();
    let found = arrived + lost + overflowed + on_links + held;
    assert_eq!(
        sent,
        found,
        "at {} ns: {arrived} arrived, {lost} lost, {overflowed} overflowed, {on_links} on links, {held} held",
        sim.net.now()
    );
}

/// The access links of a bench as they are, but with a managed queue, or with losses, in each direction.
fn refit(
    experiment: &Experiment,
    sim: &mut BenchSim<Counts>,
    link_ids: &LinkIds,
    codel: bool,
    per_million: u32,
) {
    for (index, link) in [&experiment.old, &experiment.new].into_iter().enumerate() {
        let Duplex { down, up } = link_ids.access[index];
        for (id, config) in [
            (down, link.down_config(experiment.link_seed(index))),
            (up, link.up_config(experiment.link_seed(index))),
        ] {
            let config = config.lossy(RandomLoss::new(per_million, experiment.seed, u64::from(id.0)));
            let settings = CodelConfig { limit: link.queue, ..CodelConfig::default() };
            sim.net.replace_link(id, if codel { config.managed(Codel::new(settings)) } else { config });
        }
    }
}

/// The record counts each loss by its cause, and the new link's time still adds up: a packet that is lost has taken
/// time.
#[test]
fn the_record_tells_losses_apart() {
    for (kind, codel) in
        [(Kind::Mbb, false), (Kind::Mbb, true), (Kind::Bbm(700 * MS), false), (Kind::Bbm(MS), true)]
    {
        let experiment = Experiment {
            kind,
            flows: 2,
            packets: 300,
            seed: 5,
            ..Experiment::between("2mbit/30ms", "1mbit/50ms", NS2_NEWRENO)
        };
        let prepare =
            |sim: &mut BenchSim<Counts>, link_ids| refit(&experiment, sim, &link_ids, codel, 20_000);
        let mut warm = WarmRun::watched(experiment.clone(), Counts::default(), prepare);
        let at = 5 * SECOND;
        let handoff = warm.fork_watched(at, &|| {}).complete_watched();
        let ended = handoff.run_watched(&check_scheme("sack", &[]).unwrap(), &|| {});
        let (record, completion) = (ended.record, handoff.completion());
        let count = |wanted, since| {
            let is_it = |&&(time, cause): &&(Nanos, LossCause)| cause == wanted && time >= since;
            ended.watch.losses.iter().filter(is_it).count() as u32
        };
        assert_eq!(record.link_losses, count(LossCause::Link, completion));
        assert_eq!(record.drops, count(LossCause::Queue, completion));
        assert_eq!(record.lost_in_disconnection, count(LossCause::Disconnection, at));
        assert!(record.link_losses > 3, "{} losses", record.link_losses);
        assert_eq!(record.lost_in_disconnection > 0, kind != Kind::Mbb);
        assert_eq!(record.link_time.total(), ended.at - completion, "{:?}", record.link_time);
        // 12 ms for each packet that the mobile got over the new link, at most.
        let reached: u64 = record.acknowledged.iter().map(|&packets| u64::from(packets)).sum();
        assert!(record.link_time.useful <= (reached + 100) * 12 * MS, "{:?}", record.link_time);
    }
}

/// A kernel's sender ends the handshake with an ACK of its own. It takes the new link's time, too.
#[test]
fn the_time_of_a_senders_ack_is_counted() {
    for (old, new, at) in [
        ("200kbit/50ms", "200kbit/1ms", 100 * MS),
        ("200kbit/50ms", "2mbit/1ms", 0),
        ("200kbit/300ms", "6400kbit/9ms", 3 * SECOND),
    ] {
        let experiment = Experiment::between(old, new, LINUX_6_12);
        let record = WarmRun::new(experiment).fork(at).complete().run(&check_scheme("sack", &[]).unwrap());
        assert_eq!(Some(record.link_time.total()), record.transfer, "{old} {new}: {:?}", record.link_time);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 6,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any buffer at either router. The outage is of any length, so completion samples all of its moments; from then
    /// on every event is followed.
    #[test]
    fn packets_are_conserved_after_every_event(
        (old, new) in (50u32..4000, 50u32..4000),
        (at, outage, hint) in (100u64..5_000, 1u64..2_500, 0u64..300),
        (packets, flows, seed) in (1u32..60, 1usize..=3, any::<u64>()),
        rule in prop::sample::select(vec!["previous-fcfd", "previous-lcfd", "new-fcfd", "new-lcfd"]),
        (codel, per_million) in (any::<bool>(), prop::sample::select(vec![0u32, 50_000])),
        name in prop::sample::select(vec!["sack", "freeze", "mobile", "buffer-fcfd", "buffer-lcfd+phas"]),
    ) {
        let mut routers = Routers::default();
        let (size, hint) = (format!("{packets}p"), format!("{hint}ms"));
        for (key, value) in [("router-buffer", rule), ("router-buffer-size", &size), ("handoff-hint", &hint)] {
            routers.set(key, value).unwrap().unwrap();
        }
        let (old, new) = (format!("{old}kbit/30ms"), format!("{new}kbit/60ms"));
        let experiment = Experiment {
            kind: Kind::Bbm(outage * MS),
            flows,
            packets: 50,
            routers,
            seed,
            ..Experiment::between(&old, &new, NS2_NEWRENO)
        };
        let scheme = check_scheme(name, &[]).unwrap();
        let prepare = |sim: &mut BenchSim<Counts>, link_ids| refit(&experiment, sim, &link_ids, codel, per_million);
        let mut warm = WarmRun::watched(experiment.clone(), Counts::default(), prepare);
        let handoff = warm.fork_watched(at * MS, &|| {}).complete_watched();
        let (mut sim, _) = handoff.start(&scheme);
        assert_whole(&sim);
        handoff.notify_all(&mut sim, &scheme);
        assert_whole(&sim);
        while sim.step(handoff.completion() + 20 * SECOND) {
            assert_whole(&sim);
        }
    }
}
