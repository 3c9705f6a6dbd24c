//! A cgroup2 for each host of a laboratory: what is attached to it reaches that host's programs only.

use super::Error;
use super::prefix::prefix;
use segue_kernel::host;
use segue_kernel::sender::is_attached;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Names of the cgroups of a laboratory's two hosts.
const HOSTS: [&str; 2] = ["server", "mobile"];
/// Longest time that programs take to leave.
const LEAVING: Duration = Duration::from_secs(2);

/// Where cgroup2 is mounted.
///
/// # Errors
/// It is not.
pub fn mount() -> Result<PathBuf, Error> {
    host::cgroup2().ok_or(Error::NoCgroup2)
}

/// Ends what still runs in the cgroups of a laboratory whose process is gone, and removes them.
pub(super) fn end(folder: &Path) {
    for path in HOSTS.map(|host| folder.join(host)) {
        // A process of another PID namespace is 0 here: so may be the laboratory's, which is alive then.
        let ours =
            fs::read_to_string(path.join("cgroup.procs")).is_ok_and(|all| all.lines().all(|id| id != "0"));
        if ours {
            // Since Linux 5.14; before that the programs end with their connections.
            let _ = fs::write(path.join("cgroup.kill"), "1");
        }
    }
    remove(folder);
}

/// Removes the cgroups of a laboratory.
fn remove(folder: &Path) {
    // A process that was killed leaves its cgroup a moment later.
    let limit = Instant::now() + LEAVING;
    for path in HOSTS.map(|host| folder.join(host)).iter().map(PathBuf::as_path).chain([folder]) {
        while let Err(error) = fs::remove_dir(path) {
            if error.kind() != ErrorKind::ResourceBusy || Instant::now() > limit {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The cgroups of one laboratory; removed when dropped, after their processes have ended.
#[derive(Debug)]
pub struct Cgroups {
    folder: PathBuf,
    /// The server's.
    pub server: PathBuf,
    /// The mobile's.
    pub mobile: PathBuf,
}

impl Cgroups {
    /// Makes them.
    ///
    /// # Errors
    /// No cgroup2, or it may not be written; a sender of Segue hears everybody.
    pub fn create() -> Result<Self, Error> {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let root = mount()?;
        // A kernel that cannot tell is no reason to refuse.
        if is_attached(&root).unwrap_or(false) {
            return Err(Error::Attached { cgroup: root.display().to_string() });
        }
        let folder = root.join(format!("{}{serial}", prefix()));
        let [server, mobile] = HOSTS.map(|host| folder.join(host));
        let made = Self { server, mobile, folder };
        for path in [&made.folder, &made.server, &made.mobile] {
            fs::create_dir(path).map_err(Error::system(format!("cgroup {}", path.display())))?;
        }
        Ok(made)
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}
