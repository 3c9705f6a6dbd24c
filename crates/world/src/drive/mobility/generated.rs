//! Drives drawn from a model of networks, cells and transitions (Wu et al., Section 5.2).

use super::{Drive, LONGEST_DISCONNECTION, LONGEST_DRIVE, SHORTEST_DWELLING, Stay, seconds, twice};
use crate::access::AccessLink;
use crate::random::{Random, Stream, nanos};
use segue_netsim::{Nanos, SECOND};
use std::ops::RangeInclusive;

const MS: Nanos = 1_000_000;
/// How far a sum of probabilities may be from one.
const TOLERANCE: f64 = 1e-9;
/// Fastest channel, bit/s, and longest delay, ns: those of a written link.
const FASTEST: u64 = 100_000_000_000;
const LONGEST_DELAY: Nanos = 10 * SECOND;

/// How attached times are distributed about their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dwelling {
    /// Exponential `[C]`.
    #[default]
    Exponential,
    /// Always the mean.
    Fixed,
}

/// A range of users per cell and how often it is met.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Users in the cell, the mobile among them; each number of the range is as likely `[C]`.
    pub users: RangeInclusive<u32>,
    /// 0 to 1.
    pub probability: f64,
}

/// An access technology.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Rate that a cell's users share, bit/s.
    pub channel_rate: u64,
    /// One-way delay of its access link, ns.
    pub delay: Nanos,
    /// Queue of its base station, packets.
    pub queue: u32,
    /// Mean time in one cell, ns.
    pub attached: Nanos,
    /// Its distribution.
    pub dwelling: Dwelling,
    /// Users per cell.
    pub load: Vec<Load>,
}

/// From a cell of one network to a cell of another (or the same).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// Probability of this next network, 0 to 1.
    pub probability: f64,
    /// From the loss of the old link until the new one is up, ns.
    pub disconnection: Nanos,
}

/// The model that drives are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Mobility {
    length: Nanos,
    networks: Vec<Network>,
    /// `transitions[from][to]`.
    transitions: Vec<Vec<Transition>>,
}

/// Faults of a mobility model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MobilityError {
    /// Nowhere to be.
    #[error("a mobility model without networks; expected at least one")]
    NoNetworks,
    /// The drive's length.
    #[error("a drive of {} s; expected more than 0, at most {} s", seconds(*.0), seconds(LONGEST_DRIVE))]
    Length(Nanos),
    /// Two networks of one name.
    #[error("two networks are called `{0}`; expected different names")]
    SameName(String),
    /// A number of a network.
    #[error("network `{network}`: {what} is {found}; expected {expected}")]
    Network {
        /// The network.
        network: String,
        /// Which number.
        what: &'static str,
        /// The number found.
        found: String,
        /// The valid range.
        expected: String,
    },
    /// Rows or columns are missing or too many.
    #[error("transitions{place}: {found}; expected one for each of {networks} networks")]
    Shape {
        /// ` from NAME`, or nothing for the table.
        place: String,
        /// How many there are.
        found: usize,
        /// How many networks there are.
        networks: usize,
    },
    /// A probability out of range.
    #[error("{place}: probability {found}; expected 0 to 1")]
    Probability {
        /// Place in the model.
        place: String,
        /// The number.
        found: f64,
    },
    /// Probabilities that are no distribution.
    #[error("{place}: the probabilities sum to {found}; expected 1")]
    Sum {
        /// Place in the model.
        place: String,
        /// Their sum.
        found: f64,
    },
    /// A disconnection out of range.
    #[error(
        "{place}: a disconnection of {} s; expected 0 to {} s",
        seconds(*.found), seconds(LONGEST_DISCONNECTION)
    )]
    Disconnection {
        /// Place in the model.
        place: String,
        /// ns.
        found: Nanos,
    },
    /// A network that no drive visits.
    #[error("network `{network}` is never reached from `{first}`, where drives begin; expected a way there")]
    Unreachable {
        /// The network.
        network: String,
        /// The first one.
        first: String,
    },
}

impl Mobility {
    /// A model; drives begin in the first network `[C]`.
    pub fn new(
        length: Nanos,
        networks: Vec<Network>,
        transitions: Vec<Vec<Transition>>,
    ) -> Result<Self, MobilityError> {
        if let Some(name) = twice(networks.iter().map(|network| network.name.as_str())) {
            return Err(MobilityError::SameName(name));
        }
        networks.iter().try_for_each(Network::check)?;
        let model = Self { length, networks, transitions };
        model.check_transitions()?;
        let first = model.networks.first().ok_or(MobilityError::NoNetworks)?;
        let reached = model.reached();
        if let Some(index) = (0..model.networks.len()).find(|index| !reached.contains(index)) {
            let (network, first) = (model.networks[index].name.clone(), first.name.clone());
            return Err(MobilityError::Unreachable { network, first });
        }
        model.lasting(length)
    }

    /// The same with drives of another length, ns.
    pub fn lasting(self, length: Nanos) -> Result<Self, MobilityError> {
        if length == 0 || length > LONGEST_DRIVE {
            return Err(MobilityError::Length(length));
        }
        Ok(Self { length, ..self })
    }

    /// A car in the country: 30 minutes, 50 s attached, 3 s disconnected (4.8, first column).
    pub fn wcdma() -> Self {
        let networks = vec![wcdma(50 * SECOND)];
        Self { length: 1_800 * SECOND, networks, transitions: vec![vec![to(1.0, 3)]] }
    }

    /// A car on a campus: 15 minutes, 12 s attached, 10 s disconnected (4.8, second column).
    pub fn wlan() -> Self {
        let networks = vec![wlan(12 * SECOND)];
        Self { length: 900 * SECOND, networks, transitions: vec![vec![to(1.0, 10)]] }
    }

    /// A car in a city with hot-spots: 20 minutes, 20 s in WCDMA, 8 s in WLAN. Source: 4.8, third column, with the
    /// probabilities and disconnections of the paper's Table 2.
    pub fn wcdma_wlan() -> Self {
        let networks = vec![wcdma(20 * SECOND), wlan(8 * SECOND)];
        let transitions = vec![vec![to(0.33, 3), to(0.67, 5)], vec![to(0.9, 5), to(0.1, 10)]];
        Self { length: 1_200 * SECOND, networks, transitions }
    }

    /// A drive, always the same one for a seed.
    pub fn drive(&self, seed: u64) -> Drive {
        let mut random = Random::new(seed, Stream::Mobility);
        let (mut stays, mut network, mut from) = (Vec::new(), 0, 0);
        while from < self.length {
            let link = self.networks[network].cell(&mut random);
            let until = self.length.min(from + self.networks[network].stay(&mut random));
            stays.push(Stay { network, from, until, link });
            let row = &self.transitions[network];
            network = random.choice(row.iter().map(|transition| transition.probability));
            from = until + row[network].disconnection;
        }
        let networks = self.networks.iter().map(|network| network.name.clone()).collect();
        Drive { length: self.length, networks, stays }
    }

    fn check_transitions(&self) -> Result<(), MobilityError> {
        let networks = self.networks.len();
        let shape = |place, found| Err(MobilityError::Shape { place, found, networks });
        if self.transitions.len() != networks {
            return shape(String::new(), self.transitions.len());
        }
        for (from, row) in self.networks.iter().zip(&self.transitions) {
            if row.len() != networks {
                return shape(format!(" from `{}`", from.name), row.len());
            }
            for (to, transition) in self.networks.iter().zip(row) {
                if transition.disconnection > LONGEST_DISCONNECTION {
                    let place = format!("transition from `{}` to `{}`", from.name, to.name);
                    return Err(MobilityError::Disconnection { place, found: transition.disconnection });
                }
            }
            let place = format!("transitions from `{}`", from.name);
            check_distribution(place, row.iter().map(|transition| transition.probability))?;
        }
        Ok(())
    }

    /// Networks that a drive can come to.
    fn reached(&self) -> Vec<usize> {
        let mut reached = vec![0];
        let mut next = 0;
        while let Some(row) = reached.get(next).and_then(|&from| self.transitions.get(from)) {
            for (to, transition) in row.iter().enumerate() {
                if transition.probability > 0.0 && !reached.contains(&to) {
                    reached.push(to);
                }
            }
            next += 1;
        }
        reached
    }
}

impl Network {
    fn check(&self) -> Result<(), MobilityError> {
        let check = |valid, what, found: String, expected: String| {
            let wrong = MobilityError::Network { network: self.name.clone(), what, found, expected };
            if valid { Ok(()) } else { Err(wrong) }
        };
        let fastest = (1..=FASTEST).contains(&self.channel_rate);
        let rates = format!("1 to {FASTEST} bit/s");
        check(fastest, "the channel rate", format!("{} bit/s", self.channel_rate), rates)?;
        let delays = format!("more than 0, at most {} s", seconds(LONGEST_DELAY));
        let delay = (1..=LONGEST_DELAY).contains(&self.delay);
        check(delay, "the delay", format!("{} s", seconds(self.delay)), delays)?;
        check(self.queue > 0, "the queue", "0 packets".into(), "at least 1".into())?;
        let means = format!("{} to {} s", seconds(SHORTEST_DWELLING), seconds(LONGEST_DRIVE));
        let attached = (SHORTEST_DWELLING..=LONGEST_DRIVE).contains(&self.attached);
        check(attached, "the mean attached time", format!("{} s", seconds(self.attached)), means)?;
        for load in &self.load {
            let users = format!("{} to {}", load.users.start(), load.users.end());
            let valid = *load.users.start() > 0 && !load.users.is_empty();
            check(valid, "the number of users", users.clone(), "a range from 1 upwards".into())?;
            // Every user gets some of the channel.
            let enough = u64::from(*load.users.end()) <= self.channel_rate;
            check(enough, "the number of users", users, "at least 1 bit/s for each".into())?;
        }
        let place = format!("users of network `{}`", self.name);
        check_distribution(place, self.load.iter().map(|load| load.probability))
    }

    /// The link of one user in a new cell: the channel shared evenly among a drawn number of users.
    fn cell(&self, random: &mut Random) -> AccessLink {
        let users = &self.load[random.choice(self.load.iter().map(|load| load.probability))].users;
        let users = u64::from(users.start() + random.below(users.end() - users.start() + 1));
        AccessLink::fixed((self.channel_rate + users / 2) / users, self.delay, self.queue)
    }

    /// How long the mobile stays in it.
    fn stay(&self, random: &mut Random) -> Nanos {
        match self.dwelling {
            Dwelling::Exponential => nanos(random.exponential(self.attached as f64 / SECOND as f64)).max(1),
            Dwelling::Fixed => self.attached,
        }
    }
}

fn check_distribution(
    place: String,
    probabilities: impl Iterator<Item = f64> + Clone,
) -> Result<(), MobilityError> {
    if let Some(found) = probabilities.clone().find(|probability| !(0.0..=1.0).contains(probability)) {
        return Err(MobilityError::Probability { place, found });
    }
    let found: f64 = probabilities.sum();
    if (found - 1.0).abs() > TOLERANCE { Err(MobilityError::Sum { place, found }) } else { Ok(()) }
}

/// Ten users of a 2 Mbit/s channel; delay `[C]`, queue from Section 5.2.1.
fn wcdma(attached: Nanos) -> Network {
    Network {
        name: "WCDMA".into(),
        channel_rate: 2_000_000,
        delay: 150 * MS,
        queue: 20,
        attached,
        dwelling: Dwelling::default(),
        load: vec![Load { users: 10..=10, probability: 1.0 }],
    }
}

/// Crowded and empty cells of a 7 Mbit/s channel; their odds, delay and queue `[C]`.
fn wlan(attached: Nanos) -> Network {
    Network {
        name: "WLAN".into(),
        channel_rate: 7_000_000,
        delay: 10 * MS,
        queue: 20,
        attached,
        dwelling: Dwelling::default(),
        load: vec![Load { users: 9..=10, probability: 0.5 }, Load { users: 1..=2, probability: 0.5 }],
    }
}

fn to(probability: f64, disconnection_s: u64) -> Transition {
    Transition { probability, disconnection: disconnection_s * SECOND }
}
