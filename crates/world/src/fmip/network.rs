//! The network of a download.

use super::download::Download;
use super::nodes::{FmipNode, HomeAgent, Lost, MobileHost, NewAccess, Pair, PreviousAccess};
use super::record::{DownloadObserver, Way};
use crate::bench::line;
use crate::nodes::{BenchNode, Correspondent, Mobile, Route, Router, Wheel, receiving_flow, sending_flow};
use crate::packet::Packet;
use segue_handoff::fmipv6::{FastMobile, Message, NewRouter, PreviousRouter};
use segue_handoff::{Link, Scheme};
use segue_netsim::{
    Buffer, Capacity, Delay, GammaDelay, LinkConfig, LinkId, Nanos, Net, NodeId, Overflow, PacketId, Rate,
    Service, Sim,
};

/// Gigabit Ethernet.
const WIRED_RATE: u64 = 1_000_000_000;

/// The network of a download.
pub(super) type FmipSim = Sim<FmipNode, Packet, DownloadObserver>;

const CN: NodeId = NodeId(0);
const R: NodeId = NodeId(1);
const HA: NodeId = NodeId(2);
const PAR: NodeId = NodeId(3);
const NAR: NodeId = NodeId(4);
/// The mobile node.
pub(super) const MN: NodeId = NodeId(5);

/// Wired links, each direction with a random stream of its own.
struct Wires {
    net: Net<Packet, DownloadObserver>,
    shape: u32,
    seed: u64,
    streams: u64,
}

impl Wires {
    fn one(&mut self, to: NodeId, mean: Nanos) -> LinkId {
        self.streams += 1;
        let seed = self.seed.wrapping_mul(64).wrapping_add(self.streams);
        let delay = Delay::Gamma(GammaDelay::new(mean, self.shape, seed));
        self.net.add_link(to, LinkConfig::new(Service::Fixed(Rate::new(WIRED_RATE)), delay))
    }

    fn pair(&mut self, from: NodeId, to: NodeId, mean: Nanos) -> Pair {
        Pair { down: self.one(to, mean), up: self.one(from, mean) }
    }
}

/// Builds the network at time zero, the mobile node on PAR's link.
pub(super) fn build(download: &Download, scheme: &Scheme) -> FmipSim {
    let net = Net::new(DownloadObserver::default());
    let mut wires = Wires { net, shape: download.shape, seed: download.seed, streams: 0 };
    let core = [wires.pair(CN, R, download.core[0]), wires.pair(R, HA, download.core[1])];
    let edge = [PAR, NAR].map(|router| wires.pair(HA, router, download.edge));
    let tunnel = wires.pair(PAR, NAR, download.tunnel);
    let mut net = wires.net;
    let air = [0, 1].map(|side| line(download.wireless_rate, download.access[side]));
    let [old_line, new_line] = air;
    let access = [(PAR, old_line), (NAR, new_line.clone())]
        .map(|(router, line)| Pair { down: net.add_link(MN, line.clone()), up: net.add_link(router, line) });
    for link in [access[1].down, access[1].up] {
        net.cut(link, 0); // nobody is there yet
    }

    let timer = net.add_timer(CN);
    net.arm(timer, 0);
    let mut flow = sending_flow(0, &download.stack, 0, 0, timer, scheme.clone());
    flow.opens = None;
    flow.sender.open(download.packets());
    let cn = Correspondent {
        first: (0, timer.0),
        flows: vec![flow],
        out: core[0].down,
        sharing: (1, true),
        wheel: Wheel::default(),
        group: None,
        claim: None,
    };
    let mut r = Router::default();
    r.route(core[0].down, Route::To(core[1].down));
    r.route(core[1].up, Route::To(core[0].up));

    let lost = |messages: &[Message]| Lost(messages.iter().map(|&m| (m.name(), download.lost(m))).collect());
    let agent = HomeAgent { core: core[1], edge, bound: false, lost: lost(&[Message::BAck]) };
    let previous = PreviousAccess {
        machine: PreviousRouter::new(download.buffer),
        edge: edge[0],
        access: access[0],
        tunnel,
        timer: net.add_timer(PAR),
        lost: lost(&[Message::PrRtAdv { buffer: 0 }, Message::Hi, Message::FBack]),
    };
    let new = NewAccess {
        id: NAR,
        machine: NewRouter::default(),
        buffer: Buffer::new(Capacity::Bytes(download.room()), Overflow::DropTail),
        edge: edge[1],
        access: access[1],
        tunnel,
        lost: lost(&[Message::HAck]),
    };
    let timer = net.add_timer(MN);
    let reported = Link {
        rate_kbps: (download.wireless_rate / 1000).clamp(1, u64::from(u32::MAX)) as u32,
        delay_us: (download.access[0] / 1000).min(u64::from(u32::MAX)) as u32,
    };
    let receiving = receiving_flow(0, &download.stack, timer, reported);
    let mobile = MobileHost {
        tcp: Mobile::new((0, timer.0), vec![receiving], access[0].up),
        machine: FastMobile::new(download.configuration),
        access,
        new_line,
        foretells: scheme.mobile().foretells.map(|rule| (rule, download.copies)),
        lead: download.lead,
        disconnection: download.disconnection,
        timer: net.add_timer(MN),
        lost: lost(&[Message::RtSolPr, Message::Fbu, Message::Una, Message::Bu]),
        next: None,
        way: Way::default(),
    };
    let nodes = vec![
        FmipNode::Bench(BenchNode::Correspondent(cn)),
        FmipNode::Bench(BenchNode::Router(r)),
        FmipNode::HomeAgent(agent),
        FmipNode::Previous(previous),
        FmipNode::New(new),
        FmipNode::Mobile(Box::new(mobile)),
    ];
    Sim { net, nodes }
}

/// Packets that NAR holds.
pub(super) fn held(sim: &FmipSim) -> impl Iterator<Item = PacketId> {
    let router = match &sim.nodes[usize::from(NAR.0)] {
        FmipNode::New(router) => Some(router),
        _ => None,
    };
    router.into_iter().flat_map(|router| router.buffer.packets())
}
