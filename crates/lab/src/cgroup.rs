//! A cgroup2 for each host of a laboratory: what is attached to it reaches that host's programs only.

use super::Error;
use super::prefix::prefix;
use segue_kernel::sender::is_attached;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Where cgroup2 is mounted.
///
/// # Errors
/// It is not.
pub fn mount() -> Result<PathBuf, Error> {
    let mounts = fs::read_to_string("/proc/mounts").map_err(Error::system("/proc/mounts"))?;
    mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|fields| fields.get(2) == Some(&"cgroup2"))
        .map(|fields| PathBuf::from(fields[1].replace("\\040", " ")))
        .ok_or(Error::NoCgroup2)
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
        let made = Self { server: folder.join("server"), mobile: folder.join("mobile"), folder };
        for path in [&made.folder, &made.server, &made.mobile] {
            fs::create_dir(path).map_err(Error::system(format!("cgroup {}", path.display())))?;
        }
        Ok(made)
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        // A process that was killed leaves its cgroup a moment later.
        let limit = Instant::now() + Duration::from_secs(2);
        for path in [&self.server, &self.mobile, &self.folder] {
            while let Err(error) = fs::remove_dir(path) {
                if error.kind() != ErrorKind::ResourceBusy || Instant::now() > limit {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
