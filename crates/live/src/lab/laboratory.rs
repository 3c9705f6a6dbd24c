//! One laboratory: two hosts, their cgroups, and the emulator between their devices.

use super::Error;
use super::cgroup::Cgroups;
use super::emulator::{Clock, Emulator};
use super::ends::Ends;
use super::host::{Host, Role, SenderSettings};
use super::hosts::Hosts;
use super::plan::Plan;
use super::sender_kind::SenderKind;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Everything of it goes away when it is dropped. Programs that run in it must be dropped before.
pub struct Laboratory {
    /// Its time zero is when the link began to carry.
    pub clock: Clock,
    /// Ours at both ends, for a sender that is told.
    pub ends: Option<Ends>,
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
    /// What the kernel refuses, or what a sender that is told says.
    pub fn create(plan: &Plan, sender: &SenderKind, lasts: Duration) -> Result<Self, Error> {
        if !nix::unistd::geteuid().is_root() {
            return Err(Error::NotRoot(nix::unistd::getuid().as_raw()));
        }
        let settings = match sender {
            SenderKind::Builtin { congestion_control, rto_max_ms } => {
                SenderSettings { congestion_control: Some(congestion_control), rto_max_ms: *rto_max_ms }
            }
            SenderKind::Aware { .. } => SenderSettings::default(),
        };
        let (server, at_server) = Host::create(Role::Server, &settings)?;
        let (mobile, at_mobile) = Host::create(Role::Mobile, &SenderSettings::default())?;
        let (server, mobile) = (Arc::new(server), Arc::new(mobile));
        let cgroups = Cgroups::create()?;
        let ends = match sender {
            SenderKind::Builtin { .. } => None,
            SenderKind::Aware { by, .. } => Some(Ends::attach(
                by,
                (Arc::clone(&server), cgroups.server.clone()),
                (Arc::clone(&mobile), cgroups.mobile.clone()),
                plan.first_report(),
            )?),
        };
        // Attaching takes its time; measured links start when all is ready, the same for every sender.
        let clock = Clock::start();
        let wired = u32::try_from(plan.wired.as_micros()).unwrap_or(u32::MAX);
        let room = room(plan, lasts);
        let emulator = Emulator::start(clock, [at_server, at_mobile], &plan.old, &plan.new, wired, room)?;
        let folder = tempfile::Builder::new()
            .prefix(&super::sweep::prefix())
            .tempdir()
            .map_err(Error::system("a folder for the laboratory's programs"))?;
        Ok(Self { clock, ends, emulator, server, mobile, cgroups, folder })
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
        Hosts {
            server: &self.server,
            mobile: &self.mobile,
            cgroups: &self.cgroups,
            folder: self.folder.path(),
            processors: None,
        }
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

    /// Takes it down. What is left: the emulator, to be stopped for its record, and whether a device threw packets
    /// away.
    ///
    /// # Errors
    /// A device is gone.
    pub fn close(self) -> Result<(Emulator, u64), Error> {
        let drops = self.server.device_drops()? + self.mobile.device_drops()?;
        Ok((self.emulator, drops))
    }
}

/// Packets that may enter within `lasts`: data and as many ACKs over the faster link, and some.
fn room(plan: &Plan, lasts: Duration) -> usize {
    let kbps = plan.old.down.capacity.mean_kbps().max(plan.new.down.capacity.mean_kbps());
    let packets = lasts.as_secs_f64() * kbps as f64 * 1000.0 / 12_000.0;
    // Beyond this the record grows as it must.
    ((packets * 2.2) as usize).min(2_000_000) + 1000
}
