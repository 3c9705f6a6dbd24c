//! The commit of a folder of sources, read from git's files: the program git need not be there.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Digits of a commit in the version.
const DIGITS: usize = 7;

/// A commit, and the files that told it.
#[derive(Debug, PartialEq, Eq)]
pub struct Commit {
    pub short: String,
    pub files: Vec<PathBuf>,
}

/// The commit that `sources` have checked out; none without a repository or before its first commit.
pub fn of_sources(sources: &Path) -> Option<Commit> {
    let git = git_folder(sources)?;
    // A work tree of its own shares branches with others.
    let shared = match read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim_end()),
        Err(_) => git.clone(),
    };
    let head = read_to_string(git.join("HEAD")).ok()?;
    let mut files = vec![git.join("HEAD")];
    let hash = match head.trim_end().strip_prefix("ref: ") {
        None => head.trim_end().to_string(),
        Some(branch) => {
            let (loose, packed) = (shared.join(branch), shared.join("packed-refs"));
            // A branch that is packed becomes a file with its next commit; the log is there all along.
            files.extend([git.join("logs/HEAD"), loose.clone(), packed.clone()]);
            match read_to_string(loose) {
                Ok(hash) => hash.trim_end().to_string(),
                Err(_) => packed_hash(&read_to_string(packed).ok()?, branch)?,
            }
        }
    };
    let is_hash = hash.len() >= DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    files.retain(|file| file.exists());
    is_hash.then(|| Commit { short: hash[..DIGITS].to_string(), files })
}

/// `.git`, or the folder that a file of that name points to.
fn git_folder(sources: &Path) -> Option<PathBuf> {
    let git = sources.join(".git");
    match read_to_string(&git) {
        Ok(pointer) => Some(sources.join(pointer.trim_end().strip_prefix("gitdir: ")?)),
        Err(_) => git.is_dir().then_some(git),
    }
}

fn packed_hash(packed: &str, branch: &str) -> Option<String> {
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, name)| *name == branch).map(|(hash, _)| hash.to_string())
}
