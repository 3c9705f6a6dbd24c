//! The process that has locked a file (flock(2)), for those who find it locked.

use nix::sys::stat;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

/// A process that has locked this file.
pub(crate) fn holder(file: &File) -> Option<u32> {
    let id = file.metadata().ok()?;
    let (major, minor) = (stat::major(id.dev()), stat::minor(id.dev()));
    holder_of(&fs::read_to_string("/proc/locks").ok()?, &format!("{major:02x}:{minor:02x}:{}", id.ino()))
}

/// By the table of /proc/locks (proc_locks(5)): `1: FLOCK ADVISORY WRITE 812 00:1f:123 0 EOF`. Those who wait for a
/// lock have an arrow after the number.
fn holder_of(table: &str, file: &str) -> Option<u32> {
    table.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "FLOCK", _, _, process, of, ..] if of == file => process.parse().ok().filter(|id| *id > 0),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_lock_does_not_hold_it() {
        let table = "1: POSIX  ADVISORY  WRITE 11 00:1f:123 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 00:1f:1234 0 EOF\n\
                     3: FLOCK  ADVISORY  READ  13 00:1f:123 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 00:1f:123 0 EOF\n\
                     4: FLOCK  ADVISORY  READ  0 08:01:123 0 EOF\n";
        assert_eq!(holder_of(table, "00:1f:123"), Some(13));
        assert_eq!(holder_of(table, "00:1f:1234"), Some(12));
        assert_eq!(holder_of(table, "08:01:123"), None, "of another PID namespace");
        assert_eq!(holder_of("", "00:1f:123"), None);
    }
}
