//! Where results go: each to a file of its own, at most one to standard output.

use crate::Failure;
use segue_export::Output;
use segue_report::Origin;
use std::path::Path;

/// Opens the destinations that were asked for, by their options; says whether standard output is one.
pub fn open<const N: usize>(
    asked: [(&str, &Option<String>); N],
) -> Result<([Option<Output>; N], bool), Failure> {
    let mut outputs = [const { None }; N];
    for (slot, (_, path)) in outputs.iter_mut().zip(asked) {
        *slot = path.as_deref().map(Output::open).transpose()?;
    }
    let options = || asked.map(|(option, _)| option);
    let on_stdout = outputs.iter().flatten().filter(|output| output.is_stdout()).count();
    if on_stdout > 1 {
        return Err(Failure::User(format!(
            "two results for standard output; expected at most one - among {}",
            options().join(", ")
        )));
    }
    let files: Vec<_> = outputs.iter().flatten().filter_map(Output::file).collect();
    if files.iter().enumerate().any(|(index, file)| files[..index].contains(file)) {
        return Err(Failure::User(format!(
            "{} name one file twice; expected different files",
            options().join(", ")
        )));
    }
    Ok((outputs, on_stdout > 0))
}

/// Makes the folder of a report, as that of captures is made: both often go to a new one.
pub fn make_folder_of(report: &Option<String>) -> Result<(), Failure> {
    let folder = report.as_deref().filter(|path| *path != "-").and_then(|path| Path::new(path).parent());
    match folder {
        Some(folder) if folder != Path::new("") => std::fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            Failure::User(format!(
                "--report: cannot make the folder {folder}: {error}; expected a writable place"
            ))
        }),
        _ => Ok(()),
    }
}

/// Writes a result, if it was asked for.
pub fn write<C: AsRef<[u8]>, E: std::fmt::Display>(
    output: Option<Output>,
    make: impl FnOnce() -> Result<C, E>,
) -> Result<(), Failure> {
    match output {
        Some(output) => output.finish(make().map_err(Failure::ours)?).map_err(Failure::writing),
        None => Ok(()),
    }
}

/// The command line that is running, as a shell takes it, and the version of the program.
pub fn origin() -> Origin {
    let mut words = vec!["segue".to_string()];
    words.extend(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()));
    Origin { command: shell_words::join(&words), version: env!("CARGO_PKG_VERSION") }
}

/// Runs `work` on so many threads; the result does not depend on their number.
pub fn with_threads<R: Send>(threads: Option<u16>, work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    match threads {
        None => Ok(work()),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
            Ok(pool.map_err(Failure::ours)?.install(work))
        }
    }
}
