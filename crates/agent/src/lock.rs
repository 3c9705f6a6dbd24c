//! One agent per control socket: a lock that goes with its process, however that ends.

use super::Error;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Held while it lives.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Folders that were made for it, the innermost first.
    made: Vec<PathBuf>,
    _file: Flock<File>,
}

impl Lock {
    /// Takes the lock beside this control socket; makes their folder if there is none.
    ///
    /// # Errors
    /// Another agent has it, or the folder cannot be written.
    pub fn take(control: &Path) -> Result<Self, Error> {
        let refused = |problem: &std::io::Error| Error::Control {
            path: control.to_owned(),
            problem: format!("{problem}; expected a folder that can be written"),
            user: true,
        };
        let parent = control.parent().unwrap_or(Path::new("/"));
        let mut made: Vec<_> =
            parent.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        if !parent.exists() {
            DirBuilder::new().recursive(true).create(parent).map_err(|error| refused(&error))?;
            // Others may pass, to a socket that they may use; whatever the umask.
            let passable = fs::Permissions::from_mode(0o711);
            fs::set_permissions(parent, passable).map_err(|error| refused(&error))?;
        }
        let path = beside(control);
        let mut file = loop {
            let mut options = OpenOptions::new();
            let file = options.create(true).truncate(false).read(true).write(true).mode(0o600).open(&path);
            let file =
                match Flock::lock(file.map_err(|error| refused(&error))?, FlockArg::LockExclusiveNonblock) {
                    Ok(file) => file,
                    Err((_, Errno::EWOULDBLOCK)) => {
                        let text = fs::read_to_string(&path).unwrap_or_default();
                        let process = text.lines().next().filter(|first| first.parse::<u32>().is_ok());
                        let process = process.map(str::to_owned);
                        return Err(Error::Locked { control: control.to_owned(), process });
                    }
                    Err((_, error)) => return Err(refused(&error.into())),
                };
            // The owner before may have removed the file between our two steps.
            let id = file.metadata().map_err(|error| refused(&error))?.ino();
            if fs::metadata(&path).is_ok_and(|there| there.ino() == id) {
                break file;
            }
        };
        if made.is_empty() {
            made = left_by_another(&path, parent);
        }
        let lines = made.iter().map(|folder| format!("{}\n", folder.display()));
        let text = format!("{}\n{}", std::process::id(), lines.collect::<String>());
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(|error| refused(&error))?;
        Ok(Self { path, made, _file: file })
    }
}

/// The lock of a control socket: no other socket has the same one, and none is it.
fn beside(control: &Path) -> PathBuf {
    let mut path = control.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}

/// Folders that an agent had made which was killed, as the lock that it left says.
fn left_by_another(lock: &Path, parent: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(lock).unwrap_or_default();
    let made: Vec<&Path> = text.lines().skip(1).map(Path::new).collect();
    parent.ancestors().filter(|folder| made.contains(folder)).map(Path::to_owned).collect()
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_socket_has_a_lock_of_its_own() {
        let folder = std::env::temp_dir().join(format!("segue-lock-{}", std::process::id()));
        let locks = ["a.lock", "a.sock", "a.ctl"].map(|name| Lock::take(&folder.join(name)).expect("free"));
        let mut there: Vec<_> =
            fs::read_dir(&folder).expect("a folder").map(|entry| entry.unwrap().file_name()).collect();
        there.sort();
        assert_eq!(there, ["a.ctl.lock", "a.lock.lock", "a.sock.lock"]);
        assert!(matches!(Lock::take(&folder.join("a.sock")), Err(Error::Locked { .. })));
        // The first of them has made it.
        locks.into_iter().rev().for_each(drop);
        assert!(!folder.exists());
    }

    /// An agent that is killed leaves its lock, which tells the next one what it has made.
    #[test]
    fn the_folder_of_a_killed_agent_goes_with_the_next_one() {
        let folder = std::env::temp_dir().join(format!("segue-lock-killed-{}", std::process::id()));
        let socket = folder.join("inner/agent.sock");
        let killed = Lock::take(&socket).expect("free");
        let left = fs::read(beside(&socket)).expect("a lock");
        drop(killed);
        fs::create_dir_all(folder.join("inner"))
            .and_then(|()| fs::write(beside(&socket), left))
            .expect("as it was");
        drop(Lock::take(&socket).expect("free"));
        assert!(!folder.exists());
    }

    /// The folder of somebody else stays, whatever its name.
    #[test]
    fn a_folder_that_was_there_stays() {
        let outer = std::env::temp_dir().join(format!("segue-lock-kept-{}", std::process::id()));
        let folder = outer.join("segue");
        fs::create_dir_all(&folder).expect("a folder");
        drop(Lock::take(&folder.join("agent.sock")).expect("free"));
        assert!(folder.exists());
        fs::remove_dir(&folder).and_then(|()| fs::remove_dir(&outer)).expect("empty");
    }
}
