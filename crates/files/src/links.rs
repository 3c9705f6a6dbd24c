//! Links of the user's own: `links.toml` in the folder of settings (`$XDG_CONFIG_HOME/segue`, `~/.config/segue`).
//! Each line of its `[links]` is `NAME = "LINK"` (docs/reference/links.md).

use crate::place::{FileError, Source};
use segue_world::access::LinkNames;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Links {
    #[serde(default)]
    links: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Where the file is looked for.
pub fn place() -> Option<PathBuf> {
    Some(dirs::config_dir()?.join("segue/links.toml"))
}

/// A folder on the way that is missing, no folder or closed: a service may run with another user's HOME.
const NOT_THERE: [ErrorKind; 3] =
    [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::PermissionDenied];

/// The names that the file gives, if it is there.
///
/// Errors: the file cannot be read, or it names something that is no link.
pub fn own_links() -> Result<LinkNames, FileError> {
    place().map_or_else(|| Ok(LinkNames::default()), |path| names_in(&path))
}

fn names_in(path: &Path) -> Result<LinkNames, FileError> {
    let name = path.to_string_lossy();
    let expected = "links in TOML (docs/reference/links.md)";
    // A link that leads nowhere is there all the same.
    match (std::fs::symlink_metadata(path), std::fs::metadata(path)) {
        (Err(error), _) if NOT_THERE.contains(&error.kind()) => Ok(LinkNames::default()),
        (Ok(_), Ok(found)) if !found.is_file() && !found.is_dir() => {
            let problem = "it is not a file".to_string();
            Err(FileError::Unreadable { path: name.into_owned(), problem, expected })
        }
        _ => names_of(&Source::read(&name, expected)?),
    }
}

fn names_of(source: &Source) -> Result<LinkNames, FileError> {
    let Links { links } = toml::from_str(&source.text).map_err(|error| source.of_toml(&error))?;
    // In the order of the file: where two have one name, the later one is wrong.
    let mut links: Vec<_> = links.into_iter().collect();
    links.sort_by_key(|(name, _)| name.span().start);
    let own = links.iter().map(|(name, link)| (name.get_ref().clone(), link.get_ref().clone())).collect();
    LinkNames::of(own).map_err(|error| {
        let (name, link) = &links[error.index];
        let span = if error.of_name { name.span() } else { link.span() };
        source.at(span, error.problem.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_is_closed_or_none_has_no_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let closed = folder.path().join("closed");
        std::fs::create_dir(&closed).expect("a folder");
        std::fs::set_permissions(&closed, Permissions::from_mode(0o000)).expect("it is ours");
        std::fs::write(folder.path().join("file"), "").expect("a file");
        for place in ["closed/segue/links.toml", "file/segue/links.toml", "none/segue/links.toml"] {
            let names =
                names_in(&folder.path().join(place)).unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(format!("{names:?}"), format!("{:?}", LinkNames::default()));
        }
    }

    /// Each mistake, and a part of the message with its place.
    #[test]
    fn mistakes_have_a_place() {
        for (text, part) in [
            ("[links]\nlte = \"1mbit/1ms\"", "links.toml, line 2, column 1: link `lte`: the name is taken"),
            ("[links]\nWLAN = \"1mbit/1ms\"", "line 2, column 1: link `WLAN`: the name is taken"),
            (
                "[links]\nhome = \"1mbit/1ms\"\n  Home = \"2mbit/1ms\"",
                "line 3, column 3: link `Home`: the name is taken",
            ),
            ("[links]\n\"a b\" = \"1mbit/1ms\"", "line 2, column 1: link `a b`: bad name"),
            ("[links]\na = \"1mbit\"", "line 2, column 5: unknown link `1mbit`"),
            (
                "[links]\na = \"lte\"\nb = \"a,loss=1%\"",
                "line 3, column 5: link `b`: stands for a name of your own",
            ),
            ("[links]\na = \"trace:x\"", "line 2, column 5: link `a`: a trace has no name"),
            ("[links]\na = 1", "line 2, column 5"),
            ("[lnks]\n", "line 1, column 2: unknown key `lnks`"),
        ] {
            let source = Source::of("links.toml", text, "links in TOML");
            let message = names_of(&source).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("expected"), "{text}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}
