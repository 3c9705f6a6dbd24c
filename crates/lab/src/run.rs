//! One run, and many: senders interleaved, several laboratories at once.

use super::Error;
use super::Nanos;
use super::access_link::{AccessLink, mean_kbps};
use super::bulk::write_bulk;
use super::child::installed;
use super::ends::Attach;
use super::freezer::Freezer;
use super::interrupt;
use super::kernel_counters;
use super::laboratory::Laboratory;
use super::measures::{BULK, Frame, measure};
use super::path::{Switch, Which};
use super::plan::{Family, Gateway, Kind, Plan, Program};
use super::prefix::prefix;
use super::programs::{Download, Said};
use super::punctual::{Punctual, Rank};
use super::record::{Exactness, RunRecord};
use super::segue;
use super::sender_kind::SenderKind;
use super::sweep::sweep;
use rand_core::{RngCore, SeedableRng};
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
/// How often a waiting run looks whether all is well.
const LOOK: Duration = Duration::from_millis(20);

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
    let bulk = match plan.program {
        Program::Iperf3 | Program::Thin => None,
        Program::Nginx => {
            let path = folder.path().join("bulk");
            write_bulk(&path, most_bytes(plan))?;
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
    mut lab: Laboratory,
    plan: &Plan,
    sender: &SenderKind,
    round: u32,
    bulk: Option<&Path>,
    stop: &AtomicBool,
) -> Result<RunRecord, Error> {
    let six = plan.family == Family::Ipv6;
    let mut freezer = Freezer::of(sender, lab.mobile())?;
    // Its programs inherit it.
    let punctual = Punctual::of(Rank::Program);
    let mut download = match plan.program {
        Program::Thin => Download::thin(lab.hosts(), &plan.end, plan.flows, six)?,
        program => Download::start(lab.hosts(), program, plan.flows, six, None, bulk)?,
    };
    let mut wait = Wait { lab: &mut lab, download: &mut download, stop, breaks: false, gave_up: false };

    let start = wait.first_bulk(flowing(plan) + NEVER)?;
    let warm_up = plan.warm_up().as_nanos() as Nanos;
    let down = warm(plan, start) + warm_up + instant(plan.seed, round);
    let up = down + plan.outage().as_nanos() as Nanos;
    let end = up + plan.observe.as_nanos() as Nanos;
    // This host sees the old link end when its uplink ends.
    let uplink_down = down + plan.uplink_outlives().as_nanos() as Nanos;
    let seed = plan.seed ^ (u64::from(round) << 32);
    wait.lab.emulator().lose(plan.unheard, seed);
    let switch = Switch { uplink_down, ..Switch::new(down, up, plan.kind == Kind::Bbm) };
    wait.lab.emulator().schedule(switch);
    if let Some(freezer) = &mut freezer {
        wait.until(freezer.closes(&switch))?;
        freezer.close(wait.lab, Which::Old, &switch)?;
    }
    wait.until(uplink_down)?;
    if plan.kind == Kind::Bbm {
        wait.lab.lose(Which::Old)?;
    }
    let server = wait.download.server_id();
    let counted = kernel_counters::read(server)?;
    wait.breaks = true;
    wait.until(up)?;
    let notified = wait.lab.complete(Which::New, plan.notices.then(|| plan.notice(up)))?;
    if let Some(freezer) = &mut freezer {
        freezer.open(Which::Old)?;
    }
    wait.until(end)?;
    let gave_up = wait.gave_up;
    let (kernel, programs) = if gave_up {
        drop(download);
        (BTreeMap::new(), Said::default())
    } else {
        let counted_now = kernel_counters::read(server)?;
        (kernel_counters::growth(&counted, &counted_now), download.finish()?)
    };
    drop(punctual);
    drop(freezer);
    let notified = lab.end_agent()?.unwrap_or(notified);
    let ends = lab.ends.take();
    let sender_counters = ends.map(super::ends::Ends::finish).transpose()?.unwrap_or_default();
    let (emulator, drops) = lab.close()?;
    let taken = emulator.stop()?;
    if drops > 0 {
        return Err(Error::Overloaded { drops });
    }

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

/// A run that waits, and looks meanwhile whether it still makes sense.
struct Wait<'a> {
    lab: &'a mut Laboratory,
    download: &'a mut Download,
    stop: &'a AtomicBool,
    /// From T on a connection may be given up.
    breaks: bool,
    gave_up: bool,
}

impl Wait<'_> {
    fn look(&mut self) -> Result<(), Error> {
        interrupt::check()?;
        if self.stop.load(Ordering::Acquire) {
            return Err(Error::Interrupted);
        }
        self.lab.check()?;
        match self.download.check() {
            Err(error) if self.breaks && error.is_given_up() => self.gave_up = true,
            other => other?,
        }
        Ok(())
    }

    fn until(&mut self, at: Nanos) -> Result<(), Error> {
        loop {
            self.look()?;
            let left = self.lab.clock.until(at);
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    fn first_bulk(&mut self, wait: Duration) -> Result<Nanos, Error> {
        let limit = self.lab.clock.now() + wait.as_nanos() as Nanos;
        loop {
            if let Some(at) = self.lab.emulator().first_bulk() {
                return Ok(at);
            }
            let left = self.lab.clock.until(limit);
            if left.is_zero() {
                return Err(Error::Timeout {
                    seconds: wait.as_secs_f64(),
                    what: "the first data packet".into(),
                });
            }
            let next = self.lab.clock.now() + (left.min(LOOK)).as_nanos() as Nanos;
            self.until(next)?;
        }
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
