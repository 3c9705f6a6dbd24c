//! The negotiated state of connections, pinned, so that it outlives a process that is killed.

use super::Error;
use crate::holder::holder;
use crate::host;
use libbpf_rs::{MapMut, OpenMapMut};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The number is that of the layout of `struct connection` (bpf/mobile/state.h).
const NAME: &str = "connections-2";
/// Every folder of cgroup2 has this file, and nothing else has.
pub(super) const CONTROLLERS: &str = "cgroup.controllers";

/// A folder of bpffs, for root only. It goes when this is dropped.
pub(super) struct Kept {
    folder: PathBuf,
    was_there: bool,
    _lock: Flock<File>,
}

/// Things that an agent keeps others away from, each with its key of the configuration.
const CGROUP: (&str, &str) = ("cgroup", "cgroup");
const PINS: (&str, &str) = ("folder of pins", "pin");

/// Keeps others away from a folder while it lives.
fn lock(
    how: FlockArg,
    folder: File,
    path: &Path,
    what: (&'static str, &'static str),
) -> Result<Flock<File>, Error> {
    Flock::lock(folder, how).map_err(|(folder, error)| match error {
        Errno::EWOULDBLOCK => {
            Error::Taken { what: what.0, key: what.1, path: path.to_owned(), process: holder(&folder) }
        }
        error => Error::Keep { folder: path.to_owned(), source: error.into() },
    })
}

/// Keeps others away from a cgroup, and from those that it is in or that are in it. The reason is that a program of a
/// cgroup sees the sockets of all below. The outer ones are shared with who has another part of them.
pub(super) fn lock_cgroup(cgroup: File, path: &Path) -> Result<Vec<Flock<File>>, Error> {
    let mut locks = vec![lock(FlockArg::LockExclusiveNonblock, cgroup, path, CGROUP)?];
    let whole = path.canonicalize().map_err(|source| Error::Cgroup { path: path.to_owned(), source })?;
    // Up to where they are mounted.
    let outer = whole.ancestors().skip(1).take_while(|folder| folder.join(CONTROLLERS).exists());
    for folder in outer {
        let refused = |source| Error::Cgroup { path: folder.to_owned(), source };
        let file = File::open(folder).map_err(refused)?;
        locks.push(lock(FlockArg::LockSharedNonblock, file, folder, CGROUP)?);
    }
    Ok(locks)
}

impl Kept {
    pub(super) fn make(folder: &Path) -> Result<Self, Error> {
        let refused = |source| Error::Keep { folder: folder.to_owned(), source };
        let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        let kind = rustix::fs::statfs(existing).map_err(|error| refused(error.into()))?;
        if kind.f_type as u64 != host::BPFFS_MAGIC {
            return Err(refused(io::Error::other("not in a bpf file system")));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refused)?;
        let file = File::open(folder).map_err(refused)?;
        let lock = lock(FlockArg::LockExclusiveNonblock, file, folder, PINS)?;
        Ok(Self { _lock: lock, folder: folder.to_owned(), was_there: folder.join(NAME).exists() })
    }

    pub(super) fn was_there(&self) -> bool {
        self.was_there
    }

    /// Has the programs use the map that was left. One of another make is of no use, and goes.
    pub(super) fn find(&self, map: &mut OpenMapMut<'_>) {
        if self.was_there && map.reuse_pinned_map(self.folder.join(NAME)).is_err() {
            let _ = fs::remove_file(self.folder.join(NAME));
        }
    }

    pub(super) fn keep(&self, map: &mut MapMut<'_>) -> Result<(), Error> {
        let path = self.folder.join(NAME);
        if path.exists() { Ok(()) } else { map.pin(path).map_err(Error::kernel("pin what was negotiated")) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.join(NAME));
        let _ = fs::remove_dir(&self.folder);
        // The folder of all pins, if this was the last.
        if let Some(parent) = self.folder.parent()
            && parent.file_name().is_some_and(|name| name == "segue")
        {
            let _ = fs::remove_dir(parent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_locked_names_its_holder_and_its_key() {
        let folder = std::env::temp_dir().join(format!("segue-kept-{}", std::process::id()));
        fs::create_dir(&folder).expect("a folder");
        let take = || {
            let file = File::open(&folder).expect("it is there");
            lock(FlockArg::LockExclusiveNonblock, file, &folder, PINS)
        };
        let held = take().expect("free");
        let said = take().expect_err("taken").to_string();
        let expected = format!(
            "another agent (process {}) is at work with the folder of pins {}; expected a folder of pins of its own \
             for each (`pin` in the configuration)",
            std::process::id(),
            folder.display()
        );
        assert_eq!(said, expected);
        drop(held);
        assert!(take().is_ok());
        fs::remove_dir(&folder).expect("ours");
    }
}
