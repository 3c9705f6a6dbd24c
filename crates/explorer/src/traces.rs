//! Measured links of the folder that the explorer was given (`segue explore --traces DIR`). A question names its files;
//! nothing else is ever read.

use crate::refusal::quoted;
use quick_cache::sync::Cache;
use segue_words::did_you_mean;
use segue_world::access::LinkNames;
use segue_world::{AccessLink, LinkError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most files that can be named.
const MOST: usize = 500;
/// Links that are kept, so that a file is not read again while a slider moves.
const KEPT: usize = 16;

/// The files that may be named, and the links that were read last.
#[derive(Clone)]
pub struct Traces {
    folder: PathBuf,
    names: Vec<String>,
    left_out: usize,
    /// Names of links beside those of the presets.
    own: LinkNames,
    read: Arc<Cache<String, AccessLink>>,
}

impl Traces {
    /// No file may be named.
    pub fn none() -> Self {
        let read = Arc::new(Cache::new(KEPT));
        Self { folder: PathBuf::new(), names: Vec::new(), left_out: 0, own: LinkNames::default(), read }
    }

    /// The same, and links may have these names.
    #[must_use]
    pub fn with(self, own: LinkNames) -> Self {
        Self { own, ..self }
    }

    /// Names that links have beside those of the presets.
    pub fn own(&self) -> &LinkNames {
        &self.own
    }

    /// The files of this folder, as they are now: no folders in it, no links to elsewhere.
    ///
    /// Errors: it cannot be read, or has no file that a link can name.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let (mut names, mut files) = (Vec::new(), 0);
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let plain = |name: &String| {
                !name.starts_with('.') && name.chars().all(|c| c.is_alphanumeric() || "._-+".contains(c))
            };
            if entry.file_type()?.is_file() {
                files += usize::from(!entry.file_name().as_encoded_bytes().starts_with(b"."));
                names.extend(name.ok().filter(plain));
            }
        }
        names.sort();
        names.truncate(MOST);
        if names.is_empty() {
            return Err(io::Error::other(
                "it has no file whose name has letters, digits, `.`, `_`, `-` and `+` alone",
            ));
        }
        let left_out = files - names.len();
        Ok(Self { folder, names, left_out, ..Self::none() })
    }

    /// Where the files are; empty if none may be named.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many files of the folder cannot be named: their names have other signs, or they are beyond [`MOST`].
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Their names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The capacities towards a mobile, each with that from it, if the folder has both: `NAME.down` and `NAME.up`.
    pub fn links(&self) -> impl Iterator<Item = (&str, Option<String>)> {
        let towards = self.names.iter().filter(|name| !name.ends_with(".up") && !name.ends_with(".delay"));
        towards.map(|name| {
            let up = name.strip_suffix(".down").map(|stem| format!("{stem}.up"));
            (name.as_str(), up.filter(|up| self.names.contains(up)))
        })
    }

    /// The link `trace:NAME,...`.
    pub fn link(&self, text: &str) -> Result<AccessLink, String> {
        let Some(words) = text.strip_prefix("trace:").filter(|_| !self.names.is_empty()) else {
            return Err("measured links need a folder; expected segue explore --traces DIR".into());
        };
        let mut paths = words.split(',').enumerate().filter_map(|(index, word)| match word.split_once('=') {
            _ if index == 0 => Some(word),
            Some(("up" | "delay-trace", path)) => Some(path),
            _ => None,
        });
        if let Some(unknown) = paths.find(|path| !self.names.iter().any(|name| name == path)) {
            let names = self.names.iter().map(String::as_str);
            return Err(format!(
                "unknown trace {}; expected one of {}{}",
                quoted(unknown),
                self.names.join(", "),
                did_you_mean(unknown, names)
            ));
        }
        let parse = || AccessLink::parse_in(text, &self.folder, &self.own);
        let read = || parse().map_err(|error: LinkError| error.to_string());
        self.read.get_or_insert_with(text, read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_files_of_the_folder_can_be_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| std::fs::write(folder.path().join(name), "1\n2\n3\n").expect("written");
        for name in ["a.down", "a.up", "b.down", ".hidden", "a b.down"] {
            write(name);
        }
        std::fs::create_dir(folder.path().join("below")).expect("made");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("elsewhere")).expect("made");
        let traces = Traces::of(folder.path()).expect("traces");
        assert_eq!(
            (traces.names(), traces.left_out()),
            (&["a.down", "a.up", "b.down"].map(String::from)[..], 1)
        );
        let links: Vec<_> = traces.links().collect();
        assert_eq!(links, [("a.down", Some("a.up".to_string())), ("b.down", None)]);
        let link = traces.link("trace:a.down,up=a.up,delay=30ms").expect("a link");
        assert_eq!(link.text, "trace:a.down,up=a.up,delay=30ms");
        for bad in [
            "trace:/etc/passwd",
            "trace:../a.down",
            "trace:elsewhere",
            "trace:.hidden",
            "trace:",
            "trace:a.down,up=/etc/passwd",
            "trace:a.down,up=a.up,up=elsewhere",
            "trace:a.down,delay-trace=../x",
        ] {
            let refused = traces.link(bad).expect_err(bad);
            assert!(refused.starts_with("unknown trace"), "{bad}: {refused}");
        }
        assert!(Traces::none().link("trace:a.down").is_err());
        assert!(Traces::of(&folder.path().join("below")).is_err());
    }
}
