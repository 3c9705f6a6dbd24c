//! A timer and a packet in the same instant: which comes first.

use segue_netsim::{
    Delay, LinkConfig, LinkId, Nanos, Net, Node, NodeId, PacketId, Payload, Rate, Service, Sim, TimerId,
};

const MS: Nanos = 1_000_000;

#[derive(Clone, Debug)]
struct Plain;

impl Payload for Plain {
    fn size(&self) -> u32 {
        1500
    }

    fn flow(&self) -> u16 {
        0
    }
}

/// The events at a host, and when they happen.
#[derive(Clone, Debug, Default)]
struct Host {
    seen: Vec<(Nanos, &'static str)>,
    /// It is set for the instant in which a packet comes.
    timer: Option<TimerId>,
}

impl Node<Plain, ()> for Host {
    fn on_packet(&mut self, net: &mut Net<Plain, ()>, _: LinkId, packet: PacketId) {
        self.seen.push((net.now(), "packet"));
        net.packets.remove(packet);
        if let Some(timer) = self.timer {
            net.arm(timer, net.now());
        }
    }

    fn on_timer(&mut self, net: &mut Net<Plain, ()>, _: TimerId) {
        self.seen.push((net.now(), "timer"));
    }
}

/// Two packets that arrive in the same instant, and a timer for it that is set after they have left.
fn meet(timers_first: bool, sets_more: bool) -> Vec<(Nanos, &'static str)> {
    let mut net = Net::new(());
    if timers_first {
        net.serve_timers_first();
    }
    let wire = || LinkConfig::new(Service::Fixed(Rate::new(12_000_000)), Delay::Fixed(MS));
    let links = [net.add_link(NodeId(0), wire()), net.add_link(NodeId(0), wire())];
    let (timer, other) = (net.add_timer(NodeId(0)), net.add_timer(NodeId(0)));
    let mut sim = Sim { net, nodes: vec![Host { timer: sets_more.then_some(other), ..Host::default() }] };
    for link in links {
        sim.net.originate(link, Plain);
    }
    sim.net.arm(timer, 2 * MS);
    sim.run_until(3 * MS);
    sim.nodes[0].seen.clone()
}

#[test]
fn all_comes_in_the_order_in_which_it_was_scheduled() {
    assert_eq!(meet(false, false), ["packet", "packet", "timer"].map(|what| (2 * MS, what)));
}

#[test]
fn timers_come_first_where_that_is_asked_for() {
    assert_eq!(meet(true, false), ["timer", "packet", "packet"].map(|what| (2 * MS, what)));
}

/// A timer that the first packet sets for the present instant fires before the second, as on the reference's bench.
#[test]
fn a_timer_that_is_due_at_once() {
    assert_eq!(meet(false, true), ["packet", "packet", "timer", "timer"].map(|what| (2 * MS, what)));
    let seen = ["timer", "packet", "timer", "packet", "timer"];
    assert_eq!(meet(true, true), seen.map(|what| (2 * MS, what)));
}
