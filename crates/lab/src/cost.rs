//! The cost of a sender without a handoff: throughput, connections per second and memory over a veth pair, beside the
//! kernel's own cubic.
//!
//! In each round every arm once, in rotated order, each on hosts of its own. Beside plain cubic there is cubic towards
//! a mobile with its programs attached. Both ends run on this one machine, so the two tell the cost of both from that
//! of the server's end.

use super::Error;
use super::child::{Child, installed};
use super::ends::ServerEnd;
use super::host::Role;
use super::hosts::Hosts;
use super::interrupt;
use super::programs::{Download, Said};
use super::run::{Progress, order};
use super::sender_kind::Segue;
use super::site::Site;
use super::socket_memory::option_memory;
use super::sweep::sweep;
use super::traffic::PORTS;
use segue_words::lab::{Family, Program};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

const BASELINE: &str = "cubic";
/// How often a waiting run looks whether all is well.
const LOOK: Duration = Duration::from_millis(10);
/// More than connections and their setting up can take.
const LIMIT: Duration = Duration::from_secs(300);
/// The slab is at rest when it changes by less than so much in [`REST`].
const STILL: u64 = 32 * 1024;
const REST: Duration = Duration::from_millis(200);
const AT_REST: Duration = Duration::from_secs(5);

/// A measurement of costs.
#[derive(Clone, Debug)]
pub struct CostPlan {
    /// The senders, with their names.
    pub senders: Vec<(String, Segue)>,
    /// Rounds; at least 2, or nothing can be said of their spread.
    pub runs: u32,
    /// Length of each time in which connections are counted; a flow lasts whole seconds, no less.
    pub time: Duration,
    /// Idle connections whose memory is measured.
    pub connections: u32,
    /// Rounds of that.
    pub memory_runs: u32,
    /// Program, and words before those of [`super::traffic`]'s ends, that run them: `serve ADDRESS KEEP`, `connect
    /// ADDRESS SECONDS` which prints [`Connected`], `open ADDRESS COUNT` which prints [`Opened`] and then waits.
    pub end: Vec<String>,
}

/// Output of `connect`, as JSON.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Connected {
    /// Connections opened, used and closed.
    pub connections: u64,
    /// In so long.
    pub seconds: f64,
}

/// Output of `open`, as JSON in one line, when all are open.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// Connections.
    pub open: u64,
}

/// Configurations to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The kernel's cubic; nothing is attached anywhere.
    Cubic,
    /// The kernel's cubic towards a mobile with its programs, which offers and is not answered.
    CubicToMobile,
    /// A sender by name, and the mobile's programs.
    Sender(String),
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cubic => BASELINE,
            Self::CubicToMobile => "cubic, mobile attached",
            Self::Sender(name) => name,
        })
    }
}

/// One run of one arm.
#[derive(Clone, Debug)]
pub struct CostRecord {
    /// The configuration.
    pub arm: Arm,
    /// Number of the round, from 0.
    pub run: u32,
    /// Throughput of one flow, bit/s.
    pub bits_per_second: f64,
    /// Opened, used and closed.
    pub connections_per_second: f64,
    /// Bits that one flow carried in a second of processor time, both ends together. Where other programs take their
    /// share of the machine, it changes less.
    pub bits_per_processor_second: f64,
    /// The same of connections.
    pub connections_per_processor_second: f64,
    /// Connections that the sender's programs negotiated; 0 without a sender.
    pub negotiated: u64,
}

/// Memory of idle connections, once.
#[derive(Clone, Debug)]
pub struct MemoryRecord {
    /// The configuration.
    pub arm: Arm,
    /// Number of the round, from 0.
    pub run: u32,
    /// How much the kernel's slab grew a connection, both ends, octets.
    pub slab: f64,
    /// Memory charged to a socket beside its buffers, the server's and the mobile's, octets; `None`: this kernel does
    /// not tell.
    pub charged: Option<[f64; 2]>,
}

/// All that was measured.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// By round, then by arm.
    pub runs: Vec<CostRecord>,
    /// By round, then by arm.
    pub memory: Vec<MemoryRecord>,
}

/// Measures.
///
/// # Errors
/// The first that any run meets.
pub fn cost(plan: &CostPlan, progress: &mut dyn FnMut(Progress)) -> Result<Cost, Error> {
    let arms = prepared(plan)?;
    let _signals = interrupt::Guard::new()?;
    sweep();
    let (runs, memory) = (order(arms.len(), plan.runs), order(arms.len(), plan.memory_runs));
    let of = runs.len() + memory.len();
    let mut done = 0;
    let mut tell = || {
        done += 1;
        progress(Progress { done, of });
    };
    let mut cost = Cost::default();
    for (run, arm) in runs {
        cost.runs.push(of_run(plan, &arms[arm], run)?);
        tell();
    }
    for (run, arm) in memory {
        cost.memory.push(of_memory(plan, &arms[arm], run)?);
        tell();
    }
    Ok(cost)
}

fn prepared(plan: &CostPlan) -> Result<Vec<Arm>, Error> {
    if plan.senders.is_empty() || plan.runs < 2 || plan.connections == 0 || plan.end.is_empty() {
        return Err(Error::Plan("expected a sender, 2 runs, a connection and a program at least".into()));
    }
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::NotRoot(nix::unistd::getuid().as_raw()));
    }
    ["iperf3", "setpriv"].iter().try_for_each(|program| installed(program))?;
    let senders = plan.senders.iter().map(|(name, _)| Arm::Sender(name.clone()));
    Ok([Arm::Cubic, Arm::CubicToMobile].into_iter().chain(senders).collect())
}

/// Attached programs, in the order of detaching.
struct Attached {
    server: Option<Box<dyn ServerEnd>>,
    _mobile: Option<Box<dyn super::ends::MobileEnd>>,
}

impl Attached {
    fn of(plan: &CostPlan, arm: &Arm, site: &Site) -> Result<Self, Error> {
        let (server, mobile) = match arm {
            Arm::Cubic => (None, None),
            // All have the same programs at the mobile.
            Arm::CubicToMobile => (None, plan.senders.first()),
            Arm::Sender(name) => {
                let sender = plan.senders.iter().find(|(other, _)| other == name);
                (sender, sender)
            }
        };
        Ok(Self {
            server: server.map(|(_, segue)| site.sender(segue)).transpose()?,
            _mobile: mobile.map(|(_, segue)| site.mobile(segue)).transpose()?,
        })
    }

    /// Connections that have been negotiated; none of `expected` may be missing.
    fn negotiated(&self, expected: u64) -> Result<u64, Error> {
        let Some(server) = &self.server else { return Ok(0) };
        let agent = |said| Error::Agent { end: "sender", said };
        let count = server.counters().map_err(agent)?.get("negotiated").copied().unwrap_or_default();
        if count < expected {
            return Err(agent(format!("{count} of {expected} connections negotiated; expected all")));
        }
        Ok(count)
    }
}

fn site(arm: &Arm) -> Result<Site, Error> {
    Site::create((!matches!(arm, Arm::Sender(_))).then_some(BASELINE))
}

fn of_run(plan: &CostPlan, arm: &Arm, run: u32) -> Result<CostRecord, Error> {
    let site = site(arm)?;
    let attached = Attached::of(plan, arm, &site)?;
    at_rest()?;
    let hosts = site.hosts();
    let before = hosts.spent()?;
    let said = bulk(plan, hosts)?;
    let between = hosts.spent()?;
    let ours = said.congestion_control.as_deref() != Some(BASELINE);
    if ours != attached.server.is_some() {
        let what = said.congestion_control.as_deref().unwrap_or("none that it tells");
        return Err(Error::Fault(format!("the flow of {arm} had the congestion control {what}")));
    }
    let start = hosts.spent()?;
    let connected = connections(plan, hosts)?;
    let end = hosts.spent()?;
    // And iperf3's two.
    let negotiated = attached.negotiated(connected.connections + 2)?;
    let rate = |of: u64, seconds: f64| of as f64 / seconds.max(1e-9);
    Ok(CostRecord {
        arm: arm.clone(),
        run,
        bits_per_second: rate(8 * said.received, said.seconds),
        connections_per_second: rate(connected.connections, connected.seconds),
        bits_per_processor_second: rate(8 * said.received, (between - before).as_secs_f64()),
        connections_per_processor_second: rate(connected.connections, (end - start).as_secs_f64()),
        negotiated,
    })
}

/// One flow from the server, as fast as the machine can.
fn bulk(plan: &CostPlan, hosts: Hosts<'_>) -> Result<Said, Error> {
    // It takes whole seconds only.
    let seconds = plan.time.as_secs_f64().ceil() as u32;
    let mut download = Download::start(hosts, Program::Iperf3, 1, Family::Ipv4, Some(seconds), None)?;
    if !wait(plan.time + LIMIT, || download.ended())? {
        return Err(late("iperf3 to end"));
    }
    download.finish()
}

fn connections(plan: &CostPlan, hosts: Hosts<'_>) -> Result<Connected, Error> {
    let _server = end(plan, hosts, Role::Server, "serve", "0")?;
    let seconds = plan.time.as_secs_f64().to_string();
    let mut client = end(plan, hosts, Role::Mobile, "connect", &seconds)?;
    if !wait(plan.time + LIMIT, || client.ended())? {
        return Err(late("a client to count its connections"));
    }
    printed(&client)?.ok_or_else(|| client.failed("counted nothing".into()))
}

fn of_memory(plan: &CostPlan, arm: &Arm, run: u32) -> Result<MemoryRecord, Error> {
    let site = site(arm)?;
    let attached = Attached::of(plan, arm, &site)?;
    let hosts = site.hosts();
    let count = plan.connections.to_string();
    let _server = end(plan, hosts, Role::Server, "serve", &count)?;
    let before = at_rest()?;
    let mut client = end(plan, hosts, Role::Mobile, "open", &count)?;
    let mut opened: Option<Opened> = None;
    wait(LIMIT, || {
        client.check()?;
        opened = printed(&client)?;
        Ok(opened.is_some())
    })?;
    let open = opened.ok_or_else(|| late("a client to open its connections"))?.open.max(1);
    let after = at_rest()?;
    attached.negotiated(open)?;
    let of = |host: &super::host::Host| host.namespace.within(option_memory).ok().and_then(|all| mean(&all));
    Ok(MemoryRecord {
        arm: arm.clone(),
        run,
        slab: (after as f64 - before as f64) / open as f64,
        charged: of(hosts.server).zip(of(hosts.mobile)).map(|(server, mobile)| [server, mobile]),
    })
}

fn mean(all: &[u32]) -> Option<f64> {
    let sum: f64 = all.iter().map(|&octets| f64::from(octets)).sum();
    (!all.is_empty()).then(|| sum / all.len() as f64)
}

/// A process with an end of [`super::traffic`].
fn end(plan: &CostPlan, hosts: Hosts<'_>, role: Role, what: &str, number: &str) -> Result<Child, Error> {
    let address = Role::Server.address(Family::Ipv4).to_string();
    let words: Vec<&str> = plan.end.iter().map(String::as_str).chain([what, &address, number]).collect();
    match (&words[..], role) {
        ([program, args @ ..], Role::Server) => hosts.serve(what, program, args, &PORTS),
        ([program, args @ ..], Role::Mobile) => hosts.start(role, what, program, args),
        ([], _) => Err(Error::Plan("no program for the connections' ends".into())),
    }
}

/// The line of JSON that a client has printed, if it is complete.
fn printed<T: serde::de::DeserializeOwned>(client: &Child) -> Result<Option<T>, Error> {
    let text = client.printed()?;
    Ok(text.split_once('\n').and_then(|(line, _)| serde_json::from_str(line).ok()))
}

/// Waits until `over`, `limit` at most; whether it was.
fn wait(limit: Duration, mut over: impl FnMut() -> Result<bool, Error>) -> Result<bool, Error> {
    Ok(interrupt::wait(limit, LOOK, || Ok(over()?.then_some(())))?.is_some())
}

fn late(what: &str) -> Error {
    Error::Timeout { seconds: LIMIT.as_secs_f64(), what: what.into() }
}

/// Waits until the kernel has put away what was there before, or for [`AT_REST`]; then the size of its slab.
fn at_rest() -> Result<u64, Error> {
    let mut last = slab()?;
    let until = Instant::now() + AT_REST;
    loop {
        wait(REST, || Ok(false))?;
        let now = slab()?;
        if now.abs_diff(last) < STILL || Instant::now() > until {
            return Ok(now);
        }
        last = now;
    }
}

/// Octets of the kernel's slab, of the whole machine.
fn slab() -> Result<u64, Error> {
    let path = "/proc/meminfo";
    let text = fs::read_to_string(path).map_err(Error::system(path))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Slab:"));
    let kilo = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilo.map(|kilo| kilo * 1024).ok_or_else(|| Error::Fault(format!("{path} has no `Slab: N kB`")))
}
