//! The standard bench of Daniel and Kojo (docs/reference/bench.md):
//!
//! ```text
//! CN --100 Mbit/s, 2 ms-- R --100 Mbit/s, 2 ms-- AR_i --access link i-- Wir_i --500 Mbit/s, 0 ms-- MN
//! ```

pub(crate) mod neighbours;
pub(crate) mod traffic;

use crate::access::{AccessLink, LinkSeed};
use crate::clock_phase;
use crate::neighbours::Neighbours;
use crate::nodes::{
    BenchNode, BenchSim, Correspondent, HostObserver, Mobile, Route, Router, Wheel, receiving_flow,
    sending_flow,
};
use crate::notice_error::NoticeError;
use crate::observer::Observer;
use crate::router_settings::Routers;
use crate::traffic::Traffic;
use crate::words::{Address, Definition, Kind, NoticeMode};
use segue_handoff::{Link, Scheme};
use segue_netsim::{Delay, LinkConfig, LinkId, Nanos, Net, NodeId, Rate, Service, Sim};
use segue_tcp::StackProfile;
use traffic::{Further, Pair};

/// Rate of the wired hops, bit/s.
const WIRED_RATE: u64 = 100_000_000;
/// One-way delay of a wired hop.
pub(crate) const WIRED_DELAY: Nanos = 2_000_000;
/// Rate of the hop between wireless device and mobile, bit/s.
const LAST_HOP_RATE: u64 = 500_000_000;
/// The same with the stack of a kernel, bit/s: the bench on which kernels were measured has no such hop.
const NO_LAST_HOP_RATE: u64 = 1_000_000_000_000_000;
/// Access rates beyond this raise the wired hops to ten times the rate, bit/s.
const FAST_ACCESS: u64 = 80_000_000;

/// The simulated network, apart from scheme and handoff time.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Link before.
    pub old: AccessLink,
    /// Link after.
    pub new: AccessLink,
    /// Kind of handoff.
    pub kind: Kind,
    /// Whether the mobile keeps its address, and so its connections.
    pub address: Address,
    /// Number of flows.
    pub flows: usize,
    /// TCP of both ends.
    pub stack: StackProfile,
    /// How senders learn of it.
    pub notice: NoticeMode,
    /// How long after completion an instant notice reaches the senders (algorithms.md, 9.15), or the mobile sends one in
    /// band.
    pub notice_delay: Nanos,
    /// How far the notice may be wrong, and late.
    pub notice_error: NoticeError,
    /// Other users of the access links, as many on each.
    pub neighbours: Option<Neighbours>,
    /// Traffic of the mobile's user; `None`: long downloads, and nothing is measured by class.
    pub traffic: Option<Traffic>,
    /// P.
    pub packets: u32,
    /// Which transfer time.
    pub definition: Definition,
    /// Abilities of the access routers.
    pub routers: Routers,
    /// How far the starts of two flows are apart with seed 1; other seeds draw them within 20 times that.
    pub starts: Nanos,
    /// Start times and clock phases, and all that links draw.
    pub seed: u64,
    /// Another seed for what links draw: the same senders in another weather.
    pub weather: Option<u64>,
    /// Handoffs of the run before this one, which went the same way to and fro.
    pub before: u32,
}

/// Rates of the hops that are not access links, bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedHops {
    /// CN to R to access router.
    pub wired: u64,
    /// Wireless device to mobile.
    pub last: u64,
}

impl Experiment {
    /// One flow from link to link without a gap, 100 packets, an instant notice, seed 1: what others vary.
    pub fn usual(old: AccessLink, new: AccessLink, stack: StackProfile) -> Self {
        Self {
            old,
            new,
            kind: Kind::Mbb,
            address: Address::Keep,
            flows: 1,
            stack,
            notice: NoticeMode::Instant,
            notice_delay: 0,
            notice_error: NoticeError::default(),
            neighbours: None,
            traffic: None,
            packets: 100,
            definition: Definition::AfterHighest,
            routers: Routers::default(),
            starts: clock_phase::APART,
            seed: 1,
            weather: None,
            before: 0,
        }
    }

    /// The same of links in words.
    #[cfg(test)]
    pub(crate) fn between(old: &str, new: &str, stack: StackProfile) -> Self {
        let [old, new] = [old, new].map(|word| AccessLink::parse(word).expect("a link"));
        Self::usual(old, new, stack)
    }

    /// Source of an access link's random numbers: 0 is the old one, 1 the new one. A link that has been cut is laid
    /// anew when the mobile comes back to it, with numbers of its own.
    pub fn link_seed(&self, link: usize) -> LinkSeed {
        // After a ping-pong old and new are what they were.
        let before = if self.kind.returns_after().is_some() { 0 } else { self.before };
        let (before, link) = (u64::from(before), link as u64);
        let laid = match self.kind {
            Kind::Bbm(_) => (before + link) / 2,
            Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => 0,
        };
        LinkSeed { seed: self.weather.unwrap_or(self.seed), link: 1 + (before + link) % 2 + 2 * laid }
    }

    /// Whether the flows of the bench go from the mobile.
    pub fn is_upward(&self) -> bool {
        self.traffic.as_ref().is_some_and(Traffic::is_upward)
    }

    /// The handoff that follows this one: back, unless the mobile has come back already.
    pub fn following(&self) -> Self {
        let next = Self { before: self.before + 1, ..self.clone() };
        match self.kind.returns_after() {
            Some(_) => next,
            None => Self { old: self.new.clone(), new: self.old.clone(), ..next },
        }
    }

    /// Rates of the other hops; more than usual where an access link is fast.
    pub fn fixed_hops(&self) -> FixedHops {
        let access = [&self.old, &self.new].map(|link| link.down.mean_rate().max(link.up.mean_rate()));
        let fastest = access[0].max(access[1]);
        let last = if self.stack.kernel.is_some() { NO_LAST_HOP_RATE } else { LAST_HOP_RATE };
        if fastest > FAST_ACCESS {
            FixedHops { wired: 10 * fastest, last: last.max(10 * fastest) }
        } else {
            FixedHops { wired: WIRED_RATE, last }
        }
    }
}

/// Links of one direction pair, by place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplex {
    /// The way of data: towards the mobile, unless the bench's flows go from it.
    pub down: LinkId,
    /// The way of ACKs.
    pub up: LinkId,
}

/// Handles into the bench's network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkIds {
    /// CN - R.
    pub core: Duplex,
    /// R - access router, old and new.
    pub edge: [Duplex; 2],
    /// Access router - wireless device, old and new.
    pub access: [Duplex; 2],
    /// Wireless device - MN, old and new.
    pub last: [Duplex; 2],
    /// Access routers, old and new.
    pub routers: [NodeId; 2],
    /// Old access router - new access router, where they have a tunnel.
    pub tunnel: Option<Duplex>,
    /// The bench's flows go from the mobile.
    pub is_upward: bool,
    /// Hosts of the mobile's further traffic.
    pub further: Further,
}

impl LinkIds {
    /// Links that lead data to the new access link.
    pub(crate) fn lead_to(&self) -> Vec<LinkId> {
        let Self { core, edge, last, tunnel, .. } = self;
        match self.is_upward {
            true => vec![last[NEW].down],
            false => tunnel.iter().chain([core, &edge[NEW]]).map(|duplex| duplex.down).collect(),
        }
    }

    /// Links that data leaves access link `link` by, nearest to the receivers first.
    pub(crate) fn behind(&self, link: usize) -> Vec<LinkId> {
        match self.is_upward {
            true => vec![self.core.down, self.edge[link].down],
            false => vec![self.last[link].down],
        }
    }

    /// Links by which data is with the receivers over the old link, or on its way to them, nearest to the senders
    /// first.
    pub(crate) fn old_way(&self) -> Vec<LinkId> {
        self.way(OLD)
    }

    /// The same over the new link.
    pub(crate) fn new_way(&self) -> Vec<LinkId> {
        self.way(NEW)
    }

    fn way(&self, link: usize) -> Vec<LinkId> {
        let before = if self.is_upward { self.last[link].down } else { self.edge[link].down };
        let behind = self.behind(link).into_iter().rev();
        [before, self.access[link].down].into_iter().chain(behind).collect()
    }

    /// The same where the new link has become the old one.
    pub(crate) fn back(mut self) -> Self {
        for pair in [&mut self.edge, &mut self.access, &mut self.last] {
            pair.swap(OLD, NEW);
        }
        self.routers.swap(OLD, NEW);
        self.tunnel = self.tunnel.map(|Duplex { down, up }| Duplex { down: up, up: down });
        self.further.iter_mut().flatten().for_each(Pair::turn_back);
        self
    }
}

/// The bench's senders, wherever they are.
pub(crate) const CN: NodeId = NodeId(0);
pub(crate) const R: NodeId = NodeId(1);
/// The bench's receivers, wherever they are.
pub(crate) const MN: NodeId = NodeId(6);
pub(crate) const AR: [NodeId; 2] = [NodeId(2), NodeId(3)];
pub(crate) const WIR: [NodeId; 2] = [NodeId(4), NodeId(5)];
/// Index of the old and the new link.
pub(crate) const OLD: usize = 0;
pub(crate) const NEW: usize = 1;

/// The correspondent node.
pub(crate) fn correspondent<W>(sim: &BenchSim<W>) -> &Correspondent {
    match &sim.nodes[usize::from(CN.0)] {
        BenchNode::Correspondent(host) => host,
        _ => unreachable!("the bench has its correspondent node there"),
    }
}

/// The mobile node.
pub(crate) fn mobile<W>(sim: &BenchSim<W>) -> &Mobile {
    match &sim.nodes[usize::from(MN.0)] {
        BenchNode::Mobile(host) => host,
        _ => unreachable!("the bench has its mobile node there"),
    }
}

/// A line that never drops.
pub(crate) fn line(rate: u64, delay: Nanos) -> LinkConfig {
    LinkConfig::new(Service::Fixed(Rate::new(rate)), Delay::Fixed(delay))
}

/// The two directions of access link `i`, down and up.
pub(crate) fn access_lines(experiment: &Experiment, i: usize) -> [LinkConfig; 2] {
    let link = [&experiment.old, &experiment.new][i];
    let seed = experiment.link_seed(i);
    let departs_first = experiment.stack.kernel.is_some();
    [link.down_config(seed), link.up_config(seed)].map(|line| LinkConfig { departs_first, ..line })
}

/// Builds the bench with plain TCP on the old link, at time zero; `watch` hears everything.
pub(crate) fn build<W: HostObserver>(
    experiment: &Experiment,
    plain: &Scheme,
    watch: W,
) -> (BenchSim<W>, LinkIds) {
    let mut net = Net::new(Observer::new(experiment.flows, watch));
    let hops = experiment.fixed_hops();
    let is_upward = experiment.is_upward();
    let (server, device) = if is_upward { (MN, CN) } else { (CN, MN) };
    let wired = || line(hops.wired, WIRED_DELAY);
    if experiment.stack.kernel.is_some() {
        net.serve_timers_first();
    }
    // In terms of the mobile, and then of data.
    let core = Duplex { down: net.add_link(R, wired()), up: net.add_link(server, wired()) };
    let edge =
        [OLD, NEW].map(|i| Duplex { down: net.add_link(AR[i], wired()), up: net.add_link(R, wired()) });
    let air = [OLD, NEW].map(|i| {
        let [down, up] = access_lines(experiment, i);
        Duplex { down: net.add_link(WIR[i], down), up: net.add_link(AR[i], up) }
    });
    let last = [OLD, NEW].map(|i| Duplex {
        down: net.add_link(device, line(hops.last, 0)),
        up: net.add_link(WIR[i], line(hops.last, 0)),
    });
    let of_data = |duplex| traffic::physical(duplex, is_upward);
    let mut link_ids = LinkIds {
        core: of_data(core),
        edge: edge.map(of_data),
        access: air.map(of_data),
        last: last.map(of_data),
        routers: AR,
        tunnel: None,
        is_upward,
        further: [None, None],
    };
    let (out, back) = if is_upward { (last[OLD].up, core.down) } else { (core.down, last[OLD].up) };

    let stack = experiment.stack.seeded(experiment.seed);
    let starts = clock_phase::starts(experiment.flows, experiment.seed, experiment.starts);
    let mut flows = Vec::new();
    for (id, start) in starts.iter().enumerate() {
        let timer = net.add_timer(CN);
        net.arm(timer, start.opens);
        flows.push(sending_flow(id as u16, &stack, start.phase, start.opens, timer, plain.clone()));
    }
    let cn = Correspondent {
        first: (0, flows.first().map_or(0, |flow| flow.timer.0)),
        flows,
        out,
        sharing: (0, false),
        wheel: Wheel::default(),
        group: None,
        claim: None,
    };

    let first_link = reported_at_start(experiment);
    let mut receiving = Vec::new();
    for id in 0..experiment.flows {
        let timer = net.add_timer(MN);
        receiving.push(receiving_flow(id as u16, &stack, timer, first_link));
    }
    let mn = Mobile::new((0, receiving.first().map_or(0, |flow| flow.timer.0)), receiving, back);

    let mut nodes = vec![BenchNode::Correspondent(cn)];
    nodes.extend(routers(core, edge, air, last).into_iter().map(BenchNode::Router));
    nodes.push(BenchNode::Mobile(mn));
    let mut sim = Sim { net, nodes };
    if let Some(neighbours) = &experiment.neighbours {
        neighbours::join(&mut sim, &link_ids, experiment, neighbours, plain);
    }
    traffic::join(&mut sim, &mut link_ids, experiment, plain);
    (sim, link_ids)
}

/// The routers with their routes over the old link, in the order of nodes: R, access routers, Wir.
fn routers(core: Duplex, edge: [Duplex; 2], air: [Duplex; 2], last: [Duplex; 2]) -> Vec<Router> {
    let mut r = Router::default();
    r.route(core.down, Route::To(edge[OLD].down));
    for edge in edge {
        r.route(edge.up, Route::To(core.up));
    }
    let mut routers = vec![r];
    let mut between = |[above, below]: [Duplex; 2]| {
        let mut router = Router::default();
        router.route(above.down, Route::To(below.down));
        router.route(below.up, Route::To(above.up));
        routers.push(router);
    };
    for i in [OLD, NEW] {
        between([edge[i], air[i]]);
    }
    for i in [OLD, NEW] {
        between([air[i], last[i]]);
    }
    routers
}

/// The link in the first report: the old one during its first second.
fn reported_at_start(experiment: &Experiment) -> Link {
    experiment.old.reported(experiment.link_seed(OLD), 0, segue_netsim::SECOND, 0)
}
