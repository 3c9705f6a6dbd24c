//! Network namespaces: the programs over sockets see those of the thread that reads them.

use super::Error;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::thread;

/// A network namespace, which lives as long as this does.
#[derive(Debug)]
pub(crate) struct Namespace(File);

impl Namespace {
    /// That of the calling thread.
    pub(crate) fn current() -> Result<Self, Error> {
        const PATH: &str = "/proc/thread-self/ns/net";
        File::open(PATH).map(Self).map_err(|problem| Error::io(PATH, problem))
    }

    /// Which one it is.
    pub(crate) fn number(&self) -> Result<u64, Error> {
        let file = self.0.metadata().map_err(|problem| Error::io("the network namespace", problem))?;
        Ok(file.ino())
    }

    /// Whether the calling thread is there.
    fn is_here(&self) -> bool {
        let id = |file: &File| file.metadata().map(|file| (file.dev(), file.ino()));
        match (Self::current(), id(&self.0)) {
            (Ok(here), Ok(there)) => id(&here.0).is_ok_and(|here| here == there),
            _ => false,
        }
    }

    /// Runs something there: where the caller is elsewhere on a thread of its own, which needs CAP_SYS_ADMIN.
    pub(crate) fn run<T: Send>(&self, job: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        if self.is_here() {
            return job();
        }
        thread::scope(|scope| {
            let there = scope.spawn(|| {
                move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
                    .map_err(|problem| Error::io("entering the network namespace", problem))?;
                job()
            });
            there
                .join()
                .unwrap_or_else(|_| Err(Error::Machine("a thread of ours has ended early".to_owned())))
        })
    }
}
