//! Programs on the two hosts: each in its host's namespace and cgroup, and if asked on a processor of its own.

use super::Error;
use super::cgroup::Cgroups;
use super::child::{Child, Place};
use super::host::{Host, Role};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A program that has not begun to listen by then never will.
const START: Duration = Duration::from_secs(300);
/// The calling thread.
const SELF: Pid = Pid::from_raw(0);

/// Where programs run.
#[derive(Clone, Copy, Debug)]
pub struct Hosts<'a> {
    /// The server.
    pub server: &'a Host,
    /// The mobile.
    pub mobile: &'a Host,
    /// Cgroups of their programs.
    pub cgroups: &'a Cgroups,
    /// Folder for what they print.
    pub folder: &'a Path,
    /// The server's processor and the mobile's; `None`: the kernel chooses.
    pub processors: Option<[usize; 2]>,
}

impl Hosts<'_> {
    /// Starts a program on one of them.
    ///
    /// # Errors
    /// It is not installed, or cannot be started.
    pub fn start(&self, role: Role, label: &str, program: &str, args: &[&str]) -> Result<Child, Error> {
        self.start_hearing(role, label, program, args, Stdio::null())
    }

    /// The same of a program that reads `input`.
    ///
    /// # Errors
    /// As of [`start`](Self::start).
    pub fn start_hearing(
        &self,
        role: Role,
        label: &str,
        program: &str,
        args: &[&str],
        input: Stdio,
    ) -> Result<Child, Error> {
        let (host, cgroup, index) = match role {
            Role::Server => (self.server, &self.cgroups.server, 0),
            Role::Mobile => (self.mobile, &self.cgroups.mobile, 1),
        };
        let place = Place { cgroup, folder: self.folder };
        let start = || host.namespace.within(|| Child::start_hearing(place, label, program, args, input));
        match self.processors {
            None => start(),
            Some(processors) => on(processors[index], start),
        }
    }

    /// Processor time that all their programs have taken, those that have ended too.
    ///
    /// # Errors
    /// A cgroup is gone.
    pub fn spent(&self) -> Result<Duration, Error> {
        let mut all = Duration::ZERO;
        for cgroup in [&self.cgroups.server, &self.cgroups.mobile] {
            let path = cgroup.join("cpu.stat");
            let text = fs::read_to_string(&path).map_err(Error::system(path.display().to_string()))?;
            let spent = text.lines().find_map(|line| line.strip_prefix("usage_usec ")?.parse().ok());
            all += spent
                .map(Duration::from_micros)
                .ok_or_else(|| Error::Fault(format!("{} has no `usage_usec N`", path.display())))?;
        }
        Ok(all)
    }

    /// Starts a program on the server that listens on these ports.
    ///
    /// # Errors
    /// It is not installed, cannot be started or does not listen.
    pub fn serve(&self, label: &str, program: &str, args: &[&str], ports: &[u16]) -> Result<Child, Error> {
        let mut server = self.start(Role::Server, label, program, args)?;
        ports.iter().try_for_each(|&port| server.listening(port, START))?;
        Ok(server)
    }
}

/// The first and the last processor that this thread may use; `None`: there is but one.
pub fn processors() -> Option<[usize; 2]> {
    let allowed = sched_getaffinity(SELF).ok()?;
    let mut all = (0..CpuSet::count()).filter(|&processor| allowed.is_set(processor).unwrap_or(false));
    Some([all.next()?, all.next_back()?])
}

/// Does `work` on one processor; programs that it starts stay there.
fn on<T>(processor: usize, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let refused = || Error::system(format!("processor {processor} for a program"));
    let _back = Back(sched_getaffinity(SELF).map_err(refused())?);
    let mut one = CpuSet::new();
    one.set(processor).and_then(|()| sched_setaffinity(SELF, &one)).map_err(refused())?;
    work()
}

/// The processors that this thread had, also after a panic.
struct Back(CpuSet);

impl Drop for Back {
    fn drop(&mut self) {
        // It had them before.
        let _ = sched_setaffinity(SELF, &self.0);
    }
}
