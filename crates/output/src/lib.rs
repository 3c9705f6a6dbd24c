//! Where a result goes: standard output (`-`) or a file that is replaced in one step.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A result cannot be written.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write {}: {}; expected a file in a writable folder, or - for standard output",
    if path.is_empty() { "``" } else { path },
    in_words(problem)
)]
pub struct OutputError {
    /// The file.
    pub path: String,
    /// The cause.
    pub problem: io::Error,
}

/// The kinds of error that users meet, in plainer words than the library's.
pub fn in_words(problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::NotFound => "there is no such folder".into(),
        io::ErrorKind::InvalidInput => "it names no file".into(),
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
    /// Opens a destination; `-` is standard output. A folder that does not exist comes with the result: the one in
    /// which it will be made is tried.
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
        drop(Draft::new(nearest_existing(&target)).map_err(fail)?);
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
        self.finish_with(|out| out.write_all(content.as_ref()))
    }

    /// The same for a result that is written piece by piece, as it comes, because it may not fit into memory.
    pub fn finish_with(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                let written = write(&mut out).and_then(|()| out.flush());
                written.map_err(|problem| OutputError { path: "-".into(), problem })
            }
            Self::Special(path, mut file) => write(&mut file)
                .and_then(|()| file.flush())
                .map_err(|problem| OutputError { path, problem: problem.kind().into() }),
            Self::File(path) => Written::new(path, write)?.appear(),
        }
    }

    /// The same with a file beside it that tells of it: its name, and its content if it is to be there. Both are
    /// written before either appears. The words about the old result go first, so that no moment and no fault
    /// leaves a result beside words about another. Only files have one beside them.
    pub fn finish_beside(
        self,
        content: impl AsRef<[u8]>,
        (name, beside): (&Path, Option<&str>),
    ) -> Result<(), OutputError> {
        let Self::File(path) = self else { return self.finish(content) };
        let result = Written::new(path, |out| out.write_all(content.as_ref()))?;
        let beside = beside.map(|text| Written::new(resolve(name), |out| out.write_all(text.as_bytes())));
        let beside = beside.transpose()?;
        match std::fs::remove_file(beside.as_ref().map_or(name, |beside| &beside.path)) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => {
                let path = name.display().to_string();
                return Err(OutputError { path, problem: problem.kind().into() });
            }
            _ => result.appear()?,
        }
        beside.map_or(Ok(()), Written::appear)
    }
}

/// A file whose content is whole and which has yet to appear under its name.
struct Written {
    draft: Draft,
    path: PathBuf,
}

impl Written {
    fn new(path: PathBuf, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Self, OutputError> {
        let fail = |problem| OutputError { path: path.display().to_string(), problem };
        let folder = folder_of(&path);
        std::fs::create_dir_all(folder).map_err(fail)?;
        let mut draft = Draft::new(folder).map_err(fail)?;
        if let Ok(meta) = std::fs::metadata(&path) {
            draft.file().set_permissions(meta.permissions()).map_err(fail)?;
        }
        write(draft.file()).map_err(|error| fail(error.kind().into()))?;
        Ok(Self { draft, path })
    }

    fn appear(self) -> Result<(), OutputError> {
        let Self { draft, path } = self;
        draft.persist(&path).map_err(|problem| OutputError { path: path.display().to_string(), problem })
    }
}

/// The absolute place that a path means, links followed, whether or not it and its folders exist yet.
fn resolve(path: &Path) -> PathBuf {
    if let Ok(known) = std::fs::canonicalize(path) {
        return known;
    }
    let folder = folder_of(path);
    let folder = match std::fs::canonicalize(folder) {
        Ok(folder) => folder,
        Err(_) if folder.file_name().is_some() => resolve(folder),
        Err(_) => return path.to_path_buf(),
    };
    path.file_name().map_or_else(|| path.to_path_buf(), |name| folder.join(name))
}

/// Tells whether a folder is there or can be made, and leaves behind none that was not there.
pub fn try_folder(folder: &Path) -> io::Result<()> {
    // Without `.`, below which nothing can be made before it is there.
    let folder: PathBuf = folder.components().collect();
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| is_missing(folder)).collect();
    let made = std::fs::create_dir_all(&folder);
    // The deepest first; `..` is another name for one of them. One in which another program has put a file meanwhile
    // stays.
    for folder in missing.into_iter().filter(|folder| folder.file_name().is_some()) {
        let _ = std::fs::remove_dir(folder);
    }
    made
}

fn is_missing(folder: &Path) -> bool {
    folder != Path::new("") && !folder.exists()
}

/// The folder of a file.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// The nearest folder of a file that exists; it may turn out to be none.
fn nearest_existing(file: &Path) -> &Path {
    let folders = file.ancestors().skip(1);
    folders.into_iter().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(Path::new("."))
}

/// A file that nobody sees before it is whole. On Linux it has no name until then, so that not even a process that is
/// killed leaves it behind. Where that is not possible it is a temporary file beside its target.
#[derive(Debug)]
pub enum Draft {
    /// A file without a name, and the folder that it will stand in.
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    /// A file under another name.
    Named(NamedTempFile),
}

impl Draft {
    /// An empty one for this folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, open};
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            if let Ok(file) = open(folder, flags, Mode::from_raw_mode(0o666)) {
                return Ok(Self::Unnamed(file.into(), folder.to_path_buf()));
            }
        }
        temporary(folder).map(Self::Named)
    }

    /// To write to.
    pub fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, _) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Puts it in its place, in one step. Only one that replaces a file has another name for a moment, and is whole
    /// by then.
    ///
    /// # Errors
    /// The target cannot be replaced.
    pub fn persist(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, folder) => {
                use rustix::fs::{AtFlags, CWD, linkat};
                use std::os::fd::AsRawFd;
                let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
                let link = |name: &Path| -> io::Result<()> {
                    Ok(linkat(CWD, unnamed.as_str(), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
                };
                match link(target) {
                    // A link cannot replace a file: it takes a name of its own first.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    done => return done,
                }
                let named = tempfile::Builder::new().prefix(PREFIX).make_in(folder, link)?;
                named.persist(target).map_err(|error| error.error)
            }
            Self::Named(file) => file.persist(target).map(drop).map_err(|error| error.error),
        }
    }
}

/// Prefix of the names of temporary files.
const PREFIX: &str = ".segue-";

/// A temporary file in a folder.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As an ordinary file would be: the umask still applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.prefix(PREFIX).tempfile_in(folder)
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
    fn a_folder_that_is_tried_is_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (there, deep) = (folder.path().join("there"), folder.path().join("new/deep"));
        std::fs::create_dir(&there).unwrap();
        for tried in [&there, &deep] {
            try_folder(tried).unwrap();
        }
        assert_eq!((there.exists(), folder.path().join("new").exists()), (true, false));
        for tried in ["new/../beside", "new/deep/..", "new/deep/.", "new/deep/../beside/deep"] {
            try_folder(&folder.path().join(tried)).unwrap();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{tried}");
        }
        std::fs::write(folder.path().join("new"), "a file").unwrap();
        assert!(try_folder(&deep).is_err());
        assert_eq!(std::fs::read(folder.path().join("new")).unwrap(), b"a file");
    }

    /// Words about a result never stand beside another: they go with the old one, or the old one stays with them.
    #[test]
    fn a_result_and_what_tells_of_it_change_together() {
        let folder = tempfile::tempdir().unwrap();
        let (file, beside) = (folder.path().join("a.csv"), folder.path().join("a.csv-metadata.json"));
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let put = |text: &str, words| {
            Output::open(file.to_str().unwrap()).unwrap().finish_beside(text, (&beside, words))
        };
        put("one", Some("of one")).unwrap();
        assert_eq!((read(&file), read(&beside)), ("one".into(), "of one".into()));
        put("two", Some("of two")).unwrap();
        assert_eq!((read(&file), read(&beside)), ("two".into(), "of two".into()));
        put("three", None).unwrap();
        assert_eq!((read(&file).as_str(), beside.exists()), ("three", false));
        std::fs::create_dir(&beside).unwrap();
        for words in [Some("of four"), None] {
            let line = put("four", words).unwrap_err().to_string();
            assert!(line.contains("a.csv-metadata.json"), "{line}");
            assert_eq!(read(&file), "three");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
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

    /// Neither a signal nor anything else can leave a half-written file behind, where the file system has unnamed ones.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_draft_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let count = || std::fs::read_dir(folder.path()).unwrap().count();
        let mut draft = Draft::new(folder.path()).unwrap();
        let names = usize::from(matches!(draft, Draft::Named(_)));
        draft.file().write_all(b"whole").unwrap();
        assert_eq!(count(), names);
        let target = folder.path().join("out");
        std::fs::write(&target, "old").unwrap();
        draft.persist(&target).unwrap();
        assert_eq!((std::fs::read_to_string(&target).unwrap().as_str(), count()), ("whole", 1));
    }

    #[test]
    fn folders_are_made_with_the_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/out");
        let text = path.to_str().unwrap();
        let output = Output::open(text).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "not before");
        assert_eq!(output.file(), Some(folder.path().canonicalize().unwrap().join("a/b/out").as_path()));
        output.finish("x").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
        std::fs::write(folder.path().join("file"), "").unwrap();
        let inside = folder.path().join("file/c/out");
        assert!(Output::open(inside.to_str().unwrap()).is_err());
    }

    #[test]
    fn bad_paths_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_str().unwrap(), "/proc/nowhere/all.json", ""] {
            let error = Output::open(path).unwrap_err().to_string();
            assert!(error.contains("cannot write") && !error.contains('\n'), "{error}");
        }
    }
}
