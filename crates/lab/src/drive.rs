//! A drive: stays at the old and the new link in turn, with a handoff between each two, under one program.
//!
//! Measured links go on in the time of the laboratory: a stay begins where the trace is by then, not where it was left.

use super::access_link::AccessLink;
use super::bulk::{room_for, write_bulk};
use super::interrupt;
use super::laboratory::Laboratory;
use super::measures::{BULK, Frame, measure};
use super::packet::Packet;
use super::page::Page;
use super::path::{Direction, Switch, Which};
use super::plan::{Kind, Plan};
use super::prefix::prefix;
use super::programs::Download;
use super::record::RunRecord;
use super::run::{Progress, at_once, each_run, instant, prepared};
use super::sender_kind::SenderKind;
use super::session::Session;
use super::shell::{self, Keystroke, Shell};
use super::sweep::sweep;
use super::{Error, Nanos};
use segue_words::lab::{Load, Program};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Longest time that a file may take beyond the drive before the run is ended.
const PATIENCE: Duration = Duration::from_secs(120);

/// A drive to run.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Links, kind of the handoffs, senders and the rest; its warm-up, observation and program are not used.
    pub plan: Plan,
    /// At the old link, at the new one, at the old one, ...: at least two. The first is longer by a part of a second
    /// that the seed draws for each round.
    pub stays: Vec<Duration>,
    /// Traffic over the links.
    pub load: Load,
}

/// One run of one sender.
#[derive(Clone, Debug, Default)]
pub struct DriveRecord {
    /// Name of the sender.
    pub sender: String,
    /// Which round, from 0.
    pub run: u32,
    /// The handoffs that came before the end, as [`super::run()`] has each; a stay is what is observed after it. They
    /// lack the run's programs, kernel and counters.
    pub handoffs: Vec<RunRecord>,
    /// Octets of TCP data new to the mobile until the end of the drive.
    pub octets: u64,
    /// From the clients' start until they had the whole file.
    pub completed: Option<Duration>,
    /// Whether every octet of the files was the right one.
    pub intact: Option<bool>,
    /// Keystrokes typed.
    pub keystrokes: Vec<Keystroke>,
    /// Whether a kernel held a connection for dead.
    pub gave_up: bool,
}

impl DriveRecord {
    /// From each link-up to the first echo after it; `None`: there was none.
    pub fn first_echoes(&self) -> Vec<Option<Duration>> {
        let first = |up: Nanos| {
            let echoes = self.keystrokes.iter().filter_map(|keystroke| keystroke.echoed);
            echoes.filter(|&at| at >= up).min().map(|at| Duration::from_nanos(at - up))
        };
        self.handoffs.iter().map(|handoff| first(handoff.link_up.as_nanos() as Nanos)).collect()
    }
}

/// Runs a drive: in each round every sender once, in rotated order. Records come by round, then by sender as listed.
///
/// # Errors
/// The first that any run meets; the others are ended.
pub fn drive(drive: &Drive, progress: &mut dyn FnMut(Progress)) -> Result<Vec<DriveRecord>, Error> {
    drive.check()?;
    prepared(match drive.load {
        Load::Bulk => &["iperf3", "setpriv"],
        Load::File(_) | Load::Page(_) => &["nginx", "curl", "setpriv"],
        Load::Typing | Load::Watching => &shell::PROGRAMS,
    })?;
    let _signals = interrupt::Guard::new()?;
    sweep();
    let folder = tempfile::Builder::new().prefix(&prefix()).tempdir();
    let folder = folder.map_err(Error::system("a folder for the laboratories"))?;
    let fetched = match drive.load {
        Load::File(octets) => {
            room_for(folder.path(), drive.room(octets))?;
            let path = folder.path().join("bulk");
            write_bulk(&path, octets)?;
            Fetched::File(path)
        }
        Load::Page(octets) => {
            room_for(folder.path(), drive.room(octets))?;
            Fetched::Page(Page::write(folder.path(), octets)?)
        }
        Load::Bulk | Load::Typing | Load::Watching => Fetched::Nothing,
    };
    each_run(&drive.plan, progress, &|sender, round, stop| one(drive, sender, round, &fetched, stop))
}

impl Drive {
    fn check(&self) -> Result<(), Error> {
        self.plan.check()?;
        if self.stays.len() < 2 || self.stays.iter().any(Duration::is_zero) {
            return Err(Error::Plan("stays: expected two or more, none of them 0 s".into()));
        }
        if self.plan.announce.is_some() {
            return Err(Error::Plan("announce: it is of one handoff; expected none".into()));
        }
        if matches!(self.load, Load::File(0) | Load::Page(0)) {
            return Err(Error::Plan("a file of 0 octets; expected 1 or more".into()));
        }
        Ok(())
    }

    /// Octets of what is served, and of the copies that all clients fetch at once.
    fn room(&self, octets: u64) -> u64 {
        let clients = u64::from(self.plan.flows) * at_once(&self.plan);
        octets.saturating_mul(1 + clients)
    }

    /// The link of a stay.
    fn link(&self, stay: usize) -> &AccessLink {
        match which(stay) {
            Which::Old => &self.plan.old,
            Which::New => &self.plan.new,
        }
    }

    /// The handoffs of a round, and the end of the last stay.
    fn switches(&self, round: u32) -> (Vec<Switch>, Nanos) {
        let outage = self.plan.outage().as_nanos() as Nanos;
        let mut at = instant(self.plan.seed, round);
        let mut switches = Vec::new();
        for (index, stay) in self.stays.iter().enumerate() {
            let end = at + stay.as_nanos() as Nanos;
            if index + 1 == self.stays.len() {
                at = end;
                break;
            }
            switches.push(Switch::new(end, end + outage, self.plan.kind == Kind::Bbm));
            at = end + outage;
        }
        (switches, at)
    }
}

/// The link of a stay.
fn which(stay: usize) -> Which {
    if stay.is_multiple_of(2) { Which::Old } else { Which::New }
}

/// The object that clients fetch.
enum Fetched {
    Nothing,
    File(PathBuf),
    Page(Page),
}

/// Running programs.
enum Running {
    Download(Download),
    Shell(Shell),
}

impl Running {
    fn check(&mut self, load: Load) -> Result<bool, Error> {
        match self {
            Self::Download(download) if load == Load::Bulk => download.check().map(|()| false),
            Self::Download(download) => download.fetched(),
            Self::Shell(shell) => shell.check().map(|()| false),
        }
    }
}

fn one(
    drive: &Drive,
    sender: &SenderKind,
    round: u32,
    to_fetch: &Fetched,
    stop: &AtomicBool,
) -> Result<DriveRecord, Error> {
    let plan = &drive.plan;
    let (switches, end) = drive.switches(round);
    let lasts = Duration::from_nanos(end);
    let lab = Laboratory::create(plan, sender, lasts)?;
    for &switch in &switches {
        lab.emulator().schedule(switch);
    }
    let mut session = Session::begin(lab, sender, stop)?;
    let (hosts, clock) = (session.lab().hosts(), session.lab().clock);
    let started = clock.now();
    let start = |program, bulk| Download::start(hosts, program, plan.flows, plan.family, None, bulk);
    let mut running = match (drive.load, to_fetch) {
        (Load::Typing, _) => Running::Shell(Shell::start(hosts, plan.family, clock, true)?),
        (Load::Watching, _) => Running::Shell(Shell::start(hosts, plan.family, clock, false)?),
        (_, Fetched::Nothing) => Running::Download(start(Program::Iperf3, None)?),
        (_, Fetched::File(bulk)) => Running::Download(start(Program::Nginx, Some(bulk.as_path()))?),
        (_, Fetched::Page(page)) => Running::Download(Download::page(hosts, plan.flows, plan.family, page)?),
    };
    let mut record = DriveRecord { sender: sender.to_string(), run: round, ..DriveRecord::default() };
    let (mut fetched, mut gave_up) = (false, false);
    let mut over = || {
        match running.check(drive.load) {
            Ok(done) => fetched = done,
            Err(error) if error.is_given_up() => gave_up = true,
            Err(error) => return Err(error),
        }
        Ok(fetched || gave_up)
    };
    let mut ended = false;
    for (stay, switch) in switches.iter().enumerate() {
        let notice = plan.notices.then(|| drive.link(stay + 1).reported(switch.up, plan.told_rate));
        ended = session.leave(which(stay), switch, &mut over)?
            || session.arrive(which(stay + 1), switch, notice, &mut over)?.is_none();
        if ended {
            break;
        }
    }
    if !ended {
        let patience = if matches!(to_fetch, Fetched::Nothing) { Duration::ZERO } else { PATIENCE };
        session.until(end + patience.as_nanos() as Nanos, &mut over)?;
    }
    let end = clock.now();
    record.gave_up = gave_up;
    match running {
        Running::Download(download) if !gave_up => {
            record.intact = download.finish()?.intact.map(|right| right && fetched);
        }
        Running::Download(_) => {}
        Running::Shell(shell) => record.keystrokes = shell.finish()?,
    }
    let packets = session.finish()?.emulator.packets;
    record.completed = fetched.then(|| last_data(&packets).saturating_sub(started)).map(Duration::from_nanos);
    measure_all(drive, &packets, &switches, (started, end), &mut record);
    Ok(record)
}

/// When the last data reached the mobile.
fn last_data(packets: &[Packet]) -> Nanos {
    let data = packets.iter().filter(|packet| {
        packet.direction == Direction::Down && packet.segment().is_some_and(|segment| segment.payload > 0)
    });
    data.filter_map(Packet::delivered).max().unwrap_or(0)
}

/// Each handoff that came before the end, until the next one.
fn measure_all(
    drive: &Drive,
    packets: &[Packet],
    switches: &[Switch],
    (start, end): (Nanos, Nanos),
    record: &mut DriveRecord,
) {
    let frame = |stay: usize, switch: &Switch, end: Nanos| Frame {
        start,
        down: switch.down.max(start),
        up: switch.up,
        end,
        round_trip: drive.plan.round_trip(drive.link(stay + 1)).as_nanos() as Nanos,
        segment: drive.plan.segment(),
        // A page has small objects, and no connection beside them.
        least: if matches!(drive.load, Load::Page(_)) { 1 } else { BULK },
        service: [&drive.link(stay).down.service, &drive.link(stay + 1).down.service],
    };
    for (stay, switch) in switches.iter().enumerate().filter(|(_, switch)| switch.up < end) {
        let until = switches.get(stay + 1).map_or(end, |next| next.down.min(end));
        let mut handoff =
            RunRecord { sender: record.sender.clone(), run: record.run, ..RunRecord::default() };
        measure(packets, &frame(stay, switch, until), &mut handoff);
        record.handoffs.push(handoff);
    }
    let mut whole = RunRecord::default();
    if let Some(first) = switches.first() {
        let all = frame(0, first, end);
        measure(packets, &Frame { up: all.up.min(end), down: all.down.min(end), ..all }, &mut whole);
    }
    record.octets = whole.bytes_total;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs that need seconds to start do so on a machine that does ten other things.
    #[test]
    fn programs_may_start_after_the_first_handoff() {
        let link = AccessLink::constant(6400, 9000, None);
        let drive = Drive {
            plan: Plan::new(link.clone(), link, vec![SenderKind::builtin("cubic", None)]),
            stays: vec![Duration::from_secs(3); 3],
            load: Load::Bulk,
        };
        let (switches, end) = drive.switches(0);
        let started = switches[0].down + 1_000_000_000;
        let mut record = DriveRecord::default();
        measure_all(&drive, &[], &switches, (started, end), &mut record);
        assert_eq!((record.octets, record.handoffs.len()), (0, 2));
        assert_eq!(record.handoffs[0].handoff_at, Duration::ZERO);
    }
}
