//! The link emulator: a thread that carries packets between the hosts' TUN devices along a [`Path`], whose links are
//! the simulator's.
//!
//! The mobile has a device for each access link, and gets a packet by that of the link that it came over. Its own
//! packets take the link that carries, by whichever device they leave. After make-before-break the link of before still
//! carries those that leave by its device.
//!
//! Departures and deliveries are computed, not slept: a late wake-up shifts one packet and does not lower the rate.

use super::Error;
use super::Nanos;
use super::access_link::AccessLink;
use super::host::MTU;
use super::packet::{self, Packet};
use super::path::{Content, Direction, Fate, Path, Sink, Switch, Which};
use super::punctual::{Punctual, Rank};
use super::unheard::{Losing, Unheard};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeSpec;
use nix::sys::time::TimeValLike;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tun_rs::SyncDevice;

/// A packet of at least this many octets towards the mobile is bulk data.
const BULK: usize = 1000;
/// Packets read from one device before the other gets its turn.
const BATCH: usize = 32;

/// The clock of a laboratory: ns since its time zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Time zero is now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Now.
    pub fn now(&self) -> Nanos {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// How long until `at`; zero once it has passed.
    pub fn until(&self, at: Nanos) -> Duration {
        Duration::from_nanos(at.saturating_sub(self.now()))
    }
}

/// Record that an emulator leaves behind.
#[derive(Debug)]
pub struct Record {
    /// All packets, as they entered.
    pub packets: Vec<Packet>,
    /// CPU time of its thread. The kernel's TCP work for received packets is part of it.
    pub cpu: Duration,
    /// How long it ran.
    pub ran: Duration,
    /// Whether the kernel let it run before ordinary threads.
    pub realtime: bool,
}

enum Command {
    Switch(Switch),
    Lose(Box<Losing>),
    Stop,
}

/// State of an emulator that other threads see.
#[derive(Debug, Default)]
struct Shared {
    /// When the first bulk packet entered, plus one; 0: not yet.
    first_bulk: AtomicU64,
    failed: AtomicBool,
    /// Why, once.
    error: Mutex<Option<Error>>,
}

/// A running emulator. Dropped: stopped.
pub struct Emulator {
    commands: Sender<Command>,
    wake: Arc<EventFd>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<Record, ()>>>,
}

impl Emulator {
    /// Starts to carry packets over `old`, between the server's device and the mobile's two, those of the old and of
    /// the new link. `wired`: one-way delay of the wired part, 0 for none. `capacity`: packets to keep room for.
    ///
    /// # Errors
    /// No file descriptor or thread to be had.
    pub fn start(
        clock: Clock,
        server: SyncDevice,
        mobile: [SyncDevice; 2],
        old: &AccessLink,
        new: &AccessLink,
        wired: Nanos,
        capacity: usize,
    ) -> Result<Self, Error> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = EventFd::from_value_and_flags(0, flags).map_err(Error::system("eventfd"))?;
        let (wake, shared) = (Arc::new(wake), Arc::new(Shared::default()));
        let (commands, inbox) = channel();
        let [by_old, by_new] = mobile;
        let outcome = Outcome {
            packets: Vec::with_capacity(capacity),
            octets: Vec::with_capacity(capacity),
            ready: Vec::new(),
            spare: Vec::new(),
        };
        let mut worker = Worker {
            clock,
            devices: [server, by_old, by_new],
            path: Path::new(old, new, wired, outcome),
            wake: Arc::clone(&wake),
            inbox,
            shared: Arc::clone(&shared),
            losing: None,
            flows: HashMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("segue-link".into())
            .spawn(move || {
                worker.run().map_err(|error| {
                    if let Ok(mut place) = worker.shared.error.lock() {
                        *place = Some(error);
                    }
                    worker.shared.failed.store(true, Ordering::Release);
                })
            })
            .map_err(Error::system("a thread for the link emulator"))?;
        Ok(Self { commands, wake, shared, thread: Some(thread) })
    }

    /// When the first bulk packet entered.
    pub fn first_bulk(&self) -> Option<Nanos> {
        self.shared.first_bulk.load(Ordering::Acquire).checked_sub(1)
    }

    /// Whether it has ended with an error, which [`why`](Self::why) tells.
    pub fn failed(&self) -> bool {
        self.shared.failed.load(Ordering::Acquire)
    }

    /// Adds a handoff, after those that were added before; in place: no device changes.
    pub fn schedule(&self, switch: Switch) {
        self.tell(Command::Switch(switch));
    }

    /// From now on a part of what the mobile says is lost; `seed` draws which.
    pub fn lose(&self, shares: Unheard, seed: u64) {
        self.tell(Command::Lose(Box::new(Losing::new(shares, seed))));
    }

    /// Stops it and takes its record.
    ///
    /// # Errors
    /// The fault that ended it before.
    pub fn stop(mut self) -> Result<Record, Error> {
        self.tell(Command::Stop);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Ok(record))) => Ok(record),
            _ => Err(self.why()),
        }
    }

    /// Why it has failed.
    pub fn why(&self) -> Error {
        let told = self.shared.error.lock().ok().and_then(|mut place| place.take());
        told.unwrap_or_else(|| Error::Fault("the link emulator panicked".into()))
    }

    fn tell(&self, command: Command) {
        // A worker that has ended hears nothing; `stop` then tells why.
        let _ = self.commands.send(command);
        let _ = self.wake.write(1);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.tell(Command::Stop);
            let _ = thread.join();
        }
    }
}

struct Worker {
    clock: Clock,
    /// The server's, the mobile's of the old link, and that of the new one.
    devices: [SyncDevice; 3],
    path: Path<Outcome>,
    wake: Arc<EventFd>,
    inbox: Receiver<Command>,
    shared: Arc<Shared>,
    losing: Option<Box<Losing>>,
    /// Numbers of the flows, by source and destination, from 1.
    flows: HashMap<[SocketAddr; 2], u16>,
}

/// The path's packets, each by its place in the record.
#[derive(Clone)]
struct Outcome {
    packets: Vec<Packet>,
    /// The whole of each packet that is under way; empty once it has ended.
    octets: Vec<Vec<u8>>,
    /// To be handed over, and since when.
    ready: Vec<(Direction, usize, Nanos)>,
    /// Buffers for the next packets.
    spare: Vec<Vec<u8>>,
}

impl Outcome {
    /// A buffer for a packet of any length.
    fn buffer(&mut self) -> Vec<u8> {
        let mut octets = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(usize::from(MTU)));
        octets.resize(usize::from(MTU), 0);
        octets
    }
}

impl Sink for Outcome {
    fn queued(&mut self, packet: usize, link: Which, arrival: Nanos, departure: Nanos) {
        self.packets[packet].queued = Some((link, arrival, departure));
    }

    fn marked(&mut self, packet: usize) {
        packet::mark(&mut self.octets[packet]);
    }

    fn ended(&mut self, direction: Direction, packet: usize, fate: Fate) {
        self.packets[packet].fate = fate;
        match fate {
            Fate::Delivered(due) => self.ready.push((direction, packet, due)),
            _ => self.spare.push(std::mem::take(&mut self.octets[packet])),
        }
    }
}

/// Devices that packets come from, the way they take, and the link whose device it is.
const SOURCES: [(usize, Direction, Option<Which>); 3] =
    [(0, Direction::Down, None), (1, Direction::Up, Some(Which::Old)), (2, Direction::Up, Some(Which::New))];
const HOSTS: [&str; 3] = ["server", "mobile", "mobile"];

/// The device that a packet goes to.
fn destination(direction: Direction, packet: &Packet) -> usize {
    match (direction, packet.queued) {
        (Direction::Up, _) => 0,
        (Direction::Down, Some((Which::New, ..))) => 2,
        (Direction::Down, _) => 1,
    }
}

impl Worker {
    fn run(&mut self) -> Result<Record, Error> {
        let started = self.clock.now();
        // No longer than it carries: taking its devices down can wait.
        let punctual = Punctual::of(Rank::Link);
        let mut stopping = false;
        while !stopping {
            self.carry()?;
            let timeout = match self.path.next_due() {
                Some(due) => self.clock.until(due),
                None => Duration::from_secs(3600),
            };
            let ready = self.wait(timeout)?;
            let [wakes, from @ ..] = ready;
            if wakes {
                let _ = self.wake.read();
                while let Ok(command) = self.inbox.try_recv() {
                    match command {
                        Command::Switch(switch) => {
                            self.losing.iter_mut().for_each(|losing| losing.schedule(&switch));
                            self.path.schedule(switch);
                        }
                        Command::Lose(losing) => self.losing = Some(losing),
                        Command::Stop => stopping = true,
                    }
                }
            }
            for (device, direction, by) in SOURCES {
                if from[device] {
                    self.read(device, direction, by)?;
                }
            }
        }
        self.path.stop();
        let usage = getrusage(UsageWho::RUSAGE_THREAD).map_err(Error::system("getrusage"))?;
        let cpu = usage.user_time() + usage.system_time();
        Ok(Record {
            packets: std::mem::take(&mut self.path.sink().packets),
            cpu: Duration::from_micros(u64::try_from(cpu.num_microseconds()).unwrap_or(0)),
            ran: Duration::from_nanos(self.clock.now() - started),
            realtime: punctual.realtime,
        })
    }

    /// Whether somebody has a command, then whether devices have packets.
    fn wait(&self, timeout: Duration) -> Result<[bool; 4], Error> {
        let [server, by_old, by_new] = &self.devices;
        let mut fds = [self.wake.as_fd(), server.as_fd(), by_old.as_fd(), by_new.as_fd()]
            .map(|source| PollFd::new(source, PollFlags::POLLIN));
        match ppoll(&mut fds, Some(TimeSpec::from(timeout)), None) {
            // An error condition is read as well: reading tells which.
            Ok(_) => Ok(fds.map(|fd| fd.revents().is_some_and(|events| !events.is_empty()))),
            Err(nix::Error::EINTR) => Ok([false; 4]),
            Err(error) => Err(Error::system("ppoll of the laboratory's devices")(error)),
        }
    }

    /// Takes what a host has sent.
    fn read(&mut self, device: usize, direction: Direction, by: Option<Which>) -> Result<(), Error> {
        for _ in 0..BATCH {
            let mut octets = self.path.sink().buffer();
            match self.devices[device].recv(&mut octets) {
                Ok(length) => octets.truncate(length),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    self.path.sink().spare.push(octets);
                    return Ok(());
                }
                Err(source) => return Err(Error::Device { host: HOSTS[device], source }),
            }
            let now = self.clock.now();
            // Events that were due before it came, a switch above all, are done before it.
            self.path.advance(now);
            if direction == Direction::Down && octets.len() >= BULK {
                let _ =
                    self.shared.first_bulk.compare_exchange(0, now + 1, Ordering::AcqRel, Ordering::Relaxed);
            }
            let packet = Packet::new(direction, now, &octets);
            let (bytes, flow, ecn) = (octets.len() as u32, self.flow(&packet), packet::ecn(&octets));
            let lost = self.losing.as_mut().is_some_and(|losing| losing.loses(&packet));
            let outcome = self.path.sink();
            let number = outcome.packets.len();
            outcome.packets.push(packet);
            outcome.octets.push(octets);
            if lost {
                outcome.ended(direction, number, Fate::Lost(now));
            } else {
                self.path.enter_by(by, direction, number, Content { bytes, flow, ecn });
            }
        }
        Ok(())
    }

    /// The number of a packet's flow; 0 of what is no TCP. From the 65,536th on two share a number.
    fn flow(&mut self, packet: &Packet) -> u16 {
        let Some(segment) = packet.segment() else { return 0 };
        let next = (self.flows.len() % usize::from(u16::MAX)) as u16 + 1;
        *self.flows.entry([segment.source, segment.destination]).or_insert(next)
    }

    /// Hands over what is due.
    fn carry(&mut self) -> Result<(), Error> {
        self.path.advance(self.clock.now());
        let outcome = self.path.sink();
        let mut ready = std::mem::take(&mut outcome.ready);
        for (direction, number, due) in ready.drain(..) {
            let packet = &mut outcome.packets[number];
            let destination = destination(direction, packet);
            packet.late = u32::try_from(self.clock.now().saturating_sub(due)).unwrap_or(u32::MAX);
            let octets = std::mem::take(&mut outcome.octets[number]);
            hand_over(&self.devices[destination], &octets)
                .map_err(|source| Error::Device { host: HOSTS[destination], source })?;
            outcome.spare.push(octets);
        }
        outcome.ready = ready;
        Ok(())
    }
}

fn hand_over(device: &SyncDevice, octets: &[u8]) -> io::Result<()> {
    loop {
        match device.send(octets) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
