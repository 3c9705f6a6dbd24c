//! Failures as Python's exceptions, with the command line's one line.

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use segue::Failure;
use segue_world::{AccessLink, LinkError};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// `ValueError` for a mistake of the user, `RuntimeError` for one of ours.
pub fn exception(failure: Failure) -> PyErr {
    let line = segue::printable(&failure.to_string());
    match failure {
        Failure::User(_) => PyValueError::new_err(line),
        Failure::Ours(_) | Failure::Closed => PyRuntimeError::new_err(line),
    }
}

/// `RuntimeError`.
pub fn ours(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// `FileNotFoundError` and its kin, which Python chooses by the number, with the file's name.
pub fn of_file(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_string();
            PyOSError::new_err((number, text, path.as_os_str().to_os_string()))
        }
        None => io::Error::new(error.kind(), format!("{}: {error}", path.display())).into(),
    }
}

/// The exception for a failure of a call that reads a file: that of the file, if it cannot be read.
pub fn exception_of_file(failure: Failure, path: &Path) -> PyErr {
    match File::open(path).and_then(|mut file| file.read(&mut [0])) {
        Err(error) => of_file(&error, path),
        Ok(_) => exception(failure),
    }
}

/// The same for a call that names links, of which a measured one has files.
pub fn exception_of_links(failure: Failure, links: [&str; 2]) -> PyErr {
    let unreadable = links.into_iter().find_map(|link| match AccessLink::parse(link) {
        Err(LinkError::File { path, .. }) if !path.is_empty() => Some(path),
        _ => None,
    });
    match unreadable {
        Some(path) => exception_of_file(failure, Path::new(&path)),
        None => exception(failure),
    }
}
