//! `segue agent`: the program `segue-agent` of the same release does it, with the same words.

use crate::Failure;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

const NAME: &str = "segue-agent";

/// Becomes that program. `words`: all of the command line.
pub fn run(words: &[OsString]) -> Result<(), Failure> {
    let program = program()?;
    let own = words.iter().skip_while(|word| *word != "agent").skip(1);
    let error = Command::new(&program).args(own).exec();
    Err(Failure::ours(format!("cannot start {}: {error}", program.display())))
}

/// Where it is: beside this program, else in PATH.
pub fn program() -> Result<PathBuf, Failure> {
    let beside = env::current_exe().ok().and_then(|own| own.parent().map(PathBuf::from));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = beside.into_iter().chain(env::split_paths(&path)).map(|folder| folder.join(NAME));
    places.find(|place| place.is_file()).ok_or_else(|| {
        Failure::ours(format!(
            "no program `{NAME}` beside this one or in PATH; expected that of the same release"
        ))
    })
}
