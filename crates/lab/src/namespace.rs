//! A network namespace without a name: it is gone when its last file descriptor and process are.

use super::Error;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;

/// One host's network.
#[derive(Debug)]
pub struct Namespace {
    own: File,
}

fn current() -> Result<File, Error> {
    let path = "/proc/thread-self/ns/net";
    File::open(path).map_err(Error::system(path))
}

impl Namespace {
    /// Makes an empty one.
    ///
    /// # Errors
    /// The kernel refuses, above all without CAP_SYS_ADMIN.
    pub fn create() -> Result<Self, Error> {
        let _back = Back(current()?);
        unshare(CloneFlags::CLONE_NEWNET).map_err(Error::system("a new network namespace"))?;
        Ok(Self { own: current()? })
    }

    /// The file that stands for it.
    pub fn file(&self) -> &File {
        &self.own
    }

    /// Does `work` on this thread inside the namespace. Processes that it starts stay there.
    ///
    /// # Errors
    /// The kernel does not let the thread in, or what `work` returns.
    pub fn within<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let _back = Back(current()?);
        setns(&self.own, CloneFlags::CLONE_NEWNET).map_err(Error::system("setns"))?;
        work()
    }
}

/// Where this thread returns to, also after a panic.
struct Back(File);

impl Drop for Back {
    fn drop(&mut self) {
        // It was there before, with the same rights.
        let _ = setns(&self.0, CloneFlags::CLONE_NEWNET);
    }
}
