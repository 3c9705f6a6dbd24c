//! The request of a comparison, checked before anything runs.

use crate::bench::{self, Bench};
use crate::bench_words::{BENCH_WORDS, NEIGHBOURS, NOTICE_DELAY, NOTICE_ERROR, STARTS, TARGET, TRAFFIC};
use crate::neighbours::{self, NeighbourWords};
use crate::planned::{PlannedScheme, StackWords, check_control, check_key, planned};
pub use crate::request_error::RequestError;
use crate::router_words::{check_routers, routers};
use crate::{address, series, soft, traffic};
use segue_handoff::hn::TELLABLE_PBS;
use segue_tcp::StackProfile;
use segue_tcp::profile::NS2_SACK1;
use segue_words::quantity::is_below_resolution;
use segue_world::access::QueueRule;
use segue_world::notice_error::NoticeErrorWords;
use segue_world::{
    AccessLink, Address, Definition, Experiment, Kind, Nanos, Neighbours, NoticeError, NoticeMode, Routers,
    SECOND, Series, Traffic,
};

/// P unless it is given.
pub const PACKETS: u32 = 100;

/// The longest transfer, packets.
pub const MOST_PACKETS: u32 = 1_000_000;

/// A comparison as the user asks for it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Link before and link after, in order.
    pub pairs: Vec<(AccessLink, AccessLink)>,
    /// Kinds of handoff, in order.
    pub kinds: Vec<Kind>,
    /// Flow counts, in order.
    pub flows: Vec<usize>,
    /// Names of schemes; the first is what others are held against.
    pub schemes: Vec<String>,
    /// Handoff times.
    pub at: Vec<Nanos>,
    /// P.
    pub packets: u32,
    /// Which transfer time.
    pub definition: Definition,
    /// How senders learn of the handoff.
    pub notice: NoticeMode,
    /// A stack for all schemes in place of their own.
    pub stack: Option<String>,
    /// The congestion control of the stack, where it has a choice.
    pub cc: Option<String>,
    /// Settings as keys and values.
    pub settings: Vec<(String, String)>,
    /// First seed.
    pub seed: u64,
    /// Number of seeds, whose points are pooled.
    pub seeds: u64,
}

/// A checked request.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The request.
    pub request: Request,
    /// The schemes, in order.
    pub schemes: Vec<PlannedScheme>,
    /// The distinct stacks among them.
    pub stacks: Vec<StackProfile>,
    /// Delay of an instant notice.
    pub notice_delay: Nanos,
    /// How far notices may be wrong, and late.
    pub notice_error: NoticeError,
    /// Users who share the access links.
    pub neighbours: Option<Neighbours>,
    /// The acts of the mobile's user, where they are measured.
    pub traffic: Option<Traffic>,
    /// Abilities of the access routers.
    pub routers: Routers,
    /// Handoffs of each run.
    pub series: Series,
    /// Queues of links whose words name none.
    pub link_queue: Option<QueueRule>,
    /// Time between the starts of flows.
    pub starts: Nanos,
    /// Whether all flows together are to bring P packets.
    pub in_all: bool,
    /// The fate of the mobile's address.
    pub address: Address,
}

impl Request {
    /// Checks names, settings and ranges.
    pub fn plan(mut self) -> Result<Plan, RequestError> {
        soft::read(&mut self.kinds, &self.settings)?;
        self.check_ranges()?;
        let neighbours = self.neighbours()?;
        let asked_traffic = self.traffic()?;
        let (notice_delay, notice_error) = self.notice_settings()?;
        let routers = routers(&self.settings)?;
        let open = bench::read(&self.settings)?;
        bench::check_links(&open, &self.pairs)?;
        let Bench { link_queue, starts, in_all } = open;
        let asked = StackWords { stack: self.stack.as_deref(), cc: self.cc.as_deref() };
        let (schemes, stacks) = planned(&self.schemes, asked, &self.settings)?;
        check_control(&self.schemes, self.cc.as_deref())?;
        check_foretold(&schemes, &routers)?;
        check_announced(&schemes, &self.kinds, self.notice)?;
        let breaks = self.kinds.iter().any(|kind| kind.breaks());
        check_routers(&self.settings, breaks, self.notice, &schemes, &routers)?;
        let neighbours = neighbours.map(|words| words.beside(&schemes, &self.settings)).transpose()?;
        if neighbours.is_some() {
            neighbours::check(&self.at, &self.kinds, self.notice, &schemes, &routers)?;
        }
        let series = series::read(&self.settings)?;
        series::check(series, &self.kinds, neighbours.is_some())?;
        soft::check(&self.kinds, neighbours.is_some())?;
        let address = address::read(&self.settings)?;
        let beside = address::Beside {
            kinds: &self.kinds,
            notice: self.notice,
            settings: &self.settings,
            schemes: &schemes,
            routers: &routers,
            neighbours: neighbours.is_some(),
            traffic: asked_traffic.is_some(),
            handoffs: series.handoffs,
        };
        address::check(address, &beside)?;
        if let Some(traffic) = &asked_traffic {
            traffic::check(traffic, &self.flows, &schemes)?;
            self.check_transfers(traffic)?;
        }
        Ok(Plan {
            request: self,
            schemes,
            stacks,
            notice_delay,
            notice_error,
            neighbours,
            traffic: asked_traffic,
            routers,
            series,
            link_queue,
            starts,
            in_all,
            address,
        })
    }

    /// The neighbours that the settings ask for, which then have them in full.
    fn neighbours(&mut self) -> Result<Option<NeighbourWords>, RequestError> {
        let mut neighbours = None;
        for (_, value) in self.settings.iter_mut().filter(|(key, _)| key == NEIGHBOURS) {
            let words = NeighbourWords::parse(value)?;
            *value = words.to_string();
            neighbours = Some(words);
        }
        Ok(neighbours)
    }

    /// The same for traffic.
    fn traffic(&mut self) -> Result<Option<Traffic>, RequestError> {
        let mut traffic = None;
        for (_, value) in self.settings.iter_mut().filter(|(key, _)| key == TRAFFIC) {
            let (read, written) = traffic::parse(value)?;
            *value = written;
            traffic = Some(read);
        }
        Ok(traffic)
    }

    /// Checks the keys of all settings, and reads how late and how wrong notices may be.
    fn notice_settings(&self) -> Result<(Nanos, NoticeError), RequestError> {
        let mut delay = 0;
        let mut wrong = NoticeError::default();
        for (key, value) in &self.settings {
            check_key(key, &self.schemes, &BENCH_WORDS)?;
            if key == NOTICE_ERROR {
                wrong = value.parse().map_err(|error: NoticeErrorWords| RequestError::List {
                    what: "--notice-error",
                    problem: error.to_string(),
                })?;
            }
            if key == NOTICE_DELAY {
                delay = self.notice_delay(value)?;
            }
        }
        Ok((delay, wrong))
    }

    fn notice_delay(&self, value: &str) -> Result<Nanos, RequestError> {
        if self.notice != NoticeMode::Instant {
            let problem = "`notice-delay` is for instant notices; one in band takes its own time".into();
            return Err(RequestError::List { what: "--set", problem });
        }
        segue_words::quantity::setting_time(value)
            .filter(|&time| time <= 100 * SECOND && !is_below_resolution(value))
            .ok_or_else(|| RequestError::Value {
                key: NOTICE_DELAY.to_string(),
                value: value.to_string(),
                expected: match is_below_resolution(value) {
                    true => "0s, or 1ns or more, which is the resolution".into(),
                    false => "a time up to 100s".into(),
                },
            })
    }

    /// Traffic without transfers has no use for what concerns them.
    fn check_transfers(&self, traffic: &Traffic) -> Result<(), RequestError> {
        let set = |key: &str| self.settings.iter().any(|(other, _)| other == key);
        let given = [
            (self.packets != PACKETS, "packets"),
            (self.definition != Definition::AfterHighest, "definition"),
            (set(TARGET), TARGET),
            (set(STARTS), STARTS),
        ];
        traffic::check_transfers(traffic, &given)
    }

    fn check_ranges(&self) -> Result<(), RequestError> {
        let range = |what, value: String, expected| Err(RequestError::Range { what, value, expected });
        for (what, empty) in [
            ("links", self.pairs.is_empty()),
            ("--schemes", self.schemes.is_empty()),
            ("--flows", self.flows.is_empty()),
            ("--kind", self.kinds.is_empty()),
            ("--at", self.at.is_empty()),
        ] {
            if empty {
                return Err(RequestError::List {
                    what,
                    problem: "the list is empty; expected at least one".into(),
                });
            }
        }
        if let Some(flows) = self.flows.iter().find(|&&n| !(1..=1000).contains(&n)) {
            return range("--flows", flows.to_string(), "1 to 1000");
        }
        if !(1..=MOST_PACKETS).contains(&self.packets) {
            return range("--packets", self.packets.to_string(), "1 to 1000000");
        }
        if !(1..=100_000).contains(&self.seeds) {
            return range("--seeds", self.seeds.to_string(), "1 to 100000");
        }
        if let Some(at) = self.at.iter().find(|&&t| t > MAX_AT) {
            return range("handoff time", format!("{} s", *at as f64 / SECOND as f64), "at most 3600 s");
        }
        if self.seed.checked_add(self.seeds).is_none() {
            return range(
                "--seed",
                self.seed.to_string(),
                "seed and number of seeds that add up to less than 2^64",
            );
        }
        for (index, flows) in self.flows.iter().enumerate() {
            if self.flows[..index].contains(flows) {
                let problem = format!("`{flows}` is given twice; expected it once");
                return Err(RequestError::List { what: "--flows", problem });
            }
        }
        if self.at.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(RequestError::List { what: "--at", problem: "handoff times must increase".into() });
        }
        for kind in &self.kinds {
            if let Kind::Bbm(time) = kind
                && (*time == 0 || *time > MAX_DISCONNECTION)
            {
                return range(
                    "--disconnect",
                    format!("{} s", *time as f64 / SECOND as f64),
                    "above 0, at most 300 s",
                );
            }
        }
        Ok(())
    }
}

/// A mobile that tells of the buffer that is kept for it can tell of so much.
fn check_foretold(schemes: &[PlannedScheme], routers: &Routers) -> Result<(), RequestError> {
    let foretold = schemes.iter().find(|planned| planned.scheme.mobile().foretells.is_some());
    match foretold.map(|planned| routers.capacity_bytes(&planned.stack)) {
        Some(bytes) if !TELLABLE_PBS.contains(&bytes) => Err(RequestError::Range {
            what: "router-buffer-size, which a Handoff Notification tells,",
            value: format!("{bytes} bytes"),
            expected: "1 kB to 32768 kB",
        }),
        _ => Ok(()),
    }
}

/// A mobile announces handoffs without an outage, as it sends notices.
fn check_announced(
    schemes: &[PlannedScheme],
    kinds: &[Kind],
    notice: NoticeMode,
) -> Result<(), RequestError> {
    let announces = schemes.iter().any(|planned| planned.scheme.mobile().expects.is_some());
    let in_band = matches!(notice, NoticeMode::InBand { .. });
    if !announces || (in_band && kinds.contains(&Kind::Mbb)) {
        return Ok(());
    }
    let problem = match in_band {
        true => "`announce` is for handoffs without an outage; expected --kind mbb beside it",
        false => "`announce` is for notices in band; expected --notice in-band beside it",
    };
    Err(RequestError::List { what: "--set", problem: problem.into() })
}

/// Latest handoff time.
const MAX_AT: Nanos = 3600 * SECOND;
/// Longest disconnection.
const MAX_DISCONNECTION: Nanos = 300 * SECOND;

/// One warm-up: what is simulated apart from scheme and handoff time.
#[derive(Clone, Debug)]
pub struct Group {
    /// The experiments to simulate, for each of the plan's stacks.
    pub experiments: Vec<Experiment>,
    /// Seed.
    pub seed: u64,
}

impl Plan {
    /// Whether all schemes stand on the TCP of 2008 (`ns2-sack1`) although nobody asked for a stack. Such a user may not
    /// know that there are several.
    pub fn is_of_2008_unasked(&self) -> bool {
        self.request.stack.is_none()
            && self.request.cc.is_none()
            && self.schemes.iter().all(|scheme| scheme.stack.name == NS2_SACK1.name)
    }

    /// Whether there are long transfers, which alone have a transfer time and a bound.
    pub fn has_transfers(&self) -> bool {
        self.traffic.as_ref().is_none_or(|traffic| traffic.has_bulk())
    }

    /// The combinations of links, kind and flow count, in the order of the rows; each with
    /// its seeds.
    pub fn groups(&self) -> Vec<Vec<Group>> {
        let request = &self.request;
        let mut groups = Vec::new();
        for (old, new) in &request.pairs {
            for &kind in &request.kinds {
                for &flows in &request.flows {
                    let experiment = |stack, seed| self.experiment((old, new), kind, flows, stack, seed);
                    let seeds = (request.seed..request.seed + request.seeds).map(|seed| Group {
                        seed,
                        experiments: self.stacks.iter().map(|&stack| experiment(stack, seed)).collect(),
                    });
                    groups.push(seeds.collect());
                }
            }
        }
        groups
    }

    /// The experiment of one pair of links, kind, flow count, stack and seed.
    pub fn experiment(
        &self,
        (old, new): (&AccessLink, &AccessLink),
        kind: Kind,
        flows: usize,
        stack: StackProfile,
        seed: u64,
    ) -> Experiment {
        let request = &self.request;
        // The mobile needs no packet to tell its own senders.
        let tells_itself = self.traffic.as_ref().is_some_and(Traffic::is_upward);
        let in_band = matches!(request.notice, NoticeMode::InBand { .. });
        let notice = if tells_itself && in_band { NoticeMode::Instant } else { request.notice };
        Experiment {
            old: self.with_queue(old),
            new: self.with_queue(new),
            kind,
            address: self.address,
            flows: if self.traffic.as_ref().is_some_and(|traffic| !traffic.has_bulk()) { 0 } else { flows },
            stack,
            notice,
            notice_delay: self.notice_delay,
            notice_error: self.notice_error,
            neighbours: self.neighbours,
            traffic: self.traffic.clone(),
            packets: self.packets_of(flows),
            definition: request.definition,
            routers: self.routers,
            starts: self.starts,
            seed,
            weather: None,
            before: 0,
        }
    }

    /// P of each of so many flows.
    pub fn packets_of(&self, flows: usize) -> u32 {
        let all = self.request.packets;
        if self.in_all { all.div_ceil(u32::try_from(flows).unwrap_or(u32::MAX).max(1)) } else { all }
    }

    /// The flows whose packets are counted, in words.
    pub fn counted(&self) -> &'static str {
        if self.in_all { "of all flows together, as many of each" } else { "per flow" }
    }

    /// Which schemes are the mobile's alone (docs/reference/mobile.md), in words; `None`: none is.
    pub fn alone(&self) -> Option<String> {
        let alone = self.schemes.iter().filter(|planned| planned.scheme.mobile().alone.is_some());
        let names: Vec<&str> = alone.map(|planned| planned.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("needs nothing at the server: {}", names.join(", ")))
    }

    fn with_queue(&self, link: &AccessLink) -> AccessLink {
        self.link_queue.map_or_else(|| link.clone(), |rule| link.with_queues(rule))
    }

    /// The number of a run's handoff, the first being 1; `None` if it is the only one.
    pub fn which(&self, nth: u32) -> Option<u32> {
        (self.series.handoffs > 1).then_some(nth + 1)
    }

    /// Number of handoffs to simulate.
    pub fn handoffs(&self) -> u64 {
        let groups: usize = self.groups().iter().map(Vec::len).sum();
        (groups * self.request.at.len() * self.schemes.len()) as u64 * u64::from(self.series.handoffs)
    }
}
