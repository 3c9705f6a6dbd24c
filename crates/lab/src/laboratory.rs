//! One laboratory: two hosts, their cgroups, and the emulator between their devices.

use super::access_link::mean_kbps;
use super::agent::LabAgent;
use super::cgroup::Cgroups;
use super::emulator::{Clock, Emulator};
use super::ends::{Attach, Ends, Notice};
use super::gateway;
use super::host::{Host, SenderSettings};
use super::hosts::Hosts;
use super::path::Which;
use super::plan::Plan;
use super::prefix::prefix;
use super::segue;
use super::sender_kind::{NoticeBy, SenderKind};
use super::uplinks::Uplinks;
use super::{Error, Nanos};
use segue_policy::Link;
use segue_words::lab::{Family, Gateway};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Everything of it goes away when it is dropped. Programs that run in it must be dropped before.
pub struct Laboratory {
    /// Its time zero is when the link began to carry.
    pub clock: Clock,
    /// Ours at the server, for a sender that is told, and at the mobile, where the laboratory itself tells.
    pub ends: Option<Ends>,
    /// The mobile's agent, where it tells.
    agent: Option<LabAgent>,
    /// Whether a handoff has completed.
    handoffs: bool,
    /// Whether its own notices go over the old link, too.
    doubles: bool,
    uplinks: Uplinks,
    /// Packets that the mobile's devices had thrown away when a link went for the first time. From then on they also do
    /// so for want of a carrier, which is no fault of the emulator's.
    until_break: Option<u64>,
    /// The flows'.
    family: Family,
    emulator: Emulator,
    server: Arc<Host>,
    mobile: Arc<Host>,
    cgroups: Cgroups,
    folder: TempDir,
}

impl Laboratory {
    /// Makes one for a sender. `lasts`: how long it is to run, about, to keep room for its record.
    ///
    /// # Errors
    /// The kernel's refusal, or the fault of a sender that is told.
    pub fn create(plan: &Plan, sender: &SenderKind, lasts: Duration) -> Result<Self, Error> {
        Self::create_with(plan, sender, &segue::aware, lasts)
    }

    /// The same with other ends for senders that are told.
    ///
    /// # Errors
    /// As of [`create`](Self::create).
    pub fn create_with(
        plan: &Plan,
        sender: &SenderKind,
        attach: &Attach<'_>,
        lasts: Duration,
    ) -> Result<Self, Error> {
        if !nix::unistd::geteuid().is_root() {
            return Err(Error::NotRoot(nix::unistd::getuid().as_raw()));
        }
        let settings = match sender {
            SenderKind::Builtin { congestion_control, rto_max_ms, .. } => {
                let congestion_control = Some(congestion_control.as_str());
                SenderSettings { congestion_control, rto_max_ms: *rto_max_ms, ecn: plan.ecn }
            }
            SenderKind::Aware { .. } => SenderSettings { ecn: plan.ecn, ..SenderSettings::default() },
        };
        let (server, at_server) = match plan.gateway {
            Gateway::None => Host::server(&settings)?,
            Gateway::Nat => gateway::server(&settings)?,
        };
        let (mobile, at_mobile, uplinks) =
            Host::mobile(&SenderSettings { ecn: plan.ecn, ..SenderSettings::default() })?;
        let (server, mobile) = (Arc::new(server), Arc::new(mobile));
        let cgroups = Cgroups::create()?;
        let folder = tempfile::Builder::new()
            .prefix(&prefix())
            .tempdir()
            .map_err(Error::system("a folder for the laboratory's programs"))?;
        let (mut ends, mut agent) = (None, None);
        if let SenderKind::Builtin { agent: command, .. } = sender
            && !command.is_empty()
        {
            agent = Some(LabAgent::start(hosts(&server, &mobile, &cgroups, &folder), command, plan)?);
        }
        if let SenderKind::Aware { name, segue, notice_by } = sender {
            let teller = match notice_by {
                NoticeBy::Laboratory => {
                    Some((Arc::clone(&mobile), cgroups.mobile.clone(), plan.first_report()))
                }
                NoticeBy::Agent(command) => {
                    let hosts = hosts(&server, &mobile, &cgroups, &folder);
                    agent = Some(LabAgent::start(hosts, command, plan)?);
                    None
                }
            };
            ends = Some(Ends::attach(
                &attach(name, segue),
                (Arc::clone(&server), cgroups.server.clone()),
                teller,
            )?);
        }
        // Attaching takes its time; measured links start when all is ready, the same for every sender.
        let clock = Clock::start();
        let wired = plan.wired.as_nanos() as Nanos;
        let room = room(plan, lasts);
        let emulator = Emulator::start(clock, at_server, at_mobile, &plan.old, &plan.new, wired, room)?;
        Ok(Self {
            clock,
            ends,
            agent,
            handoffs: false,
            doubles: plan.announce.is_some(),
            until_break: None,
            uplinks,
            family: plan.family,
            emulator,
            server,
            mobile,
            cgroups,
            folder,
        })
    }

    /// The emulator.
    pub fn emulator(&self) -> &Emulator {
        &self.emulator
    }

    /// The server.
    pub fn server(&self) -> &Host {
        &self.server
    }

    /// The mobile.
    pub fn mobile(&self) -> &Host {
        &self.mobile
    }

    /// Cgroups of the hosts' programs.
    pub fn cgroups(&self) -> &Cgroups {
        &self.cgroups
    }

    /// Where its programs run.
    pub fn hosts(&self) -> Hosts<'_> {
        hosts(&self.server, &self.mobile, &self.cgroups, &self.folder)
    }

    /// A break as the mobile's host sees it: the device of this link has no carrier any more.
    ///
    /// # Errors
    /// The device is gone.
    pub fn lose(&mut self, link: Which) -> Result<(), Error> {
        if self.until_break.is_none() {
            self.until_break = Some(self.mobile.device_drops()?);
        }
        self.uplinks.lose(link)
    }

    /// A handoff has completed: the mobile's default routes lead over this link, and where the laboratory itself
    /// tells (`notice`), it does. Returns its notice's counts; none where an agent finds out by itself.
    ///
    /// # Errors
    /// The device is gone, or what the mobile's end says.
    pub fn complete(&mut self, link: Which, notice: Option<Link>) -> Result<BTreeMap<String, u64>, Error> {
        self.uplinks.lead_over(link, self.family)?;
        self.handoffs = true;
        match (&self.ends, notice) {
            (Some(ends), Some(notice)) => {
                let also = self.doubles.then(|| self.uplinks.device(link.other()));
                ends.notify(Notice { also, ..notice.into() })
            }
            _ => Ok(BTreeMap::new()),
        }
    }

    /// Has the mobile announce the handoff to this link, as its notice is to tell it. A sender must be told of handoffs,
    /// or nobody is. The laboratory's own announcement has left when this returns, or it is as late as `at_most`.
    ///
    /// # Errors
    /// The fault of the mobile's end.
    pub(super) fn foresee(&mut self, link: Which, notice: Link, at_most: Duration) -> Result<(), Error> {
        match (&self.ends, &mut self.agent) {
            (Some(_), Some(agent)) => agent.foresee(link),
            (Some(ends), None) => ends.announce(notice, at_most)?,
            (None, _) => {}
        }
        Ok(())
    }

    /// Announces to the agent, where there is one, that in a moment there will be no link for so long, and then this one.
    pub(super) fn announce(&mut self, link: Which, gap: Duration) {
        if let Some(agent) = &mut self.agent {
            agent.announce(link, gap);
        }
    }

    /// Ends the agent, where it tells; what its notices came to.
    ///
    /// # Errors
    /// It has ended before, or has noticed no handoff although there was one.
    pub fn end_agent(&mut self) -> Result<Option<BTreeMap<String, u64>>, Error> {
        let handoffs = self.handoffs;
        self.agent.take().map(|agent| agent.finish(handoffs)).transpose()
    }

    /// It must be whole still.
    ///
    /// # Errors
    /// The emulator has ended, or the sender's side: the latter with why, the former with what is known.
    pub fn check(&self) -> Result<(), Error> {
        if self.emulator.failed() {
            return Err(self.emulator.why());
        }
        self.ends.as_ref().map_or(Ok(()), Ends::check)
    }

    /// Packets that the devices threw away because the emulator did not come for them. It must be asked before the ends
    /// finish. Programs take their qdisc with them, and the device throws away what leaves meanwhile (`qdisc_graft`).
    ///
    /// # Errors
    /// A device is gone.
    pub fn device_drops(&self) -> Result<u64, Error> {
        let mobile = self.until_break.map_or_else(|| self.mobile.device_drops(), Ok)?;
        Ok(self.server.device_drops()? + mobile)
    }

    /// Takes it down. Returns the emulator, to be stopped for its record.
    pub fn close(self) -> Emulator {
        self.emulator
    }
}

fn hosts<'a>(server: &'a Host, mobile: &'a Host, cgroups: &'a Cgroups, folder: &'a TempDir) -> Hosts<'a> {
    Hosts { server, mobile, cgroups, folder: folder.path(), processors: None }
}

/// Packets that may enter within `lasts`: data and as many ACKs over the faster link, and some.
fn room(plan: &Plan, lasts: Duration) -> usize {
    let kbps = mean_kbps(&plan.old.down).max(mean_kbps(&plan.new.down));
    let packets = lasts.as_secs_f64() * kbps as f64 * 1000.0 / 12_000.0;
    // Beyond this the record grows as it must.
    ((packets * 2.2) as usize).min(2_000_000) + 1000
}
