//! The negotiated state of connections, pinned, so that it outlives a process that is killed.

use super::Error;
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

/// Keeps others away from a folder while it lives.
fn lock(folder: File, path: &Path) -> Result<Flock<File>, Error> {
    lock_as(FlockArg::LockExclusiveNonblock, folder, path)
}

fn lock_as(how: FlockArg, folder: File, path: &Path) -> Result<Flock<File>, Error> {
    Flock::lock(folder, how).map_err(|(_, error)| match error {
        Errno::EWOULDBLOCK => Error::Taken(path.to_owned()),
        error => Error::Keep { folder: path.to_owned(), source: error.into() },
    })
}

/// Keeps others away from a cgroup, and from those that it is in or that are in it: a program of a cgroup sees the
/// sockets of all below. The outer ones are shared with who has another part of them.
pub(super) fn lock_cgroup(cgroup: File, path: &Path) -> Result<Vec<Flock<File>>, Error> {
    let mut locks = vec![lock(cgroup, path)?];
    let whole = path.canonicalize().map_err(|source| Error::Cgroup { path: path.to_owned(), source })?;
    // Up to where they are mounted.
    let outer = whole.ancestors().skip(1).take_while(|folder| folder.join(CONTROLLERS).exists());
    for folder in outer {
        let refused = |source| Error::Cgroup { path: folder.to_owned(), source };
        locks.push(lock_as(FlockArg::LockSharedNonblock, File::open(folder).map_err(refused)?, folder)?);
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
        let lock = lock(File::open(folder).map_err(refused)?, folder)?;
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
