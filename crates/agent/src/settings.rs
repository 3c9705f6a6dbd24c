//! How an agent is set: plain data, which [`super::config`] reads from a file.

use super::Error;
use super::estimate::Rule;
use super::socket::Group;
use ipnet::IpNet;
use segue_kernel::mobile::{self, Way};
use segue_kernel::receiver::{self, Announced, Gaps};
use segue_kernel::sender::Policy;
use std::path::PathBuf;
use std::time::Duration;

/// A place in a file, for messages about what only the running agent finds out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
}

impl Config {
    /// The same error with the place of `cgroup`, if that is what is wrong.
    pub(super) fn in_its_place(&self, error: mobile::Error) -> Error {
        match (&error, &self.cgroup_place) {
            (mobile::Error::Cgroup { .. }, Some(Place { path, line, column })) => {
                Error::Config { path: path.clone(), line: *line, column: *column, problem: error.to_string() }
            }
            _ => error.into(),
        }
    }
}

/// How an agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// A folder of cgroup2: connections of processes below it negotiate. None: all.
    pub cgroup: Option<PathBuf>,
    /// Where a file says so.
    pub cgroup_place: Option<Place>,
    /// Where `segue agent status` and `notify` ask.
    pub control: PathBuf,
    /// The group that may ask beside root.
    pub group: Option<Group>,
    /// A folder of bpffs for what outlives an agent that is killed. None: nothing does.
    pub pin: Option<PathBuf>,
    /// The main table's number, or another's: its routes are watched.
    pub table: u32,
    /// The policy of this host's own flows. None: they keep their windows.
    pub uploads: Option<Policy>,
    /// Work at devices beside peers that run nothing of ours.
    pub receivers: Receivers,
    /// Help for connections whose peers have not negotiated.
    pub others: Others,
    /// When who is told of what.
    pub settings: Settings,
}

/// Help for connections whose peers have not negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treated {
    /// They are helped after an outage.
    pub resume: bool,
    /// Their windows are bounded on a slower link.
    pub window: bool,
    /// Their windows are closed before a foreseen break of at most so long, ns; 0: never.
    pub freeze: u64,
    /// They are told a smaller MTU where messages alone bring nothing, and a new slow start is faster.
    pub mtu: bool,
}

/// The same for some peers, as far as it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnTreated {
    /// Whether they are helped after an outage.
    pub resume: Option<bool>,
    /// Whether their windows are bounded on a slower link.
    pub window: Option<bool>,
    /// The longest foreseen break before which their windows are closed, ns.
    pub freeze: Option<u64>,
    /// Whether they are told a smaller MTU where messages alone bring nothing, and a new slow start is faster.
    pub mtu: Option<bool>,
}

/// Connections whose peers have not negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Others {
    /// The default for all of them.
    pub all: Treated,
    /// For some prefixes of peers; of those that say something the longest decides.
    pub prefixes: Vec<(IpNet, OwnTreated)>,
    /// Connections that this host forwards are helped after an outage, too.
    pub forwarded: bool,
}

impl Others {
    /// Help for peers of this prefix, as far as no prefix within it says otherwise.
    pub fn treated(&self, to: &IpNet) -> Treated {
        Treated {
            resume: self.said(to, |own| own.resume).unwrap_or(self.all.resume),
            window: self.said(to, |own| own.window).unwrap_or(self.all.window),
            freeze: self.said(to, |own| own.freeze).unwrap_or(self.all.freeze),
            mtu: self.said(to, |own| own.mtu).unwrap_or(self.all.mtu),
        }
    }

    /// The setting of the longest prefix around this one that has it.
    fn said<T>(&self, to: &IpNet, of: impl Fn(&OwnTreated) -> Option<T>) -> Option<T> {
        let around = self.prefixes.iter().filter(|(prefix, _)| prefix.contains(to));
        let said = around.filter_map(|(prefix, own)| Some((prefix.prefix_len(), of(own)?)));
        said.max_by_key(|(bits, _)| *bits).map(|(_, said)| said)
    }
}

/// Work that the agent does by its ACKs alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receivers {
    /// Freeze-TCP: so long before each gap the window closes.
    pub freeze_before: Duration,
    /// Announced gaps.
    pub gaps: Vec<Gap>,
    /// PHAS: devices at which ACKs of forwarded packets are held back.
    pub phas: Vec<String>,
    /// At most for so long.
    pub hold_for: Duration,
}

/// Announced gaps of a device's link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The device.
    pub device: String,
    /// When they begin.
    pub at: Gaps,
    /// How long each lasts.
    pub length: Duration,
}

impl Gap {
    /// The gaps as Freeze-TCP announces them: the window closes `before` each.
    ///
    /// # Errors
    /// The window would hardly ever be open.
    pub fn announced(&self, before: Duration) -> Result<Announced, receiver::Error> {
        Announced::new(self.at, before, self.length)
    }
}

impl Receivers {
    /// Devices that are named, each once.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let gaps = self.gaps.iter().map(|gap| gap.device.as_str());
        let phas = self.phas.iter().map(String::as_str);
        gaps.chain(phas.filter(|name| self.gaps.iter().all(|gap| gap.device != *name)))
    }

    /// Closes windows so long before gaps, whatever the file says.
    ///
    /// # Errors
    /// No gaps are announced, or the window would hardly ever be open.
    pub fn freeze(&mut self, before: Duration) -> Result<(), receiver::Error> {
        if self.gaps.is_empty() {
            let problem = "--freeze-before: no gaps are announced; expected [[gaps]] in the configuration";
            return Err(receiver::Error::User(problem.to_owned()));
        }
        self.gaps.iter().try_for_each(|gap| gap.announced(before).map(drop))?;
        self.freeze_before = before;
        Ok(())
    }
}

/// How rounds are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Prefixes whose handoffs count.
    pub watch: Vec<IpNet>,
    /// ACKs that carry a notice, of each connection.
    pub copies: u8,
    /// How they leave.
    pub way: Way,
    /// Between rounds of one prefix, ns.
    pub interval: u64,
    /// Limit of a round, ns: a peer that has not been told then waits for its next ACK.
    pub limit: u64,
    /// Rules for the rate and delay of links.
    pub rules: Vec<Rule>,
    /// Goodput of a Wi-Fi radio, percent of its rate.
    pub station_share: u32,
    /// Whether connections are known from before: they are told at the start.
    pub inherits: bool,
}
