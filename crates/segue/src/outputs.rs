//! Where results go: each to a file of its own, at most one to standard output.

use crate::args::OriginWord;
use crate::screen::{Screen, Watched};
use crate::{Failure, printable};
use segue_export::{Origin, Output, OutputError, Provenance, in_words, is_metadata, metadata, metadata_file};
use segue_world::AccessLink;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Opens the destinations that were asked for, by their options; says whether standard output is one.
pub fn open<const N: usize>(
    asked: [(&str, &Option<String>); N],
) -> Result<([Option<Output>; N], bool), Failure> {
    let (outputs, [], on_stdout) = open_with_folders(asked, [])?;
    Ok((outputs, on_stdout))
}

/// A folder that an option asks for, and the names of the files in it.
pub struct Folder<'a> {
    /// The option.
    pub option: &'static str,
    /// The folder, if it is asked for.
    pub path: &'a Option<String>,
    /// Its files.
    pub names: Vec<String>,
}

/// Opened files, those of folders last, and whether standard output is one of them.
type Opened<const N: usize, const M: usize> = ([Option<Output>; N], [Vec<Output>; M], bool);

/// The same, and a file for each name in a folder. Everything is checked and nothing made: new folders come with
/// what is put into them.
pub fn open_with_folders<const N: usize, const M: usize>(
    asked: [(&str, &Option<String>); N],
    folders: [Folder; M],
) -> Result<Opened<N, M>, Failure> {
    let in_folders = folders.iter().map(|folder| (folder.option, folder.path));
    refuse_what_is_not_built(asked.iter().copied().chain(in_folders.clone()))?;
    let mut outputs = [const { None }; N];
    for (slot, (_, path)) in outputs.iter_mut().zip(asked) {
        *slot = path.as_deref().map(Output::open).transpose()?;
    }
    let mut files_of_folders = [const { Vec::new() }; M];
    for (slot, folder) in files_of_folders.iter_mut().zip(&folders) {
        *slot = open_folder(folder)?;
    }
    let options = || {
        let folders = in_folders.clone().filter(|(_, path)| path.is_some());
        asked.iter().copied().chain(folders).map(|(option, _)| option).collect::<Vec<_>>().join(", ")
    };
    let on_stdout = outputs.iter().flatten().filter(|output| output.is_stdout()).count();
    if on_stdout > 1 {
        return Err(Failure::User(format!(
            "two results for standard output; expected at most one - among {}",
            options()
        )));
    }
    let beside = beside_tables(asked.iter().map(|(option, _)| *option).zip(&outputs))?;
    let files = outputs.iter().flatten().chain(files_of_folders.iter().flatten()).filter_map(Output::file);
    let files: Vec<_> = files.chain(beside.iter().map(PathBuf::as_path)).collect();
    if files.iter().enumerate().any(|(index, file)| files[..index].contains(file)) {
        return Err(Failure::User(format!("{} name one file twice; expected different files", options())));
    }
    Ok((outputs, files_of_folders, on_stdout > 0))
}

/// The files beside tables that say where these come from. One of that name that says something else stays.
fn beside_tables<'a>(
    outputs: impl Iterator<Item = (&'a str, &'a Option<Output>)>,
) -> Result<Vec<PathBuf>, Failure> {
    let is_table = |option: &str| matches!(option.trim_start_matches("--"), "csv" | "rows");
    let tables =
        outputs.filter(|(option, _)| is_table(option)).filter_map(|(_, output)| output.as_ref()?.file());
    let files: Vec<PathBuf> = tables.map(metadata_file).collect();
    for file in &files {
        let is_ours = |found: Vec<u8>| is_metadata(&String::from_utf8_lossy(&found));
        // Something that is no regular file is not read: a pipe would never end.
        let in_the_way = match std::fs::metadata(file) {
            Ok(found) => !found.is_file() || !std::fs::read(file).is_ok_and(is_ours),
            Err(_) => false,
        };
        if in_the_way {
            return Err(Failure::User(format!(
                "{} is in the way of what says where the table beside it comes from; expected metadata of CSV, or \
                 no such file",
                file.display()
            )));
        }
    }
    Ok(files)
}

/// Pages, charts and captures need the feature `report`.
fn refuse_what_is_not_built<'a>(
    mut asked: impl Iterator<Item = (&'a str, &'a Option<String>)>,
) -> Result<(), Failure> {
    let needs_report = |option: &str| matches!(option.trim_start_matches("--"), "report" | "svg" | "pcap");
    match asked.find(|(option, path)| path.is_some() && needs_report(option)) {
        Some((option, _)) if cfg!(not(feature = "report")) => Err(Failure::User(format!(
            "{option}: this program was built without pages, charts and captures; `make build` builds all of it"
        ))),
        _ => Ok(()),
    }
}

/// The same for measured links.
pub fn spare_links<'a, const N: usize>(
    links: impl Iterator<Item = &'a AccessLink>,
    outputs: [&Option<Output>; N],
) -> Result<(), Failure> {
    links.flat_map(|link| &link.files).try_for_each(|file| spare(file, outputs))
}

/// Refuses outputs that would replace the file that was read.
pub fn spare<const N: usize>(read: &Path, outputs: [&Option<Output>; N]) -> Result<(), Failure> {
    let Ok(read) = std::fs::canonicalize(read) else { return Ok(()) };
    match outputs.into_iter().flatten().any(|output| output.file() == Some(&read)) {
        true => Err(Failure::User(format!(
            "an output would replace {}, which was read; expected another file",
            read.display()
        ))),
        false => Ok(()),
    }
}

fn open_folder(folder: &Folder) -> Result<Vec<Output>, Failure> {
    let option = folder.option;
    let Some(path) = folder.path.as_deref() else { return Ok(Vec::new()) };
    match path {
        "" => {
            return Err(Failure::User(format!(
                "{option} ``: it names no folder; expected one for its files"
            )));
        }
        "-" => {
            return Err(Failure::User(format!(
                "{option} -: it makes several files; expected a folder for them (./- for one of that name)"
            )));
        }
        _ => {}
    }
    let refuse = |error: OutputError| {
        let (file, problem) = (&error.path, in_words(&error.problem));
        Failure::User(format!("{option} {path}: cannot write {file}: {problem}; expected a writable folder"))
    };
    let open = |name: &String| {
        let file = Path::new(path).join(name);
        Output::open(&file.to_string_lossy()).map_err(refuse)
    };
    folder.names.iter().map(open).collect()
}

/// `--origin` without CSV would do nothing.
pub fn origin_needs_csv(asked: Option<OriginWord>, has_csv: bool) -> Result<(), Failure> {
    match asked.is_some() && !has_csv {
        true => Err(Failure::User(
            "--origin is for CSV, and JSON always has it; expected --csv or --rows beside it".into(),
        )),
        false => Ok(()),
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

/// Says on standard error what there is now: files by their names, folders with the number of their files. Commands tell
/// pages, and what a scenario asked for. Silent with --quiet, and of standard output.
pub fn tell_written<'a>(
    screen: &Screen,
    files: impl IntoIterator<Item = &'a Option<String>>,
    folders: impl IntoIterator<Item = (&'a Option<String>, usize)>,
) {
    if screen.progress == Watched::Nothing {
        return;
    }
    for path in files.into_iter().flatten().filter(|path| *path != "-") {
        eprintln!("segue: wrote {}", printable(path));
    }
    for (path, count) in folders {
        if let Some(path) = path {
            let files = if count == 1 { "file" } else { "files" };
            eprintln!("segue: wrote {count} {files} into {}", printable(path));
        }
    }
}

/// How a table says where it comes from.
#[derive(Clone, Copy, Debug)]
pub enum CsvOrigin {
    /// In its first lines.
    Inside,
    /// In a file beside it, or on standard output in its first lines.
    Usual,
    /// Nowhere.
    Nowhere,
}

impl CsvOrigin {
    /// As `--origin` asks for it.
    pub fn asked(word: Option<OriginWord>) -> Self {
        match word {
            None => Self::Usual,
            Some(OriginWord::Inside) => Self::Inside,
            Some(OriginWord::None) => Self::Nowhere,
        }
    }

    fn is_inside(self, output: &Output) -> bool {
        matches!(self, Self::Inside) || matches!(self, Self::Usual) && output.is_stdout()
    }
}

/// Writes a table, if it was asked for, and where it comes from. `notes`: what its reader must know.
pub fn write_table<E: std::fmt::Display>(
    output: Option<Output>,
    place: CsvOrigin,
    notes: &[String],
    origin: impl FnOnce() -> Result<Provenance, Failure>,
    make: impl FnOnce() -> Result<String, E>,
) -> Result<(), Failure> {
    let Some(output) = output else { return Ok(()) };
    let table = make().map_err(Failure::ours)?;
    match place {
        place if place.is_inside(&output) => {
            let head = origin()?.comments(notes).map_err(Failure::ours)?;
            // Those of an older table of this name would tell of it.
            finish_beside(output, format!("{head}{table}"), None)
        }
        CsvOrigin::Nowhere => finish_beside(output, table, None),
        CsvOrigin::Inside | CsvOrigin::Usual => {
            let origin = || serde_json::to_value(origin()?).map_err(Failure::ours);
            write_with_metadata(output, table, notes, origin)
        }
    }
}

/// Writes a table that no simulation made, if it was asked for, and the program and command line beside it. On standard
/// output they are its first lines.
pub fn write_plain_table<E: std::fmt::Display>(
    output: Option<Output>,
    origin: &Origin,
    make: impl FnOnce() -> Result<String, E>,
) -> Result<(), Failure> {
    let Some(output) = output else { return Ok(()) };
    let table = make().map_err(Failure::ours)?;
    match output.is_stdout() {
        true => finish_beside(output, format!("{}{table}", origin.comments()), None),
        false => write_with_metadata(output, table, &[], || Ok(origin.json())),
    }
}

fn write_with_metadata(
    output: Output,
    table: String,
    notes: &[String],
    origin: impl FnOnce() -> Result<Value, Failure>,
) -> Result<(), Failure> {
    let beside = output.file().map(|file| Ok::<_, Failure>(metadata(file, &origin()?, notes))).transpose()?;
    finish_beside(output, table, beside.as_deref())
}

fn finish_beside(output: Output, table: String, metadata: Option<&str>) -> Result<(), Failure> {
    let beside = output.file().map(metadata_file);
    let done = match &beside {
        Some(file) => output.finish_beside(table, (file, metadata)),
        None => output.finish(table),
    };
    done.map_err(Failure::writing)
}

/// The command line that is running, as a shell takes it, without what no result depends on; and the program's version.
pub fn origin(command_line: &[OsString]) -> Origin {
    let mut words = vec!["segue".to_string()];
    words.extend(command_line.iter().skip(1).map(|word| word.to_string_lossy().into_owned()));
    Origin::of(words, crate::args::VERSION)
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
