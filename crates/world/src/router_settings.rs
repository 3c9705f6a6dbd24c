//! Abilities of the access routers of a scenario, so that every scheme can be run with and without buffers
//! (algorithms.md, 6.1).

use crate::access::parse_rate;
use crate::words::NoticeMode;
use segue_handoff::{Holder, RouterRule, Scheme};
use segue_netsim::{Buffer, Capacity, Nanos, Overflow, SECOND};
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

/// Abilities of the access routers of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routers {
    /// Their rule, whatever the scheme; a scheme may bring a rule of its own. `None`: packets that a link does not
    /// carry are lost.
    pub rule: Option<RouterRule>,
    /// Room that one has for the mobile's packets.
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
            _ => quantity::setting_time(value)
                .filter(|&time| time <= 100 * SECOND)
                .map(|time| self.hint = time),
        };
        Some(set.ok_or(setting.values))
    }

    /// The routers' rule for `scheme`; a buffer that its own announcements ask for is not there without them.
    pub fn rule_for(&self, scheme: &Scheme, notice: NoticeMode) -> Option<RouterRule> {
        let asked = scheme.mobile().foretells.is_none() || notice != NoticeMode::Withheld;
        scheme.router().filter(|_| asked).or(self.rule)
    }

    /// Room of one, in bytes of full segments where it counts packets.
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
    if value.ends_with('p') {
        let packets = quantity::packets(value).filter(|packets| (1..=1_000_000).contains(packets));
        return packets.map(Capacity::Packets);
    }
    let bytes = quantity::size(value).filter(|bytes| (1_000..=1_000_000_000).contains(bytes));
    bytes.map(Capacity::Bytes)
}

fn parse_tunnel(value: &str) -> Option<Tunnel> {
    let (rate, delay) = value.split_once('/')?;
    let rate = parse_rate(rate).filter(|&rate| rate > 0)?;
    let delay = quantity::time(delay).filter(|&delay| delay <= 100 * SECOND)?;
    Some(Tunnel { rate, delay })
}
