//! Removes the remains of laboratories whose process was killed: cgroups and what still runs in them, folders, and their
//! agents' pins. Namespaces, devices and most programs go away by themselves; sshd's sessions do not.

use super::cgroup;
use super::prefix::PREFIX;
use segue_kernel::host;
use std::fs;
use std::path::Path;

/// Removes what processes that are gone have left.
pub fn sweep() {
    if let Ok(mount) = cgroup::mount() {
        for path in abandoned(&mount) {
            cgroup::end(&path);
        }
    }
    for folder in [Some(std::env::temp_dir()), host::bpffs()].into_iter().flatten() {
        for path in abandoned(&folder) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn abandoned(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let gone = |name: &str| {
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists())
    };
    entries.filter(|entry| entry.file_name().to_str().is_some_and(gone)).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefix::prefix;

    #[test]
    fn only_what_belongs_to_nobody_is_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let mine = format!("{}0", prefix());
        // Beyond the kernel's largest process id.
        for name in [mine.as_str(), "segue-lab-4194305-0", "segue-lab-x-0", "other-4194305-0"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(abandoned(folder.path()), [folder.path().join("segue-lab-4194305-0")]);
    }
}
