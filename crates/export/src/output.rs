//! Where a result goes: standard output (`-`) or a file that is replaced in one step.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A result cannot be written.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write {path}: {}; expected a file in a writable folder, or - for standard output",
    in_words(problem)
)]
pub struct OutputError {
    /// The file.
    pub path: String,
    /// Why.
    pub problem: io::Error,
}

/// The kinds of error that users meet, in plainer words than the library's.
fn in_words(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::NotFound => "there is no such folder".into(),
        kind => kind.to_string(),
    }
}

/// A destination, opened before anything is computed so that a bad path costs nothing.
#[derive(Debug)]
pub enum Output {
    /// `-`.
    Stdout,
    /// A file, which is replaced in one step when the result is there.
    File(PathBuf),
    /// Something that is written to and never replaced: a device, a pipe.
    Special(String, File),
}

impl Output {
    /// Opens a destination; `-` is standard output.
    pub fn open(path: &str) -> Result<Self, OutputError> {
        if path == "-" {
            return Ok(Self::Stdout);
        }
        // A link stays a link: what it points to is replaced.
        let target = resolve(Path::new(path));
        // Only the kind: the message of the temporary file's error would name that file.
        let fail =
            |problem: io::Error| OutputError { path: path.to_string(), problem: problem.kind().into() };
        if target.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        if std::fs::metadata(&target).is_ok_and(|meta| !meta.is_file()) {
            let file = OpenOptions::new().write(true).open(&target).map_err(fail)?;
            return Ok(Self::Special(path.to_string(), file));
        }
        if target.file_name().is_none() {
            return Err(fail(io::ErrorKind::InvalidInput.into()));
        }
        // Tried now, so that nothing is computed in vain; made only when the result is there, so
        // that an interrupted run leaves nothing behind.
        drop(temporary(&target).map_err(fail)?);
        Ok(Self::File(target))
    }

    /// The file that will be replaced, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the whole result and puts the file in its place.
    pub fn finish(self, content: impl AsRef<[u8]>) -> Result<(), OutputError> {
        let content = content.as_ref();
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                let written = out.write_all(content).and_then(|()| out.flush());
                written.map_err(|problem| OutputError { path: "-".into(), problem })
            }
            Self::Special(path, mut file) => file
                .write_all(content)
                .and_then(|()| file.flush())
                .map_err(|problem| OutputError { path, problem: problem.kind().into() }),
            Self::File(path) => {
                let fail = |problem| OutputError { path: path.display().to_string(), problem };
                let mut file = temporary(&path).map_err(fail)?;
                if let Ok(meta) = std::fs::metadata(&path) {
                    file.as_file().set_permissions(meta.permissions()).map_err(fail)?;
                }
                file.write_all(content).map_err(|error| fail(error.kind().into()))?;
                file.persist(&path).map_err(|error| fail(error.error))?;
                Ok(())
            }
        }
    }
}

/// The absolute place that a path means, links followed, whether or not it exists yet.
fn resolve(path: &Path) -> PathBuf {
    if let Ok(known) = std::fs::canonicalize(path) {
        return known;
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    match (std::fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

/// A temporary file in the folder of `target`, which will become it.
fn temporary(target: &Path) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As an ordinary file would be: the umask still applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".segue-").tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let output = Output::open(path.to_str().unwrap()).unwrap();
        assert!(!path.exists());
        output.finish("whole\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole\n");
        drop(Output::open(path.to_str().unwrap()).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }

    /// A device or a pipe is written to; a link stays one, and the file behind it is replaced.
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_never_replaced() {
        use std::os::unix::fs::FileTypeExt;
        Output::open("/dev/null").unwrap().finish("gone\n").unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(Output::open("/dev/full").unwrap().finish("no room\n").is_err());
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Output::open(link.to_str().unwrap()).unwrap().finish("new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn bad_paths_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_str().unwrap(), "/nowhere/at/all.json", ""] {
            let error = Output::open(path).unwrap_err().to_string();
            assert!(error.contains("cannot write") && !error.contains('\n'), "{error}");
        }
    }
}
