//! Two hosts over a veth pair, and what is attached to them.

use super::Error;
use super::cgroup::Cgroups;
use super::ends::{Aware, MobileEnd, ServerEnd};
use super::host::{Host, SenderSettings, set};
use super::hosts::{Hosts, processors};
use super::prefix::prefix;
use super::veth;
use segue_policy::Link;
use tempfile::TempDir;

/// Everything of it goes away when it is dropped; what is attached and what runs there must go before.
pub(super) struct Site {
    server: Host,
    mobile: Host,
    cgroups: Cgroups,
    folder: TempDir,
    processors: Option<[usize; 2]>,
}

impl Site {
    /// Makes one. `congestion_control`: of all that the server sends.
    pub(super) fn create(congestion_control: Option<&str>) -> Result<Self, Error> {
        let [server, mobile] =
            veth::hosts(&SenderSettings { congestion_control, ..SenderSettings::default() })?;
        // As many connections as there can be, and no wait for a port.
        mobile.namespace.within(|| set("ipv4/ip_local_port_range", "1024 65535"))?;
        let folder = tempfile::Builder::new().prefix(&prefix()).tempdir();
        let folder = folder.map_err(Error::system("a folder for the laboratory's programs"))?;
        Ok(Self { server, mobile, cgroups: Cgroups::create()?, folder, processors: processors() })
    }

    pub(super) fn hosts(&self) -> Hosts<'_> {
        Hosts {
            server: &self.server,
            mobile: &self.mobile,
            cgroups: &self.cgroups,
            folder: self.folder.path(),
            processors: self.processors,
        }
    }

    /// Attaches a sender to the server.
    pub(super) fn sender(&self, aware: &dyn Aware) -> Result<Box<dyn ServerEnd>, Error> {
        let attach =
            || aware.server(&self.cgroups.server).map_err(|said| Error::Agent { end: "sender", said });
        self.server.namespace.within(attach)
    }

    /// Attaches the mobile's programs.
    pub(super) fn mobile(&self, aware: &dyn Aware) -> Result<Box<dyn MobileEnd>, Error> {
        // Any link: nobody is told of another one.
        let link = Link { rate_kbps: 100_000, delay_us: 1000 };
        let attach =
            || aware.mobile(&self.cgroups.mobile, link).map_err(|said| Error::Agent { end: "mobile", said });
        self.mobile.namespace.within(attach)
    }
}
