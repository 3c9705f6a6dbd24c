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
        let made = parent.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        if !parent.exists() {
            DirBuilder::new().recursive(true).create(parent).map_err(|error| refused(&error))?;
            // Others may pass, to a socket that they may use; whatever the umask.
            let passable = fs::Permissions::from_mode(0o711);
            fs::set_permissions(parent, passable).map_err(|error| refused(&error))?;
        }
        let path = control.with_extension("lock");
        let mut file = loop {
            let mut options = OpenOptions::new();
            let file = options.create(true).truncate(false).read(true).write(true).mode(0o600).open(&path);
            let file =
                match Flock::lock(file.map_err(|error| refused(&error))?, FlockArg::LockExclusiveNonblock) {
                    Ok(file) => file,
                    Err((_, Errno::EWOULDBLOCK)) => {
                        let process = fs::read_to_string(&path).ok().map(|text| text.trim().to_owned());
                        let process = process.filter(|text| text.parse::<u32>().is_ok());
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
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(|error| refused(&error))?;
        Ok(Self { path, made, _file: file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
        // An agent that was killed may have made it, and it is for nothing else.
        if let Some(parent) = self.path.parent()
            && parent.file_name().is_some_and(|name| name == "segue")
        {
            let _ = fs::remove_dir(parent);
        }
    }
}
