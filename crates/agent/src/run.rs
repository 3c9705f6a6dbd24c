//! The agent at work: one thread that sleeps until the kernel, a user or a pace has something for it.

use super::control::{Answer, Control, Notify, Reply, Request};
use super::estimate::Told;
use super::event::{Event, Kind};
use super::links::Links;
use super::lock::Lock;
use super::netlink::Watcher;
use super::order::Order;
use super::others::Others;
use super::receivers::Receivers;
use super::round::Round;
use super::rounds::Rounds;
use super::settings::Config;
use super::status::{Connections, Notices, Origin, Status};
use super::wifi::Wifi;
use super::{Error, rights};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use segue_kernel::host;
use segue_kernel::mobile::{self, Mobile};
use segue_kernel::sender::{Governed, LocalPolicy, Policy};
use segue_policy::{Link, Notice as Handoff};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Between readings of what devices have received, ns.
const TICK: u64 = 1_000_000_000;
/// For so long the first connections are helped before notices are sent, ns.
const FIRST: u64 = 5_000_000;
/// The host has slept if CLOCK_BOOTTIME has gone so much further than CLOCK_MONOTONIC.
const SLEPT: Duration = Duration::from_millis(500);

/// An agent at work. Its programs and sockets go when it is dropped.
pub struct Agent {
    rounds: Rounds,
    watcher: Watcher,
    wifi: Option<Wifi>,
    control: Control,
    receivers: Receivers,
    others: Others,
    /// The policy on this host's own flows.
    uploads: Option<Uploads>,
    /// A handoff that they have still to be told.
    own: Option<Handoff>,
    mobile: Mobile,
    notices: Notices,
    /// Start of the agent, CLOCK_MONOTONIC, ns.
    started: u64,
    /// The next reading.
    tick: u64,
    /// By how much CLOCK_BOOTTIME is ahead.
    slept: Duration,
    /// Dropped last.
    _lock: Lock,
}

fn clock(id: ClockId) -> Result<Duration, Error> {
    clock_gettime(id).map(Duration::from).map_err(Error::system("read the clock"))
}

fn now() -> Result<u64, Error> {
    let time = clock(ClockId::CLOCK_MONOTONIC)?;
    Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// How long the host has slept since it started.
fn slept() -> Result<Duration, Error> {
    let monotonic = clock(ClockId::CLOCK_MONOTONIC)?;
    Ok(clock(ClockId::CLOCK_BOOTTIME)?.saturating_sub(monotonic))
}

impl Agent {
    /// Starts it in the calling thread's network namespace, which all its methods must be called in. It takes the lock,
    /// attaches the programs, opens the control socket, and looks at the host's links.
    ///
    /// # Errors
    /// Another agent is at work, or something that it needs is not there.
    pub fn start(config: &Config) -> Result<Self, Error> {
        host::require_iterator().map_err(|error| Error::Rights(error.to_string()))?;
        let lock = Lock::take(&config.control)?;
        let cgroup = config.cgroup.clone().or_else(host::cgroup2).ok_or(Error::NoCgroup2)?;
        let mut watcher = Watcher::open(config.table)?;
        let wifi = Wifi::open()?;
        let mut mobile = mobile::attach_kept(&cgroup, config.pin.as_deref())
            .map_err(|error| config.in_its_place(error))?;
        if !mobile.triggers() {
            tracing::warn!(
                "this kernel cannot send notices in its own ACKs (Linux 6.12 can); they are crafted"
            );
        }
        for lack in mobile.lacks() {
            tracing::warn!("this kernel has no programs of type {lack}; the rest goes on");
        }
        let events = watcher.everything()?;
        let mut links = Links::default();
        events.iter().for_each(|event| links.apply(event));
        let receivers = Receivers::attach(&config.receivers, &links, clock(ClockId::CLOCK_REALTIME)?)?;
        let control = Control::open(&config.control, config.group)?;
        let mut settings = config.settings.clone();
        settings.inherits = mobile.inherits();
        let started = now()?;
        let mut rounds = Rounds::new(settings);
        rounds.on_events(now()?, &events);
        let others = Others::attach(config, &rounds, &mut mobile)?;
        let mut agent = Self {
            rounds,
            watcher,
            wifi,
            control,
            receivers,
            others,
            uploads: None,
            own: None,
            mobile,
            notices: Notices::default(),
            started,
            tick: started,
            slept: slept()?,
            _lock: lock,
        };
        warn_of_links(config, &agent.rounds, agent.started);
        agent.act()?;
        // After the notices that an agent has owed which was killed: the kernel takes its time with these programs.
        agent.uploads = Uploads::attach(config, &cgroup, &agent.mobile)?;
        tracing::info!(
            cgroup = %cgroup.display(),
            control = %config.control.display(),
            triggers = agent.mobile.triggers(),
            stations = agent.wifi.is_some(),
            uploads = agent.uploads.as_ref().map_or_else(|| "off".to_owned(), Uploads::scheme),
            "the agent is at work"
        );
        Ok(agent)
    }

    /// Gives up all capabilities that it does not need any more. CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW stay, and
    /// CAP_PERFMON until no programs are to be loaded any more.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn drop_rights(&self) -> Result<(), Error> {
        rights::drop_all_others(self.uploads.as_ref().is_some_and(|uploads| uploads.own.awaits_bbr()))
    }

    /// Works until there is something to read at `stop`.
    ///
    /// # Errors
    /// The kernel does not tell of links any more.
    pub fn serve(&mut self, stop: BorrowedFd<'_>) -> Result<(), Error> {
        loop {
            self.act()?;
            if self.wait(stop)? {
                return Ok(());
            }
            // Links first: their events are why this is here.
            let mut events = self.watcher.read()?;
            events.extend(self.wifi.as_mut().map_or(Ok(Vec::new()), Wifi::read)?);
            self.hear(&events)?;
            self.act()?;
            self.notice_sleep()?;
            self.receivers.act(clock(ClockId::CLOCK_REALTIME)?, now()?);
            if now()? >= self.tick {
                self.read_counters()?;
                self.receivers.enter(self.rounds.links());
                self.take_bbr()?;
                self.tick = now()? + TICK;
            }
            self.answer()?;
        }
    }

    /// Sleeps until something happens or is due. Whether it is over.
    fn wait(&self, stop: BorrowedFd<'_>) -> Result<bool, Error> {
        let due = self.rounds.deadline().into_iter().chain(self.others.deadline()).chain(self.others.round());
        let due = due.chain(self.others.opening());
        let until = due.fold(self.tick, u64::min);
        let now = now()?;
        let time = Duration::from_nanos(until.saturating_sub(now));
        let announced = self.receivers.wait(clock(ClockId::CLOCK_REALTIME)?, now);
        let time = announced.map_or(time, |wait| wait.min(time));
        let sources = [stop, self.watcher.as_fd()].into_iter().chain(self.wifi.as_ref().map(AsFd::as_fd));
        let sources = sources.chain(self.control.sources());
        let mut all: Vec<_> = sources.map(|source| PollFd::new(source, PollFlags::POLLIN)).collect();
        match ppoll(&mut all, Some(TimeSpec::from(time)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(all[0].any().unwrap_or(false)),
            Err(error) => Err(Error::system("wait for events")(error)),
        }
    }

    fn hear(&mut self, events: &[Event]) -> Result<(), Error> {
        if !events.is_empty() {
            self.rounds.on_events(now()?, events);
            self.receivers.on_events(events, self.rounds.links());
            self.others.on_events(events, &self.rounds, &mut self.mobile);
        }
        Ok(())
    }

    /// Carries out what the rounds want now.
    fn act(&mut self) -> Result<(), Error> {
        while let Some(order) = self.rounds.next(now()?) {
            match order {
                Order::First(link) => self.carry_out(|mobile| mobile.report_first(link))?,
                Order::Begin(notice, scope, own) => {
                    self.own = own.filter(|_| self.uploads.is_some());
                    self.mobile.push_queues(self.own.is_none());
                    self.carry_out(|mobile| mobile.tell_only(&scope).and_then(|()| mobile.begin(&notice)))?;
                }
                Order::Resume(outage) => {
                    let helped = self.others.begin(now()?, &outage, &mut self.mobile);
                    self.rounds.on_helped(helped);
                    self.help_first()?;
                }
                Order::Doubt(change) => self.others.doubt(change),
                Order::Moved(moved) => {
                    self.others.on_moved(now()?, &moved, self.rounds.links(), &mut self.mobile);
                }
                Order::Pass(budget) => match self.mobile.notify_busy(budget) {
                    Ok(mut pass) => {
                        pass.governed = self.govern(pass.uploads);
                        pass.resent += pass.governed.pushed;
                        self.rounds.on_pass(now()?, &pass);
                    }
                    Err(error) => self.rounds.on_failed_pass(now()?, error.to_string()),
                },
                Order::Done(round) => {
                    log(&round);
                    self.notices.add(&round);
                    self.control.over(&round);
                }
            }
        }
        self.others.act(now()?, self.rounds.links(), &mut self.mobile);
        self.others.divide(now()?, &mut self.mobile);
        Ok(())
    }

    /// Sends the packets that wait for the uplink alone, for a while: passes over all connections take longer.
    fn help_first(&mut self) -> Result<(), Error> {
        let until = now()? + FIRST;
        self.others.act(now()?, self.rounds.links(), &mut self.mobile);
        while let Some(due) = self.others.deadline().filter(|due| *due <= until) {
            thread::sleep(Duration::from_nanos(due.saturating_sub(now()?)));
            self.others.act(now()?, self.rounds.links(), &mut self.mobile);
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        what: impl FnOnce(&mut Mobile) -> Result<(), mobile::Error>,
    ) -> Result<(), Error> {
        if let Err(error) = what(&mut self.mobile) {
            tracing::error!(%error, "a notice cannot be told");
            self.rounds.on_failed_pass(now()?, error.to_string());
        }
        Ok(())
    }

    /// Has the policy act on this host's own flows, of which so many share the uplink. Heads that had backed off have
    /// been resent by now: the kernel's timer, by which that goes, would take the window back.
    fn govern(&mut self, flows: u32) -> Governed {
        let (Some(uploads), Some(own)) = (&mut self.uploads, self.own.take()) else {
            return Governed::default();
        };
        uploads.own.handoff(&Handoff { flows, ..own }).unwrap_or_else(|error| {
            tracing::error!(%error, "flows of this host cannot be told");
            Governed::default()
        })
    }

    /// Flows of bbr can be helped once its module has been loaded.
    fn take_bbr(&mut self) -> Result<(), Error> {
        let Some(uploads) = self.uploads.as_mut().filter(|uploads| uploads.own.bbr_has_come()) else {
            return Ok(());
        };
        match LocalPolicy::attach(&uploads.cgroup, uploads.policy, self.mobile.scope()) {
            Ok(own) => {
                uploads.own = own;
                tracing::info!("bbr has been loaded: its flows have the policy's window at handoffs");
                self.drop_rights()
            }
            // Those of cubic are helped as before.
            Err(error) => {
                tracing::error!(%error, "bbr has been loaded, and its flows cannot be helped");
                uploads.own.leave_bbr();
                self.drop_rights()
            }
        }
    }

    fn notice_sleep(&mut self) -> Result<(), Error> {
        let slept = slept()?;
        if slept > self.slept + SLEPT {
            tracing::info!(slept_s = (slept - self.slept).as_secs(), "the host has slept");
            // Events that were missed meanwhile.
            self.watcher.start_anew();
            let events = self.watcher.read()?;
            self.hear(&events)?;
            self.rounds.on_resume(now()?);
        }
        self.slept = slept;
        Ok(())
    }

    /// Reads what the devices in use have received, and how their radios stand.
    fn read_counters(&mut self) -> Result<(), Error> {
        let devices = self.rounds.devices();
        // This file is of the thread's namespace, unlike /sys.
        let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
        let mut events = Vec::new();
        for device in devices {
            let Some(found) = self.rounds.links().device(device) else { continue };
            let octets = received(&text, &found.name);
            events.extend(octets.map(|octets| Event::Received { device, octets }));
            if let (Some(wifi), Kind::Wifi) = (&mut self.wifi, found.kind) {
                events.extend(wifi.station(device));
            }
        }
        self.hear(&events)
    }

    fn answer(&mut self) -> Result<(), Error> {
        let now = now()?;
        let Self { rounds, mobile, wifi, notices, started, control, receivers, others, uploads, .. } = self;
        control.serve(|request, denied| match request {
            Request::Status => {
                let counts = mobile.count_connections().unwrap_or_default();
                let notices = Notices { acked: u64::from(mobile.acked().unwrap_or(0)), ..*notices };
                let status = Status {
                    version: 1,
                    process: std::process::id(),
                    up_s: now.saturating_sub(*started) / 1_000_000_000,
                    triggers: mobile.triggers(),
                    stations: wifi.is_some(),
                    uploads: uploads.as_ref().map(Uploads::scheme),
                    receivers: receivers.status(),
                    others: others.status(mobile),
                    watch: rounds.watches(now),
                    connections: Connections::from(counts),
                    notices,
                    rounds: rounds.history().cloned().collect(),
                    denied,
                    origin: Origin::default(),
                };
                Answer::Now(match serde_json::to_value(&status) {
                    Ok(status) => Reply::Status(status),
                    Err(error) => Reply::Failed(error.to_string()),
                })
            }
            Request::Notify(notify) => {
                let answer = tell(rounds, now, &notify);
                match (&answer, notify.expect) {
                    (Answer::Now(Reply::Refused(_)), _) => {}
                    (_, true) => {
                        receivers.hold(now);
                        if let Some(gap_us) = notify.gap_us {
                            others.foresee(now, u64::from(gap_us) * 1000, rounds, mobile);
                        }
                    }
                    (_, false) => {
                        receivers.release();
                        others.no_break(now, rounds.links(), mobile);
                    }
                }
                answer
            }
        });
        Ok(())
    }
}

/// Devices of the configuration that this host does not have, and links in use of which it says nothing.
fn warn_of_links(config: &Config, rounds: &Rounds, now: u64) {
    let names: Vec<&str> = rounds.links().names().collect();
    for device in config.settings.rules.iter().filter_map(|rule| rule.lacks(names.iter().copied())) {
        let devices = names.join(", ");
        tracing::warn!(
            device,
            devices,
            "a [[link]] names a device that is not there: it counts once the device is"
        );
    }
    for watch in rounds.watches(now).iter().filter(|watch| watch.estimate.is_none()) {
        if let Some(device) = &watch.device {
            tracing::warn!(
                watch = %watch.to,
                device,
                "no [[link]] fits the device: nobody is told of handoffs to it"
            );
        }
    }
}

/// The policy on this host's own flows.
struct Uploads {
    own: LocalPolicy,
    cgroup: PathBuf,
    policy: Policy,
}

impl Uploads {
    fn attach(config: &Config, cgroup: &Path, mobile: &Mobile) -> Result<Option<Self>, Error> {
        let Some(policy) = config.uploads else { return Ok(None) };
        match LocalPolicy::attach(cgroup, policy, mobile.scope()) {
            Ok(own) => {
                if own.awaits_bbr() {
                    tracing::warn!(
                        "bbr is a module that is not loaded (modprobe tcp_bbr): its flows keep their windows"
                    );
                }
                Ok(Some(Self { own, cgroup: cgroup.to_owned(), policy }))
            }
            Err(error) if error.is_user() => Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, "flows of this host keep their windows at handoffs");
                Ok(None)
            }
        }
    }

    fn scheme(&self) -> String {
        self.policy.name()
    }
}

fn tell(rounds: &mut Rounds, now: u64, notify: &Notify) -> Answer {
    let Notify { device, rate_kbps, up_kbps, delay_us, expect, .. } = notify;
    let link = Link { rate_kbps: *rate_kbps, delay_us: *delay_us };
    let told = Told { link, up_kbps: *up_kbps };
    let rounds =
        if *expect { rounds.on_foreseen(now, device, told) } else { rounds.on_told(now, device, told) };
    match rounds {
        Ok(rounds) if rounds.is_empty() => Answer::Now(Reply::Noted),
        Ok(rounds) => Answer::Later(rounds),
        Err(names) => {
            let names = names.join(", ");
            Answer::Now(Reply::Refused(format!("no device `{device}` on this host; expected one of {names}")))
        }
    }
}

/// Octets that a device has received, as /proc/net/dev tells.
fn received(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Numbers and names: nothing of what connections carry, nor with whom.
fn log(round: &Round) {
    let Round {
        number,
        cause,
        watch,
        device,
        estimate,
        triggered,
        crafted,
        acked,
        waiting,
        resent,
        governed,
        helped,
        ..
    } = round;
    let (rate_kbps, delay_us) = estimate.map_or((0, 0), |estimate| (estimate.rate_kbps, estimate.delay_us));
    let refused = &round.refused;
    macro_rules! log {
        ($level:ident, $text:literal) => {
            tracing::$level!(
                number, ?cause, %watch, device, rate_kbps, delay_us, triggered, crafted, acked, waiting, resent,
                governed, helped,
                unnegotiated = refused.unnegotiated,
                unwritten = refused.unwritten,
                unsent = refused.unsent,
                waited_us = round.waited_ns / 1000,
                took_us = round.took_ns / 1000,
                superseded = round.superseded,
                $text
            )
        };
    }
    match estimate {
        Some(_) => log!(info, "a handoff"),
        None if round.superseded => log!(info, "a handoff to a link of which nothing is known"),
        None => log!(warn, "a handoff to a link of which nothing is known: no [[link]] fits the device"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_device() {
        let text =
            "Inter-|   Receive\n face |bytes    packets\n    lo: 12 3\nwlan0:7654321 9\n wlan01: 5 1\n";
        assert_eq!(received(text, "wlan0"), Some(7_654_321));
        assert_eq!((received(text, "lo"), received(text, "eth0")), (Some(12), None));
    }

    #[test]
    fn the_clocks_of_a_host_that_has_not_slept_agree() {
        let (before, after) = (slept().expect("clocks"), slept().expect("clocks"));
        assert!(after.abs_diff(before) < SLEPT);
    }
}
