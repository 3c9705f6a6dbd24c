//! One run, and many: senders interleaved, several laboratories at once.

use super::Error;
use super::Nanos;
use super::access_link::{AccessLink, mean_kbps};
use super::bulk::{room_for, write_bulk};
use super::child::installed;
use super::ends::Attach;
use super::interrupt;
use super::kernel_counters;
use super::laboratory::Laboratory;
use super::measures::{BULK, Frame, measure};
use super::path::{Switch, Which};
use super::plan::{Kind, Plan};
use super::prefix::prefix;
use super::programs::{Download, Said};
use super::record::{Exactness, RunRecord};
use super::segue;
use super::sender_kind::SenderKind;
use super::session::{LOOK, Left, Session};
use super::sweep::sweep;
use rand_core::{RngCore, SeedableRng};
use segue_words::lab::{self, Gateway, Program};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

const SECOND: Nanos = 1_000_000_000;
/// Bulk data flows so long, and [`ROUND_TRIPS`], after the laboratory's time zero. Over measured links warm-ups are
/// counted from there, so that the handoff comes at the same time of the link in every run.
const FLOWING: Duration = Duration::from_millis(500);
/// iperf3's two connections and its negotiation.
const ROUND_TRIPS: u32 = 6;
/// Data flows later by at most so much, unless the machine is many times overloaded; room is kept for it.
const BEGIN: Duration = Duration::from_secs(20);
/// No data packet by so much after that: none comes.
const NEVER: Duration = Duration::from_secs(600);

/// Progress of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs that have ended.
    pub done: usize,
    /// Runs in all.
    pub of: usize,
}

/// Runs a plan: in each round every sender once, in rotated order. Records come by round, then by sender as listed.
///
/// # Errors
/// The first that any run meets; the others are ended.
pub fn run(plan: &Plan, progress: &mut dyn FnMut(Progress)) -> Result<Vec<RunRecord>, Error> {
    run_with(plan, &segue::aware, progress)
}

/// The same with other ends for senders that are told.
///
/// # Errors
/// As of [`run`].
pub fn run_with(
    plan: &Plan,
    attach: &Attach<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<RunRecord>, Error> {
    plan.check()?;
    let served = served(plan)?;
    prepared(match plan.program {
        Program::Iperf3 => &["iperf3", "setpriv"],
        Program::Nginx => &["nginx", "curl", "setpriv"],
        Program::Thin => &["setpriv"],
    })?;
    prepared(if plan.gateway == Gateway::Nat { &["nft"] } else { &[] })?;
    let _signals = interrupt::Guard::new()?;
    sweep();
    let folder = tempfile::Builder::new().prefix(&prefix()).tempdir();
    let folder = folder.map_err(Error::system("a folder for the laboratories"))?;
    let bulk = match served {
        None => None,
        Some(octets) => {
            // Each laboratory's clients get what the links carry.
            room_for(folder.path(), octets.saturating_mul(1 + at_once(plan)))?;
            let path = folder.path().join("bulk");
            write_bulk(&path, octets)?;
            Some(path)
        }
    };
    each_run(plan, progress, &|sender, round, stop| {
        let lab = Laboratory::create_with(plan, sender, attach, lasts(plan))?;
        one(lab, plan, sender, round, bulk.as_deref(), stop)
    })
}

/// One run of a sender: in this round, until it is told to stop.
type One<'a, T> = dyn Fn(&SenderKind, u32, &AtomicBool) -> Result<T, Error> + Sync + 'a;

/// Every sender once in each round, as many at once as the plan allows. Records come by round, then by sender.
pub(super) fn each_run<T: Send>(
    plan: &Plan,
    progress: &mut dyn FnMut(Progress),
    one: &One<'_, T>,
) -> Result<Vec<T>, Error> {
    let order = order(plan.senders.len(), plan.runs);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut records = BTreeMap::new();
    let mut first_error = None;
    std::thread::scope(|scope| {
        let (told, news) = channel();
        for _ in 0..(plan.parallel as usize).min(order.len()) {
            let told = told.clone();
            scope.spawn(|| {
                // Owned by the thread, so that the channel closes with the last one.
                let told = told;
                while let Some(&(round, sender)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Acquire) {
                        break;
                    }
                    let one = || one(&plan.senders[sender], round, &stop);
                    let result = catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|_| Err(panicked()));
                    let failed = result.is_err();
                    stop.fetch_or(failed, Ordering::AcqRel);
                    let _ = told.send(result.map(|record| ((round, sender), record)));
                    if failed {
                        break;
                    }
                }
            });
        }
        drop(told);
        let mut done = 0;
        for result in news {
            match result {
                Ok((key, record)) => {
                    done += 1;
                    progress(Progress { done, of: order.len() });
                    records.insert(key, record);
                }
                // The others are interrupted by the one that failed.
                Err(error) if matches!(first_error, None | Some(Error::Interrupted)) => {
                    first_error = Some(error)
                }
                Err(_) => {}
            }
        }
    });
    match first_error {
        Some(error) => Err(error),
        None => Ok(records.into_values().collect()),
    }
}

fn panicked() -> Error {
    Error::Fault("a run panicked".into())
}

/// (round, sender) in the order of running.
pub(super) fn order(senders: usize, runs: u32) -> Vec<(u32, usize)> {
    let senders_of = |round: u32| (0..senders).map(move |place| (place + round as usize) % senders);
    (0..runs).flat_map(|round| senders_of(round).map(move |sender| (round, sender))).collect()
}

/// Checks the conditions of the first run.
pub(super) fn prepared(programs: &[&str]) -> Result<(), Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::NotRoot(nix::unistd::getuid().as_raw()));
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err(Error::NoTun);
    }
    programs.iter().try_for_each(|program| installed(program))
}

/// When bulk data flows, as a rule.
fn flowing(plan: &Plan) -> Duration {
    FLOWING + ROUND_TRIPS * plan.round_trip(&plan.old)
}

/// When the warm-up begins. Over links that are always the same it is with the first data, so that the flow is as old
/// in every run. Programs start later where other laboratories start, too. The packets under way at the handoff depend
/// on how far cubic's window has grown.
fn warm(plan: &Plan, first_data: Nanos) -> Nanos {
    let varies = [&plan.old, &plan.new].into_iter().any(AccessLink::varies);
    if varies { first_data.max(flowing(plan).as_nanos() as Nanos) } else { first_data }
}

/// Longest possible time from the laboratory's zero to the end of a run.
fn lasts(plan: &Plan) -> Duration {
    flowing(plan) + BEGIN + plan.warm_up() + Duration::from_secs(1) + plan.outage() + plan.observe
}

/// Octets of the file that nginx serves, if it is the program.
fn served(plan: &Plan) -> Result<Option<u64>, Error> {
    if plan.program != Program::Nginx {
        return Ok(None);
    }
    let octets = most_bytes(plan);
    if octets > *lab::FILE.end() {
        return Err(Error::Plan(format!(
            "program = nginx: the links carry a file of {:.1} GB in a run; expected at most {} GB: slower links, a \
             shorter time, or iperf3",
            octets as f64 / 1e9,
            lab::FILE.end() / 1_000_000_000
        )));
    }
    Ok(Some(octets))
}

/// Laboratories that run at the same time.
pub(super) fn at_once(plan: &Plan) -> u64 {
    u64::from(plan.parallel).min(u64::from(plan.runs) * plan.senders.len() as u64)
}

/// More than both links can carry in all that time, so that a flow never runs out of data.
fn most_bytes(plan: &Plan) -> u64 {
    let kbps = mean_kbps(&plan.old.down).max(mean_kbps(&plan.new.down));
    (lasts(plan).as_secs_f64() * kbps as f64 * 1000.0 / 8.0 * 1.5) as u64 + (1 << 20)
}

/// Where in its second the handoff of a round comes.
pub(super) fn instant(seed: u64, round: u32) -> Nanos {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed ^ (u64::from(round) << 32));
    random.next_u64() % SECOND
}

fn one(
    lab: Laboratory,
    plan: &Plan,
    sender: &SenderKind,
    round: u32,
    bulk: Option<&Path>,
    stop: &AtomicBool,
) -> Result<RunRecord, Error> {
    let mut session = Session::begin(lab, sender, stop)?;
    let hosts = session.lab().hosts();
    let download = match plan.program {
        Program::Thin => Download::thin(hosts, &plan.end, plan.flows, plan.family)?,
        program => Download::start(hosts, program, plan.flows, plan.family, None, bulk)?,
    };
    let mut flows = Flows { download, breaks: false, gave_up: false };

    let start = first_bulk(&session, &mut flows, flowing(plan) + NEVER)?;
    let warm_up = plan.warm_up().as_nanos() as Nanos;
    let down = warm(plan, start) + warm_up + instant(plan.seed, round);
    let up = down + plan.outage().as_nanos() as Nanos;
    let end = up + plan.observe.as_nanos() as Nanos;
    let uplink_down = down + plan.uplink_outlives().as_nanos() as Nanos;
    let seed = plan.seed ^ (u64::from(round) << 32);
    session.lab().emulator().lose(plan.unheard, seed);
    let switch = Switch { uplink_down, ..Switch::new(down, up, plan.kind == Kind::Bbm) };
    session.lab().emulator().schedule(switch);
    let notice = plan.notices.then(|| plan.notice(up));
    let before = plan.announce.filter(|before| !before.is_zero());
    if let Some(announced) = before.zip(notice) {
        session.foresee(Which::New, &switch, announced, &mut || flows.look())?;
    }
    session.leave(Which::Old, &switch, &mut || flows.look())?;
    let server = flows.download.server_id();
    let counted = kernel_counters::read(server)?;
    flows.breaks = true;
    let notified = session.arrive(Which::New, &switch, notice, &mut || flows.look())?;
    session.until(end, &mut || flows.look())?;
    let Flows { download, gave_up, .. } = flows;
    let (kernel, programs) = if gave_up {
        drop(download);
        (BTreeMap::new(), Said::default())
    } else {
        let counted_now = kernel_counters::read(server)?;
        (kernel_counters::growth(&counted, &counted_now), download.finish()?)
    };
    let Left { notified: of_agent, sender_counters, emulator: taken } = session.finish()?;
    let notified = of_agent.or(notified).unwrap_or_default();

    let frame = Frame {
        start,
        down,
        up,
        end,
        round_trip: plan.round_trip(&plan.new).as_nanos() as Nanos,
        segment: plan.segment(),
        least: BULK,
        service: [&plan.old.down.service, &plan.new.down.service],
    };
    let emulator = Exactness {
        cpu: taken.cpu.as_secs_f64() / taken.ran.as_secs_f64().max(1e-9),
        realtime: taken.realtime,
        ..Exactness::default()
    };
    let mut record = RunRecord {
        sender: sender.to_string(),
        run: round,
        kernel,
        notified,
        sender_counters,
        programs,
        gave_up,
        emulator,
        ..RunRecord::default()
    };
    measure(&taken.packets, &frame, &mut record);
    if plan.packets {
        record.packets = taken.packets;
    }
    Ok(record)
}

/// The flows of a run, which goes on to its end whatever becomes of them.
struct Flows {
    download: Download,
    /// From T on a connection may be given up.
    breaks: bool,
    gave_up: bool,
}

impl Flows {
    fn look(&mut self) -> Result<bool, Error> {
        match self.download.check() {
            Err(error) if self.breaks && error.is_given_up() => self.gave_up = true,
            other => other?,
        }
        Ok(false)
    }
}

fn first_bulk(session: &Session<'_>, flows: &mut Flows, wait: Duration) -> Result<Nanos, Error> {
    let lab = session.lab();
    let limit = lab.clock.now() + wait.as_nanos() as Nanos;
    loop {
        if let Some(at) = lab.emulator().first_bulk() {
            return Ok(at);
        }
        let left = lab.clock.until(limit);
        if left.is_zero() {
            return Err(Error::Timeout { seconds: wait.as_secs_f64(), what: "the first data packet".into() });
        }
        let next = lab.clock.now() + (left.min(LOOK)).as_nanos() as Nanos;
        session.until(next, &mut || flows.look())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::punctual::is_ordinary;

    /// Hosts are set up in a run's thread.
    #[test]
    fn a_run_begins_as_an_ordinary_thread() {
        let link = AccessLink::constant(6400, 9_000, None);
        let mut plan = Plan::new(link.clone(), link, vec![SenderKind::builtin("cubic", None)]);
        (plan.runs, plan.parallel) = (4, 2);
        let policies = each_run(&plan, &mut |_| {}, &|_, _, _| Ok(is_ordinary())).expect("it runs");
        assert_eq!(policies, [true; 4]);
    }

    #[test]
    fn nginx_serves_no_file_that_no_disk_holds() {
        let link = AccessLink::constant(1_000_000, 5_000, None);
        let mut plan = Plan::new(link.clone(), link, vec![SenderKind::builtin("cubic", None)]);
        plan.warm_up = Some(Duration::from_secs(5));
        assert_eq!(served(&plan).expect("no file"), None);
        plan.program = Program::Nginx;
        // 0.56 s + 20 s + 5 s + 1 s + 10 s of 125 MB/s, half as much again, and a MiB.
        assert_eq!(served(&plan).expect("a file"), Some(6_855_000_000 + (1 << 20)));
        plan.observe = Duration::from_secs(600);
        let said = served(&plan).expect_err("117 GB").to_string();
        assert!(said.contains("a file of 117.5 GB") && said.contains("at most 10 GB"), "{said}");
    }

    #[test]
    fn rounds_rotate() {
        let order = order(3, 2);
        assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 0)]);
    }

    #[test]
    fn instants_differ_by_round_and_by_seed_only() {
        assert_eq!(instant(1, 4), instant(1, 4));
        assert_ne!(instant(1, 4), instant(1, 5));
        assert_ne!(instant(1, 4), instant(2, 4));
        assert!((0..100).all(|round| instant(7, round) < SECOND));
    }
}
