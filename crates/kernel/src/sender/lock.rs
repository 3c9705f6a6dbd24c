//! One attach or detach at a time: they make and remove the same folders and names, step by step.

use super::Error;
use crate::holder::holder;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// An attach takes a second or two.
const PATIENCE: Duration = Duration::from_secs(120);

/// Held while it lives; the kernel takes it from a process that ends.
#[derive(Debug)]
pub(super) struct Lock {
    _folder: Flock<File>,
}

impl Lock {
    /// Waits for the lock of the file system that this folder of pins is in, or is to be. The lock is on its root,
    /// which is always there, and whose pins may outlive every process.
    ///
    /// # Errors
    /// Another process keeps it.
    pub fn take(pin: &Path) -> Result<Self, Error> {
        Self::within(pin, PATIENCE)
    }

    fn within(pin: &Path, patience: Duration) -> Result<Self, Error> {
        let root = root(pin);
        let io = |problem: std::io::Error| Error::io(format!("locking {}", root.display()), problem);
        let mut folder = File::open(root).map_err(io)?;
        let until = Instant::now() + patience;
        loop {
            folder = match Flock::lock(folder, FlockArg::LockExclusiveNonblock) {
                Ok(folder) => return Ok(Self { _folder: folder }),
                Err((folder, Errno::EWOULDBLOCK | Errno::EINTR)) => folder,
                Err((_, error)) => return Err(io(error.into())),
            };
            if Instant::now() >= until {
                let holder = holder(&folder)
                    .map_or("another process".to_owned(), |process| format!("process {process}"));
                return Err(Error::Machine(format!(
                    "{holder} attaches or detaches a sender in {} for {} s already; expected one after the other",
                    root.display(),
                    patience.as_secs()
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The outermost folder of the file system that a path is in, or is to be.
fn root(pin: &Path) -> &Path {
    let device = |folder: &Path| fs::metadata(folder).ok().map(|meta| meta.dev());
    let mut existing = pin.ancestors().skip_while(|folder| device(folder).is_none());
    let Some(mut root) = existing.next() else { return Path::new("/") };
    for above in existing {
        if device(above) != device(root) {
            break;
        }
        root = above;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of a file system is locked, whatever exists below it.
    #[test]
    fn one_holds_it_and_the_other_says_who() {
        let root = root(Path::new("/proc/self/no/such/pin"));
        assert_eq!(root, Path::new("/proc"));
        let first = Lock::within(Path::new("/proc/self/one"), Duration::ZERO).expect("it is free");
        let refused = Lock::within(Path::new("/proc/other/two"), Duration::ZERO).expect_err("it is held");
        let said = format!("process {} attaches or detaches a sender in /proc", std::process::id());
        assert!(refused.to_string().starts_with(&said) && !refused.is_user(), "{refused}");
        drop(first);
        Lock::within(Path::new("/proc/other/two"), Duration::ZERO).expect("it is free again");
    }
}
