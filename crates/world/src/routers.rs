//! Access routers with buffers and a tunnel between them: a property of the scenario, so that every scheme can be run
//! with and without (algorithms.md, 6.1).

use crate::NoticeMode;
use crate::access::parse_rate;
use crate::access_router::{AccessRouter, Held};
use crate::bench::{AR, Duplex, Experiment, Kind, NEW, OLD, Places, line};
use crate::nodes::{BenchNode, BenchSim, HostObserver, Route, Router};
use crate::observer::Observer;
use crate::packet::Packet;
use segue_handoff::{Holder, RouterRule, Scheme};
use segue_netsim::{Buffer, Capacity, Nanos, Net, NodeId, Overflow, PacketId, SECOND};
use segue_tcp::StackProfile;
use segue_words::quantity;

/// The tunnel between the routers, each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// bit/s.
    pub rate: u64,
    /// One way.
    pub delay: Nanos,
}

/// What the access routers of a scenario are able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routers {
    /// What they do, whatever the scheme; a scheme may bring a rule of its own. `None`: what a link does not carry is
    /// lost.
    pub rule: Option<RouterRule>,
    /// What one holds for the mobile.
    pub capacity: Capacity,
    /// Between them.
    pub tunnel: Tunnel,
    /// How long before link-down the previous router begins to tunnel, where the new one holds packets.
    pub hint: Nanos,
}

/// Without buffers; with them 100 kB, the PBS of Espi and others, and a wired hop between the routers.
impl Default for Routers {
    fn default() -> Self {
        Self {
            rule: None,
            capacity: Capacity::Bytes(100_000),
            tunnel: Tunnel { rate: 100_000_000, delay: 2_000_000 },
            hint: 100_000_000,
        }
    }
}

/// A setting of the access routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterSetting {
    /// Key.
    pub name: &'static str,
    /// Values it takes.
    pub values: &'static str,
    /// Value unless set.
    pub default: &'static str,
    /// One line.
    pub meaning: &'static str,
}

/// Settings of the access routers, with the defaults of the standard bench.
pub const ROUTER_SETTINGS: &[RouterSetting] = &[
    RouterSetting {
        name: "router-buffer",
        values: "off, previous-fcfd, previous-lcfd, new-fcfd or new-lcfd",
        default: "off",
        meaning: "which access router holds packets at a disconnection, and what it drops when full, for schemes that do not say so",
    },
    RouterSetting {
        name: "router-buffer-size",
        values: "1p to 1000000p (packets) or 1kB to 1000000kB",
        default: "100kB",
        meaning: "what a router holds for the mobile",
    },
    RouterSetting {
        name: "tunnel",
        values: "rate and one-way delay such as 100mbit/2ms",
        default: "100mbit/2ms",
        meaning: "the tunnel between the access routers",
    },
    RouterSetting {
        name: "handoff-hint",
        values: "a time up to 100s",
        default: "100ms",
        meaning: "how long before link-down the previous router begins to tunnel to a new one that holds packets",
    },
];

impl Routers {
    /// Changes a setting; `None` if there is none of that name, else the error says what was expected.
    pub fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        let setting = ROUTER_SETTINGS.iter().find(|setting| setting.name == key)?;
        let set = match key {
            "router-buffer" => parse_rule(value).map(|rule| self.rule = rule),
            "router-buffer-size" => parse_capacity(value).map(|capacity| self.capacity = capacity),
            "tunnel" => parse_tunnel(value).map(|tunnel| self.tunnel = tunnel),
            _ => quantity::time(value).filter(|&time| time <= 100 * SECOND).map(|time| self.hint = time),
        };
        Some(set.ok_or(setting.values))
    }

    /// What the routers do for `scheme`; a buffer that its own announcements ask for is not there without them.
    pub fn rule_for(&self, scheme: &Scheme, notice: NoticeMode) -> Option<RouterRule> {
        let asked = scheme.mobile().foretells.is_none() || notice != NoticeMode::Withheld;
        scheme.router().filter(|_| asked).or(self.rule)
    }

    /// What one holds, in bytes of full segments where it counts packets.
    pub fn capacity_bytes(&self, stack: &StackProfile) -> u64 {
        match self.capacity {
            Capacity::Bytes(bytes) => bytes,
            Capacity::Packets(packets) => u64::from(packets) * u64::from(stack.data_bytes()),
        }
    }

    /// A buffer for one mobile.
    pub(crate) fn buffer(&self, rule: RouterRule) -> Buffer {
        Buffer::new(self.capacity, rule.overflow)
    }
}

fn parse_rule(value: &str) -> Option<Option<RouterRule>> {
    if value == "off" {
        return Some(None);
    }
    let (holder, overflow) = value.split_once('-')?;
    let holder = match holder {
        "previous" => Holder::Previous,
        "new" => Holder::New,
        _ => return None,
    };
    let overflow = match overflow {
        "fcfd" => Overflow::DropHead,
        "lcfd" => Overflow::DropTail,
        _ => return None,
    };
    Some(Some(RouterRule { holder, overflow }))
}

fn parse_capacity(value: &str) -> Option<Capacity> {
    let (number, in_packets) = match (value.strip_suffix("kB"), value.strip_suffix('p')) {
        (Some(number), _) => (number, false),
        (None, number) => (number?, true),
    };
    let number = number.parse().ok().filter(|number| (1..=1_000_000).contains(number))?;
    Some(if in_packets { Capacity::Packets(number) } else { Capacity::Bytes(u64::from(number) * 1000) })
}

fn parse_tunnel(value: &str) -> Option<Tunnel> {
    let (rate, delay) = value.split_once('/')?;
    let rate = parse_rate(rate).filter(|&rate| rate > 0)?;
    let delay = quantity::time(delay).filter(|&delay| delay <= 100 * SECOND)?;
    Some(Tunnel { rate, delay })
}

/// What the routers of the bench do for `scheme`: a make-before-break handoff leaves them nothing to hold.
pub(crate) fn rule(experiment: &Experiment, scheme: &Scheme) -> Option<RouterRule> {
    match experiment.kind {
        Kind::Bbm(_) => experiment.routers.rule_for(scheme, experiment.notice),
        Kind::Mbb => None,
    }
}

/// Puts a buffer into the router of a bench that holds packets, and a tunnel between the two.
///
/// That is done to a fork, not to every bench: a network without buffers stays what it is.
pub(crate) fn equip<W: HostObserver>(
    sim: &mut BenchSim<W>,
    places: &mut Places,
    routers: &Routers,
    rule: RouterRule,
) {
    let tunnel = || line(routers.tunnel.rate, routers.tunnel.delay);
    let down = sim.net.add_link(AR[NEW], tunnel());
    let up = sim.net.add_link(AR[OLD], tunnel());
    places.tunnel = Some(Duplex { down, up });
    let take = |sim: &mut BenchSim<W>, id: NodeId| match &mut sim.nodes[usize::from(id.0)] {
        BenchNode::Router(router) => std::mem::take(router),
        _ => Router::default(),
    };
    let [previous, mut new] = AR.map(|id| take(sim, id));
    new.route(down, Route::To(places.access[NEW].down));
    let holder = match rule.holder {
        Holder::Previous => OLD,
        Holder::New => NEW,
    };
    let link = places.access[holder].down;
    let nodes = match rule.holder {
        Holder::Previous => {
            let held = Held::new(link, routers.buffer(rule), down, up);
            [AccessRouter::holding(AR[OLD], previous, held), AccessRouter::passing(AR[NEW], new, up)]
        }
        Holder::New => {
            let timer = sim.net.add_timer(AR[NEW]);
            let held = Held::until_attached(link, routers.buffer(rule), places.access[NEW].up, timer);
            [AccessRouter::passing(AR[OLD], previous, down), AccessRouter::holding(AR[NEW], new, held)]
        }
    };
    for (id, node) in AR.into_iter().zip(nodes) {
        sim.nodes[usize::from(id.0)] = BenchNode::AccessRouter(node);
    }
    // The new router knows at once that the mobile is not there yet; the previous one learns it at link-down.
    if rule.holder == Holder::New {
        with_router(sim, NEW, |router, net| router.link_down(net));
        with_router(sim, OLD, |router, _| {
            router.routes().route(places.edge[OLD].down, Route::To(down));
        });
    }
}

/// The old link is down.
pub(crate) fn link_down<W: HostObserver>(sim: &mut BenchSim<W>, rule: RouterRule) {
    if rule.holder == Holder::Previous {
        with_router(sim, OLD, |router, net| router.link_down(net));
    }
}

/// Packets that routers hold.
pub(crate) fn held<W>(sim: &BenchSim<W>) -> impl Iterator<Item = PacketId> {
    AR.into_iter()
        .flat_map(|id| match &sim.nodes[usize::from(id.0)] {
            BenchNode::AccessRouter(router) => Some(router.holds()),
            _ => None,
        })
        .flatten()
}

fn with_router<W: HostObserver>(
    sim: &mut BenchSim<W>,
    which: usize,
    act: impl FnOnce(&mut AccessRouter, &mut Net<Packet, Observer<W>>),
) {
    sim.with_node(AR[which], |node, net| {
        let BenchNode::AccessRouter(router) = node else { return };
        act(router, net);
    });
}

/// From completion until the first packet that a router held can be at the new link: the request's way, and the way
/// over the tunnel, propagation alone.
pub(crate) fn first_held(experiment: &Experiment, rule: RouterRule) -> Nanos {
    let access = experiment.new.delay.min();
    match rule.holder {
        Holder::Previous => access + 2 * experiment.routers.tunnel.delay,
        Holder::New => access,
    }
}
