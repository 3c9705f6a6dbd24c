//! Where a result goes: standard output (`-`) or a file that is replaced in one step.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A result cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {problem}; expected a file in a writable folder, or - for standard output")]
pub struct OutputError {
    /// The file.
    pub path: String,
    /// Why.
    pub problem: io::Error,
}

/// A destination, opened before anything is computed so that a bad path costs nothing.
#[derive(Debug)]
pub enum Output {
    /// `-`.
    Stdout,
    /// A file, and the temporary one that will become it.
    File(PathBuf, NamedTempFile),
}

impl Output {
    /// Opens a destination; `-` is standard output.
    pub fn open(path: &str) -> Result<Self, OutputError> {
        if path == "-" {
            return Ok(Self::Stdout);
        }
        let target = PathBuf::from(path);
        // Only the kind: the message of the temporary file's error would name that file.
        let fail =
            |problem: io::Error| OutputError { path: path.to_string(), problem: problem.kind().into() };
        if target.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        if target.file_name().is_none() {
            return Err(fail(io::ErrorKind::InvalidInput.into()));
        }
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
        let file = builder.prefix(".segue-").tempfile_in(folder).map_err(fail)?;
        Ok(Self::File(target, file))
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the whole result and puts the file in its place.
    pub fn finish(self, text: &str) -> Result<(), OutputError> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                written.map_err(|problem| OutputError { path: "-".into(), problem })
            }
            Self::File(path, mut file) => {
                let fail = |problem| OutputError { path: path.display().to_string(), problem };
                file.write_all(text.as_bytes()).map_err(fail)?;
                file.persist(&path).map_err(|error| fail(error.error))?;
                Ok(())
            }
        }
    }
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

    #[test]
    fn bad_paths_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_str().unwrap(), "/nowhere/at/all.json", ""] {
            let error = Output::open(path).unwrap_err().to_string();
            assert!(error.contains("cannot write") && !error.contains('\n'), "{error}");
        }
    }
}
