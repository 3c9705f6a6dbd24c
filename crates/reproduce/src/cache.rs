//! Finished results, kept under the user's cache folder by the hash of all they depend on.
//!
//! The key holds the program itself and the ledger, so that no entry outlives what made it. Each such pair has a folder
//! of its own, and only the newest few folders stay. An entry appears whole or not at all; one that cannot be read
//! counts as absent.

use crate::points::Point;
use segue_program::PROGRAM;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Folder of this program and ledger.
    folder: PathBuf,
}

/// Folders of other programs and ledgers that stay beside this one's.
const OTHERS: usize = 2;

impl Cache {
    /// The user's cache; `None` if there is no such folder.
    pub fn of_user() -> Option<Self> {
        Some(Self::in_folder(&dirs::cache_dir()?.join("segue")))
    }

    /// A cache in `folder`, which is made when something is kept.
    pub fn in_folder(folder: &Path) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(PROGRAM.as_bytes());
        hasher.update(crate::papers::text().as_bytes());
        let name = hasher.finalize().to_hex()[..16].to_string();
        prune(folder, &name);
        Self { folder: folder.join(name) }
    }

    /// Where the samples of a point with a scheme and its settings over these handoff times or seeds are kept.
    fn path(&self, point: &Point, scheme: &str, settings: &[(String, String)], over: &impl Debug) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{point:?} {scheme:?} {settings:?} {over:?}").as_bytes());
        self.folder.join(hasher.finalize().to_hex().as_str())
    }

    /// The result that was kept.
    pub fn get<T: DeserializeOwned>(
        &self,
        point: &Point,
        scheme: &str,
        settings: &[(String, String)],
        over: &impl Debug,
    ) -> Option<T> {
        let entry = std::fs::read(self.path(point, scheme, settings, over)).ok()?;
        let (sum, bytes) = entry.split_at_checked(blake3::OUT_LEN)?;
        // A damaged entry may still decode.
        (sum == blake3::hash(bytes).as_bytes()).then(|| postcard::from_bytes(bytes).ok())?
    }

    /// Keeps samples. Samples that cannot be kept are computed again another time.
    pub fn keep<T: Serialize>(
        &self,
        point: &Point,
        scheme: &str,
        settings: &[(String, String)],
        over: &impl Debug,
        samples: &T,
    ) {
        let Ok(bytes) = postcard::to_stdvec(samples) else { return };
        let path = self.path(point, scheme, settings, over);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&self.folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(blake3::hash(&bytes).as_bytes())?;
            file.write_all(&bytes)?;
            file.persist(&path)?;
            Ok(())
        };
        let _ = write();
    }
}

/// Removes the folders of other programs and ledgers, but for the newest few. A folder that cannot be removed stays.
fn prune(cache: &Path, own: &str) {
    let Ok(entries) = std::fs::read_dir(cache) else { return };
    let is_ours = |name: &str| name.len() == own.len() && name.bytes().all(|b| b.is_ascii_hexdigit());
    let mut others: Vec<(std::time::SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name != own && is_ours(name)))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    others.sort();
    let surplus = others.len().saturating_sub(OTHERS);
    for (_, folder) in others.into_iter().take(surplus) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Measure, Stat};
    use crate::points::Handoffs;
    use crate::sample::Sample;
    use segue_world::KindWord;

    #[test]
    fn what_is_kept_is_found_and_only_under_its_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::in_folder(&folder.path().join("deep"));
        let with_flows = |flows| {
            let links = "1/1 2/2".into();
            Point::Handoffs(Handoffs { kind: KindWord::Mbb, disconnect: 0, links, flows, packets: 100 })
        };
        let point = with_flows(1);
        let get = |point: &Point, scheme: &str, settings: &[(String, String)], times: &[u64]| {
            cache.get::<Sample>(point, scheme, settings, &times)
        };
        let mut sample = Sample::default();
        sample.add(Measure::Transfer, f64::INFINITY);
        sample.add(Measure::Transfer, 0.1);
        let settings = [("key".to_string(), "value".to_string())];
        assert_eq!(get(&point, "etcp", &settings, &[1]), None);
        cache.keep(&point, "etcp", &settings, &[1], &sample);
        assert_eq!(get(&point, "etcp", &settings, &[1]), Some(sample.clone()));
        assert_eq!(sample.number(Measure::Transfer, Stat::Max), Some(f64::INFINITY));
        for other in [
            get(&with_flows(2), "etcp", &settings, &[1]),
            get(&point, "sack", &settings, &[1]),
            get(&point, "etcp", &[], &[1]),
            get(&point, "etcp", &settings, &[2]),
        ] {
            assert_eq!(other, None);
        }
        // Folders of other programs go, but for the newest; strangers' files stay.
        let top = folder.path().join("deep");
        for name in ["0123456789abcdef", "0123456789abcdea", "0123456789abcdeb", "stranger"] {
            std::fs::create_dir(top.join(name)).expect("made");
        }
        Cache::in_folder(&top);
        assert_eq!(std::fs::read_dir(&top).expect("a folder").count(), 1 + OTHERS + 1);
        assert!(top.join("stranger").is_dir() && cache.folder.is_dir());
        // Damage is absence.
        for damage in [&b"x"[..], &[0; 1], &[0; 3000]] {
            std::fs::write(cache.path(&point, "etcp", &settings, &[1]), damage).expect("written");
            assert_eq!(get(&point, "etcp", &settings, &[1]), None);
        }
    }
}
